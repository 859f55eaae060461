/* feature_blocks.c - see feature_blocks.h. */
#include "discover/subject/feature_blocks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/key.h"
#include "discover/subject/subject_memory.h"

static void copy_columns(float *to, int wide, const float *from, int d, int n)
{
    for (int i = 0; i < n; i++) memcpy(to + (size_t)i * (size_t)wide, from + (size_t)i * (size_t)d, (size_t)d * sizeof *to);
}

size_t spot_block_bytes(const spot_subject *s, int d)
{
    return s->blocks ? (size_t)s->n * ((size_t)s->d + (size_t)d) * sizeof *s->feature : 0;
}

spot_status spot_block_add(spot_ctx *c, spot_subject *s, float *feature, int d, const char *encoder)
{
    const int wide = s->d + d;
    float *all = feature;

    if (s->blocks == SPOT_MOST_BLOCKS)
        return spot_fail(c, SPOT_INPUT, "features come from more than %d sources; join some of them", SPOT_MOST_BLOCKS);
    if (s->blocks) {
        SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, all, (size_t)s->n * (size_t)wide));
        copy_columns(all, wide, s->feature, s->d, s->n);
        copy_columns(all + s->d, wide, feature, d, s->n);
        spot_subject_drop(s, s->feature);
        spot_subject_drop(s, feature);
    }
    s->feature = all;
    s->d = s->blocks ? wide : d;
    s->block[s->blocks] = (spot_feature_block){ .d = d, .scale = 1 };
    snprintf(s->block[s->blocks++].encoder, sizeof s->block->encoder, "%s", encoder);
    return SPOT_OK;
}

/* The sum of the variances of the columns of each block; row by row, as the features lie. column: (2 * s->d) for scratch. */
static void total_variances(double sum[SPOT_MOST_BLOCKS], const spot_subject *s, double *column)
{
    const size_t d = (size_t)s->d;
    double *mean = column, *squares = column + d;

    memset(column, 0, 2 * d * sizeof *column);
    for (size_t i = 0; i < (size_t)s->n; i++)
        for (size_t k = 0; k < d; k++) mean[k] += (double)s->feature[i * d + k];
    for (size_t k = 0; k < d; k++) mean[k] /= s->n;
    for (size_t i = 0; i < (size_t)s->n; i++)
        for (size_t k = 0; k < d; k++) {
            const double v = (double)s->feature[i * d + k] - mean[k];
            squares[k] += v * v;
        }
    for (int b = 0, k = 0; b < s->blocks; b++) {
        sum[b] = 0;
        for (const int end = k + s->block[b].d; k < end; k++) sum[b] += squares[k] / s->n;
    }
}

static spot_status check_known(spot_ctx *c, const spot_subject *s, const spot_feature_block *known, int blocks)
{
    const int sources = blocks ? blocks : 1;               /* the findings do not keep a single one */

    if (s->blocks != sources)
        return spot_fail(c, SPOT_INPUT, "{blocks.number} sources of features: %d here, %d in the findings; give as many, in "
                         "their order", s->blocks, sources);
    for (int b = 0; b < blocks; b++) {
        const spot_feature_block *now = &s->block[b], *then = &known[b];
        if (now->d != then->d)
            return spot_fail(c, SPOT_INPUT, "{blocks.width} source %d has %d numbers a row, and %d in the findings: give the "
                             "same sources in the same order", b + 1, now->d, then->d);
        if (*now->encoder && *then->encoder && strcmp(now->encoder, then->encoder))
            return spot_fail(c, SPOT_INPUT, "{blocks.encoder} source %d has features of the encoder %s, and of %s in the "
                             "findings: they cannot be compared", b + 1, now->encoder, then->encoder);
    }
    return SPOT_OK;
}

static void name_encoder(spot_subject *s)
{
    spot_key k = spot_key_of("joined", 6);

    for (int b = 0; b < s->blocks; b++) k = spot_key_join(k, "block", s->block[b].encoder, strlen(s->block[b].encoder));
    snprintf(s->encoder, sizeof s->encoder, "joined-%016" PRIx64, k.hi);
}

spot_status spot_blocks_scale(spot_ctx *c, spot_subject *s, const spot_feature_block *known, int blocks)
{
    double variance[SPOT_MOST_BLOCKS] = { 0 }, *column;

    if (known) SPOT_TRY(check_known(c, s, known, blocks));
    if (s->blocks < 2) {
        s->blocks = 0;
        return SPOT_OK;
    }
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, column, 2 * (size_t)s->d));
    if (!known) total_variances(variance, s, column);
    for (int b = 0, first = 0; b < s->blocks; first += s->block[b++].d) {
        const float scale = known ? known[b].scale : variance[b] > 0 ? (float)(1 / sqrt(variance[b])) : 1;
        s->block[b].scale = scale;
#pragma omp parallel for num_threads(c->threads)
        for (int i = 0; i < s->n; i++)
            for (int k = first; k < first + s->block[b].d; k++) s->feature[(size_t)i * (size_t)s->d + (size_t)k] *= scale;
    }
    name_encoder(s);
    return SPOT_OK;
}
