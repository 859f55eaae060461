/* test_coco.c - annotations in COCO's format: what is kept of good ones, what is said of wrong ones, and in how much memory. */
#define _GNU_SOURCE
#include "checks.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "formats/coco.h"

#define FOLDER "fuzz/corpus_coco/"

TEST(wrong_files_get_their_sentence)
{
    static const struct { const char *file, *words; } cases[] = {
        { "empty", "file.empty" },                    { "space", "coco.json: EOF" },
        { "list", "coco.no_object: list" },          { "number", "coco.no_object: number" },
        { "no_categories", "coco.list_missing: \"categories\"" }, { "images_object", "coco.member_kind: \"images\" | object" },
        { "image_word", "coco.entry: \"images\" | word" }, { "no_file_name", "coco.member_missing: \"file_name\"" },
        { "id_real", "coco.member_value: \"id\" | 7.5" },
        { "id_huge", "coco.member_value: \"id\" | 1180591620717411303424" },
        { "id_twice", "coco.id_twice: numbers 0 | 1 | \"images\" | 9" },
        { "category_twice", "coco.id_twice: \"categories\" | 1" },
        { "no_such_image", "coco.annotation_id: \"images\" | id 77" },
        { "no_such_category", "coco.annotation_id: \"categories\" | id 77" },
        { "box_three", "coco.bbox: 3" },          { "box_five", "coco.bbox" },
        { "box_word", "coco.bbox: word" },   { "box_negative", "coco.bbox_size" },
        { "box_huge", "coco.member_value: \"bbox\" | 1e+300" },      { "box_nested", "coco.bbox: list" },
        { "crowd_two", "coco.member_value: \"iscrowd\" | 2" },       { "width_negative", "coco.member_value: \"width\" | -1" },
        { "area_nan", "coco.json: NaN" },                { "area_huge", "coco.member_value: \"area\" | 1e999" },
        { "area_digits", "coco.number_length: 82" }, { "nul", "coco.text" },
        { "key_twice", "coco.member_twice: \"width\"" }, { "list_twice", "coco.member_twice: \"images\"" },
        { "cut", "coco.json" },                     { "behind", "coco.json" },
        { "deep", "coco.nesting: 64" },       { "not_utf8", "coco.json" },
    };
    for (int i = 0; i < LEN(cases); i++) {
        spot_ctx c = check_ctx(1);
        spot_coco k;
        char path[128];
        snprintf(path, sizeof path, FOLDER "%s", cases[i].file);
        CHECK_FAILS(&c, spot_coco_open(&c, &k, path), SPOT_INPUT, cases[i].words);
        assert_null(k.image);
    }
}

/* The byte that is named is where the wrong thing is. */
TEST(the_byte_is_named)
{
    static const struct { const char *text, *id; int byte; } cases[] = {
        { "{\"images\": [], \"annotations\": [{\"image_id\": 1, \"category_id\": 2}], \"categories\": []}",
          "coco.annotation_id", 31 },
        { "{\"images\": [{\"id\": 1}]}", "coco.member_missing", 12 },
        { "{\"images\": [{\"id\": null}]}", "coco.member_kind", 23 },
        { "{\"images\": [,]}", "coco.json", 13 },
    };
    for (int i = 0; i < LEN(cases); i++) {
        spot_ctx c = check_ctx(1);
        spot_coco k;
        char words[64];
        snprintf(words, sizeof words, "%s: text | byte %d", cases[i].id, cases[i].byte);
        CHECK_FAILS(&c, spot_coco_parse(&c, &k, (const uint8_t *)cases[i].text, strlen(cases[i].text), "text"), SPOT_INPUT,
                    words);
    }
}

TEST(what_is_kept)
{
    static const char *const files[] = { FOLDER "good", FOLDER "annotations_first" };
    for (int f = 0; f < LEN(files); f++) {
        spot_ctx c = check_ctx(1);
        spot_coco k;
        CHECK_OK(&c, spot_coco_open(&c, &k, files[f]));
        assert_int_equal(k.images, 3);
        assert_int_equal(k.categories, 2);
        assert_int_equal(k.boxes, 4);
        assert_string_equal(k.image[0].file, "b/000000000009.jpg");
        assert_string_equal(k.image[1].file, "\u00e4 \u00fc.png");
        assert_int_equal(k.image[0].width, 640);
        assert_int_equal(k.image[1].id, -3);
        assert_string_equal(k.category[1].name, "tooth \"brush\"");
        assert_memory_equal(k.first, ((int[]){ 0, 2, 2, 4 }), 4 * sizeof(int));
        assert_true(k.box[0].crowd && k.box[0].category == 0 && k.box[0].area == 200);
        assert_true(k.box[1].category == 1 && k.box[1].x == 5 && k.box[1].area == 1);
        assert_true(k.box[2].image == 2 && k.box[2].w == 3.5f && k.box[2].area == 5.25f && !k.box[2].crowd);
        assert_true(k.box[3].w == 0 && k.box[3].category == 0 && !k.box[3].boxed && k.box[2].boxed);
        spot_coco_close(&k);
    }
}

/* 12, 12.0, "12", and 1.2e1 are one id; "012" is a word; what begins with a byte order mark is read. */
TEST(ids_are_numbers_or_words)
{
    static const char text[] = "\xef\xbb\xbf{\"images\": [{\"id\": %s, \"file_name\": \"a.png\", \"width\": 640.0, "
        "\"height\": 480}, {\"id\": \"b c\", \"file_name\": \"b.png\"}], \"categories\": [{\"id\": \"dog\", \"name\": "
        "\"dog\"}, {\"id\": 0, \"name\": \"cat\"}], \"annotations\": [{\"id\": \"7\", \"image_id\": %s, \"category_id\": "
        "\"0\", \"bbox\": [1, 2, 3, 4]}, {\"id\": \"x\", \"image_id\": \"b c\", \"category_id\": \"dog\", \"bbox\": %s}]}";
    static const struct { const char *id, *image, *box, *words; } cases[] = {
        { "12", "12.0", "null", NULL },      { "\"12\"", "12", "[]", NULL },  { "12.0", "\"12\"", "null", NULL },
        { "12", "1.2e1", "null", NULL },     { "\"12.0\"", "12", "[]", NULL }, { "\"012\"", "\"012\"", "[]", NULL },
        { "\"012\"", "12", "[]", "coco.annotation_id: id 12" }, { "12", "\"012\"", "[]", "coco.annotation_id: id 012" },
        { "\"b c\"", "1", "[]", "coco.id_twice: numbers 0 | 1 | \"images\" | b c" },
        { "-0.5", "1", "[]", "coco.member_value" }, { "\"\"", "1", "[]", "coco.text: \"id\"" },
        { "9223372036854775807", "1", "[]", "coco.member_value" }, { "12", "true", "[]", "coco.member_kind: \"image_id\"" },
        { "12", "12", "[NaN]", "coco.json: NaN" }, { "12", "-Infinity", "[]", "coco.json: Infinity" },
    };

    for (int i = 0; i < LEN(cases); i++) {
        spot_ctx c = check_ctx(1);
        char json[1000];
        const size_t n = (size_t)snprintf(json, sizeof json, text, cases[i].id, cases[i].image, cases[i].box);
        spot_coco k;
        if (cases[i].words) {
            CHECK_FAILS(&c, spot_coco_parse(&c, &k, (uint8_t *)json, n, "text"), SPOT_INPUT, cases[i].words);
            continue;
        }
        CHECK_OK(&c, spot_coco_parse(&c, &k, (uint8_t *)json, n, "text"));
        assert_int_equal(k.boxes, 2);
        assert_true(k.image[0].width == 640 && (k.image[0].id == 12) == (i != 5));
        assert_true(k.box[0].category == 1 && k.box[0].id == 7 && k.box[0].boxed && k.box[0].h == 4);
        assert_true(k.box[1].category == 0 && k.box[1].image == 1 && k.box[1].id == SPOT_COCO_NO_ID && !k.box[1].boxed);
        assert_string_equal(spot_coco_id_text(NULL, k.image[1].id, k.owned), "b c");
        spot_coco_close(&k);
    }
}

/* A picture's split is a word; one that is none is as good as absent, as it is where nobody asks for it. */
TEST(splits_are_words)
{
    static const char *const said[] = { "\"split\": \"val\", ", "", "\"split\": 3, ", "\"split\": null, ",
                                        "\"split\": [\"val\", 4], ", "\"split\": {\"split\": \"val\"}, ",
                                        "\"split\": \"\", " };

    for (int i = 0; i < LEN(said); i++) {
        spot_ctx c = check_ctx(1);
        char json[400];
        spot_coco k;
        const size_t n = (size_t)snprintf(json, sizeof json, "{\"images\": [{%s\"id\": 1, \"file_name\": \"a.png\"}, {\"id\": 2, "
                                          "\"file_name\": \"b.png\", \"split\": \"restval\"}], \"annotations\": [], "
                                          "\"categories\": [{\"split\": 7, \"id\": 1, \"name\": \"x\"}]}", said[i]);
        CHECK_OK(&c, spot_coco_parse(&c, &k, (uint8_t *)json, n, "text"));
        if (i) assert_null(k.image[0].split);
        else assert_string_equal(k.image[0].split, "val");
        assert_string_equal(k.image[0].file, "a.png");
        assert_string_equal(k.image[1].split, "restval");
        assert_string_equal(k.category[0].name, "x");
        spot_coco_close(&k);
    }
}

/* More words than the first table has places. */
TEST(many_words_are_ids)
{
    enum { WORDS = 5000 };
    spot_ctx c = check_ctx(1);
    spot_text text = { 0 };
    char one[128];
    spot_coco k;

    spot_text_adds(&text, "{\"categories\": [{\"id\": 1, \"name\": \"a\"}], \"annotations\": [");
    for (int i = 0; i < WORDS; i++) {
        snprintf(one, sizeof one, "%s{\"image_id\": \"w%d\", \"category_id\": 1, \"caption\": \"c\"}", i ? "," : "",
                 WORDS - 1 - i);
        spot_text_adds(&text, one);
    }
    spot_text_adds(&text, "], \"images\": [");
    for (int i = 0; i < WORDS; i++) {
        snprintf(one, sizeof one, "%s{\"id\": \"w%d\", \"file_name\": \"f%d\"}", i ? "," : "", i, i);
        spot_text_adds(&text, one);
    }
    spot_text_adds(&text, "]}");
    CHECK_OK(&c, spot_coco_parse(&c, &k, (uint8_t *)text.bytes, text.used, "text"));
    assert_int_equal(k.boxes, WORDS);
    for (int i = 0; i < WORDS; i++) assert_true(k.box[i].image == i && k.first[i] == i);
    spot_coco_close(&k);
    spot_text_free(&text);
}

TEST(a_number_in_quotes_is_an_id)
{
    spot_ctx c = check_ctx(1);
    spot_coco k;

    CHECK_OK(&c, spot_coco_open(&c, &k, FOLDER "id_word"));
    assert_int_equal(k.image[1].id, 7);
    spot_coco_close(&k);
}

TEST(utf16_is_named)
{
    spot_ctx c = check_ctx(1);
    spot_coco k;

    CHECK_FAILS(&c, spot_coco_parse(&c, &k, (const uint8_t *)"\xff\xfe{\0}\0", 6, "text"), SPOT_INPUT, "coco.utf16: UTF-16");
}

/* A file of captions needs no categories; an annotation that has both is a box. */
TEST(captions_are_kept)
{
    static const char text[] = "{\"annotations\": [{\"id\": 1, \"image_id\": 8, \"caption\": \"a \\u00e4 cat\"}, "
        "{\"caption\": \"two\\ndogs\", \"image_id\": 5, \"id\": 2}%s], \"images\": [{\"id\": 5, \"file_name\": \"x.png\"}, "
        "{\"id\": 8, \"file_name\": \"y.png\"}]%s}";
    static const struct { const char *more, *end, *words; } cases[] = {
        { "", "", NULL },
        { ", {\"image_id\": 5, \"category_id\": 3, \"caption\": \"no\"}", ", \"categories\": [{\"id\": 3, \"name\": \"c\"}]",
          NULL },
        { ", {\"image_id\": 6, \"caption\": \"of nothing\"}", "", "coco.caption_id: id 6" },
        { ", {\"caption\": \"alone\"}", "", "coco.member_missing: \"image_id\"" },
        { ", {\"image_id\": 5, \"caption\": \"\"}", "", "coco.text: \"caption\"" },
        { ", {\"image_id\": 5, \"caption\": 7}", "", "coco.member_kind: \"caption\" | number" },
    };

    for (int i = 0; i < LEN(cases); i++) {
        spot_ctx c = check_ctx(1);
        char json[1000];
        int n = snprintf(json, sizeof json, text, cases[i].more, cases[i].end);
        spot_coco k;
        if (cases[i].words) {
            CHECK_FAILS(&c, spot_coco_parse(&c, &k, (uint8_t *)json, (size_t)n, "text"), SPOT_INPUT, cases[i].words);
            continue;
        }
        CHECK_OK(&c, spot_coco_parse(&c, &k, (uint8_t *)json, (size_t)n, "text"));
        assert_int_equal(k.captions, 2);
        assert_int_equal(k.boxes, i);
        assert_int_equal(k.caption[0].image, 1);
        assert_string_equal(k.caption[0].text, "a \u00e4 cat");
        assert_int_equal(k.caption[1].image, 0);
        assert_string_equal(k.caption[1].text, "two\ndogs");
        spot_coco_close(&k);
    }
}

/* A word that goes on for ever must not be held for ever, and a file of 100 MB of outlines needs no more than its boxes. */
TEST(memory_is_bounded)
{
    spot_ctx c = check_ctx(1);
    char path[64];
    struct rusage before, after;
    spot_coco k;
    FILE *f;
    snprintf(path, sizeof path, "/tmp/spotter_coco_%ld.json", (long)getpid());
    f = fopen(path, "w");
    fputs("{\"categories\":[{\"id\":1,\"name\":\"a\"}],\"images\":[{\"id\":1,\"file_name\":\"a\"}],\"annotations\":[", f);
    for (int i = 0; i < 5000; i++) {
        fprintf(f, "%s{\"image_id\":1,\"category_id\":1,\"segmentation\":[[0", i ? "," : "");
        for (int p = 0; p < 2000; p++) fputs(",123.4567", f);
        fputs("]]}", f);
    }
    fputs("]}", f);
    fclose(f);
    getrusage(RUSAGE_SELF, &before);
    CHECK_OK(&c, spot_coco_open(&c, &k, path));
    getrusage(RUSAGE_SELF, &after);
    assert_int_equal(k.boxes, 5000);
    assert_true(after.ru_maxrss - before.ru_maxrss < 4096);
    spot_coco_close(&k);
    f = fopen(path, "w");
    fputs("{\"info\": \"", f);
    for (int i = 0; i < 4000000; i++) fputc('x', f);
    fclose(f);
    CHECK_FAILS(&c, spot_coco_open(&c, &k, path), SPOT_INPUT, "coco.value_length: 1048576");
    remove(path);
    CHECK_FAILS(&c, spot_coco_open(&c, &k, path), SPOT_IO, check_text("file.unread: %s", path));
}
