/* bpe_word.c - one word -> ids, by byte-pair encoding (Sennrich et al. 2016) as CLIP's tokeniser does it: a word begins as its
 * bytes, and the pair of neighbours that the file has first is merged first, the left one of equal pairs. A heap holds the
 * pairs, so that a word of a million letters takes little longer than a million words of one. */
#include "formats/bpe_table.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { CACHED_BYTES = 22, CACHED_IDS = 8, LEAST_SLOTS = 64, MOST_SLOTS = 1 << 14 };

/* The newest short word with this slot's hash. 64 bytes, a line of the cache. */
struct spot_bpe_cached {
    uint64_t hash;
    uint8_t  bytes, count;      /* bytes 0: empty */
    char     word[CACHED_BYTES];
    int32_t  id[CACHED_IDS];
};

spot_status spot_bpe_room_open(spot_bpe_room *r, size_t words)
{
    *r = (spot_bpe_room){ .slots = LEAST_SLOTS };
    while (r->slots < words && r->slots < MOST_SLOTS) r->slots *= 2;
    r->cache = calloc(r->slots, sizeof *r->cache);
    return r->status = r->cache ? SPOT_OK : SPOT_NOMEM;
}

void spot_bpe_room_close(spot_bpe_room *r)
{
    spot_text_free(&r->clean);
    spot_text_free(&r->composed);
    spot_text_free(&r->parts);
    free(r->cache);
    *r = (spot_bpe_room){ 0 };
}

/* -- heap ---------------------------------------------------------------------------------------------------------- */

static void push_pair(spot_bpe_room *r, uint64_t pair)
{
    size_t i = r->heaped++;

    for (; i && r->heap[(i - 1) / 2] > pair; i = (i - 1) / 2) r->heap[i] = r->heap[(i - 1) / 2];
    r->heap[i] = pair;
}

static uint64_t pop_pair(spot_bpe_room *r)
{
    uint64_t first = r->heap[0], moved = r->heap[--r->heaped];
    size_t i = 0;

    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= r->heaped) break;
        if (child + 1 < r->heaped && r->heap[child + 1] < r->heap[child]) child++;
        if (moved <= r->heap[child]) break;
        r->heap[i] = r->heap[child];
        i = child;
    }
    r->heap[i] = moved;
    return first;
}

/* -- merging ------------------------------------------------------------------------------------------------------- */

/* A symbol of the word; those that were merged away are skipped by next and before. rank: of the merge with the next symbol,
 * -1 if there is none; made: the symbol that it makes. A pair in the heap whose rank is no longer its left part's is stale and
 * is passed over: taking it out of the middle of the heap would cost more. */
typedef struct { int symbol, next, before, rank, made; } part;

static void look_at_pair(const spot_bpe *t, spot_bpe_room *r, part *p, int i, int n)
{
    p[i].rank = -1;
    if (p[i].next < n) {
        const spot_bpe_merge *m = spot_bpe_find(t, p[i].symbol, p[p[i].next].symbol);
        p[i].rank = m->rank;
        p[i].made = m->made;
    }
    if (p[i].rank >= 0) push_pair(r, (uint64_t)p[i].rank << 32 | (unsigned)i);     /* the least: first in the file, then left */
}

/* Room for n parts, and for the pairs: n at the start and two more with each merge. */
static part *parts_of(spot_bpe_room *r, size_t n)
{
    size_t need = n * (sizeof(part) + 3 * sizeof(uint64_t));

    if (need > r->parts.size) {
        spot_text_free(&r->parts);
        r->parts.bytes = malloc(need);
        r->parts.size = r->parts.bytes ? need : 0;
        if (!r->parts.bytes) r->status = SPOT_NOMEM;
    }
    r->heap = (uint64_t *)(void *)r->parts.bytes;
    r->heaped = 0;
    return r->parts.bytes ? (part *)(void *)(r->heap + 3 * n) : NULL;
}

static void merge_word(const spot_bpe *t, spot_bpe_room *r, const char *word, size_t bytes, spot_bpe_ids *ids)
{
    part *p = parts_of(r, bytes);
    int n = (int)bytes;

    if (!p) return;
    for (int i = 0; i < n; i++) {
        unsigned char byte = (unsigned char)word[i];
        p[i] = (part){ .symbol = i + 1 < n ? t->plain[byte] : t->last[byte], .next = i + 1, .before = i - 1 };
    }
    for (int i = 0; i < n; i++) look_at_pair(t, r, p, i, n);
    while (r->heaped) {
        uint64_t pair = pop_pair(r);
        int i = (int)(uint32_t)pair, gone;
        if (p[i].rank != (int)(pair >> 32)) continue;      /* one of the two has been merged since */
        gone = p[i].next;
        p[i].symbol = p[i].made;
        p[i].next = p[gone].next;
        p[gone].rank = -1;                                 /* its pairs in the heap are stale */
        if (p[i].next < n) p[p[i].next].before = i;
        look_at_pair(t, r, p, i, n);
        if (p[i].before >= 0) look_at_pair(t, r, p, p[i].before, n);
    }
    for (int i = 0; i < n; i = p[i].next) spot_bpe_add(ids, t->id[p[i].symbol]);
}

void spot_bpe_word(const spot_bpe *t, spot_bpe_room *r, const char *word, size_t n, spot_bpe_ids *ids)
{
    spot_bpe_ids found = { .most = CACHED_IDS };
    spot_bpe_cached *w;
    uint64_t hash;

    if (n > CACHED_BYTES) {
        merge_word(t, r, word, n, ids);
        return;
    }
    hash = XXH3_64bits(word, n);
    w = &r->cache[hash & (r->slots - 1)];
    if (w->bytes != n || w->hash != hash || memcmp(w->word, word, n)) {
        found.id = w->id;
        w->bytes = 0;                                      /* the slot's old word is lost, also if this one has too many ids */
        merge_word(t, r, word, n, &found);
        if (found.count > CACHED_IDS) {
            merge_word(t, r, word, n, ids);
            return;
        }
        memcpy(w->word, word, n);
        w->hash = hash;
        w->bytes = (uint8_t)n;
        w->count = (uint8_t)found.count;
    }
    for (int i = 0; i < w->count; i++) spot_bpe_add(ids, w->id[i]);
}
