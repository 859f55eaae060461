/* fuzz_embedding.c - any bytes as features that another program made of an EC's images: either one sentence, or features in
 * place of the classifier's. fuzz: -max_len=512 */
#include "fuzz/fuzz_file.h"

#include <math.h>

#include "store/embedding.h"

enum { ROWS = 3, COLUMNS = 2, ROOM = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static spot_arena arena;
    spot_ctx c = { .threads = 1 };
    spot_view v = { .n = ROWS, .d = 1 };
    spot_key key, again;

    if (!arena.size && spot_arena_open(&c, &arena, ROOM)) abort();
    fuzz_file(0, "others/ec-000000.safetensors", data, size);
    arena.used = 0;
    if (spot_embedding_read(&c, &arena, &v, &key, "others", 0, COLUMNS)) {
        fuzz_said(&c);
        return 0;
    }
    if (!spot_embedding_content(&again, "others", 0) || key.hi != again.hi || key.lo != again.lo || v.d != COLUMNS) abort();
    for (int e = 0; e < ROWS * COLUMNS; e++)
        if (!isfinite(v.feature[e])) abort();
    return 0;
}
