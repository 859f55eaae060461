/* fuzz_npz.c - any bytes as a .npz file: the only array of it, or the one called "a", which by the size of the input.
 * fuzz: -max_len=512 */
#include "fuzz/fuzz_array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const member[] = { NULL, "a" };
    spot_blob in = spot_blob_memory(data, size, "fuzz");
    spot_array a = fuzz_array();
    spot_ctx c = fuzz_ctx();

    fuzz_look(&c, &a, spot_npz_read(&c, &a, &in, member[size % 2], FUZZ_LIMIT));
    return 0;
}
