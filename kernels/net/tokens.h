/* tokens.h - the ends of a transformer: pictures and words -> rows of tokens, and rows -> embeddings.
 *
 * Arrays lie in the memory of c's device. Tokens are (rows, width) fp32; patches have the given precision. Every number is one
 * sum or product rounded once, the same bits on every device, except unit: within 2e-6. */
#ifndef SPOTTER_TOKENS_H
#define SPOTTER_TOKENS_H

#include "net/conv.h"

/* Square pictures cut into patches, (side / patch)^2 of each; pixels behind the last whole patch are left out. */
typedef struct {
    int n, side, patch;
    const float *value;              /* (3, 256): the input of the network for each byte of a channel */
    spot_precision precision;
} spot_patches;

/* Tokens of n pictures: `first` (width), then the count patches of a picture; plus position (count + 1, width). */
typedef struct { const float *patch, *first, *position; int n, count, width; } spot_picture_tokens;

/* Row r is table[id[r]] + position[place[r]]. The caller has checked id and place. */
typedef struct { const int *id, *place; const float *table, *position; int rows, width; } spot_word_tokens;

/* The mean of the tokens from `first` to before `last` of each of n pictures, which have `each` tokens. Rows of the result, in
 * that precision, begin `pitch` numbers one behind the other. */
typedef struct { int n, each, first, last, width, pitch; spot_precision precision; } spot_token_mean;

struct spot_tokens_ops {
    spot_status (*patches)(spot_ctx *c, void *row, const uint8_t *rgb, const spot_patches *p);
    spot_status (*join)(spot_ctx *c, float *x, const spot_picture_tokens *t);
    spot_status (*words)(spot_ctx *c, float *x, const spot_word_tokens *t);
    spot_status (*pick)(spot_ctx *c, float *y, const float *x, const int *row, int n, int width);
    spot_status (*unit)(spot_ctx *c, float *x, int n, int width);
    spot_status (*mean)(spot_ctx *c, void *y, const float *x, const spot_token_mean *m);
};

/* rgb (n, side, side, 3) -> rows (n, patches, 3 patch patch): the patches of a picture from left to right, then down; the
 * numbers of a patch as in a convolution's weights, (3, patch, patch). */
spot_status spot_tokens_patches(spot_ctx *c, void *row, const uint8_t *rgb, const spot_patches *p);

/* x (n, count + 1, width); x (rows, width). */
spot_status spot_tokens_join (spot_ctx *c, float *x, const spot_picture_tokens *t);
spot_status spot_tokens_words(spot_ctx *c, float *x, const spot_word_tokens *t);

/* y[i] = x[row[i]] for n rows. */
spot_status spot_tokens_pick(spot_ctx *c, float *y, const float *x, const int *row, int n, int width);

/* x (n, each, width) -> y (n, width) of (n, pitch); sums in double. y must not be x. */
spot_status spot_tokens_mean(spot_ctx *c, void *y, const float *x, const spot_token_mean *m);

/* Each row divided by its length; a row of zeros becomes NaN. */
spot_status spot_tokens_unit(spot_ctx *c, float *x, int n, int width);

#endif
