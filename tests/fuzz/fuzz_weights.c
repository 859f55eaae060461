/* fuzz_weights.c - any text as the header of a network's weights: either one sentence, or a model whose every weight can be
 * looked at. Three bytes say how many bytes of data there are, as zeros: a network of width 16 has 2.8 MB.
 * fuzz: -max_len=16384 */
#include "fuzz/fuzz_file.h"

#include "base/safetensors.h"
#include "ops.h"
#include "spotter/model.h"

enum { OUTPUTS = 2, ROOM = 1 << 26, HEADER = 1 << 15 };

/* Without the copy of 2.8 MB that the real one makes of a file. */
spot_status __wrap_spot_tensors_open(spot_ctx *c, spot_tensors *t, const char *path);
spot_status __wrap_spot_tensors_open(spot_ctx *c, spot_tensors *t, const char *path)
{
    return spot_tensors_parse(c, t, fuzz_files[0].bytes, fuzz_files[0].n, path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static spot_arena arena;
    static size_t used;
    static uint8_t file[HEADER + (1 << 22)];
    uint64_t header = size - 3;
    spot_ctx c = { .ops = &spot_ops_cpu, .threads = 1 };
    spot_model m;
    double sum = 0;

    if (size < 3 || header + 8 > HEADER) return 0;
    if (!arena.size && spot_arena_open(&c, &arena, ROOM)) abort();
    memcpy(file, &header, 8);
    memcpy(file + 8, data + 3, header);
    if (header < used) memset(file + 8 + header, 0, used - header);
    used = header;
    fuzz_file(0, "net.safetensors", file, header + 8 + (data[0] | data[1] << 8 | (data[2] & 63u) << 16));
    arena.used = 0;
    if (spot_model_load(&c, &arena, &m, "net.safetensors", size % 2 ? 0 : OUTPUTS, 1)) {
        fuzz_said(&c);
        return 0;
    }
    for (size_t i = 0; i < m.floats; i++) sum += m.value[i];
    if (!(sum - sum == 0)) abort();
    return 0;
}
