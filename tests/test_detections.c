/* test_detections.c - a detector's rows: matches against pycocotools and against a plain loop, outcomes and reasons of rows
 * that can be checked by hand, features found by ids, wrong files. */
#define _GNU_SOURCE
#include "checks.h"
#include "check_folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/detection_iou.h"
#include "discover/subject/detection_match.h"
#include "spotter/array.h"
#include "spotter/subject.h"

#define TRUTH "golden/detections_truth.json"
#define FOUND "golden/detections_found.json"

static spot_detection_options options_at(double iou, double score)
{
    spot_detection_options o = spot_detection_defaults();

    o.file = FOUND;
    o.iou = iou;
    o.score = score;
    return o;
}

/* ---- the file of detections ---- */

TEST(the_corpus_of_detections_gets_its_sentences)
{
    static const struct { const char *file, *words; } cases[] = {
        { "empty", "file.empty" },                     { "space", "coco.json" },
        { "object", "coco.no_list: object" },     { "number", "coco.no_list: number" },
        { "entry_list", "coco.entry: entry 0 | a list" },  { "entry_number", "coco.entry: entry 0 | number" },
        { "no_score", "coco.member_missing: \"score\"" },   { "box_three", "coco.bbox: 3" },
        { "box_five", "coco.bbox" },             { "box_word", "coco.bbox: word" },
        { "box_nested", "coco.bbox: list" }, { "box_object", "coco.member_kind: \"bbox\" | object" },
        { "box_negative", "coco.bbox_size" },      { "box_huge", "coco.member_value: \"bbox\" | 1e300" },
        { "score_two", "coco.score: 2" },         { "score_negative", "coco.score" },
        { "score_null", "coco.member_kind: \"score\" | null" },     { "id_real", "coco.member_value: 9.5" },
           { "id_huge", "coco.member_value" },
        { "id_twice", "coco.member_twice: \"image_id\"" },  { "digits", "coco.number_length: 82" },
        { "deep", "coco.nesting: 64" },       { "deep_open", "coco.nesting: 64" },
        { "cut", "coco.json" },                     { "behind", "coco.json" },
        { "nan", "coco.json: entry 0 | NaN" },                   { "not_utf8", "coco.json" },
    };
    static const struct { const char *file; int n; } right[] = { { "none", 0 }, { "one", 1 }, { "two", 2 }, { "more", 1 },
                                                             { "id_word", 1 }, { "words", 2 } };
    spot_coco_results r;
    char path[128];

    for (int i = 0; i < LEN(cases); i++) {
        spot_ctx c = check_ctx(1);
        snprintf(path, sizeof path, "fuzz/corpus_coco_results/%s", cases[i].file);
        CHECK_FAILS(&c, spot_coco_results_open(&c, &r, path), SPOT_INPUT, cases[i].words);
        assert_null(r.result);
    }
    for (int i = 0; i < LEN(right); i++) {
        spot_ctx c = check_ctx(1);
        snprintf(path, sizeof path, "fuzz/corpus_coco_results/%s", right[i].file);
        CHECK_OK(&c, spot_coco_results_open(&c, &r, path));
        assert_int_equal(r.n, right[i].n);
        spot_coco_results_close(&r);
    }
}

/* ---- matches ---- */

/* tools/golden/detections.py */
TEST(matches_are_those_of_pycocotools)
{
    spot_ctx c = check_ctx(1);
    spot_coco k;
    spot_coco_results r;
    FILE *f = fopen("golden/detections_matches.txt", "r");
    double iou, score;
    int lines = 0, matched = 0;

    assert_non_null(f);
    CHECK_OK(&c, spot_coco_open(&c, &k, TRUTH));
    CHECK_OK(&c, spot_coco_results_open(&c, &r, FOUND));
    for (; fscanf(f, "%lf %lf", &iou, &score) == 2; lines++) {
        const spot_detection_options o = options_at(iou, score);
        char (*want)[16] = calloc((size_t)r.n, sizeof *want);
        spot_matches m;
        CHECK_OK(&c, spot_matches_find(&c, &m, &k, &r, &o, TRUTH));
        assert_int_equal(m.n, r.n);
        for (int i = 0; i < r.n; i++) assert_int_equal(fscanf(f, "%15s", want[i]), 1);
        for (int i = 0; i < m.n; i++) {
            const spot_detection *d = &m.detection[i];
            char got[16] = "-";
            if (d->exists) snprintf(got, sizeof got, "%d", d->match < 0 ? 0 : (int)k.box[d->match].id);
            assert_string_equal(got, want[d->number]);
            matched += d->match >= 0;
        }
        spot_matches_close(&m);
        free(want);
    }
    assert_int_equal(lines, 15);
    assert_true(matched > 500);
    fclose(f);
    spot_coco_results_close(&r);
    spot_coco_close(&k);
}

static double iou_of(const spot_coco_box *box, const spot_detection *d)
{
    return spot_box_iou(box, (const float[4]){ d->x, d->y, d->w, d->h });
}

/* The match of each detection by its number, by looking for the next detection and its box in all of them. */
static void match_plainly(int *match, const spot_coco *k, const spot_matches *m, double iou)
{
    uint8_t *done = calloc((size_t)m->n, 1), *taken = calloc((size_t)k->boxes + 1, 1);

    for (int step = 0; step < m->n; step++) {
        const spot_detection *next = NULL;
        double most = iou;
        int best = -1;
        for (int i = 0; i < m->n; i++)
            if (!done[m->detection[i].number] && (!next || m->detection[i].score > next->score ||
                (m->detection[i].score == next->score && m->detection[i].number < next->number))) next = &m->detection[i];
        done[next->number] = 1;
        match[next->number] = -1;
        for (int b = 0; next->exists && b < k->boxes; b++)
            if (!k->box[b].crowd && !taken[b] && k->box[b].image == next->image && k->box[b].category == next->category
                && iou_of(&k->box[b], next) >= most) most = iou_of(&k->box[best = b], next);
        if (best >= 0) taken[best] = 1;
        for (int b = 0; next->exists && best < 0 && b < k->boxes; b++)
            if (k->box[b].crowd && k->box[b].image == next->image && k->box[b].category == next->category
                && iou_of(&k->box[b], next) >= iou) match[next->number] = -2;
        if (best >= 0) match[next->number] = best;
    }
    free(done);
    free(taken);
}

TEST(matches_are_those_of_a_plain_loop)
{
    spot_ctx c = check_ctx(1);
    spot_coco k;
    spot_coco_results r;
    int match[1000];

    CHECK_OK(&c, spot_coco_open(&c, &k, TRUTH));
    CHECK_OK(&c, spot_coco_results_open(&c, &r, FOUND));
    assert_in_range(r.n, 1, LEN(match));
    for (int t = 0; t < 20; t++) {
        const spot_detection_options o = options_at(0.1 + 0.045 * t, t % 3 * 0.3);
        spot_matches m;
        CHECK_OK(&c, spot_matches_find(&c, &m, &k, &r, &o, TRUTH));
        match_plainly(match, &k, &m, o.iou);
        for (int i = 0; i < m.n; i++) {
            const int got = m.detection[i].match;
            assert_int_equal(got >= 0 && k.box[got].crowd ? -2 : got, match[m.detection[i].number]);
            if (got >= 0 && !k.box[got].crowd) assert_int_equal(m.match[got], i);
        }
        spot_matches_close(&m);
    }
    spot_coco_results_close(&r);
    spot_coco_close(&k);
}

/* ---- rows ---- */

static const char hand[] = "{\"images\": [{\"id\": 5, \"file_name\": \"a.png\", \"width\": 200, \"height\": 100},"
    "{\"id\": 6, \"file_name\": \"b.png\"}], \"categories\": [{\"id\": 2, \"name\": \"cat\"}, {\"id\": 1, \"name\": \"dog\"},"
    "{\"id\": 9, \"name\": \"bird\"}], \"annotations\": ["
    "{\"id\": 71, \"image_id\": 5, \"category_id\": 2, \"bbox\": [10, 10, 40, 40], \"area\": 900},"
    "{\"id\": 72, \"image_id\": 5, \"category_id\": 2, \"bbox\": [100, 10, 40, 40]},"
    "{\"id\": 73, \"image_id\": 5, \"category_id\": 1, \"bbox\": [150, 50, 50, 50]},"
    "{\"id\": 74, \"image_id\": 5, \"category_id\": 1, \"bbox\": [0, 60, 100, 40], \"iscrowd\": 1},"
    "{\"id\": \"x\", \"image_id\": 6, \"category_id\": 1, \"bbox\": [1000, 1000, 200, 100]}]}";
static const char hand_found[] = "["
    "{\"image_id\": 5, \"category_id\": 2, \"bbox\": [10, 10, 40, 40], \"score\": 0.9},"         /* 0: right */
    "{\"image_id\": 5, \"category_id\": 2, \"bbox\": [12, 10, 40, 40], \"score\": 0.8},"         /* 1: duplicate */
    "{\"image_id\": 5, \"category_id\": 2, \"bbox\": [100, 40, 40, 40], \"score\": 0.7},"        /* 2: localisation, of 72 */
    "{\"image_id\": 5, \"category_id\": 2, \"bbox\": [150, 50, 50, 50], \"score\": 0.6},"        /* 3: confusion, of 73 */
    "{\"image_id\": 5, \"category_id\": 1, \"bbox\": [20, 70, 20, 20], \"score\": 0.95},"        /* 4: in the crowd */
    "{\"image_id\": 6, \"category_id\": 1, \"bbox\": [1000, 1000, 200, 100], \"score\": 0.25},"  /* 5: below the threshold */
    "{\"image_id\": 6, \"category_id\": 2, \"bbox\": [1120, 1040, 100, 100], \"score\": 0.5},"   /* 6: both, at the threshold */
    "{\"image_id\": 6, \"category_id\": 2, \"bbox\": [-5, 0, 9, 9], \"score\": 1.0}]";           /* 7: background */

/* Writes a file into the test's folder; its name. The last eight names stay. */
static const char *file_of(const char *text)
{
    static char path[8][96];
    static int used;
    char *name = path[used % LEN(path)];
    FILE *f;

    snprintf(name, sizeof path[0], "%s/%d.json", root, used++);
    f = fopen(name, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    return name;
}

typedef struct { const char *id, *cls; int wrong; const char *reason; float confidence; } wanted_row;

TEST_IN_FOLDER(rows_made_by_hand)
{
    static const wanted_row want[] = {
        { "a.png#71", "cat: objects", 0, "", 0.9f },           { "a.png#72", "cat: objects", 1, "localisation", 0 },
        { "a.png#73", "dog: objects", 1, "confusion", 0 },     { "b.png#object 0", "dog: objects", 1, "low score", 0.25f },
        { "a.png#detection 0", "cat: detections", 0, "", 0.9f },
        { "a.png#detection 1", "cat: detections", 1, "duplicate", 0.2f },
        { "a.png#detection 2", "cat: detections", 1, "localisation", 0.3f },
        { "a.png#detection 3", "cat: detections", 1, "confusion", 0.4f },
        { "b.png#detection 7", "cat: detections", 1, "background", 0 },
        { "b.png#detection 6", "cat: detections", 1, "confusion and localisation", 0.5f },
    };
    spot_ctx c = check_ctx(1);
    spot_detection_options o = spot_detection_defaults();
    spot_subject_files files = { .coco = file_of(hand), .detections = &o };
    spot_subject s;

    o.file = file_of(hand_found);
    CHECK_OK(&c, spot_subject_read(&c, &s, &files));
    assert_int_equal(s.n, LEN(want));
    assert_int_equal(s.classes, 3);                            /* nobody is a bird, and no dog is detected */
    for (int i = 0; i < s.n; i++) {
        const spot_instance *v = &s.instance[i];
        assert_string_equal(s.id[i], want[i].id);
        assert_string_equal(s.class_name[s.target[i]], want[i].cls);
        assert_int_equal(v->wrong, want[i].wrong);
        assert_int_equal(spot_subject_wrong(&s, i, s.target[i]), want[i].wrong);
        assert_string_equal(spot_reason_name(v->reason, v->detected), want[i].reason);
        CHECK_NEAR(s.confidence[i], want[i].confidence, 1e-6);
    }
    /* a.png#73 reaches the corner: the square of 60 pixels moves into the picture; b.png has no size */
    assert_memory_equal(s.box + 8, ((float[]){ 140, 40, 60, 60 }), 4 * sizeof(float));
    assert_memory_equal(s.box + 12, ((float[]){ 980, 930, 240, 240 }), 4 * sizeof(float));
    assert_int_equal(s.instance[2].edge, 1);
    assert_int_equal(s.instance[1].edge, 0);
    assert_int_equal(s.instance[3].edge, 2);
    assert_int_equal(s.instance[0].others, 1);
    assert_int_equal(s.instance[4].others, 3);
    assert_int_equal(s.instance[4].overlaps, 1);
    assert_int_equal(s.instance[0].overlaps, 0);
    assert_true(s.instance[0].area == 900);
    spot_subject_close(&s);
}

/* Confidence below 1/2 and wrong are the same at every threshold, and the kinds of rows can be chosen. */
TEST(confidence_says_what_is_wrong)
{
    spot_ctx c = check_ctx(1);
    int n[3] = { 0 };

    for (int rows = 0; rows < 3; rows++)
        for (int t = 0; t < 5; t++) {
            spot_detection_options o = options_at(0.3, (double[]){ 0, 0.125, 0.3, 0.75, 0.9 }[t]);
            const spot_subject_files files = { .coco = TRUTH, .detections = &o };
            spot_subject s;
            o.rows = rows;
            CHECK_OK(&c, spot_subject_read(&c, &s, &files));
            for (int i = 0; i < s.n; i++) {
                assert_int_equal(s.confidence[i] < 0.5f, s.instance[i].wrong);
                assert_int_equal(spot_subject_wrong(&s, i, s.target[i]), s.instance[i].wrong);
                assert_int_equal(s.instance[i].wrong, s.instance[i].reason != SPOT_REASON_NONE);
                if (rows) assert_int_equal(s.instance[i].detected, rows == SPOT_ROWS_ALARMS);
            }
            if (t == 2) n[rows] = s.n;
            spot_subject_close(&s);
        }
    assert_int_equal(n[0], n[1] + n[2]);
}

/* ---- features ---- */

TEST_IN_FOLDER(features_are_found_by_ids)
{
    spot_ctx c = check_ctx(1);
    spot_detection_options o = options_at(0.5, 0.5);
    spot_subject_files files = { .coco = TRUTH, .detections = &o };
    spot_subject s, t;
    char npy[96], csv[96], ids[128];
    float *v;
    FILE *f;

    snprintf(npy, sizeof npy, "%s/features.npy", root);
    snprintf(csv, sizeof csv, "%s/ids.csv", root);
    f = fopen(csv, "w");
    assert_non_null(f);
    CHECK_OK(&c, spot_subject_read(&c, &s, &files));
    v = malloc(((size_t)s.n + 1) * 2 * sizeof *v);
    fputs("id\n\"nobody, \"\"here\"\"\"\n", f);
    v[0] = v[1] = 77;
    for (int i = 0; i < s.n; i++) {                            /* the last row first */
        fprintf(f, i == 2 ? "./%s\n" : i == 3 ? "%s \n" : "%s\n", s.id[s.n - 1 - i]);
        v[2 * i + 2] = (float)(s.n - 1 - i);
        v[2 * i + 3] = 0.5f;
    }
    fclose(f);
    CHECK_OK(&c, spot_npy_write(&c, npy, v, s.n + 1, 2));
    snprintf(ids, sizeof ids, "%s:id", csv);
    files.embeddings = npy;
    CHECK_FAILS(&c, spot_subject_read(&c, &t, &files), SPOT_INPUT, "detections.rows");
    files.ids = ids;
    CHECK_OK(&c, spot_subject_read(&c, &t, &files));
    assert_int_equal(t.d, 2);
    for (int i = 0; i < t.n; i++) assert_true(t.feature[2 * i] == (float)i && t.feature[2 * i + 1] == 0.5f);
    spot_subject_close(&t);
    o.score = 0.2;                                             /* more detections than ids */
    CHECK_FAILS(&c, spot_subject_read(&c, &t, &files), SPOT_INPUT, "detections.no_id");
    o.score = 0.5;
    f = fopen(csv, "a");
    assert_non_null(f);
    fprintf(f, "%s\n", s.id[0]);
    fclose(f);
    v = realloc(v, ((size_t)s.n + 2) * 2 * sizeof *v);
    v[2 * s.n + 2] = v[2 * s.n + 3] = 0;
    CHECK_OK(&c, spot_npy_write(&c, npy, v, s.n + 2, 2));
    CHECK_FAILS(&c, spot_subject_read(&c, &t, &files), SPOT_INPUT,
                check_text("detections.id_twice: rows %d | %d", s.n, s.n + 1));
    spot_subject_close(&s);
    free(v);
}

/* ---- groups ---- */

/* The rows of a picture are a group, unless groups are given, whose rows are those of the embeddings. */
TEST_IN_FOLDER(rows_of_a_picture_are_a_group)
{
    spot_ctx c = check_ctx(1);
    spot_detection_options o = options_at(0.5, 0.5);
    spot_subject_files files = { .coco = TRUTH, .detections = &o };
    const char *csv = in_root("groups.csv");
    spot_subject s, t;
    float *v;
    FILE *f;

    CHECK_OK(&c, spot_subject_read(&c, &s, &files));
    assert_true(s.groups > 1 && s.groups < s.n && spot_subject_is_grouped(&s));
    for (int i = 0; i < s.n; i++) {
        const char *name = s.group_name[s.group[i]];
        assert_int_equal(strncmp(s.id[i], name, strlen(name)), 0);
        assert_int_equal(s.id[i][strlen(name)], '#');
        for (int j = 0; j < i; j++)
            assert_int_equal(s.group[i] == s.group[j], s.instance[i].picture == s.instance[j].picture);
    }
    files.groups = SPOT_GROUPS_ROWS;
    CHECK_OK(&c, spot_subject_read(&c, &t, &files));
    assert_int_equal(t.groups, t.n);
    spot_subject_close(&t);
    f = fopen(csv, "w");
    assert_non_null(f);
    v = calloc((size_t)s.n, sizeof *v);
    fputs("id,place\n", f);
    for (int i = s.n; i-- > 0;) fprintf(f, "%s,%s\n", s.id[i], i % 3 ? "street" : "field");
    fclose(f);
    CHECK_OK(&c, spot_npy_write(&c, in_root("e.npy"), v, s.n, 1));
    files.embeddings = in_root("e.npy"), files.ids = check_text("%s:id", csv), files.groups = check_text("%s:place", csv);
    CHECK_OK(&c, spot_subject_read(&c, &t, &files));
    assert_int_equal(t.groups, 2);
    for (int i = 0; i < t.n; i++) assert_string_equal(t.group_name[t.group[i]], i % 3 ? "street" : "field");
    spot_subject_close(&t);
    put_text("few.csv", "g\n1\n2\n");
    files.groups = in_root("few.csv");
    CHECK_FAILS(&c, spot_subject_read(&c, &t, &files), SPOT_INPUT, "detections.ids_of: 2");
    files.ids = NULL;
    CHECK_FAILS(&c, spot_subject_read(&c, &t, &files), SPOT_INPUT, "detections.rows: few.csv | 2");
    spot_subject_close(&s);
    free(v);
}

/* ---- wrong files ---- */

TEST_IN_FOLDER(wrong_detections_get_their_sentence)
{
#define D(image, category, box, score) \
    "[{\"image_id\":" image ",\"category_id\":" category ",\"bbox\":" box ",\"score\":" score "}]"
    static const struct { const char *text, *words; } cases[] = {
        { "", "file.empty" }, { "{}", "coco.no_list: object" }, { "[3]", "coco.entry: entry 0 | number" },
        { "[{}]", "coco.member_missing: \"image_id\"" }, { "[[]]", "coco.entry: entry 0 | a list" }, { "[{\"image_id\":",
            "coco.json" },
        { D("99", "2", "[1,2,3,4]", "0.5"), "detections.image_id: entry 0" },
        { D("\"five\"", "2", "[1,2,3,4]", "0.5"), "detections.image_id: entry 0 | five" },
        { D("true", "2", "[1,2,3,4]", "0.5"), "coco.member_kind: \"image_id\" | true" },
        { D("5.5", "2", "[1,2,3,4]", "0.5"), "coco.member_value" }, { D("5", "2", "[1,2,3]", "0.5"), "coco.bbox: 3" },
        { D("5", "2", "[1,2,3,4,5]", "0.5"), "coco.bbox" }, { D("5", "2", "[1,2,-3,4]", "0.5"), "coco.bbox_size" },
        { D("5", "2", "[1,2,NaN,4]", "0.5"), "coco.json: entry 0 | NaN" }, { D("5", "2", "[1,2,1e99,4]", "0.5"),
                                                            "coco.member_value: \"bbox\" | 1e99" },
        { D("5", "2", "[1,2,[3],4]", "0.5"), "coco.bbox: list" }, { D("5", "2", "[1,2,3,4]", "1.5"), "coco.score" },
        { D("5", "2", "[1,2,3,4]", "null"), "coco.member_kind: \"score\" | null" }, { D("5", "2", "7", "0.5"),
                                                                    "coco.member_kind: \"bbox\" | number" },
        { "[{\"score\":0.5,\"score\":0.6}]", "coco.member_twice: \"score\"" },
    };
#undef D
    for (int i = 0; i < LEN(cases); i++) {
        spot_ctx c = check_ctx(1);
        spot_detection_options o = spot_detection_defaults();
        const spot_subject_files files = { .coco = file_of(hand), .detections = &o };
        spot_subject s;
        o.file = file_of(cases[i].text);
        CHECK_FAILS(&c, spot_subject_read(&c, &s, &files), SPOT_INPUT, cases[i].words);
    }
}

TEST_IN_FOLDER(nothing_and_crowds_alone)
{
    static const char crowd[] = "{\"images\":[{\"id\":1,\"file_name\":\"a\"}],\"categories\":[{\"id\":1,\"name\":\"c\"}],"
        "\"annotations\":[{\"image_id\":1,\"category_id\":1,\"bbox\":[0,0,9,9],\"iscrowd\":1}]}";
    static const char in_it[] = "[{\"image_id\":1,\"category_id\":1,\"bbox\":[1,1,3,3],\"score\":0.9},"
        "{\"image_id\":1,\"category_id\":44,\"bbox\":[1,1,3,3],\"score\":0.9}]";
    spot_ctx c = check_ctx(1);
    spot_detection_options o = spot_detection_defaults();
    spot_subject_files files = { .coco = file_of(crowd), .detections = &o };
    spot_subject s;

    o.file = file_of(in_it);
    CHECK_FAILS(&c, spot_subject_read(&c, &s, &files), SPOT_INPUT, "detections.no_rows");
    o.file = file_of("[]");
    CHECK_FAILS(&c, spot_subject_read(&c, &s, &files), SPOT_INPUT, "detections.no_rows");
    files.coco = file_of(hand);
    CHECK_OK(&c, spot_subject_read(&c, &s, &files));           /* no detection: all are missed */
    assert_int_equal(s.n, 4);
    for (int i = 0; i < s.n; i++) assert_true(s.instance[i].wrong && s.confidence[i] == 0);
    spot_subject_close(&s);
    files.probs = "p.npy";
    CHECK_FAILS(&c, spot_subject_read(&c, &s, &files), SPOT_USAGE, "detections.classifier_inputs");
    files.probs = NULL;
    o.iou = NAN;
    CHECK_FAILS(&c, spot_subject_read(&c, &s, &files), SPOT_USAGE, "detections.options");
}
