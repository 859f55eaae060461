/* fuzz_kept.c - any bytes as the pictures and answers that a run keeps of a program: no such file, or answers that are those of
 * the same program when they are read twice, and none of one that answers otherwise. fuzz: -max_len=1024 */
#include "fuzz/fuzz_file.h"

#include "study/kept_answers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t other[1024];
    spot_ctx c = { .threads = 1 };

    if (!size || size > sizeof other) return 0;
    memcpy(other, data, size);
    other[size - 1] ^= 0x40;                   /* the last number of the last array becomes another */
    fuzz_file(0, "a/programs/it-0-1.safetensors", data, size);
    fuzz_file(1, "b/programs/it-0-2.safetensors", data, size);
    fuzz_file(2, "b/programs/it-0-3.safetensors", other, size);
    const bool same = spot_kept_same(&c, "a", "it-0-1", "b", "it-0-2"), with_other = spot_kept_same(&c, "a", "it-0-1", "b",
                                                                                                      "it-0-3");
    if (!same && with_other) abort();
    if (!spot_kept_same(&c, "a", "it-0-1", "b", "it-0-1") || spot_kept_same(&c, "a", "it-0-1", "b", "of-0-2")) abort();
    return 0;
}
