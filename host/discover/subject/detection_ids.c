/* detection_ids.c - see detection_ids.h. */
#include "discover/subject/detection_ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/same_id.h"
#include "discover/subject/detection_iou.h"

/* Detections that lie on an object of another category, at least, for a suspicion about ids that all exist. */
enum { SUSPECT = 10 };

/* ---- ids ---- */

typedef struct { int64_t id; int at; } by_id;

static int compare_ids(const void *a, const void *b)
{
    const by_id *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static int find_id(const by_id *ids, int n, int64_t id)
{
    const by_id wanted = { id, 0 }, *at = bsearch(&wanted, ids, (size_t)n, sizeof *ids, compare_ids);

    return at ? at->at : -1;
}

/* ---- names ---- */

/* Names of pictures and categories. Of one text the least kind is first. */
enum { WORD_ID, WHOLE, BASE, STEM, KINDS };
enum { SEVERAL = -2 };
typedef struct { const char *text; size_t n; int kind, at; } by_name;

static int compare_texts(const by_name *x, const by_name *y)
{
    const int order = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);

    return order ? order : (x->n > y->n) - (x->n < y->n);
}

static int compare_names(const void *a, const void *b)
{
    const by_name *x = a, *y = b;
    const int order = compare_texts(x, y);

    return order ? order : x->kind != y->kind ? x->kind - y->kind : (x->at > y->at) - (x->at < y->at);
}

/* The one of that name; -1: none; SEVERAL. */
static int find_name(const by_name *names, int n, const char *text)
{
    const by_name wanted = { text, strlen(text), -1, 0 };
    int low = 0;

    for (int high = n; low < high;) {
        const int mid = low + (high - low) / 2;
        if (compare_names(&names[mid], &wanted) < 0) low = mid + 1;
        else high = mid;
    }
    if (low == n || compare_texts(&names[low], &wanted)) return -1;
    for (int i = low + 1; i < n && !compare_texts(&names[i], &wanted) && names[i].kind == names[low].kind; i++)
        if (names[i].at != names[low].at) return SEVERAL;
    return names[low].at;
}

static size_t stem_of(const char **base, const char *file)
{
    const char *slash = strrchr(file, '/'), *back = strrchr(file, '\\'), *dot;

    if (back > slash) slash = back;            /* Windows' separator, too */
    *base = slash ? slash + 1 : file;
    dot = strrchr(*base, '.');
    return dot && dot > *base ? (size_t)(dot - *base) : strlen(*base);
}

/* ---- all that is known ---- */

typedef struct {
    spot_ctx *c;
    const spot_coco *k;
    const spot_coco_results *r;
    const spot_detection_options *o;
    const char *names;
    by_id *images, *categories, *stems;    /* sorted; stems: of pictures whose stem is a number */
    int stem_count, name_count, category_name_count;
    by_name *name, *category_name;         /* sorted: of pictures, of categories */
    int by_file, by_other, against_id, like_stem;      /* detections: found by file_name; by another name than the id; whose id
                                                        * says another picture; whose id is also another picture's stem */
    int first_against, first_like;
    spot_text spelling;        /* scratch */
} resolver;

static spot_status take_tables(resolver *v)
{
    const size_t images = (size_t)v->k->images + 1, categories = (size_t)v->k->categories + 1;

    v->images = malloc(images * sizeof *v->images);
    v->stems = malloc(images * sizeof *v->stems);
    v->name = malloc(KINDS * images * sizeof *v->name);
    v->categories = malloc(categories * sizeof *v->categories);
    v->category_name = malloc(2 * categories * sizeof *v->category_name);
    if (v->images && v->stems && v->name && v->categories && v->category_name) return SPOT_OK;
    return spot_fail(v->c, SPOT_NOMEM, "no memory for %d ids of pictures", v->k->images);
}

static void add_name(by_name *names, int *count, const char *text, size_t n, int kind, int at)
{
    names[(*count)++] = (by_name){ text, n, kind, at };
}

static void add_image(resolver *v, int i)
{
    const spot_coco_image *image = &v->k->image[i];
    const char *base;
    const size_t stem = stem_of(&base, image->file);
    int64_t number = 0;
    size_t digits = 0;

    v->images[i] = (by_id){ image->id, i };
    if (spot_coco_is_word(image->id)) {
        const char *word = spot_coco_id_text(NULL, image->id, v->k->owned);
        add_name(v->name, &v->name_count, word, strlen(word), WORD_ID, i);
    }
    add_name(v->name, &v->name_count, image->file, strlen(image->file), WHOLE, i);
    add_name(v->name, &v->name_count, base, strlen(base), BASE, i);
    add_name(v->name, &v->name_count, base, stem, STEM, i);
    for (; digits < stem && digits < 18 && base[digits] >= '0' && base[digits] <= '9'; digits++)
        number = 10 * number + (base[digits] - '0');
    if (stem && digits == stem) v->stems[v->stem_count++] = (by_id){ number, i };
}

static void fill_tables(resolver *v)
{
    for (int i = 0; i < v->k->images; i++) add_image(v, i);
    for (int i = 0; i < v->k->categories; i++) {
        const spot_coco_category *category = &v->k->category[i];
        v->categories[i] = (by_id){ category->id, i };
        if (spot_coco_is_word(category->id)) {
            const char *word = spot_coco_id_text(NULL, category->id, v->k->owned);
            add_name(v->category_name, &v->category_name_count, word, strlen(word), WORD_ID, i);
        }
        add_name(v->category_name, &v->category_name_count, category->name, strlen(category->name), WHOLE, i);
    }
    qsort(v->images, (size_t)v->k->images, sizeof *v->images, compare_ids);
    qsort(v->stems, (size_t)v->stem_count, sizeof *v->stems, compare_ids);
    qsort(v->categories, (size_t)v->k->categories, sizeof *v->categories, compare_ids);
    qsort(v->name, (size_t)v->name_count, sizeof *v->name, compare_names);
    qsort(v->category_name, (size_t)v->category_name_count, sizeof *v->category_name, compare_names);
}

/* ---- pictures ---- */

/* The picture of a name with or without folders or ending; -1: none; SEVERAL. */
static int find_spelling(const resolver *v, const char *text)
{
    const char *base;
    int at = find_name(v->name, v->name_count, text);

    if (at == -1 && stem_of(&base, text) && base > text) at = find_name(v->name, v->name_count, base);
    return at;
}

/* The same with another normal form of the name, too. */
static int find_picture(resolver *v, const char *text)
{
    int at = find_spelling(v, text);

    for (int form = 0; form < SPOT_ID_FORMS && at == -1 && !spot_id_is_plain(text); form++) {
        spot_id_plain(&v->spelling, text, form);
        if (!v->spelling.status) at = find_spelling(v, v->spelling.bytes);
    }
    return at;
}

/* The picture whose stem is this number; -1: none; SEVERAL. */
static int find_stem(const resolver *v, int64_t number)
{
    const by_id wanted = { number, 0 };
    const by_id *at = bsearch(&wanted, v->stems, (size_t)v->stem_count, sizeof *v->stems, compare_ids);

    if (!at) return -1;
    if ((at > v->stems && at[-1].id == number) || (at + 1 < v->stems + v->stem_count && at[1].id == number)) return SEVERAL;
    return at->at;
}

/* The picture that image_id says: *named is set where it is a name. */
static int find_image(resolver *v, int64_t id, bool *named)
{
    char number[24];
    int at = spot_coco_is_word(id) ? -1 : find_id(v->images, v->k->images, id);

    *named = false;
    if (at >= 0 || id == SPOT_COCO_NO_ID) return at;
    at = find_picture(v, spot_coco_id_text(number, id, v->r->owned));
    *named = !spot_coco_is_word(id) || (at >= 0 && !spot_coco_is_word(v->k->image[at].id));
    return at == -1 && !spot_coco_is_word(id) ? find_stem(v, id) : at;
}

static spot_status resolve_image(resolver *v, int i, int *image)
{
    const spot_coco_result *d = &v->r->result[i];
    const int64_t file = v->r->file ? v->r->file[i] : SPOT_COCO_NO_ID;
    char number[24];
    bool named;
    int of_file = -1, of_id = find_image(v, d->image, &named), like;

    if (file != SPOT_COCO_NO_ID) of_file = find_picture(v, spot_coco_id_text(number, file, v->r->owned));
    *image = of_file >= 0 ? of_file : of_id;
    if (*image == SEVERAL || (of_file == SEVERAL && of_id < 0))
        return spot_fail(v->c, SPOT_INPUT, "{detections.two_pictures} %s, entry %d (from 0): %s has several pictures of the "
                         "name %.200s; give their ids or whole names", v->o->file, i, v->names,
                         spot_coco_id_text(number, of_file == SEVERAL ? file : d->image, v->r->owned));
    if (*image < 0)
        return spot_fail(v->c, SPOT_INPUT, "{detections.image_id} %s, entry %d (from 0): %s has no picture with the \"%s\" "
                         "%.200s, and none of that name", v->o->file, i, v->names, d->image == SPOT_COCO_NO_ID ? "file_name"
                             : "image_id",
                         spot_coco_id_text(number, d->image == SPOT_COCO_NO_ID ? file : d->image, v->r->owned));
    if (of_file >= 0 && of_id != of_file) {
        v->by_file++;
        if (of_id >= 0 && !v->against_id++) v->first_against = i;
    } else if (of_file < 0) {
        v->by_other += named;
        like = named || spot_coco_is_word(d->image) ? -1 : find_stem(v, d->image);
        if (like >= 0 && like != of_id && !v->like_stem++) v->first_like = i;
    }
    return SPOT_OK;
}

static void report_images(const resolver *v)
{
    const char *file = v->o->file;

    if (v->by_file) spot_log(v->c, SPOT_LOG_INFO, "%s: the pictures of %d of %d detections are found by their \"file_name\"",
                             file,
                             v->by_file, v->r->n);
    if (v->by_other) spot_log(v->c, SPOT_LOG_INFO, "%s: the pictures of %d of %d detections are found by their names: "
                              "\"image_id\" is no id of %s", file, v->by_other, v->r->n, v->names);
    if (v->against_id) spot_log(v->c, SPOT_LOG_WARN, "%s: the \"image_id\" of %d detections is the id of another picture than "
                                "their \"file_name\", which counts; the first is entry %d", file, v->against_id,
                                    v->first_against);
    if (v->like_stem) spot_log(v->c, SPOT_LOG_WARN, "%s: the \"image_id\" of %d detections is the id of one picture and the "
                               "name of another; it is taken as the id; the first is entry %d", file, v->like_stem,
                                   v->first_like);
}

/* ---- categories ---- */

static int find_category(const resolver *v, int64_t id, int shift)
{
    if (!spot_coco_is_word(id)) return find_id(v->categories, v->k->categories, id + shift);
    const int at = find_name(v->category_name, v->category_name_count, spot_coco_id_text(NULL, id, v->r->owned));
    return at >= 0 ? at : -1;
}

/* The object on which the detection lies best, of any category; -1: none. */
static int object_under(const resolver *v, const spot_coco_result *d, int image)
{
    const float at[4] = { d->x, d->y, d->w, d->h };
    double most = v->o->iou;
    int best = -1;

    for (int b = v->k->first[image]; b < v->k->first[image + 1]; b++) {
        const double is = v->k->box[b].crowd ? 0 : spot_box_iou(&v->k->box[b], at);
        if (is >= most) most = is, best = b;
    }
    return best;
}

/* For ids as they are, plus 1 and minus 1: detections of no category; those that lie on an object of their category. */
static const int shifts[3] = { 0, 1, -1 };
typedef struct { int strange[3], agree[3]; } evidence;

static spot_status look_at_shifts(const resolver *v, const int *image, evidence *e)
{
    *e = (evidence){ { 0 }, { 0 } };
    for (int i = 0; i < v->r->n; i++) {
        const spot_coco_result *d = &v->r->result[i];
        if (i % 4096 == 0) SPOT_TRY(spot_check_stop(v->c));
        const int under = d->score >= (float)v->o->score ? object_under(v, d, image[i]) : -1;
        for (int s = 0; s < 3; s++) {
            const int category = find_category(v, d->category, shifts[s]);
            e->strange[s] += category < 0;
            e->agree[s] += under >= 0 && category == v->k->box[under].category;
        }
    }
    return SPOT_OK;
}

/* *shift: what is added to the ids. */
static spot_status choose_shift(const resolver *v, const int *image, int *shift)
{
    evidence e;

    *shift = 0;
    SPOT_TRY(look_at_shifts(v, image, &e));
    const int best = e.agree[2] > e.agree[1] ? 2 : 1;
    if (e.strange[0] && !e.strange[best] && e.agree[best] > e.agree[0]) {
        *shift = shifts[best];
        spot_log(v->c, SPOT_LOG_WARN, "%s: 1 is %s each category id: so all are ids of %s, and %d detections lie on an object "
                 "of their category; as they stand, %d are of no category and %d lie so", v->o->file,
                 *shift > 0 ? "added to" : "taken from", v->names, e.agree[best], e.strange[0], e.agree[0]);
    } else if (e.agree[best] >= SUSPECT && e.agree[best] > 2 * e.agree[0]) {
        spot_log(v->c, SPOT_LOG_WARN, "%s: %d detections lie on an object of their category, and %d if 1 is %s each category "
                 "id: do both files count categories from the same number?", v->o->file, e.agree[0], e.agree[best],
                 shifts[best] > 0 ? "added to" : "taken from");
    }
    return SPOT_OK;
}

static spot_status resolve_categories(const resolver *v, const int *image, int *category)
{
    char number[24];
    int shift, strange = 0;

    SPOT_TRY(choose_shift(v, image, &shift));
    for (int i = 0; i < v->r->n; i++) {
        category[i] = find_category(v, v->r->result[i].category, shift);
        if (category[i] < 0 && !strange++)
            spot_log(v->c, SPOT_LOG_WARN, "%s, entry %d (from 0): %s has no category with the id %.200s; such detections are "
                     "left out",
                     v->o->file, i, v->names, spot_coco_id_text(number, v->r->result[i].category, v->r->owned));
    }
    if (strange > 1) spot_log(v->c, SPOT_LOG_WARN, "%s: left out are %d detections of such categories", v->o->file, strange);
    return SPOT_OK;
}

spot_status spot_detection_ids(spot_ctx *c, int *image, int *category, const spot_coco *k, const spot_coco_results *r,
                               const spot_detection_options *o, const char *names)
{
    resolver v = { .c = c, .k = k, .r = r, .o = o, .names = names };
    spot_status s = take_tables(&v);

    if (!s) fill_tables(&v);
    for (int i = 0; !s && i < r->n; i++) s = resolve_image(&v, i, &image[i]);
    if (!s) report_images(&v);
    if (!s) s = resolve_categories(&v, image, category);
    if (!s && v.spelling.status) s = spot_fail(c, SPOT_NOMEM, "no memory for the names of pictures");
    spot_text_free(&v.spelling);
    free(v.images);
    free(v.stems);
    free(v.name);
    free(v.categories);
    free(v.category_name);
    return s;
}
