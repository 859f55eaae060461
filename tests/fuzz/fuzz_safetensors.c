/* fuzz_safetensors.c - any bytes as a safetensors file: either one sentence, or tensors that lie in the bytes.
 * tests/test_safetensors.c replays the corpus beside this file and says what each input must be told. fuzz: -max_len=512 */
#include <stdlib.h>
#include <string.h>

#include "formats/safetensors.h"
#include "fuzz/fuzz_array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile uint8_t sink;
    spot_blob in = spot_blob_memory(data, size, "fuzz");
    spot_tensors t;
    spot_ctx c = { 0 };

    if (spot_tensors_parse(&c, &t, data, size, "fuzz") != SPOT_OK) {
        if (!c.message[0] || strchr(c.message, '\n')) abort();
        return 0;
    }
    for (int i = 0; i < t.count; i++) {
        const uint8_t *v = t.tensor[i].data;
        for (size_t k = 0; k < t.tensor[i].bytes; k++) sink ^= v[k];
        if (spot_tensors_find(&t, t.tensor[i].name) != &t.tensor[i]) abort();
        if (i < 4) {
            spot_array a = fuzz_array();
            fuzz_look(&c, &a, spot_tensors_read(&c, &a, &in, t.tensor[i].name, FUZZ_LIMIT));
            spot_forget(&c);
        }
    }
    spot_tensors_close(&t);
    return 0;
}
