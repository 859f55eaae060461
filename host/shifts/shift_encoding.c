/* shift_encoding.c - features of pictures, and captions -> cosines, piece by piece, through the cache. */
#define _POSIX_C_SOURCE 200809L
#include "shifts/shift_encoding.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "net/similar.h"
#include "shifts/shift_inputs.h"

/* ---- open ---- */

static spot_status check_thresholds(spot_ctx *c, const spot_shift_encoding *e)
{
    const char *chosen = e->cfg->filter.chosen_for, *label = e->cfg->encoder.label;
    bool any = false;

    for (int s = 0; s < e->cfg->shifts; s++) any |= e->cfg->shift[s].threshold > -1;
    if (!any || !strcmp(chosen, e->name) || (label[0] && !strcmp(chosen, label))) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "{encoder.chosen_for} the thresholds of the shifts were chosen for the encoder \"%s\", and "
                     "this is \"%s\"; similarities of two encoders cannot be compared. Choose them anew and set "
                     "filter.chosen_for; or, if your file is that encoder, say so in encoder.label",
                     chosen, label[0] ? label : e->name);
}

spot_encoder_options spot_shift_encoder_options(const spot_shifts_config *cfg)
{
    const spot_shift_encoder *s = &cfg->encoder;
    spot_encoder_options o = spot_encoder_defaults();

    o.vocabulary = s->vocabulary[0] ? s->vocabulary : NULL;
    o.clip.config = s->config[0] ? s->config : NULL;
    o.clip.image_heads = s->image_heads, o.clip.text_heads = s->text_heads;
    o.clip.precision = (spot_precision)s->precision;
    o.reading = cfg->data.reading;
    return o;
}

static spot_status open_encoder(spot_ctx *c, spot_shift_encoding *e)
{
    const spot_shift_encoder *s = &e->cfg->encoder;
    const spot_encoder_options o = spot_shift_encoder_options(e->cfg);
    const spot_encoder_info *info;

    SPOT_TRY(spot_encoder_open(c, &e->encoder, s->weights, &o));
    info = spot_encoder_about(e->encoder);
    if (!info->has_images || !info->has_texts)
        return spot_fail(c, SPOT_INPUT, "%s has no tower for %s; a filter by captions needs both", s->weights,
                         info->has_images ? "texts" : "pictures");
    e->dim = info->dim;
    snprintf(e->name, sizeof e->name, "%s", info->name);
    return SPOT_OK;
}

spot_status spot_shift_encoding_open(spot_ctx *c, spot_shift_encoding *e, const spot_shifts_config *cfg,
                                     const spot_shift_classes *k, const spot_store *store, spot_shift_progress *progress)
{
    *e = (spot_shift_encoding){ .cfg = cfg, .classes = k, .store = store, .progress = progress };
    if (!spot_shifts_encode(cfg)) return SPOT_OK;
    if (cfg->encoder.weights[0]) SPOT_TRY(open_encoder(c, e));
    else {
        snprintf(e->name, sizeof e->name, "%s", cfg->encoder.label);
        SPOT_TRY(spot_shift_embeddings_read(c, e, &e->caption_id, &e->caption, "captions"));
    }
    return check_thresholds(c, e);
}

void spot_shift_encoding_close(spot_ctx *c, spot_shift_encoding *e)
{
    spot_encoder_close(c, e->encoder);
    spot_array_close(&e->caption_id);
    free(e->caption);
    *e = (spot_shift_encoding){ 0 };
}

spot_status spot_shift_input_hash(spot_ctx *c, const spot_shift_encoding *e, char hash[33], const spot_shift_pictures *p)
{
    char path[SPOT_SHIFT_PATH + 600];
    spot_key k = spot_key_of(p->hash, strlen(p->hash));

    strcpy(hash, p->hash);
    if (!e->cfg->encoder.embeddings[0]) return SPOT_OK;
    spot_shift_embedding_path(path, sizeof path, e->cfg, p->id, true);
    SPOT_TRY(spot_shift_hash_file(c, &k, path));
    snprintf(path, sizeof path, "%s/%s.csv", e->cfg->encoder.embeddings, p->id);
    SPOT_TRY(spot_shift_hash_file(c, &k, path));
    spot_shift_embedding_path(path, sizeof path, e->cfg, "captions", true);
    SPOT_TRY(spot_shift_hash_file(c, &k, path));
    spot_key_text(hash, k);
    return SPOT_OK;
}

/* ---- columns ---- */

/* Whether two shifts (or -1, base) have the same class captions. */
static bool same_class_captions(const spot_shifts_config *cfg, int a, int b)
{
    char x[SPOT_CAPTION], y[SPOT_CAPTION];

    return !strcmp(spot_class_caption(x, cfg, a, "<class>"), spot_class_caption(y, cfg, b, "<class>"));
}

/* The first of base and shifts that has these class captions. */
static int first_with_captions(const spot_shifts_config *cfg, int shift)
{
    int first = SPOT_BASE_PICTURES;

    while (!same_class_captions(cfg, first, shift)) first++;
    return first;
}

int spot_real_column(const spot_shifts_config *cfg, int shift)
{
    const int first = first_with_captions(cfg, shift);
    int column = 0;

    for (int s = SPOT_BASE_PICTURES; s < first; s++) column += first_with_captions(cfg, s) == s;
    return column;
}

int spot_shift_columns(spot_shift_column *column, const spot_shifts_config *cfg, spot_shift_unit unit)
{
    int n = 0;

    if (unit.shift == SPOT_REAL_PICTURES) {
        for (int s = SPOT_BASE_PICTURES; s < cfg->shifts; s++)
            if (first_with_captions(cfg, s) == s) column[n++] = (spot_shift_column){ s, true, false };
        for (int s = 0; s < cfg->shifts; s++) column[n++] = (spot_shift_column){ s, false, false };
        column[n++] = (spot_shift_column){ SPOT_BASE_PICTURES, true, true };
        return n;
    }
    column[n++] = (spot_shift_column){ unit.shift, true, false };
    if (unit.shift >= 0) column[n++] = (spot_shift_column){ unit.shift, false, false };
    return n;
}

/* ---- captions ---- */

/* The captions of a column, (classes) or (1) malloc'd texts of SPOT_CAPTION bytes. */
static char (*list_captions(const spot_shift_encoding *e, spot_shift_column column, int *n))[SPOT_CAPTION]
{
    char (*text)[SPOT_CAPTION];

    *n = column.of_class ? e->classes->n : 1;
    text = malloc((size_t)*n * sizeof *text);
    for (int k = 0; text && k < *n; k++) {
        if (column.of_class) spot_class_caption(text[k], e->cfg, column.shift, e->classes->name[k]);
        else spot_shift_caption(text[k], e->cfg, column.shift);
    }
    return text;
}

static spot_key key_of_captions(const spot_shift_encoding *e, char (*text)[SPOT_CAPTION], int n)
{
    spot_key k = spot_key_join(spot_key_of("shifts", 6), "encoder", e->name, strlen(e->name));

    for (int i = 0; i < n; i++) k = spot_key_join(k, "caption", text[i], strlen(text[i]));
    return k;
}

static spot_status encode_captions(spot_ctx *c, spot_shift_encoding *e, float *feature, const char *const *text, int n)
{
    if (!e->encoder) return spot_shift_embeddings_pick(c, feature, &e->caption_id, e->caption, e->dim, text, n);
    return spot_encode_texts(c, e->encoder, feature, text, n);
}

/* feature (n, dim), malloc'd. */
static spot_status caption_rows(spot_ctx *c, spot_shift_encoding *e, float **feature, char (*text)[SPOT_CAPTION], int n)
{
    const spot_key key = key_of_captions(e, text, n);
    const size_t bytes = (size_t)n * e->dim * sizeof **feature;
    const char **list;
    unsigned char *kept = NULL;
    size_t size = 0;
    bool found = false;
    spot_status s;

    if (e->encoder) SPOT_TRY(spot_store_get(c, e->store, key, "captions", &kept, &size, &found));
    *feature = (float *)(void *)kept;
    if (found && size == bytes) return SPOT_OK;
    free(kept);
    *feature = malloc(bytes);
    list = malloc((size_t)n * sizeof *list);
    s = *feature && list ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d captions", n);
    for (int i = 0; i < n && s == SPOT_OK; i++) list[i] = text[i];
    if (s == SPOT_OK) s = encode_captions(c, e, *feature, list, n);
    if (s == SPOT_OK && e->encoder) s = spot_store_put(c, e->store, key, "captions", *feature, bytes);
    free(list);
    return s;
}

/* ---- similarities ---- */

typedef struct {
    spot_shift_encoding *e;
    const spot_shift_pictures *p;
    const spot_shift_column *column;
    int    columns;
    float *caption[SPOT_SHIFT_COLUMNS];        /* (classes, dim) or (1, dim) */
    const float *feature;                      /* (pictures, dim) */
    spot_key key;
    spot_similar *table;                       /* all captions on c's device; NULL until a piece is not in the store */
    spot_similar_column of[SPOT_SHIFT_COLUMNS];        /* where a column's captions stand in it */
    spot_arena there;                          /* on a device: room for a piece's rows, classes and results */
} similarity_work;

static spot_status open_table(spot_ctx *c, similarity_work *w)
{
    const size_t dim = (size_t)w->e->dim;
    size_t rows = 0;
    float *all;
    spot_status s;

    if (w->table) return SPOT_OK;
    for (int k = 0; k < w->columns; k++) {
        const int n = w->column[k].of_class ? w->e->classes->n : 1;
        w->of[k] = (spot_similar_column){ (int)rows, n, w->column[k].of_class && !w->column[k].nearest };
        rows += (size_t)n;
    }
    all = malloc(rows * dim * sizeof *all);
    if (!all) return spot_fail(c, SPOT_NOMEM, "no memory for %zu captions", rows);
    for (int k = 0; k < w->columns; k++)
        memcpy(all + (size_t)w->of[k].first * dim, w->caption[k], (size_t)w->of[k].count * dim * sizeof *all);
    s = spot_similar_open(c, &w->table, all, (int)rows, (int)dim);
    free(all);
    return s;
}

/* The arrays of a piece of n pictures; on the CPU those of the host. */
typedef struct { float *feature, *out; int *cls; } piece_arrays;

static spot_status take_piece(spot_ctx *c, const similarity_work *w, spot_arena *a, piece_arrays *p, int n)
{
    SPOT_TRY(SPOT_TAKE(c, a, p->feature, (size_t)n * (size_t)w->e->dim));
    SPOT_TRY(SPOT_TAKE(c, a, p->cls, n));
    return SPOT_TAKE(c, a, p->out, (size_t)n * (size_t)w->columns);
}

static spot_status place_piece(spot_ctx *c, similarity_work *w, piece_arrays *p, int n)
{
    const piece_arrays host = *p;

    if (!c->device) return SPOT_OK;
    if (!w->there.base) {
        spot_arena size = spot_arena_counting();
        SPOT_TRY(take_piece(c, w, &size, p, n));
        SPOT_TRY(spot_arena_open_device(c, &w->there, size.peak));
    }
    w->there.used = 0;
    SPOT_TRY(take_piece(c, w, &w->there, p, n));
    SPOT_TRY(spot_device_copy(c, p->feature, host.feature, (size_t)n * (size_t)w->e->dim * sizeof *host.feature));
    return spot_device_copy(c, p->cls, host.cls, (size_t)n * sizeof *host.cls);
}

static spot_status compare_piece(spot_ctx *c, similarity_work *w, float *out, int from, int n)
{
    const int columns = w->columns;
    piece_arrays p = { (float *)(uintptr_t)(w->feature + (size_t)from * (size_t)w->e->dim), out,
                       w->p->cls + from };

    SPOT_TRY(open_table(c, w));
    SPOT_TRY(place_piece(c, w, &p, n));
    SPOT_TRY(spot_similar_columns(c, w->table, p.out,
                                  &(spot_similar_rows){ p.feature, n, p.cls, w->of, columns }));
    SPOT_TRY(spot_device_copy(c, out, p.out, (size_t)n * (size_t)columns * sizeof *out));
    for (size_t i = 0; i < (size_t)n * columns; i++)
        if (!isfinite(out[i]))
            return spot_fail(c, SPOT_NUMERIC, "%s/%s has no direction: its embedding, or that of its caption, is zero",
                             w->p->root, w->p->list.path[from + (int)(i / columns)]);
    return SPOT_OK;
}

static spot_status find_piece(spot_ctx *c, similarity_work *w, float *out, int from, int n)
{
    const size_t bytes = (size_t)n * w->columns * sizeof *out;
    const spot_key key = spot_key_join(w->key, "piece", &(int[]){ from, n }, 2 * sizeof(int));
    unsigned char *kept = NULL;
    size_t size = 0;
    bool found = false;
    spot_status s;

    if (w->e->encoder) SPOT_TRY(spot_store_get(c, w->e->store, key, "similar", &kept, &size, &found));
    if (found && size == bytes) memcpy(out, kept, bytes);
    else found = false;
    free(kept);
    if (found) return SPOT_OK;
    s = compare_piece(c, w, out, from, n);
    if (s == SPOT_OK && w->e->encoder) s = spot_store_put(c, w->e->store, key, "similar", out, bytes);
    return s;
}

static spot_status open_captions(spot_ctx *c, similarity_work *w)
{
    w->key = spot_key_of(w->p->hash, strlen(w->p->hash));
    for (int k = 0; k < w->columns; k++) {
        spot_status s;
        char hash[33];
        int n;
        char (*text)[SPOT_CAPTION] = list_captions(w->e, w->column[k], &n);
        if (!text) return spot_fail(c, SPOT_NOMEM, "no memory for %d captions", n);
        spot_key_text(hash, key_of_captions(w->e, text, n));
        w->key = spot_key_join(w->key, w->column[k].nearest ? "nearest" : "column", hash, strlen(hash));
        s = caption_rows(c, w->e, &w->caption[k], text, n);
        free(text);
        SPOT_TRY(s);
    }
    return SPOT_OK;
}

spot_status spot_shift_similarities(spot_ctx *c, spot_shift_encoding *e, float **similarity, const spot_shift_pictures *p,
                                    const float *feature, const spot_shift_column *column, int columns)
{
    similarity_work w = { .e = e, .p = p, .feature = feature, .column = column, .columns = columns };
    const int n = p->list.n, piece = spot_shift_piece(e);
    spot_status s;

    *similarity = malloc((size_t)n * columns * sizeof **similarity);
    if (!*similarity) return spot_fail(c, SPOT_NOMEM, "no memory for the similarities of %d pictures", n);
    s = open_captions(c, &w);
    for (int from = 0; from < n && s == SPOT_OK; from += piece) {
        s = spot_check_stop(c);
        if (s == SPOT_OK)
            s = find_piece(c, &w, *similarity + (size_t)from * columns, from, n - from < piece ? n - from : piece);
    }
    spot_similar_close(c, w.table);
    spot_arena_close(&w.there);
    for (int k = 0; k < columns; k++) free(w.caption[k]);
    return s;
}
