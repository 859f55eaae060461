/* html_versions.c - two versions of a classifier, as a page. page_versions.js says what it does with the JSON. */
#include <stdlib.h>

#include "report/page/html.h"

/* Rows that the page shows of a slice, class or guard, and outside of all slices, at most; rows of a strip. */
enum { SHOWN = 40, OUTSIDE = 200, STRIP = 12 };

typedef struct {
    spot_page *p;
    const spot_versions *v;
    const spot_subject *const *s;
    spot_wanted first, rest;           /* rows with pictures: of strips, and others */
} versions_page;

/* ---- rows ---- */

/* A row that turned wrong or right, or stayed as it was. */
typedef enum { LOST, BOTH, GAINED, NEITHER, FATES } fate;

static fate fate_of(const versions_page *r, int row, int cls)
{
    const bool was = spot_subject_wrong(r->s[0], row, cls), is = spot_subject_wrong(r->s[1], row, cls);

    return was == is ? (was ? BOTH : NEITHER) : is ? LOST : GAINED;
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

/* Up to `most` rows of one fate, among n rows; the first `strip` of them are seen without a click. */
static void write_fate(versions_page *r, const int *row, int n, int cls, fate f, int strip, int most)
{
    int shown = 0;

    for (int i = 0; i < n && shown < most; i++) {
        const int of = class_of(r, row[i], cls);
        if (fate_of(r, row[i], of) != f) continue;
        write_row(r, row[i], of);
        spot_wanted_add(shown++ < strip ? &r->first : &r->rest, row[i]);
    }
}

static bool is_better(spot_change_verdict v) { return v == SPOT_CHANGE_BETTER || v == SPOT_CHANGE_MENDED; }

/* The page folds parts that did not change. */
static int strip_of(spot_change_verdict v) { return v == SPOT_CHANGE_PENDING || v == SPOT_CHANGE_SAME ? 0 : STRIP; }

/* The order of fates on the page: rows that turned as the verdict says lead. */
static const fate worse_first[] = { LOST, BOTH, GAINED, NEITHER }, better_first[] = { GAINED, BOTH, LOST, NEITHER };

/* Rows of each fate that are shown: a strip of each but NEITHER, and then whatever the first have. */
static void share_out(int shown[FATES], const int total[FATES], const fate *order)
{
    int left = SHOWN;

    for (int f = 0; f < FATES; f++) left -= shown[f] = f == NEITHER ? 0 : total[f] < STRIP ? total[f] : STRIP;
    for (int k = 0; k < FATES; k++) {
        const int rest = total[order[k]] - shown[order[k]], more = rest < left ? rest : left;
        shown[order[k]] += more, left -= more;
    }
}

/* The compared rows of a slice. */
static void write_rows(versions_page *r, const spot_version_slice *p)
{
    const fate *order = is_better(p->verdict) ? better_first : worse_first;
    const spot_version_counts *k = &p->counts;
    const int strip = strip_of(p->verdict);
    int shown[FATES];

    share_out(shown, (int[FATES]){ k->lost, k->wrong[1] - k->lost, k->gained, k->rows - k->wrong[1] - k->gained }, order);
    spot_json_array(r->p->at, "shown", 0, 0);
    for (int i = 0; i < FATES; i++) write_fate(r, p->at, p->compared, p->cls, order[i], strip, shown[order[i]]);
    spot_json_end(r->p->at);
}

/* Rows of all, of a class or of a guard that turned. */
static void write_turned(versions_page *r, const spot_version_class *x)
{
    const fate *order = is_better(x->verdict) ? better_first : worse_first;
    const spot_version_counts *k = &x->counts;
    const int strip = strip_of(x->verdict);
    int shown[FATES];

    share_out(shown, (int[FATES]){ [LOST] = k->lost, [GAINED] = k->gained }, order);
    spot_json_array(r->p->at, "shown", 0, 0);
    for (int i = 0; i < FATES; i++) {
        if (order[i] == LOST) write_fate(r, k->lost_row, k->lost, x->cls, LOST, strip, shown[LOST]);
        if (order[i] == GAINED) write_fate(r, k->gained_row, k->gained, x->cls, GAINED, strip, shown[GAINED]);
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
        if (x[i].name || x[i].verdict == SPOT_CHANGE_WORSE) write_turned(r, &x[i]);
        spot_json_end(r->p->at);
    }
    spot_json_end(r->p->at);
}

static void write_all(versions_page *r)
{
    const spot_versions *v = r->v;
    spot_page *p = r->p;

    write_head(r);
    write_named(r, "guards", v->guard, v->guards);             /* their pictures come first where not all fit */
    spot_json_array(p->at, "slices", 0, 0);
    for (int i = 0; i < v->slices; i++) {
        spot_json_object(p->at, NULL);
        spot_version_slice_put(p->at, &v->slice[i], r->s[0]);
        write_rows(r, &v->slice[i]);
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
    write_named(r, "whole", v->of, v->classes);
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
