/* fuzz_examine_config.c - any bytes as a config of an examination: either a sentence, or a config within the bounds that others
 * rely on, and that (one in eight, for speed) prints, reads back and prints the same, with the same key. fuzz: -max_len=768 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "examine/examine_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void within(double v, double least, double most)
{
    if (!(v >= least && v <= most)) abort();
}

static void look(const spot_examine_config *cfg)
{
    within(cfg->objects.held_out, 0, 1);
    within(cfg->objects.up, 0, 1);
    within(cfg->render.size, 1, 1 << 14);
    within(cfg->search.fails, 0, 1);
    within(cfg->search.points, 1, SPOT_MAX_EXAMINE_POINTS);
    within(cfg->models, 0, SPOT_MAX_EXAMINED_MODELS);
    within(cfg->examiners, 1, SPOT_MAX_EXAMINERS);
    for (int i = 0; i < cfg->search.points; i++) within(cfg->search.point[i], 1, cfg->search.renders);
    for (int m = 0; m < cfg->models; m++)
        if (!cfg->model[m].name[0] || (cfg->model[m].weights[0] && cfg->model[m].command[0])) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static spot_examine_config cfg;
    spot_ctx c = { 0 };
    char *text, *again;
    spot_key key;

    spot_memory_close(&cfg.memory);
    if (spot_examine_parse(&c, &cfg, (const char *)data, size, "fuzz") != SPOT_OK) {
        if (!c.message[0] || strchr(c.message, '\n')) abort();
        return 0;
    }
    look(&cfg);
    key = spot_examine_key(&cfg);
    if (size % 8) return 0;
    if (spot_study_print(&c, &spot_examine_study, &cfg, &text) != SPOT_OK) abort();
    spot_memory_close(&cfg.memory);
    if (spot_examine_parse(&c, &cfg, text, strlen(text), "printed") != SPOT_OK) abort();
    if (spot_study_print(&c, &spot_examine_study, &cfg, &again) != SPOT_OK || strcmp(text, again)) abort();
    if (spot_examine_key(&cfg).hi != key.hi || spot_examine_key(&cfg).lo != key.lo) abort();
    free(text);
    free(again);
    return 0;
}
