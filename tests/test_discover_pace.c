/* test_discover_pace.c - the stated time of a search, against planted times of its parts on a planted clock. */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "spotter/ctx.h"

/* The parts that are tried take planted times. */
#define spot_spent_now     planted_now
#define spot_spend         planted_spend
#define spot_bdm_find      planted_find
#define spot_nearest_rows  planted_nearest
#define spot_class_map_draw planted_map
#define spot_proof_time    planted_proof
#define omp_get_num_procs  planted_cores
spot_spent planted_now(void);
void       planted_spend(spot_spent *sum, spot_spent *at);
#include "discover/search/discover_pace.c"

enum { THREADS = 2, COLUMNS = 4 };

#define PAUSE    0.08                  /* seconds of other programs after each PAUSE seconds of this one, where they run */
#define SHARED   1.6                   /* how much faster a search of one class is by two threads */
#define PAIR     4e-9
#define A_MAP    1e-4
#define DRAWS    0.02                  /* of a trial */
#define OPEN     0.002

static struct { double wall, cpu, own; bool beside; double draws; } clock_now;

/* `cpu` seconds of the processor, `faster` times as fast by the clock. */
static void advance(double cpu, double faster)
{
    const double before = floor(clock_now.own / PAUSE);

    clock_now.cpu += cpu;
    clock_now.own += cpu / faster;
    clock_now.wall += cpu / faster + (clock_now.beside ? PAUSE * (floor(clock_now.own / PAUSE) - before) : 0);
}

int        planted_cores(void) { return THREADS; }
spot_spent planted_now(void) { return (spot_spent){ clock_now.wall, clock_now.cpu }; }

void planted_spend(spot_spent *sum, spot_spent *at)
{
    const spot_spent now = planted_now();

    sum->wall += now.wall - at->wall;
    sum->cpu += now.cpu - at->cpu;
    *at = now;
}

/* Ward's time grows nearly with the square, that of joinspot so far as its tree has all rows. */
static double search_seconds(const spot_bdm_config *cfg, double n)
{
    const double rows = cfg->method == SPOT_JOINSPOT ? fmin(n, SPOT_FINE_SAMPLE) : n;

    return 1e-5 * n + 8e-9 * rows * rows + 2e-5;
}

spot_status planted_find(spot_ctx *c, spot_arena *a, int problems, spot_hypotheses *out, const spot_view *views,
                         const spot_points *points, const spot_seed *seeds, const spot_bdm_config *cfg)
{
    (void)a, (void)problems, (void)points, (void)seeds;
    advance(search_seconds(cfg, views->n), c->threads == 1 ? 1 : SHARED);
    out->len = 10;
    return SPOT_OK;
}

spot_status planted_nearest(spot_ctx *c, spot_arena *a, int *nearest, spot_some_rows x, spot_some_rows y, int d, int k)
{
    (void)c, (void)a, (void)nearest, (void)d, (void)k;
    advance(PAIR * x.n * y.n, THREADS);
    return SPOT_OK;
}

spot_status planted_map(spot_ctx *c, spot_arena *work, float *map, const int *row, const spot_view *view, const spot_seed *seed)
{
    (void)c, (void)work, (void)map, (void)row, (void)view, (void)seed;
    advance(A_MAP, 1);
    return SPOT_OK;
}

spot_status planted_proof(spot_ctx *c, spot_proof_times *t, const spot_subject *s, const spot_discover_options *o,
                          const spot_chosen *k, const int slices[2])
{
    spot_spent now = planted_now();

    (void)c, (void)s, (void)o, (void)k;
    assert_int_equal(slices[0], 20);
    *t = (spot_proof_times){ .times = clock_now.draws / DRAWS };
    advance(OPEN, 1);
    planted_spend(&t->open, &now);
    advance(DRAWS, THREADS);
    planted_spend(&t->draws, &now);
    return SPOT_OK;
}

/* Seconds by the clock that the planted parts take, where no other program runs. */
static double true_seconds(const spot_discover_options *o, int classes, int each)
{
    const double n = (double)classes * each, half = fmin(n / 2, SPOT_FINDERS);
    double seconds = (PAIR * (classes * (double)each * each + 2 * half * (n / 2 + half)) + clock_now.draws) / THREADS;

    for (int b = 0; b < o->bdms; b++)
        seconds += 2 * (classes * search_seconds(&o->bdm[b], each / 2) / THREADS + search_seconds(&o->bdm[b], half) / SHARED);
    return seconds + 2 * (classes + 1) * A_MAP + (classes / SPOT_CLASSES_AT_ONCE + 2) * OPEN;
}

/* The time that is said over the true one, with `draws` seconds of the proof's draws; share: of the machine. */
static double ratio_of(int classes, int each, double draws, bool beside)
{
    const int n = classes * each;
    spot_ctx c = check_ctx(THREADS);
    spot_proof_options proof = spot_proof_defaults();
    spot_discover_options o = spot_discover_defaults();
    spot_subject s = { .n = n, .d = COLUMNS, .classes = classes, .source = "a test" };
    spot_bytes bytes;
    static char *name[1000];
    double seconds, truth;

    for (int k = 0; k < classes; k++) name[k] = "a class";
    s.class_name = name;
    s.feature = malloc((size_t)n * COLUMNS * sizeof *s.feature);
    s.confidence = malloc((size_t)n * sizeof *s.confidence);
    s.target = malloc((size_t)n * sizeof *s.target);
    s.predicted = malloc((size_t)n * sizeof *s.predicted);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < COLUMNS; j++) s.feature[i * COLUMNS + j] = (float)((i * 7919 + j * 104729) % 1009);
        s.target[i] = i % classes;
        s.predicted[i] = (s.target[i] + (i / classes % 5 == 0)) % classes;
        s.confidence[i] = s.target[i] == s.predicted[i] ? 0.9f : 0.2f;
    }
    memset(&clock_now, 0, sizeof clock_now);
    clock_now.beside = beside;
    clock_now.draws = draws;
    o.proof = &proof;
    o.least = 1;
    CHECK_OK(&c, spot_discover_run_cost(&c, &s, &o, &bytes, &seconds));
    truth = true_seconds(&o, classes, each) * (beside ? 2 : 1);
    print_message("%d classes of %d rows%s: said %.2f s, true %.2f s, tried for %.2f s\n", classes, each,
                  beside ? ", beside others" : "", seconds, truth, clock_now.cpu);
    assert_true(clock_now.cpu < 0.15 * true_seconds(&o, classes, each) * THREADS + 0.1);
    free(s.feature), free(s.confidence), free(s.target), free(s.predicted);
    return seconds / truth;
}

TEST(the_stated_time_is_that_of_all_parts)
{
    CHECK_NEAR(ratio_of(10, 100, 0.02, false), 1, 0.25);
    CHECK_NEAR(ratio_of(10, 1000, 0.2, false), 1, 0.25);
    CHECK_NEAR(ratio_of(10, 10000, 30, false), 1, 0.25);
    CHECK_NEAR(ratio_of(1000, 30, 1, false), 1, 0.25);
    CHECK_NEAR(ratio_of(2, 40000, 2, false), 1, 0.25);
}

/* Other programs take half of the machine, in turns of many times what a trial takes. */
TEST(other_programs_delay_the_stated_time_as_they_delay_the_run)
{
    CHECK_NEAR(log(ratio_of(10, 1000, 0.2, true)), 0, log(1.5));
    CHECK_NEAR(log(ratio_of(10, 10000, 30, true)), 0, log(1.5));
    CHECK_NEAR(log(ratio_of(1000, 30, 1, true)), 0, log(1.5));
}
