/* fuzz_npy.c - any bytes as a .npy file: either one sentence, or an array whose every value can be looked at.
 * tests/test_array.c says what each file of the corpus must be told. fuzz: -max_len=512 */
#include "fuzz/fuzz_array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spot_blob in = spot_blob_memory(data, size, "fuzz");
    spot_stream whole = spot_blob_stream(&in);
    spot_array a = fuzz_array();
    spot_ctx c = fuzz_ctx();

    fuzz_look(&c, &a, spot_npy_read(&c, &a, &whole, FUZZ_LIMIT));
    return 0;
}
