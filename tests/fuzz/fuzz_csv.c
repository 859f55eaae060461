/* fuzz_csv.c - any bytes as a .csv file: its only column, the one called "a", or some side by side, which by the size of the
 * input. fuzz: -max_len=256 */
#include "fuzz/fuzz_array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = { NULL, "a", "e0..e3", "a,b" };
    spot_blob in = spot_blob_memory(data, size, "fuzz");
    spot_array a = fuzz_array();
    spot_ctx c = fuzz_ctx();

    fuzz_look(&c, &a, spot_csv_read(&c, &a, &in, columns[size % 4],
                                &(spot_array_how){ .limit = FUZZ_LIMIT, .holes = size % 3 == 0, .text = size % 5 == 0 }));
    return 0;
}
