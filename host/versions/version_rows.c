/* version_rows.c - see version_rows.h. */
#define _POSIX_C_SOURCE 200809L
#include "versions/version_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/same_id.h"
#include "base/text.h"
#include "discover/subject/fits.h"
#include "discover/subject/subject_memory.h"
#include "versions/version_place.h"

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;

    return !strcmp(a, b) || (!stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

/* ---- version 1 ---- */

static spot_status check_ids(spot_ctx *c, const spot_subject *found, const spot_subject *rows, const spot_version_files *o)
{
    for (int i = 0; o->files.ids && found->id && i < found->n; i++)
        if (strcmp(found->id[i], rows->id[i]))
            return spot_fail(c, SPOT_INPUT, "row %d is \"%.80s\" in %s and \"%.80s\" in %s: these are other rows, or in "
                             "another order", i, rows->id[i], o->files.ids, found->id[i], o->found);
    return SPOT_OK;
}

/* Groups that are given take the place of those of the folder. */
static spot_status copy_groups(spot_ctx *c, spot_subject *s, const spot_subject *from)
{
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, s->group, s->n));
    memcpy(s->group, from->group, (size_t)s->n * sizeof *s->group);
    s->groups = from->groups;
    s->group_name = NULL;
    return SPOT_OK;
}

/* Features for the subject of the folder: from a file, or those that the folder keeps. */
static spot_status take_features(spot_ctx *c, spot_subject *s, const spot_version_files *o)
{
    const spot_subject_files files = { .embeddings = o->files.embeddings, .ids = o->files.ids, .groups = o->files.groups };
    spot_known known = { .features = s->d, .classes = s->classes, .class_name = s->class_name,
                         .encoder = *s->encoder ? s->encoder : NULL };
    spot_subject rows;
    spot_status how;

    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, s->feature, (size_t)s->n * (size_t)s->d));
    if (!files.embeddings) {
        SPOT_TRY(spot_fits_features(c, s->feature, s, o->found));
        known.feature = s->feature;
        known.rows = s->n;
    }
    SPOT_TRY(spot_rows_read(c, &rows, &files, &known));
    how = rows.n == s->n ? check_ids(c, s, &rows, o)
        : spot_fail(c, SPOT_INPUT, "%s has %d rows, %s was made of %d: give the embeddings of the same rows in the same order",
                    files.embeddings, rows.n, o->found, s->n);
    if (!how && files.groups) how = copy_groups(c, s, &rows);
    if (!how && files.embeddings) memcpy(s->feature, rows.feature, (size_t)s->n * (size_t)s->d * sizeof *s->feature);
    spot_subject_close(&rows);
    return how;
}

/* Labels, probabilities and ids of the folder, with features. */
static spot_status read_found(spot_ctx *c, spot_subject *s, const spot_version_files *o)
{
    spot_discover_options d;
    spot_findings f;
    spot_status how;

    SPOT_TRY(spot_findings_read(c, o->found, s, &f, &d));
    spot_findings_close(&f);
    how = s->has ? spot_fail(c, SPOT_USAGE, "the rows of %s have several classes; give --labels, --probs and --embeddings, too",
                             o->found) : take_features(c, s, o);
    if (how) spot_subject_close(s);
    return how;
}

static spot_status read_first(spot_ctx *c, spot_subject *s, const spot_version_files *o)
{
    const spot_subject_files *f = &o->files;

    if (o->found && !f->labels && !f->probs) return read_found(c, s, o);
    if (!f->embeddings) return spot_fail(c, SPOT_USAGE, "features of the rows are missing; for example: --embeddings e.npy");
    if (!f->labels) return spot_fail(c, SPOT_USAGE, "true classes of the rows are missing; for example: --labels y.npy");
    if (!f->probs) return spot_fail(c, SPOT_USAGE, "--labels belong to probabilities of version 1, which are missing");
    return spot_subject_read(c, s, f);
}

/* ---- version 2 ---- */

/* order: the row of q with the id of each row of p, up to the first place of the sorted ids (x, y) where they differ, or where
 * two of p are the same; returns this place, n for none. */
static int match_sorted(int *order, char *const *p, const int *x, char *const *q, const int *y, int n)
{
    int i = 0;

    for (; i < n && !strcmp(p[x[i]], q[y[i]]) && (!i || strcmp(p[x[i]], p[x[i - 1]])); i++) order[x[i]] = y[i];
    return i;
}

/* The same by the plain forms of all ids. *same: they match. */
static spot_status match_plain(spot_ctx *c, int *order, const spot_subject *a, const spot_subject *b, bool *same)
{
    spot_plain_ids p = { 0 }, q = { 0 };
    spot_status s = spot_plain_ids_open(c, &p, a->id, a->n);
    int other = 0;

    if (s == SPOT_OK) s = spot_plain_ids_open(c, &q, b->id, a->n);
    *same = s == SPOT_OK && match_sorted(order, p.key, p.order, q.key, q.order, a->n) == a->n;
    for (int i = 0; *same && i < a->n; i++) other += strcmp(a->id[i], b->id[order[i]]) != 0;
    if (other)
        spot_log(c, SPOT_LOG_INFO, "%d of %d ids are written otherwise in version 2 (\"./\" in front, blanks at the ends, or "
                 "Unicode's normal form) and are taken as the same", other, a->n);
    spot_plain_ids_close(&p);
    spot_plain_ids_close(&q);
    return s;
}

/* order (a->n): the row of b with the id of each row of a. */
static spot_status match_ids(spot_ctx *c, int *order, const spot_subject *a, const spot_subject *b)
{
    int *x = malloc(2 * (size_t)a->n * sizeof *x), *y = x + a->n, i;
    spot_status s = SPOT_OK;
    bool same;

    if (!x) return spot_fail(c, SPOT_NOMEM, "no memory to match %d ids", a->n);
    spot_words_sort(x, a->id, a->n);
    spot_words_sort(y, b->id, a->n);
    i = match_sorted(order, a->id, x, b->id, y, a->n);
    same = i == a->n;
    if (!same) s = match_plain(c, order, a, b, &same);
    if (!s && !same) {
        const int differ = strcmp(a->id[x[i]], b->id[y[i]]);
        const bool twice = i && !strcmp(a->id[x[i]], a->id[x[i - 1]]);
        s = twice ? spot_fail(c, SPOT_INPUT, "two rows have the id \"%.200s\", so that rows cannot be matched by their ids",
                              a->id[x[i]])
                  : spot_fail(c, SPOT_INPUT, "the id \"%.200s\" is in version %d alone; both versions need the same rows",
                              differ < 0 ? a->id[x[i]] : b->id[y[i]], differ < 0 ? 1 : 2);
    }
    free(x);
    return s;
}

/* Brings the answers of b into the order of a, and gives b the labels of a. */
static spot_status order_rows(spot_ctx *c, spot_subject *b, const spot_subject *a, const int *order)
{
    const size_t classes = (size_t)b->classes;
    spot_subject to = *b;

    to.owned = b->owned;
    if (b->prob) SPOT_TRY(SPOT_SUBJECT_TAKE(c, b, to.prob, (size_t)b->n * classes));
    if (b->predicted) SPOT_TRY(SPOT_SUBJECT_TAKE(c, b, to.predicted, b->n));
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, b, to.confidence, b->n));
    to.owned = b->owned;
    for (int i = 0; i < b->n; i++) {
        const size_t from = (size_t)order[i];
        if (b->prob) memcpy(to.prob + (size_t)i * classes, b->prob + from * classes, classes * sizeof *b->prob);
        if (b->predicted) to.predicted[i] = b->predicted[from];
        to.confidence[i] = b->prob ? b->prob[from * classes + (size_t)a->target[i]] : b->confidence[from];
    }
    *b = to;
    b->id = a->id, b->target = a->target;
    return SPOT_OK;
}

static spot_status check_folder_labels(spot_ctx *c, const spot_subject *a, const spot_subject *b, const int *order)
{
    for (int i = 0; b->target && i < a->n; i++)
        if (a->target[i] != b->target[order[i]])
            return spot_fail(c, SPOT_INPUT, "row %d has class \"%.80s\" in version 1 and \"%.80s\" in version 2: other labels, "
                             "or other rows", i, a->class_name[a->target[i]], a->class_name[b->target[order[i]]]);
    return SPOT_OK;
}

static spot_status fit_second(spot_ctx *c, spot_subject *b, const spot_subject *a, const spot_version_files *o, bool folder)
{
    const bool named = folder || o->second_ids;
    int *order;
    spot_status s = SPOT_OK;

    if (a->n != b->n || a->classes != b->classes)
        return spot_fail(c, SPOT_INPUT, "%s has %d rows and %d classes, version 1 %d and %d: they cannot be compared",
                         o->second, b->n, b->classes, a->n, a->classes);
    for (int k = 0; k < a->classes; k++)
        if (strcmp(a->class_name[k], b->class_name[k]))
            return spot_fail(c, SPOT_INPUT, "class %d is \"%.80s\" in version 1 and \"%.80s\" in %s", k, a->class_name[k],
                             b->class_name[k], o->second);
    if (!a->target) return SPOT_OK;
    order = malloc((size_t)a->n * sizeof *order);
    if (!order) return spot_fail(c, SPOT_NOMEM, "no memory to match %d rows", a->n);
    for (int i = 0; i < a->n; i++) order[i] = i;
    if (named && a->id && b->id) s = match_ids(c, order, a, b);
    if (!s && folder) s = check_folder_labels(c, a, b, order);
    if (!s) s = order_rows(c, b, a, order);
    free(order);
    return s;
}

static spot_status read_second(spot_ctx *c, spot_subject *b, const spot_subject *a, const spot_version_files *o)
{
    const bool folder = spot_version_kind_of(o->second) == SPOT_VERSION_FINDINGS;
    const spot_subject_files answers = { .embeddings = o->files.embeddings, .labels = a->has ? o->files.labels : NULL,
                                         .probs = o->second, .ids = o->second_ids, .logits = o->files.logits };
    const spot_known known = { .features = a->d, .classes = a->classes, .class_name = a->class_name,
                               .feature = o->files.embeddings ? NULL : a->feature, .rows = a->n };
    spot_discover_options d;
    spot_findings f;
    spot_status s;

    if (folder) {
        SPOT_TRY(spot_findings_read(c, o->second, b, &f, &d));
        spot_findings_close(&f);
    } else SPOT_TRY(spot_rows_read(c, b, &answers, &known));
    s = fit_second(c, b, a, o, folder);
    if (s) spot_subject_close(b);
    return s;
}

/* Where one version has the probability of every class and the other has not, both are judged by that of the true class. */
static void judge_alike(spot_ctx *c, spot_subject s[SPOT_VERSIONS])
{
    const bool knows[] = { s[0].prob || s[0].predicted, s[1].prob || s[1].predicted };

    if (!s[0].target || knows[0] == knows[1]) return;
    spot_log(c, SPOT_LOG_WARN, "only version %d has the probability of each class: in both, a row is wrong where its true "
             "class has less than 1/2", knows[0] ? 1 : 2);
    for (int u = 0; u < SPOT_VERSIONS; u++) s[u].prob = NULL, s[u].predicted = NULL;
}

spot_status spot_version_rows_read(spot_ctx *c, spot_subject s[SPOT_VERSIONS], const spot_version_files *o)
{
    const char *first = o->files.probs ? o->files.probs : o->found;
    spot_status how;

    if (first && is_same_file(first, o->second))
        return spot_fail(c, SPOT_USAGE, "%s is both versions; name another one", o->second);
    if (o->second_ids && !o->files.ids && !o->found)
        return spot_fail(c, SPOT_USAGE, "the rows of version 2 have names; those of version 1 need names, too: --ids");
    SPOT_TRY(read_first(c, &s[0], o));
    how = o->images ? spot_findings_pictures(c, &s[0], o->images) : SPOT_OK;
    if (how) return spot_subject_close(&s[0]), how;
    how = o->second_ids && s[0].has ? spot_fail(c, SPOT_USAGE, "rows of several classes cannot be matched by their ids")
                                     : read_second(c, &s[1], &s[0], o);
    if (how) return spot_subject_close(&s[0]), how;
    judge_alike(c, s);
    return SPOT_OK;
}
