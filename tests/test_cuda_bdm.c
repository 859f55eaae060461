/* test_cuda_bdm.c - every discovery method on CUDA: from views to hypotheses as on the CPU, each problem of a batch as by
 * itself, in the memory that was counted; what it found can be assigned on the host. ctest: long */
#define _GNU_SOURCE   /* setenv */
#include "check_blas.h"
#include "check_copies.h"

#include <math.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "blobs.h"
#include "check_methods.h"
#include "fit/kmeans.h"
#include "spotter/bdm.h"
#include "spotter/metric.h"

static const int rows[] = { 70, 33, 129 };      /* ragged */
enum { PROBLEMS = LEN(rows), D = METHOD_D };

typedef struct { spot_arena a; spot_points points[PROBLEMS]; spot_hypotheses found[PROBLEMS]; spot_fit fits[PROBLEMS]; } answer;

static spot_bytes needs_of(const spot_ctx *c, int problems, const spot_bdm_config *cfg)
{
    spot_bytes embed = spot_embed_needs(c, problems, rows, D, &cfg->embed);
    spot_bytes find = spot_bdm_needs(c, problems, rows, cfg->embed.method == SPOT_REDUCE_NONE ? D : cfg->embed.dim, cfg);

    return (spot_bytes){ embed.host + find.host, embed.device > find.device ? embed.device : find.device };
}

/* Features and points that are on the device are not copied to it again. */
static void answer_on(spot_ctx *c, answer *o, spot_arena *on_device, const method_data *of, const spot_bdm_config *cfg)
{
    spot_view v[PROBLEMS];

    CHECK_OK(c, spot_arena_open(c, &o->a, needs_of(c, PROBLEMS, cfg).host));
    put_features(c, on_device, v, of->v, PROBLEMS);
    CHECK_OK(c, spot_embed_fit_on(c, &o->a, on_device, PROBLEMS, o->points, v, of->seed, &cfg->embed));
    check_points_on_device(c, o->points, PROBLEMS);
    CHECK_OK(c, spot_bdm_find(c, &o->a, PROBLEMS, o->found, v, o->points, of->seed, cfg));
    assert_int_equal(copies.from_watched, 0);
}

/* Problems from `from` on; kept: with what assigns rows later. */
static void answer_to(spot_ctx *c, answer *o, int from, int problems, const method_data *of, const spot_bdm_config *cfg,
                      bool kept)
{
    CHECK_OK(c, spot_arena_open(c, &o->a, needs_of(c, PROBLEMS, cfg).host));
    CHECK_OK(c, spot_embed_fit(c, &o->a, problems, o->points, of->v + from, of->seed + from, &cfg->embed));
    CHECK_OK(c, spot_bdm_fit(c, &o->a, problems, o->found, kept ? o->fits : NULL, of->v + from, o->points, of->seed + from,
                             cfg));
}

/* Under the first and the third schedule, then with views and points on the device. ASan's build leaves the first to
 * a_fit_leaves_the_device. */
static void a_method_agrees(void **state)
{
    const struct variant *v = *state;
    const spot_bdm_config cfg = config_of(v);
    bool emulated = getenv("SPOT_EMULATOR") != NULL;
    const int first = SANITIZED ? 2 : 0;
    spot_ctx cpu = check_ctx(2), c;
    answer want, got, alone;
    method_data of;

    open_data(&of, v, rows, PROBLEMS);
    answer_to(&cpu, &want, 0, PROBLEMS, &of, &cfg, false);
    assert_int_equal(needs_of(&cpu, PROBLEMS, &cfg).device, 0);
    for (int q = 0; q < PROBLEMS; q++) assert_int_equal(want.found[q].len > 0, !(v->spared && q == 1));
    for (int s = first; s < LEN(schedules); s = schedule_after(s, 2)) {
        size_t before, after, total;
        spot_arena on_device;
        open_cuda(&c, s);
        assert_true(needs_of(&c, PROBLEMS, &cfg).device > needs_of(&c, 1, &cfg).device);
        CHECK_OK(&c, spot_device_room(&c, &before, &total));
        CHECK_OK(&c, spot_arena_open_device(&c, &on_device, 1 << 16));
        note_takes(&c);
        count_copies(&c);
        if (s == first) answer_to(&c, &got, 0, PROBLEMS, &of, &cfg, false);
        else            answer_on(&c, &got, &on_device, &of, &cfg);
        assert_true(noted > 0 && noted <= needs_of(&c, PROBLEMS, &cfg).device);
        for (int q = 0; q < PROBLEMS; q++) {
            size_t bytes = (size_t)got.points[q].n * got.points[q].d * sizeof(float);
            if (emulated || !v->maps) check_same_hypotheses(&got.found[q], &want.found[q], v->score);
            if (emulated) assert_memory_equal(got.points[q].at, want.points[q].at, bytes);
            if (s != first) continue;
            answer_to(&c, &alone, q, 1, &of, &cfg, false);
            check_same_hypotheses(alone.found, &got.found[q], 0);
            assert_memory_equal(alone.points->at, got.points[q].at, bytes);
            spot_arena_close(&alone.a);
        }
        spot_arena_close(&got.a);
        spot_arena_close(&on_device);
        CHECK_OK(&c, spot_device_room(&c, &after, &total));
        if (emulated) assert_int_equal(before, after);
        spot_device_close(&c);
    }
    spot_arena_close(&want.a);
    close_data(&of);
}

/* The device's findings come back from what was kept of them, on the host. */
static void check_assigned(spot_ctx *c, const spot_view *v, const spot_fit *fit, const spot_hypotheses *found,
                           const spot_bdm_config *cfg)
{
    uint8_t *member = malloc((size_t)v->n * SPOT_MAX_HYPOTHESES), *want = calloc((size_t)v->n, SPOT_MAX_HYPOTHESES);
    spot_arena a = spot_arena_counting();
    char name[80];

    for (int k = 0; k < found->len; k++)
        for (int i = 0; i < found->h[k].len; i++) want[found->h[k].row[i] * found->len + k] = 1;
    CHECK_OK(c, spot_bdm_assign(c, &a, NULL, found->len, v, fit, cfg));
    CHECK_OK(c, spot_arena_open(c, &a, a.peak));
    CHECK_OK(c, spot_bdm_assign(c, &a, member, found->len, v, fit, cfg));
    if (memcmp(member, want, (size_t)v->n * (size_t)found->len))
        fail_msg("%s: rows came back into other hypotheses", spot_bdm_name(cfg, name, sizeof name));
    spot_arena_close(&a);
    free(member);
    free(want);
}

static void a_fit_leaves_the_device(void **state)
{
    const struct variant *v = *state;
    const spot_bdm_config cfg = config_of(v);
    spot_ctx c;
    answer o;
    method_data of;

    open_data(&of, v, rows, PROBLEMS);
    open_cuda(&c, 0);
    answer_to(&c, &o, 0, PROBLEMS, &of, &cfg, true);
    for (int q = 0; q < PROBLEMS; q++) {
        check_assigned(&c, &of.v[q], &o.fits[q], &o.found[q], &cfg);
        spot_fit_close(&o.fits[q]);
    }
    spot_arena_close(&o.a);
    spot_device_close(&c);
    close_data(&of);
}

TEST(device_memory_is_counted)
{
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_PLANESPOT);
    spot_ctx cpu = check_ctx(1), c;

    open_cuda(&c, 0);
    for (int reduce = SPOT_REDUCE_TSNE; reduce <= SPOT_REDUCE_SCVIS; reduce++) {
        size_t one, all;
        cfg.embed.method = reduce;
        one = spot_embed_needs(&c, 1, rows, D, &cfg.embed).device;
        all = spot_embed_needs(&c, PROBLEMS, rows, D, &cfg.embed).device;
        assert_true(one > (size_t)rows[0] * D * sizeof(float) && all > one);
        assert_int_equal(spot_embed_needs(&cpu, 1, rows, D, &cfg.embed).device, 0);
    }
    spot_device_close(&c);
}

/* -- beside the methods -------------------------------------------------------------------------------------------------- */

/* 150 rows, two blindspots, hypotheses that are noisy copies of them. */
TEST(scores_are_the_same)
{
    enum { N = 150, H = 6 };
    spot_ctx cpu = check_ctx(1), c;
    const spot_metric_config cfg = spot_metric_defaults();
    int covered = 0;

    open_cuda(&c, 2);
    for (uint32_t trial = 0; trial < 10; trial++) {
        spot_rng r = spot_rng_at(4, SPOT_RNG_BOOTSTRAP, 0, trial);
        static int lists[H][N];
        uint32_t mask[N];
        spot_hypotheses found = { .len = (int)(trial ? H : 0) };
        spot_truth truth = { N, 2, mask };
        spot_score want, got;

        for (int i = 0; i < N; i++) mask[i] = i % 5 == 0 ? 1 : i % 7 == 0 ? 2 : 0;
        for (int h = 0; h < found.len; h++) {
            found.h[h].row = lists[h];
            for (int i = 0; i < N; i++)
                if (spot_rng_below(&r, 20) < ((mask[i] >> h % 2 & 1) ? 18u : (uint32_t)h % 3))
                    lists[h][found.h[h].len++] = i;
        }
        CHECK_OK(&cpu, spot_metric_score(&cpu, &want, &found, &truth, &cfg));
        CHECK_OK(&c, spot_metric_score(&c, &got, &found, &truth, &cfg));
        assert_memory_equal(&got, &want, sizeof want);
        covered += want.covered[0] + want.covered[1];
    }
    assert_true(covered > 0);
    spot_device_close(&c);
}

static volatile sig_atomic_t asked;
static void ask(int number) { asked = number; }

/* Processor time: another program that takes the cores does not count. */
static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Two fits of many iterations, then the same one again, which a signal asks to stop when a third of its time is over. The timer
 * counts in ticks of some milliseconds, so a fit has to last for several. */
TEST(kmeans_hears_a_stop_on_its_way)
{
    enum { N = 3000, K = 24 };
    spot_kmeans_job job = { .n = N, .d = 2, .k = K, .given = 1 };
    struct sigaction act = { .sa_handler = ask, .sa_flags = SA_RESTART };
    spot_rng r = spot_rng_at(5, SPOT_RNG_BOOTSTRAP, 0, 0);
    struct itimerval when = { .it_value = { 0 } };
    double centre[K * 2], took;
    float x[N * 2];
    spot_arena a;
    spot_ctx c;

    if (!getenv("SPOT_EMULATOR")) skip();              /* a GPU is through before a timer goes off */
    for (int e = 0; e < N * 2; e++) x[e] = (float)spot_rng_uniform(&r);
    for (int e = 0; e < K * 2; e++) centre[e] = 1e-3 * x[e];
    open_cuda(&c, 0);
    job.x = to_device(&c, x, sizeof x);
    job.label = to_device(&c, NULL, N * sizeof(int));
    job.centre = to_device(&c, centre, sizeof centre);
    CHECK_OK(&c, spot_arena_open_device(&c, &a, spot_kmeans_scratch(1, N, 2, K, 0)));
    for (int fit = 0; fit < 2; fit++) {                /* the first one warms up and takes longer */
        took = now();
        CHECK_OK(&c, spot_kmeans_fit(&c, &a, 1, &job));
        took = now() - took;
        assert_in_range(job.iterations, 49, 299);      /* four launches at least */
        CHECK_OK(&c, spot_device_copy(&c, job.centre, centre, sizeof centre));
    }
    sigaction(SIGPROF, &act, NULL);
    c.stop = &asked;
    when.it_value.tv_sec = (time_t)(took / 3);
    when.it_value.tv_usec = (suseconds_t)(1e6 * fmod(took / 3, 1));
    setitimer(ITIMER_PROF, &when, NULL);
    CHECK_FAILS(&c, spot_kmeans_fit(&c, &a, 1, &job), SPOT_STOPPED, "run.stopped");
    spot_arena_close(&a);
    spot_device_give(&c, (void *)job.x);
    spot_device_give(&c, job.label);
    spot_device_give(&c, job.centre);
    spot_device_close(&c);
}

int main(void)
{
    static char name[2 * LEN(variants)][80];

    for (int i = 0; i < 2 * LEN(variants); i++) {
        struct variant *v = &variants[i / 2];
        if (i % 2 && (v->maps || v->parts)) continue;         /* a map's rows are not assigned */
        snprintf(name[i], sizeof *name, i % 2 ? "%s_leaves_the_device" : "%s_agrees", v->name);
        add_test(&check_tests, (struct CMUnitTest){ name[i], i % 2 ? a_fit_leaves_the_device : a_method_agrees, NULL,
                                                    NULL, v });
    }
    return run_cuda_tests();
}
