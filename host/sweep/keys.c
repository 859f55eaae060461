/* keys.c - canonical texts of settings, and the keys made from them. */
#include "sweep/keys.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"

/* Large enough for the longest section (a method's); a line that does not fit would be a missing setting, so that the
 * assertion in `line` is about our own mistakes. */
typedef struct { char at[4096]; size_t n; } text;

__attribute__((format(printf, 2, 3)))
static void line(text *t, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(t->at + t->n, sizeof t->at - t->n, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n + 1 >= sizeof t->at - t->n) abort();
    t->n += (size_t)n;
    t->at[t->n++] = '\n';
    t->at[t->n] = 0;
}

static void seed_text(text *t, const spot_config *cfg)
{
    line(t, "seed=%" PRIu64, cfg->seed);
}

static void scene_text(text *t, const spot_scene_config *s)
{
    line(t, "scene.size=%d", s->size);
    line(t, "scene.rollable=%d..%d", s->rollable[0], s->rollable[1]);
    line(t, "scene.extra_layers=%d..%d", s->extra_layers[0], s->extra_layers[1]);
    line(t, "scene.blindspots=%d..%d", s->blindspots[0], s->blindspots[1]);
    line(t, "scene.specificity=%d..%d", s->specificity[0], s->specificity[1]);
    for (int i = 0; i < SPOT_SPLITS; i++)
        line(t, "scene.per_bucket.%s=%d", spot_split_name((spot_split)i), s->per_bucket[i]);
    line(t, "scene.attribute_choice=%d", s->attribute_choice);
    line(t, "scene.square_presence=%d", s->square_presence);
    line(t, "scene.text_alternative=%d", s->text_alternative);
    line(t, "scene.jpeg_quality=%d", s->jpeg_quality);
    line(t, "scene.flip=%.17g", s->flip);
}

static void model_text(text *t, const spot_model_config *m, const char *init)
{
    line(t, "model.arch=%d", m->arch);
    line(t, "model.width=%d", m->width);
    line(t, "model.epochs=%d", m->epochs);
    line(t, "model.batch=%d", m->batch);
    line(t, "model.optimizer=%d", m->optimizer);
    line(t, "model.lr=%.17g", m->lr);
    line(t, "model.momentum=%.17g", m->momentum);
    line(t, "model.weight_decay=%.17g", m->weight_decay);
    line(t, "model.schedule=%d", m->schedule);
    line(t, "model.precision=%d", m->precision);
    line(t, "model.init=%s", init);
    line(t, "model.keep_best=%d", m->keep_best);
    line(t, "model.lanes=%d", m->lanes);
    line(t, "model.learned_outside=%.17g", m->learned_outside);
    line(t, "model.learned_inside=%.17g", m->learned_inside);
}

static void embed_text(text *t, const spot_embed_config *e)
{
    const spot_scvis_config *s = &e->scvis;

    line(t, "reduce=%d", e->method);
    if (e->method != SPOT_REDUCE_NONE) line(t, "dim=%d", e->dim);
    if (e->method == SPOT_REDUCE_TSNE) {
        line(t, "tsne.perplexity=%.17g", e->tsne.perplexity);
        line(t, "tsne.iterations=%d", e->tsne.iterations);
        line(t, "tsne.exaggeration=%.17g", e->tsne.exaggeration);
        line(t, "tsne.lr=%.17g", e->tsne.lr);
    }
    if (e->method == SPOT_REDUCE_SCVIS) {
        line(t, "scvis.perplexity=%.17g", s->perplexity);
        line(t, "scvis.batch=%d", s->batch);
        line(t, "scvis.iterations=%d", s->iterations);
        line(t, "scvis.lr=%.17g", s->lr);
        line(t, "scvis.l2=%.17g", s->l2);
        line(t, "scvis.compat.perplexity_log2=%d", s->compat.perplexity_log2);
        line(t, "scvis.compat.drop_tail=%d", s->compat.drop_tail);
        line(t, "scvis.compat.max_abs=%d", s->compat.max_abs);
        line(t, "scvis.compat.weight_dropout=%d", s->compat.weight_dropout);
        line(t, "scvis.compat.kl_decay=%d", s->compat.kl_decay);
        line(t, "scvis.compat.tsne_ramp=%d", s->compat.tsne_ramp);
        line(t, "scvis.compat.column_weight=%d", s->compat.column_weight);
        line(t, "scvis.compat.adam_eps=%d", s->compat.adam_eps);
    }
}

static void bdm_text(text *t, const spot_bdm_config *b)
{
    line(t, "method=%d", b->method);
    line(t, "top=%d", b->top);
    line(t, "weight=%.17g", b->weight);
    line(t, "mixture.k=%d..%d", b->mixture.k_min, b->mixture.k_max);
    line(t, "mixture.tol=%.17g", b->mixture.tol);
    line(t, "mixture.ridge=%.17g", b->mixture.ridge);
    line(t, "mixture.max_iterations=%d", b->mixture.max_iterations);
    line(t, "norm=%d", b->norm);
    line(t, "order=%d", b->order);
}

static void metric_text(text *t, const spot_metric_config *m)
{
    line(t, "metric.profile=%d", m->profile);
    line(t, "metric.lambda_p=%.17g", m->lambda_p);
    line(t, "metric.lambda_r=%.17g", m->lambda_r);
    line(t, "metric.top=%d", m->top);
}

/* The config in sections: 0 seed, scene, model and metric; 1 + b method b. False after the last. */
static bool section(text *t, const spot_config *cfg, const char *init, int i)
{
    t->n = 0;
    t->at[0] = 0;
    if (i > cfg->bdms) return false;
    if (i == 0) {
        seed_text(t, cfg);
        scene_text(t, &cfg->scene);
        model_text(t, &cfg->model, init);
        metric_text(t, &cfg->metric);
    } else {
        line(t, "name=%s", cfg->bdm[i - 1].name);
        embed_text(t, &cfg->bdm[i - 1].embed);
        bdm_text(t, &cfg->bdm[i - 1]);
    }
    return true;
}

spot_status spot_identify(spot_ctx *c, spot_identity *id, const spot_config *cfg)
{
    unsigned char *bytes;
    size_t n;
    text t;

    id->init[0] = 0;
    if (cfg->model.init[0]) {
        SPOT_TRY(spot_file_read(c, cfg->model.init, &bytes, &n, (size_t)1 << 32));
        spot_key_text(id->init, spot_key_of(bytes, n));
        free(bytes);
    }
    t.n = 0;
    line(&t, "numbers=%d", SPOT_NUMBERS);
    id->config = spot_key_of(t.at, t.n);
    for (int i = 0; section(&t, cfg, id->init, i); i++) id->config = spot_key_join(id->config, "section", t.at, t.n);
    return SPOT_OK;
}

spot_key spot_key_of_model(const spot_ctx *c, const spot_identity *id, const spot_config *cfg, uint32_t ec)
{
    text t = { .n = 0 };

    line(&t, "numbers=%d", SPOT_NUMBERS);
    line(&t, "device=%s", c->ops->name);
    line(&t, "ec=%" PRIu32, ec);
    seed_text(&t, cfg);
    scene_text(&t, &cfg->scene);
    model_text(&t, &cfg->model, id->init);
    return spot_key_of(t.at, t.n);
}

spot_key spot_key_of_points(spot_key view, const spot_embed_config *cfg)
{
    text t = { .n = 0 };

    embed_text(&t, cfg);
    return spot_key_join(view, "points", t.at, t.n);
}

spot_key spot_key_of_found(spot_key points, const spot_bdm_config *cfg)
{
    text t = { .n = 0 };

    bdm_text(&t, cfg);
    return spot_key_join(points, "found", t.at, t.n);
}

spot_key spot_key_of_method(const spot_bdm_config *cfg)
{
    text t = { .n = 0 };

    embed_text(&t, &cfg->embed);
    bdm_text(&t, cfg);
    return spot_key_of(t.at, t.n);
}

/* "scene.size=64" against "scene.size=32"; another name, or none, on one side reads as "another method". */
static void tell_lines(char *words, size_t size, const char *where, const char *there, const char *here)
{
    int name = (int)strcspn(there, "=\n"), same = !strncmp(there, here, (size_t)name + 1);
    const char *a = same ? there + name + 1 : there, *b = same ? here + name + 1 : here;
    int a_len = (int)strcspn(a, "\n"), b_len = (int)strcspn(b, "\n");

    if (same)
        snprintf(words, size, "%s%.*s is %.*s there and %.*s here", where, name, there, a_len, a, b_len, b);
    else
        snprintf(words, size, "%s%.*s there and %.*s here", where, a_len, a, b_len, b);
}

bool spot_config_differs(char *words, size_t size, const spot_config *there, const spot_config *here)
{
    text t, h;
    char where[32] = "";

    for (int i = 0; section(&t, there, there->model.init, i) & section(&h, here, here->model.init, i); i++) {
        const char *a = t.at, *b = h.at;
        if (!strcmp(a, b)) continue;
        for (size_t n; n = strcspn(a, "\n"), !strncmp(a, b, n + 1); a += n + 1) b += n + 1;
        if (i) snprintf(where, sizeof where, "method %d: ", i);
        tell_lines(words, size, where, a, b);
        return true;
    }
    if (there->bdms == here->bdms) return false;
    snprintf(words, size, "it has %d methods there and %d here", there->bdms, here->bdms);
    return true;
}
