/* stub_model.c - see stub_model.h. What follows from a stage's value is made from the bytes that the store gave back, so that
 * a wrong value that is taken for a good one shows in the results. */
#include "stub_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "sweep/pipeline.h"

bool stub_on;
stub_health stub_is;
void (*stub_computes)(const spot_store *store, int ec, int stage);
void (*stub_keeps)(const char *dir, int ec);

spot_status __real_spot_pipeline(spot_ctx *c, spot_arena *a, spot_run *run, spot_ec_run *p, const int *index, int count);
spot_status __real_spot_pipeline_base(spot_ctx *c, spot_arena *a, spot_run *run);
spot_status __real_spot_layout_of(spot_ctx *c, spot_layout *l, const spot_config *cfg, const spot_source *source,
                                  const spot_encoder *encoder, const spot_sweep_options *o, int ecs, int rows);
spot_status __real_spot_frame_write(spot_ctx *c, const spot_study *y, const char *dir, int unit, void *result);

/* Number i of those that a hash stands for. */
static uint64_t number(uint64_t hash, uint64_t i) { return XXH3_64bits_withSeed(&i, sizeof i, hash); }
static double share(uint64_t hash, uint64_t i)    { return (double)(number(hash, i) >> 11) * 0x1p-53; }

enum { VALUES = 100 };

/* The hash of the stage's value, which is made and kept where the store has none. */
static spot_status value_of(spot_ctx *c, spot_run *run, spot_key k, const char *kind, int ec, int stage, uint64_t *hash)
{
    unsigned char *bytes;
    uint64_t value[VALUES];
    bool found;
    size_t n;

    SPOT_TRY(spot_store_get(c, &run->store, k, kind, &bytes, &n, &found));
    if (found) {
        *hash = XXH3_64bits(bytes, n);
        free(bytes);
        return SPOT_OK;
    }
    if (stub_computes) stub_computes(&run->store, ec, stage);
    for (int i = 0; i < VALUES; i++) value[i] = number(k.lo, (uint64_t)i);
    *hash = XXH3_64bits(value, sizeof value);
    SPOT_TRY(spot_store_put(c, &run->store, k, kind, value, sizeof value));
    spot_run_log_write(&run->run_log, kind, ec, 0.001, NULL);
    return spot_check_stop(c);
}

static void learn(spot_segment *s, uint64_t hash)
{
    spot_learning *l = &s->lesson;

    l->epochs = 1;
    l->epoch[0] = (spot_epoch){ share(hash, 1), share(hash, 2), 0 };
    l->blindspots = s->blindspots;
    l->outside = share(hash, 3);
    l->outside_count = 50;
    l->learned = number(hash, 4) % 4 != 0;
    for (int m = 0; m < s->blindspots; m++) {
        l->inside[m] = share(hash, 10 + (uint64_t)m);
        l->inside_count[m] = 10;
    }
}

static void score(spot_outcome *o, int blindspots, uint64_t hash)
{
    spot_score *s = &o->score;

    s->blindspots = blindspots;
    s->hypotheses = s->u = 3;
    s->dr = share(hash, 1);
    s->fdr = share(hash, 2);
    for (int h = 0; h < s->hypotheses; h++) {
        o->size[h] = (int)(number(hash, 10 + (uint64_t)h) % 40);
        o->order[h] = o->mean_error[h] = share(hash, 20 + (uint64_t)h);
        s->belongs[h] = -1;
    }
    for (int m = 0; m < blindspots; m++) {
        s->size[m] = 10;
        s->br[m] = share(hash, 30 + (uint64_t)m);
        s->covered[m] = s->br[m] > 0.5;
        for (int f = 0; f < SPOT_FAILURES; f++) s->failure[m][f] = s->covered[m] ? NAN : 0.25;
    }
}

static spot_status method(spot_ctx *c, spot_run *run, spot_ec_run *p, int b, uint64_t view)
{
    const spot_bdm_config *cfg = &run->cfg->bdm[b];
    spot_outcome *o = &p->segment.method[b];
    int ec = (int)p->ec.index;
    char path[1200];
    spot_key found;
    uint64_t hash;

    spot_bdm_name(cfg, o->name, sizeof o->name);
    spot_key_text(o->settings, spot_key_of_method(cfg));
    found = spot_key_of_found(spot_key_of_points(p->key, cfg), cfg);
    SPOT_TRY(value_of(c, run, found, "found", ec, STUB_METHOD + b, &hash));
    hash ^= view + (stub_is == STUB_ERRS);
    if (stub_is == STUB_GIVES_UP && !b) {
        o->status = SPOT_NUMERIC;
        snprintf(o->message, sizeof o->message, "it gave up");
        return SPOT_OK;
    }
    score(o, p->segment.blindspots, hash);
    if (!run->pictures) return SPOT_OK;
    spot_method_picture_path(path, sizeof path, run->store.dir, ec, b, o->name);
    SPOT_TRY(spot_folder_of(c, path));
    return spot_file_write(c, path, &hash, sizeof hash);
}

static spot_status one(spot_ctx *c, spot_run *run, spot_ec_run *p, int index)
{
    const spot_config *cfg = run->cfg;
    uint64_t hash;

    memset(p, 0, sizeof *p);
    p->key = spot_key_of_model(c, &run->id, cfg, (uint32_t)index);
    SPOT_TRY(spot_source_ec(c, &p->ec, &run->source, (uint32_t)index));
    SPOT_TRY(spot_segment_begin(c, &p->segment, cfg, &run->id, &p->ec));
    SPOT_TRY(spot_check_stop(c));
    SPOT_TRY(value_of(c, run, p->key, "view", index, STUB_VIEW, &hash));
    learn(&p->segment, hash);
    p->segment.methods = cfg->bdms;
    for (int b = 0; b < cfg->bdms; b++) SPOT_TRY(method(c, run, p, b, hash));
    return SPOT_OK;
}

spot_status __wrap_spot_pipeline(spot_ctx *c, spot_arena *a, spot_run *run, spot_ec_run *p, const int *index, int count)
{
    if (!stub_on) return __real_spot_pipeline(c, a, run, p, index, count);
    for (int i = 0; i < count; i++) {
        spot_status s = one(c, run, &p[i], index[i]);
        if (s != SPOT_OK && s != SPOT_NOMEM) return s;
        if (s == SPOT_OK) continue;
        p[i].trouble = s;                      /* an EC that memory does not suffice for does not stop the others */
        snprintf(p[i].message, sizeof p[i].message, "%s", spot_message(c, s));
        spot_forget(c);
    }
    return SPOT_OK;
}

spot_status __wrap_spot_pipeline_base(spot_ctx *c, spot_arena *a, spot_run *run)
{
    char path[1200];
    uint64_t hash;

    if (!stub_on) return __real_spot_pipeline_base(c, a, run);
    if (!run->cfg->model.base.images) return SPOT_OK;
    SPOT_TRY(value_of(c, run, spot_key_of_base(c, run->cfg), "base", -1, STUB_BASE, &hash));
    snprintf(path, sizeof path, "%s/base.safetensors", run->store.dir);
    return access(path, F_OK) ? spot_file_write(c, path, &hash, sizeof hash) : SPOT_OK;
}

/* The real one plans the networks' convolutions to count their memory. */
spot_status __wrap_spot_layout_of(spot_ctx *c, spot_layout *l, const spot_config *cfg, const spot_source *source,
                                  const spot_encoder *encoder, const spot_sweep_options *o, int ecs, int rows)
{
    if (!stub_on) return __real_spot_layout_of(c, l, cfg, source, encoder, o, ecs, rows);
    *l = (spot_layout){ .wave = o->wave ? o->wave : 1, .at_once = 1, .arena = 1 << 16 };
    return SPOT_OK;
}

spot_status __wrap_spot_frame_write(spot_ctx *c, const spot_study *y, const char *dir, int unit, void *result)
{
    SPOT_TRY(__real_spot_frame_write(c, y, dir, unit, result));
    if (stub_keeps) stub_keeps(dir, unit);
    return SPOT_OK;
}
