/* fuzz_config.c - any bytes as a config: either a sentence, or a config that prints and reads back the same.
 *
 *     clang -g -fsanitize=fuzzer,address,undefined -Iinclude -Ihost -Ikernels tests/fuzz/fuzz_config.c build/libspotter.a ...
 *
 * tests/test_config.c replays the corpus beside this file, and mutations of it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spotter/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static spot_config cfg, again;
    spot_ctx c = { 0 };
    char *text;

    if (spot_config_parse(&c, &cfg, (const char *)data, size, "fuzz") != SPOT_OK) {
        if (!c.message[0] || strchr(c.message, '\n')) abort();
        return 0;
    }
    if (spot_config_print(&c, &cfg, &text) != SPOT_OK) abort();
    if (spot_config_parse(&c, &again, text, strlen(text), "printed") != SPOT_OK || memcmp(&cfg, &again, sizeof cfg)) {
        fprintf(stderr, "%s\n%s\n", text, c.message);
        abort();
    }
    free(text);
    return 0;
}
