/* test_bf16_bounds.c - convolutions and products in bf16 on the CPU stay inside their arrays: those that oneDNN makes with a
 * plan, and those of every pass. ctest: heavy */
#define _DEFAULT_SOURCE   /* MAP_ANONYMOUS */
#include "check_bf16_conv.h"

#include <stdlib.h>

#include <oneapi/dnnl/dnnl.h>

#include "models/network.h"
#include "net/linear.h"

/* -- memory of oneDNN ---------------------------------------------------------------------------------------------
 *
 * C++'s new and delete, which oneDNN calls, as C sees their names. While `fencing` each piece of memory ends before a page that
 * nobody may touch. The pieces follow one another in a range of addresses, none of which is used twice. */

enum { RANGE_GB = 256 };

static char *range, *unused;
static bool  fencing;

void *_Znwm(size_t bytes)
{
    size_t align = bytes % 16 ? bytes & -bytes : 16, body = bytes / FENCE * FENCE + FENCE;

    if (!fencing) return malloc(bytes);
    if (unused + body + FENCE > range + ((size_t)RANGE_GB << 30) || mprotect(unused, body, PROT_READ | PROT_WRITE)) abort();
    unused += body + FENCE;
    return unused - FENCE - (bytes + align - 1) / align * align;
}

void _ZdlPv(void *p)
{
    char *page = range + ((char *)p - range) / FENCE * FENCE;

    if (!range || (char *)p < range || (char *)p >= unused) free(p);
    else if (madvise(page, FENCE, MADV_DONTNEED) || mprotect(page, FENCE, PROT_NONE)) abort();
}

void *_ZnwmRKSt9nothrow_t(size_t bytes, __attribute__((unused)) void *tag) { return _Znwm(bytes); }
void *_Znam(size_t bytes) { return _Znwm(bytes); }
void  _ZdaPv(void *p) { _ZdlPv(p); }
void  _ZdlPvm(void *p, __attribute__((unused)) size_t bytes) { _ZdlPv(p); }
void  _ZdaPvm(void *p, __attribute__((unused)) size_t bytes) { _ZdlPv(p); }

/* From here on oneDNN makes code anew, instead of keeping it: returns how much it kept. */
static int begin_fences(void)
{
    int kept;

    assert_int_equal(dnnl_get_primitive_cache_capacity(&kept), 0);
    assert_int_equal(dnnl_set_primitive_cache_capacity(0), 0);
    if (!range)
        unused = range = mmap(NULL, (size_t)RANGE_GB << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(range != MAP_FAILED);
    return kept;
}

/* A plan for learning, and one for looking. */
static void open_fenced(spot_conv_shape s)
{
    spot_ctx c = check_ctx(1);

    for (int train = 0; train < 2; train++) {
        spot_conv *plan;
        s.train = train;
        s.bias = s.relu = !train;
        s.add = !train && s.ci > 3;
        fencing = true;
        CHECK_OK(&c, spot_conv_open(&c, &plan, &s));
        spot_conv_close(&c, plan);
        fencing = false;
    }
}

/* The convolutions of ResNet-18 in pieces of 1 and 6 images. brgconv of oneDNN 2.6, which conv_dnnl.c refuses, reads behind an
 * array of its own for each 3x3 of them. */
TEST(plans_stay_in_the_memory_of_onednn)
{
    static const int sizes[] = { 32, 224 }, widths[] = { 16, 64 }, pieces[] = { 1, 6 };
    int kept;

    NEEDS_BF16();
    kept = begin_fences();
    for (int i = 0; i < LEN(sizes) * LEN(widths) * LEN(pieces); i++) {
        spot_net_shape net = { .width = widths[i / 2 % 2], .outputs = 1, .size = sizes[i / 4], .rows = pieces[i % 2],
                               .lanes = 1, .precision = SPOT_BF16 };
        for (int u = 0; u < spot_architecture_of(net.arch).units; u++) open_fenced(spot_unit_shape(u, net, true));
    }
    assert_int_equal(dnnl_set_primitive_cache_capacity(kept), 0);
}

/* -- tensors of the passes --------------------------------------------------------------------------------------- */

static const struct { int rows, lanes, ci, co, k, stride, size, given; } shapes[] = {
    { 1, 1,   3,  16, 7, 2,   2, 1 }, { 3, 3,   3,  32, 7, 2,  34, 2 }, { 4, 2,   3,  64, 7, 2, 112, 4 },
    { 1, 1,  16,  16, 3, 1,   1, 1 }, { 3, 1,  16,  32, 3, 1,   7, 3 }, { 6, 2,  16,  48, 3, 2,  10, 3 },
    { 1, 1,  32,  16, 3, 2,   2, 1 }, { 5, 5,  48,  16, 3, 1,   3, 2 }, { 2, 1,  16,  16, 3, 1,  56, 2 },
    { 1, 1,  16,  16, 1, 2,   2, 1 }, { 3, 1,  48,  80, 1, 2,  14, 3 }, { 4, 4,  64, 128, 1, 2,  56, 3 },
    { 1, 1,  16,  16, 1, 1,   1, 1 }, { 7, 1,  32,  48, 1, 1,   5, 7 }, { 3, 3,  64,  64, 3, 1,  28, 3 },
    { 2, 2, 128, 256, 3, 2,  28, 1 }, { 1, 1, 256, 512, 1, 2,   2, 1 }, { 1, 1, 256, 512, 3, 2,   2, 1 },
    { 1, 1, 512, 512, 3, 1,   1, 1 }, { 3, 3, 256, 512, 3, 1,   5, 2 }, { 2, 1, 512, 256, 3, 1,   7, 2 },
};

/* All passes, on three threads with the fence behind each tensor, on one with the fence before it; test_bf16_ops.c looks at the
 * numbers. */
TEST(passes_stay_in_their_tensors)
{
    NEEDS_BF16();
    fencing = false;                       /* the test before may have ended anywhere */
    for (int i = 0; i < LEN(shapes) * 4; i++) {
        int k = i / 4, train = i % 2 ? 0 : shapes[k].ci == 3 ? 2 : 1;
        spot_conv_shape s = { shapes[k].rows, shapes[k].lanes, shapes[k].ci, shapes[k].co, shapes[k].k, shapes[k].stride,
                              shapes[k].size, train, !train, !train && shapes[k].ci > 3, !train, SPOT_BF16 };
        bed b = make_bed(s, shapes[k].given, i / 2 % 2 ? BEHIND : BEFORE);
        run(&b, b.side == BEHIND ? 3 : 1);
        clear_bed(&b);
    }
}

/* -- products ------------------------------------------------------------------------------------------------------- */

/* The products of a block of CLIP: B/32, B/16 and L/14 have these widths; others that fill no vector and no tile. */
static const struct { int in, out; } layers[] = {
    { 1, 1 }, { 7, 5 }, { 16, 48 }, { 33, 17 }, { 100, 31 }, { 512, 2048 }, { 588, 1024 }, { 768, 2304 }, { 768, 512 },
    { 3072, 768 }, { 1024, 3072 },
};

static void multiply_fenced(const spot_linear_shape *s, int rows, fence_side side)
{
    size_t high = spot_linear_room((size_t)rows), number = s->narrow ? 2 : 4;
    fenced x = fenced_room(high * (size_t)s->in * 2, side), y = fenced_room(high * (size_t)s->out * number, side);
    fenced bias = fenced_room((size_t)s->out * sizeof(float), side), w, scratch;
    float *from = random_tensor((size_t)s->in * s->out, 1);
    spot_ctx c = check_ctx(side == BEHIND ? 3 : 1);
    spot_linear *plan;

    fencing = true;
    CHECK_OK(&c, spot_linear_open(&c, &plan, s));
    fencing = false;
    w = fenced_room(spot_linear_packed(&c, plan), side), scratch = fenced_room(spot_linear_scratch(&c, plan), side);
    memset(x.array, 0, high * (size_t)s->in * 2), memset(y.array, 0, high * (size_t)s->out * number);
    memset(bias.array, 0, (size_t)s->out * sizeof(float));
    CHECK_OK(&c, spot_linear_pack(&c, plan, w.array, from));
    CHECK_OK(&c, spot_linear_forward(&c, plan, y.array, x.array, w.array, s->bias ? (float *)(void *)bias.array : NULL, rows,
                                     scratch.array));
    spot_linear_close(&c, plan);
    clear_fenced(&x), clear_fenced(&y), clear_fenced(&bias), clear_fenced(&w), clear_fenced(&scratch);
    free(from);
}

/* Plans, and the three sizes of their pieces of rows with what is left, ended as in a block. test_transformer.c looks at the
 * numbers. */
TEST(products_stay_in_their_arrays)
{
    int kept;

    NEEDS_BF16();
    kept = begin_fences();
    for (int k = 0; k < LEN(layers); k++)
        for (int end = 0; end < 3; end++) {
            spot_linear_shape s = { .in = layers[k].in, .out = layers[k].out, .bias = end > 0, .add = end == 1,
                                    .narrow = end == 2, .activation = end == 2 ? SPOT_ACT_QUICK_GELU : SPOT_ACT_NONE,
                                    .precision = SPOT_BF16 };
            multiply_fenced(&s, end ? 192 + 64 + 17 : 3, BEHIND);
            if (end) multiply_fenced(&s, 65, BEFORE);
        }
    assert_int_equal(dnnl_set_primitive_cache_capacity(kept), 0);
}
