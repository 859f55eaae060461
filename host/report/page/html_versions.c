/* html_versions.c - two versions of a classifier, as a page. page_versions.js says what it does with the JSON. */
#include <stdlib.h>

#include "report/page/html.h"

/* Rows that the page shows of a slice and outside of all slices, at most; rows whose pictures have the larger size. */
enum { SHOWN = 40, OUTSIDE = 200, STRIP = 12 };

typedef struct {
    spot_page *p;
    const spot_versions *v;
    const spot_subject *const *s;
    spot_wanted first, rest;           /* rows with pictures: of strips, and others */
} versions_page;

/* ---- rows ---- */

/* Lost first, then wrong in both, gained, right in both; where version 2 is better, the gained ones first. */
static int rank_row(const versions_page *r, int row, int cls, bool better)
{
    const bool was = spot_subject_wrong(r->s[0], row, cls), is = spot_subject_wrong(r->s[1], row, cls);

    return was == is ? (was ? 1 : 3) : is != better ? 0 : 2;
}

static void write_row(versions_page *r, int row, int cls)
{
    spot_page *p = r->p;

    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "row", row);
    if (r->s[0]->id) spot_page_text(p, "id", r->s[0]->id[row]);
    else spot_page_print(p, "id", "%d", row);
    spot_page_text(p, "class", cls < 0 ? NULL : r->s[0]->class_name[cls]);
    spot_json_array(p->at, "wrong", 0, 0);
    for (int u = 0; u < SPOT_VERSIONS; u++) spot_json_put_int(p->at, NULL, spot_subject_wrong(r->s[u], row, cls));
    spot_json_end(p->at);
    spot_json_array(p->at, "taken", 0, 0);
    for (int u = 0; u < SPOT_VERSIONS; u++) spot_json_put_int(p->at, NULL, spot_subject_predicted(r->s[u], row));
    spot_json_end(p->at);
    spot_json_end(p->at);
}

static int class_of(const versions_page *r, int row, int cls) { return cls < 0 ? r->s[0]->target[row] : cls; }

/* The compared rows of a slice, those first that tell most. */
static void write_rows(versions_page *r, const spot_version_slice *k)
{
    const bool better = k->verdict == SPOT_CHANGE_BETTER || k->verdict == SPOT_CHANGE_MENDED;
    int shown = 0;

    spot_json_array(r->p->at, "shown", 0, 0);
    for (int rank = 0; rank < 4; rank++)
        for (int i = 0; i < k->compared && shown < SHOWN; i++) {
            const int row = k->at[i], cls = class_of(r, row, k->cls);
            if (rank_row(r, row, cls, better) != rank) continue;
            write_row(r, row, cls);
            spot_wanted_add(shown++ < STRIP ? &r->first : &r->rest, row);
        }
    spot_json_end(r->p->at);
}

static bool is_of(const spot_subject *s, int row, int cls)
{
    return cls < 0 || (s->target ? s->target[row] == cls : s->has[(size_t)row * (size_t)s->classes + (size_t)cls]);
}

/* Rows of a class, or of all, that turned wrong. */
static void write_lost(versions_page *r, int cls)
{
    int shown = 0;

    spot_json_array(r->p->at, "shown", 0, 0);
    for (int row = 0; row < r->s[0]->n && shown < SHOWN; row++) {
        const int of = is_of(r->s[0], row, cls) ? class_of(r, row, cls) : 0;
        if (!is_of(r->s[0], row, cls) || rank_row(r, row, of, false)) continue;
        write_row(r, row, of);
        spot_wanted_add(shown++ < STRIP ? &r->first : &r->rest, row);
    }
    spot_json_end(r->p->at);
}

/* ---- the JSON ---- */

static void write_head(versions_page *r)
{
    const spot_versions *v = r->v;
    spot_page *p = r->p;

    spot_json_array(p->at, "names", 0, 0);
    for (int u = 0; u < SPOT_VERSIONS; u++) spot_page_text(p, NULL, v->name[u]);
    spot_json_end(p->at);
    if (*v->data) spot_page_text(p, "data", v->data);
    if (p->o->date) spot_page_text(p, "date", p->o->date);
    spot_page_text(p, "source", r->s[0]->source);
    spot_json_put_int(p->at, "rows", v->n);
    spot_version_rules_put(p->at, v);
    spot_json_put_int(p->at, "failed", v->failed);
    spot_json_put_int(p->at, "pending", v->pending);
    spot_json_put_int(p->at, "equal", v->equal);
    spot_json_array(p->at, "classes", 0, 0);
    for (int k = 0; k < r->s[0]->classes; k++) spot_page_text(p, NULL, r->s[0]->class_name[k]);
    spot_json_end(p->at);
}

static void write_named(versions_page *r, const char *key, const spot_version_class *x, int n)
{
    spot_json_array(r->p->at, key, 0, 0);
    for (int i = 0; i < n; i++) {
        spot_json_object(r->p->at, NULL);
        spot_version_class_put(r->p->at, &x[i], r->s[0]);
        if (x[i].verdict == SPOT_CHANGE_WORSE && !x[i].name) write_lost(r, x[i].cls);
        spot_json_end(r->p->at);
    }
    spot_json_end(r->p->at);
}

static void write_all(versions_page *r)
{
    const spot_versions *v = r->v;
    spot_page *p = r->p;

    write_head(r);
    spot_json_array(p->at, "slices", 0, 0);
    for (int i = 0; i < v->slices; i++) {
        spot_json_object(p->at, NULL);
        spot_version_slice_put(p->at, &v->slice[i], r->s[0]);
        write_rows(r, &v->slice[i]);
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
    write_named(r, "whole", v->of, v->classes);
    write_named(r, "guards", v->guard, v->guards);
    spot_json_put_int(p->at, "outside", v->outside);
    spot_json_array(p->at, "lost", 0, 0);
    for (int i = 0; i < v->outside && i < OUTSIDE; i++) {
        write_row(r, v->lost[i].row, v->lost[i].cls);
        spot_wanted_add(i < STRIP ? &r->first : &r->rest, v->lost[i].row);
    }
    spot_json_end(p->at);
}

/* ---- pictures ---- */

static bool has_picture(void *user, int row) { return ((const spot_subject *)user)->image[row] != NULL; }

static spot_status read_picture(spot_ctx *c, void *user, int row, spot_picture *out)
{
    const spot_subject *s = user;

    out->reading = s->reading;
    SPOT_TRY(spot_picture_read(c, out, s->image[row]));
    return s->box ? spot_picture_keep(c, out, s->box + 4 * (size_t)row) : SPOT_OK;
}

static spot_status add_pictures(versions_page *r)
{
    const spot_subject *s = r->s[0];
    const spot_picture_source from = { s->n, has_picture, read_picture, (void *)(uintptr_t)s };

    if (!s->image) return SPOT_OK;
    r->first.strips = r->first.n;
    for (int i = 0; i < r->rest.n; i++) spot_wanted_add(&r->first, r->rest.row[i]);
    return spot_page_pictures(r->p, &from, &r->first);
}

spot_status spot_report_versions(spot_ctx *c, const char *path, const spot_versions *v,
                                 const spot_subject *const s[SPOT_VERSIONS], const spot_report_options *o)
{
    spot_page page;
    versions_page r = { .p = &page, .v = v, .s = s };
    spot_status how;

    SPOT_TRY(spot_page_begin(&page, c, o, "versions", o->title ? o->title : "Two versions"));
    page.frame = "versions.html";
    how = spot_wanted_open(c, &r.first, s[0]->n);
    if (how == SPOT_OK) how = spot_wanted_open(c, &r.rest, s[0]->n);
    if (how == SPOT_OK) {
        write_all(&r);
        how = add_pictures(&r);
    }
    how = spot_page_write(&page, path, how);
    spot_wanted_close(&r.first);
    spot_wanted_close(&r.rest);
    return how;
}
