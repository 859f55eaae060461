/* detection_truth.c - see detection_truth.h. */
#include "discover/subject/detection_truth.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formats/picture.h"

/* ---- boxes ---- */

static spot_status need_boxes(spot_ctx *c, spot_coco *k, const char *path)
{
    int taken, bare;
    char number[24];

    SPOT_TRY(spot_coco_outline_boxes(c, k, path, &taken, &bare));
    if (bare >= 0)
        return spot_fail(c, SPOT_INPUT, "{coco.box_missing} %s: the annotation %s of %.200s has neither a \"bbox\" nor an "
                         "outline (\"segmentation\"); each object of a detector needs a box", path,
                         k->box[bare].id == SPOT_COCO_NO_ID ? "without an id"
                             : spot_coco_id_text(number, k->box[bare].id, k->owned),
                         k->image[k->box[bare].image].file);
    if (taken) spot_log(c, SPOT_LOG_INFO, "%s: %d annotations have no \"bbox\"; the boxes around their outlines are taken",
                        path,
                        taken);
    return SPOT_OK;
}

/* ---- ids ---- */

static int compare_ids(const void *a, const void *b)
{
    const spot_coco_box *x = *(spot_coco_box *const *)a, *y = *(spot_coco_box *const *)b;

    return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x > y) - (x < y);
}

/* Takes their ids from the boxes of a picture that share one; adds their number to *shared. */
static void drop_shared(spot_coco_box **box, int n, int *shared, int64_t *first)
{
    qsort(box, (size_t)n, sizeof *box, compare_ids);
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && box[end]->id == box[i]->id;) end++;
        if (end == i + 1 || box[i]->id == SPOT_COCO_NO_ID) continue;
        if (!*shared) *first = box[i]->id;
        *shared += end - i;
        for (int j = i; j < end; j++) box[j]->id = SPOT_COCO_NO_ID;
    }
}

static spot_status need_ids(spot_ctx *c, spot_coco *k, const char *path)
{
    spot_coco_box **box = malloc(((size_t)k->boxes + 1) * sizeof *box);
    int64_t first = 0;
    int shared = 0, where = 0;
    char number[24];

    if (!box) return spot_fail(c, SPOT_NOMEM, "no memory for the ids of %d annotations", k->boxes);
    for (int b = 0; b < k->boxes; b++) box[b] = &k->box[b];
    for (int i = 0; i < k->images; i++) {
        const int before = shared;
        drop_shared(box + k->first[i], k->first[i + 1] - k->first[i], &shared, &first);
        if (!before && shared) where = i;
    }
    free(box);
    if (shared)
        spot_log(c, SPOT_LOG_WARN, "%s: %d annotations share their id with another one of their picture, the first %s in "
                 "%.200s; their rows are named by their places in the picture, \"%.200s#object 0\"", path, shared,
                 spot_coco_id_text(number, first, k->owned), k->image[where].file, k->image[where].file);
    return SPOT_OK;
}

spot_status spot_truth_open(spot_ctx *c, spot_coco *k, const char *path)
{
    spot_status s;

    SPOT_TRY(spot_coco_open(c, k, path));
    s = need_boxes(c, k, path);
    if (!s) s = need_ids(c, k, path);
    if (s) spot_coco_close(k);
    return s;
}

spot_status spot_truth_check_names(spot_ctx *c, const spot_subject *s, const spot_coco *k, const char *names)
{
    const size_t images = (size_t)k->images + 1;
    uint8_t *has = calloc(images, 1);
    char **name = malloc(images * sizeof *name);
    int *order = malloc(images * sizeof *order), n = 0;
    spot_status how = has && name && order ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures", k->images);

    for (int i = 0; !how && i < s->n; i++) has[s->instance[i].picture] = 1;
    for (int i = 0; !how && i < k->images; i++)
        if (has[i]) name[n++] = k->image[i].file;
    if (!how) spot_words_sort(order, name, n);
    for (int i = 1; !how && i < n; i++)
        if (!strcmp(name[order[i]], name[order[i - 1]]))
            how = spot_fail(c, SPOT_INPUT, "{coco.file_twice} %s: two of \"images\" have the file_name %.300s; their rows "
                            "would have the same ids", names, name[order[i]]);
    free(has);
    free(name);
    free(order);
    return how;
}

/* ---- sizes ---- */

/* Why the sides are not those of the annotations. */
static const char *reason_of_size(const spot_picture_head *h, const int seen[2], const spot_coco_image *image)
{
    const bool exchanged = h->orientation >= 5 && !h->turns && seen[0] == image->height && seen[1] == image->width;

    if (!exchanged) return spot_picture_other_size(seen[0], seen[1], image->width, image->height);
    return seen[0] == h->width ? "EXIF turns this photo, and the annotations are of the turned one: --exif apply"
                               : "EXIF turns this photo, and the annotations are of the stored one: --exif ignore";
}

spot_status spot_truth_check_size(spot_ctx *c, const char *path, const spot_coco_image *image, int exif, const char *names)
{
    spot_picture_head h = { 0 };
    spot_ctx own = { 0 };              /* whoever decodes the picture reports a bad file */

    if (!image->width || !image->height || spot_picture_head_of(&own, &h, path)) return SPOT_OK;
    const bool turned = h.orientation >= 5 && (h.turns || exif == SPOT_EXIF_APPLY);
    const int seen[2] = { turned ? h.height : h.width, turned ? h.width : h.height };
    if (seen[0] == image->width && seen[1] == image->height) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{coco.picture_size} %.300s has %d x %d pixels, and %s says %d x %d: %s", path, seen[0],
                     seen[1], names, image->width, image->height, reason_of_size(&h, seen, image));
}

void spot_truth_report_boxes(spot_ctx *c, const spot_subject *s, const char *names)
{
    int empty = 0, first = 0;

    for (int i = 0; i < s->n; i++) {
        const spot_instance *v = &s->instance[i];
        const float width = (float)v->width, height = (float)v->height;
        const bool outside = v->x + v->w <= 0 || v->y + v->h <= 0 || (width > 0 && v->x >= width)
            || (height > 0 && v->y >= height);
        if ((v->w > 0 && v->h > 0 && !outside) || empty++) continue;
        first = i;
    }
    if (empty)
        spot_log(c, SPOT_LOG_WARN, "%s: %d boxes have no area or lie outside of their pictures, the first is %.200s; the "
                 "encoder sees the nearest pixels of such a row", names, empty, s->id[first]);
}
