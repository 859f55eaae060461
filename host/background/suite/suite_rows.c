/* suite_rows.c - encoded targets and backgrounds. */
#include <stdlib.h>
#include <string.h>

#include "background/suite/suite_work.h"

enum { PIECE = 64 };

static bool needs_rows(const spot_background_config *cfg)
{
    return cfg->suite.choice == SPOT_SUITE_NEAREST || cfg->suite.choice == SPOT_SUITE_INTERVAL
        || cfg->suite.choice == SPOT_SUITE_CLIP || cfg->ontology.words[0];
}

/* row (n, dim) of the pictures item[0..n) of q; NULL: 0..n. */
static spot_status encode_squares(spot_ctx *c, spot_suite_work *w, float *row, spot_square_cache *q, const int *item, int n,
                                  const char *stage)
{
    const size_t bytes = 3 * (size_t)q->from.size * (size_t)q->from.size, dim = (size_t)w->encoders->dim;
    uint8_t *rgb = malloc(PIECE * bytes);
    spot_status s = rgb ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to encode pictures");

    for (int at = 0, k; at < n && s == SPOT_OK; at += k) {
        int list[PIECE];
        k = n - at < PIECE ? n - at : PIECE;
        for (int i = 0; i < k; i++) list[i] = item ? item[at + i] : at + i;
        s = spot_squares_need(c, q, list, k);
        for (int i = 0; i < k && s == SPOT_OK; i++) memcpy(rgb + (size_t)i * bytes, spot_square_rgb(q, list[i]), bytes);
        if (s == SPOT_OK) s = spot_suite_encode(c, w->encoders, row + (size_t)at * dim, rgb, k);
        spot_tell(c, stage, -1, at + k, n, "");
    }
    free(rgb);
    return s;
}

static spot_key key_of_rows(const spot_suite_work *w)
{
    const spot_background_data *d = &w->in->cfg->data;
    const int shape[3] = { d->size, d->fit, w->s->targets };
    spot_key k = spot_key_join(w->encoders->key, "shape", shape, sizeof shape);

    for (int i = 0; i < w->s->targets; i++)
        k = spot_key_join(k, "target", &w->in->picture_key[w->picture[i]], sizeof *w->in->picture_key);
    return spot_key_join(k, "backgrounds", w->in->back_key, (size_t)w->in->backgrounds * sizeof *w->in->back_key);
}

spot_status spot_suite_rows(spot_ctx *c, spot_suite_work *w)
{
    const size_t dim = (size_t)w->encoders->dim, targets = (size_t)w->s->targets, backs = (size_t)w->in->backgrounds;
    const size_t bytes = (targets + backs) * dim * sizeof *w->row;
    unsigned char *kept = NULL;
    size_t size = 0;
    bool found = false;

    if (!needs_rows(w->in->cfg)) return SPOT_OK;
    w->row = malloc(bytes + 1);
    if (!w->row) return spot_fail(c, SPOT_NOMEM, "no memory for the rows of %zu pictures", targets + backs);
    w->back_row = w->row + targets * dim;
    const spot_key k = key_of_rows(w);
    SPOT_TRY(spot_store_get(c, w->store, k, "rows", &kept, &size, &found));
    if (found && size == bytes) memcpy(w->row, kept, bytes);
    else found = false;
    free(kept);
    if (found) return SPOT_OK;
    SPOT_TRY(encode_squares(c, w, w->row, &w->in->picture, w->picture, w->s->targets, "encode targets"));
    SPOT_TRY(encode_squares(c, w, w->back_row, &w->in->background, NULL, w->in->backgrounds, "encode backgrounds"));
    return spot_store_put(c, w->store, k, "rows", w->row, bytes);
}
