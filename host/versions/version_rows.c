/* version_rows.c - see version_rows.h. */
#define _POSIX_C_SOURCE 200809L
#include "versions/version_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/same_id.h"
#include "base/text.h"
#include "discover/describe/look_encoder.h"
#include "discover/subject/feature_blocks.h"
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
                         .encoder = *s->encoder ? s->encoder : NULL, .blocks = s->blocks };
    spot_subject rows;
    spot_status how;

    memcpy(known.block, s->block, sizeof known.block);
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

/* Features of the pictures of the folder's rows, by an encoder. */
static spot_status embed_pictures(spot_ctx *c, spot_subject *s, const spot_version_files *o)
{
    const int rows = s->n;

    if (!s->image && !o->images)
        return spot_fail(c, SPOT_USAGE, "{versions.no_pictures} %s makes features from pictures, and %s knows none; give their "
                         "folder with --images", o->files.embed, o->found);
    if (o->images) SPOT_TRY(spot_findings_pictures(c, s, o->images));
    s->d = s->blocks = 0;
    SPOT_TRY(spot_subject_embed(c, s, &(spot_subject_files){ .embed = o->files.embed, .images = o->images,
                                                             .encoder = o->files.encoder }));
    SPOT_TRY(spot_blocks_scale(c, s, NULL, 0));
    return s->n == rows ? SPOT_OK : spot_fail(c, SPOT_INPUT, "%d pictures of %s are missing; versions are compared on the same "
                                              "rows", rows - s->n, o->found);
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
                             o->found) : o->files.embed ? embed_pictures(c, s, o) : take_features(c, s, o);
    if (how) spot_subject_close(s);
    return how;
}

static spot_status read_first(spot_ctx *c, spot_subject *s, const spot_version_files *o)
{
    const spot_subject_files *f = &o->files;

    if (o->found && !f->labels && !f->probs) return read_found(c, s, o);
    if (!f->embeddings && !f->embed)
        return spot_fail(c, SPOT_USAGE, "features of the rows are missing; for example: --embeddings e.npy");
    if (!f->labels) return spot_fail(c, SPOT_USAGE, "true classes of the rows are missing; for example: --labels y.npy");
    if (!f->probs) return spot_fail(c, SPOT_USAGE, "--labels belong to probabilities of version 1, which are missing");
    spot_subject_files files = *f;
    if (f->embed) files.images = o->images;
    return spot_subject_read(c, s, &files);
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
    if (b->feature) SPOT_TRY(SPOT_SUBJECT_TAKE(c, b, to.feature, (size_t)b->n * (size_t)b->d));
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, b, to.confidence, b->n));
    to.owned = b->owned;
    for (int i = 0; i < b->n; i++) {
        const size_t from = (size_t)order[i];
        if (b->prob) memcpy(to.prob + (size_t)i * classes, b->prob + from * classes, classes * sizeof *b->prob);
        if (b->predicted) to.predicted[i] = b->predicted[from];
        if (b->feature) memcpy(to.feature + (size_t)i * (size_t)b->d, b->feature + from * (size_t)b->d,
                               (size_t)b->d * sizeof *b->feature);
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

/* Features of a folder's own, which its search had; the folder without them is compared in those of the first alone. */
static spot_status take_second_features(spot_ctx *c, spot_subject *b, const spot_version_files *o)
{
    const size_t numbers = (size_t)b->n * (size_t)b->d;
    float *feature;
    spot_status s;

    b->feature = NULL;
    if (o->files.embeddings || o->files.embed || !b->target) return SPOT_OK;
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, b, feature, numbers));
    s = spot_fits_features(c, feature, b, o->second);
    if (s == SPOT_NOMEM || s == SPOT_STOPPED) return s;
    if (s) spot_log(c, SPOT_LOG_WARN, "slices are searched without the features of %s: %s", o->second, spot_take_message(c, s));
    else b->feature = feature;
    return SPOT_OK;
}

static spot_status read_second(spot_ctx *c, spot_subject *b, const spot_subject *a, const spot_version_files *o)
{
    const bool folder = spot_version_kind_of(o->second) == SPOT_VERSION_FINDINGS;
    const spot_subject_files answers = { .embeddings = o->files.embed ? NULL : o->files.embeddings,
                                         .labels = a->has ? o->files.labels : NULL, .probs = o->second, .ids = o->second_ids,
                                         .logits = o->files.logits };
    spot_known known = { .features = a->d, .classes = a->classes, .class_name = a->class_name, .blocks = a->blocks,
                         .feature = answers.embeddings ? NULL : a->feature, .rows = a->n };
    spot_discover_options d;
    spot_findings f;
    spot_status s;

    memcpy(known.block, a->block, sizeof known.block);
    if (folder) {
        SPOT_TRY(spot_findings_read(c, o->second, b, &f, &d));
        spot_findings_close(&f);
        s = take_second_features(c, b, o);
    } else s = spot_rows_read(c, b, &answers, &known);
    if (!s) s = fit_second(c, b, a, o, folder);
    if (!folder) b->feature = NULL;
    return s;
}

/* ---- further trainings ---- */

/* Each is as version 2, of the same rows in the order of version 1. */
static spot_status read_retrains(spot_ctx *c, spot_version_rows *r, const spot_version_files *o)
{
    const char *from = o->retrain;

    while (from && *from) {
        const size_t n = strcspn(from, ",");
        spot_version_files one = *o;
        char *path = strndup(from, n);
        spot_status s;
        if (!path) return spot_fail(c, SPOT_NOMEM, "no memory for a name");
        if (r->retrains == SPOT_MOST_RETRAINS)
            s = spot_fail(c, SPOT_USAGE, "--retrain takes %d files at most", SPOT_MOST_RETRAINS);
        else {
            one.second = path, one.second_ids = NULL;
            s = read_second(c, &r->retrain[r->retrains++], &r->of[0], &one);
        }
        free(path);
        if (s) return s;
        from += n + (from[n] == ',');
    }
    return SPOT_OK;
}

/* Where one of the subjects has the probability of every class and another has not, all are judged by that of the true class.
 * */
static void judge_alike(spot_ctx *c, spot_version_rows *r)
{
    spot_subject *all[SPOT_VERSIONS + SPOT_MOST_RETRAINS];
    int n = 0, know = 0;

    if (!r->of[0].target) return;
    for (int u = 0; u < SPOT_VERSIONS; u++) all[n++] = &r->of[u];
    for (int t = 0; t < r->retrains; t++) all[n++] = &r->retrain[t];
    for (int i = 0; i < n; i++) know += all[i]->prob || all[i]->predicted;
    if (!know || know == n) return;
    spot_log(c, SPOT_LOG_WARN, "%d of %d files have the probability of each class: in all of them, a row is wrong where its "
             "true class has less than 1/2", know, n);
    for (int i = 0; i < n; i++) all[i]->prob = NULL, all[i]->predicted = NULL;
}

/* Features of an encoder, or several sources together, are of neither version, or of both. */
static spot_version_features features_of(const spot_subject *s, const spot_version_files *o)
{
    return o->files.embed ? SPOT_FEATURES_NEUTRAL : s->blocks > 1 ? SPOT_FEATURES_BOTH
         : *s->encoder ? SPOT_FEATURES_NEUTRAL : SPOT_FEATURES_FIRST;
}

spot_status spot_version_rows_read(spot_ctx *c, spot_version_rows *r, const spot_version_files *o)
{
    const char *first = o->files.probs ? o->files.probs : o->found;

    memset(r, 0, sizeof *r);
    if (first && is_same_file(first, o->second))
        return spot_fail(c, SPOT_USAGE, "%s is both versions; name another one", o->second);
    if (o->second_ids && !o->files.ids && !o->found)
        return spot_fail(c, SPOT_USAGE, "the rows of version 2 have names; those of version 1 need names, too: --ids");
    SPOT_TRY(read_first(c, &r->of[0], o));
    if (o->images && !o->files.embed) SPOT_TRY(spot_findings_pictures(c, &r->of[0], o->images));
    if (o->second_ids && r->of[0].has)
        return spot_fail(c, SPOT_USAGE, "rows of several classes cannot be matched by their ids");
    r->features = features_of(&r->of[0], o);
    SPOT_TRY(read_second(c, &r->of[1], &r->of[0], o));
    SPOT_TRY(read_retrains(c, r, o));
    judge_alike(c, r);
    return SPOT_OK;
}

void spot_version_rows_close(spot_version_rows *r)
{
    for (int t = 0; t < r->retrains; t++) spot_subject_close(&r->retrain[t]);
    for (int u = SPOT_VERSIONS - 1; u >= 0; u--) spot_subject_close(&r->of[u]);
}
