/* outlines.c - see outlines.h. */
#include "background/suite/outlines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/key.h"
#include "formats/coco_outline.h"
#include "formats/picture.h"

/* class_of (categories): -1 for a category that is not tested. */
static spot_status choose_categories(spot_ctx *c, spot_outlines *o, int *class_of, const char *path, const char *categories)
{
    for (int k = 0; k < o->coco.categories; k++) class_of[k] = *categories ? -1 : k;
    for (char *at = o->list, *next; *categories && at; at = next) {
        bool found = false;
        next = strchr(at, ',');
        if (next) *next++ = 0;
        at += strspn(at, " ");
        for (size_t n = strlen(at); n && at[n - 1] == ' ';) at[--n] = 0;
        if (!*at) continue;
        for (int k = 0; k < o->coco.categories; k++)
            if (!strcmp(o->coco.category[k].name, at)) class_of[k] = k, found = true;
        if (!found) return spot_fail(c, SPOT_INPUT,
                                     "{outlines.no_category} %s has no category \"%s\"; data.categories names it", path, at);
    }
    return SPOT_OK;
}

/* The largest object of an image; -1: none. */
static int find_largest(const spot_coco *k, int image, const int *class_of)
{
    int best = -1;

    for (int b = k->first[image]; b < k->first[image + 1]; b++)
        if (class_of[k->box[b].category] >= 0 && !k->box[b].crowd && k->box[b].outline_bytes
            && (best < 0 || k->box[b].area > k->box[best].area)) best = b;
    return best;
}

typedef struct { const char *name; int box, category; } target;

static int compare_targets(const void *a, const void *b)
{
    const target *x = a, *y = b;

    return x->category != y->category ? (x->category > y->category) - (x->category < y->category) : strcmp(x->name, y->name);
}

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static spot_status check_names(spot_ctx *c, const spot_outlines *o, const char *path)
{
    char **sorted = malloc(((size_t)o->n + 1) * sizeof *sorted);
    spot_status s = SPOT_OK;

    if (!sorted) return spot_fail(c, SPOT_NOMEM, "no memory for the pictures of %s", path);
    memcpy(sorted, o->name, (size_t)o->n * sizeof *sorted);
    qsort(sorted, (size_t)o->n, sizeof *sorted, compare_names);
    for (int i = 1; i < o->n && s == SPOT_OK; i++)
        if (!strcmp(sorted[i - 1], sorted[i])) s = spot_fail(c, SPOT_INPUT, "%s has two pictures of the name %s", path,
                                                             sorted[i]);
    free(sorted);
    return s;
}

/* Pictures by class and name; classes without a picture are dropped. */
static spot_status fill_targets(spot_ctx *c, spot_outlines *o, target *t, const char *path)
{
    const spot_coco *k = &o->coco;

    o->name = malloc(((size_t)o->n + 1) * sizeof *o->name);
    o->cls = malloc(((size_t)o->n + 1) * sizeof *o->cls);
    o->box = malloc(((size_t)o->n + 1) * sizeof *o->box);
    o->class_name = malloc(((size_t)k->categories + 1) * sizeof *o->class_name);
    if (!o->name || !o->cls || !o->box || !o->class_name)
        return spot_fail(c, SPOT_NOMEM, "no memory for the %d targets of %s", o->n, path);
    qsort(t, (size_t)o->n, sizeof *t, compare_targets);
    for (int i = 0; i < o->n; i++) {
        if (!i || t[i].category != t[i - 1].category) o->class_name[o->classes++] = k->category[t[i].category].name;
        o->name[i] = k->image[k->box[t[i].box].image].file;
        o->cls[i] = o->classes - 1;
        o->box[i] = t[i].box;
    }
    return check_names(c, o, path);
}

/* Objects without an area have that of the box around their outline. */
static spot_status need_areas(spot_ctx *c, spot_outlines *o, const int *class_of, const char *path)
{
    int taken, bare;

    for (int b = 0; b < o->coco.boxes; b++) {
        const spot_coco_box *box = &o->coco.box[b];
        if (box->area == 0 && !box->boxed && box->outline_bytes && class_of[box->category] >= 0)
            return spot_coco_outline_boxes(c, &o->coco, path, &taken, &bare);
    }
    return SPOT_OK;
}

static spot_status read_outline(spot_ctx *c, const spot_outlines *o, int i, char **json)
{
    const spot_coco_box *b = &o->coco.box[o->box[i]];

    *json = malloc((size_t)b->outline_bytes + 1);
    if (!*json) return spot_fail(c, SPOT_NOMEM, "no memory for the outline of %s", o->name[i]);
    (*json)[b->outline_bytes] = 0;
    return spot_blob_read(c, &o->file, b->outline_at, *json, b->outline_bytes);
}

static spot_status hash_outlines(spot_ctx *c, spot_outlines *o)
{
    spot_key k = spot_key_of("outlines", 8);
    spot_status s = SPOT_OK;

    for (int i = 0; i < o->n && s == SPOT_OK; i++) {
        char *json;
        s = read_outline(c, o, i, &json);
        if (s == SPOT_OK) k = spot_key_join(k, o->class_name[o->cls[i]], json, o->coco.box[o->box[i]].outline_bytes);
        free(json);
    }
    spot_key_text(o->key, k);
    return s;
}

static spot_status list_targets(spot_ctx *c, spot_outlines *o, const int *class_of, const char *path)
{
    target *t = malloc(((size_t)o->coco.images + 1) * sizeof *t);
    spot_status s;

    if (!t) return spot_fail(c, SPOT_NOMEM, "no memory for the pictures of %s", path);
    for (int i = 0; i < o->coco.images; i++) {
        const int best = find_largest(&o->coco, i, class_of);
        if (best >= 0) t[o->n++] = (target){ o->coco.image[i].file, best, o->coco.box[best].category };
    }
    s = o->n ? fill_targets(c, o, t, path)
             : spot_fail(c, SPOT_INPUT, "%s has no object of a tested category with an outline", path);
    free(t);
    return s;
}

spot_status spot_outlines_open(spot_ctx *c, spot_outlines *o, const char *path, const char *categories)
{
    const size_t bytes = strlen(categories) + 1;
    int *class_of;
    spot_status s;

    SPOT_TRY(spot_coco_open(c, &o->coco, path));
    SPOT_TRY(spot_blob_open(c, &o->file, path));
    class_of = malloc(((size_t)o->coco.categories + 1) * sizeof *class_of);
    o->list = malloc(bytes);
    s = class_of && o->list ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the categories of %s", path);
    if (s == SPOT_OK) memcpy(o->list, categories, bytes), s = choose_categories(c, o, class_of, path, categories);
    if (s == SPOT_OK) s = need_areas(c, o, class_of, path);
    if (s == SPOT_OK) s = list_targets(c, o, class_of, path);
    if (s == SPOT_OK) s = hash_outlines(c, o);
    free(class_of);
    return s;
}

void spot_outlines_close(spot_outlines *o)
{
    free(o->name), free(o->cls), free(o->box), free(o->class_name), free(o->list);
    if (o->file.name) spot_blob_close(&o->file);
    spot_coco_close(&o->coco);
    memset(o, 0, sizeof *o);
}

spot_status spot_outlines_draw(spot_ctx *c, const spot_outlines *o, int i, uint8_t *plane, int width, int height)
{
    const spot_coco_image *image = &o->coco.image[o->coco.box[o->box[i]].image];
    char *json = NULL;
    spot_status s;

    if (image->width && image->height && (image->width != width || image->height != height))
        return spot_fail(c, SPOT_INPUT, "{outlines.size} %s has %d x %d pixels, and its annotations are of %d x %d: %s",
                         o->name[i], width, height, image->width, image->height,
                         spot_picture_other_size(width, height, image->width, image->height));
    s = read_outline(c, o, i, &json);
    if (s == SPOT_OK) s = spot_coco_outline(c, plane, width, height, json, o->coco.box[o->box[i]].outline_bytes, o->name[i]);
    free(json);
    return s;
}
