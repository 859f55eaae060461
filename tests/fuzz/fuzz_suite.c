/* fuzz_suite.c - any bytes as a suite's file: either one sentence, or a suite whose numbers lie in its lists.
 * fuzz: -max_len=2048 */
#include "fuzz/fuzz_file.h"

#include <math.h>

#include "background/suite/suite.h"

static void look(const spot_background_suite *s)
{
    static volatile size_t sink;

    if (!(s->range > 0) || strlen(s->key) != 32) abort();
    for (int k = 0; k < s->classes; k++) sink += strlen(s->class_name[k]);
    for (int i = 0; i < s->backgrounds; i++) sink += strlen(s->background[i]) + (size_t)s->background_number[i];
    for (int i = 0; i < s->words; i++) sink += strlen(s->word[i]);
    for (int t = 0; t < s->targets; t++) {
        sink += strlen(s->target[t]) + (size_t)s->target_number[t];
        fuzz_within(s->cls[t], 0, s->classes - 1);
    }
    for (int i = 0; i < s->targets * s->n; i++) {
        fuzz_within(s->chosen[i], 0, s->backgrounds - 1);
        fuzz_within(s->keyword[i], -1, s->words - 1);
        fuzz_within(s->unreal[i], 0, 1);
        if (!isfinite(s->distance[i])) abort();
        sink += s->level[i];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spot_ctx c = { .threads = 1 };
    spot_background_suite s;

    if (spot_suite_read(&c, &s, fuzz_file(0, "run/suites/suite.safetensors", data, size))) fuzz_said(&c);
    else look(&s);
    spot_suite_close(&s);
    return 0;
}
