/* subject_read.c - files of arrays -> subject. The small files are read first, so that an array that does not fit is reported
 * before the large embeddings are read. */
#define _GNU_SOURCE
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
#include "discover/subject/feature_blocks.h"
#include "discover/subject/rows_alike.h"
#include "discover/subject/subject_memory.h"
#include "discover/subject/subject_reading.h"
#include "study/kept_encoder.h"

enum { TOLD = 5 };

static const double SMALL = 1e-20;
static const double LARGEST = SPOT_LARGEST_FEATURE * (1 + 0x1p-26);        /* the greatest double that rounds to it, nearly */

/* -- names and pictures ----------------------------------------------------------------------------------------- */

/* Warns about equal ids, which crops of one picture may share on purpose. An empty id names nothing. */
static spot_status check_ids(spot_rows_reading *r, const char *name)
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

static spot_status read_ids(spot_rows_reading *r, spot_array *a)
{
    if (!r->files->ids) return spot_subject_numbers(r->c, r->s, &r->s->id, r->s->n);
    SPOT_TRY(spot_rows_array(r, a, r->files->ids, 1));
    SPOT_TRY(spot_rows_words(r, a, &r->s->id));
    return check_ids(r, a->name);
}

/* s->image is NULL if there is no such picture. Counts them in *missing and logs the first few. */
static spot_status find_pictures(spot_rows_reading *r, int *missing, int *first)
{
    spot_subject *s = r->s;
    struct stat st;

    SPOT_TRY(spot_gallery_paths(r->c, s, r->files->images, r->files->links));
    for (int i = 0; i < s->n; i++) {
        if (spot_row_is_left_out(r, i) || (!stat(s->image[i], &st) && S_ISREG(st.st_mode))) continue;
        if (!(*missing)++) *first = i;
        if (*missing <= TOLD) spot_log(r->c, SPOT_LOG_WARN, "row %d: %.500s is no file", i, s->image[i]);
        s->image[i] = NULL;
    }
    return SPOT_OK;
}

static spot_status read_pictures(spot_rows_reading *r)
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

/* Features by which no row differs from another, or whose squares are 0 in a float, tell no method anything. */
static void warn_of_no_information(spot_rows_reading *r, const char *name)
{
    const spot_subject *s = r->s;
    const size_t d = (size_t)s->d, count = (size_t)s->n * d;
    size_t i = 0;
    int row = 1;

    while (row < s->n && !memcmp(s->feature, s->feature + (size_t)row * d, d * sizeof(float))) row++;
    if (row == s->n && s->n > 1)
        spot_log(r->c, SPOT_LOG_WARN, "%s: all %d rows have the same features, so that no slice can be found by them; give the "
                 "features of each row", name, s->n);
    while (i < count && !(fabsf(s->feature[i]) >= SMALL)) i++;
    if (i == count)
        spot_log(r->c, SPOT_LOG_WARN, "%s: no feature is greater than %g in size, and their squares are 0 in single precision, "
                 "so that no slice can be found by them; divide them by their greatest", name, SMALL);
}

static spot_status read_block(spot_rows_reading *r, spot_array *a)
{
    float *feature;

    SPOT_TRY(spot_rows_array(r, a, r->block, 0));
    SPOT_TRY(spot_subject_array_maker(r->c, r->s, a, r->files, r->block));
    if (a->type != SPOT_WORDS) SPOT_TRY(spot_bad_values(r, a, LARGEST));
    SPOT_TRY(spot_rows_floats(r, &feature, a));
    SPOT_TRY(spot_rows_room(r, spot_block_bytes(r->s, (int)a->dim[1]), a->name));
    return spot_block_add(r->c, r->s, feature, (int)a->dim[1], r->s->encoder);
}

static spot_status read_part(spot_rows_reading *r, spot_status (*part)(spot_rows_reading *, spot_array *))
{
    spot_array a = { 0 };
    spot_status s = part(r, &a);

    spot_subject_array_close(&a, r->files);
    return s;
}

/* Each line of files->embeddings is an array. */
static spot_status read_features(spot_rows_reading *r)
{
    char *line;

    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, r->s, line, strlen(r->files->embeddings) + 1));
    strcpy(line, r->files->embeddings);
    for (char *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        r->block = line;
        if (*line) SPOT_TRY(read_part(r, read_block));
    }
    return SPOT_OK;
}

/* The sources of the features for people: "e.npy + n.npy". Returns text. */
static const char *name_sources(char text[400], const spot_subject_files *f)
{
    const bool both = f->embed && f->embeddings;
    int n = snprintf(text, 200, "%s", f->embeddings ? f->embeddings : f->embed);

    if (n > 199) n = 199;
    while (n && text[n - 1] == '\n') text[--n] = 0;
    for (char *at = text; (at = strchr(at, '\n')); at++) *at = '+';
    if (both) snprintf(text + n, (size_t)(400 - n), "+%.190s", f->embed);
    return text;
}

static spot_status read_arrays(spot_rows_reading *r)
{
    const spot_subject_files *f = r->files;
    spot_subject *s = r->s;
    const char *prob = f->probs ? f->probs : f->losses;
    char made_by[400];

    if (!f->labels) return spot_fail(r->c, SPOT_INPUT,
                                     "{subject.no_labels} embeddings need labels: the true class of each row");
    if (f->embed && !f->images)
        return spot_fail(r->c, SPOT_INPUT, "%s makes features from pictures: give their folder (images)", f->embed);
    if (f->coco || f->model)
        return spot_fail(r->c, SPOT_INPUT,
                         "{subject.picture_option} %s belongs to pictures; with embeddings give labels and probabilities",
                         f->coco ? f->coco : f->model);
    SPOT_TRY(read_part(r, spot_labels_read));
    SPOT_TRY(read_part(r, spot_answers_read));
    SPOT_TRY(read_part(r, read_ids));
    SPOT_TRY(read_part(r, spot_groups_read));
    if (f->embeddings) SPOT_TRY(read_features(r));
    SPOT_TRY(read_pictures(r));
    SPOT_TRY(spot_bad_rows_drop(r));
    if (f->embed) SPOT_TRY(spot_subject_embed(r->c, s, f));
    SPOT_TRY(spot_blocks_scale(r->c, s, NULL, 0));
    if (!f->embed) warn_of_no_information(r, name_sources(made_by, f));
    if (f->embed) SPOT_TRY(spot_subject_check_features(r->c, s, f->embed));
    if (!s->class_name) SPOT_TRY(spot_subject_numbers(r->c, s, &s->class_name, s->classes));
    snprintf(s->source, sizeof s->source, "%d rows of %d numbers (%.120s), %d classes (%.120s), %s (%.120s)", s->n, s->d,
             name_sources(made_by, f), s->classes, f->labels, f->losses ? "losses" : f->logits ? "logits" : "probabilities",
             prob);
    return spot_subject_check_sizes(r->c, s);
}

/* Runs the network on pictures. If their labels come as arrays, ids name the pictures. */
static spot_status look_at_pictures(spot_rows_reading *r)
{
    const spot_subject_files *f = r->files;
    size_t at;

    if (!f->labels != !f->ids || f->probs || f->losses)
        return spot_fail(r->c, SPOT_INPUT, "{look.answers_given} without embeddings a network reads pictures: give no "
                         "probabilities or losses, and give labels together with ids that name the pictures, or neither");
    if (f->groups && !f->labels)
        return spot_fail(r->c, SPOT_INPUT, "{groups.no_labels} the rows of %s cannot be matched to the pictures of a folder; "
                         "give labels and ids beside the groups", f->groups);
    if (f->labels) SPOT_TRY(read_part(r, spot_labels_read));
    if (f->labels) SPOT_TRY(read_part(r, read_ids));
    SPOT_TRY(read_part(r, spot_groups_read));
    if (r->s->has && r->one_hot) SPOT_TRY(spot_labels_of_one_class(r, "beside the outputs of a network"));
    SPOT_TRY(spot_bad_rows_drop(r));
    SPOT_TRY(spot_subject_look(r->c, r->s, f));
    if (f->embed) {
        SPOT_TRY(spot_subject_embed(r->c, r->s, f));
        at = strlen(r->s->source);
        snprintf(r->s->source + at, sizeof r->s->source - at, ", embedded by %.100s", f->embed);
    }
    return SPOT_OK;
}

spot_status spot_subject_read(spot_ctx *c, spot_subject *s, const spot_subject_files *files)
{
    const spot_known named = { .classes = files->classes, .class_name = (char **)(uintptr_t)files->class_name };
    spot_rows_reading r = { .c = c, .s = s, .files = files, .known = files->class_name ? &named : NULL };
    spot_status status;

    memset(s, 0, sizeof *s);
    if (files->detections) status = spot_subject_instances(c, s, files);
    else status = files->embeddings || (files->embed && !files->model) ? read_arrays(&r) : look_at_pictures(&r);
    if (s->blocks < 2) s->blocks = 0;
    if (!status) status = spot_groups_settle(c, s, files->groups ? files->groups : files->coco);
    if (!status && files->detections && !files->groups && spot_subject_is_grouped(s))
        spot_log(c, SPOT_LOG_INFO, "the rows of a picture are a group, since they depend on each other; --groups "
                 SPOT_GROUPS_ROWS " takes each row as alone");
    if (!status && files->groups) status = spot_groups_check(c, s, files->groups);
    if (!status && !files->groups && !s->group && !s->instance) status = spot_rows_group_alike(c, s);
    if (status) spot_subject_close(s);
    else s->reading = files->reading;
    return status;
}

/* Features of a program whose answers are those that the findings' folder keeps have the name of the findings' encoder. */
static void adopt_names(spot_ctx *c, spot_subject *s, const char *embeddings, const spot_known *known)
{
    const char *line = embeddings;

    if (!embeddings || !known->folder) return;
    if (known->encoder && *s->encoder && s->blocks < 2
        && spot_kept_encoder_same(c, s->encoder, line, known->encoder, known->folder))
        snprintf(s->encoder, sizeof s->encoder, "%s", known->encoder);
    for (int b = 0; b < s->blocks && b < known->blocks; b++) {
        const spot_feature_block *then = &known->block[b];
        if (*then->encoder && spot_kept_encoder_same(c, s->block[b].encoder, line, then->encoder, known->folder))
            memcpy(s->block[b].encoder, then->encoder, sizeof then->encoder);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}

spot_status spot_rows_read(spot_ctx *c, spot_subject *s, const spot_subject_files *files, const spot_known *known)
{
    spot_rows_reading r = { .c = c, .s = s, .files = files, .known = known };
    char made_by[400];
    spot_status st;

    memset(s, 0, sizeof *s);
    if (known->feature) {
        s->n = known->rows, s->d = known->features, s->feature = known->feature;
        st = SPOT_OK;
    } else {
        st = read_features(&r);
        if (!st) adopt_names(c, s, files->embeddings, known);
        if (!st) st = spot_blocks_scale(c, s, known->block, known->blocks);
    }
    if (!st && s->d != known->features)
        st = spot_fail(c, SPOT_INPUT, "%s has %d numbers per row, and the findings have %d; give features of the new rows "
                       "from the same network", name_sources(made_by, files), s->d, known->features);
    if (!st && known->encoder && !s->blocks && *s->encoder && strcmp(known->encoder, s->encoder))
        st = spot_fail(c, SPOT_INPUT, "%s has features of the encoder %s, and the findings are of %s: they cannot be compared",
                       files->embeddings, s->encoder, known->encoder);
    if (!st) st = read_part(&r, spot_labels_read);
    if (!st) st = read_part(&r, spot_answers_read);
    if (!st) st = read_part(&r, read_ids);
    if (!st) st = read_part(&r, spot_groups_read);
    if (!st && !known->feature) st = read_pictures(&r);
    if (!st && !known->feature) st = spot_bad_rows_drop(&r);
    if (!st) st = spot_subject_check_sizes(c, s);
    if (!st) st = spot_groups_settle(c, s, files->groups);
    if (st) spot_subject_close(s);
    else s->reading = files->reading;
    return st;
}
