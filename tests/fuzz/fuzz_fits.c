/* fuzz_fits.c - any bytes as a folder of findings that new rows are put into (spotter assign): either one sentence, or rows
 * that are in slices or not. The first byte says which config made the folder; slices.json, to the next NUL; fit.safetensors.
 * fuzz: -max_len=4096 */
#include "fuzz/fuzz_file.h"

#include "discover/subject/fits.h"

enum { ROWS = 3, FEATURES = 16 };

static const char *const configs[] = {
    "bdms: [{method: planespot, reduce: pca, mixture: {k_max: 2}}]",
    "bdms: [{method: planespot, reduce: tsne, mixture: {k_max: 2}}]",
    "bdms: [{method: spotlight, top: 2}, {method: planespot, reduce: pca, mixture: {k_max: 2}}]",
    "bdms: [{method: domino, components: 4, dim: 2}]",
    "bdms: [{method: barlow, top: 2}]",
    "bdms: [{method: george, reduce: pca, clusters: 3}]",
    "bdms: [{method: multiaccuracy, reduce: none}]",
};
enum { CONFIGS = sizeof configs / sizeof *configs };

/* Configs have a target of their own; here they are right. */
spot_status __wrap_spot_config_load(spot_ctx *c, spot_config *cfg, const char *path);
spot_status __wrap_spot_config_load(spot_ctx *c, spot_config *cfg, const char *path)
{
    size_t k = (size_t)*(const uint8_t *)fuzz_files[fuzz_find(path)].bytes % CONFIGS;

    return spot_config_parse(c, cfg, configs[k], strlen(configs[k]), path);
}

static void assign(spot_ctx *c, const spot_fitted *g, int d)
{
    static float feature[ROWS * FEATURES], confidence[ROWS] = { 0.1f, 0.9f, 0.5f };
    static uint8_t member[ROWS * SPOT_MAX_HYPOTHESES];
    spot_view rows = { .n = ROWS, .d = d, .feature = feature, .confidence = confidence };

    for (int e = 0; e < ROWS * d; e++) feature[e] = (float)(e % 7) - 2;
    if (spot_assign(c, member, g->slices, &rows, &g->fit, g->bdm)) fuzz_said(c);
    else
        for (int e = 0; e < ROWS * g->slices; e++)
            if (member[e] > 1) abort();
    spot_forget(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char slices[8192];
    spot_ctx c = { .threads = 1 };
    spot_fits f;

    if (!size) return 0;
    fuzz_file(0, "found/config.yaml", data, 1);
    data++, size--;
    fuzz_text(slices, sizeof slices, &data, &size);
    fuzz_file(1, "found/slices.json", slices, strlen(slices));
    fuzz_file(2, "found/fit.safetensors", data, size);
    if (spot_fits_open(&c, &f, "found")) {
        fuzz_said(&c);
        return 0;
    }
    for (int i = 0; i < f.count && i < 4 && f.known.features <= FEATURES; i++) assign(&c, &f.of[i], f.known.features);
    spot_fits_close(&f);
    return 0;
}
