/* look.c - inference of a trained model on the positives of a split, or on negatives. */
#include <math.h>
#include <string.h>

#include "core/device.h"
#include "image/sample.h"
#include "models/negatives.h"
#include "models/network.h"
#include "worlds/source_draw.h"

/* All arrays lie in the memory of c's device; unneeded ones are NULL. */
typedef struct {
    spot_look   net;
    spot_image *image;               /* (rows): draw lists of a batch */
    float      *pixels;              /* (rows, size, size, 3), normalised; unused if a device draws into net.planes */
    uint32_t   *index, *mask;        /* (n): numbers of images, and their blindspots */
    float      *feature, *logit;     /* (n, d), (n, outputs) */
} looker;

/* features: (n, d), for l->feature; NULL: taken from a. */
static spot_status open_looker(spot_ctx *c, spot_arena *a, looker *l, spot_net_shape s, int n, float *features)
{
    size_t rows = (size_t)s.rows;

    SPOT_TRY(spot_look_open(c, a, &l->net, s));
    SPOT_TRY(SPOT_TAKE(c, a, l->image, rows));
    SPOT_TRY(SPOT_TAKE(c, a, l->index, n));
    SPOT_TRY(SPOT_TAKE(c, a, l->mask, n));
    if (!c->device) SPOT_TRY(SPOT_TAKE(c, a, l->pixels, rows * 3 * s.size * s.size));
    l->feature = features;
    if (!features) SPOT_TRY(SPOT_TAKE(c, a, l->feature, (size_t)n * l->net.features));
    return SPOT_TAKE(c, a, l->logit, (size_t)n * s.outputs);
}

/* The size of a looker. It lies in memory of c's device, on the CPU in the caller's arena. */
typedef struct {
    spot_ctx *c;
    spot_net_shape shape;
    int n;
    float *features;                 /* see open_looker */
} looker_size;

static spot_status open_sized(const looker_size *r, spot_arena *a, spot_arena *on, looker *l)
{
    spot_arena count = spot_arena_counting();
    spot_status s;

    memset(l, 0, sizeof *l);
    memset(on, 0, sizeof *on);
    if (!r->c->device) return open_looker(r->c, a, l, r->shape, r->n, NULL);
    s = open_looker(r->c, &count, l, r->shape, r->n, r->features);
    spot_look_close(r->c, &l->net);
    if (!s) s = spot_arena_open_device(r->c, on, count.peak);
    return s ? s : open_looker(r->c, on, l, r->shape, r->n, r->features);
}

static void close_sized(const looker_size *r, spot_arena *on, looker *l)
{
    spot_look_close(r->c, &l->net);
    spot_arena_close(on);
}

/* -- the positives of a split ------------------------------------------------------------------------------------- */

static spot_status take_view(spot_ctx *c, spot_arena *a, spot_view *v, spot_truth *t, int n, int d)
{
    *v = (spot_view){ .n = n, .d = d };
    t->n = n;
    SPOT_TRY(SPOT_TAKE(c, a, v->feature, (size_t)n * d));
    SPOT_TRY(SPOT_TAKE(c, a, v->confidence, n));
    SPOT_TRY(SPOT_TAKE(c, a, v->image, n));
    SPOT_TRY(SPOT_TAKE(c, a, v->head, d));
    return SPOT_TAKE(c, a, t->mask, n);
}

static spot_status look_at_images(spot_ctx *c, looker *l, spot_view *v, spot_truth *t, const spot_ec *ec, spot_split split)
{
    int rows = l->net.s.rows;

    SPOT_TRY(spot_device_copy(c, l->index, v->image, (size_t)v->n * sizeof *l->index));
    for (int done = 0, live; done < v->n; done += live) {
        spot_sample s = { .ec = ec, .split = split, .first = (uint32_t)done, .index = l->index, .image = l->image,
                          .mask = l->mask + done };
        s.n = live = v->n - done < rows ? v->n - done : rows;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_ec_images(c, &s));
        SPOT_TRY(spot_net_draw(c, l->pixels, l->net.planes, l->net.s.precision, l->image, live, ec,
                               l->net.stem));
        SPOT_TRY(spot_look_run(c, &l->net, l->feature + (size_t)done * v->d, l->logit + done, l->pixels, live));
        spot_tell(c, "look", (int)ec->index, done + live, v->n, "");
    }
    SPOT_TRY(spot_device_copy(c, v->feature, l->feature, (size_t)v->n * v->d * sizeof *v->feature));
    SPOT_TRY(spot_device_copy(c, v->confidence, l->logit, (size_t)v->n * sizeof *v->confidence));
    SPOT_TRY(spot_device_copy(c, t->mask, l->mask, (size_t)v->n * sizeof *t->mask));
    for (int i = 0; i < v->n; i++) v->confidence[i] = (float)(1 / (1 + exp(-(double)v->confidence[i])));
    return SPOT_OK;
}

/* Looks at the images that view->image lists. */
static spot_status look_at_view(spot_ctx *c, spot_arena *a, const spot_resident_look *how, spot_view *view, spot_truth *truth,
                                const spot_ec *ec, spot_split split, const spot_model_config *cfg)
{
    const spot_model *m = how->model;
    looker_size r = { c, spot_look_shape(c, m->arch, m->width, 1, ec->scene.size, view->n, (spot_precision)cfg->precision),
                      view->n, how->features };
    size_t mark = a->used;
    spot_arena on;
    spot_status s;
    looker l;

    spot_model_direction(view->head, m);
    truth->blindspots = ec->blindspot_count;
    s = open_sized(&r, a, &on, &l);
    if (!s) s = spot_look_put_from(c, &l.net, m, how->from);
    if (!s) s = look_at_images(c, &l, view, truth, ec, split);
    if (!s && c->device) view->device_feature = how->features;
    close_sized(&r, &on, &l);
    a->used = mark;
    return s;
}

static spot_status check_head(spot_ctx *c, const spot_model *m)
{
    if (m->outputs == 1) return SPOT_OK;
    return spot_fail(c, SPOT_INVALID, "looking needs a head of one output, not of %d", m->outputs);
}

spot_status spot_model_look(spot_ctx *c, spot_arena *a, spot_view *view, spot_truth *truth, const spot_model *m,
                            const spot_ec *ec, spot_split split, const spot_model_config *cfg)
{
    return spot_model_look_on(c, a, NULL, view, truth, m, ec, split, cfg);
}

spot_status spot_model_look_on(spot_ctx *c, spot_arena *a, float *features, spot_view *view, spot_truth *truth,
                               const spot_model *m, const spot_ec *ec, spot_split split, const spot_model_config *cfg)
{
    return spot_model_look_resident(c, a, &(spot_resident_look){ .model = m, .features = features }, view, truth, ec, split,
                                    cfg);
}

spot_status spot_model_look_resident(spot_ctx *c, spot_arena *a, const spot_resident_look *how, spot_view *view,
                                     spot_truth *truth, const spot_ec *ec, spot_split split, const spot_model_config *cfg)
{
    const spot_model *m = how->model;
    int n = spot_ec_positives(NULL, ec, split);

    SPOT_TRY(check_head(c, m));
    SPOT_TRY(take_view(c, a, view, truth, n, spot_model_features(m->arch, m->width)));
    spot_ec_positives(view->image, ec, split);
    return look_at_view(c, a, how, view, truth, ec, split, cfg);
}

spot_status spot_model_look_negatives(spot_ctx *c, spot_arena *a, spot_view *view, spot_truth *truth, const spot_model *m,
                                      const spot_ec *ec, spot_split split, const spot_model_config *cfg)
{
    int positives = spot_ec_positives(NULL, ec, split), all = ec->images[split] - positives, *positive;
    int n = all < positives ? all : positives, seen = 0, taken = 0;

    SPOT_TRY(check_head(c, m));
    SPOT_TRY(take_view(c, a, view, truth, n, spot_model_features(m->arch, m->width)));
    SPOT_TRY(SPOT_TAKE(c, a, positive, positives));
    spot_ec_positives(positive, ec, split);
    for (int i = 0, p = 0; i < ec->images[split] && taken < n; i++) {
        if (p < positives && positive[p] == i) { p++; continue; }
        if (seen++ == (int)((int64_t)taken * all / n)) view->image[taken++] = i;
    }
    return look_at_view(c, a, &(spot_resident_look){ .model = m }, view, truth, ec, split, cfg);
}

/* -- memory ------------------------------------------------------------------------------------------------------- */

spot_status spot_look_needs(spot_ctx *c, spot_bytes *needs, const spot_scene_config *scene, const spot_model_config *cfg,
                            int images)
{
    spot_net_shape shape = spot_look_shape(c, cfg->arch, cfg->width, 1, scene->size, images, (spot_precision)cfg->precision);
    spot_arena host = spot_arena_counting(), on = host;
    spot_status s;
    spot_truth t;
    spot_view v;
    looker l = { 0 };

    SPOT_TRY(take_view(c, &host, &v, &t, images, spot_model_features(cfg->arch, cfg->width)));
    s = open_looker(c, c->device ? &on : &host, &l, shape, images, NULL);
    spot_look_close(c, &l.net);
    *needs = (spot_bytes){ host.peak, on.peak };
    return s;
}

/* For any number of threads: they make spot_look_shape take more lanes. */
size_t spot_model_look_bytes(const spot_scene_config *scene, const spot_model_config *cfg, int images)
{
    spot_ctx c = { .ops = &spot_ops_cpu, .threads = SPOT_MAX_LANES };
    spot_model_config able = *cfg;
    spot_bytes needs;

    if (!spot_conv_has(&c, (spot_precision)able.precision)) able.precision = SPOT_FP32;
    return spot_look_needs(&c, &needs, scene, &able, images) ? 0 : needs.host;
}
