/* test_detection_ids.c - the picture and the category of each detection by ids, names and stems; ground truth without boxes,
 * with equal ids, of other pictures. */
#define _GNU_SOURCE
#include "checks.h"
#include "check_folder.h"

#include <stdlib.h>
#include <string.h>

#include "discover/subject/detection_ids.h"
#include "discover/subject/detection_truth.h"
#include "heard.h"

static const char *file_of(const char *name, const char *text)
{
    static char path[4][128];
    static int used;
    char *to = path[used++ % LEN(path)];
    FILE *f;

    snprintf(to, sizeof path[0], "%s/%s", root, name);
    f = fopen(to, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    return to;
}

static spot_ctx listening(void)
{
    spot_ctx c = check_ctx(1);

    c.on_log = hear;
    *heard = *murmured = 0;
    return c;
}

/* ---- pictures ---- */

static const char pictures[] = "{\"images\": [{\"id\": 1, \"file_name\": \"x/000009.jpg\"}, {\"id\": 9, \"file_name\": "
    "\"b.png\"}, {\"id\": \"c\", \"file_name\": \"y/c d.JPG\"}, {\"id\": 30, \"file_name\": \"x/twin.jpg\"}, {\"id\": 31, "
    "\"file_name\": \"y/twin.jpg\"}, {\"id\": 32, \"file_name\": \"77.jpg\"}, {\"id\": 33, \"file_name\": \"\xc3\xa9.jpg\"}], "
    "\"annotations\": [], \"categories\": [{\"id\": 3, \"name\": \"cat\"}]}";

/* of: the picture, or -1 and the failure. warning, info: words of the line; NULL: none. */
TEST(pictures_are_found_by_id_and_name)
{
    static const struct { const char *id; int of; const char *failure, *warning, *info; } cases[] = {
        { "\"image_id\": 1", 0, NULL, NULL, NULL },                 { "\"image_id\": \"1\"", 0, NULL, NULL, NULL },
        { "\"image_id\": 1.0", 0, NULL, NULL, NULL },               { "\"image_id\": 9", 1, NULL, "name of another", NULL },
        { "\"image_id\": \"c\"", 2, NULL, NULL, NULL },
            { "\"image_id\": \"000009\"", 0, NULL, NULL, "by their names" },
        { "\"image_id\": \"c d\"", 2, NULL, NULL, NULL },
            { "\"image_id\": \"b.png\"", 1, NULL, NULL, "by their names" },
        { "\"image_id\": \"x/twin.jpg\"", 3, NULL, NULL, "by their names" },
        { "\"image_id\": \"elsewhere/b.png\"", 1, NULL, NULL, "by their names" },
        { "\"image_id\": \"C:\\\\set\\\\b.png\"", 1, NULL, NULL, "by their names" },
        { "\"image_id\": \"e\xcc\x81.jpg\"", 6, NULL, NULL, "by their names" },
        { "\"image_id\": \"e\xcc\x81\"", 6, NULL, NULL, "by their names" },
        { "\"image_id\": 77", 5, NULL, NULL, "by their names" },
        { "\"image_id\": \"77\", \"file_name\": \"b.png\"", 1, NULL, "file_name", "file_name" },
        { "\"image_id\": 500, \"file_name\": \"b.png\"", 1, NULL, NULL, "file_name" },
        { "\"image_id\": 1, \"file_name\": \"000009.jpg\"", 0, NULL, NULL, NULL },
        { "\"image_id\": 1, \"file_name\": \"b.png\"", 1, NULL, "file_name", "file_name" },
        { "\"image_id\": 1, \"file_name\": \"nobody.png\"", 0, NULL, NULL, NULL },
        { "\"file_name\": \"c d.JPG\"", 2, NULL, NULL, "file_name" },
        { "\"image_id\": \"twin\"", -1, "detections.two_pictures: entry 0 | twin", NULL, NULL },
        { "\"image_id\": 7, \"file_name\": \"twin.jpg\"", -1, "detections.two_pictures: entry 0 | twin.jpg", NULL, NULL },
        { "\"image_id\": \"nobody\"", -1, "detections.image_id: entry 0 | nobody", NULL, NULL },
        { "\"image_id\": 78", -1, "detections.image_id: entry 0 | 78", NULL, NULL },
        { "\"file_name\": \"nobody\"", -1, "detections.image_id: \"file_name\" | nobody", NULL, NULL },
    };

    for (int i = 0; i < LEN(cases); i++) {
        spot_ctx c = listening();
        spot_detection_options o = spot_detection_defaults();
        char json[512];
        const size_t n = (size_t)snprintf(json, sizeof json, "[{%s, \"category_id\": 3, \"bbox\": [1, 2, 3, 4], \"score\": "
                                          "0.5}]",
                                          cases[i].id);
        spot_coco_results r;
        spot_coco k;
        int image, category;
        o.file = "found";
        CHECK_OK(&c, spot_coco_parse(&c, &k, (const uint8_t *)pictures, strlen(pictures), "truth"));
        CHECK_OK(&c, spot_coco_results_parse(&c, &r, (uint8_t *)json, n, "found"));
        if (cases[i].failure) {
            CHECK_FAILS(&c, spot_detection_ids(&c, &image, &category, &k, &r, &o, "truth"), SPOT_INPUT, cases[i].failure);
        } else {
            CHECK_OK(&c, spot_detection_ids(&c, &image, &category, &k, &r, &o, "truth"));
            if (image != cases[i].of) fail_msg("%s is picture %d, not %d", cases[i].id, image, cases[i].of);
            assert_int_equal(category, 0);
            if (cases[i].warning ? !strstr(heard, cases[i].warning) : *heard) fail_msg("%s: warned: %s", cases[i].id, heard);
            if (cases[i].info ? !strstr(murmured, cases[i].info) : *murmured) fail_msg("%s: said: %s", cases[i].id, murmured);
        }
        spot_coco_results_close(&r);
        spot_coco_close(&k);
    }
}

/* Names of files stand beside entries that have none. */
TEST(some_entries_have_a_file_name)
{
    static const char json[] = "[{\"image_id\": 1, \"category_id\": \"cat\", \"bbox\": [1, 2, 3, 4], \"score\": 0.5}, "
        "{\"file_name\": \"b.png\", \"category_id\": 3.0, \"bbox\": [1, 2, 3, 4], \"score\": 0.5}, "
        "{\"image_id\": 30, \"category_id\": \"3\", \"bbox\": [1, 2, 3, 4], \"score\": 0.5}]";
    spot_ctx c = listening();
    spot_detection_options o = spot_detection_defaults();
    int image[3], category[3];
    spot_coco_results r;
    spot_coco k;

    o.file = "found";
    CHECK_OK(&c, spot_coco_parse(&c, &k, (const uint8_t *)pictures, strlen(pictures), "truth"));
    CHECK_OK(&c, spot_coco_results_parse(&c, &r, (const uint8_t *)json, strlen(json), "found"));
    CHECK_OK(&c, spot_detection_ids(&c, image, category, &k, &r, &o, "truth"));
    assert_memory_equal(image, ((int[]){ 0, 1, 3 }), sizeof image);
    assert_memory_equal(category, ((int[]){ 0, 0, 0 }), sizeof category);
    spot_coco_results_close(&r);
    spot_coco_close(&k);
}

/* ---- categories ---- */

/* Twelve objects of the categories first, first + 1, first + 2 in turn; a detection lies on each, of ids that begin at `from`.
 * shift: what has to be added; -2: nothing, with a suspicion. */
TEST(categories_that_begin_elsewhere)
{
    static const struct { int first, from, kinds, shift; const char *warning; } cases[] = {
        { 1, 1, 3, 0, NULL }, { 0, 0, 3, 0, NULL }, { 1, 0, 3, 1, "1 is added" }, { 0, 1, 3, -1, "1 is taken" },
        { 1, 5, 3, 0, "no category" }, { 1, 0, 2, 1, "1 is added" }, { 1, 1, 2, 0, NULL },
    };

    for (int i = 0; i < LEN(cases); i++) {
        spot_ctx c = listening();
        spot_detection_options o = spot_detection_defaults();
        spot_text truth = { 0 }, found = { 0 };
        int image[12], category[12];
        char one[256];
        spot_coco_results r;
        spot_coco k;
        spot_text_adds(&truth, "{\"images\": [{\"id\": 1, \"file_name\": \"a\"}], \"categories\": [");
        for (int j = 0; j < 3; j++) {
            snprintf(one, sizeof one, "%s{\"id\": %d, \"name\": \"n%d\"}", j ? "," : "", cases[i].first + j, j);
            spot_text_adds(&truth, one);
        }
        spot_text_adds(&truth, "], \"annotations\": [");
        for (int j = 0; j < 12; j++) {
            snprintf(one, sizeof one, "%s{\"image_id\": 1, \"category_id\": %d, \"bbox\": [%d, 0, 10, 10]}", j ? "," : "",
                     cases[i].first + j % cases[i].kinds, 20 * j);
            spot_text_adds(&truth, one);
            snprintf(one, sizeof one, "%s{\"image_id\": 1, \"category_id\": %d, \"bbox\": [%d, 1, 10, 10], \"score\": 0.9}",
                     j ? "," : "[", cases[i].from + j % cases[i].kinds, 20 * j);
            spot_text_adds(&found, one);
        }
        spot_text_adds(&truth, "]}");
        spot_text_adds(&found, "]");
        o.file = "found";
        CHECK_OK(&c, spot_coco_parse(&c, &k, (uint8_t *)truth.bytes, truth.used, "truth"));
        CHECK_OK(&c, spot_coco_results_parse(&c, &r, (uint8_t *)found.bytes, found.used, "found"));
        CHECK_OK(&c, spot_detection_ids(&c, image, category, &k, &r, &o, "truth"));
        for (int j = 0; j < 12; j++) {
            const int want = cases[i].from + j % cases[i].kinds + cases[i].shift - cases[i].first;
            assert_int_equal(category[j], want < 3 ? want : -1);
        }
        if (cases[i].warning ? !strstr(heard, cases[i].warning) : *heard) fail_msg("case %d warned: %s", i, heard);
        spot_coco_results_close(&r);
        spot_coco_close(&k);
        spot_text_free(&truth);
        spot_text_free(&found);
    }
}

/* All ids exist, and twelve detections lie on objects whose id is one greater. */
TEST(categories_that_seem_to_begin_elsewhere)
{
    spot_ctx c = listening();
    spot_detection_options o = spot_detection_defaults();
    spot_text truth = { 0 }, found = { 0 };
    int image[12], category[12];
    char one[256];
    spot_coco_results r;
    spot_coco k;

    spot_text_adds(&truth, "{\"images\": [{\"id\": 1, \"file_name\": \"a\"}], \"categories\": [{\"id\": 0, \"name\": \"all\"}, "
                   "{\"id\": 1, \"name\": \"cat\"}, {\"id\": 2, \"name\": \"dog\"}], \"annotations\": [");
    for (int j = 0; j < 12; j++) {
        snprintf(one, sizeof one, "%s{\"image_id\": 1, \"category_id\": %d, \"bbox\": [%d, 0, 10, 10]}", j ? "," : "",
                 1 + j % 2, 20 * j);
        spot_text_adds(&truth, one);
        snprintf(one, sizeof one, "%s{\"image_id\": 1, \"category_id\": %d, \"bbox\": [%d, 1, 10, 10], \"score\": 0.9}",
                 j ? "," : "[", j % 2, 20 * j);
        spot_text_adds(&found, one);
    }
    spot_text_adds(&truth, "]}");
    spot_text_adds(&found, "]");
    o.file = "found";
    CHECK_OK(&c, spot_coco_parse(&c, &k, (uint8_t *)truth.bytes, truth.used, "truth"));
    CHECK_OK(&c, spot_coco_results_parse(&c, &r, (uint8_t *)found.bytes, found.used, "found"));
    CHECK_OK(&c, spot_detection_ids(&c, image, category, &k, &r, &o, "truth"));
    for (int j = 0; j < 12; j++) assert_int_equal(category[j], j % 2);
    assert_non_null(strstr(heard, "and 12 if 1 is added"));
    spot_coco_results_close(&r);
    spot_coco_close(&k);
    spot_text_free(&truth);
    spot_text_free(&found);
}

/* ---- the ground truth ---- */

#define TRUTH(annotations) \
    "\xef\xbb\xbf{\"images\": [{\"id\": 1, \"file_name\": \"a.jpg\"}, {\"id\": 2, \"file_name\": \"b.jpg\"}], " \
    "\"categories\": [{\"id\": 1, \"name\": \"cat\"}], \"annotations\": [" annotations "]}"

TEST_IN_FOLDER(objects_without_a_box)
{
    static const char text[] = TRUTH("{\"id\": 5, \"image_id\": 1, \"category_id\": 1, \"segmentation\": [[10, 10, 50, 10, "
        "50, 50.5], [8, 20, 9, 21, 9, 20]], \"area\": 7}, {\"id\": 6, \"image_id\": 2, \"category_id\": 1, \"segmentation\": "
        "{\"size\": [4, 5], \"counts\": [5, 2, 13]}, \"iscrowd\": 1}, {\"id\": 7, \"image_id\": 2, \"category_id\": 1, "
        "\"bbox\": [1, 2, 3, 4]}");
    static const char *const bare[][2] = {
        { TRUTH("{\"id\": 8, \"image_id\": 2, \"category_id\": 1, \"keypoints\": [1, 2, 2]}"), "coco.box_missing: annotation "
          "8 | b.jpg" },
        { TRUTH("{\"id\": 8, \"image_id\": 2, \"category_id\": 1, \"bbox\": [], \"segmentation\": []}"),
          "coco.box_missing: 8" },
        { TRUTH("{\"image_id\": 2, \"category_id\": 1, \"bbox\": null}"), "coco.box_missing: without an id | b.jpg" },
        { TRUTH("{\"id\": 8, \"image_id\": 2, \"category_id\": 1, \"segmentation\": [[1, 2, 3]]}"), "coco.outline: b.jpg" },
    };
    spot_ctx c = listening();
    spot_coco k;

    CHECK_OK(&c, spot_truth_open(&c, &k, file_of("truth.json", text)));
    assert_true(k.box[0].x == 8 && k.box[0].y == 10 && k.box[0].w == 42 && k.box[0].h == 40.5f && k.box[0].area == 7);
    assert_true(k.box[1].x == 1 && k.box[1].y == 1 && k.box[1].w == 1 && k.box[1].h == 2 && k.box[1].area == 2);
    assert_true(k.box[2].x == 1 && k.box[2].w == 3 && k.box[2].area == 12);
    assert_non_null(strstr(murmured, "2 annotations have no \"bbox\""));
    spot_coco_close(&k);
    for (int i = 0; i < LEN(bare); i++)
        CHECK_FAILS(&c, spot_truth_open(&c, &k, file_of("truth.json", bare[i][0])), SPOT_INPUT, bare[i][1]);
}

TEST_IN_FOLDER(annotations_that_share_an_id)
{
#define BOX(id, image) "{\"id\": " id ", \"image_id\": " image ", \"category_id\": 1, \"bbox\": [1, 2, 3, 4]}"
    static const char text[] = TRUTH(BOX("7", "1") "," BOX("8", "1") "," BOX("7.0", "1") "," BOX("7", "2") "," BOX("9", "2"));
#undef BOX
    static const char *const want[] = { "a.jpg#object 0", "a.jpg#8", "a.jpg#object 2", "b.jpg#7", "b.jpg#9" };
    spot_ctx c = listening();
    spot_detection_options o = spot_detection_defaults();
    const spot_subject_files files = { .coco = file_of("truth.json", text), .detections = &o };
    spot_subject s;

    o.file = file_of("found.json", "[]");
    CHECK_OK(&c, spot_subject_read(&c, &s, &files));
    assert_int_equal(s.n, LEN(want));
    for (int i = 0; i < s.n; i++) assert_string_equal(s.id[i], want[i]);
    assert_non_null(strstr(heard, "2 annotations share their id"));
    spot_subject_close(&s);
}

TEST_IN_FOLDER(two_pictures_of_one_file)
{
    static const char text[] = "{\"images\": [{\"id\": 1, \"file_name\": \"a.jpg\"}, {\"id\": 2, \"file_name\": \"a.jpg\"}, "
        "{\"id\": 3, \"file_name\": \"a.jpg\"}], \"categories\": [{\"id\": 1, \"name\": \"cat\"}], \"annotations\": [{\"id\": "
        "1, \"image_id\": 1, \"category_id\": 1, \"bbox\": [1, 2, 3, 4]}%s]}";
    spot_ctx c = check_ctx(1);
    spot_detection_options o = spot_detection_defaults();
    spot_subject_files files = { .detections = &o };
    char json[1000];
    spot_subject s;

    o.file = file_of("found.json", "[]");
    snprintf(json, sizeof json, text, "");
    files.coco = file_of("truth.json", json);
    CHECK_OK(&c, spot_subject_read(&c, &s, &files));           /* the others have no row */
    spot_subject_close(&s);
    snprintf(json, sizeof json, text, ", {\"id\": 2, \"image_id\": 3, \"category_id\": 1, \"bbox\": [1, 2, 3, 4]}");
    files.coco = file_of("truth.json", json);
    CHECK_FAILS(&c, spot_subject_read(&c, &s, &files), SPOT_INPUT, "coco.file_twice: a.jpg");
}

/* The first bytes of a PNG of 96 x 48 pixels are enough. */
TEST_IN_FOLDER(pictures_of_another_size)
{
    static const uint8_t png[33] = { 0x89, 'P', 'N', 'G', '\r', '\n', 26, '\n', 0, 0, 0, 13, 'I', 'H', 'D', 'R', 0, 0, 0, 96,
                                     0, 0, 0,
                                     48, 8, 2 };
    static const struct { int width, height; const char *failure; } cases[] = {
        { 96, 48, NULL }, { 0, 0, NULL }, { 48, 96, "coco.picture_size: a.png | 96 x 48 | truth | 48 x 96 | EXIF" },
        { 640, 320, "coco.picture_size: resized" }, { 640, 480, "coco.picture_size: 640 x 480" }, { 96, 0, NULL },
    };
    spot_ctx c = check_ctx(1);
    char path[128];
    FILE *f;

    snprintf(path, sizeof path, "%s/a.png", root);
    f = fopen(path, "wb");
    assert_true(f && fwrite(png, 1, sizeof png, f) == sizeof png && !fclose(f));
    for (int i = 0; i < LEN(cases); i++) {
        const spot_coco_image image = { .width = cases[i].width, .height = cases[i].height, .file = path };
        if (!cases[i].failure) CHECK_OK(&c, spot_truth_check_size(&c, path, &image, SPOT_EXIF_IGNORE, "truth"));
        else CHECK_FAILS(&c, spot_truth_check_size(&c, path, &image, SPOT_EXIF_IGNORE, "truth"), SPOT_INPUT, cases[i].failure);
    }
}

TEST(boxes_that_show_no_object)
{
    static spot_instance at[] = { { .x = 1, .y = 1, .w = 5, .h = 5, .width = 20, .height = 20 },
                                  { .x = 1, .y = 1, .w = 0, .h = 5 },
        { .x = 20, .y = 1, .w = 5, .h = 5, .width = 20, .height = 20 }, { .x = -5, .y = 1, .w = 5, .h = 5 },
        { .x = -4, .y = 18, .w = 5, .h = 5, .width = 20, .height = 20 } };
    static char *id[] = { "a", "b", "c", "d", "e" };
    const spot_subject s = { .n = LEN(at), .instance = at, .id = id };
    spot_ctx c = listening();

    spot_truth_report_boxes(&c, &s, "truth");
    assert_non_null(strstr(heard, "3 boxes"));
    assert_non_null(strstr(heard, "first is b"));
}
