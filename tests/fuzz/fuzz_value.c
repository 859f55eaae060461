/* fuzz_value.c - any bytes as a stage value of the store: not found, or what packs into the same bytes again. The first byte
 * says which value it is, and whether the rest is a whole file of the store, or what stands in one under a checksum that is
 * right. fuzz: -max_len=5120 */
#include "fuzz/fuzz_file.h"

#include <limits.h>
#include <xxhash.h>

#include "store/pack.h"

static spot_pack_fn *const packs[] = { spot_pack_model, spot_pack_learning, spot_pack_seen, spot_pack_points, spot_pack_found };
enum { PACKS = sizeof packs / sizeof *packs, WHOLE = 0x80, MOST = 8192 };

static union { spot_model model; spot_learning lesson; spot_seen seen; spot_points points; spot_hypotheses found; } value;

/* host/store/store.c says how a value's file is laid out. */
static size_t frame(uint8_t *file, const uint8_t *data, size_t n)
{
    uint64_t head[3] = { 0, n, XXH3_64bits(data, n) };

    memcpy(head, "SPOTVAL1", 8);
    memcpy(file, head, sizeof head);
    memcpy(file + sizeof head, data, n);
    return sizeof head + n;
}

/* Ranges that those who take the value rely on. */
static void look(spot_pack_fn *pack)
{
    if (pack == spot_pack_model) fuzz_within(value.model.width, 1, 1024);
    if (pack == spot_pack_learning) {
        fuzz_within(value.lesson.epochs, 0, SPOT_MAX_EPOCHS);
        fuzz_within(value.lesson.blindspots, 0, SPOT_MAX_BLINDSPOTS);
        fuzz_within(value.lesson.learned, 0, 1);
    }
    if (pack == spot_pack_seen) fuzz_within(value.seen.truth.n, value.seen.view.n, value.seen.view.n);
    if (pack == spot_pack_seen) fuzz_within(value.seen.view.n, 0, MOST);
    if (pack == spot_pack_points) fuzz_within(value.points.n, 0, INT_MAX);
    if (pack == spot_pack_found) fuzz_within(value.found.len, 0, SPOT_MAX_HYPOTHESES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const spot_store store = { .dir = "run" };
    static spot_arena arena;
    uint8_t file[MOST + 32], again[MOST + 32];
    char path[256], text[33];
    spot_packer count = { .way = PACK_COUNT }, write = { .way = PACK_WRITE, .at = again };
    spot_key key = { 0, 0 };
    spot_ctx c = { 0 };
    size_t n = size - 1;
    bool found;

    if (!size || n > MOST) return 0;
    if (!arena.size && spot_arena_open(&c, &arena, 1 << 16)) abort();
    spot_key_text(text, key);
    snprintf(path, sizeof path, "run/cache/%.2s/%s.value", text, text);
    if (*data & WHOLE) memcpy(file, data + 1, n);
    else n = frame(file, data + 1, n);
    fuzz_file(0, path, file, n);
    arena.used = 0;
    memset(&value, 0, sizeof value);
    spot_pack_fn *pack = packs[(*data & ~WHOLE) % PACKS];
    if (spot_recall(&c, &arena, &store, key, "value", pack, &value, &found) || !found) return 0;
    look(pack);
    if (pack(&c, &count, &value) || count.n + 24 != n || pack(&c, &write, &value) || memcmp(again, file + 24, count.n)) abort();
    return 0;
}
