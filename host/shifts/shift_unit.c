/* shift_unit.c - the flow of one unit: similarities, thresholds, what passes, answers, counts.
 *
 * A picture is kept when its similarity to the caption of its class is at least the class's threshold (a percentile of real
 * pictures) and its similarity to the caption of the shift at least the shift's. Base pictures: the class's alone. */
#include "shifts/shift_unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "shifts/shift_cover.h"

enum { PASS_CLASS = 1, PASS_SHIFT = 2, OBJECT_THERE = 4, SHIFT_THERE = 8, PASS = 3, RIGHT = 12 };

typedef struct {
    spot_shift_study *v;
    const spot_shift_pictures *p;
    spot_shift_result *r;
    const int *answer;                     /* (models, n) */
    float *feature;                        /* (n, dim) */
    spot_shift_pictures_result file;
    spot_shift_column column[SPOT_SHIFT_COLUMNS];
} unit_work;

/* ---- thresholds ---- */

/* The q-quantile of a column over the pictures of each class; NaN for a class without. sorted: (n) scratch. */
static void class_quantiles(double *out, const float *similarity, int columns, int column, const int *cls, int n, int classes,
                            double q, double *sorted)
{
    for (int k = 0, i = 0; k < classes; k++) {
        int have = 0;
        for (; i < n && cls[i] == k; i++) sorted[have++] = similarity[(size_t)i * columns + column];
        spot_sort_doubles(sorted, (size_t)have);
        out[k] = spot_quantile(sorted, have, q);
    }
}

/* The real pictures whose class the encoder names. */
static int count_named(const float *similarity, int columns, int n)
{
    int named = 0;

    for (int i = 0; i < n; i++) named += similarity[(size_t)i * columns] >= similarity[(size_t)(i + 1) * columns - 1];
    return named;
}

spot_status spot_shift_thresholds(spot_ctx *c, spot_shift_study *v, const spot_shift_pictures *real)
{
    const spot_shifts_config *cfg = v->cfg;
    spot_shift_column column[SPOT_SHIFT_COLUMNS];
    const int columns = spot_shift_columns(column, cfg, real->unit), n = real->list.n;
    double *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
    float *similarity = NULL;
    spot_status s;

    v->class_threshold = malloc((size_t)(1 + cfg->shifts) * (size_t)v->classes.n * sizeof *v->class_threshold);
    s = sorted && v->class_threshold ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the thresholds of %d classes",
                                                           v->classes.n);
    if (s == SPOT_OK) s = spot_shift_features(c, &v->encoding, &v->real_feature, real);
    if (s == SPOT_OK) s = spot_shift_similarities(c, &v->encoding, &similarity, real, v->real_feature, column, columns);
    if (s == SPOT_OK) {
        const int named = count_named(similarity, columns, n);
        if (spot_shift_encoder_guesses(named, n, v->classes.n))
            spot_log(c, SPOT_LOG_WARN, "the encoder names the class of %d of %d real pictures, and a guess is right on one of "
                     "%d: it does not know these classes, so what passes its filter says little about the object", named, n,
                     v->classes.n);
    }
    for (int h = SPOT_BASE_PICTURES; h < cfg->shifts && s == SPOT_OK; h++)
        class_quantiles(v->class_threshold + (size_t)(h + 1) * v->classes.n, similarity, columns, spot_real_column(cfg, h),
                        real->cls, n, v->classes.n, cfg->filter.percentile / 100, sorted);
    if (s == SPOT_OK) spot_shift_unit_rows(v->real_feature, n, v->encoding.dim);
    v->real = real;
    free(similarity);
    free(sorted);
    return s;
}

/* ---- what passes ---- */

static void pass_by_similarity(unit_work *w)
{
    const spot_shifts_config *cfg = w->v->cfg;
    const int shift = w->p->unit.shift, columns = w->file.columns;
    const double *threshold = w->v->class_threshold + (size_t)(shift + 1) * w->v->classes.n;

    memcpy(w->r->class_threshold, threshold, (size_t)w->r->classes * sizeof *threshold);
    w->r->threshold = shift < 0 ? NAN : cfg->shift[shift].threshold;
    for (int i = 0; i < w->file.n; i++) {
        const float *own = w->file.similarity + (size_t)i * columns;
        const bool all = shift < 0 && !cfg->filter.base;
        if (all || own[0] >= threshold[w->file.cls[i]]) w->file.pass[i] |= PASS_CLASS;
        if (shift < 0 || own[1] >= cfg->shift[shift].threshold) w->file.pass[i] |= PASS_SHIFT;
    }
}

static spot_status pass_by_mask(spot_ctx *c, unit_work *w)
{
    SPOT_TRY(spot_shift_masks(c, w->file.pass, w->v->cfg, w->p));
    for (int i = 0; i < w->file.n; i++) w->file.pass[i] = w->file.pass[i] ? PASS : 0;
    return SPOT_OK;
}

static spot_status add_truth(spot_ctx *c, unit_work *w)
{
    uint8_t *bits = malloc((size_t)w->file.n + 1);
    spot_status s = bits ? spot_shift_truth_of(c, bits, &w->v->truth, w->p)
                         : spot_fail(c, SPOT_NOMEM, "no memory for the truth about %d pictures", w->file.n);

    for (int i = 0; i < w->file.n && s == SPOT_OK; i++) {
        if (bits[i] & 1) w->file.pass[i] |= OBJECT_THERE;
        if (bits[i] & 2 || w->p->unit.shift < 0) w->file.pass[i] |= SHIFT_THERE;
    }
    free(bits);
    return s;
}

static spot_status find_passing(spot_ctx *c, unit_work *w)
{
    const bool real = w->p->unit.shift == SPOT_REAL_PICTURES;

    if (!real && w->r->filtered && w->v->class_threshold) pass_by_similarity(w);
    else if (!real && w->r->filtered) SPOT_TRY(pass_by_mask(c, w));
    else
        for (int i = 0; i < w->file.n; i++) w->file.pass[i] = PASS;
    return w->r->truth ? add_truth(c, w) : SPOT_OK;
}

/* ---- counts ---- */

static void count_hits(spot_shift_hits *h, uint8_t pass, uint8_t passes, uint8_t truth)
{
    const bool in = (pass & passes) == passes, is = (pass & truth) == truth;

    h->hits += in && is;
    h->passed += in;
    h->right += is;
}

static bool is_in(uint8_t pass, int set)
{
    return set == SPOT_SHIFT_ALL || (set == SPOT_SHIFT_KEPT ? (pass & PASS) == PASS : (pass & RIGHT) == RIGHT);
}

/* How much of the real pictures each set covers. */
static spot_status find_cover(spot_ctx *c, unit_work *w)
{
    const spot_shift_pictures *p = w->v->real;
    const spot_shift_featured real = { w->v->real_feature, p ? p->cls : NULL, p ? p->list.n : 0 };
    const spot_shift_featured made = { w->feature, w->file.cls, w->file.n };
    const int compared = w->r->filtered ? SPOT_SHIFT_KEPT : SPOT_SHIFT_ALL;
    uint8_t *in = w->r->covers ? malloc((size_t)made.n + 1) : NULL;
    spot_status s = SPOT_OK;

    if (!w->r->covers) return SPOT_OK;
    if (!in) return spot_fail(c, SPOT_NOMEM, "no memory to compare %d pictures with real ones", made.n);
    spot_shift_unit_rows(w->feature, made.n, w->v->encoding.dim);
    for (int k = 0; k < SPOT_SHIFT_SETS && s == SPOT_OK; k++) {
        for (int i = 0; i < made.n; i++) in[i] = is_in(w->file.pass[i], k);
        if (w->r->count[k])
            s = spot_shift_cover_of(c, &w->r->cover[k], k == compared ? w->r->class_cover : NULL, w->r->classes,
                                    w->v->encoding.dim, &real, &made, in);
    }
    free(in);
    return s;
}

static void count_pictures(unit_work *w)
{
    spot_shift_result *r = w->r;
    const int n = w->file.n;

    for (int m = 0; m < r->models; m++) r->answered[m] = n && w->answer[(size_t)m * n] >= 0;
    for (int i = 0; i < n; i++) {
        const int cls = w->file.cls[i];
        const uint8_t pass = w->file.pass[i];
        r->pass_class += pass & PASS_CLASS ? 1 : 0;
        r->pass_shift += pass & PASS_SHIFT ? 1 : 0;
        for (int m = 0; m < r->models; m++) w->file.right[i] += w->answer[(size_t)m * n + i] == cls;
        for (int k = 0; k < SPOT_SHIFT_SETS; k++) {
            if (!r->count[k] || !is_in(pass, k)) continue;
            if (k == (r->filtered ? SPOT_SHIFT_KEPT : SPOT_SHIFT_ALL))
                r->split[cls] += (double)w->file.right[i] * (r->models - w->file.right[i]);
            r->count[k][cls]++;
            for (int m = 0; m < r->models; m++)
                r->right[k][(size_t)m * r->classes + cls] += w->answer[(size_t)m * n + i] == cls;
        }
        if (!r->truth || !r->filtered) continue;
        count_hits(&r->hits, pass, PASS, RIGHT);
        count_hits(&r->object_hits, pass, PASS_CLASS, OBJECT_THERE);
        count_hits(&r->shift_hits, pass, PASS_SHIFT, SHIFT_THERE);
    }
}

/* Copies a name as a segment may hold it: no control characters, cut before a character of UTF-8. */
static void copy_name(char *out, size_t size, const char *name)
{
    size_t used = 0;

    while (*name) {
        const size_t n = spot_utf8_char(name, strlen(name)), step = n ? n : 1;
        if (used + step >= size) break;
        if (!n || (unsigned char)*name < ' ' || *name == 0x7f) out[used++] = '?';
        else memcpy(out + used, name, n), used += n;
        name += step;
    }
    out[used] = 0;
}

/* The words that the models predict most for pictures [from, to) that pass; equal counts by word. count: (words) scratch, 0. */
static void list_top(unit_work *w, spot_shift_top *top, int from, int to, int *count)
{
    const spot_shift_words *words = &w->v->answers.words;
    const int set = w->r->filtered ? SPOT_SHIFT_KEPT : SPOT_SHIFT_ALL, all = words->classes->n + words->count;
    const int models = w->r->models, n = w->file.n;

    for (int i = from; i < to; i++)
        for (int m = 0; m < models && is_in(w->file.pass[i], set); m++)
            if (w->answer[(size_t)m * n + i] >= 0) count[w->answer[(size_t)m * n + i]]++;
    for (int k = 0; k < SPOT_SHIFT_TOP; k++) {
        int best = -1;
        for (int a = 0; a < all; a++)
            if (count[a] && (best < 0 || count[a] > count[best]
                || (count[a] == count[best] && strcmp(spot_shift_word(words, a), spot_shift_word(words, best)) < 0))) best = a;
        if (best < 0) break;
        copy_name(top[k].name, sizeof top[k].name, spot_shift_word(words, best));
        top[k].answers = count[best];
        count[best] = 0;
    }
    memset(count, 0, (size_t)all * sizeof *count);
}

static spot_status list_predicted(spot_ctx *c, unit_work *w)
{
    const spot_shift_words *words = &w->v->answers.words;
    int *count = calloc((size_t)words->classes->n + (size_t)words->count + 1, sizeof *count), from = 0;

    if (!count) return spot_fail(c, SPOT_NOMEM, "no memory for the predicted classes");
    for (int k = 0; k < w->r->classes; k++) {
        int to = from;
        while (to < w->file.n && w->file.cls[to] == k) to++;
        if (to > from) list_top(w, w->r->top + (size_t)k * SPOT_SHIFT_TOP, from, to, count);
        from = to;
    }
    free(count);
    return SPOT_OK;
}

/* ---- the result ---- */

static spot_status fill_quantiles(spot_ctx *c, unit_work *w)
{
    const int n = w->file.n, columns = w->file.columns;
    double *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
    char text[SPOT_CAPTION];

    if (!sorted) return spot_fail(c, SPOT_NOMEM, "no memory for the similarities of %d pictures", n);
    for (int k = 0; k < columns; k++) {
        const int shift = w->column[k].shift;
        for (int i = 0; i < n; i++) sorted[i] = w->file.similarity[(size_t)i * columns + k];
        spot_sort_doubles(sorted, (size_t)n);
        for (int q = 0; q < SPOT_SHIFT_QUANTILES; q++)
            w->r->quantile[(size_t)k * SPOT_SHIFT_QUANTILES + q] = spot_quantile(sorted, n, q / 100.0);
        copy_name(w->r->column[k], sizeof w->r->column[k], w->column[k].of_class
                  ? spot_class_caption(text, w->v->cfg, shift, w->column[k].nearest ? "<nearest class>" : "<class>")
                  : spot_shift_caption(text, w->v->cfg, shift));
        if (w->column[k].nearest) w->r->named = count_named(w->file.similarity, columns, n);
    }
    free(sorted);
    return SPOT_OK;
}

static spot_status open_result(spot_ctx *c, unit_work *w, int unit)
{
    const spot_shifts_config *cfg = w->v->cfg;
    const bool encodes = spot_shifts_encode(cfg), real = w->p->unit.shift == SPOT_REAL_PICTURES;
    spot_shift_result *r = w->r;
    char text[SPOT_SHIFT_PATH];

    *r = (spot_shift_result){ .index = unit, .numbers = SPOT_SHIFT_NUMBERS, .source = w->p->unit.source,
                              .shift = w->p->unit.shift, .classes = w->v->classes.n, .models = cfg->models,
                              .pictures = w->p->list.n, .absent = w->p->absent, .named = -1, .threshold = NAN };
    r->filtered = !real && (encodes || cfg->filter.masks[0]);
    r->truth = !real && w->v->truth.path.count;
    r->parts = r->truth && w->v->truth.parts;
    r->covers = encodes && !real;
    r->columns = encodes ? spot_shift_columns(w->column, cfg, w->p->unit) : 0;
    if (!spot_shift_result_take(r)) return spot_fail(c, SPOT_NOMEM, "no memory for the result of %s", w->p->root);
    copy_name(r->name, sizeof r->name, spot_shift_unit_name(text, cfg, w->p->unit));
    copy_name(r->id, sizeof r->id, w->p->id);
    copy_name(r->encoder, sizeof r->encoder, w->v->encoding.name);
    strcpy(r->inputs, w->v->inputs);
    for (int k = 0; k < r->classes; k++) {
        copy_name(r->class_name[k], sizeof r->class_name[k], w->v->classes.folder[k]);
        r->class_threshold[k] = NAN;
    }
    return spot_shift_input_hash(c, &w->v->encoding, r->pictures_hash, w->p);
}

static spot_status name_pictures(spot_ctx *c, spot_shift_pictures_result *f, const spot_shift_pictures *p)
{
    const size_t id = strlen(p->id);
    size_t bytes = 1;
    char *text;

    for (int i = 0; i < p->list.n; i++) bytes += id + strlen(p->list.path[i]) + 2;
    f->owned = text = malloc(bytes);
    f->path = malloc(((size_t)p->list.n + 1) * sizeof *f->path);
    if (!f->owned || !f->path) return spot_fail(c, SPOT_NOMEM, "no memory for the names of %d pictures", p->list.n);
    for (int i = 0; i < p->list.n; i++) {
        f->path[i] = text;
        text += sprintf(text, "%s/%s", p->id, p->list.path[i]) + 1;
    }
    return SPOT_OK;
}

static spot_status open_file(spot_ctx *c, unit_work *w)
{
    const size_t n = (size_t)w->p->list.n;

    w->file = (spot_shift_pictures_result){ .n = w->p->list.n, .columns = w->r->columns };
    w->file.cls = malloc((n + 1) * sizeof *w->file.cls);
    w->file.right = calloc(n + 1, sizeof *w->file.right);
    w->file.pass = calloc(n + 1, 1);
    if (!w->file.cls || !w->file.right || !w->file.pass)
        return spot_fail(c, SPOT_NOMEM, "no memory for the result of %zu pictures", n);
    memcpy(w->file.cls, w->p->cls, n * sizeof *w->file.cls);
    SPOT_TRY(name_pictures(c, &w->file, w->p));
    if (!w->r->columns) return SPOT_OK;
    SPOT_TRY(spot_shift_features(c, &w->v->encoding, &w->feature, w->p));
    return spot_shift_similarities(c, &w->v->encoding, &w->file.similarity, w->p, w->feature, w->column, w->r->columns);
}

static spot_status compute(spot_ctx *c, unit_work *w, const char *dir, int unit, int slot)
{
    SPOT_TRY(open_result(c, w, unit));
    SPOT_TRY(open_file(c, w));
    SPOT_TRY(fill_quantiles(c, w));
    SPOT_TRY(find_passing(c, w));
    SPOT_TRY(find_cover(c, w));
    SPOT_TRY(spot_shift_answers_look(c, &w->v->answers, slot));
    w->answer = w->v->answers.unit[slot].answer;
    count_pictures(w);
    SPOT_TRY(list_predicted(c, w));
    return spot_shift_pictures_write(c, dir, unit, &w->file);
}

spot_status spot_shift_compute(spot_ctx *c, spot_shift_study *v, spot_shift_result *r, const char *dir, int unit,
                               const spot_shift_pictures *p, int slot)
{
    unit_work w = { .v = v, .p = p, .r = r };
    spot_status s = compute(c, &w, dir, unit, slot);

    spot_shift_pictures_free(&w.file);
    free(w.feature);
    return s;
}
