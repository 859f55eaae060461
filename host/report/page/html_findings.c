/* html_findings.c - the findings of spotter discover, as a page. html_findings.h says what the page holds. */
#include <stdlib.h>
#include <string.h>

#include "report/page/html_findings.h"
#include "result/result.h"

enum { MAX_MODELS = SPOT_PAGE_MODELS };

typedef spot_findings_page report;
typedef spot_page_place place;
typedef spot_page_layer map;

static const spot_finding *finding(const report *r, int i, int *model)
{
    *model = 0;
    while (i >= r->f[*model]->count) i -= r->f[(*model)++]->count;
    return &r->f[*model]->finding[i];
}

/* ---- places and maps ---- */

static bool same_rows(const spot_finding *a, const spot_finding *b)
{
    return a->cls == b->cls && a->n == b->n && !memcmp(a->row, b->row, (size_t)a->n * sizeof *a->row);
}

static bool same_points(const spot_points *a, const spot_points *b)
{
    size_t bytes = (size_t)a->n * (size_t)a->d * sizeof *a->at;

    return a->n == b->n && a->d == b->d && (a->at == b->at || !memcmp(a->at, b->at, bytes));
}

static void choose_place(report *r, int i)
{
    int model, other, k = 0;
    const spot_finding *f = finding(r, i, &model);

    while (k < r->places && !(r->place[k].model == model && same_rows(f, finding(r, r->place[k].finding, &other)))) k++;
    if (k == r->places) r->place[r->places++] = (place){ model, i, f->cls };
    r->place_of[i] = k;
}

static void choose_map(report *r, int i)
{
    int model, k = 0;
    const spot_finding *f = finding(r, i, &model);

    r->map_of[i] = -1;
    if (!f->points.at) return;
    while (k < r->maps && !(r->map[k].place == r->place_of[i] &&
                            same_points(&f->points, &finding(r, r->map[k].finding, &model)->points))) k++;
    if (k == r->maps) r->map[r->maps++] = (map){ r->place_of[i], i, false };
    r->map_of[i] = k;
}

/* Points of more than two coordinates use another method's map of two, if their place has one; else their own first two.
 * Without reduced points the findings' own map is used. */
static void borrow_map(report *r, int i)
{
    int model;
    const spot_finding *f = finding(r, i, &model);
    const bool shared = r->f[model]->map && !f->points.at;

    if (r->map_of[i] >= 0 && f->points.d == 2) return;
    for (int k = 0; k < r->maps; k++) {
        bool flat = r->map[k].shared || finding(r, r->map[k].finding, &model)->points.d == 2;
        if (r->map[k].place == r->place_of[i] && (flat || r->map_of[i] < 0)) {
            r->map_of[i] = k;
            if (flat) return;
        }
    }
    if (shared && r->map_of[i] < 0) {
        r->map[r->maps] = (map){ r->place_of[i], i, true };
        r->map_of[i] = r->maps++;
    }
}

/* ---- the JSON ---- */

static double confidence(const spot_subject *s, int i, int cls) { return 1 - spot_subject_error(s, i, cls); }

static void write_predictions(spot_page *p, const spot_subject *s, const int *row)
{
    uint16_t *v = malloc(((size_t)s->n + 1) * sizeof *v);

    if (!v) { p->blocks.status = SPOT_NOMEM; return; }
    if (s->target) {
        for (int i = 0; i < s->n; i++) v[row[i]] = (uint16_t)s->target[i];
        spot_page_block(p, "target", v, (size_t)s->n * sizeof *v);
    }
    if (spot_subject_predicted(s, 0) >= 0) {
        for (int i = 0; i < s->n; i++) v[row[i]] = (uint16_t)spot_subject_predicted(s, i);
        spot_page_block(p, "predicted", v, (size_t)s->n * sizeof *v);
    }
    free(v);
}

/* Counts wrong rows; if rows have several classes, wrong pairs of a row and one of its classes. */
static void write_accuracy(spot_page *p, const spot_subject *s)
{
    const spot_answers a = spot_answers_of(s, SPOT_ALL_CLASSES);

    spot_json_put_int(p->at, "judged", a.all);
    spot_json_put_int(p->at, "wrong", a.wrong);
}

static void write_models(report *r)
{
    spot_page *p = r->p;
    char note[SPOT_FINDINGS_NOTE];

    spot_json_array(p->at, "models", 0, 0);
    for (int k = 0; k < r->models; k++) {
        const spot_subject *s = r->s[k];
        spot_json_object(p->at, NULL);
        if (k < p->o->models && p->o->model[k] && p->o->model[k][0]) spot_page_text(p, "name", p->o->model[k]);
        else if (r->models > 1) spot_page_print(p, "name", "model %d", k + 1);
        else spot_page_text(p, "name", NULL);
        spot_page_text(p, "source", s->source);
        spot_json_put_int(p->at, "rows", s->n);
        spot_json_put_int(p->at, "skipped", s->skipped);
        spot_json_put_int(p->at, "several", !s->target);
        write_accuracy(p, s);
        spot_page_text(p, "note", spot_findings_note(note, r->f[k], s));
        write_predictions(p, s, r->row[k]);
        spot_page_decided(p, &r->f[k]->decided);
        if (spot_subject_is_grouped(s)) spot_json_put_int(p->at, "groups", s->groups);
        spot_slice_tests.put(p->at, &(spot_tests_row){ r->o[k], r->f[k] });
        spot_page_list(r, k);
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
    spot_json_array(p->at, "left_out", 0, 0);
    for (int k = 0; k < r->models; k++)
        for (int i = 0; i < r->f[k]->left_out; i++) {
            spot_json_object(p->at, NULL);
            spot_json_put_int(p->at, "model", k);
            spot_json_put_int(p->at, "class", r->f[k]->left_class[i]);
            spot_json_put_int(p->at, "rows", spot_subject_rows(r->s[k], r->f[k]->left_class[i]));
            spot_json_end(p->at);
        }
    spot_json_end(p->at);
}

static void write_place(report *r, const place *at)
{
    spot_page *p = r->p;
    int model;
    const spot_finding *f = finding(r, at->finding, &model);
    const spot_subject *s = r->s[model];
    int *row = malloc(((size_t)f->n + 1) * sizeof *row);
    uint8_t *wrong = calloc((size_t)f->n + 1, 1);

    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "model", model);
    spot_json_put_int(p->at, "class", at->cls);
    spot_json_put_int(p->at, "n", f->n);
    spot_json_put_int(p->at, "wrong", f->wrong);
    if (!row || !wrong) p->blocks.status = SPOT_NOMEM;
    else {
        for (int i = 0; i < f->n; i++) {
            int cls = spot_page_class_of(s, f->row[i], at->cls);
            row[i] = r->row[model][f->row[i]];
            r->at[i] = spot_page_confidence(confidence(s, f->row[i], cls));
            wrong[i] = spot_subject_wrong(s, f->row[i], cls);
        }
        spot_page_ascending(p, "rows", row, f->n);
        spot_page_block(p, "confidence", r->at, (size_t)f->n);
        spot_page_block(p, "bad", wrong, (size_t)f->n);
    }
    spot_json_end(p->at);
    free(row);
    free(wrong);
}

/* The members of all slices, one slice after another. */
static void write_members(report *r, const spot_finding *f)
{
    int total = 0, used = 0, *all;

    for (int k = 0; k < f->slices; k++) total += f->slice[k].size;
    all = malloc(((size_t)total + 1) * sizeof *all);
    if (!all) { r->p->blocks.status = SPOT_NOMEM; return; }
    for (int k = 0; k < f->slices; k++)
        for (int i = 0; i < f->slice[k].size; i++) all[used++] = r->local[f->slice[k].row[i]];
    spot_page_ascending(r->p, "members", all, total);
    free(all);
}

static void write_finding(report *r, int i)
{
    spot_page *p = r->p;
    int model;
    const spot_finding *f = finding(r, i, &model);
    char name[80];

    for (int k = 0; k < f->n; k++) r->local[f->row[k]] = k;
    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "place", r->place_of[i]);
    spot_json_put_int(p->at, "map", r->map_of[i]);
    if (f->merged) spot_json_put_int(p->at, "merged", 1);
    spot_page_text(p, "method", f->merged ? "all methods" : spot_bdm_name(&r->o[model]->bdm[f->bdm], name, sizeof name));
    spot_page_print(p, "seed", "%llu", f->merged ? 0 : (unsigned long long)f->seed);
    spot_page_text(p, "failed", f->status ? f->message : NULL);
    spot_json_array(p->at, "slices", 0, 0);
    for (int k = 0; k < f->slices; k++) spot_page_slice(r, model, f, &f->slice[k]);
    spot_json_end(p->at);
    write_members(r, f);
    spot_json_end(p->at);
}

/* Writes the part of the findings' map that has the rows of a finding. */
static void write_shared(report *r, const spot_finding *f, const float *of)
{
    float *at = malloc(((size_t)f->n + 1) * 2 * sizeof *at);

    if (!at) { r->p->blocks.status = SPOT_NOMEM; return; }
    for (int i = 0; i < f->n; i++) memcpy(at + 2 * i, of + 2 * (size_t)f->row[i], 2 * sizeof *at);
    spot_page_map(r->p, "xy", at, f->n, 2);
    free(at);
}

static void write_map(report *r, const map *m)
{
    spot_page *p = r->p;
    int model;
    const spot_finding *f = finding(r, m->finding, &model);
    char name[80];

    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "place", m->place);
    if (m->shared) spot_page_text(p, "of", NULL);
    else if (f->merged) spot_page_text(p, "of", "the first method that has one");
    else spot_page_text(p, "of", spot_bdm_name(&r->o[model]->bdm[f->bdm], name, sizeof name));
    spot_json_put_int(p->at, "columns", m->shared ? 2 : f->points.d);
    if (m->shared) write_shared(r, f, r->f[model]->map);
    else spot_page_map(p, "xy", f->points.at, f->points.n, f->points.d);
    spot_json_end(p->at);
}

/* The lines at the head, each a text. */
static void write_note(spot_page *p)
{
    spot_json_array(p->at, "note", 0, 0);
    for (const char *at = p->o->note, *end; at && *at; at = end + (*end == '\n')) {
        end = at + strcspn(at, "\n");
        spot_page_print(p, NULL, "%.*s", (int)(end - at), at);
    }
    spot_json_end(p->at);
}

static void write_all(report *r)
{
    spot_page *p = r->p;

    if (p->o->data) spot_page_text(p, "data", p->o->data);
    if (p->o->date) spot_page_text(p, "date", p->o->date);
    write_note(p);
    spot_json_array(p->at, "classes", 0, 0);
    for (int k = 0; k < r->s[0]->classes; k++) spot_page_text(p, NULL, r->s[0]->class_name[k]);
    spot_json_end(p->at);
    spot_json_put_int(p->at, "rows", r->s[0]->n);
    if (r->s[0]->id) spot_page_words(p, "ids", r->s[0]->id, r->s[0]->n);
    spot_page_attributes(r);
    write_models(r);
    spot_json_array(p->at, "places", 0, 0);
    for (int k = 0; k < r->places; k++) write_place(r, &r->place[k]);
    spot_json_end(p->at);
    spot_json_array(p->at, "maps", 0, 0);
    for (int k = 0; k < r->maps; k++) write_map(r, &r->map[k]);
    spot_json_end(p->at);
    spot_quantities_describe(p->at, "slice_columns", &spot_slice_columns);
    spot_json_array(p->at, "findings", 0, 0);
    for (int i = 0; i < r->findings; i++) write_finding(r, i);
    spot_json_end(p->at);
}

/* ---- pictures ---- */

static bool has_picture(void *user, int row)
{
    const spot_subject *s = user;

    return s->image && s->image[row];
}

static spot_status read_picture(spot_ctx *c, void *user, int row, spot_picture *out)
{
    const spot_subject *s = user;

    out->reading = s->reading;
    SPOT_TRY(spot_picture_read(c, out, s->image[row]));
    return s->box ? spot_picture_keep(c, out, s->box + 4 * (size_t)row) : SPOT_OK;
}

/* Adds rows [from, to) of slice k of every finding, in the order worst first. */
static spot_status want_members(report *r, spot_wanted *w, int k, int from, int to)
{
    for (int i = 0; i < r->findings; i++) {
        int model, *row;
        const spot_finding *f = finding(r, i, &model);
        const spot_subject *s = r->s[model];
        spot_status how;
        if (k >= f->slices) continue;
        row = malloc(((size_t)f->slice[k].size + 1) * sizeof *row);
        if (!row) return spot_fail(r->p->c, SPOT_NOMEM, "no memory to sort a slice");
        memcpy(row, f->slice[k].row, (size_t)f->slice[k].size * sizeof *row);
        for (int j = 0; j < f->slice[k].size; j++)
            r->at[row[j]] = spot_page_confidence(confidence(s, row[j], spot_page_class_of(s, row[j], f->cls)));
        how = spot_worst_first(r->p->c, row, f->slice[k].size, r->at);
        for (int j = from; !how && j < to && j < f->slice[k].size; j++) spot_wanted_add(w, r->row[model][row[j]]);
        for (int j = 0; !from && j < f->slice[k].neighbours; j++)
            spot_wanted_add(w, r->row[model][f->slice[k].neighbour[j]]);
        free(row);
        SPOT_TRY(how);
    }
    return SPOT_OK;
}

static spot_status add_pictures(report *r)
{
    static const int step[] = { 0, SPOT_STRIP, 5 * SPOT_STRIP, INT32_MAX };
    const spot_subject *s = r->s[0];
    spot_picture_source from = { s->n, has_picture, read_picture, (void *)(uintptr_t)s };
    spot_wanted w;
    spot_status how;

    if (!s->image) return SPOT_OK;
    how = spot_wanted_open(r->p->c, &w, s->n);
    for (int i = 0; i < 3 && how == SPOT_OK; i++) {
        for (int k = 0; k < SPOT_MAX_HYPOTHESES && how == SPOT_OK; k++) how = want_members(r, &w, k, step[i], step[i + 1]);
        if (!i) w.strips = w.n;
    }
    for (int i = 0; how == SPOT_OK && s->target && i < s->n; i++)
        if (spot_subject_wrong(s, i, s->target[i])) spot_wanted_add(&w, i);
    if (how == SPOT_OK) {
        spot_wanted_rest(&w, s->n);
        how = spot_page_pictures(r->p, &from, &w);
    }
    spot_wanted_close(&w);
    return how;
}

static spot_status open_report(report *r)
{
    size_t n = (size_t)r->findings + 1, rows = (size_t)r->s[0]->n + 1;

    r->place = malloc(n * sizeof *r->place);
    r->map = malloc(n * sizeof *r->map);
    r->place_of = malloc(n * sizeof *r->place_of);
    r->map_of = malloc(n * sizeof *r->map_of);
    r->local = malloc(rows * sizeof *r->local);
    r->at = malloc(rows);
    for (int k = 0; k < r->models; k++) {
        r->row[k] = malloc(rows * sizeof *r->row[k]);
        r->mine[k] = malloc(rows * sizeof *r->mine[k]);
        if (!r->row[k] || !r->mine[k]) r->at = (free(r->at), NULL);
    }
    if (!r->place || !r->map || !r->place_of || !r->map_of || !r->local || !r->at)
        return spot_fail(r->p->c, SPOT_NOMEM, "no memory for the report of %d rows", r->s[0]->n);
    for (int k = 0; k < r->models; k++) SPOT_TRY(spot_findings_entries(r->p->c, &r->entries[k], r->f[k], r->s[k]));
    for (int i = 0; i < r->s[0]->n; i++) r->row[0][i] = i;
    for (int k = 1; k < r->models; k++) SPOT_TRY(spot_match_rows(r->p->c, r->row[k], r->s[0], r->s[k], k));
    for (int k = 0; k < r->models; k++)
        for (int i = 0; i < r->s[k]->n; i++) r->mine[k][r->row[k][i]] = i;
    for (int i = 0; i < r->findings; i++) choose_place(r, i);
    for (int i = 0; i < r->findings; i++) choose_map(r, i);
    for (int i = 0; i < r->findings; i++) borrow_map(r, i);
    return SPOT_OK;
}

spot_status spot_report_findings(spot_ctx *c, const char *path, int models, const spot_subject *const *s,
                                 const spot_findings *const *f, const spot_discover_options *const *o,
                                 const spot_report_options *options)
{
    spot_page page;
    report r = { .p = &page, .models = models, .s = s, .f = f, .o = o };
    spot_status how;

    if (models < 1 || models > MAX_MODELS)
        return spot_fail(c, SPOT_INVALID, "{report.models} a report is of 1 to %d models, not %d", MAX_MODELS, models);
    for (int k = 0; k < models; k++) r.findings += f[k]->count;
    SPOT_TRY(spot_page_begin(&page, c, options, "findings", options->title ? options->title : "Blindspots"));
    how = open_report(&r);
    if (how == SPOT_OK) {
        write_all(&r);
        how = add_pictures(&r);
    }
    how = spot_page_write(&page, path, how);
    for (int k = 0; k < models; k++) free(r.row[k]), free(r.mine[k]), spot_slice_list_close(&r.entries[k]);
    free(r.place);
    free(r.map);
    free(r.place_of);
    free(r.map_of);
    free(r.local);
    free(r.at);
    return how;
}
