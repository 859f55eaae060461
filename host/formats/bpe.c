/* bpe.c - sentences -> ids: cleaned (bpe_clean.c), split into words, each word merged (bpe_word.c).
 *
 * A word is 's 't 're 've 'm 'll 'd, or letters, or one number, or other characters up to a space, letter or number. */
#include "formats/bpe_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unictype.h>
#include <unistr.h>

const char *const spot_bpe_profile_name[SPOT_BPE_PROFILES] = { "fast", "openai" };

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

/* OpenAI's pattern ignores case. U+0345 is an iota in another case, so it matches neither letters nor other characters and
 * parts words. */
static int kind_of(ucs4_t u, spot_bpe_profile profile)
{
    if (u < 0x80) {
        if (u == ' ' || (u >= 9 && u <= 13)) return SPACE;
        if ((u | 32) >= 'a' && (u | 32) <= 'z') return LETTER;
        return u >= '0' && u <= '9' ? NUMBER : OTHER;
    }
    if (uc_is_general_category(u, UC_LETTER)) return LETTER;
    if (uc_is_general_category(u, UC_NUMBER)) return NUMBER;
    return uc_is_property_white_space(u) || (u == 0x345 && profile == SPOT_BPE_OPENAI) ? SPACE : OTHER;
}

/* The kind of the character at s, and its bytes. s is UTF-8 and n > 0. */
static int kind_at(const char *s, size_t n, spot_bpe_profile profile, size_t *bytes)
{
    ucs4_t u = (unsigned char)*s;

    *bytes = 1;
    if (u >= 0x80) *bytes = (size_t)u8_mbtouc_unsafe(&u, (const uint8_t *)s, n);
    return kind_of(u, profile);
}

static bool begins(const char *s, size_t n, const char *word) { return n >= strlen(word) && !memcmp(s, word, strlen(word)); }

/* Bytes of a contraction at s; 0: there is none. In OpenAI's pattern the long s is an s, too. */
static size_t contraction_at(const char *s, size_t n, spot_bpe_profile profile)
{
    static const char *const words[] = { "'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'\xc5\xbf" };
    int count = profile == SPOT_BPE_OPENAI ? 8 : 7;

    for (int k = 0; k < count; k++)
        if (begins(s, n, words[k])) return strlen(words[k]);
    return 0;
}

/* Bytes of the word at s, which begins with no space. */
static size_t word_at(const char *s, size_t n, spot_bpe_profile profile)
{
    size_t bytes, word = *s == '\'' ? contraction_at(s, n, profile) : 0;
    int kind;

    if (word) return word;
    kind = kind_at(s, n, profile, &bytes);
    word = bytes;
    while (kind != NUMBER && word < n && kind_at(s + word, n - word, profile, &bytes) == kind) word += bytes;
    return word;
}

/* A special token where a word begins, or NULL. */
static const char *special_at(const char *s, size_t n)
{
    return *s != '<' ? NULL : begins(s, n, start_word) ? start_word : begins(s, n, end_word) ? end_word : NULL;
}

/* Encodes a special token that stands in the clean text: an id, or three words in fast, which has taken those that were
 * spelled so before cleaning. */
static size_t encode_special(const spot_bpe *t, spot_bpe_room *r, const char *special, spot_bpe_ids *ids)
{
    size_t n = strlen(special);

    if (t->about.profile == SPOT_BPE_OPENAI) {
        spot_bpe_add(ids, special == start_word ? t->about.start : t->about.end);
    } else {
        spot_bpe_word(t, r, special, 2, ids);
        spot_bpe_word(t, r, special + 2, n - 4, ids);
        spot_bpe_word(t, r, special + n - 2, 2, ids);
    }
    return n;
}

static void encode_part(const spot_bpe *t, spot_bpe_room *r, const char *text, size_t n, spot_bpe_ids *ids)
{
    const char *s, *end;

    spot_bpe_clean(t->about.profile, r, text, n);
    s = r->clean.bytes;
    end = s + r->clean.used;
    while (!r->status && s < end) {
        size_t left = (size_t)(end - s), bytes;
        const char *special = special_at(s, left);
        if (special) {
            s += encode_special(t, r, special, ids);
        } else if (kind_at(s, left, t->about.profile, &bytes) == SPACE) {
            s += bytes;
        } else {
            bytes = word_at(s, left, t->about.profile);
            spot_bpe_word(t, r, s, bytes, ids);
            s += bytes;
        }
    }
}

/* fast takes special tokens out of the text before it cleans what lies between them. */
static void encode_text(const spot_bpe *t, spot_bpe_room *r, const char *text, size_t n, spot_bpe_ids *ids)
{
    const char *end = text + n, *s = text;

    spot_bpe_add(ids, t->about.start);
    while (t->about.profile == SPOT_BPE_FAST && (s = memchr(s, '<', (size_t)(end - s)))) {
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

enum { NOT_UTF8 = -1, TOO_LARGE = -2 };      /* in place of a length */

/* Returns the length of the text before cutting, or one of the above. */
static int encode_row(const spot_bpe *t, spot_bpe_room *r, spot_bpe_texts *b, int i)
{
    spot_bpe_ids ids = { .id = b->id + (size_t)i * (size_t)b->context, .most = (size_t)b->context };
    size_t n = strlen(b->text[i]);

    memset(ids.id, 0, ids.most * sizeof *ids.id);
    if (n > LONGEST) return TOO_LARGE;
    if (spot_utf8(b->text[i], n) != n) return NOT_UTF8;
    encode_text(t, r, b->text[i], n, &ids);
    if (ids.count > ids.most) ids.id[ids.most - 1] = t->about.end;
    return ids.count < INT_MAX ? (int)ids.count : TOO_LARGE;
}

static spot_status refuse_text(spot_ctx *c, const spot_bpe_texts *b, int i)
{
    char begin[48];
    size_t n = strlen(b->text[i]);

    snprintf(begin, sizeof begin, "%.40s%s", b->text[i], n > 40 ? "..." : "");
    for (char *p = begin; *p; p++)
        if (*p & 0x80) *p = '?';      /* the cut may have split a character */
    spot_plain(begin);
    if (b->length[i] == NOT_UTF8)
        return spot_fail(c, SPOT_INPUT, "text %d (\"%s\") is not UTF-8 at its byte %zu; convert it first", i + 1, begin,
                         spot_utf8(b->text[i], n));
    if (b->length[i] == TOO_LARGE)
        return spot_fail(c, SPOT_INPUT, "text %d (\"%s\") has %zu bytes; at most %d are read", i + 1, begin, n, LONGEST);
    return spot_fail(c, SPOT_INPUT, "text %d (\"%s\") has %d tokens and the model takes %d; shorten it, or let long texts be "
                     "cut", i + 1, begin, b->length[i], b->context);
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
    if (b->quiet) return SPOT_OK;
    if (b->cuts) spot_log(c, SPOT_LOG_WARN, "%d of %d texts have more than %d tokens and were cut", b->cuts, b->n, b->context);
    if (b->doubtful)
        spot_log(c, SPOT_LOG_WARN, "%d of %d texts have characters that OpenAI's tokenizer might repair as mojibake; they were "
                 "taken as they are", b->doubtful, b->n);
    return SPOT_OK;
}

spot_status spot_bpe_encode(spot_ctx *c, const spot_bpe *t, spot_bpe_texts *b)
{
    int failed = 0, doubtful = 0;

    if (b->n < 0 || b->context < 2)
        return spot_fail(c, SPOT_INVALID, "%d texts cannot be encoded in rows of %d tokens", b->n, b->context);
    b->cuts = b->doubtful = 0;
#pragma omp parallel num_threads(c->threads) if(b->n > CHUNK) reduction(+ : failed, doubtful)
    {
        spot_bpe_room room;
        failed += spot_bpe_room_open(&room, (size_t)b->n * 8) != SPOT_OK;
#pragma omp for schedule(dynamic, CHUNK)
        for (int i = 0; i < b->n; i++) {
            if (room.status) continue;
            room.doubtful = false;
            b->length[i] = encode_row(t, &room, b, i);
            doubtful += room.doubtful;
            failed += room.status != SPOT_OK;
        }
        spot_bpe_room_close(&room);
    }
    if (failed) return spot_fail(c, SPOT_NOMEM, "no memory to encode %d texts", b->n);
    b->doubtful = doubtful;
    return judge_texts(c, b);
}
