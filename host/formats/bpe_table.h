/* bpe_table.h - a vocabulary in memory, and the memory in which a thread uses it; shared by the files of bpe.h.
 *
 * Symbols are numbered as they were read; id[number] is the token. So a file may give any ids. */
#ifndef SPOTTER_BPE_TABLE_H
#define SPOTTER_BPE_TABLE_H

#include "base/text.h"
#include "formats/bpe.h"

/* One slot of a hash table of merges with linear probing; rank -1: empty. */
typedef struct { int left, right, rank, made; } spot_bpe_merge;

struct spot_bpe {
    spot_bpe_info   about;
    int             plain[256], last[256];      /* symbols of a byte, within a word and at its end */
    int32_t        *id;                         /* (symbols) */
    spot_bpe_merge *merge;                      /* (slots), a power of two */
    size_t          slots;
};

/* The slot of a merge, or the empty one where it belongs. */
static inline spot_bpe_merge *spot_bpe_find(const spot_bpe *t, int left, int right)
{
    uint64_t key = ((uint64_t)(unsigned)left << 32 | (unsigned)right) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(key >> 32) & (t->slots - 1);

    while (t->merge[at].rank >= 0 && (t->merge[at].left != left || t->merge[at].right != right)) at = (at + 1) & (t->slots - 1);
    return &t->merge[at];
}

typedef struct spot_bpe_cached spot_bpe_cached;

/* Memory of one thread; it grows to the longest text, so that no word allocates. */
typedef struct {
    spot_text  clean, composed, parts;  /* texts on their way; parts: the arrays of a word */
    uint64_t  *heap;                    /* (heaped) merges of the word that wait: rank << 32 | position */
    size_t     heaped;
    spot_bpe_cached *cache;             /* (slots) words that were met before, a power of two */
    size_t     slots;
    spot_status status;                 /* SPOT_NOMEM */
} spot_bpe_room;

spot_status spot_bpe_room_open (spot_bpe_room *r, size_t words);      /* words: about so many are expected */
void        spot_bpe_room_close(spot_bpe_room *r);

/* Ids that are collected: `count` goes on beyond `most`. */
typedef struct { int32_t *id; size_t count, most; } spot_bpe_ids;

static inline void spot_bpe_add(spot_bpe_ids *ids, int32_t id)
{
    if (ids->count < ids->most) ids->id[ids->count] = id;
    ids->count++;
}

void spot_bpe_word(const spot_bpe *t, spot_bpe_room *r, const char *word, size_t n, spot_bpe_ids *ids);

/* n bytes of UTF-8 into r->clean, in normal form C and lower case. Spaces stay: no later step looks at more than that they part
 * words. */
void spot_bpe_clean(spot_bpe_room *r, const char *text, size_t n);

/* The first bytes of a text for a sentence. Returns `begin`. */
enum { SPOT_BPE_BEGIN = 48 };
const char *spot_bpe_begin(char begin[SPOT_BPE_BEGIN], const char *text);

#endif
