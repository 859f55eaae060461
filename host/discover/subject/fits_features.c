/* fits_features.c - the features of all rows, from the fits of a folder of findings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bdm/fit.h"
#include "discover/search/vote.h"
#include "discover/subject/fits.h"
#include "discover/subject/subject_memory.h"

/* Copies the features of a finding's class; has (n): set for its rows. A fit that does not vote, or has other rows, gives
 * none. */
static void copy_class(float *feature, uint8_t *has, const spot_subject *s, const spot_fitted *g)
{
    const spot_fit_tensor *t = spot_fit_find(&g->fit, SPOT_VOTE_FEATURE);
    const size_t d = (size_t)s->d;
    int at = 0;

    if (!t || t->type != SPOT_F32 || t->columns != s->d || t->rows != spot_subject_rows(s, g->cls)) return;
    for (int i = 0; i < s->n; i++) {
        if (!spot_subject_is_of(s, i, g->cls)) continue;
        memcpy(feature + (size_t)i * d, (const float *)t->data + (size_t)at++ * d, d * sizeof *feature);
        has[i] = 1;
    }
}

/* Copies the features of the rows that no finding has, if there are as many; has: 1 for them, too. */
static void copy_left_out(float *feature, uint8_t *has, const spot_subject *s, const spot_fit *first)
{
    const spot_fit_tensor *t = spot_fit_find(first, SPOT_LEFT_OUT);
    const size_t d = (size_t)s->d;
    int rows = 0, at = 0;

    for (int i = 0; i < s->n; i++) rows += !has[i];
    if (!t || t->type != SPOT_F32 || t->columns != s->d || t->rows != rows) return;
    for (int i = 0; i < s->n; i++) {
        if (has[i]) continue;
        memcpy(feature + (size_t)i * d, (const float *)t->data + (size_t)at++ * d, d * sizeof *feature);
        has[i] = 1;
    }
}

static spot_status check_all_given(spot_ctx *c, const uint8_t *has, const spot_subject *s, const char *dir)
{
    int missing = 0, first = -1;

    for (int i = s->n - 1; i >= 0; i--)
        if (!has[i]) missing++, first = i;
    if (!missing) return SPOT_OK;
    if (missing == s->n)
        return spot_fail(c, SPOT_USAGE, "%s keeps no features, since its slices were found without a proof or none was found; "
                         "give those of its rows with --embeddings", dir);
    return spot_fail(c, SPOT_USAGE, "%s keeps no features of %d of its %d rows, such as those of class \"%.80s\", which was "
                     "not examined, or has no slice in findings of an earlier version; give the features of all rows with "
                     "--embeddings", dir, missing, s->n, s->class_name[s->target[first]]);
}

spot_status spot_fits_features(spot_ctx *c, float *feature, const spot_subject *s, const char *dir)
{
    uint8_t *has = NULL;
    spot_status how;
    spot_fits f;

    how = spot_fits_open(c, &f, dir);
    if (how == SPOT_NOMEM) return how;
    if (how)
        return spot_fail(c, SPOT_USAGE, "features are missing, give those of the rows with --embeddings: %s",
                         spot_take_message(c, how));
    has = calloc((size_t)s->n + 1, 1);
    if (!has) how = spot_fail(c, SPOT_NOMEM, "no memory for %d rows", s->n);
    for (int i = 0; !how && i < f.count; i++) copy_class(feature, has, s, &f.of[i]);
    if (!how) copy_left_out(feature, has, s, &f.of[0].fit);
    if (!how) how = check_all_given(c, has, s, dir);
    free(has);
    spot_fits_close(&f);
    return how;
}
