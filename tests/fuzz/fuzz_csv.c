/* fuzz_csv.c - any bytes as a .csv file: its only column, the one called "a", and some side by side. */
#include "fuzz/fuzz_array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = { NULL, "a", "e0..e3", "a,b" };
    spot_blob in = spot_blob_memory(data, size, "fuzz");

    for (int i = 0; i < 4; i++) {
        spot_array a = fuzz_array();
        spot_ctx c = fuzz_ctx();
        fuzz_look(&c, &a, spot_csv_read(&c, &a, &in, columns[i], FUZZ_LIMIT));
    }
    return 0;
}
