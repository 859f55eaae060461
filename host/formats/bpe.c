/* bpe.c - sentences -> ids: checked and lower-cased (bpe_clean.c), split into words, each word merged (bpe_word.c).
 *
 * A word is 's 't 're 've 'm 'll 'd, or letters, or one number, or other characters up to a space, letter or number. */
#include "formats/bpe_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unictype.h>
#include <unistr.h>

enum { LONGEST = 1 << 28, CHUNK = 64 };      /* bytes of a text; texts that a thread takes at a time */

static const char start_word[] = "<|startoftext|>", end_word[] = "<|endoftext|>";

void spot_bpe_close(spot_bpe *t)
{
    if (!t) return;
    free(t->id);
    free(t->merge);
    free(t);
}

spot_bpe_info spot_bpe_about(const spot_bpe *t) { return t->about; }

/* -- words of a clean text ----------------------------------------------------------------------------------------- */

enum { SPACE, LETTER, NUMBER, OTHER };

static int kind_of(ucs4_t u)
{
    if (u < 0x80) {
        if (u == ' ' || (u >= 9 && u <= 13)) return SPACE;
        if ((u | 32) >= 'a' && (u | 32) <= 'z') return LETTER;
        return u >= '0' && u <= '9' ? NUMBER : OTHER;
    }
    if (uc_is_general_category(u, UC_LETTER)) return LETTER;
    if (uc_is_general_category(u, UC_NUMBER)) return NUMBER;
    return uc_is_property_white_space(u) ? SPACE : OTHER;
}

/* The kind of the character at s, and its bytes. s is UTF-8 and n > 0. */
static int kind_at(const char *s, size_t n, size_t *bytes)
{
    ucs4_t u = (unsigned char)*s;

    *bytes = 1;
    if (u >= 0x80) *bytes = (size_t)u8_mbtouc_unsafe(&u, (const uint8_t *)s, n);
    return kind_of(u);
}

static bool begins(const char *s, size_t n, const char *word) { return n >= strlen(word) && !memcmp(s, word, strlen(word)); }

/* Bytes of a contraction at s; 0: there is none. */
static size_t contraction_at(const char *s, size_t n)
{
    static const char *const words[] = { "'s", "'t", "'re", "'ve", "'m", "'ll", "'d" };

    for (int k = 0; k < 7; k++)
        if (begins(s, n, words[k])) return strlen(words[k]);
    return 0;
}

/* Bytes of the word at s, which begins with no space. */
static size_t word_at(const char *s, size_t n)
{
    size_t bytes, word = *s == '\'' ? contraction_at(s, n) : 0;
    int kind;

    if (word) return word;
    kind = kind_at(s, n, &bytes);
    word = bytes;
    while (kind != NUMBER && word < n && kind_at(s + word, n - word, &bytes) == kind) word += bytes;
    return word;
}

/* A special token where a word begins, or NULL. */
static const char *special_at(const char *s, size_t n)
{
    return *s != '<' ? NULL : begins(s, n, start_word) ? start_word : begins(s, n, end_word) ? end_word : NULL;
}

/* A special token that only lower case has made is three words. */
static size_t encode_special(const spot_bpe *t, spot_bpe_room *r, const char *special, spot_bpe_ids *ids)
{
    size_t n = strlen(special);

    spot_bpe_word(t, r, special, 2, ids);
    spot_bpe_word(t, r, special + 2, n - 4, ids);
    spot_bpe_word(t, r, special + n - 2, 2, ids);
    return n;
}

static void encode_part(const spot_bpe *t, spot_bpe_room *r, const char *text, size_t n, spot_bpe_ids *ids)
{
    const char *s, *end;

    spot_bpe_clean(r, text, n);
    s = r->clean.bytes;
    end = s + r->clean.used;
    while (!r->status && s < end) {
        size_t left = (size_t)(end - s), bytes;
        const char *special = special_at(s, left);
        if (special) {
            s += encode_special(t, r, special, ids);
        } else if (kind_at(s, left, &bytes) == SPACE) {
            s += bytes;
        } else {
            bytes = word_at(s, left);
            spot_bpe_word(t, r, s, bytes, ids);
            s += bytes;
        }
    }
}

/* Special tokens are taken out before what lies between them is lower-cased. */
static void encode_text(const spot_bpe *t, spot_bpe_room *r, const char *text, size_t n, spot_bpe_ids *ids)
{
    const char *end = text + n, *s = text;

    spot_bpe_add(ids, t->about.start);
    while ((s = memchr(s, '<', (size_t)(end - s)))) {
        const char *special = special_at(s, (size_t)(end - s));
        if (special) {
            encode_part(t, r, text, (size_t)(s - text), ids);
            spot_bpe_add(ids, special == start_word ? t->about.start : t->about.end);
            text = s += strlen(special);
        } else {
            s++;
        }
    }
    encode_part(t, r, text, (size_t)(end - text), ids);
    spot_bpe_add(ids, t->about.end);
}

/* -- many texts ---------------------------------------------------------------------------------------------------- */

enum { FLAWED = -1, TOO_LARGE = -2 };      /* in place of a length */

/* Returns the length of the text before cutting, or one of the above. */
static int encode_row(const spot_bpe *t, spot_bpe_room *r, spot_bpe_texts *b, int i)
{
    spot_bpe_ids ids = { .id = b->id + (size_t)i * (size_t)b->context, .most = (size_t)b->context };
    size_t n = strlen(b->text[i]);

    memset(ids.id, 0, ids.most * sizeof *ids.id);
    if (n > LONGEST) return TOO_LARGE;
    if (spot_bpe_flaw(b->text[i], n) != n) return FLAWED;
    encode_text(t, r, b->text[i], n, &ids);
    if (ids.count > ids.most) ids.id[ids.most - 1] = t->about.end;
    return ids.count < INT_MAX ? (int)ids.count : TOO_LARGE;
}

static spot_status refuse_text(spot_ctx *c, const spot_bpe_texts *b, int i)
{
    char begin[SPOT_BPE_BEGIN], where[32];

    snprintf(where, sizeof where, "text %d", b->first + i + 1);
    if (b->length[i] == FLAWED) return spot_bpe_check(c, where, b->text[i]);
    spot_bpe_begin(begin, b->text[i]);
    if (b->length[i] == TOO_LARGE)
        return spot_fail(c, SPOT_INPUT, "%s (\"%s\") has %zu bytes; at most %d are read", where, begin, strlen(b->text[i]),
                         LONGEST);
    return spot_fail(c, SPOT_INPUT, "{text.too_long} %s (\"%s\") has %d tokens and the model takes %d; shorten it, or let long "
                     "texts be cut", where, begin, b->length[i], b->context);
}

void spot_bpe_warn(spot_ctx *c, const spot_bpe_texts *b)
{
    if (b->cuts) spot_log(c, SPOT_LOG_WARN, "%d of %d texts have more than %d tokens and were cut", b->cuts, b->n, b->context);
}

/* Judges the lengths in the order of the texts, so that the first bad one is named. */
static spot_status judge_texts(spot_ctx *c, spot_bpe_texts *b)
{
    for (int i = 0; i < b->n; i++) {
        if (b->length[i] < 0 || (b->length[i] > b->context && !b->cut)) return refuse_text(c, b, i);
        if (b->length[i] <= b->context) continue;
        b->length[i] = b->context;
        b->cuts++;
    }
    if (!b->quiet) spot_bpe_warn(c, b);
    return SPOT_OK;
}

spot_status spot_bpe_encode(spot_ctx *c, const spot_bpe *t, spot_bpe_texts *b)
{
    int failed = 0;

    if (b->n < 0 || b->context < 2)
        return spot_fail(c, SPOT_INVALID, "{bpe.row_length} %d texts cannot be encoded in rows of %d tokens", b->n, b->context);
    b->cuts = 0;
#pragma omp parallel num_threads(c->threads) if(b->n > CHUNK) reduction(+ : failed)
    {
        spot_bpe_room room;
        failed += spot_bpe_room_open(&room, (size_t)b->n * 8) != SPOT_OK;
#pragma omp for schedule(dynamic, CHUNK)
        for (int i = 0; i < b->n; i++) {
            if (room.status) continue;
            b->length[i] = encode_row(t, &room, b, i);
            failed += room.status != SPOT_OK;
        }
        spot_bpe_room_close(&room);
    }
    if (failed) return spot_fail(c, SPOT_NOMEM, "no memory to encode %d texts", b->n);
    return judge_texts(c, b);
}
