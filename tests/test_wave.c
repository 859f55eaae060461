/* test_wave.c - ECs that go through a sweep together: the same bytes as one after another, also where one fails, where memory
 * is short, where all is stopped. ctest: threads, heavy */
#define _POSIX_C_SOURCE 200809L
#include "check_sweep.h"

#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "study/workers.h"
#include "sweep/pipeline.h"

/* Five ECs of unlike sizes, with a method whose memory and time grow with the wave. */
static spot_config *ragged(spot_ctx *c)
{
    spot_config *cfg = config(c);

    cfg->ecs = 5;
    cfg->scene.rollable[1] = 5;
    cfg->bdm[1].embed.method = SPOT_REDUCE_TSNE;
    cfg->bdm[1].embed.tsne.iterations = 60;
    return cfg;
}

static const spot_sweep_options alone = { .place.shards = 1, .wave = 1 };

TEST_WITH(waves_of_any_width_give_the_same_bytes, set_up, tear_down)
{
    static const spot_sweep_options ways[] = {
        { .place.shards = 1, .wave = 3 }, { .place.shards = 1, .wave = 256 }, { .place.shards = 1, .at_once = 2 },
        { .place.shards = 1, .wave = 3, .at_once = 2 }, { .place.shards = 1, .wave = 5, .at_once = 64 },
    };
    spot_ctx c = context(2);
    spot_config *cfg = ragged(&c);
    spot_sweep_report r;

    CHECK_OK(&c, sweep_with(&c, cfg, "alone", alone, &r));
    for (int i = 0; i < LEN(ways); i += 1 + SANITIZED) {
        char name[16];
        snprintf(name, sizeof name, "way-%d", i);
        CHECK_OK(&c, sweep_with(&c, cfg, name, ways[i], &r));
        assert_true(r.planned == 5 && r.done == 5 && !r.failed);
        check_same_segments(&c, "alone", name, 5);
    }
    CHECK_FAILS(&c, sweep_with(&c, cfg, "x", (spot_sweep_options){ .place.shards = 1, .wave = 257 }, &r), SPOT_USAGE,
                "sweep.waves: 257");
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* A run of root/name for the pipeline's own functions. */
static spot_run open_run(spot_ctx *c, const spot_config *cfg, const char *name)
{
    spot_run run = { .cfg = cfg, .run_log = { -1 }, .layout = { .at_once = 1 }, .planned = cfg->ecs };
    char dir[128];

    snprintf(dir, sizeof dir, "%s/%s", root, name);
    CHECK_OK(c, spot_store_open(c, &run.store, dir));
    CHECK_OK(c, spot_identify(c, &run.id, cfg, NULL));
    CHECK_OK(c, spot_source_open(c, &run.source, cfg));
    return run;
}

static void change_view(spot_ctx *c, const spot_run *run, int ec, void (*change)(spot_view *v))
{
    spot_key key = spot_key_of_model(c, &run->id, run->cfg, (uint32_t)ec);
    spot_arena a;
    spot_seen seen;
    bool found;

    CHECK_OK(c, spot_arena_open(c, &a, 4 << 20));
    CHECK_OK(c, spot_recall(c, &a, &run->store, key, "view", spot_pack_seen, &seen, &found));
    assert_true(found);
    change(&seen.view);
    CHECK_OK(c, spot_keep(c, &run->store, key, "view", spot_pack_seen, &seen));
    spot_arena_close(&a);
}

static void spoil_feature(spot_view *v)    { v->feature[5 * v->d + 3] = NAN; }
static void spoil_confidence(spot_view *v) { v->confidence[7] = 2; }

static const char forget_methods[] = "find %s -name '*.points' -delete -o -name '*.found' -delete; rm -rf %1$s/segments/*";

/* EC 1 cannot be embedded, nothing can be found for EC 3, and the others do not notice. */
TEST_WITH(an_ec_that_fails_fails_alone, set_up, tear_down)
{
    static const char *const names[] = { "ones", "threes", "fives" };
    static const int widths[] = { 1, 3, 5 };
    spot_ctx c = context(2);
    spot_config *cfg = ragged(&c);
    spot_segment *s = calloc(1, sizeof *s);
    spot_segment_state found;
    spot_sweep_report r;
    char dir[128], why[1300];

    assert_non_null(s);
    CHECK_OK(&c, sweep_with(&c, cfg, "whole", alone, &r));
    for (int i = 0; i < LEN(names); i++) {
        spot_run run;
        shell("mkdir %s && cp -r %1$s/../whole/. %1$s", names[i]);
        shell(forget_methods, names[i]);
        run = open_run(&c, cfg, names[i]);
        change_view(&c, &run, 1, spoil_feature);
        change_view(&c, &run, 3, spoil_confidence);
        const spot_sweep_options o = { .place.shards = 1, .wave = widths[i] };
        CHECK_FAILS(&c, sweep_with(&c, cfg, names[i], o, &r), SPOT_INPUT,
                    "unit.failed: EC 1, planespot-pca | feature 3 | row 5 | nan");
        assert_true(r.done == 5 && r.failed == 2);
        check_same_segments(&c, "ones", names[i], 5);
        for (int ec = 0; ec < 5; ec += 2) {
            size_t n, m;
            unsigned char *x = segment_bytes(&c, "whole", ec, &n), *y = segment_bytes(&c, names[i], ec, &m);
            assert_true(n == m);
            assert_memory_equal(x, y, n);
            free(x), free(y);
        }
        snprintf(dir, sizeof dir, "%s/%s", root, names[i]);
        CHECK_OK(&c, spot_segment_read(&c, dir, 3, s, &found, why, sizeof why));
        assert_true(s->method[0].status == SPOT_INPUT && s->method[1].status == SPOT_INPUT);
        assert_non_null(strstr(s->method[1].message, "row 7 is 2"));
    }
    spot_segment_free(s);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

static void close_results(spot_ec_run *p, int ecs)
{
    for (int i = 0; i < ecs; i++) spot_segment_close(&p[i].segment);
}

/* Views are there and methods have `bytes` of memory: how many ECs come through. */
static void find_in(spot_ctx *c, spot_run *run, size_t bytes, spot_ec_run *p, int ecs, int *through)
{
    static const int index[] = { 0, 1, 2, 3, 4 };
    spot_arena a;

    CHECK_OK(c, spot_arena_open(c, &a, bytes));
    CHECK_OK(c, spot_pipeline(c, &a, run, p, index, ecs));
    *through = 0;
    for (int i = 0; i < ecs; i++) *through += p[i].trouble == SPOT_OK && !p[i].segment.method[1].status;
    close_results(p, ecs);
    spot_arena_close(&a);
}

TEST_WITH(memory_that_is_short_is_shared, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = ragged(&c);
    spot_ec_run *p = malloc(5 * sizeof *p);
    spot_sweep_report r;
    spot_arena a;
    spot_run run;
    size_t five, views;
    int through;
    static const int index[] = { 0, 1, 2, 3, 4 };

    assert_non_null(p);
    CHECK_OK(&c, sweep_with(&c, cfg, "run", alone, &r));
    run = open_run(&c, cfg, "run");
    CHECK_OK(&c, spot_arena_open(&c, &a, 64 << 20));
    shell(forget_methods, "run");
    CHECK_OK(&c, spot_pipeline(&c, &a, &run, p, index, 5));
    five = a.peak;
    views = a.used;
    close_results(p, 5);
    spot_arena_close(&a);

    shell(forget_methods, "run");                              /* all but enough for five, and enough for one of them */
    find_in(&c, &run, five - 1000, p, 5, &through);
    assert_int_equal(through, 5);

    shell(forget_methods, "run");                              /* not enough for any */
    find_in(&c, &run, views + 20000, p, 5, &through);
    assert_int_equal(through, 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(p[i].trouble, SPOT_NOMEM);
        assert_non_null(strstr(p[i].message, "MB asked for"));
    }
    free(p);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* The flag goes up at the n-th message of progress, for n = 1, 2, ...: each run gets somewhat further. */
static volatile sig_atomic_t stop;
static int countdown;
static void count_down(void *user, const spot_progress *p)
{
    (void)user, (void)p;
    if (--countdown <= 0) stop = 1;
}

TEST_WITH(a_stopped_wave_goes_on, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = ragged(&c);
    spot_sweep_report r;

    CHECK_OK(&c, sweep_with(&c, cfg, "alone", alone, &r));
    c.stop = &stop;
    c.on_progress = count_down;
    for (int at_once = 1; at_once <= 2; at_once++) {
        const spot_sweep_options how = { .place.shards = 1, .wave = 3, .at_once = at_once };
        const char *name = at_once == 1 ? "one" : "two";
        int stops = 0;
        for (spot_status s = SPOT_STOPPED; s != SPOT_OK; stops++) {
            stop = 0;
            countdown = 1 + 15 * stops;
            assert_in_range(stops, 0, 200);
            s = sweep_with(&c, cfg, name, how, &r);
            if (s) CHECK_FAILS(&c, s, SPOT_STOPPED, "run.stopped");
        }
        assert_true(stops > 2);
        check_same_segments(&c, "alone", name, 5);
    }
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* A limit on file sizes is the full disk that a test can have: one worker meets it, all end, and what comes back is that. */
TEST_WITH(a_full_disk_ends_all_workers, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = ragged(&c);
    struct rlimit old, small;
    spot_sweep_report r;
    int failures = 0;

    cfg->model.base.images = 0;
    CHECK_OK(&c, sweep_with(&c, cfg, "alone", alone, &r));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    for (rlim_t limit = 4000; ; limit *= 40, failures++) {
        small = (struct rlimit){ limit, old.rlim_max };
        setrlimit(RLIMIT_FSIZE, &small);
        spot_status s = sweep_with(&c, cfg, "full", (spot_sweep_options){ .place.shards = 1, .wave = 3, .at_once = 2 }, &r);
        setrlimit(RLIMIT_FSIZE, &old);
        if (s == SPOT_OK) break;
        CHECK_FAILS(&c, s, SPOT_IO, "file.failed");
    }
    assert_true(failures > 0);
    check_same_segments(&c, "alone", "full", 5);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* One at a time, or the count of those inside is wrong. */
static int inside;
static void hear(void *user, spot_log_level level, const char *text)
{
    (void)level, (void)text;
    if (inside++) fail_msg("two workers are heard at once");
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    if (user) *(volatile sig_atomic_t *)user = 1;
    inside--;
}

/* Task `user` fails, all others work until they are told to stop. */
static volatile bool in_vain;
static spot_status work_or_fail(spot_ctx *c, spot_arena *a, void *user, int task)
{
    char *room;

    SPOT_TRY(SPOT_TAKE(c, a, room, 1000));
    spot_log(c, SPOT_LOG_INFO, "task %d", task);
    if (task == *(int *)user) return spot_fail(c, SPOT_IO, "{test.disk} the disk of task %d", task);
    for (int ms = 0; ms < 10000; ms++) {
        SPOT_TRY(spot_check_stop(c));
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    in_vain = true;
    return spot_fail(c, SPOT_CHECK, "task %d worked in vain", task);
}

static spot_status all_once(spot_ctx *c, spot_arena *a, void *user, int task)
{
    char *room;

    ((char *)user)[task]++;
    return SPOT_TAKE(c, a, room, 1000) ? SPOT_CHECK : SPOT_OK;
}

TEST(a_crew_ends_together)
{
    spot_ctx c = context(2);
    int culprit = 2, nobody = -1;
    char done[50] = { 0 };
    static spot_workers w;
    spot_arena a;

    c.on_log = hear;
    CHECK_OK(&c, spot_arena_open(&c, &a, 1024));
    CHECK_FAILS(&c, spot_workers_run(&c, &a, &w, 3, 1024, 9, work_or_fail, &culprit), SPOT_IO, "test.disk: task 2");
    c.user = (void *)&stop;
    c.stop = &stop;
    stop = 0;
    CHECK_FAILS(&c, spot_workers_run(&c, &a, &w, 3, 1024, 9, work_or_fail, &nobody), SPOT_STOPPED, "run.stopped");
    stop = 0;
    assert_false(in_vain);
    CHECK_FAILS(&c, spot_workers_run(&c, &a, &w, 3, 64, 9, work_or_fail, &nobody), SPOT_NOMEM, "arena.full");
    for (int workers = 1; workers <= 3; workers += 2)      /* every task once; memory is given back after each */
        CHECK_OK(&c, spot_workers_run(&c, &a, &w, workers, 1024, LEN(done), all_once, done));
    for (int i = 0; i < LEN(done); i++) assert_int_equal(done[i], 2);
    spot_workers_close(&w);
    spot_arena_close(&a);
    spot_ctx_close(&c);
}

int main(void)
{
    (void)omp_get_max_threads();       /* clang's OpenMP crashes under TSan when threads of ours come to it before this one */
    return run_all_tests();
}
