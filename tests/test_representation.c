/* test_representation.c - whose features a method looks at in a sweep: the classifier's, a robust network's, those of files.
 * (ctest: heavy) */
#define _POSIX_C_SOURCE 200809L
#include "check_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/safetensors.h"
#include "store/embedding.h"
#include "store/pack.h"
#include "sweep/segment.h"
#include "sweep/network_view.h"

static spot_segment *segment_of(spot_ctx *c, const char *name, int ec)
{
    static spot_segment s;
    spot_segment_state state;
    char dir[128], why[1300];
    snprintf(dir, sizeof dir, "%s/%s", root, name);
    CHECK_OK(c, spot_segment_read(c, dir, ec, &s, &state, why, sizeof why));
    assert_int_equal(state, SPOT_SEGMENT_WHOLE);
    return &s;
}

static spot_arena arena_for(spot_ctx *c, const spot_config *cfg)
{
    spot_bytes needs;
    spot_arena a;
    CHECK_OK(c, spot_model_needs(c, &needs, &cfg->scene, &cfg->model, 1000, false));
    CHECK_OK(c, spot_arena_open(c, &a, 2 * needs.host));
    return a;
}

static spot_status see(spot_ctx *c, spot_arena *a, const spot_config *cfg, const char *name, int index, spot_split split,
                       bool robust, spot_view *v, spot_truth *t)
{
    char dir[128];
    spot_ec ec;
    snprintf(dir, sizeof dir, "%s/%s", root, name);
    CHECK_OK(c, spot_ec_draw(c, &ec, &cfg->scene, cfg->seed, (uint32_t)index));
    return spot_sweep_view(c, a, dir, cfg, &ec, split, robust, v, t);
}

/* root/embeddings/ec-%06d.safetensors. */
static void write_embedding(spot_ctx *c, int ec, const float *v, int rows, int columns)
{
    spot_tensor t = { .name = "embedding", .type = SPOT_F32, .rank = 2, .dim = { rows, columns }, .data = v };
    char path[160];
    t.bytes = (size_t)rows * (size_t)columns * sizeof *v;
    snprintf(path, sizeof path, "%s/embeddings/ec-%06d.safetensors", root, ec);
    CHECK_OK(c, spot_tensors_save(c, path, &t, 1));
}

static void set_file(spot_config *cfg, int b)
{
    cfg->bdm[b].representation = SPOT_BY_FILE;
    cfg->bdm[b].embeddings = check_text("%s/embeddings", root);
}

/* The classifier's own features, written to files and read back, are found in like those of the classifier. */
TEST_WITH(files_take_the_place_of_features, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    spot_arena a = arena_for(&c, cfg);
    spot_sweep_report r;
    spot_outcome own;
    CHECK_OK(&c, sweep(&c, cfg, "own", 0, 1, &r));
    shell("mkdir %s", "embeddings");
    for (int i = 0; i < cfg->ecs; i++) {
        spot_view v;
        spot_truth t;
        CHECK_OK(&c, see(&c, &a, cfg, "own", i, SPOT_TEST, false, &v, &t));
        write_embedding(&c, i, v.feature, v.n, v.d);
    }
    set_file(cfg, 1);
    CHECK_OK(&c, sweep(&c, cfg, "file", 0, 1, &r));
    assert_true(r.done == 3 && !r.failed);
    for (int i = 0; i < 3; i++) {
        own = segment_of(&c, "own", i)->method[1];
        const spot_outcome *o = &segment_of(&c, "file", i)->method[1];
        assert_int_equal(o->components, own.components);
        assert_memory_equal(o->size, own.size, sizeof own.size);
        assert_memory_equal(&o->score, &own.score, sizeof own.score);
    }

    shell("cp -r %s %1$s/../kept", "file");
    CHECK_OK(&c, sweep_with(&c, cfg, "kept", (spot_sweep_options){ .place.shards = 1, .keep = SPOT_KEEP_RESULTS }, &r));
    shell("test -z \"$(find %s/cache -type f ! -name '*.base')\"", "kept");

    /* other content is another value, though no setting has changed; other columns are welcome */
    for (int i = 0; i < 3; i++) {
        spot_view v;
        spot_truth t;
        CHECK_OK(&c, see(&c, &a, cfg, "own", i, SPOT_TEST, false, &v, &t));
        for (int k = 0; k < v.n * 200; k++) v.feature[k % (v.n * v.d)] = (float)((k * 7919) % 1000) / 1000;
        if (i != 1) write_embedding(&c, i, v.feature, v.n, 100);
    }
    CHECK_OK(&c, sweep(&c, cfg, "file", 0, 1, &r));    /* noticed without being told */
    assert_true(r.already == 1 && r.done == 2);
    own = segment_of(&c, "own", 0)->method[1];
    assert_memory_not_equal(segment_of(&c, "file", 0)->method[1].order, own.order, sizeof own.order);
    own = segment_of(&c, "own", 1)->method[1];
    assert_memory_equal(segment_of(&c, "file", 1)->method[1].order, own.order, sizeof own.order);

    /* the same bytes are no change, and files that are gone take nothing away */
    shell("cd %s && cp ec-000000.safetensors a && rm ec-000000.safetensors && mv a ec-000000.safetensors", "embeddings");
    CHECK_OK(&c, sweep(&c, cfg, "file", 0, 1, &r));
    assert_int_equal(r.already, 3);
    shell("rm -r %s", "embeddings");
    CHECK_OK(&c, sweep(&c, cfg, "file", 0, 1, &r));
    assert_int_equal(r.already, 3);
    cfg->ecs = 4;                                      /* but one more EC needs them */
    CHECK_FAILS(&c, sweep(&c, cfg, "file", 0, 1, &r), SPOT_INPUT, "embedding.unread: /embeddings");
    spot_arena_close(&a);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* Some numbers for EC k, `more` rows than it has images. bad: which of them is none; -1: none. */
static void write_numbers(spot_ctx *c, const spot_config *cfg, int k, int more, int columns, int bad)
{
    static float v[1 << 16];
    spot_ec ec;
    CHECK_OK(c, spot_ec_draw(c, &ec, &cfg->scene, cfg->seed, (uint32_t)k));
    int n = spot_ec_positives(NULL, &ec, SPOT_TEST) + more;
    for (int j = 0; j < n * columns; j++) v[j] = j == bad ? NAN : (float)(j * j % 101);
    write_embedding(c, k, v, n, columns);
}

TEST_WITH(files_that_are_wrong_fail_their_method_alone, set_up, tear_down)
{
    static const struct { const char *words; int rows, columns, bad; } cases[] = {
        { "unit.failed: EC 1 | ec-000001.safetensors", 0, 0, -1 },
        { "unit.failed: EC 1 | rows", -1, 7, -1 },
        { "unit.failed: EC 1 | rows", 1, 7, -1 },
        { "unit.failed: EC 1 | 8 | 7", 0, 8, -1 },
        { "unit.failed: EC 1 | feature 3 | row 2 | nan", 0, 7, 17 },
    };
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    spot_sweep_options all = { .place.shards = 1 };
    spot_sweep_cost cost;
    spot_sweep_report r;
    set_file(cfg, 1);
    cfg->ecs = 2;
    CHECK_FAILS(&c, sweep(&c, cfg, "none", 0, 1, &r), SPOT_INPUT, "embedding.unread: /embeddings");
    CHECK_FAILS(&c, spot_sweep_cost_of(&c, cfg, &all, &cost, false), SPOT_INPUT, "embedding.unread: /embeddings");
    shell("mkdir %s", "embeddings");
    CHECK_FAILS(&c, sweep(&c, cfg, "none", 0, 1, &r), SPOT_INPUT, "embedding.folder_empty: /embeddings");
    shell("test ! -e %s", "none");                     /* refused before anything was made */
    for (int i = 0; i < LEN(cases); i++) {
        char path[16];
        write_numbers(&c, cfg, 0, 0, 7, -1);
        if (cases[i].columns) write_numbers(&c, cfg, 1, cases[i].rows, cases[i].columns, cases[i].bad);
        snprintf(path, sizeof path, "case-%d", i);
        CHECK_FAILS(&c, sweep(&c, cfg, path, 0, 1, &r), SPOT_INPUT, cases[i].words);
        assert_true(r.done == 2 && r.failed == 1);
        assert_int_equal(segment_of(&c, path, 0)->method[1].status, SPOT_OK);
        assert_int_equal(segment_of(&c, path, 1)->method[0].status, SPOT_OK);
        assert_int_equal(segment_of(&c, path, 1)->method[1].status, SPOT_INPUT);
        assert_non_null(strstr(segment_of(&c, path, 1)->method[1].message, "ec-000001.safetensors"));
        CHECK_FAILS(&c, sweep(&c, cfg, path, 0, 1, &r), SPOT_INPUT, cases[i].words);    /* tried again, and still so */
        assert_true(r.already == 1 && r.done == 1);
        write_numbers(&c, cfg, 1, 0, 7, -1);
        CHECK_OK(&c, sweep(&c, cfg, path, 0, 1, &r));
        assert_true(r.already == 1 && r.done == 1);
        shell("rm -f %s/*", "embeddings");
    }
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

TEST_WITH(files_of_something_else_say_what_they_hold, set_up, tear_down)
{
    static const float v[6] = { 1, 2, 3, 4, 5, 6 };
    static const struct { const char *words; spot_tensor t[2]; int n; } cases[] = {
        { "embedding.tensor: F32 | (3, 2, 1)",
          { { "embedding", SPOT_F32, 3, { 3, 2, 1 }, .data = v, .bytes = 24 } }, 1 },
        { "embedding.tensor: F32 | (6)", { { "embedding", SPOT_F32, 1, { 6 }, .data = v, .bytes = 24 } }, 1 },
        { "embedding.tensor: I64 | (3, 1)", { { "embedding", SPOT_I64, 2, { 3, 1 }, .data = v, .bytes = 24 } }, 1 },
        { "embedding.tensor: F32 | (0, 2)", { { "embedding", SPOT_F32, 2, { 0, 2 }, .data = v, .bytes = 0 } }, 1 },
        { "embedding.tensor: \"image\"",
          { { "label", SPOT_F32, 1, { 6 }, .data = v, .bytes = 24 },
            { "image", SPOT_F32, 1, { 6 }, .data = v, .bytes = 24 } }, 2 },
        { "embedding.tensor: nor", { { 0 } }, 0 },
    };
    spot_ctx c = context(1);
    char folder[128], path[160];
    int columns;
    shell("mkdir %s", "embeddings");
    snprintf(folder, sizeof folder, "%s/embeddings", root);
    snprintf(path, sizeof path, "%s/ec-000007.safetensors", folder);
    for (int i = 0; i < LEN(cases); i++) {
        spot_key k;
        CHECK_OK(&c, spot_tensors_save(&c, path, cases[i].t, cases[i].n));
        CHECK_FAILS(&c, spot_embedding_columns(&c, &columns, folder), SPOT_INPUT, cases[i].words);
        assert_false(spot_embedding_content(&k, folder, 7));
    }
    spot_ctx_close(&c);
}

/* The classifier's errors, all clusters counted. */
static double errors_of(const spot_outcome *o)
{
    double sum = 0;
    for (int k = 0; k < o->components; k++) sum += o->size[k] * o->mean_error[k];
    return sum;
}

TEST_WITH(a_robust_network_is_trained_once_and_only_when_asked_for, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    spot_sweep_options all = { .place.shards = 1 };
    spot_sweep_cost plain, both;
    spot_sweep_report r;
    cfg->ecs = 2;
    cfg->model.robust.epochs = cfg->model.robust.steps = 1;
    CHECK_OK(&c, sweep(&c, cfg, "plain", 0, 1, &r));
    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &all, &plain, false));
    shell("test -z \"$(find %s -name '*.robust*')\"", "plain");
    cfg->bdm[1].representation = SPOT_BY_ROBUST;
    cfg->bdm[2] = cfg->bdm[1];
    cfg->bdm[2].name = "another";
    cfg->bdm[2].weight = 1;
    cfg->bdms = 3;
    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &all, &both, false));
    assert_true(both.images > 2 * plain.images && both.memory >= plain.memory);
    CHECK_OK(&c, sweep(&c, cfg, "robust", 0, 1, &r));
    assert_true(r.done == 2 && !r.failed);
    shell("test $(find %s -name '*.robust' | wc -l) = 2", "robust");
    shell("test $(find %s -name '*.robust-view' | wc -l) = 2", "robust");
    /* the classifier is the same one, by name and by content; what the first method found is, too */
    shell("cd %s/cache && for f in */*.model */*.view; do cmp $f ../../plain/cache/$f || exit 1; done", "robust");
    spot_outcome was = segment_of(&c, "plain", 0)->method[0];
    assert_memory_equal(&segment_of(&c, "robust", 0)->method[0].score, &was.score, sizeof was.score);
    CHECK_NEAR(errors_of(&segment_of(&c, "robust", 0)->method[1]), errors_of(&was), 1e-3);     /* the confidences are its own */
    was = segment_of(&c, "plain", 0)->method[1];
    assert_memory_not_equal(segment_of(&c, "robust", 0)->method[1].order, was.order, sizeof was.order);

    /* in a wave, side by side, and recalled, the bytes are the same */
    CHECK_OK(&c, sweep_with(&c, cfg, "wave", (spot_sweep_options){ .place.shards = 1, .wave = 2, .at_once = 2 }, &r));
    check_same_segments(&c, "robust", "wave", 2);
    shell("rm -r %s/segments/*; find %1$s -name '*.robust' -delete", "wave");
    CHECK_OK(&c, sweep(&c, cfg, "wave", 0, 1, &r));
    check_same_segments(&c, "robust", "wave", 2);
    shell("test -z \"$(find %s -name '*.robust')\"", "wave");

    /* of what made the results as much stays as is asked for */
    CHECK_OK(&c, sweep_with(&c, cfg, "robust", (spot_sweep_options){ .place.shards = 1, .keep = SPOT_KEEP_VIEWS }, &r));
    shell("test -z \"$(find %s -name '*.robust' -o -name '*.model')\"", "robust");
    shell("test $(find %s -name '*.robust-view' | wc -l) = 2", "robust");
    CHECK_OK(&c, sweep_with(&c, cfg, "robust", (spot_sweep_options){ .place.shards = 1, .keep = SPOT_KEEP_RESULTS }, &r));
    assert_true(r.already == 2);
    shell("test -z \"$(find %s/cache -type f ! -name '*.base')\"", "robust");
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* The largest difference of the heads of the robust network, which hardly moves, and of the classifier. */
static double distance_from_classifier(spot_ctx *c, spot_config *cfg, const char *name, spot_robust_start from)
{
    spot_arena a = arena_for(c, cfg);
    spot_sweep_report r;
    spot_view plain, robust;
    spot_truth t;
    double far = 0;
    cfg->model.robust.from = from;
    CHECK_OK(c, sweep(c, cfg, name, 0, 1, &r));
    CHECK_OK(c, see(c, &a, cfg, name, 0, SPOT_TEST, false, &plain, &t));
    CHECK_OK(c, see(c, &a, cfg, name, 0, SPOT_TEST, true, &robust, &t));
    for (int j = 0; j < plain.d; j++) far = fmax(far, fabs(plain.head[j] - robust.head[j]));
    spot_arena_close(&a);
    return far;
}

/* The attributes are an EC's own; methods that have no use for features run beside them. One by one, in a wave, and recalled
 * the bytes are the same, and nothing stays that is not asked for. */
TEST_WITH(plain_methods_and_attributes, set_up, tear_down)
{
    static const int methods[] = { SPOT_RANDOM, SPOT_CONFIDENCE, SPOT_CONFUSION, SPOT_KMEANS, SPOT_WARD, SPOT_MISTAKES,
                                   SPOT_ITEMSETS, SPOT_WARD };
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    spot_sweep_options all = { .place.shards = 1 };
    spot_sweep_cost cost;
    spot_sweep_report r;
    cfg->ecs = 2;
    cfg->bdms = LEN(methods);
    for (int b = 0; b < cfg->bdms; b++) cfg->bdm[b] = spot_bdm_defaults(methods[b]);
    cfg->bdm[7].representation = SPOT_BY_ATTRIBUTES;
    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &all, &cost, false));
    CHECK_OK(&c, sweep(&c, cfg, "one", 0, 1, &r));
    assert_true(r.done == 2 && !r.failed);
    for (int ec = 0; ec < 2; ec++) {
        const spot_segment *s = segment_of(&c, "one", ec);
        for (int b = 0; b < cfg->bdms; b++) assert_int_equal(s->method[b].status, SPOT_OK);
        assert_string_equal(s->method[6].name, "itemsets-attributes");
        assert_string_equal(s->method[7].name, "ward-attributes");
        assert_int_equal(s->method[4].components, 20);
        if (s->method[2].components == 2) assert_true(s->method[6].components > 0);        /* some are right, some wrong */
    }
    CHECK_OK(&c, sweep_with(&c, cfg, "wave", (spot_sweep_options){ .place.shards = 1, .wave = 2, .at_once = 2 }, &r));
    check_same_segments(&c, "one", "wave", 2);
    shell("rm -r %s/segments/*; find %1$s -name '*.found' -delete", "wave");
    CHECK_OK(&c, sweep(&c, cfg, "wave", 0, 1, &r));
    check_same_segments(&c, "one", "wave", 2);
    CHECK_OK(&c, sweep_with(&c, cfg, "wave", (spot_sweep_options){ .place.shards = 1, .keep = SPOT_KEEP_RESULTS }, &r));
    shell("test -z \"$(find %s/cache -type f ! -name '*.base')\"", "wave");
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

TEST_WITH(a_robust_network_starts_from_the_classifier_if_asked, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    spot_sweep_report r;
    double near, far;
    cfg->ecs = 1;
    cfg->model.robust.epochs = cfg->model.robust.steps = 1;
    cfg->model.robust.epsilon = 0;
    cfg->model.robust.lr = 1e-9;
    cfg->bdm[1].representation = SPOT_BY_ROBUST;
    far = distance_from_classifier(&c, cfg, "start", SPOT_FROM_START);
    near = distance_from_classifier(&c, cfg, "classifier", SPOT_FROM_CLASSIFIER);
    print_message("from the start %.3g, from the classifier %.3g\n", far, near);
    assert_true(near < 1e-5 && far > 1e-3);

    /* without the classifier in the store it is trained again, to the same bytes */
    shell("cd %s && rm -r segments/* && find . -name '*.robust*' -delete && find . -name '*.model' -delete", "classifier");
    CHECK_OK(&c, sweep(&c, cfg, "classifier", 0, 1, &r));
    CHECK_OK(&c, sweep(&c, cfg, "again", 0, 1, &r));
    check_same_segments(&c, "classifier", "again", 1);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

TEST_WITH(a_robust_training_that_fails_fails_its_methods_alone, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    spot_sweep_report r;
    cfg->ecs = 1;
    cfg->model.optimizer = SPOT_SGD;
    cfg->model.robust.epochs = 3;
    cfg->model.robust.lr = 100;
    cfg->bdm[1].representation = SPOT_BY_ROBUST;
    CHECK_FAILS(&c, sweep(&c, cfg, "a", 0, 1, &r), SPOT_NUMERIC, "unit.failed: EC 0, heavy");
    assert_true(r.done == 1 && r.failed == 1);
    const spot_segment *s = segment_of(&c, "a", 0);
    assert_true(!s->status && !s->method[0].status && s->method[1].status == SPOT_NUMERIC);
    assert_non_null(strstr(s->method[1].message, "model.robust.lr"));
    CHECK_FAILS(&c, sweep(&c, cfg, "a", 0, 1, &r), SPOT_NUMERIC, "unit.failed: EC 0, heavy");
    assert_true(r.already == 1 && !r.done);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

TEST_WITH(views_come_out_of_a_run, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    spot_arena a = arena_for(&c, cfg);
    spot_sweep_report r;
    spot_view v, again, val;
    spot_truth t, u;
    cfg->ecs = 1;
    CHECK_OK(&c, sweep(&c, cfg, "a", 0, 1, &r));
    CHECK_OK(&c, see(&c, &a, cfg, "a", 0, SPOT_TEST, false, &v, &t));
    assert_true(v.n > 10 && v.d == 128 && t.n == v.n && v.head);
    for (int i = 0; i < v.n; i++) {                    /* the head and the features make the confidence, but for a constant */
        double x = 0, y = 0;
        for (int k = 0; k < v.d; k++) x += (double)v.head[k] * v.feature[i * v.d + k], y += (double)v.head[k] * v.feature[k];
        assert_true(fabs(x - y - log(v.confidence[i] / (1. - v.confidence[i])) + log(v.confidence[0] / (1. - v.confidence[0])))
                    < 1e-4);
    }
    shell("find %s -name '*.view' -delete", "a");      /* seen anew through the model */
    CHECK_OK(&c, see(&c, &a, cfg, "a", 0, SPOT_TEST, false, &again, &u));
    assert_memory_equal(again.feature, v.feature, (size_t)v.n * v.d * sizeof(float));
    assert_memory_equal(u.mask, t.mask, (size_t)t.n * sizeof *t.mask);
    CHECK_OK(&c, see(&c, &a, cfg, "a", 0, SPOT_VAL, false, &val, &u));
    assert_true(val.n > 0 && val.n < v.n);
    CHECK_FAILS(&c, see(&c, &a, cfg, "a", 0, SPOT_TEST, true, &v, &t), SPOT_INPUT, "view.no_robust");
    CHECK_FAILS(&c, see(&c, &a, cfg, "a", 7, SPOT_TEST, false, &v, &t), SPOT_INPUT, "view.missing: EC 7");
    spot_arena_close(&a);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* A view as builds before 0.2 kept it is whole, and gets its head from the model that lies beside it. */
TEST_WITH(an_old_view_gets_its_head, set_up, tear_down)
{
    spot_ctx c = context(1);
    spot_store store;
    spot_arena a;
    spot_model m = { 0 };
    spot_learning l = { .epochs = 1 }, back;
    float feature[2 * 128] = { 1 }, confidence[2] = { .1f, .2f };
    int image[2] = { 4, 7 };
    uint32_t mask[2] = { 1, 0 };
    spot_seen in = { { .n = 2, .d = 128, .feature = feature, .confidence = confidence, .image = image }, { 2, 2, mask } }, out;
    spot_key k = spot_key_of("k", 1);
    bool found;
    CHECK_OK(&c, spot_arena_open(&c, &a, 32 << 20));
    CHECK_OK(&c, spot_store_open(&c, &store, root));
    CHECK_OK(&c, spot_keep(&c, &store, k, "view", spot_pack_seen, &in));
    CHECK_OK(&c, spot_keep(&c, &store, k, "lesson", spot_pack_learning, &l));
    CHECK_OK(&c, spot_network_view_recall(&c, &a, &store, &spot_classifier, k,
                                          &(spot_network_view){ .seen = &out, .lesson = &back }, &found));
    assert_true(found && !out.view.head && out.truth.mask[0] == 1);
    CHECK_OK(&c, spot_model_init(&c, &a, &m, SPOT_ARCH_RESNET18, 16, 1, 3, 4));
    CHECK_OK(&c, spot_keep(&c, &store, k, "model", spot_pack_model, &m));
    CHECK_OK(&c, spot_network_view_recall(&c, &a, &store, &spot_classifier, k,
                                          &(spot_network_view){ .seen = &out, .lesson = &back }, &found));
    assert_true(found && out.view.head);
    assert_memory_equal(out.view.head, m.value + m.floats - 129, 128 * sizeof(float));
    CHECK_OK(&c, spot_keep(&c, &store, k, "view", spot_pack_seen, &out));
    shell("find %s/.. -name '*.model' -delete", "cache");
    CHECK_OK(&c, spot_network_view_recall(&c, &a, &store, &spot_classifier, k,
                                          &(spot_network_view){ .seen = &in, .lesson = &back }, &found));
    assert_memory_equal(in.view.head, out.view.head, 128 * sizeof(float));
    spot_arena_close(&a);
    spot_ctx_close(&c);
}
