/* figures_examine_map.c - renders of searches on maps by t-SNE of their conditions: Figures 3, 4 and 6 of paper 002. */
#include "report/figure/figures_examine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/figure/figures_files.h"
#include "spotter/embed.h"

enum { SIDE = 360, MARGIN = 26, GAP = 26, HEAD = 30, THUMB = 27, SMALL = 12 };

/* One panel: rows of the first renders, then of the last ones. */
typedef struct {
    const spot_scatter_panel *of;
    int  n, first, d, size;
    float *feature;                /* (n, d) */
    bool *right;                   /* (n) */
    float *at;                     /* (n, 2), from 0 to 1 */
    uint8_t *rgb;                  /* (n, size, size, 3); NULL: the 3-D models are gone */
} scatter;

typedef struct { const scatter *s; int n; const spot_scatter_words *words; double height; } sheet;

/* ---- renders ---- */

/* Adds n renders of a search from row `from` on. */
static void add_rows(scatter *s, const spot_examine_history *h, const spot_examine_results *r, int unit, int from, int n,
                     spot_conditions *conditions)
{
    double out[2 * SPOT_FACTORS];

    for (int i = 0; i < n; i++) {
        const int row = from + i, k = s->n++;
        s->d = spot_figure_features(out, &r->space, h->at + (size_t)row * (size_t)h->dims);
        for (int q = 0; q < s->d; q++) s->feature[(size_t)k * (size_t)s->d + (size_t)q] = (float)out[q];
        s->right[k] = h->answer[row] == r->unit[unit].cls;
        conditions[k] = h->fixed;
        spot_factor_space_place(&conditions[k], &r->space, h->at + (size_t)row * (size_t)h->dims);
    }
}

static int smaller(int a, int b) { return a < b ? a : b; }

static spot_status read_rows(spot_ctx *c, scatter *s, spot_conditions *conditions)
{
    const spot_scatter_panel *p = s->of;
    spot_examine_history h;

    SPOT_TRY(spot_examine_history_read(c, &h, p->dir, p->unit));
    const int last = smaller(p->last, p->twin < 0 ? h.renders / 2 : h.renders);
    if (p->twin < 0) add_rows(s, &h, p->r, p->unit, 0, smaller(p->first, h.renders - last), conditions);
    else {
        spot_examine_history other;
        const spot_status how = spot_examine_history_read(c, &other, p->other_dir, p->twin);
        if (how != SPOT_OK) return spot_examine_history_free(&h), how;
        const int n = smaller(p->first, other.renders);
        add_rows(s, &other, p->other, p->twin, other.renders - n, n, conditions);
        spot_examine_history_free(&other);
    }
    s->first = s->n;
    add_rows(s, &h, p->r, p->unit, h.renders - last, last, conditions);
    spot_examine_history_free(&h);
    return SPOT_OK;
}

/* The renders as pictures; a panel of dots where they cannot be made. */
static spot_status draw_rows(spot_ctx *c, scatter *s, const spot_conditions *conditions)
{
    const spot_scatter_panel *p = s->of;
    spot_examine_pictures *pictures;
    spot_status how;

    s->size = p->r->cfg->render.size;
    how = spot_examine_pictures_open(c, &pictures, p->r);
    if (how == SPOT_OK) {
        s->rgb = malloc((size_t)s->n * 3 * (size_t)s->size * (size_t)s->size);
        how = s->rgb ? spot_examine_pictures_draw(c, pictures, s->rgb, p->unit, conditions, s->n)
                     : spot_fail(c, SPOT_NOMEM, "no memory for %d renders", s->n);
        spot_examine_pictures_close(c, pictures);
    }
    if (how != SPOT_INPUT && how != SPOT_IO) return how;
    spot_log(c, SPOT_LOG_WARN, "the map of %s has dots in place of renders: %s", p->title, spot_message(c, how));
    spot_forget(c);
    free(s->rgb);
    s->rgb = NULL;
    return SPOT_OK;
}

/* Puts the map's points between 0 and 1. */
static void scale_map(scatter *s, const spot_points *map)
{
    float low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };

    for (int i = 0; i < 2 * s->n; i++) {
        low[i & 1] = fminf(low[i & 1], map->at[i]);
        high[i & 1] = fmaxf(high[i & 1], map->at[i]);
    }
    for (int i = 0; i < 2 * s->n; i++)
        s->at[i] = high[i & 1] > low[i & 1] ? (map->at[i] - low[i & 1]) / (high[i & 1] - low[i & 1]) : 0.5f;
}

static spot_status place_rows(spot_ctx *c, scatter *s)
{
    spot_embed_config cfg = spot_embed_defaults();
    float *sure = calloc((size_t)s->n, sizeof *sure);
    int *image = calloc((size_t)s->n, sizeof *image);
    const spot_view view = { .n = s->n, .d = s->d, .feature = s->feature, .confidence = sure, .image = image };
    const spot_seed seed = { 1, 0 };
    spot_arena a = { 0 };
    spot_points map;
    spot_status how = sure && image ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a map of %d renders", s->n);

    cfg.method = SPOT_REDUCE_TSNE, cfg.dim = 2;
    cfg.tsne.perplexity = fmin(cfg.tsne.perplexity, (s->n - 1) / 3.0);
    if (how == SPOT_OK) how = spot_arena_open(c, &a, spot_embed_needs(c, 1, &s->n, s->d, &cfg).host);
    if (how == SPOT_OK) how = spot_embed_fit(c, &a, 1, &map, &view, &seed, &cfg);
    if (how == SPOT_OK) scale_map(s, &map);
    spot_arena_close(&a);
    free(sure), free(image);
    return how;
}

static spot_status fill_scatter(spot_ctx *c, scatter *s, const spot_scatter_panel *p)
{
    const size_t most = (size_t)(p->first + p->last) + 1;
    spot_conditions *conditions = malloc(most * sizeof *conditions);
    spot_status how = SPOT_OK;

    s->of = p;
    s->feature = malloc(most * 2 * SPOT_FACTORS * sizeof *s->feature);
    s->right = malloc(most * sizeof *s->right);
    s->at = malloc(2 * most * sizeof *s->at);
    if (!conditions || !s->feature || !s->right || !s->at) how = spot_fail(c, SPOT_NOMEM, "no memory for %zu renders", most);
    if (how == SPOT_OK) how = read_rows(c, s, conditions);
    if (how == SPOT_OK && s->n < 8) how = spot_fail(c, SPOT_USAGE, "a map needs 8 renders of a search, not %d", s->n);
    if (how == SPOT_OK) how = place_rows(c, s);
    if (how == SPOT_OK) how = draw_rows(c, s, conditions);
    free(conditions);
    return how;
}

static void free_scatter(scatter *s)
{
    free(s->feature), free(s->right), free(s->at), free(s->rgb);
    *s = (scatter){ 0 };
}

/* ---- drawing ---- */

static double alpha_of(const scatter *s, int i) { return s->right[i] ? 0.22 : 1; }

static void set_colour(cairo_t *cr, const scatter *s, int i)
{
    if (i < s->first) cairo_set_source_rgba(cr, 0.35, 0.35, 0.35, s->right[i] ? 0.35 : 1);
    else spot_canvas_colour(cr, 0, s->right[i] ? 0.35 : 1);
}

/* A render with a frame in the colour of its half. */
static void draw_render(cairo_t *cr, const scatter *s, int i, double x, double y)
{
    const size_t square = 3 * (size_t)s->size * (size_t)s->size;
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, s->size, s->size);
    unsigned char *data = cairo_image_surface_get_data(image);
    const size_t stride = (size_t)cairo_image_surface_get_stride(image);

    cairo_surface_flush(image);
    for (int v = 0; v < s->size && data; v++)
        for (int u = 0; u < s->size; u++) {
            const uint8_t *rgb = s->rgb + (size_t)i * square + 3 * ((size_t)v * (size_t)s->size + (size_t)u);
            const uint32_t pixel = (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
            memcpy(data + (size_t)v * stride + 4 * (size_t)u, &pixel, 4);
        }
    cairo_surface_mark_dirty(image);
    cairo_save(cr);
    cairo_translate(cr, x - THUMB / 2.0, y - THUMB / 2.0);
    cairo_save(cr);
    cairo_scale(cr, (double)THUMB / s->size, (double)THUMB / s->size);
    cairo_set_source_surface(cr, image, 0, 0);
    cairo_paint_with_alpha(cr, alpha_of(s, i));
    cairo_restore(cr);
    cairo_rectangle(cr, 0, 0, THUMB, THUMB);
    cairo_set_line_width(cr, 1.6);
    set_colour(cr, s, i);
    cairo_stroke(cr);
    cairo_restore(cr);
    cairo_surface_destroy(image);
}

static void draw_dot(cairo_t *cr, const scatter *s, int i, double x, double y)
{
    cairo_arc(cr, x, y, 4.5, 0, SPOT_TURN);
    set_colour(cr, s, i);
    cairo_fill(cr);
}

/* Right answers first, so that wrong ones lie on them. */
static void draw_scatter(cairo_t *cr, const scatter *s, double x, double y)
{
    const double room = SIDE - THUMB;

    cairo_set_source_rgb(cr, 0.1, 0.1, 0.1);
    spot_canvas_text(cr, x, y - 8, 13, 1, s->of->title);
    cairo_rectangle(cr, x, y, SIDE, SIDE);
    cairo_set_source_rgb(cr, 0.8, 0.8, 0.8);
    cairo_set_line_width(cr, 1);
    cairo_stroke(cr);
    for (int wrong = 0; wrong < 2; wrong++)
        for (int i = 0; i < s->n; i++) {
            const double px = x + THUMB / 2.0 + s->at[2 * i] * room, py = y + THUMB / 2.0 + (1 - s->at[2 * i + 1]) * room;
            if (s->right[i] == wrong) continue;
            if (s->rgb) draw_render(cr, s, i, px, py);
            else draw_dot(cr, s, i, px, py);
        }
}

/* Lines of at most `width`; returns the height. */
static double draw_words(cairo_t *cr, double x, double y, double width, const char *text, bool draw)
{
    char line[400] = "", longer[440];
    const double top = y;

    while (*text) {
        const int word = (int)strcspn(text, " ");
        snprintf(longer, sizeof longer, "%s%s%.*s", line, *line ? " " : "", word < 200 ? word : 200, text);
        if (*line && spot_canvas_text_width(cr, SMALL, 0, longer) > width) {
            if (draw) spot_canvas_text(cr, x, y, SMALL, 0, line);
            y += 17;
            snprintf(line, sizeof line, "%.*s", word < 200 ? word : 200, text);
        } else snprintf(line, sizeof line, "%.390s", longer);
        text += word;
        text += strspn(text, " ");
    }
    if (draw) spot_canvas_text(cr, x, y, SMALL, 0, line);
    return y + 17 - top;
}

static void draw_key(cairo_t *cr, double x, double y, const spot_scatter_panel *p)
{
    const char *const name[2] = { p->first_name, p->last_name };

    for (int k = 0; k < 2; k++) {
        cairo_rectangle(cr, x, y - 11, 13, 13);
        if (k) spot_canvas_colour(cr, 0, 1);
        else cairo_set_source_rgb(cr, 0.35, 0.35, 0.35);
        cairo_set_line_width(cr, 2.4);
        cairo_stroke(cr);
        cairo_set_source_rgb(cr, 0.1, 0.1, 0.1);
        x += 20 + spot_canvas_text(cr, x + 20, y, 13, 0, name[k]) + 24;
    }
}

static double sheet_width(const sheet *g)
{
    const int across = smaller(g->words->across, g->n);

    return 2 * MARGIN + across * SIDE + (across - 1) * GAP;
}

static void draw_sheet(cairo_t *cr, const void *user)
{
    const sheet *g = user;
    double y = MARGIN + 12;

    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_set_source_rgb(cr, 0.05, 0.05, 0.05);
    spot_canvas_text(cr, MARGIN, y, 17, 1, g->words->title);
    draw_key(cr, MARGIN, y + 26, g->s[0].of);
    y += 26 + HEAD;
    for (int i = 0; i < g->n; i++) {
        const int column = i % g->words->across;
        draw_scatter(cr, &g->s[i], MARGIN + column * (SIDE + GAP), y);
        if (column == g->words->across - 1 || i == g->n - 1) y += SIDE + HEAD + 6;
    }
    cairo_set_source_rgb(cr, 0.3, 0.3, 0.3);
    draw_words(cr, MARGIN, y - 6, sheet_width(g) - 2 * MARGIN, g->words->caption, true);
}

static double sheet_height(const sheet *g)
{
    cairo_surface_t *nothing = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
    cairo_t *cr = cairo_create(nothing);
    const int rows = (g->n + g->words->across - 1) / g->words->across;
    const double words = draw_words(cr, 0, 0, sheet_width(g) - 2 * MARGIN, g->words->caption, false);

    cairo_destroy(cr);
    cairo_surface_destroy(nothing);
    return MARGIN + 12 + 26 + HEAD + rows * (SIDE + HEAD + 6) + words + MARGIN - 10;
}

/* ---- files ---- */

static void print_csv(FILE *f, const scatter *s, const char *name)
{
    for (int i = 0; i < s->n; i++) {
        fprintf(f, "%s,", name);
        spot_csv_quoted(f, s->of->title);
        fputc(',', f);
        spot_csv_quoted(f, i < s->first ? s->of->first_name : s->of->last_name);
        fprintf(f, ",%s,%.6g,,,%.6g,,\n", s->right[i] ? "right" : "wrong", (double)s->at[2 * i], (double)s->at[2 * i + 1]);
    }
}

static spot_status output_sheet(spot_ctx *c, const sheet *g, const spot_figures_options *o, const char *name)
{
    char path[1200];

    for (int i = 0; i < g->n && o->csv; i++) print_csv(o->csv, &g->s[i], name);
    for (int svg = 0; svg < 2; svg++) {
        if (!(svg ? o->svg : o->png)) continue;
        snprintf(path, sizeof path, "%.1100s/figure_%s.%s", o->out, name, svg ? "svg" : "png");
        SPOT_TRY(spot_canvas_write(c, path, ceil(sheet_width(g)), ceil(sheet_height(g)), 2, draw_sheet, g));
        spot_log(c, SPOT_LOG_INFO, "%s", path);
    }
    return SPOT_OK;
}

spot_status spot_scatter_output(spot_ctx *c, const spot_scatter_panel *panel, int n, const spot_scatter_words *words,
                                const spot_figures_options *o, const char *name)
{
    scatter *s = calloc((size_t)n + 1, sizeof *s);
    spot_status how = s ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d maps", n);

    for (int i = 0; i < n && how == SPOT_OK; i++) how = fill_scatter(c, &s[i], &panel[i]);
    const sheet g = { .s = s, .n = n, .words = words };
    if (how == SPOT_OK && n) how = output_sheet(c, &g, o, name);
    for (int i = 0; s && i < n; i++) free_scatter(&s[i]);
    free(s);
    return how;
}
