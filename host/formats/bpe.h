/* bpe.h - CLIP's tokenizer: sentences -> ids, by merging pairs of bytes.
 *
 * The vocabulary comes from OpenAI's bpe_simple_vocab_16e6.txt (or .txt.gz), from Hugging Face's vocab.json with merges.txt
 * beside it, from a tokenizer.json, or from a folder that holds one of them; the content decides, not the name. A smaller
 * vocabulary in one of these formats is as good. A file of merges without a vocab.json has OpenAI's ids: 256 bytes, the 256
 * bytes at the end of a word, the merges in the file's order, <|startoftext|>, <|endoftext|>.
 *
 * The ids are those of transformers' CLIPTokenizer: normal form C, lower case character by character, and spaces of any kind
 * and number part words. <|endoftext|> in a text, in this very spelling, becomes its id. OpenAI's own program also mends what
 * was read wrongly and puts characters in the place of HTML entities. Here such texts are refused, since nobody means them so:
 * in ASCII without '&' and control characters both programs give the same ids. */
#ifndef SPOTTER_BPE_H
#define SPOTTER_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spotter/ctx.h"

typedef struct spot_bpe spot_bpe;

/* Reads the vocabulary. size: tokens that the model has, at which a file of merges is cut; 0: OpenAI's 49,408, or as many as a
 * smaller file has. SPOT_INPUT, with file and line or symbol, for a vocabulary that is none. close accepts NULL. */
spot_status spot_bpe_open (spot_ctx *c, spot_bpe **out, const char *path, int size);
void        spot_bpe_close(spot_bpe *t);

typedef struct { int size, merges, start, end; } spot_bpe_info;      /* size: greatest id + 1 */
spot_bpe_info spot_bpe_about(const spot_bpe *t);

typedef struct {
    const char *const *text;      /* (n) UTF-8 */
    int      n, context;          /* context: ids of a row, at least 2 */
    int      first;               /* texts that come before, for the number of a text in a sentence */
    bool     cut;                 /* a longer text is cut, its last id the end; else it is SPOT_INPUT */
    bool     quiet;               /* no warnings; spot_bpe_warn gives them for several calls together */
    int32_t *id;                  /* (n, context) result: start, ids, end, then zeros */
    int     *length;              /* (n) result: ids of a row without the zeros */
    int      cuts;                /* result: texts that were cut */
} spot_bpe_texts;

/* Encodes with c's threads; the ids do not depend on them. Several threads, each with its own c, may share a tokenizer. Warns
 * once for all texts that were cut. SPOT_INPUT names the first text that has a flaw or, unless it may be cut, is too
 * long. */
spot_status spot_bpe_encode(spot_ctx *c, const spot_bpe *t, spot_bpe_texts *b);

/* Warns of b->cuts among b->n texts. */
void spot_bpe_warn(spot_ctx *c, const spot_bpe_texts *b);

/* The first byte of a flaw in n bytes of a text that ends in NUL, or n: bytes that are not UTF-8, U+FFFD and the control
 * characters U+0080 to U+009F, which a wrong encoding leaves behind, and HTML entities (&amp; &#39;), whose names are not
 * looked up. */
size_t spot_bpe_flaw(const char *text, size_t n);

/* SPOT_INPUT with a sentence about the first flaw, which begins with `where` ("words.txt: line 3"). */
spot_status spot_bpe_check(spot_ctx *c, const char *where, const char *text);

#endif
