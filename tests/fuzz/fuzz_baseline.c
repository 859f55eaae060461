/* fuzz_baseline.c - any bytes as a baseline's file: one sentence, or a baseline that prints, and reads what it printed.
 * fuzz: -max_len=1536 */
#include <stdlib.h>
#include <string.h>

#include "check/baseline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spot_ctx c = { 0 };
    spot_baseline b, again;
    char *text, *twice;
    size_t n, m;

    if (spot_baseline_parse(&c, &b, (const char *)data, size, "fuzz") != SPOT_OK) {
        if (!c.message[0] || strchr(c.message, '\n')) abort();
    } else {
        if (spot_baseline_print(&c, &b, &text, &n) != SPOT_OK) abort();
        if (spot_baseline_parse(&c, &again, text, n, "again") != SPOT_OK) abort();
        if (spot_baseline_print(&c, &again, &twice, &m) != SPOT_OK) abort();
        if (n != m || memcmp(text, twice, n)) abort();
        free(text);
        free(twice);
        spot_baseline_free(&again);
    }
    spot_baseline_free(&b);
    return 0;
}
