/* keywords_similar.c - keywords of pictures by the similarity of embeddings. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "background/suite/keywords.h"

/* The most similar words of a picture, by insertion; ascending numbers at the end. */
static void find_top(int *out, float *score, const float *row, const spot_keyword_rows *r, int top)
{
    int n = 0;

    for (int w = 0; w < r->words; w++) {
        float s = 0;
        int at;
        for (int i = 0; i < r->dim; i++) s += row[i] * r->text[(size_t)w * (size_t)r->dim + (size_t)i];
        for (at = n < top ? n++ : n; at > 0 && score[at - 1] < s; at--)
            if (at < top) score[at] = score[at - 1], out[at] = out[at - 1];
        if (at < top) score[at] = s, out[at] = w;
    }
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && out[k - 1] > out[k]; k--) {
            const int swap = out[k];
            out[k] = out[k - 1], out[k - 1] = swap;
        }
}

static bool fill_similar(spot_ctx *c, spot_baskets *b, const float *rows, int n, const spot_keyword_rows *r)
{
    const int top = r->top < r->words ? r->top : r->words;
    int *first = malloc(((size_t)n + 1 + (size_t)n * (size_t)top + 1) * sizeof *first), *item = first ? first + n + 1 : NULL;
    float *score = malloc(((size_t)n * (size_t)top + 1) * sizeof *score);

    if (!first || !score) return free(first), free(score), false;
    for (int i = 0; i <= n; i++) first[i] = i * top;
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < n; i++)
        find_top(item + (size_t)i * (size_t)top, score + (size_t)i * (size_t)top, rows + (size_t)i * (size_t)r->dim, r, top);
    free(score);
    *b = (spot_baskets){ n, r->words, first, item };
    return true;
}

spot_status spot_keywords_similar(spot_ctx *c, spot_keywords *k, const spot_keyword_rows *r)
{
    *k = (spot_keywords){ 0 };
    if (r->words < 1 || r->top < 1 || r->dim < 1)
        return spot_fail(c, SPOT_INVALID, "the %d nearest of %d words in %d dimensions", r->top, r->words, r->dim);
    k->word = calloc((size_t)r->words, sizeof *k->word);
    bool whole = k->word != NULL;
    for (; whole && k->words < r->words; k->words++) whole = (k->word[k->words] = strdup(r->word[k->words])) != NULL;
    whole = whole && fill_similar(c, &k->images, r->image, r->images, r)
         && fill_similar(c, &k->backgrounds, r->background, r->backgrounds, r);
    return whole ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the %d words of %d pictures", r->words,
                                       r->images + r->backgrounds);
}
