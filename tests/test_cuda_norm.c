/* test_cuda_norm.c - batch norm's sums over more than 1,048,576 places on CUDA, against sums in double. Only then does a thread
 * own more than 64 places of a tile (kernels/net/norm_sums.cuh) and add its fp32 sums to those in fp64 before its end. */
#define _GNU_SOURCE   /* setenv */
#include <math.h>

#include "check_cuda.h"
#include "net/norm.h"

enum { ROWS = 2, SIDE = 750, CHANNELS = 16, PLACES = ROWS * SIDE * SIDE };
enum { Y, Y2, DA, OUT };
enum { WEIGHT, BIAS, RUNNING_MEAN, RUNNING_VAR, MEAN, INVSTD, SCALE, SHIFT, DWEIGHT, DBIAS, PARTS };

/* Numbers that bf16 holds: y in [-1.5, 2.4], y2 in [0.2, 2.2], gradients in [0, 3.9]. y is large where out is above 0, so that
 * the sums of gradient times y have no terms that cancel. */
static float value(int which, size_t i)
{
    unsigned h = ((unsigned)i + (which == DA) * 0x9e3779b9u) * 2654435761u;
    float y;

    h = ((h ^ h >> 15) * 2246822519u) >> 26;
    y = ((int)h - 24) / 16.0f;
    return which == Y ? y : which == Y2 ? 1 + y / 2 : which == DA ? h / 16.0f : y > 0.5f;
}

/* The place in y's plane of the number that gradient i belongs to; for the pool the centre of the window. */
static size_t place_of(size_t i, bool pooled)
{
    size_t place = i / CHANNELS, side = SIDE, line = place / side;

    if (!pooled) return i;
    return ((2 * line) * 2 * side + 2 * (place % side)) * CHANNELS + i % CHANNELS;
}

/* centres: the numbers at the centres of windows. */
static void *tensor(spot_ctx *c, int which, size_t count, spot_precision precision, bool centres)
{
    size_t bytes = spot_precision_bytes(precision);
    char *host = malloc(count * bytes);
    void *device;

    for (size_t i = 0; i < count; i++) {
        float v = value(which, place_of(i, centres));
        memcpy(host + i * bytes, (char *)&v + 4 - bytes, bytes);       /* the upper half: little-endian */
    }
    device = to_device(c, host, count * bytes);
    free(host);
    return device;
}

/* A layer of weight 1; its arrays in one piece of the device's memory, and a copy of them. */
typedef struct { spot_norm l; float *device, host[PARTS][CHANNELS]; } layer;

static void open_layer(spot_ctx *c, layer *b)
{
    float *p;

    memset(b, 0, sizeof *b);
    for (int ch = 0; ch < CHANNELS; ch++) b->host[WEIGHT][ch] = b->host[RUNNING_VAR][ch] = 1;
    b->device = p = to_device(c, b->host, sizeof b->host);
#define PART(k) (p + (k) * CHANNELS)
    b->l = (spot_norm){ PART(WEIGHT), PART(BIAS), PART(RUNNING_MEAN), PART(RUNNING_VAR), PART(MEAN), PART(INVSTD), PART(SCALE),
                        PART(SHIFT), PART(DWEIGHT), PART(DBIAS) };
#undef PART
}

static void fetch_layer(spot_ctx *c, layer *b) { CHECK_OK(c, spot_device_copy(c, b->host, b->device, sizeof b->host)); }

static void expect(const char *what, int ch, double got, double want)
{
    if (!(fabs(got - want) <= 1e-6 * fabs(want))) fail_msg("%s of channel %d: %.9g, wanted %.9g", what, ch, got, want);
}

/* Statistics of y or y2. */
static void check_stats(spot_ctx *c, layer *b, int which, const void *y, spot_plane p, void *scratch)
{
    CHECK_OK(c, spot_norm_stats(c, &b->l, y, p, scratch));
    fetch_layer(c, b);
    for (int ch = 0; ch < CHANNELS; ch++) {
        double sum = 0, squares = 0;
        for (size_t i = (size_t)ch; i < (size_t)PLACES * CHANNELS; i += CHANNELS) {
            double v = value(which, i);
            sum += v;
            squares += v * v;
        }
        sum /= PLACES;
        expect("mean", ch, b->host[MEAN][ch], sum);
        expect("1/deviation", ch, b->host[INVSTD][ch], 1 / sqrt(squares / PLACES - sum * sum + 1e-5));
    }
}

/* The gradients by weight and bias. With `out` a number counts where out is above 0, else where bn(y) is. */
static void check_sums(spot_ctx *c, layer *b, int which, bool out, bool pooled)
{
    fetch_layer(c, b);
    for (int ch = 0; ch < CHANNELS; ch++) {
        double dz = 0, dz_y = 0;
        for (size_t i = (size_t)ch; i < (size_t)PLACES * CHANNELS; i += CHANNELS) {
            float y = value(which, place_of(i, pooled));
            bool in = out ? value(OUT, place_of(i, pooled)) > 0 : y * b->host[SCALE][ch] + b->host[SHIFT][ch] > 0;
            dz += in ? value(DA, i) : 0;
            dz_y += in ? (double)value(DA, i) * (y - b->host[MEAN][ch]) : 0;
        }
        expect("gradient by bias", ch, b->host[DBIAS][ch], dz);
        expect("gradient by weight", ch, b->host[DWEIGHT][ch], dz_y * b->host[INVSTD][ch]);
    }
}

typedef struct { spot_ctx c; layer a, b; void *da, *out, *scratch; spot_plane p; } bed;

static void open_bed(bed *t, spot_precision precision, bool pooled)
{
    open_cuda(&t->c, 0);
    open_layer(&t->c, &t->a), open_layer(&t->c, &t->b);
    t->p = (spot_plane){ ROWS, ROWS, CHANNELS, SIDE, precision };
    t->da = tensor(&t->c, DA, (size_t)PLACES * CHANNELS, precision, false);
    t->out = tensor(&t->c, OUT, (size_t)PLACES * CHANNELS, precision, pooled);
    t->scratch = to_device(&t->c, NULL, spot_norm_scratch(t->p));
}

static void close_bed(bed *t)
{
    spot_device_give(&t->c, t->da), spot_device_give(&t->c, t->out), spot_device_give(&t->c, t->scratch);
    spot_device_give(&t->c, t->a.device), spot_device_give(&t->c, t->b.device);
    spot_device_close(&t->c);
}

/* Within a block, behind a block, and behind a block whose shortcut has its own batch norm. */
static void sums_of_many_places(spot_precision precision)
{
    const size_t count = (size_t)PLACES * CHANNELS;
    bed t;

    open_bed(&t, precision, false);
    for (int kind = 0; kind < 3; kind++) {
        void *y = tensor(&t.c, Y, count, precision, false);
        void *y2 = kind == 2 ? tensor(&t.c, Y2, count, precision, false) : NULL;
        spot_norm_back back = { .da = t.da, .out = kind ? t.out : NULL, .dz = kind ? t.da : NULL, .y = y, .y2 = y2,
                                .a = &t.a.l, .b = y2 ? &t.b.l : NULL };
        check_stats(&t.c, &t.a, Y, y, t.p, t.scratch);
        if (y2) check_stats(&t.c, &t.b, Y2, y2, t.p, t.scratch);
        CHECK_OK(&t.c, spot_norm_backward(&t.c, &back, t.p, t.scratch));
        check_sums(&t.c, &t.a, Y, kind, false);
        if (y2) check_sums(&t.c, &t.b, Y2, kind, false);
        spot_device_give(&t.c, y), spot_device_give(&t.c, y2);
    }
    close_bed(&t);
}

/* Sanitizers and the race detector see the same loops over fewer places in other tests. */
TEST(fp32_sums_of_a_million_places)
{
    if (is_slow()) skip();
    sums_of_many_places(SPOT_FP32);
}

TEST(bf16_sums_of_a_million_places)
{
    if (is_slow()) skip();
    sums_of_many_places(SPOT_BF16);
}

/* Windows are the places of the pool's sums. The largest pixel of each is its centre. */
TEST(sums_of_a_million_windows)
{
    const size_t count = (size_t)PLACES * CHANNELS;
    unsigned char *centres;
    void *at, *y;
    spot_plane p;
    bed t;
    if (is_slow()) skip();
    open_bed(&t, SPOT_BF16, true);
    p = t.p;
    p.size *= 2;
    spot_device_give(&t.c, t.scratch);
    t.scratch = to_device(&t.c, NULL, spot_norm_scratch(p));
    centres = malloc(count);
    memset(centres, 4, count);
    at = to_device(&t.c, centres, count);
    free(centres);
    y = tensor(&t.c, Y, 4 * count, SPOT_BF16, false);
    CHECK_OK(&t.c, spot_norm_stats(&t.c, &t.a.l, y, p, t.scratch));
    CHECK_OK(&t.c, spot_norm_pool_back(&t.c, &(spot_norm_pooled){ y, t.da, NULL, t.out, at }, &t.a.l, p, t.scratch));
    check_sums(&t.c, &t.a, Y, true, true);
    spot_device_give(&t.c, y), spot_device_give(&t.c, at);
    close_bed(&t);
}

/* -- folding ------------------------------------------------------------------------------------------------------ */

enum { CO = 19, EACH = 27 * 11, FOLD_SIZE = 2 * CO };

typedef struct { float w[CO * EACH], norm[4][CO], folded[CO * EACH], shift[CO]; double size[FOLD_SIZE]; } fold_case;

static spot_norm_folding folding_of(fold_case *f)
{
    return (spot_norm_folding){ f->w, f->norm[0], f->norm[1], f->norm[2], f->norm[3], f->folded, f->shift, f->size, CO, EACH };
}

/* A channel whose variance is 0 and one whose weights are not finite are among them. */
TEST(a_folded_norm_has_the_cpus_bits)
{
    static fold_case want, got;
    spot_ctx cpu = check_ctx(1), c;

    for (size_t i = 0; i < CO * EACH; i++) want.w[i] = value(Y, i) / 3;
    for (size_t i = 0; i < 4 * CO; i++) want.norm[i / CO][i % CO] = 0.1f + fabsf(value(Y2, i)) / 7;
    want.norm[3][2] = 0;
    want.w[5 * EACH + 3] = INFINITY;
    got = want;
    const spot_norm_folding on_cpu = folding_of(&want);
    CHECK_OK(&cpu, spot_norm_fold(&cpu, &on_cpu));
    assert_true(want.size[2 * 5] == INFINITY && want.size[1] == fabsf(want.shift[0]));
    for (int s = 0; s < LEN(schedules); s = schedule_after(s, 1)) {
        fold_case *there;
        open_cuda(&c, s);
        there = to_device(&c, &got, sizeof got);
        const spot_norm_folding f = folding_of(there);
        CHECK_OK(&c, spot_norm_fold(&c, &f));
        CHECK_OK(&c, spot_device_copy(&c, &got, there, sizeof got));
        spot_device_give(&c, there);
        spot_device_close(&c);
        assert_memory_equal(got.folded, want.folded, sizeof want.folded);
        assert_memory_equal(got.shift, want.shift, sizeof want.shift);
        for (int i = 0; i < FOLD_SIZE; i++) if (i != 2 * 5) CHECK_NEAR(got.size[i], want.size[i], 1e-12 * want.size[i]);
        assert_true(got.size[2 * 5] == INFINITY);
    }
}

int main(void) { return run_cuda_tests(); }
