/* fuzz_history.c - any bytes as a history of nights: every line is a night that prints as a page may show it, or is counted.
 * fuzz: -max_len=1024 */
#include <math.h>
#include <stdlib.h>

#include "check/night.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spot_ctx c = { 0 };
    spot_history h;

    if (spot_history_parse(&c, &h, (const char *)data, size) != SPOT_OK) abort();
    for (int i = 0; i < h.nights; i++) {
        const spot_check *k = &h.night[i].check;
        for (int l = 0; l < k->lines; l++) {
            const spot_check_line *v = &k->line[l];
            if (!v->layer || v->verdict < 0 || v->verdict >= SPOT_VERDICTS || isinf(v->now) || isinf(v->margin)) abort();
        }
    }
    spot_history_free(&h);
    return 0;
}
