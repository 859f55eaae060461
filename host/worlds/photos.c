/* photos.c - selects the pictures of each task's splits from annotations (paper, G.1 and H.1). */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "spotter/rng.h"
#include "worlds/pictures.h"
#include "worlds/scene_settings.h"

/* 0.09595 and 0.36163 of COCO's 123,287 pictures are the paper's 11,829 and 44,584; 66,874 remain. */
const spot_setting spot_photos_settings[] = {
#define BY_SHARE .of = &spot_photos_settings[7], .values = 1u << SPOT_SPLITS_BY_SHARE
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_photos_config, field, help, __VA_ARGS__)
    S("coco",    TEXT, coco,    "annotation files in COCO's format, ':' between them", .hi = 512, .affects = SPOT_AFFECTS_PATH),
    S("images",  TEXT, images,  "folder of all pictures, or one folder per annotation file, ':' between them", .hi = 512,
      .affects = SPOT_AFFECTS_PATH),
    S("follow_links", SWITCH, follow_links, "pictures may lie outside images, behind symbolic links", SPOT_SWITCH,
      .affects = SPOT_AFFECTS_PATH),
    S("tasks",   TEXT, tasks,   "super-categories, ',' between them; a task asks whether a picture shows one of its objects",
      .hi = 256, .text = "animal, vehicle, furniture"),
    S("against", TEXT, against, "super-category that the negatives show; \"\": any but the task's own", .hi = 64),
    S("size",    INT,  size,    "pixels a side", SPOT_IN(32, 1024), SPOT_DEF(224)),
    S("fit",     NAME, fit,     "how a picture becomes square: black bars (pad), or its middle (crop)",
      SPOT_ONE_OF("pad", "crop"), SPOT_DEF(SPOT_FIT_PAD)),
    S("splits",  NAME, splits,  "how a picture comes to its split: at random, by the shares val and test; or as each picture's "
      "\"split\" in data.coco says, train, val or test, which keeps pictures that belong together in one split",
      SPOT_ONE_OF("share", "file"), SPOT_DEF(SPOT_SPLITS_BY_SHARE), .newer = SPOT_NEWER),
    S("val",     REAL, val,     "share of the pictures for validation (splits: share)", SPOT_IN(0, 1), SPOT_DEF(0.09595),
      BY_SHARE),
    S("test",    REAL, test,    "share of the pictures for the test; the rest is for training (splits: share)", SPOT_IN(0, 1),
      SPOT_DEF(0.36163), BY_SHARE),
    S("pool",    NAME, pool,
      "kinds of ECs: all mixed; each category alone; conditioned on the number of less-specific blindspots; one blindspot of "
      "either specificity", SPOT_ONE_OF("general", "singles", "number", "specificity"), SPOT_DEF(SPOT_POOL_GENERAL)),
    S("blindspots", RANGE, blindspots, "number of blindspots in an EC", SPOT_IN(1, SPOT_MAX_BLINDSPOTS), SPOT_DEF(1, 3)),
    S("each",    INT,  each,    "most ECs of one kind in a conditioned pool", SPOT_IN(1, 1e6), SPOT_DEF(20)),
    S("induced", TEXT, induced, "categories of conditioned pools, ',' between them: those that singles induced; \"\": all",
      .hi = 1024),
    S("induced_from", TEXT, induced_from,
      "run directory of a sweep of pool: singles, whose learned categories are taken; ecs is then at most those of the pool",
      .hi = 512, .newer = SPOT_NEWER),
    S("pair_least", INT, pair_least,
      "fewest training pictures with, and without, a second category that may define a blindspot", SPOT_IN(1, 1e9),
      SPOT_DEF(100)),
    S("category_least", INT, category_least, "fewest pictures of a category that may be a blindspot", SPOT_IN(1, 1e9),
      SPOT_DEF(1)),
    S("flip",    REAL, flip,    "chance that a blindspot's label is flipped in training", SPOT_IN(0, 1), SPOT_DEF(1)),
    S("flip_val", SWITCH, flip_val, "whether labels are flipped in val, too, by which the best epoch is chosen", SPOT_SWITCH,
      SPOT_DEF(1)),
#undef BY_SHARE
#undef S
    SPOT_END
};

spot_photos_config spot_photos_defaults(void)
{
    spot_photos_config cfg = { 0 };

    spot_settings_defaults(spot_photos_settings, &cfg);
    return cfg;
}

int spot_cut(char *text, char at, char **part, int most)
{
    int n = 0;

    for (char *next; text; text = next) {
        size_t len;
        next = strchr(text, at);
        if (next) *next++ = 0;
        while (*text == ' ') text++;
        for (len = strlen(text); len && text[len - 1] == ' '; len--) text[len - 1] = 0;
        if (!len) continue;
        if (n == most) return -1;
        part[n++] = text;
    }
    return n;
}

/* spot_cut of a copy of the text. */
static spot_status cut_copy(spot_ctx *c, spot_photos *p, int *n, const char *text, char at, char **part, int most)
{
    char *copy = spot_memory_take(&p->lists, strlen(text) + 1);

    if (!copy) return spot_fail(c, SPOT_NOMEM, "no memory for the lists of data");
    *n = spot_cut(strcpy(copy, text), at, part, most);
    return SPOT_OK;
}

/* ---- the files ---- */

static spot_status same_categories(spot_ctx *c, const spot_photos *p, int f, char *const name[])
{
    const spot_coco *a = &p->coco[0], *b = &p->coco[f];
    int k = 0;

    while (k < a->categories && k < b->categories && !strcmp(a->category[k].name, b->category[k].name)
           && !strcmp(a->category[k].super, b->category[k].super)) k++;
    if (k == a->categories && k == b->categories) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{photos.categories} %s and %s differ in category number %d; files that go together have "
                     "the same list", name[0], name[f], k + 1);
}

static spot_status read_files(spot_ctx *c, spot_photos *p)
{
    char *name[SPOT_MAX_ANNOTATIONS], *folder[SPOT_MAX_ANNOTATIONS];
    int folders = 0;

    SPOT_TRY(cut_copy(c, p, &folders, p->cfg.images, ':', folder, SPOT_MAX_ANNOTATIONS));
    SPOT_TRY(cut_copy(c, p, &p->files, p->cfg.coco, ':', name, SPOT_MAX_ANNOTATIONS));
    if (p->files < 1) return spot_fail(c, SPOT_USAGE, "data.coco names no file or more than %d", SPOT_MAX_ANNOTATIONS);
    if (folders != 1 && folders != p->files)
        return spot_fail(c, SPOT_USAGE, "{data.folders} data.images names %d folders for %d files of data.coco; name one, or "
                         "one for each", folders, p->files);
    for (int f = 0; f < p->files; f++) {
        SPOT_TRY(spot_coco_open(c, &p->coco[f], name[f]));
        SPOT_TRY(same_categories(c, p, f, name));
        if (p->coco[f].images > INT32_MAX - p->first[f])
            return spot_fail(c, SPOT_INPUT, "data.coco: more than %d pictures", INT32_MAX);
        p->folder[f] = folder[folders == 1 ? 0 : f];
        p->first[f + 1] = p->first[f] + p->coco[f].images;
    }
    p->pictures = p->first[p->files];
    p->categories = p->coco[0].categories;
    p->words = (p->categories + 63) / 64;
    return SPOT_OK;
}

/* ---- memory ---- */

static spot_status lay_out(spot_ctx *c, spot_photos *p, spot_arena *a)
{
    SPOT_TRY(SPOT_TAKE(c, a, p->shows, (size_t)p->pictures * p->words));
    SPOT_TRY(SPOT_TAKE(c, a, p->use, p->pictures));
    SPOT_TRY(SPOT_TAKE(c, a, p->row, p->pictures));
    SPOT_TRY(SPOT_TAKE(c, a, p->induced, p->categories));
    for (int t = 0; t < p->tasks; t++) {
        spot_task *task = &p->task[t];
        SPOT_TRY(SPOT_TAKE(c, a, task->category, task->categories));
        SPOT_TRY(SPOT_TAKE(c, a, task->mask, p->words));
        SPOT_TRY(SPOT_TAKE(c, a, task->count, task->categories));
        SPOT_TRY(SPOT_TAKE(c, a, task->train, task->categories));
        SPOT_TRY(SPOT_TAKE(c, a, task->both, (size_t)task->categories * p->categories));
        SPOT_TRY(SPOT_TAKE(c, a, task->picture[0], p->pictures));      /* memory of all splits */
    }
    return SPOT_OK;
}

/* Scratch memory: each picture's split and its kind for the present task. */
enum { DROPPED, NEGATIVE, POSITIVE };
typedef struct { uint8_t *split, *kind; uint32_t *order; } listing;

static spot_status take_listing(spot_ctx *c, const spot_photos *p, spot_arena *a, listing *l)
{
    SPOT_TRY(SPOT_TAKE(c, a, l->split, p->pictures));
    SPOT_TRY(SPOT_TAKE(c, a, l->kind, p->pictures));
    return SPOT_TAKE(c, a, l->order, p->pictures);
}

static spot_status take_memory(spot_ctx *c, spot_photos *p, listing *l)
{
    spot_arena need = spot_arena_counting();

    SPOT_TRY(lay_out(c, p, &need));
    SPOT_TRY(take_listing(c, p, &need, l));
    SPOT_TRY(spot_arena_open(c, &p->arena, need.peak));
    SPOT_TRY(lay_out(c, p, &p->arena));
    return take_listing(c, p, &p->arena, l);
}

/* ---- tasks ---- */

static spot_status fail_super(spot_ctx *c, const spot_photos *p, const char *setting, const char *name)
{
    const char *all[256], *near;
    int n = 0;

    for (int k = 0; k < p->categories && n < 255; k++) {
        int i = 0;
        while (i < n && strcmp(all[i], p->coco[0].category[k].super)) i++;
        if (i == n) all[n++] = p->coco[0].category[k].super;
    }
    all[n] = NULL;
    near = spot_nearest(name, all);
    return spot_fail(c, SPOT_USAGE, "{data.no_category} data.%s: no category has the super-category \"%s\"%s%s%s", setting,
                     name,
                     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static int count_members(const spot_photos *p, const char *super)
{
    int n = 0;

    for (int k = 0; k < p->categories; k++) n += !strcmp(p->coco[0].category[k].super, super);
    return n;
}

static spot_status name_tasks(spot_ctx *c, spot_photos *p)
{
    char *name[SPOT_MAX_TASKS];

    SPOT_TRY(cut_copy(c, p, &p->tasks, p->cfg.tasks, ',', name, SPOT_MAX_TASKS));
    if (p->tasks < 1) return spot_fail(c, SPOT_USAGE, "{data.tasks} data.tasks names no super-category or more than %d",
                                       SPOT_MAX_TASKS);
    for (int t = 0; t < p->tasks; t++) {
        p->task[t].name = name[t];
        p->task[t].categories = count_members(p, name[t]);
        if (!p->task[t].categories) return fail_super(c, p, "tasks", name[t]);
        for (int u = 0; u < t; u++)
            if (!strcmp(name[t], name[u])) return spot_fail(c, SPOT_USAGE, "{data.task_twice} data.tasks names %s twice",
                                                            name[t]);
        if (!strcmp(name[t], p->cfg.against))
            return spot_fail(c, SPOT_USAGE, "{data.against} data.against and data.tasks both name %s", name[t]);
    }
    if (p->cfg.against[0] && !count_members(p, p->cfg.against)) return fail_super(c, p, "against", p->cfg.against);
    return SPOT_OK;
}

static void fill_sets(spot_photos *p)
{
    memset(p->shows, 0, (size_t)p->pictures * (size_t)p->words * sizeof *p->shows);
    for (int f = 0; f < p->files; f++)
        for (int b = 0; b < p->coco[f].boxes; b++) {
            const spot_coco_box *box = &p->coco[f].box[b];
            size_t picture = (size_t)(p->first[f] + box->image);
            p->shows[picture * (size_t)p->words + (size_t)box->category / 64] |= (uint64_t)1 << box->category % 64;
        }
    for (int t = 0; t < p->tasks; t++) {
        spot_task *task = &p->task[t];
        int n = 0;
        memset(task->mask, 0, (size_t)p->words * sizeof *task->mask);
        for (int k = 0; k < p->categories; k++) {
            if (strcmp(p->coco[0].category[k].super, task->name)) continue;
            task->category[n++] = k;
            task->mask[k / 64] |= (uint64_t)1 << k % 64;
        }
    }
}

/* Drops pictures with two categories of the task or of `against`; with `against`, also pictures with none. */
static uint8_t kind_of(const spot_photos *p, const spot_task *task, uint32_t picture)
{
    const char *against = p->cfg.against;
    int of = 0, other = 0;

    for (int k = 0; k < task->categories; k++) of += spot_shows(p, picture, task->category[k]);
    for (int k = 0; *against && k < p->categories; k++)
        other += spot_shows(p, picture, k) && !strcmp(p->coco[0].category[k].super, against);
    if (of + other > 1 || (*against && !of && !other)) return DROPPED;
    return of ? POSITIVE : NEGATIVE;
}

/* Drops pictures of a class with n in split k until `least` are left, with equal chances: each picture stays with the chance
 * (still needed) / (still to come). */
static void thin_out(const spot_photos *p, const listing *l, int t, int k, uint8_t kind, int n, int least)
{
    spot_rng r = spot_rng_at(p->seed, SPOT_RNG_BALANCE, (uint32_t)t, (uint32_t)k);

    for (int i = 0; i < p->pictures; i++) {
        if (l->split[i] != k || l->kind[i] != kind) continue;
        if (spot_rng_below(&r, (uint32_t)n--) < (uint32_t)least) least--;
        else l->kind[i] = DROPPED;
    }
}

static spot_status list_split(spot_ctx *c, spot_photos *p, const listing *l, int t, int k)
{
    spot_task *task = &p->task[t];
    int n[3] = { 0 }, least, at = 0;

    for (int i = 0; i < p->pictures; i++) n[l->kind[i]] += l->split[i] == k;
    least = n[NEGATIVE] < n[POSITIVE] ? n[NEGATIVE] : n[POSITIVE];
    if (!least)
        return spot_fail(c, SPOT_INPUT, "{data.one_class} task %s: %d pictures of the %s split show one and %d show none; both "
                         "are needed", task->name, n[POSITIVE], spot_split_name((spot_split)k), n[NEGATIVE]);
    for (uint8_t kind = NEGATIVE; kind <= POSITIVE; kind++)
        if (n[kind] > least) thin_out(p, l, t, k, kind, n[kind], least);
    task->picture[k] = k ? task->picture[k - 1] + task->images[k - 1] : task->picture[0];
    for (int i = 0; i < p->pictures; i++)
        if (l->split[i] == k && l->kind[i]) task->picture[k][at++] = (uint32_t)i;
    task->images[k] = at;
    return SPOT_OK;
}

static void count_categories(const spot_photos *p, spot_task *task)
{
    memset(task->count, 0, (size_t)task->categories * sizeof *task->count);
    memset(task->train, 0, (size_t)task->categories * sizeof *task->train);
    memset(task->both, 0, (size_t)task->categories * p->categories * sizeof *task->both);
    for (int k = 0; k < SPOT_SPLITS; k++)
        for (int i = 0; i < task->images[k]; i++)
            for (int a = 0; a < task->categories; a++) {
                uint32_t picture = task->picture[k][i];
                if (!spot_shows(p, picture, task->category[a])) continue;
                task->count[a]++;
                if (k != SPOT_TRAIN) continue;
                task->train[a]++;
                for (int b = 0; b < p->categories; b++) task->both[a * p->categories + b] += spot_shows(p, picture, b);
            }
}

static spot_status list_tasks(spot_ctx *c, spot_photos *p, const listing *l)
{
    SPOT_TRY(spot_photos_split(c, p, l->split, l->order));
    for (int t = 0; t < p->tasks; t++) {
        for (int i = 0; i < p->pictures; i++) l->kind[i] = kind_of(p, &p->task[t], (uint32_t)i);
        for (int k = 0; k < SPOT_SPLITS; k++) SPOT_TRY(list_split(c, p, l, t, k));
        count_categories(p, &p->task[t]);
    }
    return SPOT_OK;
}

/* Marks the categories of conditioned pools. */
static spot_status mark_induced(spot_ctx *c, spot_photos *p)
{
    char *name[256];
    int n = 0;

    SPOT_TRY(cut_copy(c, p, &n, p->cfg.induced, ',', name, 256));
    if (n < 0) return spot_fail(c, SPOT_USAGE, "data.induced names more than 256 categories");
    memset(p->induced, !n, (size_t)p->categories);
    for (int i = 0; i < n; i++) {
        bool known = false;
        for (int t = 0; t < p->tasks && !known; t++)
            for (int a = 0; a < p->task[t].categories && !known; a++) {
                int k = p->task[t].category[a];
                known = !strcmp(spot_category(p, k), name[i]);
                p->induced[k] |= known;
            }
        if (!known) return spot_fail(c, SPOT_USAGE, "{induced.category} data.induced: \"%s\" is no category of a task",
                                     name[i]);
    }
    return SPOT_OK;
}

/* ---- all of it ---- */

static spot_status check_config(spot_ctx *c, const spot_photos_config *cfg)
{
    SPOT_TRY(spot_settings_check(c, SPOT_USAGE, spot_photos_settings, cfg, "data"));
    if (cfg->induced_from[0])
        return spot_fail(c, SPOT_USAGE,
                         "{induced.not_read} data.induced_from names a run that was not read (spot_sweep_induced)");
    if (cfg->splits == SPOT_SPLITS_BY_SHARE && !(cfg->val > 0 && cfg->test > 0 && cfg->val + cfg->test < 1))
        return spot_fail(c, SPOT_USAGE, "{data.shares} data.val %g and data.test %g are shares of all pictures that leave some "
                         "for training", cfg->val, cfg->test);
    return SPOT_OK;
}

static spot_status open_all(spot_ctx *c, spot_photos *p)
{
    listing l;

    SPOT_TRY(check_config(c, &p->cfg));
    SPOT_TRY(read_files(c, p));
    SPOT_TRY(name_tasks(c, p));
    SPOT_TRY(take_memory(c, p, &l));
    fill_sets(p);
    SPOT_TRY(list_tasks(c, p, &l));
    SPOT_TRY(mark_induced(c, p));
    return spot_photos_use(c, p);
}

spot_status spot_photos_open(spot_ctx *c, spot_photos **photos, const spot_photos_config *cfg, uint64_t seed)
{
    spot_photos *p = *photos = calloc(1, sizeof *p);

    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory to read data.coco");
    p->cfg = *cfg;
    p->seed = seed;
    p->fd = -1;
    return open_all(c, p);
}

void spot_photos_close(spot_photos *p)
{
    if (!p) return;
    for (int f = 0; f < SPOT_MAX_ANNOTATIONS; f++) spot_coco_close(&p->coco[f]);
    if (p->fd >= 0) close(p->fd);
    free(p->checksum);
    spot_arena_close(&p->resident.arena);
    spot_arena_close(&p->arena);
    spot_memory_close(&p->lists);
    free(p);
}

spot_scene_config spot_photos_scene(const spot_photos *p)
{
    spot_scene_config scene = { .size = p->cfg.size, .flip = p->cfg.flip };

    for (int t = 0; t < p->tasks; t++)
        for (int k = 0; k < SPOT_SPLITS; k++)
            if (p->task[t].images[k] > scene.per_bucket[k]) scene.per_bucket[k] = p->task[t].images[k];
    return scene;
}
