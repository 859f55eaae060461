/* bpe.h - CLIP's tokenizer: sentences -> ids, by merging pairs of bytes.
 *
 * The vocabulary comes from OpenAI's bpe_simple_vocab_16e6.txt (or .txt.gz), from Hugging Face's vocab.json with merges.txt
 * beside it, from a tokenizer.json, or from a folder that holds one of them; the content decides, not the name. A smaller
 * vocabulary in one of these formats is as good. A file of merges without a vocab.json has OpenAI's ids: 256 bytes, the 256
 * bytes at the end of a word, the merges in the file's order, <|startoftext|>, <|endoftext|>.
 *
 * A profile names how a text is cleaned before it is split, since the two programs in use differ; print it with results.
 *   fast     transformers' CLIPTokenizer: NFC, then lower case character by character. <|endoftext|> in a text, in this very
 *            spelling, becomes its id.
 *   openai   OpenAI's: ftfy.fix_text (6.3), html.unescape twice, lower case with the Greek final sigma. Special tokens in a
 *            text count where a word begins. ftfy's repair of mojibake (UTF-8 that was read as another encoding) is left out.
 *            Texts where it could act are counted: those in which a control character of U+0080 to U+009F stands, or two
 *            neighbours of U+0080 to U+25FF (or U+F8FF, U+FB01, U+FB02, U+FFFD), or such a character before U+001A, or two of
 *            them with a '?' between, or one of 50 (such as U+00C3) before a space or a '?'. All other texts get ftfy's ids.
 * In ASCII without '&' and control characters both give the same ids. */
#ifndef SPOTTER_BPE_H
#define SPOTTER_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spotter/ctx.h"

typedef enum { SPOT_BPE_FAST, SPOT_BPE_OPENAI, SPOT_BPE_PROFILES } spot_bpe_profile;

extern const char *const spot_bpe_profile_name[SPOT_BPE_PROFILES];      /* "fast", "openai" */

typedef struct spot_bpe spot_bpe;

/* Reads the vocabulary. size: tokens that the model has, at which a file of merges is cut; 0: OpenAI's 49,408, or as many as a
 * smaller file has. SPOT_INPUT, with file and line or symbol, for a vocabulary that is none. close accepts NULL. */
spot_status spot_bpe_open (spot_ctx *c, spot_bpe **out, const char *path, int size, spot_bpe_profile profile);
void        spot_bpe_close(spot_bpe *t);

typedef struct { int size, merges, start, end; spot_bpe_profile profile; } spot_bpe_info;      /* size: greatest id + 1 */
spot_bpe_info spot_bpe_about(const spot_bpe *t);

typedef struct {
    const char *const *text;      /* (n) UTF-8 */
    int      n, context;          /* context: ids of a row, at least 2 */
    bool     cut;                 /* a longer text is cut, its last id the end; else it is SPOT_INPUT */
    bool     quiet;               /* no warnings */
    int32_t *id;                  /* (n, context) result: start, ids, end, then zeros */
    int     *length;              /* (n) result: ids of a row without the zeros */
    int      cuts, doubtful;      /* results: texts that were cut; texts where ftfy could repair mojibake */
} spot_bpe_texts;

/* Encodes with c's threads; the ids do not depend on them. Several threads, each with its own c, may share a tokenizer. Warns
 * once for all texts that were cut, and once for the doubtful ones. SPOT_INPUT names the first text that is not UTF-8 or,
 * unless it may be cut, too long. */
spot_status spot_bpe_encode(spot_ctx *c, const spot_bpe *t, spot_bpe_texts *b);

#endif
