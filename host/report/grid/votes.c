/* votes.c - votes of raters -> selection frequencies, agreement.
 *
 * The form has a row for each picture of each grid. A rater who marks any picture of a grid has answered it: his other cells of
 * it, empty ones too, are "not selected". A grid in which all his cells are empty is not answered. */
#define _POSIX_C_SOURCE 200809L
#include "report/grid/votes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

enum { RATER = 96, MOST_RATERS = 10000 };

/* An answer of the form; grid and place as an index into the key. */
typedef struct { int rater, picture; int8_t selected; uint64_t line; } answer;         /* selected: -1 empty */

typedef struct {
    spot_ctx *c;
    const spot_shifts_results *r;
    spot_grid_picture *picture;            /* (pictures): the key */
    int pictures, last;                    /* last: that an answer was about */
    char (*rater)[RATER];
    int raters, rater_room;
    answer *of;
    int answers, room;
    int *votes, *selected;                 /* (pictures) */
} votes_work;

/* ---- the key ---- */

/* Whether a cell holds the name: spot_csv_field puts ' before one that a spreadsheet would run, such as "=at night". */
static bool is_name(const char *cell, const char *name)
{
    return !strcmp(cell, name) || (*cell == '\'' && strchr("=+-@\t", *name) && !strcmp(cell + 1, name));
}

static int source_called(const spot_shifts_config *cfg, const char *cell)
{
    for (int v = 0; v < cfg->sources; v++)
        if (is_name(cell, cfg->source[v].name)) return v;
    return cfg->sources || *cell ? -1 : 0;
}

static int shift_called(const spot_shifts_config *cfg, const char *cell)
{
    for (int s = 0; s < cfg->shifts; s++)
        if (is_name(cell, cfg->shift[s].name)) return s;
    return -1;
}

enum { K_GRID, K_TASK, K_LABEL, K_PLACE, K_SET, K_SOURCE, K_SHIFT, K_PATH, K_WEIGHT, K_COLUMNS };

static bool fill_picture(spot_grid_picture *p, const spot_rows *t, const spot_shifts_config *cfg)
{
    const char *set = spot_rows_cell(t, K_SET), *task = spot_rows_cell(t, K_TASK);
    const bool real = !strcmp(set, "real");

    *p = (spot_grid_picture){ .task = -1, .source = -1, .shift = -1 };
    for (int k = 0; k < SPOT_TASKS; k++)
        if (!strcmp(task, spot_task_names[k])) p->task = k;
    snprintf(p->name, sizeof p->name, "%.23s", spot_rows_cell(t, K_GRID));
    snprintf(p->label, sizeof p->label, "%.159s", spot_rows_cell(t, K_LABEL));
    snprintf(p->path, sizeof p->path, "%.1023s", spot_rows_cell(t, K_PATH));
    p->place = atoi(spot_rows_cell(t, K_PLACE));
    p->kept = !strcmp(set, "kept");
    const bool weighs = spot_rows_number(t, K_WEIGHT, &p->weight);
    if (!real) {
        p->source = source_called(cfg, spot_rows_cell(t, K_SOURCE));
        p->shift = shift_called(cfg, spot_rows_cell(t, K_SHIFT));
    }
    return p->task >= 0 && p->place >= 1 && p->place <= SPOT_GRID && weighs && p->weight >= 1 && p->weight < 1e9
        && (real || p->kept || !strcmp(set, "dropped")) && (real || (p->source >= 0 && p->shift >= 0));
}

spot_status spot_grid_key(spot_ctx *c, spot_grid_picture **picture, int *n, const spot_shifts_results *r, const char *dir)
{
    static const char *const columns[K_COLUMNS] = { "grid", "task", "label", "place", "set", "source", "shift", "path",
                                                   "weight" };
    char path[1300];
    spot_rows *t;
    bool more;
    int room = 0;
    spot_status s;

    *picture = NULL;
    *n = 0;
    snprintf(path, sizeof path, "%s/grids/key.csv", dir);
    if (access(path, F_OK)) return spot_fail(c, SPOT_INPUT, "%s is not there, which says what each grid shows; --grids N makes "
                                             "grids", path);
    SPOT_TRY(spot_rows_open(c, &t, path, columns, K_COLUMNS));
    while ((s = spot_rows_next(c, t, &more)) == SPOT_OK && more) {
        if (*n == room) {
            spot_grid_picture *grown = realloc(*picture, (size_t)(room = room ? 2 * room : 512) * sizeof *grown);
            if (!grown) { s = spot_fail(c, SPOT_NOMEM, "no memory to read %s", path); break; }
            *picture = grown;
        }
        if (!fill_picture(&(*picture)[*n], t, r->cfg)) {
            s = spot_fail(c, SPOT_INPUT, "%s line %" PRIu64 " is no picture of this run; --grids N writes the file anew", path,
                          spot_rows_line(t));
            break;
        }
        ++*n;
    }
    spot_rows_close(t);
    return s;
}

/* ---- the form ---- */

static int rater_index(votes_work *w, const char *name)
{
    for (int i = 0; i < w->raters; i++)
        if (!strcmp(w->rater[i], name)) return i;
    if (w->raters == w->rater_room) {
        const int room = w->rater_room ? 2 * w->rater_room : 16;
        void *more = realloc(w->rater, (size_t)room * sizeof *w->rater);
        if (!more) return -1;
        w->rater = more;
        w->rater_room = room;
    }
    snprintf(w->rater[w->raters], RATER, "%s", name);
    return w->raters++;
}

/* Rows usually come in the key's order: the picture after the last one is looked at first. */
static int picture_at(votes_work *w, const char *grid, int place)
{
    const int next = w->last + 1 < w->pictures ? w->last + 1 : 0;

    if (w->pictures && w->picture[next].place == place && !strcmp(w->picture[next].name, grid)) return w->last = next;
    for (int i = 0; i < w->pictures; i++)
        if (w->picture[i].place == place && !strcmp(w->picture[i].name, grid)) return w->last = i;
    return -1;
}

/* 1, 0, or -1 for an empty cell; -2: neither. */
static int selected_word(const char *word)
{
    static const char *const words[2][4] = { { "0", "no", "n", "false" }, { "1", "yes", "y", "true" } };

    for (int k = 0; k < 8; k++)
        if (!strcmp(word, words[k / 4][k % 4])) return k / 4;
    return *word ? -2 : -1;
}

enum { F_RATER, F_GRID, F_PLACE, F_SELECTED, F_COLUMNS };

static spot_status refuse(votes_work *w, const spot_rows *t, const char *path, const char *why)
{
    return spot_fail(w->c, SPOT_INPUT, "%s line %" PRIu64 ": %s", path, spot_rows_line(t), why);
}

static spot_status read_answer(votes_work *w, const spot_rows *t, const char *path)
{
    const char *rater = spot_rows_cell(t, F_RATER), *place = spot_rows_cell(t, F_PLACE);
    const int selected = selected_word(spot_rows_cell(t, F_SELECTED));
    char why[2600], *end;
    const long number = strtol(place, &end, 10);
    int i = *place && !*end && number >= 1 && number <= SPOT_GRID ? picture_at(w, spot_rows_cell(t, F_GRID), (int)number) : -1;

    if (i < 0) {
        snprintf(why, sizeof why, "the run has no picture \"%.60s\" in a grid \"%.60s\"; grids that are drawn anew need "
                 "new votes", place, spot_rows_cell(t, F_GRID));
        return refuse(w, t, path, why);
    }
    if (selected == -2) {
        snprintf(why, sizeof why, "selected is \"%.60s\"; 1 is for a selected picture, 0 for another",
                 spot_rows_cell(t, F_SELECTED));
        return refuse(w, t, path, why);
    }
    if (!*rater && selected == -1) return SPOT_OK;     /* of the empty form */
    if (!*rater) return refuse(w, t, path, "the rater has no name");
    if (strlen(rater) >= RATER) return refuse(w, t, path, "the rater's name is longer than 95 bytes");
    if (w->answers == w->room) {
        answer *more = realloc(w->of, (size_t)(w->room = w->room ? 2 * w->room : 1024) * sizeof *more);
        if (!more) return spot_fail(w->c, SPOT_NOMEM, "no memory to read %s", path);
        w->of = more;
    }
    w->of[w->answers] = (answer){ rater_index(w, rater), i, (int8_t)selected, spot_rows_line(t) };
    if (w->of[w->answers].rater < 0) return spot_fail(w->c, SPOT_NOMEM, "no memory to read %s", path);
    w->answers++;
    return w->raters > MOST_RATERS ? refuse(w, t, path, "there are more than 10000 raters") : SPOT_OK;
}

static int compare_answers(const void *a, const void *b)
{
    const answer *x = a, *y = b;

    if (x->rater != y->rater) return x->rater < y->rater ? -1 : 1;
    if (x->picture != y->picture) return x->picture < y->picture ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static bool same_grid(const votes_work *w, const answer *a, const answer *b)
{
    return a->rater == b->rater && !strcmp(w->picture[a->picture].name, w->picture[b->picture].name);
}

/* Answers lie by rater and picture, and pictures by grid. */
static spot_status count_votes(votes_work *w, spot_votes *v, const char *path)
{
    if (w->answers) qsort(w->of, (size_t)w->answers, sizeof *w->of, compare_answers);
    for (int i = 0, n, last = -1; i < w->answers; i += n) {
        bool any = false;
        for (n = 0; i + n < w->answers && same_grid(w, &w->of[i], &w->of[i + n]); n++) any |= w->of[i + n].selected >= 0;
        if (any && w->of[i].rater != last) v->raters++, last = w->of[i].rater;
        for (int k = i; k < i + n; k++) {
            const answer *a = &w->of[k];
            if (k > i && a->picture == a[-1].picture)
                return spot_fail(w->c, SPOT_INPUT, "%s line %" PRIu64 ": the rater %s has answered picture %d of %s in line "
                                 "%" PRIu64
                                 " already", path, a->line, spot_plain(w->rater[a->rater]), w->picture[a->picture].place,
                                 w->picture[a->picture].name, a[-1].line);
            if (!any) continue;
            w->votes[a->picture]++;
            w->selected[a->picture] += a->selected == 1;
            v->votes++;
        }
    }
    return SPOT_OK;
}

/* ---- numbers ---- */

typedef struct { double w, wf, ww, wwf, wwff; int n; bool differ; double first; } sum;

static void add_to(sum *s, double w, double f)
{
    if (!s->n++) s->first = f;
    s->differ |= f != s->first;
    s->w += w, s->wf += w * f;
    s->ww += w * w, s->wwf += w * w * f, s->wwff += w * w * f * f;
}

/* A weighted mean with the linearised variance of a ratio: n / (n - 1) sum w^2 (f - mean)^2 / (sum w)^2. */
static spot_selection selection_of(const sum *s)
{
    spot_selection e = { NAN, NAN, NAN, s->n };

    if (!s->n) return e;
    e.value = s->wf / s->w;
    if (s->n < 2 || !s->differ) return e;
    const double squares = s->wwff - 2 * e.value * s->wwf + e.value * e.value * s->ww;
    const double half = 1.959963984540054 * sqrt(fmax(squares, 0) * s->n / (s->n - 1)) / s->w;
    e.low = fmax(e.value - half, 0), e.high = fmin(e.value + half, 1);
    return e;
}

static spot_selection select_of(const votes_work *w, int task, int source, int shift, bool kept_only)
{
    sum s = { 0 };

    for (int i = 0; i < w->pictures; i++) {
        const spot_grid_picture *p = &w->picture[i];
        if (p->task != task || p->source != source || p->shift != shift || (kept_only && !p->kept) || !w->votes[i]) continue;
        add_to(&s, p->weight, (double)w->selected[i] / w->votes[i]);
    }
    return selection_of(&s);
}

/* Fleiss 1971, with each picture's own number of raters: pictures with fewer than two say nothing. */
static double kappa_of(const votes_work *w, int task)
{
    double agree = 0, yes = 0, all = 0;
    int n = 0;

    for (int i = 0; i < w->pictures; i++) {
        const double m = w->votes[i], k = w->selected[i];
        if (w->picture[i].task != task || m < 2) continue;
        agree += (k * (k - 1) + (m - k) * (m - k - 1)) / (m * (m - 1));
        yes += k, all += m;
        n++;
    }
    if (!n) return NAN;
    const double p = yes / all, chance = p * p + (1 - p) * (1 - p);
    return chance < 1 ? (agree / n - chance) / (1 - chance) : NAN;
}

static void fill_votes(const votes_work *w, spot_votes *v)
{
    for (int i = 0; i < w->pictures; i++) {
        v->images += w->votes[i] > 0;
        v->unanswered += !w->votes[i];
    }
    for (int t = 0; t < SPOT_TASKS; t++) {
        for (int s = 0; s < w->r->sources; s++)
            for (int k = 0; k < w->r->cfg->shifts; k++)
                for (int kept = 0; kept < 2; kept++) v->selected[t][s][k][kept] = select_of(w, t, s, k, kept);
        v->real[t] = select_of(w, t, -1, -1, false);
        v->kappa[t] = kappa_of(w, t);
    }
}

/* ---- files ---- */

static bool write_votes(FILE *f, const void *user)
{
    const votes_work *w = user;

    fputs("rater,grid,place,selected\n", f);
    for (int i = 0; i < w->answers; i++) {
        const answer *a = &w->of[i];
        spot_csv_field(f, w->rater[a->rater]);
        fprintf(f, ",%s,%d,%s\n", w->picture[a->picture].name, w->picture[a->picture].place,
                a->selected < 0 ? "" : a->selected ? "1" : "0");
    }
    return !ferror(f);
}

static bool write_selection(FILE *f, const void *user)
{
    const votes_work *w = user;

    fputs("grid,task,label,place,set,path,votes,selected,frequency\n", f);
    for (int i = 0; i < w->pictures; i++) {
        const spot_grid_picture *p = &w->picture[i];
        fprintf(f, "%s,%s,", p->name, spot_task_names[p->task]);
        spot_csv_field(f, p->label);
        fprintf(f, ",%d,%s,", p->place, p->shift < 0 ? "real" : p->kept ? "kept" : "dropped");
        spot_csv_field(f, p->path);
        fprintf(f, ",%d,%d,", w->votes[i], w->selected[i]);
        if (w->votes[i]) fprintf(f, "%.6g", (double)w->selected[i] / w->votes[i]);
        fputc('\n', f);
    }
    return !ferror(f);
}

static spot_status write_files(votes_work *w, const char *dir)
{
    char path[1300];

    snprintf(path, sizeof path, "%s/grids/votes.csv", dir);
    SPOT_TRY(spot_file_fill(w->c, path, write_votes, w));
    snprintf(path, sizeof path, "%s/grids/selection.csv", dir);
    return spot_file_fill(w->c, path, write_selection, w);
}

static spot_status read_form(votes_work *w, spot_votes *v, const char *path)
{
    static const char *const columns[F_COLUMNS] = { "rater", "grid", "place", "selected" };
    spot_rows *t;
    bool more;
    spot_status s;

    SPOT_TRY(spot_rows_open(w->c, &t, path, columns, F_COLUMNS));
    while ((s = spot_rows_next(w->c, t, &more)) == SPOT_OK && more)
        if ((s = read_answer(w, t, path))) break;
    spot_rows_close(t);
    SPOT_TRY(s);
    w->votes = calloc((size_t)w->pictures + 1, sizeof *w->votes);
    w->selected = calloc((size_t)w->pictures + 1, sizeof *w->selected);
    if (!w->votes || !w->selected) return spot_fail(w->c, SPOT_NOMEM, "no memory for the votes of %d pictures", w->pictures);
    SPOT_TRY(count_votes(w, v, path));
    return v->votes ? SPOT_OK : spot_fail(w->c, SPOT_INPUT, "%s: no rater has answered a grid", path);
}

spot_status spot_votes_read(spot_ctx *c, spot_votes *v, const spot_shifts_results *r, const char *dir, const char *votes_path,
                            bool *found)
{
    votes_work w = { .c = c, .r = r };
    char path[1300];
    spot_status s;

    *v = (spot_votes){ 0 };
    snprintf(path, sizeof path, "%s/grids/votes.csv", dir);
    *found = votes_path || !access(path, F_OK);
    if (!*found) return SPOT_OK;
    s = spot_grid_key(c, &w.picture, &w.pictures, r, dir);
    if (s == SPOT_OK) s = read_form(&w, v, votes_path ? votes_path : path);
    if (s == SPOT_OK) fill_votes(&w, v);
    if (s == SPOT_OK && votes_path) s = write_files(&w, dir);
    free(w.picture), free(w.rater), free(w.of), free(w.votes), free(w.selected);
    return s;
}

spot_status spot_votes_recall(spot_ctx *c, spot_votes *v, const spot_shifts_results *r, const char *dir, bool *found)
{
    const spot_status s = spot_votes_read(c, v, r, dir, NULL, found);

    if (s != SPOT_INPUT) return s;
    spot_log(c, SPOT_LOG_WARN, "the votes are left out: %s", spot_message(c, s));
    spot_forget(c);
    *found = false;
    return SPOT_OK;
}
