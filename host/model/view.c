/* view.c - a trained model looks at images: the positives of a split, or pixels from elsewhere. */
#include <math.h>

#include "model/train.h"
#include "raster.h"

/* The lanes and rows of looking are constants, so that a view never depends on how training was cut. */
enum { LANES = 8 };

static spot_net_shape look_shape(int width, int outputs, int size)
{
    return (spot_net_shape){ .width = width, .outputs = outputs, .size = size, .lanes = LANES,
                             .rows = (size > 96 ? 8 : 32) * LANES };   /* Winograd shares weights in a piece */
}

typedef struct {
    spot_look   net;
    spot_image *image;
    float      *pixels, *logit;
} looker;

static spot_status open_looker(spot_ctx *c, spot_arena *a, looker *l, spot_net_shape s, bool draws)
{
    size_t rows = (size_t)s.rows, pixels = rows * 3 * s.size * s.size;

    SPOT_TRY(spot_look_open(c, a, &l->net, s));
    if (draws) SPOT_TRY(SPOT_TAKE(c, a, l->image, rows));
    SPOT_TRY(SPOT_TAKE(c, a, l->pixels, pixels));
    return SPOT_TAKE(c, a, l->logit, rows * s.outputs);
}

static spot_status infer(spot_ctx *c, looker *l, float *logits, float *features, const spot_model *m, const uint8_t *rgb,
                         int n, int size, float *aside)
{
    int rows = l->net.s.rows;

    SPOT_TRY(spot_look_put(c, &l->net, m));
    for (int first = 0; first < n; first += rows) {
        int live = n - first < rows ? n - first : rows;
        float *f = features ? features + (size_t)first * 8 * m->width : aside;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_raster_normalise(c, l->pixels, rgb + (size_t)first * 3 * size * size, live, size));
        SPOT_TRY(spot_look_run(c, &l->net, f, logits + (size_t)first * m->outputs, l->pixels, live));
    }
    return SPOT_OK;
}

spot_status spot_model_infer(spot_ctx *c, spot_arena *scratch, float *logits, float *features, const spot_model *m,
                             const uint8_t *rgb, int n, int size)
{
    spot_net_shape shape = look_shape(m->width, m->outputs, size);
    size_t mark = scratch->used;
    looker l = { 0 };
    float *aside = NULL;
    spot_status s = open_looker(c, scratch, &l, shape, false);

    if (!s) s = SPOT_TAKE(c, scratch, aside, (size_t)shape.rows * 8 * m->width);
    if (!s && !scratch->counting) s = infer(c, &l, logits, features, m, rgb, n, size, aside);
    spot_look_close(c, &l.net);
    scratch->used = mark;
    return s;
}

static spot_status take_view(spot_ctx *c, spot_arena *a, spot_view *v, spot_truth *t, int n, int d)
{
    v->n = t->n = n;
    v->d = d;
    SPOT_TRY(SPOT_TAKE(c, a, v->feature, (size_t)n * d));
    SPOT_TRY(SPOT_TAKE(c, a, v->confidence, n));
    SPOT_TRY(SPOT_TAKE(c, a, v->image, n));
    return SPOT_TAKE(c, a, t->mask, n);
}

static spot_status look(spot_ctx *c, looker *l, spot_view *v, spot_truth *t, const spot_ec *ec, spot_split split)
{
    int rows = l->net.s.rows;

    for (int done = 0, live; done < v->n; done += live) {
        live = v->n - done < rows ? v->n - done : rows;
        SPOT_TRY(spot_check_stop(c));
#pragma omp parallel for num_threads(c->threads)
        for (int i = 0; i < live; i++) {
            spot_image_draw(&l->image[i], ec, split, (uint32_t)v->image[done + i]);
            t->mask[done + i] = l->image[i].blindspots;
        }
        SPOT_TRY(spot_image_input(c, l->pixels, l->image, live, &ec->scene));
        SPOT_TRY(spot_look_run(c, &l->net, v->feature + (size_t)done * v->d, l->logit, l->pixels, live));
        for (int i = 0; i < live; i++) v->confidence[done + i] = (float)(1 / (1 + exp(-(double)l->logit[i])));
        spot_tell(c, "look", (int)ec->index, done + live, v->n, "");
    }
    return SPOT_OK;
}

spot_status spot_model_look(spot_ctx *c, spot_arena *a, spot_view *view, spot_truth *truth, const spot_model *m,
                            const spot_ec *ec, spot_split split, const spot_model_config *cfg)
{
    looker l = { 0 };
    spot_status s;
    size_t mark;

    (void)cfg;
    if (m->outputs != 1) return spot_fail(c, SPOT_INVALID, "looking needs a head of one output, not of %d", m->outputs);
    SPOT_TRY(take_view(c, a, view, truth, spot_ec_positives(NULL, ec, split), 8 * m->width));
    spot_ec_positives(view->image, ec, split);
    truth->blindspots = ec->blindspot_count;
    mark = a->used;
    s = open_looker(c, a, &l, look_shape(m->width, 1, ec->scene.size), true);
    if (!s) s = spot_look_put(c, &l.net, m);
    if (!s) s = look(c, &l, view, truth, ec, split);
    spot_look_close(c, &l.net);
    a->used = mark;
    return s;
}

size_t spot_model_look_bytes(const spot_scene_config *scene, const spot_model_config *cfg, int images)
{
    spot_ctx c = { .ops = &spot_ops_cpu, .threads = 1 };
    spot_arena a = spot_arena_counting();
    looker l = { 0 };
    spot_view v;
    spot_truth t;
    spot_status s = take_view(&c, &a, &v, &t, images, 8 * cfg->width);

    if (!s) s = open_looker(&c, &a, &l, look_shape(cfg->width, 1, scene->size), true);
    spot_look_close(&c, &l.net);
    return s ? 0 : a.peak;
}
