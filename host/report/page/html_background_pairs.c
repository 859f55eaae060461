/* html_background_pairs.c - pictures of a background run: the pairs of an object and a background that turn a model, the
 * backgrounds that turn it most often, one object in every derived set. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/html_background.h"

/* Index of the background of a blend. */
static int background_of(const spot_background_suite *s, int target, int image)
{
    return s->chosen[(size_t)target * (size_t)s->n + (size_t)image - 1];
}

static bool same_picture(const spot_background_suite *s, const spot_background_row *a, const spot_background_row *b)
{
    if (a->alone != b->alone) return false;
    if (a->alone) return background_of(s, a->target, a->image) == background_of(s, b->target, b->image);
    return a->target == b->target && a->image == b->image;
}

/* Returns the row of a picture; -1: no memory. */
static int add_row(spot_background_page *w, spot_background_row new)
{
    for (int i = 0; i < w->rows; i++)
        if (same_picture(w->r->suite, &w->row[i], &new)) {
            if (new.rank < w->row[i].rank) w->row[i].rank = new.rank;
            return i;
        }
    if (w->rows == w->room) {
        const int room = w->room ? 2 * w->room : 256;
        spot_background_row *more = realloc(w->row, (size_t)room * sizeof *more);
        if (!more) return w->p->blocks.status = SPOT_NOMEM, -1;
        w->row = more, w->room = room;
    }
    w->row[w->rows] = new;
    return w->rows++;
}

/* ---- pairs ---- */

static void write_pair(spot_background_page *w, const spot_background_responses *a, const spot_worst_pair *v, int rank)
{
    const spot_background_suite *s = w->r->suite;
    const int image = v->place + 1;
    const size_t at = (size_t)v->target * (size_t)s->n + (size_t)v->place;
    spot_page *p = w->p;

    spot_json_object(p->at, NULL);
    spot_json_array(p->at, "rows", 0, 0);
    spot_json_put_int(p->at, NULL, add_row(w, (spot_background_row){ v->target, 0, rank, false }));
    spot_json_put_int(p->at, NULL, add_row(w, (spot_background_row){ v->target, image, rank, true }));
    spot_json_put_int(p->at, NULL, add_row(w, (spot_background_row){ v->target, image, rank, false }));
    spot_json_end(p->at);
    spot_json_put_int(p->at, "truth", s->cls[v->target]);
    spot_json_put_int(p->at, "answer", v->answer);
    spot_page_real(p, "before", a->signal[(size_t)v->target * (size_t)(s->n + 1)]);
    spot_page_real(p, "after", v->confidence);
    spot_page_real(p, "distance", v->distance);
    if (s->keyword[at] >= 0 && s->keyword[at] < s->words) spot_page_text(p, "word", s->word[s->keyword[at]]);
    if (s->unreal[at]) spot_json_put_int(p->at, "unreal", 1);
    spot_json_end(p->at);
}

spot_status spot_background_page_pairs(spot_background_page *w, const spot_background_responses *a)
{
    spot_worst_pair pair[SPOT_SHOWN_PAIRS];
    const int n = spot_worst_pairs(pair, SPOT_SHOWN_PAIRS, a, w->r->suite, w->r->cfg->measure.confidence);

    spot_json_array(w->p->at, "pairs", 0, 0);
    for (int i = 0; i < n; i++) write_pair(w, a, &pair[i], i);
    spot_json_end(w->p->at);
    return w->p->blocks.status;
}

/* ---- backgrounds ---- */

/* Blends with a background, or for a keyword, of objects that the model knows; and on how many of them it is wrong. */
typedef struct { int index, used, turned, target, image; } tally;

static int by_turned(const void *a, const void *b)
{
    const tally *x = a, *y = b;

    if (x->turned != y->turned) return x->turned > y->turned ? -1 : 1;
    if (x->used != y->used) return x->used < y->used ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* t (n) by the index of each blend in `of`, (targets, n); -1: the blend does not count. */
static void count_turned(tally *t, int n, const int *of, const spot_background_responses *a, const spot_background_suite *s)
{
    for (int i = 0; i < n; i++) t[i] = (tally){ .index = i };
    for (int g = 0; g < s->targets; g++) {
        const int *answer = a->answer + (size_t)g * (size_t)(s->n + 1);
        for (int j = 1; j <= s->n && answer[0] == s->cls[g]; j++) {
            const int k = of[(size_t)g * (size_t)s->n + (size_t)j - 1];
            if (k < 0 || k >= n) continue;
            t[k].used++;
            if (answer[j] != s->cls[g]) t[k] = (tally){ k, t[k].used, t[k].turned + 1, g, j };
        }
    }
    qsort(t, (size_t)n, sizeof *t, by_turned);
}

static void write_tally(spot_background_page *w, const char *key, const tally *t, int n, char *const *name, bool pictures)
{
    spot_page *p = w->p;

    spot_json_array(p->at, key, 0, 0);
    for (int i = 0; i < n && i < SPOT_SHOWN_BACKS && t[i].turned; i++) {
        spot_json_object(p->at, NULL);
        spot_page_text(p, "name", name[t[i].index]);
        spot_json_put_int(p->at, "used", t[i].used);
        spot_json_put_int(p->at, "turned", t[i].turned);
        const spot_background_row row = { t[i].target, t[i].image, SPOT_SHOWN_PAIRS, true };
        if (pictures) spot_json_put_int(p->at, "row", add_row(w, row));
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
}

spot_status spot_background_page_backs(spot_background_page *w, const spot_background_responses *a)
{
    const spot_background_suite *s = w->r->suite;
    tally *t = malloc(((size_t)(s->backgrounds > s->words ? s->backgrounds : s->words) + 1) * sizeof *t);

    if (!t) return spot_fail(w->c, SPOT_NOMEM, "no memory for the counts of %d backgrounds", s->backgrounds);
    count_turned(t, s->backgrounds, s->chosen, a, s);
    write_tally(w, "backs", t, s->backgrounds, s->background, true);
    if (s->words) {
        count_turned(t, s->words, s->keyword, a, s);
        write_tally(w, "words", t, s->words, s->word, false);
    }
    free(t);
    return w->p->blocks.status;
}

/* ---- one object in every set ---- */

/* The first target with a picture in the most sets. */
static int choose_example(const spot_background_responses *a, const spot_background_suite *s)
{
    int best = 0, most = -1;

    for (int t = 0; t < s->targets; t++) {
        int n = 0;
        for (int k = 0; k < SPOT_SET_SUITE; k++) n += a->derived[(size_t)t * (size_t)a->sets + (size_t)k] != -2;
        if (n > most) best = t, most = n;
    }
    return best;
}

spot_status spot_background_page_example(spot_background_page *w)
{
    const spot_background_suite *s = w->r->suite;
    spot_background_responses a;

    if (!w->r->cfg->measure.sets) return SPOT_OK;
    SPOT_TRY(spot_background_responses_read(w->c, &a, w->dir, &w->r->unit[0]));
    const int t = choose_example(&a, s);
    spot_json_array(w->p->at, "example", 0, 0);
    for (int k = 0; k <= SPOT_SET_SUITE; k++) {
        const int image = k == SPOT_SET_ORIGINAL ? 0 : k == SPOT_SET_SUITE ? 1 : s->n + 1 + k;
        if (k < SPOT_SET_SUITE && a.derived[(size_t)t * (size_t)a.sets + (size_t)k] == -2) continue;
        spot_json_array(w->p->at, NULL, 2, 2);
        spot_page_text(w->p, NULL, spot_background_set_name(k));
        spot_json_put_int(w->p->at, NULL, add_row(w, (spot_background_row){ t, image, 0, false }));
        spot_json_end(w->p->at);
    }
    spot_json_end(w->p->at);
    spot_background_responses_free(&a);
    return w->p->blocks.status;
}

/* ---- rows ---- */

typedef struct {
    const spot_background_page *w;
    spot_background_pictures *pictures;        /* NULL: they cannot be made, and why */
    char why[512];
    pthread_mutex_t lock;                      /* pictures are made one at a time */
} maker;

static spot_status read_row(spot_ctx *c, void *user, int row, spot_picture *out)
{
    maker *m = user;
    const spot_background_row *v = &m->w->row[row];
    const uint64_t size = (uint64_t)m->w->r->cfg->data.size;
    spot_status s;

    if (!m->pictures) return spot_fail(c, SPOT_INPUT, "%s", m->why);
    SPOT_TRY(spot_picture_start(c, out, size, size, m->w->r->suite->target[v->target]));
    pthread_mutex_lock(&m->lock);
    s = v->alone ? spot_background_behind(c, m->pictures, out->rgb, v->target, v->image)
                 : spot_background_picture(c, m->pictures, out->rgb, v->target, v->image);
    pthread_mutex_unlock(&m->lock);
    return s;
}

static void write_names(const spot_background_page *w)
{
    const spot_background_suite *s = w->r->suite;

    spot_json_array(w->p->at, "names", 0, 0);
    for (int i = 0; i < w->rows; i++) {
        const spot_background_row *v = &w->row[i];
        if (v->alone) spot_page_text(w->p, NULL, s->background[background_of(s, v->target, v->image)]);
        else if (v->image && v->image <= s->n)
            spot_page_print(w->p, NULL, "%s on %s", s->target[v->target], s->background[background_of(s, v->target, v->image)]);
        else spot_page_text(w->p, NULL, s->target[v->target]);
    }
    spot_json_end(w->p->at);
}

spot_status spot_background_page_rows(spot_background_page *w)
{
    maker m = { .w = w };
    const spot_picture_source from = { .rows = w->rows, .read = read_row, .user = &m };
    spot_wanted wanted;
    spot_status s = spot_wanted_open(w->c, &wanted, w->rows), opened;

    write_names(w);
    pthread_mutex_init(&m.lock, NULL);
    opened = s == SPOT_OK ? spot_background_pictures_open(w->c, &m.pictures, w->r, w->p->o->other_pictures) : SPOT_OK;
    if (opened == SPOT_NOMEM || opened == SPOT_STOPPED) s = opened;
    else if (opened) snprintf(m.why, sizeof m.why, "%s", spot_message(w->c, opened)), spot_forget(w->c);
    for (int rank = 0; rank <= SPOT_SHOWN_PAIRS && s == SPOT_OK; rank++)
        for (int i = 0; i < w->rows; i++)
            if (w->row[i].rank == rank) spot_wanted_add(&wanted, i);
    if (s == SPOT_OK) s = spot_page_pictures(w->p, &from, &wanted);
    spot_background_pictures_close(m.pictures);
    pthread_mutex_destroy(&m.lock);
    spot_wanted_close(&wanted);
    return s;
}
