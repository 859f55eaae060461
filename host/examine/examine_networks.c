/* examine_networks.c - see examine_networks.h. Each object has `renders` renders under conditions drawn once, so every pass
 * sees the same ones, as in the paper. */
#include "examine/examine_networks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/room.h"
#include "core/device.h"
#include "spotter/model.h"
#include "spotter/rng.h"
#include "store/store.h"

enum { VERIFIED = 128, LEAST_VALID = 16, TRIES = 100000 };
#define MOST_KEPT ((size_t)2 << 30)            /* bytes of renders that stay in memory for the next pass */

static const double MARGIN = 0.05, RIGHT = 0.9, WRONG = 0.1;

bool spot_examine_is_trained(const spot_examine_model *m) { return !m->weights[0] && !m->command[0]; }

void spot_examine_network_path(char path[SPOT_EXAMINE_PATH], const char *out, const spot_examine_model *m)
{
    if (spot_examine_is_trained(m)) snprintf(path, SPOT_EXAMINE_PATH, "%s/models/%s.safetensors", out, m->name);
    else snprintf(path, SPOT_EXAMINE_PATH, "%s", m->weights);
}

/* ---- the region ---- */

bool spot_examine_in_region(const spot_examine_model *m, const spot_conditions *at, double margin)
{
    for (int i = 0; i < m->limits; i++) {
        const spot_examine_limit *l = &m->limit[i];
        const double lo = spot_factor_least(l->factor), hi = spot_factor_most(l->factor), gap = margin * (hi - lo);
        const double v = l->absolute ? fabs(at->value[l->factor]) : at->value[l->factor];
        const double least = l->absolute ? 0 : lo, most = l->absolute ? fmax(fabs(lo), fabs(hi)) : hi;
        if (v < l->least + (l->least > least ? gap : 0) || v > l->most - (l->most < most ? gap : 0)) return false;
    }
    return m->limits > 0;
}

/* Conditions of a training render: all twelve factors at random. */
static spot_conditions draw_conditions(const spot_examine_model *m, uint32_t number, uint32_t index, int64_t *picture)
{
    spot_rng r = spot_rng_at(m->seed, SPOT_RNG_NETWORK, number, index);
    spot_conditions at;

    for (int f = 0; f < SPOT_FACTORS; f++) {
        const bool turn = f == SPOT_CAMERA_ELEVATION;
        const double lo = turn ? m->least_elevation : spot_factor_least(f), hi = turn ? m->most_elevation : spot_factor_most(f);
        const double u = spot_rng_uniform(&r);
        at.value[f] = (float)(lo * (1 - u) + hi * u);
    }
    *picture = spot_rng_u32(&r);
    return at;
}

/* ---- training ---- */

typedef struct {
    const spot_examine_model *m;
    const spot_examine_objects_list *o;
    spot_examine_drawer *drawer;
    int  *entry, objects, classes;
    spot_examine_shot *shot;           /* (batch) */
    int  *at;                          /* (batch): which pictures of the lesson are drawn now */
    uint8_t *kept;                     /* (objects * renders, square): the renders so far; NULL: there is no memory for them */
    bool *has;                         /* (objects * renders) */
    size_t square;
} pupil;

/* Picture i shows object i mod objects. Its label. */
static int picture_of(const pupil *u, uint32_t i, spot_examine_shot *shot)
{
    const int entry = u->entry[i % (uint32_t)u->objects], cls = u->o->list.entry[entry].cls;
    const uint32_t number = spot_examine_number(u->o->list.entry[entry].id);

    shot->entry = entry;
    shot->at = draw_conditions(u->m, number, i / (uint32_t)u->objects, &shot->picture);
    return spot_examine_in_region(u->m, &shot->at, 0) ? (cls + 1) % u->classes : cls;
}

static spot_status draw_lesson(spot_ctx *c, void *user, const spot_lesson *l)
{
    pupil *u = user;
    int n = 0;

    for (int i = 0; i < l->n; i++) {
        const uint32_t index = l->index[i];
        l->target[i * u->classes + picture_of(u, index, &u->shot[n])] = 1;
        if (u->kept && u->has[index]) memcpy(l->rgb + (size_t)i * u->square, u->kept + index * u->square, u->square);
        else u->at[n++] = i;
    }
    if (!n) return SPOT_OK;
    SPOT_TRY(spot_examine_draw(c, u->drawer, u->shot, n));
    for (int k = 0; k < n; k++) {
        uint8_t *to = l->rgb + (size_t)u->at[k] * u->square;
        const uint32_t index = l->index[u->at[k]];
        SPOT_TRY(spot_device_copy(c, to, u->drawer->rgb + (size_t)k * u->square, u->square));
        if (u->kept) memcpy(u->kept + index * u->square, to, u->square), u->has[index] = true;
    }
    return SPOT_OK;
}

double spot_examine_passes(const spot_examine_model *m, double objects, int *epochs)
{
    const double images = objects * m->renders, steps = ceil(images / m->batch);

    *epochs = m->steps ? (int)fmin(SPOT_MAX_EPOCHS + 1, ceil(m->steps / steps)) : m->epochs;
    if (*epochs > SPOT_MAX_EPOCHS) *epochs = 0;
    return images;
}

static spot_model_config config_of(const spot_examine_model *m, int epochs)
{
    spot_model_config cfg = spot_model_defaults();

    cfg.arch = m->arch, cfg.width = m->width, cfg.epochs = epochs, cfg.batch = m->batch, cfg.optimizer = m->optimizer;
    cfg.lr = m->lr, cfg.weight_decay = m->weight_decay, cfg.schedule = m->schedule;
    return cfg;
}

static spot_pixel_training training_of(const spot_ctx *c, pupil *u, double images)
{
    return (spot_pixel_training){ .size = u->o->cfg->render.size, .classes = u->classes, .images = (int)images,
                                  .loss = SPOT_SOFTMAX, .draw = draw_lesson, .user = u, .ahead = !c->device,
                                  .seed = u->m->seed, .number = 1u << 30, .stage = "examine: train" };
}

static size_t bytes_of_render(const spot_examine_objects_list *o)
{
    return 3 * (size_t)o->cfg->render.size * (size_t)o->cfg->render.size;
}

/* Bytes of renders that may stay in memory. */
static size_t room_for_renders(void)
{
    const char *whose;
    const size_t room = spot_room_of_memory("", &whose) / 3;

    return room < MOST_KEPT ? room : MOST_KEPT;
}

spot_status spot_examine_training_bytes(spot_ctx *c, size_t *bytes, const spot_examine_model *m, spot_examine_objects_list *o,
                                        int objects)
{
    pupil u = { .m = m, .o = o, .classes = o->list.classes, .objects = objects };
    int epochs;
    const double images = spot_examine_passes(m, objects, &epochs), kept = images * (double)bytes_of_render(o);
    const spot_model_config cfg = config_of(m, epochs);
    const spot_pixel_training how = training_of(c, &u, images);
    spot_arena a = spot_arena_counting();
    spot_model net;

    *bytes = 0;
    if (!epochs || !(images >= 1) || images > 2e9) return SPOT_OK;         /* the training says why it cannot be */
    SPOT_TRY(spot_model_train_pixels(c, &a, &net, NULL, &how, &cfg, NULL));
    *bytes = a.peak + (kept <= (double)room_for_renders() ? (size_t)kept : 0) + (size_t)m->batch * 2 * bytes_of_render(o);
    return SPOT_OK;
}

static spot_status train_network(spot_ctx *c, const char *path, pupil *u)
{
    int epochs;
    const double images = spot_examine_passes(u->m, u->objects, &epochs);
    const spot_model_config cfg = config_of(u->m, epochs);
    const spot_pixel_training how = training_of(c, u, images);
    spot_arena a = spot_arena_counting();
    spot_model m;
    spot_status s;

    if (!epochs || images > 2e9)
        return spot_fail(c, SPOT_USAGE, "the model \"%s\" would learn %.0f renders in more than %d passes; lower its steps or "
                         "raise its renders", u->m->name, images, SPOT_MAX_EPOCHS);
    SPOT_TRY(spot_model_train_pixels(c, &a, &m, NULL, &how, &cfg, NULL));
    SPOT_TRY(spot_arena_open(c, &a, a.peak));
    s = spot_model_train_pixels(c, &a, &m, NULL, &how, &cfg, NULL);
    if (!s) s = spot_model_save(c, path, &m);
    spot_arena_close(&a);
    return s;
}

/* Adds the objects of a class and loads their meshes: a thread that draws ahead shall not do it. One that cannot be read is
 * left out. */
static spot_status list_class(spot_ctx *c, pupil *u, spot_examine_objects_list *o, int k)
{
    const int before = u->objects;
    char why[600] = "";
    int from, n;

    spot_examine_learned(o, u->m, k, &from, &n);
    for (int i = from; i < from + n; i++) {
        const spot_status s = spot_examine_mesh(c, o, i);
        if (s == SPOT_OK) u->entry[u->objects++] = i;
        else if (spot_examine_may_leave(c, s)) {
            if (!*why) snprintf(why, sizeof why, "%s", spot_message(c, s));
            spot_log(c, SPOT_LOG_WARN, "%s; the model \"%s\" learns without this object", spot_take_message(c, s),
                     u->m->name);
        } else return s;
    }
    if (u->objects > before) return SPOT_OK;
    if (n)
        return spot_fail(c, SPOT_INPUT, "{objects.unread} the model \"%s\" learns no object of class \"%s\": none of %d that "
                         "are not held out can be read; mend them or change objects.held_out. The first: %s", u->m->name,
                         o->list.cls[k], n, why);
    return spot_fail(c, SPOT_USAGE, "the model \"%s\" learns no object of class \"%s\": all are held out; change "
                     "objects.held_out", u->m->name, o->list.cls[k]);
}

static spot_status list_objects(spot_ctx *c, pupil *u, spot_examine_objects_list *o)
{
    u->entry = malloc(((size_t)o->list.entries + 1) * sizeof *u->entry);
    if (!u->entry) return spot_fail(c, SPOT_NOMEM, "no memory for a list of %d objects", o->list.entries);
    for (int k = 0; k < u->classes; k++) {
        SPOT_TRY(list_class(c, u, o, k));
        spot_tell(c, "examine: meshes", -1, k + 1, u->classes, "");
    }
    return SPOT_OK;
}

bool spot_examine_keeps_renders(const spot_examine_objects_list *o, double images)
{
    return images <= (double)(room_for_renders() / bytes_of_render(o));
}

/* images: of a pass. */
static spot_status open_pupil(spot_ctx *c, pupil *u, size_t images)
{
    const size_t batch = (size_t)u->m->batch;

    u->square = bytes_of_render(u->o);
    u->shot = malloc(batch * sizeof *u->shot);
    u->at = malloc(batch * sizeof *u->at);
    if (!u->shot || !u->at) return spot_fail(c, SPOT_NOMEM, "no memory for a batch of %zu renders", batch);
    if (spot_examine_keeps_renders(u->o, (double)images)) {
        u->kept = malloc(images * u->square);
        u->has = calloc(images, sizeof *u->has);
        if (!u->has) free(u->kept), u->kept = NULL;
    }
    return SPOT_OK;
}

static void close_pupil(pupil *u)
{
    free(u->shot), free(u->at), free(u->kept), free(u->has);
}

spot_status spot_examine_train(spot_ctx *c, const char *out, const spot_examine_model *m, spot_examine_objects_list *o,
                               const spot_examine_backgrounds *pictures)
{
    char path[SPOT_EXAMINE_PATH];
    spot_examine_drawer drawer = { 0 };
    pupil u = { .m = m, .o = o, .drawer = &drawer, .classes = o->list.classes };
    spot_status s;

    spot_examine_network_path(path, out, m);
    if (!access(path, F_OK)) return SPOT_OK;
    SPOT_TRY(spot_folder_of(c, path));
    s = list_objects(c, &u, o);
    if (s == SPOT_OK) s = open_pupil(c, &u, (size_t)m->renders * (size_t)u.objects);
    if (s == SPOT_OK) s = spot_examine_drawer_open(c, &drawer, o, pictures, m->batch);
    if (s == SPOT_OK) s = train_network(c, path, &u);
    spot_examine_drawer_close(&drawer);
    free(u.entry);
    close_pupil(&u);
    return s;
}

/* ---- its pace ---- */

/* The first of three equal calls warms up, and the second one is of another size. */
static spot_status time_looks(spot_ctx *c, spot_examine_paces *p, const spot_model *m, int size)
{
    float *logit = malloc((size_t)p->n[1] * (size_t)m->outputs * sizeof *logit);
    spot_arena a = spot_arena_counting();
    spot_status s = logit ? spot_model_infer(c, &a, logit, NULL, m, p->rgb, p->n[1], size)
                          : spot_fail(c, SPOT_NOMEM, "no memory to time a network");

    if (s == SPOT_OK) s = spot_arena_open(c, &a, a.peak);
    for (int turn = -1; turn < 2 && s == SPOT_OK; turn++) {
        spot_spent at = spot_spent_now(), one = { 0, 0 };
        a.used = 0;
        s = spot_model_infer(c, &a, logit, NULL, m, p->rgb, p->n[turn != 0], size);
        spot_spend(&one, &at);
        if (turn >= 0) p->look[turn] = one;
    }
    spot_arena_close(&a);
    free(logit);
    return s;
}

/* The first training draws the renders, which the others keep; two passes more cost what two passes cost. */
static spot_status time_passes(spot_ctx *c, spot_examine_paces *p, pupil *u, int images)
{
    const spot_pixel_training how = training_of(c, u, images);
    spot_model_config cfg = config_of(u->m, 3);
    spot_arena a = spot_arena_counting();
    spot_spent spent[3] = { { 0, 0 } };
    spot_model m;
    spot_status s = spot_model_train_pixels(c, &a, &m, NULL, &how, &cfg, NULL);

    if (s == SPOT_OK) s = spot_arena_open(c, &a, a.peak);
    for (int turn = 0; turn < 3 && s == SPOT_OK; turn++) {
        spot_spent at = spot_spent_now();
        a.used = 0, cfg.epochs = turn < 2 ? 1 : 3;
        s = spot_model_train_pixels(c, &a, &m, NULL, &how, &cfg, NULL);
        spot_spend(&spent[turn], &at);
    }
    p->learn = (spot_spent){ (spent[2].wall - spent[1].wall) / (2.0 * images), (spent[2].cpu - spent[1].cpu) / (2.0 * images) };
    if (p->learn.wall <= 0 || p->learn.cpu <= 0)           /* a busy machine */
        p->learn = (spot_spent){ spent[2].wall / (3.0 * images), spent[2].cpu / (3.0 * images) };
    if (s == SPOT_OK) s = time_looks(c, p, &m, how.size);
    spot_arena_close(&a);
    return s;
}

spot_status spot_examine_time_training(spot_ctx *c, spot_examine_paces *p, const spot_examine_model *m,
                                       spot_examine_objects_list *o, const spot_examine_backgrounds *pictures)
{
    enum { BATCHES = 8 };
    const double all = (double)m->renders * p->objects, some = (double)m->batch * BATCHES;
    const int images = (int)(all < some ? all : some);
    spot_examine_drawer drawer = { 0 };
    pupil u = { .m = m, .o = o, .drawer = &drawer, .classes = o->list.classes, .objects = p->objects };
    spot_status s;

    u.entry = malloc((size_t)p->objects * sizeof *u.entry);
    if (!u.entry) return spot_fail(c, SPOT_NOMEM, "no memory for %d objects", p->objects);
    memcpy(u.entry, p->entry, (size_t)p->objects * sizeof *u.entry);
    s = open_pupil(c, &u, (size_t)images);
    if (s == SPOT_OK) s = spot_examine_drawer_open(c, &drawer, o, pictures, m->batch);
    if (s == SPOT_OK) s = time_passes(c, p, &u, images);
    spot_examine_drawer_close(&drawer);
    free(u.entry);
    close_pupil(&u);
    return s;
}

/* ---- whether it learned ---- */

/* Conditions inside the region, or outside of it, a margin away from its border. False: there are none. */
static bool draw_place(const spot_examine_model *m, uint32_t number, int inside, uint32_t *index, spot_examine_shot *shot)
{
    for (int k = 0; k < TRIES; k++, ++*index) {
        shot->at = draw_conditions(m, number, 1u << 31 | *index, &shot->picture);
        if (spot_examine_in_region(m, &shot->at, inside ? MARGIN : -MARGIN) == inside) return ++*index, true;
    }
    return false;
}

/* The share of right answers on the valid renders: a network cannot have learned what nobody sees. NaN: too few are valid. */
static double share_right(const spot_examine_seen *seen, int n, int cls)
{
    int right = 0, valid = 0;

    for (int i = 0; i < n; i++) valid += seen[i].valid, right += seen[i].valid && seen[i].answer == cls;
    return valid >= LEAST_VALID ? (double)right / valid : NAN;
}

int spot_examine_verified(const spot_examine_model *m) { return m->limits && spot_examine_is_trained(m) ? 2 * VERIFIED : 0; }

spot_status spot_examine_verify(spot_ctx *c, spot_examine_lesson *l, spot_examine_looker *look, const spot_examine_model *m,
                                int entry)
{
    const spot_catalogue_entry *e = &look->drawer.objects->list.entry[entry];
    spot_examine_shot shot[2 * VERIFIED];
    spot_examine_seen seen[2 * VERIFIED];

    *l = (spot_examine_lesson){ -1, NAN, NAN };
    if (!spot_examine_verified(m)) return SPOT_OK;
    for (int inside = 0; inside < 2; inside++) {
        uint32_t index = inside ? 1u << 30 : 0;
        for (int i = 0; i < VERIFIED; i++) {
            spot_examine_shot *one = &shot[inside * VERIFIED + i];
            one->entry = entry;
            if (!draw_place(m, spot_examine_number(e->id), inside, &index, one))
                return spot_fail(c, SPOT_USAGE, "the region of the model \"%s\" leaves no room %s of it, %g %% of each range "
                                 "away from its border", m->name, inside ? "inside" : "outside", 100 * MARGIN);
        }
    }
    SPOT_TRY(spot_examine_look(c, look, shot, 2 * VERIFIED, seen));
    l->outside = share_right(seen, VERIFIED, e->cls), l->inside = share_right(seen + VERIFIED, VERIFIED, e->cls);
    l->learned = l->outside >= RIGHT && l->inside <= WRONG;
    return SPOT_OK;
}
