/* fuzz_labels.c - any bytes as people's labels of models: either one sentence, or votes that are counted. fuzz: -max_len=512 */
#include "fuzz/fuzz_file.h"

#include <math.h>

#include "spotter/verdict.h"

enum { MODELS = 3 };

static void look(const spot_verdict_labels *l)
{
    int labelled = 0, ties = 0;

    if (l->raters < 1 || l->models != MODELS) abort();
    for (int r = 0; r < l->raters; r++)
        if (!l->rater[r]) abort();
    for (int i = 0; i < MODELS; i++) {
        fuzz_within(l->majority[i], -1, SPOT_BACKGROUND_LABELS - 1);
        labelled += l->majority[i] >= 0, ties += l->tied[i];
        if (l->tied[i] && l->majority[i] != SPOT_BORDERLINE) abort();
        for (int r = 0; r < l->raters; r++) fuzz_within(l->label[i * l->raters + r], -1, SPOT_BACKGROUND_LABELS - 1);
    }
    if (labelled != l->labelled || ties != l->ties || !labelled) abort();
    if (!isnan(l->kappa) && !(l->kappa <= 1.000001)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static spot_verdict_model model[MODELS] = { { .name = "one" }, { .name = "two" }, { .name = "a,\"b" } };
    const spot_verdict_table t = { .models = MODELS, .model = model };
    spot_ctx c = { .threads = 1 };
    spot_verdict_labels l;

    fuzz_file(0, "labels.csv", data, size);
    if (spot_verdict_labels_read(&c, &l, &t, "labels.csv")) {
        fuzz_said(&c);
        return 0;
    }
    look(&l);
    spot_verdict_labels_free(&l);
    return 0;
}
