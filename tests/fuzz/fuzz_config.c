/* fuzz_config.c - any bytes as a config: either a sentence, or a config that (one in eight, for speed) prints, reads
 * back and prints the same.
 *
 * tests/test_config.c replays the corpus beside this file, and mutations of it. fuzz: -max_len=512 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spotter/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static spot_config cfg;
    spot_ctx c = { 0 };
    char *text, *again;

    spot_memory_close(&cfg.memory);
    if (spot_config_parse(&c, &cfg, (const char *)data, size, "fuzz") != SPOT_OK) {
        if (!c.message[0] || strchr(c.message, '\n')) abort();
        return 0;
    }
    if (size % 8) return 0;
    if (spot_config_print(&c, &cfg, &text) != SPOT_OK) abort();
    spot_memory_close(&cfg.memory);
    if (spot_config_parse(&c, &cfg, text, strlen(text), "printed") != SPOT_OK) abort();
    if (spot_config_print(&c, &cfg, &again) != SPOT_OK || strcmp(text, again)) abort();
    free(text);
    free(again);
    return 0;
}
