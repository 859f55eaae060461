/* test_bf16_bounds.c - convolutions in bf16 on the CPU stay inside their arrays: those that oneDNN makes with a plan, and those
 * of every pass. */
#define _DEFAULT_SOURCE   /* MAP_ANONYMOUS */
#include "check_bf16_conv.h"

#include <stdlib.h>

#include <oneapi/dnnl/dnnl.h>

#include "model/resnet18.h"

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

/* A plan for learning, and one for looking. oneDNN makes code anew: it keeps none. */
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
    assert_int_equal(dnnl_get_primitive_cache_capacity(&kept), 0);
    assert_int_equal(dnnl_set_primitive_cache_capacity(0), 0);
    range = mmap(NULL, (size_t)RANGE_GB << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(range != MAP_FAILED);
    unused = range;
    for (int i = 0; i < LEN(sizes) * LEN(widths) * LEN(pieces); i++) {
        spot_net_shape net = { .width = widths[i / 2 % 2], .outputs = 1, .size = sizes[i / 4], .rows = pieces[i % 2],
                               .lanes = 1, .precision = SPOT_BF16 };
        for (int u = 0; u < SPOT_UNITS; u++) open_fenced(spot_unit_shape(u, net, true));
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
