/* fuzz_background.c - any bytes as a config of backgrounds: either a sentence, or a config within the bounds that others rely
 * on and that (one in eight, for speed) prints, reads back and prints the same, with the same key. fuzz: -max_len=768 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_config.h"
#include "background/zoo/zoo_make.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void within(double v, double least, double most)
{
    if (!(v >= least && v <= most)) abort();
}

static void look(const spot_background_config *cfg)
{
    within(cfg->data.size, 16, 1024);
    within(cfg->data.part, 1, 100);
    within(cfg->suite.choice, 0, SPOT_SUITE_CHOICES - 1);
    within(cfg->suite.n, 1, SPOT_MAX_BACKGROUNDS);
    within(cfg->suite.realness, 0, 1);
    within(cfg->measure.levels, 0, 16);
    within(cfg->measure.grid, 4, 512);
    within(cfg->measure.sigma, 0.001, 1e6);
    within(cfg->models, 0, SPOT_MAX_BACKGROUND_MODELS);
    within(cfg->encoders, 0, SPOT_MAX_BACKGROUND_ENCODERS);
    within(cfg->variants, 0, SPOT_MAX_BACKGROUND_VARIANTS);
    for (int k = 0; k < cfg->variants; k++)
        if (!cfg->variant[k].name[0] || strchr(cfg->variant[k].name, '/')) abort();
    for (int m = 0; m < cfg->models; m++)
        if (!cfg->model[m].name[0] || (cfg->model[m].weights[0] && cfg->model[m].command[0])) abort();
    for (int i = 0; i < cfg->encoders; i++) within(cfg->encoder[i].weight, 1e-6, 1e6);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static spot_background_config cfg;
    spot_ctx c = { 0 };
    char *text, *again;
    spot_key key;

    spot_memory_close(&cfg.memory);
    if (spot_background_parse(&c, &cfg, (const char *)data, size, "fuzz") != SPOT_OK) {
        if (!c.message[0] || strchr(c.message, '\n')) abort();
        return 0;
    }
    look(&cfg);
    if (size % 8) return 0;
    key = spot_background_key(&cfg);
    if (spot_study_print(&c, &spot_background_study, &cfg, &text) != SPOT_OK) abort();
    spot_memory_close(&cfg.memory);
    if (spot_background_parse(&c, &cfg, text, strlen(text), "printed") != SPOT_OK) abort();
    if (spot_study_print(&c, &spot_background_study, &cfg, &again) != SPOT_OK || strcmp(text, again)) abort();
    if (spot_background_key(&cfg).hi != key.hi || spot_background_key(&cfg).lo != key.lo) abort();
    free(text);
    free(again);
    return 0;
}
