/* fuzz_value.c - any bytes as a stage value of the store: not found, or what packs into the same bytes again. The first byte
 * says which value it is, and whether the rest is a whole file of the store, or what stands in one under a checksum that is
 * right. fuzz: -max_len=512 */
#define _GNU_SOURCE
#include "fuzz/fuzz_file.h"

#include <xxhash.h>

#include "sweep/pack.h"

static spot_pack_fn *const packs[] = { spot_pack_model, spot_pack_lesson, spot_pack_seen, spot_pack_points, spot_pack_found };
enum { PACKS = sizeof packs / sizeof *packs, WHOLE = 0x80, MOST = 4096 };

static union { spot_model model; spot_lesson lesson; spot_seen seen; spot_points points; spot_hypotheses found; } value;

/* host/store/store.c says how a value's file is laid out. */
static size_t frame(uint8_t *file, const uint8_t *data, size_t n)
{
    uint64_t head[3] = { 0, n, XXH3_64bits(data, n) };

    memcpy(head, "SPOTVAL1", 8);
    memcpy(file, head, sizeof head);
    memcpy(file + sizeof head, data, n);
    return sizeof head + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static spot_store store;
    static spot_arena arena;
    uint8_t file[MOST + 32], again[MOST + 32];
    spot_packer count = { .way = PACK_COUNT }, write = { .way = PACK_WRITE, .at = again };
    spot_key key = { 0, 0 };
    spot_ctx c = { 0 };
    size_t n = size - 1;
    bool found;

    if (!size || n > MOST) return 0;
    if (!*fuzz_dir) {
        char path[256], text[33];
        strcpy(store.dir, fuzz_folder());
        spot_key_text(text, key);
        snprintf(path, sizeof path, "%s/cache/%.2s/%s.value", fuzz_dir, text, text);
        fuzz_link(0, path);
        if (spot_arena_open(&c, &arena, 1 << 16)) abort();
    }
    if (*data & WHOLE) memcpy(file, data + 1, n);
    else n = frame(file, data + 1, n);
    fuzz_file(0, file, n);
    arena.used = 0;
    memset(&value, 0, sizeof value);
    spot_pack_fn *pack = packs[(*data & ~WHOLE) % PACKS];
    if (spot_recall(&c, &arena, &store, key, "value", pack, &value, &found) || !found) return 0;
    if (pack(&c, &count, &value) || count.n + 24 != n || pack(&c, &write, &value) || memcmp(again, file + 24, count.n)) abort();
    return 0;
}
