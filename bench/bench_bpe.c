/* bench_bpe.c - captions to CLIP's ids. SPOT_CLIP_VOCABULARY names the vocabulary; without it the row takes a small one of its
 * own. bench/peers/bpe_hf.py times transformers on the same captions. */
#define _XOPEN_SOURCE 700
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/bpe.h"

enum { CONTEXT = 77, LONGEST = 160 };

typedef struct {
    spot_bpe *bpe;
    char     *text;            /* (n, LONGEST) */
    const char **at;           /* (n) */
    spot_bpe_texts b;
} bpe_state;

static const char *const words[] = {
    "a", "photo", "of", "the", "dog", "cat", "man", "woman", "standing", "sitting", "on", "in", "with", "street", "red",
    "large", "tennis", "racket", "next", "to", "table", "pizza", "snow", "water", "train", "people", "two", "holding", "white",
    "field",
};

static unsigned draw(uint32_t *x, unsigned below)
{
    *x = *x * 1664525 + 1013904223;
    return (*x >> 16) % below;
}

/* Seven common words and two rare ones, which have to be merged anew; bpe_hf.py makes the same. */
static void write_caption(char *out, uint32_t *x)
{
    for (int k = 0; k < 7; k++) out += sprintf(out, "%s ", words[draw(x, sizeof words / sizeof *words)]);
    for (int k = 0; k < 2; k++) {
        for (int n = 4 + (int)draw(x, 6); n > 0; n--) *out++ = "etaoinshrdlucmfw"[draw(x, 16)];
        *out++ = ' ';
    }
    out[-1] = 0;
}

static spot_status open_own(spot_ctx *c, spot_bpe **out)
{
    static const char merges[] = "t h\nth e</w>\na n\no n\ni n\ne r\n";
    char path[] = "/tmp/spot_bench_XXXXXX";
    int fd = mkstemp(path);
    spot_status s;

    if (fd < 0 || write(fd, merges, sizeof merges - 1) != sizeof merges - 1)
        return spot_fail(c, SPOT_IO, "no file %s can be written", path);
    close(fd);
    s = spot_bpe_open(c, out, path, 0);
    remove(path);
    return s;
}

static spot_status open_state(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    const char *vocabulary = getenv("SPOT_CLIP_VOCABULARY");
    size_t n = (size_t)size[0];
    bpe_state *s = *out = calloc(1, sizeof *s);
    uint32_t x = 1;

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    s->text = malloc(n * LONGEST);
    s->at = malloc(n * sizeof *s->at);
    s->b = (spot_bpe_texts){ .text = s->at, .n = size[0], .context = CONTEXT, .cut = true };
    s->b.id = malloc(n * CONTEXT * sizeof *s->b.id);
    s->b.length = malloc(n * sizeof *s->b.length);
    if (!s->text || !s->at || !s->b.id || !s->b.length) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    for (size_t i = 0; i < n; i++) write_caption(s->text + LONGEST * i, &x), s->at[i] = s->text + LONGEST * i;
    work->items = size[0];
    return vocabulary && *vocabulary ? spot_bpe_open(c, &s->bpe, vocabulary, 0) : open_own(c, &s->bpe);
}

static spot_status run(spot_ctx *c, void *p)
{
    bpe_state *s = p;

    return spot_bpe_encode(c, s->bpe, &s->b);
}

/* Some captions again, each alone. */
static spot_status check(spot_ctx *c, void *p)
{
    bpe_state *s = p;

    SPOT_TRY(run(c, p));
    for (int i = 0; i < s->b.n; i += 1 + s->b.n / 100) {
        int32_t id[CONTEXT];
        int length;
        spot_bpe_texts one = { .text = s->at + i, .n = 1, .context = CONTEXT, .cut = true, .id = id, .length = &length };
        SPOT_TRY(spot_bpe_encode(c, s->bpe, &one));
        if (length != s->b.length[i] || length < 11 || memcmp(id, s->b.id + (size_t)i * CONTEXT, sizeof id))
            return spot_fail(c, SPOT_CHECK, "caption %d has other ids alone than among others", i);
    }
    return SPOT_OK;
}

static void close_state(spot_ctx *c, void *p)
{
    bpe_state *s = p;

    (void)c;
    if (!s) return;
    spot_bpe_close(s->bpe);
    free(s->text);
    free((void *)s->at);
    free(s->b.id);
    free(s->b.length);
    free(s);
}

static const spot_bench_kind kind = { open_state, check, run, close_state };

const spot_bench_row spot_bench_bpe[] = {
    { "bpe", "100,000 captions", "captions", SPOT_ON_CPU, &kind, { 100000 }, { 300 } },
    { 0 },
};
