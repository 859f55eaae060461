/* html_run.c - a sweep's run as a page: every EC is a place with its truth. html_results.c writes tables and figures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/html_results.h"
#include "result/result.h"
#include "spotter/config.h"
#include "spotter/discover.h"
#include "spotter/sweep.h"
#include "store/pack.h"
#include "store/pixel_cache.h"

enum { NEAR = 4 };

/* A request for a row's picture; lower turns come first. */
typedef struct { int turn, order, row; } request;

typedef struct { uint32_t ec; int image; } picture;

typedef struct {
    spot_ctx   *c;
    spot_page  *p;
    spot_results *r;
    spot_source source;            /* images */
    spot_run_values *values;       /* values in the run's cache */
    spot_segment *segment;         /* segment of the current EC */
    spot_text   ids;               /* one line for each row */
    spot_text   pictures;          /* (rows), picture */
    spot_text   wishes;            /* (requests), request */
    spot_json   findings, maps;    /* members of the page, written at the same time as the member "places" */
    int rows, requests, places, found, mapped, missing;
    spot_ec    *ec;                /* (ecs of the config), for pictures */
    bool        hidden;            /* pictures from files, of which it is not known that the run saw them */
} run;

static bool is_wrong(const spot_view *v, int i) { return v->confidence[i] < 0.5f; }

/* ---- slices ---- */

static void add_request(run *u, int turn, int row)
{
    const request one = { turn, u->requests++, u->rows + row };

    spot_text_add(&u->wishes, &one, sizeof one);
}

/* Writes the correct rows outside of h that are nearest to its mean in the classifier's features. */
static void write_near(run *u, const spot_view *v, const spot_hypothesis *h, const bool *in, float *middle)
{
    double best[NEAR];
    int near[NEAR], n = 0;

    memset(middle, 0, (size_t)v->d * sizeof *middle);
    for (int j = 0; j < h->len; j++)
        for (int k = 0; k < v->d; k++) middle[k] += v->feature[(size_t)h->row[j] * (size_t)v->d + (size_t)k] / (float)h->len;
    for (int i = 0; i < v->n; i++) {
        double apart = 0;
        int at;
        if (in[i] || is_wrong(v, i)) continue;
        for (int k = 0; k < v->d; k++) {
            double x = v->feature[(size_t)i * (size_t)v->d + (size_t)k] - middle[k];
            apart += x * x;
        }
        for (at = n < NEAR ? n++ : NEAR; at > 0 && apart < best[at - 1]; at--)
            if (at < NEAR) best[at] = best[at - 1], near[at] = near[at - 1];
        if (at < NEAR) best[at] = apart, near[at] = i;
    }
    spot_json_array(u->p->at, "near", 0, 0);
    for (int k = 0; k < n; k++) spot_json_put_int(u->p->at, NULL, near[k]);
    spot_json_end(u->p->at);
    for (int k = 0; k < n; k++) add_request(u, 0, near[k]);
}

static void write_slice(run *u, const spot_view *v, const spot_hypothesis *h, const spot_score *score, int k, int all_wrong)
{
    spot_page *p = u->p;
    double confidence = 0;
    int wrong = 0, m = score ? score->belongs[k] : -1;

    for (int j = 0; j < h->len; j++) {
        wrong += is_wrong(v, h->row[j]);
        confidence += v->confidence[h->row[j]] / h->len;
    }
    spot_json_put_int(p->at, "size", h->len);
    spot_json_put_int(p->at, "wrong", wrong);
    spot_page_real(p, "error_rate", (double)wrong / h->len);
    spot_page_real(p, "mean_confidence", confidence);
    spot_page_real(p, "share_of_errors", all_wrong ? (double)wrong / all_wrong : NAN);
    spot_page_real(p, "score", h->score);
    if (score && m >= 0) spot_page_print(p, "note", "belongs to B%d, precision %.2f", m + 1, score->bp[k][m]);
    else if (score) spot_page_text(p, "note", "belongs to no true blindspot");
}

/* Requests the pictures of a slice: first those that the page shows at once, then those that it shows next. */
static spot_status request_slice(run *u, const spot_hypothesis *h, int k, const uint8_t *at, int *row)
{
    memcpy(row, h->row, (size_t)h->len * sizeof *row);
    SPOT_TRY(spot_worst_first(u->c, row, h->len, at));
    for (int j = 0; j < h->len; j++) add_request(u, (j < SPOT_STRIP ? 0 : j < 4 * SPOT_STRIP ? 100 : 200) + k, row[j]);
    return SPOT_OK;
}

typedef struct { uint8_t *at, *bad; bool *in; int *row, *all; float *middle; } scratch;

static spot_status write_slices(run *u, spot_arena *a, const spot_view *v, const spot_hypotheses *found,
                                const spot_score *score, int wrong, const scratch *x)
{
    size_t total = 0;
    int used = 0, *all;

    for (int k = 0; k < found->len; k++) total += (size_t)found->h[k].len;
    SPOT_TRY(SPOT_TAKE(u->c, a, all, total + 1));
    spot_json_array(u->p->at, "slices", 0, 0);
    for (int k = 0; k < found->len; k++) {
        const spot_hypothesis *h = &found->h[k];
        if (!h->len) continue;
        memset(x->in, 0, (size_t)v->n * sizeof *x->in);
        for (int j = 0; j < h->len; j++) x->in[h->row[j]] = true, all[used++] = h->row[j];
        spot_json_object(u->p->at, NULL);
        write_slice(u, v, h, score, k, wrong);
        write_near(u, v, h, x->in, x->middle);
        spot_json_end(u->p->at);
        SPOT_TRY(request_slice(u, h, k, x->at, x->row));
    }
    spot_json_end(u->p->at);
    spot_page_ascending(u->p, "members", all, used);
    return SPOT_OK;
}

/* ---- findings of an EC ---- */

static void write_score(run *u, const spot_score *score)
{
    spot_page *p = u->p;

    spot_page_real(p, "dr", score->dr);
    spot_page_real(p, "fdr", score->fdr);
    spot_json_array(p->at, "covered", 0, 0);
    for (int m = 0; m < score->blindspots; m++) spot_json_put_int(p->at, NULL, score->covered[m]);
    spot_json_end(p->at);
    spot_json_array(p->at, "recall", 0, 0);
    for (int m = 0; m < score->blindspots; m++) spot_page_real(p, NULL, score->br[m]);
    spot_json_end(p->at);
}

static void write_map(run *u, const spot_points *map, int of)
{
    spot_page *p = u->p;

    p->at = &u->maps;
    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "place", u->places);
    spot_page_text(p, "of", of >= 0 ? u->r->method[of].name : "the first two principal components");
    spot_json_put_int(p->at, "columns", map->d);
    spot_page_map(p, "xy", map->at, map->n, map->d);
    spot_json_end(p->at);
    p->at = &p->what;
}

/* Methods with the same map share it: kept[of + 1] is its number among the page's maps, -1: not yet written. */
static spot_status write_finding(run *u, spot_arena *a, const spot_seen *seen, int b, int wrong, const scratch *x, int *kept)
{
    const spot_outcome *o = &u->segment->method[b];
    spot_page *p = u->p;
    spot_hypotheses found = { 0 };
    spot_drawn_finding f = { .found = &found, .of = -1 };
    spot_status s = SPOT_OK;

    if (!o->status)
        SPOT_TRY(spot_run_values_found(u->c, a, u->values, (uint32_t)u->segment->index, &seen->view, b, &f));
    if (f.map.at && kept[f.of + 1] < 0) {
        write_map(u, &f.map, f.of);
        kept[f.of + 1] = u->mapped++;
    }
    p->at = &u->findings;
    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "place", u->places);
    spot_json_put_int(p->at, "map", f.map.at ? kept[f.of + 1] : -1);
    spot_page_text(p, "method", u->r->method[b].name);
    spot_page_text(p, "seed", "0");
    spot_page_text(p, "failed", o->status ? o->message : f.is_kept ? NULL : "the run's cache has its findings no longer");
    if (!o->status) write_score(u, &o->score);
    s = write_slices(u, a, &seen->view, &found, o->status ? NULL : &o->score, wrong, x);
    spot_json_end(p->at);
    p->at = &p->what;
    u->found++;
    return s;
}

/* ---- an EC ---- */

static void add_rows(run *u, const spot_view *v)
{
    char id[48];

    for (int i = 0; i < v->n; i++) {
        const picture one = { (uint32_t)u->segment->index, v->image[i] };
        spot_text_add(&u->pictures, &one, sizeof one);
        snprintf(id, sizeof id, "EC %d test-%06d\n", u->segment->index, v->image[i]);
        spot_text_adds(&u->ids, id);
    }
}

static spot_status open_scratch(run *u, spot_arena *a, scratch *x, const spot_view *v)
{
    SPOT_TRY(SPOT_TAKE(u->c, a, x->at, v->n + 1));
    SPOT_TRY(SPOT_TAKE(u->c, a, x->bad, v->n + 1));
    SPOT_TRY(SPOT_TAKE(u->c, a, x->in, v->n + 1));
    SPOT_TRY(SPOT_TAKE(u->c, a, x->row, v->n + 1));
    SPOT_TRY(SPOT_TAKE(u->c, a, x->all, v->n + 1));
    SPOT_TRY(SPOT_TAKE(u->c, a, x->middle, v->d + 1));
    for (int i = 0; i < v->n; i++) {
        x->at[i] = spot_page_confidence(v->confidence[i]);
        x->bad[i] = is_wrong(v, i);
        x->all[i] = u->rows + i;
    }
    return SPOT_OK;
}

static void write_place(run *u, const spot_seen *seen, int wrong, const scratch *x)
{
    const spot_segment *g = u->segment;
    spot_page *p = u->p;

    spot_json_object(p->at, NULL);
    spot_json_put_int(p->at, "model", 0);
    spot_json_put_int(p->at, "class", -1);
    spot_json_put_int(p->at, "ec", g->index);
    spot_json_put_int(p->at, "n", seen->view.n);
    spot_json_put_int(p->at, "wrong", wrong);
    spot_page_real(p, "outside", g->lesson.outside);
    spot_json_put_int(p->at, "learned", g->lesson.learned);
    spot_page_ascending(p, "rows", x->all, seen->view.n);
    spot_page_block(p, "confidence", x->at, (size_t)seen->view.n);
    spot_page_block(p, "bad", x->bad, (size_t)seen->view.n);
    spot_page_block(p, "mask", seen->truth.mask, (size_t)seen->view.n * sizeof *seen->truth.mask);
    spot_json_array(p->at, "truth", 0, 0);
    for (int m = 0; m < g->blindspots; m++) {
        spot_json_object(p->at, NULL);
        spot_page_text(p, "text", g->blindspot[m]);
        spot_page_real(p, "inside", g->lesson.inside[m]);
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
    spot_json_end(p->at);
}

static spot_status add_view(run *u, spot_arena *a, const spot_seen *seen)
{
    int kept[SPOT_MAX_BDMS + 1], wrong = 0;
    size_t mark;
    scratch x;

    add_rows(u, &seen->view);
    SPOT_TRY(open_scratch(u, a, &x, &seen->view));
    for (int i = 0; i < seen->view.n; i++) wrong += x.bad[i];
    write_place(u, seen, wrong, &x);
    for (int b = 0; b <= u->r->methods; b++) kept[b] = -1;
    mark = a->used;
    for (int b = 0; b < u->r->methods && b < u->segment->methods; b++) {
        SPOT_TRY(write_finding(u, a, seen, b, wrong, &x, kept));
        a->used = mark;
    }
    u->rows += seen->view.n;
    u->places++;
    return SPOT_OK;
}

static spot_status add_ec(run *u, int index)
{
    spot_ec *ec = &u->ec[u->places];
    spot_segment_state state;
    char why[1300];
    spot_seen seen;
    bool found;
    spot_arena a;
    spot_status s;

    SPOT_TRY(spot_segment_read(u->c, u->r->dir, index, u->segment, &state, why, sizeof why));
    if (state != SPOT_SEGMENT_WHOLE || u->segment->status) return SPOT_OK;       /* the tables' warnings name it */
    SPOT_TRY(spot_source_ec(u->c, ec, &u->source, (uint32_t)index));
    SPOT_TRY(spot_arena_open(u->c, &a, spot_run_values_needs(u->values, spot_ec_positives(NULL, ec, SPOT_TEST))));
    s = spot_run_values_view(u->c, &a, u->values, (uint32_t)index, &seen.view, &seen.truth, &found);
    if (s == SPOT_OK && found) s = add_view(u, &a, &seen);
    else u->missing++;
    spot_arena_close(&a);
    return s;
}

/* ---- pictures ---- */

/* Pictures from files come from the run, which keeps their pixels: its config may be a stranger's, and what lies at the paths
 * in it may be the reader's own. Their names and sizes alone make the keys of the run's values. */
static spot_status find_pixels(run *u)
{
    bool found;

    if (!u->source.photos || u->p->o->other_pictures) return SPOT_OK;
    SPOT_TRY(spot_pixel_cache_find(u->c, u->r->dir, u->source.photos, &found));
    u->hidden = !found;
    if (u->hidden)
        spot_log(u->c, SPOT_LOG_WARN, "%s/cache has no pixels of the run's pictures (*.album), so none is shown; "
                 "--other-pictures shows what lies in %s now", u->r->dir, u->r->cfg.data.images);
    return SPOT_OK;
}

static spot_status draw_picture(spot_ctx *c, void *user, int row, spot_picture *out)
{
    run *u = user;
    const picture *at = (const picture *)(const void *)u->pictures.bytes + row;
    int size, k = 0;
    spot_image image;

    if (u->hidden) return spot_fail(c, SPOT_INPUT, "it is not shown: the run has no pixels of it");
    while (u->ec[k].index != at->ec) k++;
    size = u->ec[k].scene.size;
    SPOT_TRY(spot_picture_start(c, out, (uint64_t)size, (uint64_t)size, "a scene"));
    return spot_image_picture(c, &image, out->rgb, &u->ec[k], SPOT_TEST, (uint32_t)at->image);
}

static int by_turn(const void *a, const void *b)
{
    const request *x = a, *y = b;

    return x->turn != y->turn ? (x->turn > y->turn) - (x->turn < y->turn) : (x->order > y->order) - (x->order < y->order);
}

static spot_status add_pictures(run *u)
{
    spot_picture_source from = { u->rows, NULL, draw_picture, u };
    request *wish = (request *)(void *)u->wishes.bytes;
    spot_wanted w;
    spot_status s = spot_wanted_open(u->c, &w, u->rows);

    if (u->requests) qsort(wish, (size_t)u->requests, sizeof *wish, by_turn);
    for (int i = 0; s == SPOT_OK && i < u->requests; i++) {
        spot_wanted_add(&w, wish[i].row);
        if (wish[i].turn < 100) w.strips = w.n;
    }
    if (s == SPOT_OK) {
        spot_wanted_rest(&w, u->rows);
        s = spot_page_pictures(u->p, &from, &w);
    }
    spot_wanted_close(&w);
    return s;
}

/* ---- the page ---- */

static spot_status write_rest(run *u)
{
    spot_page *p = u->p;

    spot_json_end(&u->findings);
    spot_json_end(&u->maps);
    SPOT_TRY(spot_json_whole(u->c, &u->findings, "findings"));
    SPOT_TRY(spot_json_whole(u->c, &u->maps, "maps"));
    spot_json_put_raw(&p->what, "findings", u->findings.out.bytes, u->findings.out.used);
    spot_json_put_raw(&p->what, "maps", u->maps.out.bytes, u->maps.out.used);
    spot_json_put_int(p->at, "rows", u->rows);
    spot_page_block(p, "ids", u->ids.used ? u->ids.bytes : "", u->ids.used);
    spot_json_array(p->at, "models", 0, 0);
    spot_json_object(p->at, NULL);
    spot_page_text(p, "name", "the classifiers");
    spot_page_print(p, "source", "%s: %d ECs, %d methods", u->r->dir, u->r->ecs, u->r->methods);
    spot_json_end(p->at);
    spot_json_end(p->at);
    spot_json_array(p->at, "classes", 0, 0);
    spot_json_end(p->at);
    spot_json_array(p->at, "notes", 0, 0);
    if (u->missing)
        spot_page_print(p, NULL, "%d EC%s no map here: the cache has no view of %s (`spotter sweep --keep results` and "
                        "`spotter merge` without --cache leave none), or one of another version of Spotter.",
                        u->missing, u->missing == 1 ? " has" : "s have", u->missing == 1 ? "it" : "them");
    if (u->r->bad) spot_page_print(p, NULL, "%d result segment%s damaged or of another config and not counted.",
                                    u->r->bad, u->r->bad == 1 ? " is" : "s are");
    spot_json_end(p->at);
    spot_page_text(p, "legend", SPOT_RESULTS_U);
    spot_quantities_describe(p->at, "slice_columns", &spot_slice_columns);
    if (!u->ids.status && !u->pictures.status && !u->wishes.status) return SPOT_OK;
    return spot_fail(u->c, SPOT_NOMEM, "no memory for the %d rows of the report", u->rows);
}

static spot_status write_page(run *u)
{
    SPOT_TRY(spot_source_open(u->c, &u->source, &u->r->cfg));
    SPOT_TRY(find_pixels(u));
    SPOT_TRY(spot_run_values_open(u->c, &u->values, u->r->dir, &u->r->cfg, u->source.photos));
    SPOT_TRY(spot_page_results(u->p, u->r));
    SPOT_TRY(spot_json_begin(u->c, &u->findings, NULL));
    SPOT_TRY(spot_json_begin(u->c, &u->maps, NULL));
    spot_json_array(&u->findings, NULL, 0, 0);
    spot_json_array(&u->maps, NULL, 0, 0);
    spot_json_array(u->p->at, "places", 0, 0);
    for (int i = 0; i < u->r->ecs; i++) {
        SPOT_TRY(add_ec(u, u->r->ec[i].index));
        spot_tell(u->c, "report", u->r->ec[i].index, i + 1, u->r->ecs, "");
        SPOT_TRY(spot_check_stop(u->c));
    }
    spot_json_end(u->p->at);
    SPOT_TRY(write_rest(u));
    return add_pictures(u);
}

spot_status spot_report_run(spot_ctx *c, const char *path, const char *dir, const spot_report_options *o)
{
    spot_page page;
    run u = { .c = c, .p = &page };
    spot_status s = spot_results_read(c, &u.r, dir, false);

    if (s == SPOT_OK) {
        u.segment = calloc(1, sizeof *u.segment);
        u.ec = calloc((size_t)u.r->ecs + 1, sizeof *u.ec);
        if (!u.segment || !u.ec) s = spot_fail(c, SPOT_NOMEM, "no memory for the report of %s", dir);
    }
    if (s == SPOT_OK) s = spot_page_begin(&page, c, o, "run", "Sweep");
    if (s == SPOT_OK) s = spot_page_write(&page, path, write_page(&u));
    if (s == SPOT_OK) s = spot_results_verdict(c, u.r);
    spot_run_values_close(u.values);
    spot_source_close(&u.source);
    spot_text_free(&u.ids);
    spot_json_free(&u.findings);
    spot_json_free(&u.maps);
    spot_text_free(&u.pictures);
    spot_text_free(&u.wishes);
    spot_segment_free(u.segment);
    free(u.ec);
    spot_results_free(u.r);
    return s;
}
