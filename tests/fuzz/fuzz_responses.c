/* fuzz_responses.c - any bytes as the responses of a model: either one sentence, or responses that can be counted and shown.
 * fuzz: -max_len=2048 */
#include "fuzz/fuzz_file.h"

#include "background/background_result.h"

enum { TARGETS = 3, N = 2, CLASSES = 2 };

static int cls[TARGETS] = { 0, 1, 1 };

static void look(const spot_background_responses *r)
{
    static volatile float sink;
    const spot_background_suite s = { .targets = TARGETS, .n = N, .classes = CLASSES, .cls = cls };
    spot_background_result u = { .targets = TARGETS, .n = N, .classes = CLASSES };

    fuzz_within(r->grid, 2, 1 << 14);
    for (int i = 0; i < r->grid * r->grid; i++) sink += r->weight[i] + r->matrix[i];
    for (int i = 0; i < TARGETS * (N + 1); i++) sink += r->signal[i];
    if (!spot_background_result_take(&u)) abort();
    spot_background_count(&u, r, &s);
    for (int k = 0; k < SPOT_BACKGROUND_SETS; k++)
        for (int i = 0; i < CLASSES; i++) fuzz_within(u.right[k][i], 0, u.count[k][i]);
    for (int i = 0; i < CLASSES; i++) fuzz_within(u.turned[i] + u.steady[i], 0, TARGETS);
    spot_background_result_close(&u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const spot_background_result u = { .targets = TARGETS, .n = N };
    spot_ctx c = { .threads = 1 };
    spot_background_responses r;

    fuzz_file(0, "run/responses/000/model-000000.safetensors", data, size);
    if (spot_background_responses_read(&c, &r, "run", &u)) fuzz_said(&c);
    else look(&r);
    spot_background_responses_free(&r);
    return 0;
}
