/* coco_join.c - see coco_join.h. */
#include "formats/coco_join.h"

#include <stdlib.h>
#include <string.h>

typedef struct { int64_t id; int at; } by_id;

static int compare_ids(const void *a, const void *b)
{
    const by_id *x = a, *y = b;

    return x->id != y->id ? (x->id < y->id ? -1 : 1) : (x->at > y->at) - (x->at < y->at);
}

/* *out: the sorted ids of `count` structs of `size` bytes that begin with their id; malloc'd. */
static spot_status sort_ids(spot_ctx *c, by_id **out, const void *structs, int count, size_t size, const char *list,
                            const spot_coco *k, const char *name)
{
    char number[24];
    by_id *ids = *out = malloc(((size_t)count + 1) * sizeof *ids);

    if (!ids) return spot_fail(c, SPOT_NOMEM, "%s: no memory for %d ids", name, count);
    for (int i = 0; i < count; i++) {
        memcpy(&ids[i].id, (const char *)structs + (size_t)i * size, sizeof ids[i].id);
        ids[i].at = i;
    }
    qsort(ids, (size_t)count, sizeof *ids, compare_ids);
    for (int i = 1; i < count; i++)
        if (ids[i].id == ids[i - 1].id)
            return spot_fail(c, SPOT_INPUT, "{coco.id_twice} %s: numbers %d and %d of \"%s\" (from 0) have the same id, "
                             "%.200s", name, ids[i - 1].at, ids[i].at, list,
                             spot_coco_id_text(number, ids[i].id, k->owned));
    return SPOT_OK;
}

static int find_id(const by_id *ids, int count, int64_t id)
{
    int low = 0;

    for (int high = count; low < high;) {
        int mid = low + (high - low) / 2;
        if (ids[mid].id < id) low = mid + 1;
        else high = mid;
    }
    return low < count && ids[low].id == id ? ids[low].at : -1;
}

/* Sorts the boxes by image: counts them, then places them. */
static spot_status place_boxes(spot_ctx *c, spot_coco *k, spot_coco_raw *raw, const by_id *images, const by_id *categories,
                               const char *name)
{
    char number[24];

    for (int i = 0; i < k->boxes; i++) {
        int image = find_id(images, k->images, raw[i].image), category = find_id(categories, k->categories, raw[i].category);
        if (image < 0 || category < 0)
            return spot_fail(c, SPOT_INPUT, "{coco.annotation_id} %s, byte %zu: no one of \"%s\" has the id %.200s of this "
                             "annotation", name, raw[i].byte, image < 0 ? "images" : "categories",
                             spot_coco_id_text(number, image < 0 ? raw[i].image : raw[i].category, k->owned));
        raw[i].image = image;
        raw[i].category = category;
        k->first[image + 1]++;
    }
    for (int i = 0; i < k->images; i++) k->first[i + 1] += k->first[i];
    for (int i = k->boxes - 1; i >= 0; i--)        /* backwards: first[image + 1] ends where its boxes begin */
        k->box[--k->first[raw[i].image + 1]] = (spot_coco_box){
            .image = (int)raw[i].image, .category = (int)raw[i].category, .x = raw[i].box[0], .y = raw[i].box[1],
            .w = raw[i].box[2], .h = raw[i].box[3], .area = raw[i].area, .crowd = raw[i].crowd, .boxed = raw[i].boxed,
                .id = raw[i].id,
            .outline_bytes = raw[i].outline_bytes, .outline_at = raw[i].outline_at };
    memmove(k->first, k->first + 1, (size_t)k->images * sizeof *k->first);
    k->first[k->images] = k->boxes;
    return SPOT_OK;
}

static spot_status place_captions(spot_ctx *c, spot_coco *k, const spot_coco_raw_caption *said, const by_id *images,
                                  const char *name)
{
    char number[24];

    for (int i = 0; i < k->captions; i++) {
        k->caption[i] = (spot_coco_caption){ find_id(images, k->images, said[i].image), k->owned + said[i].text };
        if (k->caption[i].image < 0)
            return spot_fail(c, SPOT_INPUT, "{coco.caption_id} %s, byte %zu: no one of \"images\" has the id %.200s of this "
                             "caption", name, said[i].byte, spot_coco_id_text(number, said[i].image, k->owned));
    }
    return SPOT_OK;
}

spot_status spot_coco_join(spot_ctx *c, spot_coco *k, spot_coco_raw *raw, const spot_coco_raw_caption *said, const char *name)
{
    by_id *images = NULL, *categories = NULL;
    spot_status s;

    k->box = malloc(((size_t)k->boxes + 1) * sizeof *k->box);
    k->first = calloc((size_t)k->images + 1, sizeof *k->first);
    k->caption = malloc(((size_t)k->captions + 1) * sizeof *k->caption);
    if (!k->box || !k->first || !k->caption) return spot_fail(c, SPOT_NOMEM, "%s: no memory for %d boxes", name, k->boxes);
    s = sort_ids(c, &images, k->image, k->images, sizeof *k->image, "images", k, name);
    if (!s) s = sort_ids(c, &categories, k->category, k->categories, sizeof *k->category, "categories", k, name);
    if (!s) s = place_captions(c, k, said, images, name);
    if (!s) s = place_boxes(c, k, raw, images, categories, name);
    free(images);
    free(categories);
    return s;
}
