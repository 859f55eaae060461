/* mesh_pictures.c - the pictures that a model's materials name -> textures: colours and, in alpha, holes. */
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "formats/picture.h"
#include "formats/picture_kind.h"
#include "formats/png.h"
#include "formats/tga.h"
#include "formats/webp.h"
#include "worlds/mesh_answer.h"
#include "worlds/mesh_parts.h"

/* An eighth of what is left stays for everything else. Textures below LARGE are not worth a look at what is left. */
enum { SPARE = 8, LARGE = 1 << 20 };

typedef struct {
    const spot_mesh_answer *a;
    spot_mesh_files *f;
    const char *model;
    size_t limit, kept;                    /* kept: bytes that the mesh will take for the textures so far */
    spot_mesh_repairs *repairs;
} mesh_pictures_reader;

/* A picture's bytes: of a file, or borrowed from the answer. */
typedef struct { const uint8_t *bytes; size_t n; spot_mesh_file file; char name[200]; } source;

static spot_status find_source(spot_ctx *c, source *s, mesh_pictures_reader *r, const spot_mesh_picture *p)
{
    static const char *const reason[] = { "", "it is not there", "it lies outside the model's folder", "it is too large", "" };
    const char *name = (const char *)p->bytes;

    *s = (source){ p->bytes, p->n, { SPOT_FILE_THERE, NULL, 0, "" }, "an embedded picture" };
    if (p->embedded) return SPOT_OK;
    snprintf(s->name, sizeof s->name, "%s", name);
    spot_plain(s->name);
    SPOT_TRY(spot_mesh_file_read(c, &s->file, r->f, r->model, name, r->limit));
    s->bytes = s->file.bytes, s->n = s->file.n;
    r->repairs->refused += s->file.state == SPOT_FILE_OUTSIDE;
    if (!s->bytes)
        spot_log(c, SPOT_LOG_DEBUG, "%s: no texture %s: %s", r->model, s->name,
                 s->file.why[0] ? s->file.why : reason[s->file.state]);
    return SPOT_OK;
}

/* A file that no mark decides may be a TGA. */
static bool is_tga(const source *s) { return !spot_picture_kind_of(s->bytes, s->n) && spot_tga_is(s->bytes, s->n, NULL, NULL); }

static bool is_clear_webp(const source *s)
{
#ifdef SPOT_HAS_WEBP
    return spot_webp_is(s->bytes, s->n) && spot_webp_has_alpha(s->bytes, s->n);
#else
    return (void)s, false;
#endif
}

static bool has_alpha(const source *s)
{
    return is_tga(s) ? spot_tga_has_alpha(s->bytes, s->n) : is_clear_webp(s) || spot_png_has_alpha(s->bytes, s->n);
}

/* Whether `decode` makes one byte a pixel of it. */
static bool has_mask(const source *s) { return is_tga(s) || is_clear_webp(s) || spot_png_is(s->bytes, s->n); }

static spot_status decode_source(spot_ctx *c, spot_picture *p, const source *s, bool mask)
{
    if (is_tga(s)) return spot_tga_decode(c, p, s->bytes, s->n, s->name, mask);
#ifdef SPOT_HAS_WEBP
    if (mask && is_clear_webp(s)) return spot_webp_alpha(c, p, s->bytes, s->n, s->name);
#endif
    if (mask && has_mask(s)) return spot_png_mask(c, p, s->bytes, s->n, s->name);
    return spot_picture_decode(c, p, s->bytes, s->n, s->name);
}

/* Decodes the source to RGB, or to one byte a pixel: its alpha where it has some, else its grey. why: words about a picture
 * that is lost, else "". Fails for memory, before it is taken: nobody leaves such a picture out. */
static spot_status decode(spot_ctx *c, spot_picture *p, const source *s, bool mask, char *why, size_t size)
{
    spot_ctx quiet = { 0 };
    spot_blob in = spot_blob_memory(s->bytes, s->n, s->name);
    spot_picture_cost cost;
    spot_status status = spot_picture_cost_of(&quiet, &cost, &in);

    if (is_tga(s)) {
        spot_tga_is(s->bytes, s->n, &cost.width, &cost.height);
        cost.pixels = 3 * (size_t)(cost.width * cost.height);
    }
    *why = 0;
    if (status == SPOT_OK) status = spot_gate_take(&quiet, p, &cost, s->name);
    if (status == SPOT_OK) status = decode_source(&quiet, p, s, mask);
    if (status == SPOT_NOMEM) return spot_fail_from(c, status, &quiet);
    if (status) snprintf(why, size, "%s", spot_message(&quiet, status));
    return SPOT_OK;
}

/* The alpha of a colour picture, or the holes of another: multiplies the texture's alpha, at the nearest pixels. */
static void put_alpha(spot_mesh_texture *t, const spot_picture *p, int channels)
{
    for (int y = 0; y < t->height; y++)
        for (int x = 0; x < t->width; x++) {
            const size_t from = (size_t)((int64_t)y * p->height / t->height) * (size_t)p->width
                              + (size_t)((int64_t)x * p->width / t->width);
            uint8_t *alpha = t->texel + 4 * ((size_t)y * (size_t)t->width + (size_t)x) + 3;
            *alpha = (uint8_t)((*alpha * p->rgb[from * (size_t)channels] + 127) / 255);
        }
}

static spot_status start_texture(spot_ctx *c, spot_mesh_texture *t, const spot_picture *p, const char *name, size_t kept)
{
    const size_t bytes = 4 * (size_t)p->width * (size_t)p->height;
    const char *whose;
    const size_t all = spot_room_of_all(&whose), left = all - all / SPARE;

    *t = (spot_mesh_texture){ p->width, p->height, 1, bytes < LARGE || bytes + kept <= left ? malloc(bytes) : NULL };
    if (t->texel) memset(t->texel, 255, bytes);
    return t->texel ? SPOT_OK
         : spot_fail(c, SPOT_NOMEM, "{mesh.texture_room} %s: a texture of %d x %d pixels takes %.1f MB of memory, those before "
                     "it %.1f, and %s leaves %.1f; give more memory, or save the pictures smaller", name, p->width, p->height,
                     (double)bytes / 1e6, (double)kept / 1e6, whose, (double)left / 1e6);
}

static void cut_alpha(spot_mesh_texture *t, float cutoff)
{
    for (size_t i = 0; i < (size_t)t->width * (size_t)t->height; i++)
        t->texel[4 * i + 3] = (float)t->texel[4 * i + 3] >= cutoff * 255 ? 255 : 0;
}

static spot_status add_colours(spot_ctx *c, spot_mesh_texture *t, spot_picture *p, const source *s,
                               const spot_wire_texture *w, size_t kept)
{
    char why[200];

    SPOT_TRY(start_texture(c, t, p, s->name, kept));
    for (size_t i = 0; i < (size_t)p->width * (size_t)p->height; i++) memcpy(t->texel + 4 * i, p->rgb + 3 * i, 3);
    if (w->alpha != SPOT_WIRE_OPAQUE && has_alpha(s)) {
        SPOT_TRY(decode(c, p, s, true, why, sizeof why));
        if (!*why) put_alpha(t, p, 1);
    }
    if (w->alpha == SPOT_WIRE_CUT) cut_alpha(t, w->cutoff);
    return SPOT_OK;
}

static spot_status add_holes(spot_ctx *c, spot_mesh_texture *t, spot_picture *p, const source *s, size_t kept)
{
    if (!t->width) SPOT_TRY(start_texture(c, t, p, s->name, kept));
    put_alpha(t, p, has_mask(s) ? 1 : 3);
    return SPOT_OK;
}

/* One of a texture's two pictures; one that is lost leaves it as it is. */
static spot_status add_picture(spot_ctx *c, mesh_pictures_reader *r, spot_mesh_texture *t, const spot_wire_texture *w,
                               bool holes)
{
    spot_picture p = { 0 };
    spot_status s = SPOT_OK;
    char why[200] = "";
    bool found;
    source from;

    SPOT_TRY(find_source(c, &from, r, &r->a->picture[holes ? w->holes : w->colour]));
    if (from.bytes) s = decode(c, &p, &from, holes, why, sizeof why);
    found = s == SPOT_OK && from.bytes && !*why;
    if (found) s = holes ? add_holes(c, t, &p, &from, r->kept) : add_colours(c, t, &p, &from, w, r->kept);
    if (*why) spot_log(c, SPOT_LOG_DEBUG, "%s: no texture: %s", r->model, why);
    r->repairs->lost_textures += !found;
    if (!found) spot_mesh_repairs_name(r->repairs, from.name);
    spot_picture_close(&p);
    free(from.file.bytes);
    return s;
}

static spot_status read_texture(spot_ctx *c, mesh_pictures_reader *r, spot_mesh_texture *t, const spot_wire_texture *w)
{
    if (w->colour >= 0) SPOT_TRY(add_picture(c, r, t, w, false));
    if (w->holes >= 0 && w->holes != w->colour) SPOT_TRY(add_picture(c, r, t, w, true));
    if (!t->width) return SPOT_OK;
    spot_mesh_reduce(t);
    uint8_t *less = realloc(t->texel, 4 * (size_t)t->width * (size_t)t->height);
    if (less) t->texel = less;
    r->kept += spot_mesh_texture_bytes(t->width, t->height, spot_mesh_levels_of(t->width, t->height));
    return SPOT_OK;
}

spot_status spot_mesh_pictures_read(spot_ctx *c, spot_mesh_texture *texture, spot_mesh_repairs *repairs,
                                    const spot_mesh_answer *a, spot_mesh_files *f, const char *model, size_t limit)
{
    mesh_pictures_reader r = { a, f, model, limit, 0, repairs };

    for (int i = 0; i < a->textures; i++) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(read_texture(c, &r, &texture[i], &a->texture[i]));
    }
    return SPOT_OK;
}
