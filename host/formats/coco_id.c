/* coco_id.c - see coco_id.h. */
#include "formats/coco_id.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/key.h"
#include "formats/formats.h"

/* "12" or "12.0"; not "012", "+12" or "1e5", which may be names of pictures. */
static bool plain_number(int64_t *id, const char *text, size_t n)
{
    const char *point = memchr(text, '.', n);
    const size_t whole = point ? (size_t)(point - text) : n, sign = n && *text == '-';

    if (!n || *text == '+' || (whole > sign + 1 && text[sign] == '0')) return false;
    for (size_t i = whole + 1; i < n; i++)
        if (text[i] != '0') return false;
    return spot_integer(id, text, whole) && *id >= -SPOT_COCO_FAR && *id <= SPOT_COCO_FAR;
}

bool spot_coco_number(int64_t *id, const char *text, size_t n)
{
    double v;

    if (plain_number(id, text, n)) return true;
    if (!memchr(text, 'e', n) && !memchr(text, 'E', n)) return false;
    if (!spot_number(&v, text, n) || !(fabs(v) <= 0x1p53) || v != floor(v)) return false;
    *id = (int64_t)v;
    return true;
}

/* The slot of the word, which holds its offset + 1, or 0. */
static uint64_t *find_slot(const spot_coco_words *w, const spot_text *texts, const char *text, size_t n)
{
    size_t at = spot_key_of(text, n).hi & (w->slots - 1);

    for (; w->slot[at]; at = (at + 1) & (w->slots - 1)) {
        const char *word = texts->bytes + w->slot[at] - 1;
        if (!strncmp(word, text, n) && !word[n]) break;
    }
    return &w->slot[at];
}

static bool grow(spot_coco_words *w, const spot_text *texts)
{
    spot_coco_words more = { .slots = w->slots ? 2 * w->slots : 1024, .words = w->words };

    more.slot = calloc(more.slots, sizeof *more.slot);
    if (!more.slot) return false;
    for (size_t i = 0; i < w->slots; i++) {
        const char *word = w->slot[i] ? texts->bytes + w->slot[i] - 1 : NULL;
        if (word) *find_slot(&more, texts, word, strlen(word)) = w->slot[i];
    }
    free(w->slot);
    *w = more;
    return true;
}

bool spot_coco_id(int64_t *id, spot_coco_words *w, spot_text *texts, const char *text, size_t n)
{
    if (plain_number(id, text, n)) return true;
    if (2 * w->words >= w->slots && !grow(w, texts)) return false;
    uint64_t *slot = find_slot(w, texts, text, n);
    if (!*slot) {
        const size_t at = texts->used;
        spot_text_add(texts, text, n);
        spot_text_add(texts, "", 1);
        if (texts->status) return false;
        *slot = at + 1;
        w->words++;
    }
    *id = INT64_MIN + (int64_t)*slot;          /* from INT64_MIN + 1: the offset is id - INT64_MIN - 1 */
    return true;
}

const char *spot_coco_id_text(char number[24], int64_t id, const char *texts)
{
    if (spot_coco_is_word(id)) return texts + (id - INT64_MIN - 1);
    snprintf(number, 24, "%" PRId64, id);
    return number;
}
