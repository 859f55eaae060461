/* test_cuda_scvis.c - kernels/map/scvis: a batch's loss and gradient, whole trainings of a few steps, failures. ctest: long */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "blobs.h"
#include "map/scvis.h"

/* The emulator has the CPU's bits, but for the order of the fp64 sums; a GPU, which has not been seen to, has a tolerance. */
static double slack(double of_gpu, double of_emulator) { return getenv("SPOT_EMULATOR") ? of_emulator : of_gpu; }

static spot_scvis_config config(int compat)
{
    spot_scvis_config cfg = spot_embed_defaults().scvis;

    if (!compat) memset(&cfg.compat, 0, sizeof cfg.compat);
    cfg.batch = 64;
    return cfg;
}

/* -- loss and gradient of a batch --------------------------------------------------------------------------------------- */

/* rows, features, dimensions, step, switches: edges of tiles, one feature, more features than a block has threads, an odd and
 * a large map; the step and the switches choose the factors of the loss. */
static const int batch_sizes[][SPOT_OP_SIZES] = {
    { 65, 16, 2, 3, 1 }, { 33, 9, 3, 20, 0 }, { 130, 40, 2, 50, 1 }, { 4, 1, 1, 1, 1 }, { 31, 257, 5, 300, 1 },
};

typedef struct {
    spot_scvis_batch batch;
    spot_scvis_config cfg;
    float *gradient;
    double loss, norm;
} batch_problem;

static float *batch_params(spot_rng *r, int d, int dim)
{
    size_t size = spot_scvis_params(d, dim);
    float *p = malloc(size * sizeof *p);

    for (size_t e = 0; e < size; e++) p[e] = 0.2f * (float)spot_rng_normal(r);
    for (size_t e = size - (size_t)d; e < size; e++) p[e] = (float)(12 * spot_rng_uniform(r));       /* some are clipped */
    return p;
}

/* The largest numbers of these gradients are 2.7 to 414. */
static void make_batch(spot_op_run *r, void *problem, const int *size)
{
    batch_problem *p = problem;
    int n = size[0], d = size[1], dim = size[2];
    spot_rng rng = spot_rng_at(4, SPOT_RNG_INIT, 0, (uint32_t)r->number);
    size_t params = spot_scvis_params(d, dim);
    float *keep = malloc(32 * (size_t)dim * sizeof *keep);

    for (int e = 0; e < 32 * dim; e++) keep[e] = e % 10 != 3;
    p->cfg = config(size[4]);
    p->batch = (spot_scvis_batch){ .rows = n, .d = d, .dim = dim, .step = size[3] };
    p->batch.params = spot_op_given(r, batch_params(&rng, d, dim), params * sizeof(float));
    p->batch.x = spot_op_noise(r, 2 * r->number, (size_t)n * d);
    p->batch.noise = spot_op_noise(r, 2 * r->number + 1, (size_t)n * dim);
    p->batch.keep = spot_op_given(r, keep, 32 * (size_t)dim * sizeof *keep);
    p->gradient = spot_op_each(r, "gradient", NULL, SPOT_OP_FLOAT, params, slack(1e-4, 0), 0.02);
    spot_op_told(r, "loss", &p->loss, SPOT_OP_DOUBLE, 1, slack(1e-6, 1e-12));
    spot_op_told(r, "norm", &p->norm, SPOT_OP_DOUBLE, 1, slack(1e-6, 1e-12));
}

static spot_status run_batch(spot_op_run *r, void *problems, int count)
{
    batch_problem *p = problems;
    spot_arena *a;

    SPOT_TRY(spot_op_scratch(r, &a, 64 << 20));
    for (int q = 0; q < count; q++)
        SPOT_OP(r, spot_scvis_gradient(r->c, a, &p[q].batch, &p[q].cfg, p[q].gradient, &p[q].loss, &p[q].norm));
    return SPOT_OK;
}

static spot_status check_batch(spot_op_run *r, void *problem)
{
    const batch_problem *p = problem;
    size_t params = spot_scvis_params(p->batch.d, p->batch.dim);
    float *g = malloc(params * sizeof *g);
    double squares = 0;

    SPOT_TRY(spot_op_fetch(r, g, p->gradient, params * sizeof *g));
    for (size_t e = 0; e < params; e++) squares += (double)g[e] * g[e];
    CHECK_NEAR(p->norm, sqrt(squares), 1e-6 * p->norm);
    free(g);
    return SPOT_OK;
}

static const spot_op gradient = { "scvis_gradient", sizeof(batch_problem), make_batch, run_batch, check_batch, true };

/* -- whole trainings ---------------------------------------------------------------------------------------------------- */

/* rows, features, dimensions, EC, switches (1: all; 2 + i: the i-th alone), steps. A call takes
 * neighbours of equal settings. In the second training without switches the
 * fifth batch is the tail of 44 rows. */
static const int training_sizes[][SPOT_OP_SIZES] = {
    { 65, 16, 2, 0, 1, 5 }, { 300, 20, 2, 1, 1, 5 }, { 5, 3, 2, 2, 1, 5 }, { 33, 7, 3, 3, 0, 6 }, { 300, 20, 2, 4, 0, 6 },
};

/* A training that is over waits for the others. */
static const int unequal_sizes[][SPOT_OP_SIZES] = { { 40, 5, 2, 10, 1, 3 }, { 33, 6, 2, 11, 1, 5 }, { 70, 4, 2, 12, 1, 2 } };

/* One switch at a time; and so long a training that the host looks at step 50, too. */
static const int switch_sizes[][SPOT_OP_SIZES] = {
    { 70, 5, 2, 8, 2, 3 }, { 70, 5, 2, 8, 3, 3 }, { 70, 5, 2, 8, 4, 3 }, { 70, 5, 2, 8, 5, 3 }, { 70, 5, 2, 8, 6, 3 },
    { 70, 5, 2, 8, 7, 3 }, { 70, 5, 2, 8, 8, 3 }, { 70, 5, 2, 8, 9, 3 }, { 16, 2, 2, 13, 1, 52 },
};

/* Too many rows to keep all distances: those of a batch are computed as it comes. In EC 38's first shuffle one word is not
 * fair to its n and is drawn again, which happens in one of 250 such shuffles. */
static const int many_sizes[][SPOT_OP_SIZES] = { { 8200, 3, 2, 38, 1, 2 }, { 50, 4, 2, 39, 1, 2 }, { 8300, 3, 2, 40, 1, 2 } };

enum { SWITCHES = sizeof ((spot_scvis_config *)0)->compat / sizeof(int) };
_Static_assert(LEN(switch_sizes) == SWITCHES + 1, "each switch has a training");

typedef struct { spot_scvis_problem training; spot_scvis_config cfg; int steps; } training_problem;

static void make_training(spot_op_run *r, void *problem, const int *size)
{
    training_problem *p = problem;
    size_t map = (size_t)size[0] * size[2];

    p->cfg = config(size[4] == 1);
    if (size[4] > 1) ((int *)&p->cfg.compat)[size[4] - 2] = 1;
    p->steps = size[5];
    p->training = (spot_scvis_problem){ .n = size[0], .d = size[1], .dim = size[2], .seed = 7, .ec = (uint32_t)size[3] };
    p->training.x = spot_op_given(r, blobs(size[0], size[1], 4, (uint64_t)size[3]).feature,
                                  (size_t)size[0] * size[1] * sizeof(float));
    p->training.map = spot_op_out(r, "map", SPOT_OP_FLOAT, map, slack(1e-3, 0));         /* steps amplify rounding */
    spot_op_told(r, "loss", &p->training.loss, SPOT_OP_DOUBLE, 1, slack(1e-4, 1e-12));
    spot_op_told(r, "iterations", &p->training.iterations, SPOT_OP_INT, 1, 0);
}

/* Trainings of equal settings; where their steps differ, by the device's own function, because a config has one number. */
static spot_status train(spot_op_run *r, training_problem *p, int count)
{
    spot_scvis_problem *s = (void *)SPOT_OP_ALL(r, p, training, count);
    spot_scvis_config cfg = count ? p->cfg : config(1);
    spot_arena counting = spot_arena_counting(), *a;
    bool differ = false;

    cfg.iterations = count ? p->steps : 1;
    SPOT_TRY(spot_scvis_fit(r->c, &counting, count, s, &cfg));
    SPOT_TRY(spot_op_scratch(r, &a, counting.peak));
    for (int q = 0; q < count; q++) differ |= s[q].iterations != p[q].steps;
    for (int q = 0; q < count; q++) s[q].iterations = p[q].steps;
    if (differ) SPOT_OP(r, r->c->ops->scvis->fit(r->c, a, count, s, &cfg));
    else        SPOT_OP(r, spot_scvis_fit(r->c, a, count, s, &cfg));
    for (int q = 0; q < count; q++) p[q].training.loss = s[q].loss, p[q].training.iterations = s[q].iterations;
    return SPOT_OK;
}

static spot_status run_trainings(spot_op_run *r, void *problems, int count)
{
    training_problem *p = problems;
    int equal;

    if (!count) return train(r, p, 0);
    for (int first = 0; first < count; first += equal) {
        for (equal = 1; first + equal < count; equal++)
            if (memcmp(&p[first].cfg, &p[first + equal].cfg, sizeof p->cfg)) break;
        SPOT_TRY(train(r, p + first, equal));
    }
    return SPOT_OK;
}

static spot_status check_training(spot_op_run *r, void *problem)
{
    const training_problem *p = problem;

    (void)r;
    assert_int_equal(p->training.iterations, p->steps);
    return SPOT_OK;
}

#define TRAINING(name) { name, sizeof(training_problem), make_training, run_trainings, check_training, true }
static const spot_op training = TRAINING("scvis"), unequal = TRAINING("scvis_of_unequal_length");
static const spot_op switches = TRAINING("scvis_of_each_switch"), many = TRAINING("scvis_of_many_rows");

static op_row rows[] = {
    OP_ROW(gradient, batch_sizes, .step = 1),
    OP_ROW(training, training_sizes, .step = 1, .alone_step = SANITIZED ? -1 : 0),
    OP_ROW(unequal, unequal_sizes, .step = 2, .alone_step = SANITIZED ? -1 : 0),
    OP_ROW(switches, switch_sizes, .step = LEN(schedules), .alone_step = -1),
    OP_ROW(many, many_sizes, .step = LEN(schedules), .alone_step = SANITIZED ? -1 : 0),
};

/* -- messages ----------------------------------------------------------------------------------------------------------- */

static int told;

static void count_progress(void *user, const spot_progress *p)
{
    (void)user;
    assert_string_equal(p->stage, "scvis");
    assert_int_equal(p->ec, 13);
    assert_true(p->done == (told ? 52 : 50) && p->total == 52);
    told++;
}

TEST_ON_CUDA(progress_is_told)
{
    const op_row row = { .op = &switches, .size = &switch_sizes[SWITCHES], .sizes = 1 };
    spot_op_run *r;
    spot_ctx c;

    open_cuda(&c, 0);
    c.on_progress = count_progress;
    r = run_row(&c, &row, false);
    assert_int_equal(told, 2);
    spot_op_close(r);
    spot_device_close(&c);
}

TEST_ON_CUDA(failures_are_told)
{
    static const int size[][SPOT_OP_SIZES] = { { 40, 5, 2, 6, 1, 3 } };
    const op_row row = { .op = &training, .size = size, .sizes = 1 };
    volatile sig_atomic_t stop = 1;
    training_problem *p;
    spot_op_run *r;
    spot_ctx c;

    open_cuda(&c, 2);
    r = open_run(&c, &row, false);
    p = r->problem;
    p->cfg.lr = 1e30;
    CHECK_FAILS(&c, run_trainings(r, p, 1), SPOT_NUMERIC, "scvis.diverged: EC 6 | iteration 2");
    p->cfg.lr = 0.01;
    c.stop = &stop;
    CHECK_FAILS(&c, run_trainings(r, p, 1), SPOT_STOPPED, "run.stopped");
    assert_int_equal(r->scratch.used, 0);
    c.stop = NULL;
    spot_op_close(r);
    spot_device_close(&c);
}

int main(void) { return run_ops(rows, LEN(rows)); }
