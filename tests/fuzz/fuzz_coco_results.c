/* fuzz_coco_results.c - any bytes as detections in COCO's format of results: either one sentence, or finite boxes and scores.
 * The reader takes the bytes in pieces of a file, too. tests/test_detections.c says what inputs of the corpus beside this file
 * must be told. fuzz: -max_len=512 */
#include "fuzz/fuzz_file.h"

#include <math.h>

#include "formats/coco_results.h"

FILE *__wrap_spot_file_stream(const spot_ctx *c, const char *path);

FILE *__wrap_spot_file_stream(const spot_ctx *c, const char *path) { return (void)c, __wrap_fopen(path, "r"); }

static void check_results(const spot_coco_results *r)
{
    for (int i = 0; i < r->n; i++) {
        const spot_coco_result *v = &r->result[i];
        if (!isfinite(v->x) || !isfinite(v->y) || !isfinite(v->w) || !isfinite(v->h) || v->w < 0 || v->h < 0) abort();
        if (!(v->score >= 0 && v->score <= 1)) abort();
    }
}

static bool same(const spot_coco_results *a, const spot_coco_results *b)
{
    bool equal = a->n == b->n;

    for (int i = 0; equal && i < a->n; i++) {
        const spot_coco_result *x = &a->result[i], *y = &b->result[i];
        equal = x->image == y->image && x->category == y->category && x->x == y->x && x->y == y->y && x->w == y->w
             && x->h == y->h && x->score == y->score;
    }
    return equal;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spot_ctx c = { .threads = 1 };
    spot_coco_results one, two;
    const spot_status said = spot_coco_results_parse(&c, &one, data, size, "fuzz");

    if (said) fuzz_said(&c), spot_forget(&c);
    else check_results(&one);
    fuzz_file(0, "a.json", data, size);
    if (spot_coco_results_open(&c, &two, "a.json") != said) abort();
    if (said) fuzz_said(&c);
    else if (!same(&one, &two)) abort();
    spot_coco_results_close(&one);
    spot_coco_results_close(&two);
    return 0;
}
