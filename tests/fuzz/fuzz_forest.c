/* fuzz_forest.c - any bytes as a forest's file: either one sentence, or a forest that votes and explains itself.
 * fuzz: -max_len=4096 */
#include "fuzz/fuzz_file.h"

#include <math.h>

#include "spotter/forest.h"

enum { FEATURES = 64 };

static void use(spot_ctx *c, const spot_forest *f)
{
    static float row[FEATURES];
    static double share[SPOT_TREE_CLASSES], base[SPOT_TREE_CLASSES], value[FEATURES * SPOT_TREE_CLASSES];
    spot_mat x = { row, 1, f->features };
    double sum = 0;

    for (int j = 0; j < f->features; j++) row[j] = (float)(j % 5) - 2;
    if (spot_forest_shares(c, f, x, 0, share)) abort();
    for (int k = 0; k < f->classes; k++) sum += share[k];
    if (!(fabs(sum - 1) < 1e-4)) abort();
    if (f->profile != SPOT_FOREST_BAGGED) return;
    if (spot_forest_explain(c, f, x, base, value)) abort();
    for (int k = 0; k < f->classes; k++) {
        sum = base[k];
        for (int j = 0; j < f->features; j++) sum += value[j * f->classes + k];
        if (!(fabs(sum - share[k]) < 1e-4)) abort();      /* covers may be 1e-6 off */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spot_ctx c = { .threads = 1 };
    spot_forest f;

    if (spot_forest_open(&c, &f, fuzz_file(0, "forest.safetensors", data, size))) {
        fuzz_said(&c);
        return 0;
    }
    if (f.features <= FEATURES) use(&c, &f);
    spot_forest_close(&f);
    return 0;
}
