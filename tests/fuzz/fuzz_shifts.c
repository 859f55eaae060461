/* fuzz_shifts.c - any bytes as a config of shifts: either a sentence, or a config whose units have names and captions, and that
 * (one in eight, for speed) prints, reads back and prints the same. fuzz: -max_len=768 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shifts/shifts_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const spot_shifts_config *cfg)
{
    char text[SPOT_CAPTION], id[SPOT_SHIFT_PATH], name[160];

    for (int u = 0; u < spot_shift_units(cfg); u++) {
        const spot_shift_unit unit = spot_shift_unit_at(cfg, u);
        if (spot_shift_unit_of(cfg, unit.source, unit.shift) != u) abort();
        if (!spot_shift_unit_id(id, cfg, unit)[0] || !spot_shift_unit_folder(id, cfg, unit)[0]) abort();
        if (!spot_shift_unit_name(name, cfg, unit)[0]) abort();
        if (!spot_class_caption(text, cfg, unit.shift, "<class> %s")[0]) abort();
        if (unit.shift >= 0 && !spot_shift_caption(text, cfg, unit.shift)[0]) abort();
    }
    for (int s = 0; s < cfg->shifts; s++)
        if (!(cfg->shift[s].threshold >= -1 && cfg->shift[s].threshold <= 1)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static spot_shifts_config cfg;
    spot_ctx c = { 0 };
    char *text, *again;

    spot_memory_close(&cfg.memory);
    if (spot_shifts_parse(&c, &cfg, (const char *)data, size, "fuzz") != SPOT_OK) {
        if (!c.message[0] || strchr(c.message, '\n')) abort();
        return 0;
    }
    look(&cfg);
    if (size % 8) return 0;
    if (spot_study_print(&c, &spot_shifts_study, &cfg, &text) != SPOT_OK) abort();
    spot_memory_close(&cfg.memory);
    if (spot_shifts_parse(&c, &cfg, text, strlen(text), "printed") != SPOT_OK) abort();
    if (spot_study_print(&c, &spot_shifts_study, &cfg, &again) != SPOT_OK || strcmp(text, again)) abort();
    free(text);
    free(again);
    return 0;
}
