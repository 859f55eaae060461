/* test_cuda_net.c - the network's ops on CUDA against the CPU's: optimizer, head, batch norm. In fp32 within what the
 * headers promise. In bf16 the CPU gets the rounded inputs, and what CUDA writes as bf16 may be off by one last place,
 * 2^-8: half of one from its own rounding, half from a sum whose last bits differ. */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda_net.h"
#include "check_norm.h"

#include "net/head.h"
#include "net/optim.h"

static const spot_precision precisions[] = { SPOT_FP32, SPOT_BF16 };
#define LAST_PLACE 0x1p-8

/* -- optimizer ----------------------------------------------------------------------------------------------------- */

enum { STEPS = 4 };
static const size_t counts[] = { 1, 31, 33, 255, 257, 4099 };
static const spot_optim_rule rules[] = {
    { .adam = 1, .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 1e-2 },
    { .lr = 1e-2, .momentum = 0.9, .decay = 1e-3 },
};

/* How a step learns what it must know: from the host, from a course in the device's memory, or so and recorded once. */
typedef enum { TOLD, COURSE, REPLAYED } manner;

static spot_optim_course open_course(spot_ctx *c, const double rates[STEPS])
{
    static const double loss = 0.5;
    static const int none;
    static const uint32_t seen = 7;

    return (spot_optim_course){ .rates = to_device(c, rates, STEPS * sizeof *rates), .loss = to_device(c, &loss, sizeof loss),
                                .losses = to_device(c, NULL, STEPS * sizeof loss), .made = to_device(c, &none, sizeof none),
                                .seen = to_device(c, &seen, sizeof seen), .batch = 3 };
}

static void close_course(spot_ctx *c, spot_optim_course *o)
{
    double losses[STEPS];
    uint32_t seen;
    int made;

    download(c, losses, o->losses, sizeof losses);
    download(c, &made, o->made, sizeof made);
    download(c, &seen, o->seen, sizeof seen);
    for (int i = 0; i < STEPS; i++) assert_true(losses[i] == 0.5);
    assert_int_equal(made, STEPS);
    assert_int_equal(seen, 7 + 3 * STEPS);
    spot_device_give(c, (void *)o->rates);
    spot_device_give(c, (void *)o->loss);
}

/* STEPS steps on c, from random numbers into p, m, v. */
static void train(spot_ctx *c, const spot_optim_rule *rule, size_t n, float *v[3], uint16_t *rounded, manner how)
{
    spot_optim_course course;
    void *graph = NULL;
    double rates[STEPS] = { rule->lr, rule->lr / 2, 0, rule->lr * 2 };
    float *g = random_tensor(n, 3), *gd = to_device(c, g, 4 * n), *d[3];
    spot_optim_rule r = *rule;

    for (int k = 0; k < 3; k++) {
        float *start = k < 2 ? random_tensor(n, (uint32_t)k) : calloc(n, 4);
        d[k] = to_device(c, start, 4 * n);
        free(start);
    }
    if (how) course = open_course(c, rates), r.course = &course;
    if (rounded) r.rounded = to_device(c, NULL, 2 * n);
    if (how == REPLAYED) {
        CHECK_OK(c, spot_device_record(c));
        CHECK_OK(c, spot_optim_step(c, d[0], gd, d[1], d[2], n, &r));
        CHECK_OK(c, spot_device_recorded(c, &graph));
    }
    for (r.t = 1; r.t <= STEPS; r.t++) {
        r.lr = rates[r.t - 1];
        if (graph) CHECK_OK(c, spot_device_replay(c, graph));
        else       CHECK_OK(c, spot_optim_step(c, d[0], gd, d[1], d[2], n, &r));
    }
    spot_device_forget(c, graph);
    for (int k = 0; k < 3; k++) download(c, v[k], d[k], 4 * n);
    if (rounded) download(c, rounded, r.rounded, 2 * n);
    if (how) close_course(c, &course);
    spot_device_give(c, gd);
    free(g);
}

TEST(optimizer_bits_agree)
{
    spot_ctx cpu = check_ctx(2);
    for (int k = 0; k < LEN(rules); k++)
        for (int j = 0; j < LEN(counts); j++) {
            size_t n = counts[j];
            float *want[3], *got[3];
            uint16_t *rounded = malloc(2 * n);
            for (int i = 0; i < 3; i++) want[i] = malloc(4 * n), got[i] = malloc(4 * n);
            train(&cpu, &rules[k], n, want, NULL, TOLD);
            train(&cpu, &rules[k], n, got, NULL, COURSE);
            for (int i = 0; i < 3; i++) assert_memory_equal(got[i], want[i], 4 * n);
            for (int s = 0; s < LEN(schedules); s++) {
                spot_ctx c;
                open_cuda(&c, s);
                train(&c, &rules[k], n, got, rounded, TOLD);
                for (int i = 0; i < 3; i++) assert_memory_equal(got[i], want[i], 4 * n);
                for (size_t i = 0; i < n; i++) {
                    float upper = bf16(want[0][i]);
                    assert_memory_equal(&rounded[i], (char *)&upper + 2, 2);
                }
                for (manner how = COURSE; how <= REPLAYED; how++) {
                    train(&c, &rules[k], n, got, rounded, how);    /* pow() of a GPU may round otherwise */
                    for (int i = 0; i < 3; i++) CHECK_NEAR(apart(got[i], want[i], n), 0, 1e-6);
                }
                spot_device_close(&c);
            }
            for (int i = 0; i < 3; i++) free(want[i]), free(got[i]);
            free(rounded);
        }
}

/* -- head ---------------------------------------------------------------------------------------------------------- */

static const struct { spot_plane p; int outputs; } heads[] = {
    { { 5, 4, 32, 7, SPOT_FP32 }, 1 }, { { 1, 1, 16, 1, SPOT_FP32 }, 3 }, { { 33, 31, 48, 2, SPOT_FP32 }, 2 },
    { { 3, 3, 272, 3, SPOT_FP32 }, 20 },
};

/* What the head leaves, in one piece: feature, logit, loss, dlogit, dw, db, dx. */
typedef struct { float *feature, *logit, *dlogit, *dw, *db, *dx; double loss; } answers;

static answers room_for(spot_plane p, int outputs)
{
    return (answers){ room(4 * (size_t)p.live * p.channels), room(4 * (size_t)p.live * outputs),
                      room(4 * (size_t)p.live * outputs), room(4 * (size_t)outputs * p.channels), room(4 * (size_t)outputs),
                      room(4 * numbers(p)), 0 };
}

static void forget(answers *a)
{
    free(a->feature), free(a->logit), free(a->dlogit), free(a->dw), free(a->db), free(a->dx);
}

/* On the CPU the plane is fp32 and x is in its order; both contexts get the same numbers. */
static void run_head(spot_ctx *c, answers *a, const float *x, spot_plane p, int outputs)
{
    size_t nf = 4 * (size_t)p.live * p.channels, nz = 4 * (size_t)p.live * outputs, nw = 4 * (size_t)outputs * p.channels;
    float *w = random_tensor(nw / 4, 1), *b = random_tensor((size_t)outputs, 2), *t = random_tensor(nz / 4, 3);
    float *dev[8];
    double *loss = to_device(c, NULL, sizeof *loss);
    void *dx, *xd;

    for (size_t i = 0; i < nz / 4; i++) t[i] = t[i] > 0;
    dev[0] = to_device(c, w, nw), dev[1] = to_device(c, b, 4 * (size_t)outputs), dev[2] = to_device(c, t, nz);
    dev[3] = to_device(c, NULL, nf), dev[4] = to_device(c, NULL, nz), dev[5] = to_device(c, NULL, nz);
    dev[6] = to_device(c, NULL, nw), dev[7] = to_device(c, NULL, 4 * (size_t)outputs);
    xd = c->device ? upload_plane(c, x, p) : to_device(c, x, 4 * numbers(p));
    dx = to_device(c, NULL, spot_precision_bytes(p.precision) * numbers(p));
    CHECK_OK(c, spot_head_forward(c, dev[3], NULL, xd, NULL, NULL, p, outputs));       /* features alone */
    CHECK_OK(c, spot_head_forward(c, dev[3], dev[4], xd, dev[0], dev[1], p, outputs));
    CHECK_OK(c, spot_head_loss(c, loss, NULL, dev[4], dev[2], p.live * outputs));
    CHECK_OK(c, spot_head_loss(c, loss, dev[5], dev[4], dev[2], p.live * outputs));
    CHECK_OK(c, spot_head_backward(c, dx, dev[6], dev[7], dev[5], dev[3], dev[0], p, outputs));
    download(c, a->feature, dev[3], nf), download(c, a->logit, dev[4], nz), download(c, a->dlogit, dev[5], nz);
    download(c, a->dw, dev[6], nw), download(c, a->db, dev[7], 4 * (size_t)outputs);
    download(c, &a->loss, loss, sizeof *loss);
    if (c->device) download_plane(c, a->dx, dx, p);
    else           download(c, a->dx, dx, 4 * numbers(p));
    for (int i = 0; i < 3; i++) spot_device_give(c, dev[i]);
    spot_device_give(c, xd);
    free(w), free(b), free(t);
}

TEST(head_agrees)
{
    spot_ctx cpu = check_ctx(2);
    for (int k = 0; k < LEN(heads) * LEN(precisions); k++) {
        spot_plane p = heads[k / 2].p;
        int outputs = heads[k / 2].outputs;
        float *x = random_tensor(numbers(p), 0);
        answers want = room_for(p, outputs), got = room_for(p, outputs);
        void *first[7] = { 0 };
        round_all(x, numbers(p), precisions[k % 2]);
        for (size_t i = numbers(p) / p.rows * p.live; i < numbers(p); i++) x[i] = NAN;
        run_head(&cpu, &want, x, p, outputs);
        p.precision = precisions[k % 2];
        for (int s = 0; s < LEN(schedules); s++) {
            size_t nf = (size_t)p.live * p.channels, nz = (size_t)p.live * outputs, nw = (size_t)outputs * p.channels;
            spot_ctx c;
            open_cuda(&c, s);
            run_head(&c, &got, x, p, outputs);
            CHECK_NEAR(apart(got.feature, want.feature, nf), 0, 1e-6);
            CHECK_NEAR(apart(got.logit, want.logit, nz), 0, 1e-6);
            CHECK_NEAR(apart(got.dlogit, want.dlogit, nz), 0, 1e-6);
            CHECK_NEAR(apart(got.dw, want.dw, nw), 0, 1e-6);
            CHECK_NEAR(apart(got.db, want.db, (size_t)outputs), 0, 1e-6);
            CHECK_NEAR(apart(got.dx, want.dx, numbers(p)), 0, p.precision ? LAST_PLACE : 1e-6);
            CHECK_NEAR(got.loss / want.loss, 1, 1e-6);
            for (size_t i = numbers(p) / p.rows * p.live; i < numbers(p); i++) assert_true(got.dx[i] == 0);
            same_bits(&first[0], got.feature, 4 * nf, s, "feature");
            same_bits(&first[1], got.logit, 4 * nz, s, "logit");
            same_bits(&first[2], got.dlogit, 4 * nz, s, "dlogit");
            same_bits(&first[3], got.dw, 4 * nw, s, "dw");
            same_bits(&first[4], got.db, 4 * (size_t)outputs, s, "db");
            same_bits(&first[5], got.dx, 4 * numbers(p), s, "dx");
            same_bits(&first[6], &got.loss, sizeof got.loss, s, "loss");
            spot_device_close(&c);
        }
        forget(&want), forget(&got);
        free(x);
    }
}

/* -- batch norm ---------------------------------------------------------------------------------------------------- */

/* The CPU's variance is the one that is off: by 7e-6 in the worst of these channels, whose first pixel, around which it
 * is summed, lies four deviations from the mean. CUDA's, summed in shorter pieces, is within 1e-7 of double there. */
#define CPU_STATS 1e-5

/* Ragged: groups of channels that do not fill a block, places that do not fill a tile or a turn, padding. */
static const norm_case norms[] = {
    { ALONE,    { 5, 4,  32,  6, SPOT_FP32 }, false },
    { ALONE,    { 3, 3,  80, 18, SPOT_FP32 }, true  },     /* 972 places: four tiles */
    { IDENTITY, { 4, 3,  48,  7, SPOT_FP32 }, true  },
    { IDENTITY, { 6, 6,  16,  1, SPOT_FP32 }, false },     /* layer 4 of a 32 px image */
    { SHORTCUT, { 5, 3,  16,  6, SPOT_FP32 }, true  },
    { SHORTCUT, { 2, 2, 144, 17, SPOT_FP32 }, false },
    { POOLED,   { 4, 3,  32,  6, SPOT_FP32 }, true  },
    { POOLED,   { 2, 2,  16, 30, SPOT_FP32 }, false },
};

/* Numbers that the precision has. */
static bed make_rounded_bed(int k, spot_precision precision)
{
    bed b = make_bed(&norms[k], 1);

    round_all(b.y, numbers(b.p), precision), round_all(b.y2, numbers(b.p), precision);
    round_all(b.da, numbers(b.q), precision);
    if (b.db) round_all(b.db, numbers(b.q), precision);
    return b;
}

/* The host's bed through the device: its tensors go there and come back changed; dz takes the place of db. */
static void through_cuda(spot_ctx *c, bed *b)
{
    size_t channel = 4 * (size_t)b->p.channels, bytes = spot_precision_bytes(b->q.precision) * numbers(b->q);
    unsigned char *at = malloc(numbers(b->q));
    bed d = *b;

    d.y = upload_plane(c, b->y, b->p), d.y2 = upload_plane(c, b->y2, b->p), d.out = upload_plane(c, b->out, b->q);
    d.da = upload_plane(c, b->da, b->q), d.db = upload_plane(c, b->db, b->q), d.dz = upload_plane(c, b->dz, b->p);
    d.at = to_device(c, NULL, numbers(b->q)), d.scratch = to_device(c, NULL, spot_norm_scratch(b->p));
    for (int i = 0; i < 2 * PARTS; i++) {
        float **p = part(&d.l[i / PARTS], i % PARTS);
        *p = to_device(c, *p, channel);
    }
    forward(c, &d);
    download_plane(c, b->kept, to_device(c, d.out, bytes), b->q);
    backward(c, &d, d.db ? d.db : d.dz);
    download_plane(c, b->y, d.y, b->p), download_plane(c, b->y2, d.y2, b->p), download_plane(c, b->dz, d.dz, b->p);
    download_plane(c, b->db, d.db, b->q);
    download(c, at, d.at, numbers(b->q));
    FOR_PLANE(n, ch, i, b->q) b->at[place(n, ch, i, b->q.channels, b->q.size * b->q.size)] = at[place_cuda(n, ch, i, b->q)];
    for (int i = 0; i < 2 * PARTS; i++)
        download(c, *part(&b->l[i / PARTS], i % PARTS), *part(&d.l[i / PARTS], i % PARTS), channel);
    spot_device_give(c, d.out), spot_device_give(c, d.da), spot_device_give(c, d.scratch);
    free(at);
}

static void compare_norm(const bed *got, const bed *want, double tensor, int s, void *first[])
{
    size_t live = numbers(want->p) / want->p.rows * want->p.live, n = numbers(want->p), nq = numbers(want->q);
    size_t live_q = nq / want->q.rows * want->q.live;
    bool joins = want->kind == IDENTITY || want->kind == SHORTCUT;

    for (int i = 0; i < PARTS * (1 + (want->kind == SHORTCUT)); i++) {
        spot_norm g = got->l[i / PARTS], w = want->l[i / PARTS];
        double off = apart(*part(&g, i % PARTS), *part(&w, i % PARTS), (size_t)want->p.channels);
        CHECK_NEAR(off, 0, i % PARTS < 8 ? CPU_STATS : tensor);
    }
    CHECK_NEAR(apart(got->kept, want->kept, nq), 0, tensor);
    CHECK_NEAR(apart(got->y, want->y, n), 0, tensor);
    if (want->kind == SHORTCUT) CHECK_NEAR(apart(got->y2, want->y2, n), 0, tensor);
    if (joins) CHECK_NEAR(apart(want->db ? got->db : got->dz, want->db ? want->db : want->dz, n), 0, tensor);
    if (want->kind == POOLED) assert_memory_equal(got->at, want->at, live_q);
    for (size_t i = live; i < n; i++) assert_true(got->y[i] == 0);
    same_bits(&first[0], got->y, 4 * n, s, "y");
    same_bits(&first[1], got->kept, 4 * nq, s, "out");
    for (int i = 0; i < PARTS; i++)
        same_bits(&first[2 + i], *part((spot_norm *)&got->l[0], i), 4 * (size_t)want->p.channels, s, "numbers of the layer");
}

TEST(norm_agrees)
{
    spot_ctx cpu = check_ctx(2);
    for (int k = 0; k < LEN(norms) * LEN(precisions); k++) {
        spot_precision precision = precisions[k % 2];
        bed want = make_rounded_bed(k / 2, precision);
        void *first[2 + PARTS] = { 0 };
        forward(&cpu, &want);
        memcpy(want.kept, want.out, 4 * numbers(want.q));
        backward(&cpu, &want, want.db ? want.db : want.dz);
        for (int s = 0; s < LEN(schedules); s++) {
            bed got = make_rounded_bed(k / 2, precision);
            spot_ctx c;
            open_cuda(&c, s);
            got.p.precision = got.q.precision = precision;
            through_cuda(&c, &got);
            compare_norm(&got, &want, precision == SPOT_BF16 ? LAST_PLACE : CPU_STATS, s, first);
            clear_bed(&got);
            spot_device_close(&c);
        }
        clear_bed(&want);
    }
}

/* Small whole numbers, most windows with equals; a NaN; scale and shift from the running statistics. */
TEST(ties_nan_and_fixed_statistics)
{
    for (int k = 0; k < LEN(precisions); k++) {
        bed cpu = make_bed(&norms[6], 1), gpu = make_bed(&norms[6], 1);
        bed *both[] = { &cpu, &gpu };
        spot_ctx c = check_ctx(2);
        for (int j = 0; j < 2; j++) {
            bed *b = both[j], d = *b;
            size_t bytes;
            for (size_t i = 0; i < numbers(b->p); i++) b->y[i] = isnan(b->y[i]) ? NAN : (float)((int)(4 * b->y[i]) % 3 - 1);
            b->y[7] = NAN;
            for (int i = 0; i < b->p.channels; i++) b->l[0].running_var[i] = 4 + (float)i;
            if (!j) {
                CHECK_OK(&c, spot_norm_fixed(&c, &b->l[0], b->p.channels));
                CHECK_OK(&c, spot_norm_pool(&c, b->out, b->at, b->y, &b->l[0], b->p));
                continue;
            }
            open_cuda(&c, 3);
            b->p.precision = b->q.precision = d.p.precision = precisions[k];
            bytes = 4 * (size_t)b->p.channels;
            for (int i = 0; i < PARTS; i++) *part(&d.l[0], i) = to_device(&c, *part(&b->l[0], i), bytes);
            d.y = upload_plane(&c, b->y, b->p), d.out = upload_plane(&c, b->out, b->q);
            d.at = to_device(&c, NULL, numbers(b->q));
            CHECK_OK(&c, spot_norm_fixed(&c, &d.l[0], b->p.channels));
            CHECK_OK(&c, spot_norm_pool(&c, d.out, NULL, d.y, &d.l[0], d.p));
            CHECK_OK(&c, spot_norm_pool(&c, d.out, d.at, d.y, &d.l[0], d.p));
            for (int i = 0; i < PARTS; i++) download(&c, *part(&b->l[0], i), *part(&d.l[0], i), bytes);
            download_plane(&c, b->out, d.out, b->q);
            download(&c, b->at, d.at, numbers(b->q));
            spot_device_give(&c, d.y);
            spot_device_close(&c);
        }
        assert_memory_equal(gpu.l[0].scale, cpu.l[0].scale, 4 * (size_t)cpu.p.channels);
        assert_memory_equal(gpu.l[0].shift, cpu.l[0].shift, 4 * (size_t)cpu.p.channels);
        FOR_PLANE(n, ch, i, cpu.q) {
            size_t at = place(n, ch, i, cpu.q.channels, cpu.q.size * cpu.q.size);
            float v = precisions[k] == SPOT_BF16 ? bf16(cpu.out[at]) : cpu.out[at];
            if (n >= cpu.q.live) assert_true(gpu.out[at] == 0);
            else assert_int_equal(gpu.at[place_cuda(n, ch, i, cpu.q)], cpu.at[at]);
            assert_true(isnan(v) ? isnan(gpu.out[at]) : gpu.out[at] == v);
        }
        clear_bed(&cpu), clear_bed(&gpu);
    }
}

int main(void) { return run_cuda_tests(); }
