/* look_encoder.c - see look_encoder.h. */
#include "discover/describe/look_encoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/subject/feature_blocks.h"
#include "discover/subject/subject_memory.h"
#include "formats/picture.h"
#include "models/idle_cores.h"
#include "spotter/encoder.h"
#include "study/kept_encoder.h"
#include "worlds/picture_batches.h"

/* Moves the rows that are not marked to the front. */
static spot_status drop_rows(spot_ctx *c, spot_subject *s, const uint8_t *marked)
{
    int live = 0;

    while (live < s->n && !marked[live]) live++;
    if (live == s->n) return SPOT_OK;
    SPOT_TRY(spot_subject_number_rows(c, s));
    for (int i = live + 1; i < s->n; i++)
        if (!marked[i]) spot_subject_move_row(s, live++, i);
    spot_subject_keep_rows(s, live);
    return SPOT_OK;
}

/* Rows without a file were counted when the pictures were looked for. */
static spot_status drop_missing(spot_ctx *c, spot_subject *s, uint8_t *marked)
{
    for (int i = 0; i < s->n; i++) marked[i] = !s->image[i];
    return drop_rows(c, s, marked);
}

static spot_status plan(spot_ctx *c, const spot_subject *s, const spot_subject_files *files, const spot_encoder_info *e,
                        size_t *decoding)
{
    const size_t joined = files->embeddings ? spot_block_bytes(s, e->dim) : 0;
    size_t bytes = (size_t)s->n * (size_t)e->dim * sizeof(float) + e->bytes + joined, most = files->memory;

    *decoding = most > bytes ? most - bytes : SPOT_PICTURE_MEMORY;
    spot_log(c, SPOT_LOG_INFO, "%s: %d pictures, embedded by %s (%s): takes %.0f MB, and decoding at most %.0f MB",
             files->images, s->n, files->embed, e->name, (double)bytes / 1e6, (double)*decoding / 1e6);
    if (most && bytes >= most)
        return spot_fail(c, SPOT_INPUT, "%s: embedding takes %zu bytes of memory where %zu are allowed", files->images, bytes,
                         most);
    return SPOT_OK;
}

static spot_status embed_rows(spot_ctx *c, spot_subject *s, const spot_subject_files *files, spot_encoder *e, uint8_t *marked)
{
    const spot_encoder_info *about = spot_encoder_about(e);
    spot_encoder_pictures p = { .option = "--skip-unreadable", .path = s->image, .box = s->box, .n = s->n,
                                .unreadable = files->skip ? marked : NULL, .stage = "embed",
                                .skipped = &s->skipped };
    int skipped = s->skipped;

    SPOT_TRY(plan(c, s, files, about, &p.memory));
    spot_encoder_say_input(c, e, "--embed-mean, --embed-std, --embed-scale, --embed-interpolation, --resize, --crop, --size");
    s->head = NULL;
    if (!files->embeddings) s->feature = NULL, s->d = 0, s->blocks = 0;
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, p.feature, (size_t)s->n * (size_t)about->dim));
    SPOT_TRY(spot_encode_pictures(c, e, &p));
    SPOT_TRY(spot_block_add(c, s, p.feature, about->dim, about->name));
    if (s->skipped - skipped > SPOT_PICTURES_NAMED)
        spot_log(c, SPOT_LOG_WARN, "left out: %d in all that cannot be read", s->skipped - skipped);
    if (files->skip) SPOT_TRY(drop_rows(c, s, marked));
    if (!s->n) return spot_fail(c, SPOT_INPUT, "none of the pictures in %s can be read", files->images);
    snprintf(s->encoder, sizeof s->encoder, "%s", about->name);
    return SPOT_OK;
}

spot_status spot_subject_embed(spot_ctx *c, spot_subject *s, const spot_subject_files *files)
{
    spot_encoder_options o = files->encoder ? *files->encoder : spot_encoder_defaults();
    uint8_t *marked = malloc((size_t)s->n);
    spot_encoder *e = NULL;
    spot_status st = marked ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d rows", s->n);

    o.clip.use = SPOT_CLIP_USE_IMAGES;
    if (marked) st = drop_missing(c, s, marked);
    if (!st && !s->n) st = spot_fail(c, SPOT_INPUT, "none of the pictures is in %s", files->images);
    if (!st) st = spot_encoder_open(c, &e, files->embed, &o);
    if (!st) spot_warn_of_encoder(c, spot_encoder_about(e), o.clip.precision, "--embed-precision");
    if (!st) st = spot_encoder_check_features(c, e);
    if (!st && files->programs) st = spot_kept_encoder_know(c, files->programs, e);
    if (!st) st = embed_rows(c, s, files, e, marked);
    spot_encoder_close(c, e);
    free(marked);
    return st;
}
