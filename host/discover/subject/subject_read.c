/* subject_read.c - files of arrays -> subject. The small files are read first, so that an array that does not fit is reported
 * before the large embeddings are read. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "discover/describe/gallery.h"
#include "discover/describe/look_encoder.h"
#include "discover/describe/look_pictures.h"
#include "discover/subject/detection_rows.h"
#include "discover/subject/fits.h"
#include "discover/subject/subject_memory.h"
#include "formats/formats.h"

enum { MAX_CLASSES = 100000, TOLD = 5 };

static const float ROUNDING = 1e-6f;       /* how far a softmax in floats may leave 0..1 */

typedef struct {
    spot_ctx     *c;
    spot_subject *s;
    const spot_subject_files *files;
    const char   *first;                   /* the file that fixed the number of rows */
    size_t        used;                    /* bytes of files->memory in use */
    const spot_known *known;               /* the classes; NULL: those that occur */
} reading;

/* -- arrays ----------------------------------------------------------------------------------------------------- */

static spot_status spend(reading *r, size_t bytes, const char *name)
{
    r->used += bytes;
    if (!r->files->memory || r->used <= r->files->memory) return SPOT_OK;
    return spot_fail(r->c, SPOT_NOMEM, "%s: with this file the arrays take %zu bytes of memory, and %zu are allowed", name,
                     r->used, r->files->memory);
}

/* Reads an array and compares its number of rows with the others'. (n, 1) counts as (n). */
static spot_status read_rows(reading *r, spot_array *a, const char *where, int most_rank)
{
    size_t limit = r->files->memory ? r->files->memory - r->used : 0;

    SPOT_TRY(spot_array_read(r->c, a, where, limit ? limit : r->files->memory ? 1 : 0));
    SPOT_TRY(spend(r, a->count * spot_dtype_size(a->type), a->name));
    if (a->rank == 2 && a->dim[1] == 1 && most_rank) a->rank = 1;
    if (a->rank < 1 || a->rank > 2 || (most_rank == 1 && a->rank > 1) || (!most_rank && a->rank != 2))
        return spot_fail(r->c, SPOT_INPUT, "{subject.dimensions} %s has %d dimension%s; it must be %s", a->name, a->rank,
                         a->rank == 1 ? "" : "s",
                         !most_rank ? "(rows, features)" : most_rank == 1 ? "(rows)" : "(rows) or (rows, classes)");
    if (a->dim[0] < 1 || a->dim[0] > INT_MAX || (a->rank == 2 && (a->dim[1] < 1 || a->dim[1] > INT_MAX)))
        return spot_fail(r->c, SPOT_INPUT, "%s is empty, or has more than %d rows or columns", a->name, INT_MAX);
    if (r->first && a->dim[0] != r->s->n)
        return spot_fail(r->c, SPOT_INPUT, "{subject.rows} %s has %" PRId64 " rows, %s has %d: they do not belong together",
                         a->name, a->dim[0], r->first, r->s->n);
    r->s->n = (int)a->dim[0];
    if (!r->first) r->first = where;
    return SPOT_OK;
}

/* Converts the array to floats, which the subject owns. */
static spot_status keep_floats(reading *r, float **out, spot_array *a)
{
    if (spot_dtype_size(a->type) < sizeof(float)) SPOT_TRY(spend(r, a->count * sizeof(float), a->name));
    SPOT_TRY(spot_array_floats(r->c, out, a));
    return spot_subject_keep(r->c, r->s, *out);
}

/* -- labels ----------------------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Labels that are words: the classes are the distinct words, sorted. */
static spot_status number_words(reading *r, spot_array *a)
{
    spot_subject *s = r->s;
    char **word = a->data;
    int classes = 0;

    for (int i = 0; i < s->n; i++)
        if (!*word[i]) return spot_fail(r->c, SPOT_INPUT, "%s: row %d is an empty word; every row needs a label", a->name, i);
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, s, s->class_name, s->n));
    memcpy(s->class_name, word, (size_t)s->n * sizeof *word);
    qsort(s->class_name, (size_t)s->n, sizeof *word, by_text);
    for (int i = 0; i < s->n; i++)
        if (!classes || strcmp(s->class_name[i], s->class_name[classes - 1])) s->class_name[classes++] = s->class_name[i];
    for (int i = 0; i < s->n; i++) {
        char **at = bsearch(&word[i], s->class_name, (size_t)classes, sizeof *word, by_text);
        s->target[i] = (int)(at - s->class_name);
    }
    s->classes = classes;
    a->data = NULL;
    return spot_subject_keep(r->c, s, word);           /* which class_name points into */
}

/* Labels that are words, when the classes are known. */
static spot_status find_words(reading *r, const spot_array *a)
{
    const spot_known *known = r->known;
    char **sorted = malloc((size_t)known->classes * sizeof *sorted), **word = a->data;
    spot_status st = sorted ? SPOT_OK : spot_fail(r->c, SPOT_NOMEM, "no memory for %d names", known->classes);

    if (sorted) memcpy(sorted, known->class_name, (size_t)known->classes * sizeof *sorted);
    if (sorted) qsort(sorted, (size_t)known->classes, sizeof *sorted, by_text);
    for (int i = 0; !st && i < r->s->n; i++) {
        char **at = bsearch(&word[i], sorted, (size_t)known->classes, sizeof *sorted, by_text);
        int k = 0;
        if (!at) {
            st = spot_fail(r->c, SPOT_INPUT, "%s: row %d has class \"%.80s\", which is none of the %d classes of the "
                           "findings, \"%.80s\" to \"%.80s\"", a->name, i, word[i], known->classes, sorted[0],
                           sorted[known->classes - 1]);
            break;
        }
        while (known->class_name[k] != *at) k++;
        r->s->target[i] = k;
    }
    free(sorted);
    return st;
}

static spot_status read_several(reading *r, const spot_array *a)
{
    spot_subject *s = r->s;
    int *v = malloc(a->count * sizeof *v);
    spot_status st;

    if (!v) return spot_fail(r->c, SPOT_NOMEM, "no memory for the labels of %s", a->name);
    st = spot_array_ints(r->c, v, a, 0, 1);
    s->classes = (int)a->dim[1];
    if (!st && r->known && s->classes != r->known->classes)
        st = spot_fail(r->c, SPOT_INPUT, "%s has %d columns, the findings have %d classes", a->name, s->classes,
                       r->known->classes);
    if (!st) st = SPOT_SUBJECT_TAKE(r->c, s, s->has, a->count);
    for (size_t i = 0; !st && i < a->count; i++) s->has[i] = (uint8_t)v[i];
    free(v);
    return st;
}

static spot_status read_labels(reading *r, spot_array *a)
{
    spot_subject *s = r->s;

    if (r->known) s->class_name = r->known->class_name, s->classes = r->known->classes;
    if (r->files->labels) SPOT_TRY(read_rows(r, a, r->files->labels, 2));
    if (a->rank == 2) return read_several(r, a);
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, s, s->target, s->n));
    for (int i = 0; !r->files->labels && i < s->n; i++) s->target[i] = r->known->only;
    if (!r->files->labels) return SPOT_OK;
    if (a->type == SPOT_WORDS) return r->known ? find_words(r, a) : number_words(r, a);
    SPOT_TRY(spot_array_ints(r->c, s->target, a, 0, r->known ? s->classes - 1 : MAX_CLASSES - 1));
    for (int i = 0; i < s->n; i++)
        if (s->target[i] >= s->classes) s->classes = s->target[i] + 1;
    return SPOT_OK;
}

/* -- probabilities ---------------------------------------------------------------------------------------------- */

static void round_in(float *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] > 1 && p[i] <= 1 + ROUNDING) p[i] = 1;
        if (p[i] < 0 && p[i] >= -ROUNDING) p[i] = 0;
    }
}

/* Logs that a probability below 0.5 counts as wrong, since without the other classes the largest is not known. */
static spot_status log_half(const reading *r, const char *name, const char *what)
{
    spot_log(r->c, SPOT_LOG_INFO, "%s: %s; a row below 1/2 counts as wrong, since the probabilities of other classes are not "
             "known", name, what);
    return SPOT_OK;
}

/* One probability per row: of class 1 if there are two classes, else of the true class. */
static spot_status from_column(reading *r, float *p, const char *name)
{
    spot_subject *s = r->s;

    if (s->has)
        return spot_fail(r->c, SPOT_INPUT, "{probability.columns} %s has one probability per row, but %s gives a row any of %d "
                         "classes; give one probability for each class", name, r->files->labels, s->classes);
    for (int i = 0; i < s->n; i++)
        if (!(p[i] >= 0 && p[i] <= 1))
            return spot_fail(r->c, SPOT_INPUT, "{probability.value} %s: row %d is %g; it must be a probability from 0 to 1, "
                             "not a score", name, i, p[i]);
    s->confidence = p;
    if (s->classes != 2) return log_half(r, name, "taken as the probability of the true class");
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, s, s->prob, 2 * (size_t)s->n));
    for (int i = 0; i < s->n; i++) {
        s->prob[2 * i + 1] = p[i];
        s->prob[2 * i] = 1 - p[i];
        s->confidence[i] = s->prob[2 * i + s->target[i]];
    }
    spot_log(r->c, SPOT_LOG_INFO, "%s: one probability per row and two classes: taken as the probability of class %s", name,
             s->class_name ? s->class_name[1] : "1");
    return SPOT_OK;
}

static spot_status from_matrix(reading *r, float *p, int columns, const char *name)
{
    spot_subject *s = r->s;

    if (columns != s->classes && r->known)
        return spot_fail(r->c, SPOT_INPUT, "%s has %d columns, the findings have %d classes", name, columns, s->classes);
    if (columns != s->classes && (s->has || s->class_name))
        return spot_fail(r->c, SPOT_INPUT, "{probability.columns} %s has %d columns, %s has %d classes%s", name, columns,
                         r->files->labels,
                         s->classes, s->has ? "" : "; if labels are words, each class must occur; else give class numbers");
    for (int i = 0; s->target && i < s->n; i++)
        if (s->target[i] >= columns)
            return spot_fail(r->c, SPOT_INPUT, "{labels.class} %s: row %d has class %d, %s has columns for %d classes, "
                             "numbered from 0", r->files->labels, i, s->target[i], name, columns);
    s->classes = columns;
    s->prob = p;
    if (s->has) return SPOT_OK;
    if (s->class_name && !r->known)
        spot_log(r->c, SPOT_LOG_INFO, "%s: its columns are taken as the words of %s sorted by name: \"%.80s\" first, "
                 "\"%.80s\" last", name, r->files->labels, s->class_name[0], s->class_name[columns - 1]);
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, s, s->confidence, s->n));
    for (int i = 0; i < s->n; i++) s->confidence[i] = p[(size_t)i * (size_t)columns + (size_t)s->target[i]];
    return SPOT_OK;
}

static spot_status from_losses(reading *r, float *loss, const char *name)
{
    if (r->s->has)
        return spot_fail(r->c, SPOT_INPUT, "{loss.several_classes} %s: a loss concerns one class, and the rows have several; "
                         "give probabilities", name);
    for (int i = 0; i < r->s->n; i++) {
        if (!(loss[i] >= -ROUNDING))
            return spot_fail(r->c, SPOT_INPUT, "{loss.value} %s: row %d is %g; a cross-entropy is 0 or more", name, i, loss[i]);
        loss[i] = (float)exp(-fmax(loss[i], 0));
    }
    r->s->confidence = loss;
    return r->s->classes == 2 ? SPOT_OK : log_half(r, name, "the true class has exp(-loss)");
}

static spot_status read_prob(reading *r, spot_array *a)
{
    const char *where = r->files->probs ? r->files->probs : r->files->losses;
    float *p;

    if (r->known && !where) return SPOT_SUBJECT_TAKE(r->c, r->s, r->s->confidence, r->s->n);
    if (!r->files->probs == !r->files->losses)
        return spot_fail(r->c, SPOT_INPUT, "{subject.no_answers} the classifier's answer for each row is missing: give "
                         "probabilities or losses, one of the two");
    SPOT_TRY(read_rows(r, a, where, r->files->probs ? 2 : 1));
    SPOT_TRY(keep_floats(r, &p, a));
    if (r->files->losses) return from_losses(r, p, a->name);
    round_in(p, a->count);
    return a->rank == 1 ? from_column(r, p, a->name) : from_matrix(r, p, (int)a->dim[1], a->name);
}

/* -- names and pictures ----------------------------------------------------------------------------------------- */

static spot_status name_rows(reading *r, spot_array *a)
{
    enum { DIGITS = 32 };
    spot_subject *s = r->s;
    char *text;

    if (a->type == SPOT_WORDS) {
        s->id = a->data;
        a->data = NULL;
        return spot_subject_keep(r->c, s, s->id);
    }
    SPOT_TRY(spot_subject_take(r->c, s, &s->id, (size_t)s->n * (sizeof *s->id + DIGITS)));
    text = (char *)(s->id + s->n);
    for (int i = 0; i < s->n; i++, text += DIGITS) {
        double v;
        spot_array_doubles(&v, a, (size_t)i, 1);
        if (a->type == SPOT_I64) snprintf(text, DIGITS, "%" PRId64, ((int64_t *)a->data)[i]);
        else                     snprintf(text, DIGITS, "%.17g", v);
        s->id[i] = text;
    }
    return SPOT_OK;
}

/* Warns about equal ids, which crops of one picture may share on purpose. An empty id names nothing. */
static spot_status check_ids(reading *r, const char *name)
{
    char **id = r->s->id;
    int n = r->s->n, twice = 0, first = n, *row = malloc((size_t)n * sizeof *row);

    if (!row) return spot_fail(r->c, SPOT_NOMEM, "no memory to compare the ids of %s", name);
    spot_words_sort(row, id, n);
    for (int i = 1; i < n; i++) {
        if (strcmp(id[row[i]], id[row[i - 1]])) continue;
        twice++;
        if (row[i] < first) first = row[i];
    }
    n = *id[row[0]] ? n : row[0];              /* an empty id sorts first */
    free(row);
    if (n < r->s->n) return spot_fail(r->c, SPOT_INPUT, "%s: row %d is an empty word; every row needs an id", name, n);
    if (twice)
        spot_log(r->c, SPOT_LOG_WARN, "%s: %d rows have the id of an earlier row, the first of them is row %d, %.200s", name,
                 twice, first, id[first]);
    return SPOT_OK;
}

static spot_status read_ids(reading *r, spot_array *a)
{
    if (!r->files->ids) return spot_subject_numbers(r->c, r->s, &r->s->id, r->s->n);
    SPOT_TRY(read_rows(r, a, r->files->ids, 1));
    SPOT_TRY(name_rows(r, a));
    return check_ids(r, a->name);
}

/* s->image is NULL if there is no such picture. Counts them in *missing and logs the first few. */
static spot_status find_pictures(reading *r, int *missing, int *first)
{
    spot_subject *s = r->s;
    struct stat st;

    SPOT_TRY(spot_gallery_paths(r->c, s, r->files->images, r->files->links));
    for (int i = 0; i < s->n; i++) {
        if (!stat(s->image[i], &st) && S_ISREG(st.st_mode)) continue;
        if (!(*missing)++) *first = i;
        if (*missing <= TOLD) spot_log(r->c, SPOT_LOG_WARN, "row %d: %.500s is no file", i, s->image[i]);
        s->image[i] = NULL;
    }
    return SPOT_OK;
}

static spot_status read_pictures(reading *r)
{
    spot_subject *s = r->s;
    struct stat st;
    int missing = 0, first = 0;

    if (!r->files->images) return SPOT_OK;
    if (stat(r->files->images, &st) || !S_ISDIR(st.st_mode))
        return spot_fail(r->c, SPOT_IO, "{folder.missing} %s is no folder; give the folder of the pictures", r->files->images);
    if (!r->files->ids)
        return spot_fail(r->c, SPOT_INPUT, "{subject.no_ids} the pictures in %s cannot be matched to rows; give ids that name "
                         "them", r->files->images);
    SPOT_TRY(find_pictures(r, &missing, &first));
    if (missing > TOLD) spot_log(r->c, SPOT_LOG_WARN, "and %d more", missing - TOLD);
    if (missing && !r->files->skip)
        return spot_fail(r->c, SPOT_INPUT, "{pictures.missing} %s: %d of %d pictures are not in %s, the first is row %d, "
                         "%.300s; skip them, or correct the ids",
                         r->files->ids, missing, s->n, r->files->images, first, s->id[first]);
    s->skipped = missing;
    return SPOT_OK;
}

/* -- all -------------------------------------------------------------------------------------------------------- */

static spot_status read_features(reading *r, spot_array *a)
{
    spot_notes notes;

    SPOT_TRY(read_rows(r, a, r->files->embeddings, 0));
    r->s->d = (int)a->dim[1];
    SPOT_TRY(spot_array_notes(r->c, &notes, a, r->files->embeddings));
    snprintf(r->s->encoder, sizeof r->s->encoder, "%.31s", notes.text[SPOT_NOTE_ENCODER]);
    return keep_floats(r, &r->s->feature, a);
}

static spot_status read_part(reading *r, spot_status (*part)(reading *, spot_array *))
{
    spot_array a = { 0 };
    spot_status s = part(r, &a);

    spot_array_close(&a);
    return s;
}

static spot_status read_arrays(reading *r)
{
    const spot_subject_files *f = r->files;
    spot_subject *s = r->s;
    const char *prob = f->probs ? f->probs : f->losses, *made_by = f->embed ? f->embed : f->embeddings;

    if (!f->labels) return spot_fail(r->c, SPOT_INPUT,
                                     "{subject.no_labels} embeddings need labels: the true class of each row");
    if (f->embed && (f->embeddings || !f->images))
        return spot_fail(r->c, SPOT_INPUT, "%s makes features from pictures: give their folder (images), and no embeddings",
                         f->embed);
    if (f->coco || f->model)
        return spot_fail(r->c, SPOT_INPUT,
                         "{subject.picture_option} %s belongs to pictures; with embeddings give labels and probabilities",
                         f->coco ? f->coco : f->model);
    SPOT_TRY(read_part(r, read_labels));
    SPOT_TRY(read_part(r, read_prob));
    SPOT_TRY(read_part(r, read_ids));
    SPOT_TRY(read_pictures(r));
    if (f->embed) SPOT_TRY(spot_subject_embed(r->c, s, f));
    else SPOT_TRY(read_part(r, read_features));
    if (!s->class_name) SPOT_TRY(spot_subject_numbers(r->c, s, &s->class_name, s->classes));
    snprintf(s->source, sizeof s->source, "%d rows of %d numbers (%.120s), %d classes (%.120s), %s (%.120s)", s->n, s->d,
             made_by, s->classes, f->labels, f->probs ? "probabilities" : "losses", prob);
    return spot_subject_check_as(r->c, s, &(spot_subject_words){ made_by, f->labels, prob, prob });
}

/* Runs the network on pictures. If their labels come as arrays, ids name the pictures. */
static spot_status look_at_pictures(reading *r)
{
    const spot_subject_files *f = r->files;
    size_t at;

    if (!f->labels != !f->ids || f->probs || f->losses)
        return spot_fail(r->c, SPOT_INPUT, "{look.answers_given} without embeddings a network reads pictures: give no "
                         "probabilities or losses, and give labels together with ids that name the pictures, or neither");
    if (f->labels) SPOT_TRY(read_part(r, read_labels));
    if (f->labels) SPOT_TRY(read_part(r, read_ids));
    SPOT_TRY(spot_subject_look(r->c, r->s, f));
    if (!f->embed) return SPOT_OK;
    SPOT_TRY(spot_subject_embed(r->c, r->s, f));
    at = strlen(r->s->source);
    snprintf(r->s->source + at, sizeof r->s->source - at, ", embedded by %.100s", f->embed);
    return SPOT_OK;
}

spot_status spot_subject_read(spot_ctx *c, spot_subject *s, const spot_subject_files *files)
{
    reading r = { .c = c, .s = s, .files = files };
    spot_status status;

    memset(s, 0, sizeof *s);
    if (files->detections) status = spot_subject_instances(c, s, files);
    else status = files->embeddings || (files->embed && !files->model) ? read_arrays(&r) : look_at_pictures(&r);
    if (status) spot_subject_close(s);
    return status;
}

spot_status spot_rows_read(spot_ctx *c, spot_subject *s, const spot_subject_files *files, const spot_known *known)
{
    const char *prob = files->probs ? files->probs : files->losses, *made_by = known->feature ? "findings" : files->embeddings;
    reading r = { .c = c, .s = s, .files = files, .known = known };
    spot_status st;

    memset(s, 0, sizeof *s);
    if (known->feature) {
        s->n = known->rows, s->d = known->features, s->feature = known->feature;
        st = SPOT_OK;
    } else st = read_part(&r, read_features);
    if (!st && s->d != known->features)
        st = spot_fail(c, SPOT_INPUT, "%s has %d numbers per row, and the findings have %d; give features of the new rows "
                       "from the same network", files->embeddings, s->d, known->features);
    if (!st && known->encoder && *s->encoder && strcmp(known->encoder, s->encoder))
        st = spot_fail(c, SPOT_INPUT, "%s has features of the encoder %s, and the findings are of %s: they cannot be compared",
                       files->embeddings, s->encoder, known->encoder);
    if (!st) st = read_part(&r, read_labels);
    if (!st) st = read_part(&r, read_prob);
    if (!st) st = read_part(&r, read_ids);
    if (!st) st = spot_subject_check_as(c, s, &(spot_subject_words){ made_by, files->labels, prob, prob });
    if (st) spot_subject_close(s);
    return st;
}
