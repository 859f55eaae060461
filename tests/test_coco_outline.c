/* test_coco_outline.c - outlines of COCO's objects: the pixels of pycocotools, outlines that are wrong, targets of a file. */
#define _GNU_SOURCE   /* mkstemp */
#include "checks.h"

#include <stdlib.h>

#include "background/suite/outlines.h"
#include "formats/coco_outline.h"

/* tools/golden/coco_outlines.py */
TEST(masks_are_those_of_pycocotools)
{
    spot_ctx c = check_ctx(1);
    FILE *f = fopen("golden/coco_outlines.txt", "r");
    char *line = malloc(1 << 16);
    int cases = 0;

    assert_non_null(f);
    for (; fgets(line, 1 << 16, f); ) {
        if (*line == '#') continue;
        char *rest, *json = strchr(strchr(line, '\t') + 1, '\t') + 1, *runs = strchr(json, '\t');
        const int width = (int)strtol(line, &rest, 10), height = (int)strtol(rest, NULL, 10);
        uint8_t *plane = calloc((size_t)width * (size_t)height, 1), in = 0;
        *runs++ = 0;
        CHECK_OK(&c, spot_coco_outline(&c, plane, width, height, json, strlen(json), "a.jpg"));
        for (int at = 0; at < width * height; in = !in) {
            const int end = at + (int)strtol(runs, &rest, 10);
            if (rest == runs) fail_msg("case %d: too few runs", cases);
            for (runs = rest; at < end; at++)
                if (plane[at % height * width + at / height] != (in ? 255 : 0))
                    fail_msg("case %d, %s: column %d, row %d is %d", cases, json, at / height, at % height,
                             plane[at % height * width + at / height]);
        }
        free(plane);
        cases++;
    }
    assert_int_equal(cases, 37);
    fclose(f), free(line);
}

/* tools/golden/coco_boxes.py */
TEST(boxes_are_those_of_pycocotools)
{
    spot_ctx c = check_ctx(1);
    FILE *outlines = fopen("golden/coco_outlines.txt", "r"), *boxes = fopen("golden/coco_boxes.txt", "r");
    char *line = malloc(1 << 16), want[256];
    int cases = 0;

    assert_true(outlines && boxes);
    while (fgets(line, 1 << 16, outlines) && fgets(want, sizeof want, boxes)) {
        if (*line == '#') continue;
        char *json = strchr(strchr(line, '\t') + 1, '\t') + 1, *at = want;
        float box[4];
        *strchr(json, '\t') = 0;
        CHECK_OK(&c, spot_coco_outline_box(&c, box, json, strlen(json), "a.jpg"));
        for (int k = 0; k < 4; k++) CHECK_NEAR(box[k], strtod(at, &at), 1e-5);
        cases++;
    }
    assert_int_equal(cases, 37);
    fclose(outlines), fclose(boxes), free(line);
}

TEST(what_has_no_box)
{
    static const char *const wrong[][2] = {
        { "[]", "coco.outline: encloses" }, { "[[]]", "coco.outline: encloses" }, { "7", "coco.outline: encloses" },
        { "[7]", "coco.outline: polygon" }, { "[[1, 2, 3]]", "coco.outline: polygon" },
        { "[[1, \"x\"]]", "coco.outline: corner" }, { "[[1, 1e99]]", "coco.outline: corner" },
        { "{\"size\": [3, 4], \"counts\": [12]}", "coco.outline: encloses" },
        { "{\"size\": [3], \"counts\": [12]}", "coco.outline: size" },
        { "{\"size\": [1000000, 1000000], \"counts\": [12]}", "coco.outline: size" },
        { "{\"size\": [3, 4], \"counts\": [NaN]}", "coco.outline_json: NaN" }, { "[[1, 2", "coco.outline_json" },
    };
    spot_ctx c = check_ctx(1);
    float box[4];

    for (int i = 0; i < LEN(wrong); i++)
        CHECK_FAILS(&c, spot_coco_outline_box(&c, box, wrong[i][0], strlen(wrong[i][0]), "a.jpg"), SPOT_INPUT, wrong[i][1]);
}

TEST(outlines_that_are_wrong)
{
    static const struct { const char *json, *words; } wrong[] = {
        { "[]", "coco.outline: neither" },
        { "3", "coco.outline: neither" },
        { "[[1, 2, 3]]", "coco.outline: polygon | x, y, x, y" },
        { "[[1, 2, 3, 4]]", "coco.outline: polygon | three" },
        { "[[1, 2, 3, 4, 5, \"6\"]]", "coco.outline: corner | number" },
        { "[[1, 2, 3, 4, 5, 1e300]]", "coco.outline: far outside" },
        { "{\"counts\": [80]}", "coco.outline: \"size\" | two" },
        { "{\"size\": [10, 8], \"counts\": [80]}", "coco.outline_size: 8 | 10 | 10 | 8" },
        { "{\"size\": [8, 10]}", "coco.outline: \"counts\"" },
        { "{\"size\": [8, 10], \"counts\": [81]}", "coco.outline: more | size" },
        { "{\"size\": [8, 10], \"counts\": [-1, 81]}", "coco.outline: more | size" },
        { "{\"size\": [8, 10], \"counts\": [79]}", "coco.outline: fewer | size" },
        { "{\"size\": [8, 10], \"counts\": [1.5]}", "coco.outline: run length | whole number" },
        { "{\"size\": [8, 10], \"counts\": \"~\"}", "coco.outline: text | run lengths" },
        { "{\"size\": [8, 10], \"counts\": \"ooooooooooooooo\"}", "coco.outline: text | run lengths" },
        { "{", "coco.outline_json" },
    };
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < LEN(wrong); i++) {
        uint8_t plane[80] = { 0 };
        CHECK_FAILS(&c, spot_coco_outline(&c, plane, 10, 8, wrong[i].json, strlen(wrong[i].json), "a.jpg"), SPOT_INPUT,
                    wrong[i].words);
    }
}

static const char annotations[] =
    "{\"images\": [{\"id\": 1, \"file_name\": \"b.png\", \"width\": 10, \"height\": 8}, {\"id\": 2, \"file_name\": \"a.png\"},"
    " {\"id\": 3, \"file_name\": \"c.png\"}], \"categories\": [{\"id\": 5, \"name\": \"dog\"}, {\"id\": 6, \"name\": \"cat\"},"
    " {\"id\": 7, \"name\": \"tree\"}], \"annotations\": ["
    "{\"image_id\": 1, \"category_id\": 5, \"area\": 4, \"segmentation\": [[1, 1, 3, 1, 3, 3, 1, 3]]},"
    "{\"image_id\": 1, \"category_id\": 6, \"segmentation\": {\"size\": [8, 10], \"counts\": [16, 40, 24]}, \"area\": 40},"
    "{\"image_id\": 1, \"category_id\": 7, \"area\": 70, \"segmentation\": [[0, 0, 10, 0, 10, 7, 0, 7]]},"
    "{\"image_id\": 2, \"category_id\": 5, \"area\": 9, \"segmentation\": [[1, 1, 4, 1, 4, 4, 1, 4]]},"
    "{\"image_id\": 3, \"category_id\": 5, \"area\": 9, \"iscrowd\": 1, \"segmentation\": "
    "{\"size\": [8, 10], \"counts\": [80]}},"
    "{\"image_id\": 3, \"category_id\": 6, \"area\": 9}]}";

static void write_annotations(char path[32])
{
    strcpy(path, "/tmp/spot_coco_XXXXXX");
    FILE *f = fdopen(mkstemp(path), "wb");
    assert_true(f && fwrite(annotations, 1, sizeof annotations - 1, f) == sizeof annotations - 1 && !fclose(f));
}

/* The target of each picture is the largest object of a tested category; groups and boxes without an outline are none. */
TEST(targets_of_a_file)
{
    spot_ctx c = check_ctx(1);
    spot_outlines o = { 0 };
    uint8_t plane[80] = { 0 };
    char path[32];
    int sum = 0;

    write_annotations(path);
    CHECK_OK(&c, spot_outlines_open(&c, &o, path, "dog , cat,"));
    assert_true(o.n == 2 && o.classes == 2);
    assert_string_equal(o.name[0], "a.png"), assert_string_equal(o.class_name[o.cls[0]], "dog");
    assert_string_equal(o.name[1], "b.png"), assert_string_equal(o.class_name[o.cls[1]], "cat");
    CHECK_OK(&c, spot_outlines_draw(&c, &o, 1, plane, 10, 8));
    for (int i = 0; i < 80; i++) sum += plane[i] == 255;
    assert_int_equal(sum, 40);
    CHECK_FAILS(&c, spot_outlines_draw(&c, &o, 1, plane, 8, 10), SPOT_INPUT,
                "outlines.size: b.png | 8 | 10 | 10 | 8");
    spot_outlines_close(&o);
    CHECK_FAILS(&c, spot_outlines_open(&c, &o, path, "dog, bird"), SPOT_INPUT, "outlines.no_category: \"bird\"");
    spot_outlines_close(&o);
    CHECK_OK(&c, spot_outlines_open(&c, &o, path, "dog"));
    assert_true(o.n == 2 && o.classes == 1);           /* the smaller dog of b.png */
    spot_outlines_close(&o);
    remove(path);
}
