/* look_batch.c - see look_batch.h. One call of the blend makes the suite's blends and the derived sets of a few targets. On a
 * device nothing but the files' squares goes there. */
#include "background/look/look_batch.h"

#include <stdlib.h>
#include <string.h>

#include "background/background_config.h"
#include "core/device.h"

/* Images of a batch, about: on the CPU whole pieces of ResNet-18's net, if there are 32 backgrounds; on a device, fewer where
 * they are larger than usual. Targets whose backgrounds a target may get. */
enum { IMAGES = 240, DEVICE_IMAGES = 1280, USUAL_SIDE = 224, DONORS = 3 };

enum { SUITE, DERIVED };               /* parts of the blender: by pyramids; by eq. 1, as Xiao et al. have it */

int spot_look_images(const spot_background_config *cfg)
{
    return 1 + cfg->suite.n + spot_background_own(cfg) + (cfg->measure.sets ? SPOT_BACKGROUND_SETS - 2 : 1);
}

int spot_look_together(const spot_ctx *c, const spot_background_config *cfg)
{
    const int size = cfg->data.size, usual = USUAL_SIDE * USUAL_SIDE;
    int images = c->device ? DEVICE_IMAGES : IMAGES;

    if (c->device && size > USUAL_SIDE) images = (int)((long long)images * usual / (size * size));
    return images / spot_look_images(cfg) > 1 ? images / spot_look_images(cfg) : 1;
}

int spot_look_pictures(const spot_ctx *c, const spot_background_config *cfg)
{
    return spot_look_together(c, cfg) * (1 + DONORS + spot_background_own(cfg));
}

/* ---- squares ---- */

static bool is_wanted(const spot_look_batch *k, int target, int image)
{
    return k->wanted_target < 0 || (k->wanted_target == target && k->wanted_image == image);
}

static bool has_set(const spot_look_batch *k, int set) { return k->l->cfg->measure.sets || set == SPOT_SET_ONLY_FG; }

/* -1: the set has no donor. */
static int donor_of(const spot_look_batch *k, int t, int set)
{
    return spot_set_donor(k->l->suite, k->l->cfg->suite.seed, t, set);
}

static bool is_mixed(int set) { return set >= SPOT_SET_MIXED_SAME && set <= SPOT_SET_MIXED_NEXT; }

/* Places in an array of donors: of set `set` for the batch's target i, and of slot `slot` of the own class behind them. */
static int place_of_set(int i, int set) { return i * DONORS + set - SPOT_SET_MIXED_SAME; }
static int place_of_own(int targets, int slot) { return targets * DONORS + slot; }

static size_t donor_at(const spot_look_batch *k, int place) { return (size_t)place * (k->blender.bytes / 3 * 4); }

static int own_donors(const spot_look_batch *k, int t)
{
    return spot_own_donors(k->l->suite, k->l->cfg->suite.seed, t, k->own, k->donors);
}

/* A donor's square with its mask, to a place for the device. */
static void lay_donor(const spot_look_batch *k, int place, int donor)
{
    const spot_square_cache *q = &k->l->in->picture;

    memcpy((uint8_t *)k->donor.here + donor_at(k, place), spot_square_rgb(q, k->l->suite->target_number[donor]),
           k->blender.bytes / 3 * 4);
}

/* Lays the squares of target t, in place i, side by side with others'. */
static void lay_target(const spot_look_batch *k, int t, int i)
{
    const spot_background_suite *s = k->l->suite;
    const spot_square_cache *q = &k->l->in->picture;
    const size_t bytes = k->blender.bytes;

    memcpy(spot_blender_here(&k->blender.target, bytes, i), spot_square_rgb(q, s->target_number[t]), bytes);
    memcpy(spot_blender_here(&k->blender.mask, bytes / 3, i), spot_square_mask(q, s->target_number[t]), bytes / 3);
    for (int set = SPOT_SET_MIXED_SAME; set <= SPOT_SET_MIXED_NEXT && k->donor.here && k->l->cfg->measure.sets; set++) {
        const int donor = donor_of(k, t, set);
        if (donor >= 0) lay_donor(k, place_of_set(i, set), donor);
    }
}

/* The numbers of targets [from, to) and of their donors. Returns how many. */
static int list_pictures(const spot_look_batch *k, int *number, int from, int to)
{
    const spot_background_suite *s = k->l->suite;
    int n = 0;

    for (int t = from; t < to; t++) {
        number[n++] = s->target_number[t];
        for (int set = SPOT_SET_MIXED_SAME; set <= SPOT_SET_MIXED_NEXT && k->l->cfg->measure.sets; set++)
            if (donor_of(k, t, set) >= 0) number[n++] = s->target_number[donor_of(k, t, set)];
        for (int j = 0, own = own_donors(k, t); j < own; j++) number[n++] = s->target_number[k->donors[j]];
    }
    return n;
}

/* Their squares. */
static spot_status need_pictures(spot_ctx *c, spot_look_batch *k, int from, int to)
{
    SPOT_TRY(spot_squares_need(c, &k->l->in->picture, k->picture, list_pictures(k, k->picture, from, to)));
#pragma omp parallel for num_threads(c->threads)
    for (int t = from; t < to; t++) lay_target(k, t, t - from);
    return SPOT_OK;
}

/* The CPU has no thread to spare. */
void spot_look_batch_ahead(spot_ctx *c, spot_look_batch *k, int from, int to)
{
    const spot_background_suite *s = k->l->suite;
    const size_t first = (size_t)from * (size_t)s->n, end = (size_t)to * (size_t)s->n;
    spot_square_cache *const cache[] = { &k->l->in->picture, &k->l->in->background };
    const int *const item[] = { k->picture, k->back };

    if (!c->device || from >= to) return;
    const int n[] = { list_pictures(k, k->picture, from, to), (int)(end - first) };
    for (size_t i = first; i < end; i++) k->back[i - first] = s->background_number[s->chosen[i]];
    spot_squares_ahead_start(c, &k->ahead, cache, item, n);
}

/* ---- what is blended ---- */

/* The squares of the suite's backgrounds, and pairs with them. */
static spot_status add_suite(spot_ctx *c, spot_look_batch *k, int from, int to, spot_blender_count *count)
{
    const spot_background_suite *s = k->l->suite;
    spot_blender_part *part = &k->blender.part[SUITE];
    int backs = 0, pairs = 0;

    for (int t = from; t < to; t++)
        for (int j = 0; j < s->n; j++) {
            const int back = s->chosen[(size_t)t * (size_t)s->n + (size_t)j];
            if (!is_wanted(k, t, 1 + j)) continue;
            if (k->slot[back] < 0) k->slot[back] = backs, k->back[backs++] = s->background_number[back];
            part->pair[pairs] = (spot_blend_pair){ t - from, k->slot[back] };
            k->seen[pairs++] = (spot_look_seen){ t, 1 + j };
        }
    for (int i = 0; i < pairs; i++) {
        const spot_look_seen *of = &k->seen[i];
        k->slot[s->chosen[(size_t)of->target * (size_t)s->n + (size_t)(of->image - 1)]] = -1;
    }
    SPOT_TRY(spot_squares_need(c, &k->l->in->background, k->back, backs));
#pragma omp parallel for num_threads(c->threads)
    for (int i = 0; i < backs; i++)
        memcpy(spot_blender_here(&part->background, k->blender.bytes, i), spot_square_rgb(&k->l->in->background, k->back[i]),
               k->blender.bytes);
    *count = (spot_blender_count){ backs, pairs };
    return SPOT_OK;
}

/* A picture of a set, from a donor's square, which has a place on a device. */
static spot_set_picture picture_of_donor(const spot_look_batch *k, int set, int place, int donor)
{
    const spot_square_cache *q = &k->l->in->picture;
    spot_set_picture p = { .set = set };

    if (k->donor.on_device) {
        p.rgb = (uint8_t *)k->donor.on_device + donor_at(k, place), p.mask = p.rgb + k->blender.bytes;
    } else {
        p.rgb = spot_square_rgb(q, k->l->suite->target_number[donor]);
        p.mask = spot_square_mask(q, k->l->suite->target_number[donor]);
    }
    return p;
}

/* A picture of a set, from the target's square or its donor's. */
static spot_set_picture picture_of(const spot_look_batch *k, int from, int t, int set, int donor)
{
    const spot_blender *b = &k->blender;

    if (donor >= 0) return picture_of_donor(k, set, place_of_set(t - from, set), donor);
    return (spot_set_picture){ .set = set, .number = k->l->suite->target_number[t],
                               .rgb = spot_blender_on_device(&b->target, b->bytes, t - from),
                               .mask = spot_blender_on_device(&b->mask, b->bytes / 3, t - from) };
}

/* Backgrounds of the targets' own classes, each made once, and pairs with them, behind those of the suite, which `count` has.
 * Returns how many backgrounds. */
static int add_own(spot_look_batch *k, int from, int to, spot_blender_count *count)
{
    spot_blender_part *part = &k->blender.part[SUITE];
    const int first = count->backgrounds;
    int slots = 0;

    for (int t = from; t < to; t++)
        for (int j = 0, own = own_donors(k, t); j < own; j++) {
            const int donor = k->donors[j], image = k->l->suite->n + 1 + SPOT_BACKGROUND_SETS + j;
            if (!is_wanted(k, t, image)) continue;
            if (k->own_slot[donor] < 0) {
                const int place = place_of_own(to - from, slots);
                if (k->donor.here) lay_donor(k, place, donor);
                k->made[slots] = picture_of_donor(k, SPOT_SET_MIXED_SAME, place, donor);
                k->made[slots].out = spot_blender_on_device(&part->background, k->blender.bytes, first + slots);
                k->own_slot[donor] = slots++;
            }
            part->pair[count->pairs] = (spot_blend_pair){ t - from, first + k->own_slot[donor] };
            k->seen[count->pairs++] = (spot_look_seen){ t, image };
        }
    for (int t = from; t < to && slots; t++)
        for (int j = 0, own = own_donors(k, t); j < own; j++) k->own_slot[k->donors[j]] = -1;
    count->backgrounds += slots;
    return slots;
}

/* Backgrounds of the derived sets, and pairs with them; the blends are seen after `seen` others. *made: pictures of sets so
 * far. */
static int add_sets(spot_look_batch *k, int from, int to, int seen, int *made)
{
    spot_blender_part *part = &k->blender.part[DERIVED];
    int n = 0;

    for (int t = from; t < to; t++)
        for (int set = SPOT_SET_ONLY_FG; set < SPOT_SET_SUITE; set++) {
            const int donor = donor_of(k, t, set), image = k->l->suite->n + 1 + set;
            if (!has_set(k, set) || !spot_set_is_blend(set) || (is_mixed(set) && donor < 0)) continue;
            if (!is_wanted(k, t, image)) continue;
            k->made[*made] = picture_of(k, from, t, set, donor);
            k->made[(*made)++].out = spot_blender_on_device(&part->background, k->blender.bytes, n);
            part->pair[n] = (spot_blend_pair){ t - from, n };
            k->seen[seen + n++] = (spot_look_seen){ t, image };
        }
    return n;
}

/* Originals and pictures that are changed in place follow the `images` blends. Returns the images. */
static int add_rest(spot_look_batch *k, int from, int to, int images, int *made)
{
    for (int t = from; t < to; t++) {
        if (is_wanted(k, t, 0)) k->seen[images++] = (spot_look_seen){ t, 0 };
        for (int set = 0; set < SPOT_SET_SUITE; set++) {
            const int image = k->l->suite->n + 1 + set;
            if (!spot_set_is_in_place(set) || !has_set(k, set) || !is_wanted(k, t, image)) continue;
            k->made[*made] = picture_of(k, from, t, set, -1);
            k->made[(*made)++].out = spot_blender_on_device(&k->blender.out, k->blender.bytes, images);
            k->seen[images++] = (spot_look_seen){ t, image };
        }
    }
    return images;
}

static spot_status push_donors(spot_ctx *c, const spot_look_batch *k, int places)
{
    const spot_twin first = { k->donor.here, k->donor.on_device, donor_at(k, places) };

    return spot_twin_push(c, &first);
}

/* Behind the blends. */
static spot_status copy_originals(spot_ctx *c, const spot_look_batch *k, int from, int blends, int images)
{
    const spot_blender *b = &k->blender;

    for (int i = blends; i < images; i++)
        if (!k->seen[i].image) SPOT_TRY(spot_device_copy(c, spot_blender_on_device(&b->out, b->bytes, i),
                                                         spot_blender_on_device(&b->target, b->bytes, k->seen[i].target - from),
                                                         b->bytes));
    return SPOT_OK;
}

spot_status spot_look_batch_make(spot_ctx *c, spot_look_batch *k, int from, int to, int *images)
{
    spot_blender_count count[SPOT_BLENDER_PARTS];

    spot_squares_ahead_join(&k->ahead);
    SPOT_TRY(need_pictures(c, k, from, to));
    SPOT_TRY(add_suite(c, k, from, to, &count[SUITE]));
    const int backs = count[SUITE].backgrounds, own = add_own(k, from, to, &count[SUITE]), pairs = count[SUITE].pairs;
    int made = own;
    const int cuts = add_sets(k, from, to, pairs, &made), blends = pairs + cuts;
    count[DERIVED] = (spot_blender_count){ cuts, cuts };
    *images = add_rest(k, from, to, blends, &made);
    SPOT_TRY(spot_blender_push(c, &k->blender, to - from, backs));
    if (k->donor.on_device && k->l->cfg->measure.sets) SPOT_TRY(push_donors(c, k, place_of_own(to - from, own)));
    SPOT_TRY(spot_sets_make(c, &k->scratch, k->made, made, k->blender.size, k->l->cfg->suite.seed));
    SPOT_TRY(spot_blender_blend(c, &k->blender, to - from, count));
    return copy_originals(c, k, from, blends, *images);
}

/* ---- memory ---- */

static spot_blender_room room_of(const spot_background_config *cfg, int together)
{
    const int made = together * SPOT_BACKGROUND_SETS, pairs = together * (cfg->suite.n + spot_background_own(cfg));

    return (spot_blender_room){ cfg->data.size, together, together * spot_look_images(cfg), 2,
                                { [SUITE] = { .levels = spot_background_levels(cfg), .backgrounds = pairs, .pairs = pairs },
                                  [DERIVED] = { .levels = 1, .backgrounds = made, .pairs = made } } };
}

static spot_status take_donors(spot_ctx *c, spot_look_batch *k, size_t bytes)
{
    SPOT_TRY(spot_arena_open_pinned(c, &k->host, bytes));
    SPOT_TRY(spot_arena_open_device(c, &k->device, bytes));
    return spot_twin_take(c, &k->host, &k->device, &k->donor, bytes);
}

spot_status spot_look_batch_open(spot_ctx *c, spot_look_batch *k, const spot_background_look *l, int together)
{
    const size_t images = (size_t)together * (size_t)spot_look_images(l->cfg), backs = (size_t)together * (size_t)l->suite->n;
    const spot_blender_room room = room_of(l->cfg, together);

    *k = (spot_look_batch){ .l = l, .together = together, .own = spot_background_own(l->cfg), .wanted_target = -1 };
    SPOT_TRY(spot_blender_open(c, &k->blender, &room));
    SPOT_TRY(spot_arena_open_device(c, &k->scratch, spot_sets_scratch((int)images, room.size, c->device ? 0 : c->threads)));
    if (c->device) SPOT_TRY(take_donors(c, k, donor_at(k, place_of_own(together, together * k->own))));
    k->seen = malloc(images * sizeof *k->seen);
    k->made = malloc(images * sizeof *k->made);
    k->picture = malloc((size_t)together * (size_t)(1 + DONORS + k->own) * sizeof *k->picture);
    k->back = malloc(backs * sizeof *k->back);
    k->slot = malloc(((size_t)l->suite->backgrounds + 1) * sizeof *k->slot);
    k->own_slot = malloc(((size_t)l->suite->targets + 1) * sizeof *k->own_slot);
    k->donors = malloc(((size_t)k->own + 1) * sizeof *k->donors);
    if (!k->seen || !k->made || !k->picture || !k->back || !k->slot || !k->own_slot || !k->donors)
        return spot_fail(c, SPOT_NOMEM, "no memory to blend %zu pictures", images);
    for (int i = 0; i < l->suite->backgrounds; i++) k->slot[i] = -1;
    for (int t = 0; t < l->suite->targets; t++) k->own_slot[t] = -1;
    return SPOT_OK;
}

void spot_look_batch_close(spot_look_batch *k)
{
    spot_squares_ahead_join(&k->ahead);
    spot_arena_close(&k->scratch);
    spot_arena_close(&k->device), spot_arena_close(&k->host);
    spot_blender_close(&k->blender);
    free(k->seen), free(k->made), free(k->picture), free(k->back), free(k->slot);
    free(k->own_slot), free(k->donors);
}

size_t spot_look_memory(const spot_ctx *c, const spot_background_config *cfg, int targets)
{
    const int most = spot_look_together(c, cfg), threads = c->device ? 0 : c->threads;
    const spot_blender_room room = room_of(cfg, most < targets ? most : targets);

    return spot_blender_memory(c, &room) + (threads ? spot_sets_scratch(room.pictures, room.size, threads) : 0);
}
