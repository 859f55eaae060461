/* detection_files.c - files of a detector -> subject: pictures, features, and the tables of the rows. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/same_id.h"
#include "base/text.h"
#include "discover/describe/gallery.h"
#include "discover/describe/look_encoder.h"
#include "discover/subject/detection_rows.h"
#include "discover/subject/detection_truth.h"
#include "discover/subject/subject_memory.h"
#include "discover/subject/subject_reading.h"
#include "formats/formats.h"
#include "store/store.h"

enum { PATH = 1200, TOLD = 5 };

/* ---- pictures ---- */

/* path (images): where each picture of k is; *s owns them. */
static spot_status picture_paths(spot_ctx *c, spot_subject *s, char ***path, const spot_coco *k,
                                 const spot_subject_files *files)
{
    spot_subject all = { .n = k->images, .owned = s->owned };
    spot_status how = SPOT_SUBJECT_TAKE(c, &all, all.id, k->images);

    for (int i = 0; !how && i < k->images; i++) all.id[i] = k->image[i].file;
    if (!how) how = spot_gallery_paths(c, &all, files->images, files->links);
    s->owned = all.owned;
    *path = all.image;
    return how;
}

/* A picture that is not there is NULL. */
static spot_status look_for(spot_ctx *c, char **path, const spot_coco *k, int i, int *missing, const spot_subject_files *files)
{
    struct stat st;

    if (!stat(path[i], &st) && S_ISREG(st.st_mode)) return SPOT_OK;
    if (!files->skip)
        return spot_fail(c, SPOT_INPUT, "%s names the picture %.300s, which is not in %s; skip such pictures, or correct the "
                         "folder", files->coco, k->image[i].file, files->images);
    if (++*missing <= TOLD) spot_log(c, SPOT_LOG_WARN, "%.500s is no file", path[i]);
    path[i] = NULL;
    return SPOT_OK;
}

static spot_status fill_pictures(spot_ctx *c, spot_subject *s, const spot_coco *k, const spot_subject_files *files)
{
    uint8_t *seen = calloc((size_t)k->images + 1, 1);
    int missing = 0;
    char **path = NULL;
    spot_status how = seen ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", k->images);

    if (!how) how = picture_paths(c, s, &path, k, files);
    if (!how) how = SPOT_SUBJECT_TAKE(c, s, s->image, s->n);
    for (int i = 0; !how && i < s->n; i++) {
        const int picture = s->instance[i].picture;
        if (!seen[picture]) how = look_for(c, path, k, picture, &missing, files);
        if (!how && !seen[picture] && path[picture])
            how = spot_truth_check_size(c, path[picture], &k->image[picture], files->reading.exif, files->coco);
        seen[picture] = 1;
        s->image[i] = path[picture];
        s->skipped += !s->image[i];
    }
    if (missing > TOLD) spot_log(c, SPOT_LOG_WARN, "and %d more pictures", missing - TOLD);
    free(seen);
    return how;
}

/* ---- features that are given ---- */

/* row (s->n): the row of the embeddings of each row, found by the ids: as they are, or else by one that means the same. */
static spot_status find_rows(spot_ctx *c, int *row, const spot_subject *s, const spot_array *ids, const char *where)
{
    const int n = (int)ids->dim[0];
    int *theirs = malloc((size_t)n * sizeof *theirs), *ours = malloc((size_t)s->n * sizeof *ours), at = 0, by_form = 0;
    char *const *id = ids->data;
    spot_plain_ids plain = { 0 };
    spot_status how = theirs && ours ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory to compare %d ids", n);

    if (!how) spot_words_sort(theirs, id, n);
    if (!how) spot_words_sort(ours, s->id, s->n);
    for (int i = 0; !how && i < s->n; i++) {
        const char *wanted = s->id[ours[i]];
        const int *order = theirs;
        int first, end;
        while (at < n && strcmp(id[theirs[at]], wanted) < 0) at++;
        for (first = end = at; end < n && !strcmp(id[theirs[end]], wanted);) end++;
        if (first == end) {
            if (!plain.order) how = spot_plain_ids_open(c, &plain, id, n);
            if (!how) how = spot_plain_ids_find(c, &plain, wanted, &first, &end);
            order = plain.order;
            by_form++;
        }
        if (!how && first == end)
            how = spot_fail(c, SPOT_INPUT, "{detections.no_id} %s: none of the ids is \"%.300s\", the id of row %d", where,
                            wanted, ours[i]);
        if (!how && end > first + 1)
            how = spot_fail(c, SPOT_INPUT, "{detections.id_twice} %s: rows %d and %d have the id \"%.300s\"", where,
                            order[first],
                            order[first + 1], wanted);
        if (!how) row[ours[i]] = order[first];
    }
    if (!how && by_form)
        spot_log(c, SPOT_LOG_INFO, "%s: %d ids match those of rows though they differ by \"./\" in front, blanks at the ends "
                 "or Unicode's normal form", where, by_form);
    spot_plain_ids_close(&plain);
    free(theirs);
    free(ours);
    return how;
}

static spot_status order_rows(spot_ctx *c, int *row, const spot_subject *s, const spot_array *a,
                              const spot_subject_files *files)
{
    spot_array ids = { 0 };
    spot_status how;

    if (!files->ids && a->dim[0] != s->n)
        return spot_fail(c, SPOT_INPUT, "{detections.rows} %s has %lld rows, and there are %d objects and detections; give its "
                         "ids, or the rows in the order of rows.csv", a->name, (long long)a->dim[0], s->n);
    for (int i = 0; i < s->n; i++) row[i] = i;
    if (!files->ids) return SPOT_OK;
    SPOT_TRY(spot_subject_array(c, &ids, files, files->ids, &(spot_array_how){ .limit = files->memory }, false));
    if (ids.type != SPOT_WORDS || ids.rank != 1 || ids.dim[0] != a->dim[0])
        how = spot_fail(c, SPOT_INPUT, "{detections.ids_of} %s must be the ids of the rows of %s, one word for each of "
                        "%lld", ids.name, a->name, (long long)a->dim[0]);
    else how = find_rows(c, row, s, &ids, ids.name);
    spot_subject_array_close(&ids, files);
    return how;
}

static spot_status copy_features(spot_ctx *c, spot_subject *s, spot_array *a, const spot_subject_files *files)
{
    int *row = malloc((size_t)s->n * sizeof *row);
    float *v = NULL;
    spot_status how = row ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d rows", s->n);

    if (!how && (a->rank != 2 || a->dim[0] < 1 || a->dim[0] > INT_MAX || a->dim[1] < 1 || a->dim[1] > INT_MAX))
        how = spot_fail(c, SPOT_INPUT, "%s must be (rows, features)", a->name);
    if (!how) how = order_rows(c, row, s, a, files);
    if (!how) how = spot_subject_array_maker(c, s, a, files, files->embeddings);
    if (!how) {
        s->d = (int)a->dim[1];
        how = SPOT_SUBJECT_TAKE(c, s, s->feature, (size_t)s->n * (size_t)s->d);
    }
    if (!how) how = spot_array_floats(c, &v, a);
    for (int i = 0; !how && i < s->n; i++)
        memcpy(s->feature + (size_t)i * (size_t)s->d, v + (size_t)row[i] * (size_t)s->d, (size_t)s->d * sizeof *v);
    free(v);
    free(row);
    return how;
}

static spot_status read_given(spot_ctx *c, spot_subject *s, const spot_subject_files *files)
{
    spot_array a = { 0 };
    spot_status how;

    SPOT_TRY(spot_subject_array(c, &a, files, files->embeddings, &(spot_array_how){ .limit = files->memory }, false));
    how = copy_features(c, s, &a, files);
    spot_subject_array_close(&a, files);
    return how;
}

/* Groups that are given have the rows of the embeddings. */
static spot_status read_groups(spot_ctx *c, spot_subject *s, const spot_subject_files *files)
{
    spot_rows_reading r = { .c = c, .s = &(spot_subject){ .owned = s->owned }, .files = files };
    spot_array a = { 0 };
    int *row = NULL;
    char **given, **cell;
    spot_status how;

    if (!files->groups) return SPOT_OK;
    if (!strcmp(files->groups, SPOT_GROUPS_ROWS)) return spot_groups_of_rows(c, s);
    how = spot_rows_cells(&r, &a, files->groups, &given);
    s->owned = r.s->owned;
    if (!how) how = SPOT_SUBJECT_TAKE(c, s, cell, s->n);
    if (!how) how = SPOT_SUBJECT_TAKE(c, s, row, s->n);
    if (!how) how = order_rows(c, row, s, &a, files);
    for (int i = 0; !how && i < s->n; i++) cell[i] = given[row[i]];
    if (!how) how = spot_groups_of_cells(c, s, cell);
    spot_subject_array_close(&a, files);
    return how;
}

/* ---- all ---- */

static spot_status check_files(spot_ctx *c, const spot_subject_files *f)
{
    if (!f->coco || !f->detections->file)
        return spot_fail(c, SPOT_USAGE, "a detector's rows need both its detections and the ground truth (coco)");
    if (f->labels || f->probs || f->losses || f->model)
        return spot_fail(c, SPOT_USAGE, "{detections.classifier_inputs} labels, probabilities, losses and a model are a "
                         "classifier's; the rows of a detector come from %s and %s, and an encoder (embed) makes their "
                         "features", f->coco, f->detections->file);
    if (f->embed && (f->embeddings || !f->images))
        return spot_fail(c, SPOT_USAGE, "%s makes features from pictures: give their folder (images), and no embeddings",
                         f->embed);
    if (f->ids && !f->embeddings)
        return spot_fail(c, SPOT_USAGE, "%s: ids name the rows of embeddings, and there are none", f->ids);
    return SPOT_OK;
}

static spot_status read_rows(spot_ctx *c, spot_subject *s, const spot_coco *k, const spot_subject_files *files)
{
    spot_coco_results results;
    spot_matches m = { 0 };
    spot_status how;

    SPOT_TRY(spot_coco_results_open(c, &results, files->detections->file));
    how = spot_matches_find(c, &m, k, &results, files->detections, files->coco);
    spot_coco_results_close(&results);
    if (!how) how = spot_instances_fill(c, s, k, &m, files);
    if (!how) how = spot_truth_check_names(c, s, k, files->coco);
    spot_matches_close(&m);
    if (!how && files->images) how = fill_pictures(c, s, k, files);
    return how;
}

static spot_status make_features(spot_ctx *c, spot_subject *s, const spot_subject_files *files)
{
    if (files->embed) {
        spot_truth_report_boxes(c, s, files->coco);
        return spot_subject_embed(c, s, files);
    }
    if (files->embeddings) return read_given(c, s, files);
    s->d = 1;
    return SPOT_SUBJECT_TAKE(c, s, s->feature, s->n);
}

/* One line for people. */
static void describe_source(spot_subject *s, const spot_subject_files *files)
{
    const spot_detection_options *o = files->detections;
    int objects = 0, missed = 0, wrong = 0;

    for (int i = 0; i < s->n; i++) {
        objects += !s->instance[i].detected;
        missed += !s->instance[i].detected && s->instance[i].wrong;
        wrong += s->instance[i].wrong;
    }
    snprintf(s->source, sizeof s->source, "%d objects of %.150s, %d missed, and %d detections of %.150s, %d false, at IoU %g "
             "and score %g", objects, files->coco, missed, s->n - objects, o->file, wrong - missed, o->iou, o->score);
}

spot_status spot_subject_instances(spot_ctx *c, spot_subject *s, const spot_subject_files *files)
{
    spot_coco k;
    spot_status how;

    SPOT_TRY(check_files(c, files));
    SPOT_TRY(spot_truth_open(c, &k, files->coco));
    how = read_rows(c, s, &k, files);
    spot_coco_close(&k);
    if (!how) how = read_groups(c, s, files);
    if (!how) how = make_features(c, s, files);
    if (how) return how;
    describe_source(s, files);
    return spot_subject_check_as(c, s, &(spot_subject_words){ files->embed ? files->embed : files->embeddings, files->coco,
                                                              files->detections->file, files->detections->file });
}

/* ---- tables ---- */

static const char *outcome(const spot_instance *v)
{
    return v->detected ? v->wrong ? "false" : "right" : v->wrong ? "missed" : "found";
}

/* The picture of the row: its id up to the number. */
static void put_picture(FILE *f, const char *id)
{
    char *name = strdup(id), *end = name ? strrchr(name, '#') : NULL;

    if (end) *end = 0;
    spot_csv_field(f, name ? name : "");
    free(name);
}

static void put_row(FILE *f, const spot_subject *s, int i)
{
    const spot_instance *v = &s->instance[i];
    const float number[] = { v->x, v->y, v->w, v->h };

    spot_csv_field(f, s->id[i]);
    fputc(',', f);
    put_picture(f, s->id[i]);
    fputc(',', f);
    spot_csv_field(f, s->class_name[s->target[i]]);
    for (int k = 0; k < 4; k++) fprintf(f, ",%.7g", (double)number[k]);
    fprintf(f, ",%s,%s,", outcome(v), spot_reason_name(v->reason, v->detected));
    if (!isnan(v->score)) fprintf(f, "%.7g", (double)v->score);
    fputc('\n', f);
}

static bool fill_table(FILE *f, const void *user)
{
    const spot_subject *s = user;

    fputs("id,image,class,x,y,width,height,outcome,reason,score\n", f);
    for (int i = 0; i < s->n; i++) put_row(f, s, i);
    return !ferror(f);
}

/* COCO's sizes: below 32 x 32 and 96 x 96 pixels. */
static bool fill_attributes(FILE *f, const void *user)
{
    static const char *const edge[] = { "no", "yes", "" };
    const spot_subject *s = user;

    fputs("id,size,at edge,in picture,overlaps\n", f);
    for (int i = 0; i < s->n; i++) {
        const spot_instance *v = &s->instance[i];
        spot_csv_field(f, s->id[i]);
        fprintf(f, ",%s,%s,%s,%s\n", v->area < 32 * 32 ? "small" : v->area < 96 * 96 ? "medium" : "large", edge[v->edge],
                !v->others ? "alone" : v->others < 5 ? "2 to 5" : "more than 5", v->overlaps ? "yes" : "no");
    }
    return !ferror(f);
}

spot_status spot_instances_write(spot_ctx *c, const spot_subject *s, const char *dir)
{
    char path[PATH];

    if (!s->instance) return spot_fail(c, SPOT_INVALID, "these rows are no objects and detections");
    SPOT_TRY(spot_folder_make(c, dir));
    snprintf(path, sizeof path, "%s/rows.csv", dir);
    SPOT_TRY(spot_file_fill(c, path, fill_table, s));
    snprintf(path, sizeof path, "%s/attributes.csv", dir);
    return spot_file_fill(c, path, fill_attributes, s);
}
