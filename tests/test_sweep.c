/* test_sweep.c - keys, packed values; a small sweep run whole, in shards, stopped, on a full disk. ctest: threads */
#define _POSIX_C_SOURCE 200809L
#include "check_sweep.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "spotter/report.h"
#include "study/keys.h"
#include "store/pack.h"
#include "sweep/pipeline.h"
#include "sweep/segment.h"

TEST_WITH(what_cannot_be_leaves_nothing_behind, set_up, tear_down)
{
    spot_ctx c = context(1);
    spot_config *cfg = config(&c);
    spot_sweep_report r;
    cfg->scene.rollable[0] = cfg->scene.rollable[1] = 16;      /* of two layers: there are not so many */
    CHECK_FAILS(&c, sweep(&c, cfg, "a", 0, 1, &r), SPOT_USAGE, "scene.rollable");
    shell("test ! -e %s", "a");
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

TEST(what_differs_is_named)
{
    spot_ctx c = context(1);
    spot_config *saved = config(&c), *here = config(&c);
    char words[256];
    assert_false(spot_config_differs(words, sizeof words, saved, here));
    here->bdm[1].mixture.k_max = 9;
    assert_true(spot_config_differs(words, sizeof words, saved, here));
    assert_string_equal(words, "bdms[1].mixture.k_max is 4 there and 9 here");
    here->metric.profile = SPOT_PROFILE_WORKSHOP;
    here->bdms = 1;
    assert_true(spot_config_differs(words, sizeof words, saved, here));
    assert_string_equal(words, "the number of bdms is 2 there and 1 here");
    here->bdms = 2;
    here->metric.profile = SPOT_PROFILE_TMLR;
    here->metric.top = 9;
    here->model.lr = 0.1;
    assert_int_equal(spot_config_differences(words, sizeof words, saved, here), 3);
    assert_string_equal(words, "model.lr=0.1 (0.001), bdms[1].mixture.k_max=9 (4), metric.top=9 (10)");
    assert_int_equal(spot_config_differences(words, 60, saved, here), 3);      /* what has no room is counted */
    assert_string_equal(words, "model.lr=0.1 (0.001), and 2 more");
    assert_int_equal(spot_config_differences(words, 20, saved, here), 3);
    assert_string_equal(words, "3 more");
    CHECK_CONFIG_FREE(saved);
    CHECK_CONFIG_FREE(here);
    spot_ctx_close(&c);
}

/* Only settings that can change a method's numbers: no label, nothing of a reducer that it has not or of another method. */
TEST(methods_differ_in_what_they_do)
{
    spot_bdm_config saved = spot_bdm_defaults(SPOT_SPOTLIGHT), here = saved;
    char words[256];
    here.name = "mine";
    here.embed.dim = 9;
    here.embed.tsne.perplexity = 7;
    here.weight = 3;
    assert_int_equal(spot_method_differences(words, sizeof words, &saved, &here), 0);
    assert_string_equal(words, "");
    here.spotlight.lr = 0.1;
    here.embed.method = SPOT_REDUCE_TSNE;
    assert_int_equal(spot_method_differences(words, sizeof words, &saved, &here), 4);
    assert_string_equal(words, "reduce=tsne (none), dim=9 (2), tsne.perplexity=7 (30), lr=0.1 (0.005)");
}

TEST_WITH(packed_values_come_back, set_up, tear_down)
{
    spot_ctx c = context(1);
    spot_arena a;
    spot_store s;
    float feature[6] = { 1, 2, 3, 4, 5, NAN }, confidence[3] = { .1f, .2f, .3f }, weight[3] = { 0, .5f, 1 };
    int image[3] = { 4, 7, 9 }, row[3] = { 0, 1, 2 };
    uint32_t mask[3] = { 1, 0, 3 };
    spot_seen in = { { .n = 3, .d = 2, .feature = feature, .confidence = confidence, .image = image }, { 3, 2, mask } }, out;
    spot_hypotheses h = { .len = 2, .n = 3, .components = 5, .h = { { 2, row, 3.5, .25, NULL },
                                                              { 1, row + 2, 1, .5, weight } } }, back;
    spot_key k = spot_key_of("k", 1);
    bool found;
    CHECK_OK(&c, spot_arena_open(&c, &a, 1 << 20));
    CHECK_OK(&c, spot_store_open(&c, &s, root));
    CHECK_OK(&c, spot_keep(&c, &s, k, "view", spot_pack_seen, &in));
    CHECK_OK(&c, spot_recall(&c, &a, &s, k, "view", spot_pack_seen, &out, &found));
    assert_true(found);
    assert_memory_equal(out.view.feature, feature, sizeof feature);
    assert_memory_equal(out.view.image, image, sizeof image);
    assert_memory_equal(out.truth.mask, mask, sizeof mask);
    CHECK_OK(&c, spot_keep(&c, &s, k, "found", spot_pack_found, &h));
    CHECK_OK(&c, spot_recall(&c, &a, &s, k, "found", spot_pack_found, &back, &found));
    assert_true(found && back.len == 2 && back.components == 5 && back.h[0].score == 3.5 && back.h[1].row[0] == 2);
    assert_true(back.n == 3 && !back.h[0].weight && !memcmp(back.h[1].weight, weight, sizeof weight));
    /* a whole file that holds another kind of value counts as absent */
    CHECK_OK(&c, spot_store_put(&c, &s, k, "found", "no", 2));
    CHECK_OK(&c, spot_recall(&c, &a, &s, k, "found", spot_pack_found, &back, &found));
    assert_false(found);
    spot_arena_close(&a);
    spot_ctx_close(&c);
}

TEST_WITH(a_sweep_resumes_shards_and_threads_to_equal_bytes, set_up, tear_down)
{
    spot_ctx one = context(1), two = context(2);
    spot_config *cfg = config(&one);
    spot_sweep_report r;
    bool missing[8] = { false };
    CHECK_OK(&one, sweep(&one, cfg, "a", 0, 1, &r));
    assert_true(r.planned == 3 && r.done == 3 && !r.already && !r.failed);
    CHECK_OK(&one, sweep(&one, cfg, "a", 0, 1, &r));
    assert_true(r.planned == 3 && r.already == 3 && !r.done);

    CHECK_OK(&two, sweep(&two, cfg, "b", 1, 2, &r));
    assert_true(r.planned == 2 && r.done == 2);
    shell("ls %s/segments/000 | tr '\\n' ' ' | grep -qx 'ec-000001.json ec-000002.json '", "b");
    CHECK_OK(&two, sweep(&two, cfg, "b", 0, 2, &r));
    assert_true(r.planned == 1 && r.done == 1);
    check_same_segments(&one, "a", "b", 3);

    /* what the store holds is not computed again: the models are not missed, and the points need no view */
    shell("rm %s/segments/000/ec-000001.json && find %1$s -name '*.model' -delete", "b");
    CHECK_OK(&two, sweep(&two, cfg, "b", 0, 1, &r));
    assert_true(r.planned == 3 && r.already == 2 && r.done == 1);
    check_same_segments(&one, "a", "b", 3);
    shell("test -z \"$(find %s -name '*.model')\"", "b");

    /* all ECs start from one base model, which is left for other runs, too */
    shell("test $(find %s -name '*.base' | wc -l) = 1", "b");
    shell("cmp %s/base.safetensors %1$s/../a/base.safetensors", "b");

    /* a database that a run did not live to replace is made anew, though nothing else is to be done */
    shell("cd %s && mv results.sqlite whole.sqlite && : > results.sqlite", "b");
    CHECK_OK(&two, sweep(&two, cfg, "b", 0, 1, &r));
    shell("cd %s && cmp results.sqlite whole.sqlite && cmp results.sqlite ../a/results.sqlite", "b");

    /* a segment of another config is none of this run */
    cfg->seed++;
    CHECK_OK(&two, sweep(&two, cfg, "other", 0, 3, &r));
    cfg->seed--;
    shell("cp %s/segments/000/ec-000000.json %1$s/../b/segments/000", "other");
    CHECK_OK(&two, sweep(&two, cfg, "b", 0, 1, &r));
    assert_true(r.already == 2 && r.done == 1);
    check_same_segments(&one, "a", "b", 3);

    /* a run may grow, and may not change */
    cfg->ecs = 4;
    CHECK_OK(&two, sweep(&two, cfg, "b", 0, 1, &r));
    assert_true(r.planned == 4 && r.already == 3 && r.done == 1);
    cfg->scene.size = 40;
    CHECK_FAILS(&two, sweep(&two, cfg, "b", 0, 1, &r), SPOT_USAGE, "run.other_config: scene.size | 32 | 40");
    const char *dir = in_root("b");
    const spot_sweep_options whole = { .place = { .out = dir, .shards = 1 } };
    CHECK_FAILS(&two, spot_sweep_missing(&two, cfg, &whole, missing), SPOT_USAGE,
                "run.other_config: scene.size | 32 | 40");
    cfg->scene.size = 32;

    /* what is kept beside the results changes none; less of it can be asked for later, and what was lost is not missed */
    CHECK_OK(&two, sweep_with(&two, cfg, "b", (spot_sweep_options){ .place.shards = 1, .keep = SPOT_KEEP_VIEWS }, &r));
    shell("test -z \"$(find %s -name '*.model')\" -a $(find %1$s -name '*.view' | wc -l) -ge 4", "b");
    CHECK_OK(&two, sweep_with(&two, cfg, "b", (spot_sweep_options){ .place.shards = 1, .keep = SPOT_KEEP_RESULTS }, &r));
    assert_true(r.already == 4 && !r.done);
    cfg->ecs = 3;
    shell("rm %s/segments/000/ec-000001.json", "a");
    CHECK_OK(&two, sweep_with(&two, cfg, "a", (spot_sweep_options){ .place.shards = 1, .keep = SPOT_KEEP_RESULTS }, &r));
    assert_true(r.already == 2 && r.done == 1);
    CHECK_OK(&two, sweep_with(&two, cfg, "c", (spot_sweep_options){ .place.shards = 1, .keep = SPOT_KEEP_RESULTS, .wave = 2,
                                                                     .pictures = true }, &r));
    check_same_segments(&one, "a", "b", 3);
    check_same_segments(&one, "a", "c", 3);
    shell("for i in a c; do test -z \"$(find %s/../$i/cache -type f ! -name '*.base')\" || exit 1; done", "b");
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&one);
    spot_ctx_close(&two);
}

/* metric.repair takes a second look, whose view is kept: neither threads nor what the store has change the numbers. */
TEST_WITH(a_repair_looks_at_negatives_once, set_up, tear_down)
{
    spot_ctx one = context(1), two = context(2);
    spot_config *cfg = config(&one);
    spot_segment *s = calloc(1, sizeof *s);
    spot_segment_state found;
    spot_sweep_report r;
    char dir[128], why[1300];
    assert_non_null(s);
    cfg->ecs = 1;
    cfg->metric.repair = 1;
    CHECK_OK(&one, sweep(&one, cfg, "a", 0, 1, &r));
    snprintf(dir, sizeof dir, "%s/a", root);
    CHECK_OK(&one, spot_segment_read(&one, dir, 0, s, &found, why, sizeof why));
    for (int b = 0; b < 2; b++) {
        const double *beside = s->method[b].score.beside;
        assert_int_equal(s->method[b].status, SPOT_OK);
        for (int k = SPOT_REPAIR_NONE; k <= SPOT_REPAIR_FOUND; k++) assert_true(beside[k] >= 0 && beside[k] <= 1);
        assert_true(beside[SPOT_COHERENCE] > 0 && beside[SPOT_COHERENCE] <= 1 && beside[SPOT_DCBENCH_AP] > 0);
        assert_true(beside[SPOT_REPAIR_NONE] == s->method[0].score.beside[SPOT_REPAIR_NONE]);
    }
    shell("test $(find %s -name '*.negatives' | wc -l) = 1", "a");
    CHECK_OK(&two, sweep(&two, cfg, "b", 0, 1, &r));
    check_same_segments(&one, "a", "b", 1);
    shell("rm %s/segments/000/ec-000000.json && find %1$s -name '*.model' -delete", "b");
    CHECK_OK(&two, sweep_with(&two, cfg, "b", (spot_sweep_options){ .place.shards = 1, .keep = SPOT_KEEP_RESULTS }, &r));
    check_same_segments(&one, "a", "b", 1);
    shell("test -z \"$(find %s/cache -type f ! -name '*.base')\"", "b");
    spot_segment_free(s);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&one);
    spot_ctx_close(&two);
}

/* While EC 1 is at hand EC 0's view goes, as when another process has finished that EC and keeps less; with `user` its segment
 * comes, too. */
static void take_away(void *user, const spot_progress *p)
{
    if (p->ec != 1) return;
    shell("find %s -name '*.view' -delete", "d");
    if (user) shell("cp %s/../a/segments/000/ec-000000.json %1$s/segments/000", "d");
}

TEST_WITH(an_ec_that_another_process_finished_is_done, set_up, tear_down)
{
    spot_ctx c = context(1);
    spot_config *cfg = config(&c);
    const spot_sweep_options o = { .place.shards = 1, .wave = 2 };
    spot_sweep_report r;
    cfg->ecs = 2;
    CHECK_OK(&c, sweep(&c, cfg, "a", 0, 1, &r));
    c.on_progress = take_away;
    CHECK_FAILS(&c, sweep_with(&c, cfg, "d", o, &r), SPOT_IO, "unit.failed: EC 0");
    assert_true(r.done == 1 && r.failed == 1);
    shell("mkdir -p %s/segments/000 && rm %1$s/segments/000/* && find %1$s -name '*.view' -delete", "d");
    c.user = &c;
    CHECK_OK(&c, sweep_with(&c, cfg, "d", o, &r));
    assert_true(r.done == 2 && !r.failed);
    check_same_segments(&c, "a", "d", 2);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* The flag goes up at the n-th message of progress, for n = 1, 2, ...: each run gets somewhat further. */
static volatile sig_atomic_t stop;
static int countdown;
TEST_WITH(a_grid_shares_what_is_upstream, set_up, tear_down)
{
    spot_ctx c = context(1);
    spot_config *cfg = malloc(sizeof *cfg);
    spot_sweep_report r;
    char text[sizeof tiny + 128];
    assert_non_null(cfg);
    snprintf(text, sizeof text, "%.*s  - {reduce: pca, weight: [0.1, 0.5], mixture: {k_max: [3, 4]}}\n",
             (int)(strstr(tiny, "bdms:\n") + 6 - tiny), tiny);
    CHECK_OK(&c, spot_config_parse(&c, cfg, text, strlen(text), "grid"));
    assert_int_equal(cfg->bdms, 4);
    cfg->ecs = 1;
    CHECK_OK(&c, sweep(&c, cfg, "grid", 0, 1, &r));
    shell("test $(find %s -name '*.view' | wc -l) = 1", "grid");
    shell("test $(find %s -name '*.points' | wc -l) = 1", "grid");
    shell("test $(find %s -name '*.found' | wc -l) = 4", "grid");
    spot_ctx_close(&c);
    CHECK_CONFIG_FREE(cfg);
}

static void count_down(void *user, const spot_progress *p)
{
    (void)user, (void)p;
    stop = --countdown <= 0;
}

/* The networks are gone from the cache: no view is made again. */
TEST_WITH(a_run_gets_a_method_without_its_networks, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    const int methods = cfg->bdms;
    spot_sweep_report r;

    cfg->bdms = methods - 1;
    CHECK_OK(&c, sweep(&c, cfg, "a", 0, 1, &r));
    shell("find %s -name '*.model' -delete", "a");
    cfg->bdms = methods;
    cfg->metric.top++;                      /* one more method is no reason for a refusal, and this is */
    CHECK_FAILS(&c, sweep(&c, cfg, "a", 0, 1, &r), SPOT_USAGE, "run.other_config: metric.top");
    cfg->metric.top--;
    CHECK_OK(&c, sweep(&c, cfg, "b", 0, 1, &r));
    CHECK_OK(&c, sweep(&c, cfg, "a", 0, 1, &r));
    assert_true(r.planned == 3 && r.done == 3 && !r.already && !r.failed);
    shell("test -z \"$(find %s -name '*.model')\"", "a");
    check_same_segments(&c, "a", "b", 3);
    shell("cmp %s/config.yaml %1$s/../b/config.yaml", "a");

    /* a method that has changed, or is gone, is another run's */
    cfg->bdm[0].mixture.k_max++;
    CHECK_FAILS(&c, sweep(&c, cfg, "a", 0, 1, &r), SPOT_USAGE, "run.other_config");
    cfg->bdm[0].mixture.k_max--;
    cfg->bdms = methods - 1;
    CHECK_FAILS(&c, sweep(&c, cfg, "a", 0, 1, &r), SPOT_USAGE, "run.other_config: the number of bdms");
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

TEST_WITH(a_stopped_sweep_goes_on, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    spot_sweep_report r;
    int stops = 0;
    CHECK_OK(&c, sweep(&c, cfg, "whole", 0, 1, &r));
    c.stop = &stop;
    c.on_progress = count_down;
    for (spot_status s = SPOT_STOPPED; s != SPOT_OK; stops++) {
        stop = 0;
        countdown = 1 + 7 * stops;
        assert_in_range(stops, 0, 200);
        s = sweep(&c, cfg, "stopped", 0, 1, &r);
        if (s) CHECK_FAILS(&c, s, SPOT_STOPPED, "run.stopped");
    }
    assert_true(stops > 2);
    check_same_segments(&c, "whole", "stopped", 3);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* A limit on file sizes is the full disk that a test can have. */
TEST_WITH(a_full_disk_loses_nothing, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    struct rlimit old, small;
    spot_sweep_report r;
    cfg->ecs = 1;
    CHECK_OK(&c, sweep(&c, cfg, "whole", 0, 1, &r));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    for (rlim_t limit = 2000; ; limit *= 40) {
        small = (struct rlimit){ limit, old.rlim_max };
        setrlimit(RLIMIT_FSIZE, &small);
        spot_status s = sweep(&c, cfg, "full", 0, 1, &r);
        setrlimit(RLIMIT_FSIZE, &old);
        if (s == SPOT_OK) break;
        CHECK_FAILS(&c, s, SPOT_IO, "file.failed");
    }
    check_same_segments(&c, "whole", "full", 1);
    shell("test -z \"$(find %s -name '*.tmp')\"", "full");
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

static char heard[4096];
static void hear(void *user, spot_log_level level, const char *text)
{
    (void)user;
    if (level == SPOT_LOG_WARN) snprintf(heard + strlen(heard), sizeof heard - strlen(heard), "%s\n", text);
}

TEST_WITH(a_failed_method_is_a_result_and_loses_no_other, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    spot_sweep_report r;
    spot_segment *s = calloc(1, sizeof *s);
    spot_segment_state found;
    char dir[128], why[1300], *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(s);
    cfg->bdm[0].mixture.k_min = cfg->bdm[0].mixture.k_max = 32;
    cfg->scene.per_bucket[SPOT_TEST] = 1;                    /* 16 test images cannot carry 32 components */
    cfg->bdm[1].mixture.k_max = 31;
    cfg->ecs = 2;
    c.on_log = hear;
    CHECK_FAILS(&c, sweep(&c, cfg, "a", 0, 1, &r), SPOT_INPUT, "unit.failed: EC 0, planespot-pca");
    assert_true(r.done == 2 && r.failed == 2);
    for (int ec = 0; ec < 2; ec++) {                         /* every line says once whose it is */
        char words[80];
        snprintf(words, sizeof words, "EC %d, planespot-pca: ", ec);
        assert_non_null(strstr(heard, words));
        snprintf(words, sizeof words, "EC %d, heavy: ", ec);
        assert_non_null(strstr(heard, words));
    }
    assert_null(strstr(heard, ": EC"));
    CHECK_FAILS(&c, sweep(&c, cfg, "a", 0, 1, &r), SPOT_INPUT, "unit.failed: EC 0");    /* not tried again, not forgotten */
    assert_true(r.already == 2 && !r.done && r.failed == 2);
    snprintf(dir, sizeof dir, "%s/a", root);
    CHECK_OK(&c, spot_segment_read(&c, dir, 1, s, &found, why, sizeof why));
    assert_int_equal(found, SPOT_SEGMENT_WHOLE);
    assert_int_equal(s->method[0].status, SPOT_INPUT);
    assert_null(strstr(s->method[0].message, "EC"));
    assert_int_equal(s->method[1].status, SPOT_OK);
    CHECK_OK(&c, spot_tables(&c, f, dir, SPOT_TABLE_CSV, true));
    fclose(f);
    assert_non_null(strstr(text, "\"planespot-pca\",,dr,,,0,2\n"));
    free(text);
    spot_segment_free(s);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

TEST(a_plan_counts_its_cost)
{
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    spot_sweep_options all = { .place.shards = 1 }, part_of = { .place.shards = 3 };
    spot_sweep_cost cost, part;
    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &all, &cost, false));
    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &part_of, &part, false));
    assert_true(isnan(cost.seconds) && cost.memory > 0 && part.images < cost.images);
    assert_true(cost.images >= 3 * (96 + 96));                /* one epoch of train and val, and the positives */
    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &part_of, &part, true));
    assert_true(part.seconds > 0 && part.seconds < 600);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* The second method's map cannot be made. The first one, which would be drawn on it, found what it found. */
TEST_WITH(a_picture_decides_nothing, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = config(&c);
    spot_sweep_report r;
    spot_segment *s = calloc(1, sizeof *s);
    spot_segment_state found;
    char dir[128], path[200], why[1300];
    assert_non_null(s);
    cfg->ecs = 1;
    cfg->bdm[0] = spot_bdm_defaults(SPOT_BARLOW);
    cfg->bdm[0].representation = SPOT_BY_MODEL;
    cfg->bdm[1].embed.method = SPOT_REDUCE_UMAP;
    cfg->bdm[1].embed.umap.min_dist = 2;
    CHECK_FAILS(&c, sweep_with(&c, cfg, "a", (spot_sweep_options){ .place.shards = 1, .pictures = true }, &r), SPOT_USAGE,
                "unit.failed: EC 0, heavy | min_dist 2");
    snprintf(dir, sizeof dir, "%s/a", root);
    CHECK_OK(&c, spot_segment_read(&c, dir, 0, s, &found, why, sizeof why));
    assert_int_equal(s->method[0].status, SPOT_OK);
    assert_int_equal(s->method[1].status, SPOT_USAGE);
    snprintf(path, sizeof path, "%s/pictures/000/ec-000000-0-barlow-model.png", dir);
    assert_int_equal(access(path, F_OK), 0);
    spot_segment_free(s);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* A method without a map is drawn on the first of the config, wherever it stands there, else on principal components. */
TEST(pictures_have_a_map)
{
    spot_config cfg = spot_config_defaults();
    spot_bdm_config map;
    spot_ctx c = check_ctx(1);
    CHECK_OK(&c, spot_config_room(&c, &cfg, 4, 0));
    cfg.bdm[0] = spot_bdm_defaults(SPOT_SPOTLIGHT);
    cfg.bdm[1].embed.dim = 3;
    cfg.bdm[2].embed.method = SPOT_REDUCE_TSNE;
    assert_int_equal(spot_method_picture_map(&cfg, 3).embed.method, SPOT_REDUCE_SCVIS);
    for (int b = 0; b < 3; b++) {
        map = spot_method_picture_map(&cfg, b);
        assert_true(map.embed.method == SPOT_REDUCE_TSNE && map.embed.dim == 2);
    }
    cfg.bdms = 2;
    map = spot_method_picture_map(&cfg, 0);
    assert_true(map.embed.method == SPOT_REDUCE_PCA && map.embed.dim == 2);
    assert_string_equal(map.name, "the first two principal components");      /* no planespot-pca, where there is none */
    spot_memory_close(&cfg.memory);
}
