/* fuzz_weights.c - weights of a network: either one sentence, or a model whose every weight can be looked at.
 *
 * Either any text as the file's header; three bytes before it say how many bytes of data there are, as zeros: a network of
 * width 16 has 2.8 MB. Or, where the highest bit of the third is set, the tensors of such a network after some changes, each of
 * four bytes: which tensor, what of it, and the value. The reader of headers has a target of its own. fuzz: -max_len=16384 */
#include "fuzz/fuzz_file.h"

#include "formats/safetensors.h"
#include "core/ops.h"
#include "spotter/model.h"

enum { WIDTH = 16, OUTPUTS = 2, ROOM = 1 << 26, HEADER = 1 << 15, ZEROS = 1 << 22, N = 122 };

static spot_tensor changed[N];
static volatile uint32_t sink;
static int changed_count;                              /* -1: the file is text */

/* Without the copy of 2.8 MB that the real one makes of a file. */
spot_status __wrap_spot_tensors_open(spot_ctx *c, spot_tensors *t, const char *path);
spot_status __wrap_spot_tensors_open(spot_ctx *c, spot_tensors *t, const char *path)
{
    if (changed_count < 0) return spot_tensors_parse(c, t, fuzz_files[0].bytes, fuzz_files[0].n, path);
    *t = (spot_tensors){ .count = changed_count, .tensor = changed };
    return SPOT_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const spot_tensor *)a)->name, ((const spot_tensor *)b)->name);
}

/* The tensors of a whole file, by name. */
static const spot_tensor *whole(void)
{
    static spot_model_tensor table[N];
    static spot_tensor all[N];

    if (all[0].name) return all;
    spot_model_layout(table, SPOT_ARCH_RESNET18, WIDTH, OUTPUTS);
    for (int t = 0; t < N; t++) {
        all[t] = (spot_tensor){ .name = table[t].name, .type = table[t].rank ? SPOT_F32 : SPOT_I64, .rank = table[t].rank };
        for (int i = 0; i < table[t].rank; i++) all[t].dim[i] = table[t].dim[i];
    }
    qsort(all, N, sizeof *all, by_name);
    return all;
}

static void change(const uint8_t how[4], bool gone[N])
{
    spot_tensor *e = &changed[how[0] % N];
    int value = how[2] | how[3] << 8;

    switch (how[1] % 4) {
    case 0: e->rank = value % (SPOT_TENSOR_DIMS + 1); break;
    case 1: e->type = (spot_dtype)(value % SPOT_WORDS); break;
    case 2: e->dim[how[1] / 4 % SPOT_TENSOR_DIMS] = value; break;
    case 3: gone[how[0] % N] = true; break;
    }
}

/* As the parser does it sees to it that there are as many bytes as a tensor's type and shape say; false: it would refuse, or
 * the changes left a whole file, which takes as long as ten others: it is looked at for some lengths. */
static bool change_all(const uint8_t *data, size_t size, const uint8_t *zeros)
{
    bool gone[N] = { false }, other = false;
    const spot_tensor *all = whole();

    memcpy(changed, all, sizeof changed);
    changed_count = 0;
    for (; size >= 4; data += 4, size -= 4) change(data, gone);
    for (int t = 0; t < N; t++) {
        spot_tensor *e = &changed[changed_count];
        other |= gone[t] && all[t].rank;
        if (gone[t]) continue;
        *e = changed[t];
        e->bytes = spot_dtype_size(e->type);
        for (int i = 0; i < e->rank; i++)
            if (e->dim[i] && e->bytes > ZEROS / (uint64_t)e->dim[i]) return false;
            else e->bytes *= (size_t)e->dim[i];
        e->data = zeros;
        other |= e->rank != all[t].rank || e->type != all[t].type
                 || memcmp(e->dim, all[t].dim, (size_t)e->rank * sizeof *e->dim);
        changed_count++;
    }
    return other;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static spot_arena arena;
    static size_t used;
    static uint8_t file[HEADER + ZEROS];
    uint64_t header = size - 3;
    spot_ctx c = { .ops = &spot_ops_cpu, .threads = 1 };
    spot_model m;
    uint32_t all = 0, bits;

    if (size < 3 || header + 8 > HEADER) return 0;
    if (!arena.size && spot_arena_open(&c, &arena, ROOM)) abort();
    changed_count = -1;
    if (data[2] & 0x80) {
        if (!change_all(data + 3, size - 3, file + HEADER) && size % 16 != 3) return 0;
    } else {
        memcpy(file, &header, 8);
        memcpy(file + 8, data + 3, header);
        if (header < used) memset(file + 8 + header, 0, used - header);
        used = header;
        fuzz_file(0, "net.safetensors", file, header + 8 + (data[0] | data[1] << 8 | (data[2] & 63u) << 16));
    }
    arena.used = 0;
    if (spot_model_load(&c, &arena, &m, "net.safetensors", size % 2 ? 0 : OUTPUTS, 1)) {
        fuzz_said(&c);
        return 0;
    }
    for (size_t i = 0; i < m.floats; i++) {
        memcpy(&bits, &m.value[i], sizeof bits);
        all |= bits;
    }
    sink += all;
    return 0;
}
