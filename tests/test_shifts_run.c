/* test_shifts_run.c - the study of shifts: its config, captions and keys, models that look, counts of the released masks. */
#define _GNU_SOURCE
#include "check_clip.h"
#include "check_resnet.h"

#include "shifts/shift_result.h"
#include "shifts/shifts_config.h"
#include "spotter/encoder.h"

#include <unistd.h>

static const char config_text[] =
    "study: shifts\ndata: {root: here, real: real}\nencoder: {weights: a.safetensors}\n"
    "filter: {chosen_for: x}\nsources: [{name: clean}, {name: bing}]\n"
    "shifts:\n  - {name: in the snow, category: weather, threshold: 0.2}\n"
    "  - {name: oil painting, style: true, folder: oil, shift_caption: an oil painting}\n"
    "models: [{name: m, predictions: m.csv}]\n";

static spot_shifts_config *parse(spot_ctx *c, const char *text)
{
    spot_shifts_config *cfg = malloc(sizeof *cfg);

    CHECK_OK(c, spot_shifts_parse(c, cfg, text, strlen(text), "a.yaml"));
    return cfg;
}

TEST(units_folders_and_captions)
{
    spot_ctx c = check_ctx(1);
    spot_shifts_config *cfg = parse(&c, config_text);
    char text[SPOT_SHIFT_PATH], caption[SPOT_CAPTION];

    assert_int_equal(spot_shift_units(cfg), 7);
    for (int u = 0; u < 7; u++) {
        const spot_shift_unit at = spot_shift_unit_at(cfg, u);
        assert_int_equal(spot_shift_unit_of(cfg, at.source, at.shift), u);
    }
    assert_string_equal(spot_shift_unit_folder(text, cfg, spot_shift_unit_at(cfg, 0)), "here/real");
    assert_string_equal(spot_shift_unit_id(text, cfg, spot_shift_unit_at(cfg, 2)), "clean/in_the_snow");
    assert_string_equal(spot_shift_unit_folder(text, cfg, spot_shift_unit_at(cfg, 6)), "here/bing/oil");
    assert_string_equal(spot_class_caption(caption, cfg, 0, "red fox"), "a photo of a red fox");
    assert_string_equal(spot_class_caption(caption, cfg, 1, "red fox"), "a red fox");
    cfg->filter.style = SPOT_STYLE_RELEASED;
    assert_string_equal(spot_class_caption(caption, cfg, 1, "red fox"), "a photo of a red fox");
    cfg->shift[0].class_caption = "<class>, or <class>";
    assert_string_equal(spot_class_caption(caption, cfg, 0, "fox"), "fox, or fox");
    assert_string_equal(spot_shift_caption(caption, cfg, 0), "a photo in the snow");
    assert_string_equal(spot_shift_caption(caption, cfg, 1), "an oil painting");
    CHECK_CONFIG_FREE(cfg);
}

/* Data may move; thresholds change results and no more; sources make another run. */
TEST(keys_and_differences)
{
    spot_ctx c = check_ctx(1);
    spot_shifts_config *a = parse(&c, config_text), *b = parse(&c, config_text);
    const spot_key k = spot_shifts_key(a);
    char words[256], *text;

    b->data.root = "elsewhere";
    b->encoder.weights = "b.safetensors";
    b->evaluation.rule.axes = SPOT_AXES_LOGIT;
    assert_true(spot_shifts_key(b).hi == k.hi && !spot_study_differs(&spot_shifts_study, words, sizeof words, a, b));
    assert_true(spot_config_changes(&spot_shifts_kind, a, b));
    b->shift[0].threshold = 0.3;
    assert_true(spot_shifts_key(b).hi != k.hi && !spot_study_differs(&spot_shifts_study, words, sizeof words, a, b));
    b->sources = 1;
    assert_true(spot_study_differs(&spot_shifts_study, words, sizeof words, a, b));
    assert_string_equal(words, "the number of sources is 2 there and 1 here");
    CHECK_OK(&c, spot_study_print(&c, &spot_shifts_study, a, &text));
    spot_memory_close(&b->memory);
    CHECK_OK(&c, spot_shifts_parse(&c, b, text, strlen(text), "printed"));
    assert_true(!spot_config_changes(&spot_shifts_kind, a, b) && spot_shifts_key(b).hi == k.hi);
    free(text);
    CHECK_CONFIG_FREE(a), CHECK_CONFIG_FREE(b);
}

/* Configs of older versions name the one way to clean captions. */
TEST(fast_cleaning_may_be_named)
{
    spot_ctx c = check_ctx(1);
    spot_shifts_config *a = parse(&c, "data: {root: x}\nshifts: [{name: a}]\n");
    spot_shifts_config *b = parse(&c, "data: {root: x}\nshifts: [{name: a}]\nencoder: {clean: fast}\n");
    const spot_key k = spot_shifts_key(a), same = spot_shifts_key(b);

    assert_true(k.hi == same.hi && k.lo == same.lo);
    CHECK_CONFIG_FREE(a), CHECK_CONFIG_FREE(b);
}

TEST(configs_that_are_refused)
{
    static const char *const wrong[][2] = {
        { "shifts: [{name: a}]\n", "data.no_root" },
        { "data: {root: x}\n", "shifts.none" },
        { "data: {root: x}\nshifts: [{name: a}, {name: a}]\n", "shifts.folder_twice: 1 | a | a" },
        { "data: {root: x}\nshifts: [{name: base}]\n", "shifts.folder_twice: 0 | base | base" },
        { "data: {root: x}\nshifts: [{name: a/b}]\n", "shifts.folder" },
        { "data: {root: x}\nsources: [{name: ..}]\nshifts: [{name: a}]\n", "sources.name: 0" },
        { "data: {root: x}\nsources: [{name: real}]\nshifts: [{name: a}]\n", "sources.real" },
        { "data: {root: x}\nshifts: [{name: a}]\nmodels: [{name: m}]\n", "models.answers" },
        { "data: {root: x}\nshifts: [{name: a, threshold: 0.2}]\nencoder: {weights: w}\n", "filter.no_chosen_for" },
        { "data: {root: x, real: \"\"}\nshifts: [{name: a}]\nencoder: {weights: w}\n", "filter.no_real" },
        { "data: {root: x}\nshifts: [{name: a}]\nencoder: {embeddings: e}\n", "encoder.no_label" },
        { "data: {root: x}\nshifts: [{name: a}]\nencoder: {weights: w}\nfilter: {masks: m}\n", "filter.encoder_and_masks" },
        { "data: {root: x}\nshifts: [{name: a, thresold: 1}]\n", "setting.unknown: \"threshold\"" },
        { "data: {root: x}\nshifts: [{name: a}]\nencoder: {clean: openai}\n", "setting.value: encoder.clean | openai | fast" },
        { "study: sweep\n", "setting.value: study | sweep | shifts" },
    };
    static spot_shifts_config cfg;
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < LEN(wrong); i++)
        CHECK_FAILS(&c, spot_shifts_parse(&c, CHECK_AGAIN(&cfg), wrong[i][0], strlen(wrong[i][0]), "a.yaml"), SPOT_USAGE,
                    wrong[i][1]);
}

/* The shipped config of the paper: 23 shifts, and thresholds that only the paper's encoder may use. */
TEST(the_papers_config)
{
    spot_ctx c = check_ctx(1);
    char text[SPOT_SHIFT_PATH], line[64];
    int found = 0, kept, few, none;
    FILE *f = fopen("golden/imagenet_star.txt", "r");
    void *config;

    CHECK_OK(&c, spot_study_load(&c, &spot_shifts_study, &config, "../configs/dataset_interfaces.yaml"));
    const spot_shifts_config *cfg = config;
    assert_true(cfg->shifts == 23 && cfg->filter.percentile == 20 && cfg->evaluation.rule.least == 5);
    assert_non_null(f);
    while (fscanf(f, "%63s %d %d %d", line, &kept, &few, &none) == 4)
        for (int s = SPOT_BASE_PICTURES; s < cfg->shifts; s++)
            found += !strcmp(line, spot_shift_unit_id(text, cfg, (spot_shift_unit){ 0, s }));
    fclose(f);
    spot_study_close(config);
    assert_int_equal(found, 24);               /* the folders are those of the released pictures */
}

/* The released masks as the golden counts them (tools/golden/imagenet_star.py): kept pictures, classes with five, with none.
 * The masks themselves are not here, so classes get numbers that meet these counts. This proves the rule by which classes
 * count and are reported as lost, not the masks. */
TEST(classes_count_as_in_the_released_masks)
{
    enum { IMAGENET = 1000, EACH = 50 };
    static int base[IMAGENET], base_right[IMAGENET], pictures[IMAGENET], right[IMAGENET];
    spot_ctx c = check_ctx(1);
    spot_shift_rule rule = spot_shift_rule_defaults();
    FILE *f = fopen("golden/imagenet_star.txt", "r");
    int kept, five, none, sets = 0;
    char name[64];

    rule.draws = 0;
    for (int k = 0; k < IMAGENET; k++) base[k] = EACH;
    assert_non_null(f);
    for (; fscanf(f, "%63s %d %d %d", name, &kept, &five, &none) == 4; sets++) {
        const spot_shift_tally tally = { pictures, right };
        const spot_shift_table t = { IMAGENET, 1, 1, 0, { base, base_right }, &tally, NULL, NULL };
        int left = kept - 5 * five - (IMAGENET - five - none), sum = 0;
        spot_shift_estimates e;
        for (int k = 0; k < IMAGENET; k++) {
            const int more = k < five ? left < EACH - 5 ? left : EACH - 5 : 0;
            pictures[k] = k < five ? 5 + more : k < IMAGENET - none ? 1 : 0;
            left -= more, sum += pictures[k];
        }
        for (int k = five; left > 0 && k < IMAGENET - none; k++) {
            const int more = left < 3 ? left : 3;
            pictures[k] += more, left -= more, sum += more;
        }
        assert_int_equal(sum, kept);
        CHECK_OK(&c, spot_shift_evaluate(&c, &e, &t, &rule));
        assert_true(e.shift->used == five && e.shift->lost == none && e.shift->few == IMAGENET - five - none);
        spot_shift_estimates_close(&e);
    }
    fclose(f);
    assert_int_equal(sets, 24);
}

/* ---- a run ---- */

static const char *put_net(int outputs)
{
    spot_ctx c = check_ctx(1);
    spot_arena a;
    spot_model m;

    CHECK_OK(&c, spot_arena_open(&c, &a, (size_t)16 << 20));
    CHECK_OK(&c, spot_model_take(&c, &a, &m, SPOT_ARCH_RESNET18, 16, outputs));
    fill_model(&m);
    CHECK_OK(&c, spot_model_save(&c, in_root("net.safetensors"), &m));
    spot_arena_close(&a);
    return in_root("net.safetensors");
}

/* A ResNet that looks predicts what its logits say, in the words of its list of classes. */
TEST_IN_FOLDER(a_model_that_looks)
{
    static const char *const folders[] = { "base/ape", "base/bee", "fog/ape", "fog/bee" };
    enum { EACH = 5, OUTPUTS = 3 };
    spot_ctx c;
    spot_encoder_options o = spot_encoder_defaults();
    spot_run_report report;
    spot_shifts_results r;
    spot_encoder *e;
    const char *net = put_net(OUTPUTS), *out = in_root("run");
    char text[1200], *path[4 * EACH];
    float feature[4 * EACH * 128], logit[4 * EACH * OUTPUTS];

    CHECK_OK(&c, spot_ctx_open(memset(&c, 0, sizeof c), "cpu", 1));
    mkdir(in_root("base"), 0777), mkdir(in_root("fog"), 0777);
    for (int i = 0; i < 4 * EACH; i++) {
        if (i % EACH == 0) mkdir(in_root("%s", folders[i / EACH]), 0777);
        put_picture(path[i] = (char *)(uintptr_t)in_root("%s/%d.png", folders[i / EACH], i), i);
    }
    put_text(in_root("words.txt"), "bee\nwasp\nape\n");
    snprintf(text, sizeof text, "data: {root: %s, real: \"\"}\nshifts: [{name: fog}]\nevaluation: {draws: 10}\n"
             "models:\n  - {name: net, weights: %s, classes: %s, resize: 40, crop: 32}\n"
             "  - {name: big, weights: %s, classes: %s, resize: 70, crop: 64}\n"
             "  - {name: same, weights: %s, classes: %s, resize: 40, crop: 32}\n", root, net, in_root("words.txt"), net,
             in_root("words.txt"), net, in_root("words.txt"));
    spot_shifts_config *cfg = parse(&c, text);
    for (int i = 0; i < 2; i++) {
        const spot_shifts_options options = { .place = { .out = i ? in_root("again") : out, .shards = 1 } };
        CHECK_OK(&c, spot_shifts_run(&c, cfg, &options, &report));
        assert_true(report.planned == 2 && report.done == 2);
    }
    CHECK_OK(&c, spot_shifts_read(&c, &r, out));
    for (int m = 0; m < 3; m++) {              /* two shapes, one of them twice */
        int want[2] = { 0, 0 };
        o.resize = cfg->model[m].resize, o.crop = cfg->model[m].crop;
        CHECK_OK(&c, spot_encoder_open(&c, &e, net, &o));
        assert_int_equal(spot_encoder_about(e)->dim, 128);
        for (int u = 0; u < 2; u++)
            CHECK_OK(&c, spot_encode_pictures(&c, e, &(spot_encoder_pictures){ .path = path + 2 * u * EACH, .n = 2 * EACH,
                     .feature = feature, .logit = logit + 2 * u * EACH * OUTPUTS }));
        for (int i = 0; i < 4 * EACH; i++) {
            const float *v = logit + i * OUTPUTS;
            const int best = v[1] > v[0] ? (v[2] > v[1] ? 2 : 1) : v[2] > v[0] ? 2 : 0;
            want[i / (2 * EACH)] += best == (i / EACH % 2 ? 0 : 2);
        }
        for (int u = 0; u < 2; u++)
            assert_int_equal(r.unit[u].right[SPOT_SHIFT_ALL][2 * m] + r.unit[u].right[SPOT_SHIFT_ALL][2 * m + 1], want[u]);
        spot_encoder_close(&c, e);
    }
    assert_true(r.source->set[SPOT_SHIFT_ALL].shift->used == 2 && !r.source->set[SPOT_SHIFT_KEPT].shifts && !r.source->gaps);
    spot_shifts_close(&r);
    put_text(in_root("words.txt"), "bee\nwasp\n");
    const spot_shifts_options wrong = { .place = { .out = in_root("wrong"), .shards = 1 } };
    CHECK_FAILS(&c, spot_shifts_run(&c, cfg, &wrong, &report), SPOT_INPUT, "model.outputs: 3");
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* Thresholds of another encoder stop a run before it makes a directory; the user's word that it is that encoder does not. */
TEST_IN_FOLDER(thresholds_of_another_encoder)
{
    static const char *const folders[] = { "real", "base", "fog" };
    spot_ctx c;
    const spot_shifts_options options = { .place = { .out = in_root("run"), .shards = 1 } };
    spot_run_report report;
    char text[1200];
    spot_shifts_config *cfg;

    CHECK_OK(&c, spot_ctx_open(memset(&c, 0, sizeof c), "cpu", 1));
    for (int i = 0; i < 3; i++) {
        mkdir(in_root("%s", folders[i]), 0777), mkdir(in_root("%s/a", folders[i]), 0777);
        put_picture(in_root("%s/a/0.png", folders[i]), i);
    }
    snprintf(text, sizeof text, "data: {root: %s}\nencoder: {weights: %s}\nfilter: {chosen_for: theirs}\n"
             "shifts: [{name: fog, class_caption: a, shift_caption: b, threshold: 0.1}]\n", root, put_model());
    cfg = parse(&c, text);
    CHECK_FAILS(&c, spot_shifts_run(&c, cfg, &options, &report), SPOT_USAGE,
                "encoder.chosen_for: \"theirs\" | clip-");
    assert_int_equal(access(options.place.out, F_OK), -1);
    cfg->encoder.label = "theirs";
    CHECK_OK(&c, spot_shifts_run(&c, cfg, &options, &report));
    assert_int_equal(report.done, 3);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* The file of a folder's pictures against its result: what others take for an index lies in the result's arrays. */
TEST_IN_FOLDER(pictures_of_another_result)
{
    const spot_shift_result u = { .index = 3, .pictures = 2, .columns = 2, .classes = 2, .models = 4, .name = "clean, blue" };
    static const struct { int cls[2], right[2]; float similarity; } bad[] = {
        { { 0, 2 }, { 4, 0 }, 0.5f }, { { -1, 1 }, { 4, 0 }, 0.5f }, { { 1, 0 }, { 4, 0 }, 0.5f }, { { 0, 1 }, { 5, 0 }, 0.5f },
        { { 0, 1 }, { 4, 0 }, NAN },
    };
    char *path[] = { "blue/cat/a.png", "blue/dog/b.png" };
    uint8_t pass[] = { 1, 3 };
    float similarity[] = { 0.1f, 0.2f, 0.3f, 0.4f };
    int cls[] = { 0, 1 }, right[] = { 4, 0 };
    spot_shift_pictures_result p = { .n = 2, .columns = 2, .path = path, .cls = cls, .similarity = similarity, .pass = pass,
                                     .right = right }, got;
    spot_shift_result other = u;
    spot_ctx c = check_ctx(1);

    CHECK_OK(&c, spot_shift_pictures_write(&c, root, 3, &p));
    CHECK_OK(&c, spot_shift_pictures_read(&c, &got, root, &u));
    assert_string_equal(got.path[1], path[1]);
    spot_shift_pictures_free(&got);
    other.columns = 1;
    CHECK_FAILS(&c, spot_shift_pictures_read(&c, &got, root, &other), SPOT_INPUT, "shifts.file: clean, blue");
    spot_shift_pictures_free(&got);
    for (int i = 0; i < LEN(bad); i++) {
        memcpy(cls, bad[i].cls, sizeof cls), memcpy(right, bad[i].right, sizeof right);
        similarity[2] = bad[i].similarity;
        CHECK_OK(&c, spot_shift_pictures_write(&c, root, 3, &p));
        CHECK_FAILS(&c, spot_shift_pictures_read(&c, &got, root, &u), SPOT_INPUT, "shifts.file: shift-000003.safetensors");
        spot_shift_pictures_free(&got);
    }
}
