/* check_shards.h - run directories written by hand: an EC's segment is made from its number and a variant. */
#ifndef SPOTTER_TESTS_CHECK_SHARDS_H
#define SPOTTER_TESTS_CHECK_SHARDS_H

#include "checks.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "spotter/rng.h"
#include "store/store.h"
#include "sweep/pipeline.h"

static const char shards_yaml[] =
    "seed: 3\necs: %d\n"
    "bdms:\n"
    "  - {method: planespot, reduce: pca}\n"
    "  - {method: spotlight}\n"
    "  - {method: domino}\n"
    "  - {method: barlow}\n";

static inline spot_config *shards_config(spot_ctx *c, int ecs)
{
    spot_config *cfg = malloc(sizeof *cfg);
    char text[512];
    assert_non_null(cfg);
    CHECK_OK(c, spot_config_parse(c, cfg, text, (size_t)snprintf(text, sizeof text, shards_yaml, ecs), "shards"));
    return cfg;
}

static inline void shards_outcome(spot_outcome *o, const spot_segment *s, spot_rng *r)
{
    spot_score *k = &o->score;
    k->blindspots = s->blindspots;
    k->hypotheses = 10;
    for (int h = 0; h < k->hypotheses; h++) {
        o->size[h] = (int)spot_rng_below(r, 300);
        o->order[h] = spot_rng_uniform(r);
        o->mean_error[h] = spot_rng_uniform(r);
        k->belongs[h] = (int)spot_rng_below(r, 4) - 1;
        for (int m = 0; m < k->blindspots; m++) k->bp[h][m] = spot_rng_uniform(r);
    }
    for (int m = 0; m < k->blindspots; m++) {
        k->size[m] = 20;
        k->br[m] = spot_rng_uniform(r);
        k->covered[m] = k->br[m] >= 0.5;
        k->dr += k->covered[m] / (double)k->blindspots;
        for (int f = 0; f < SPOT_FAILURES; f++) k->failure[m][f] = k->covered[m] ? NAN : 0.25;
    }
    k->fdr = k->dr > 0 ? spot_rng_uniform(r) : NAN;
}

/* As a sweep of cfg would fill it; variants differ in a number. */
static inline void shards_fill(spot_ctx *c, spot_segment *s, const spot_config *cfg, int ec, int variant)
{
    spot_rng r = spot_rng_at((uint64_t)variant, SPOT_RNG_BOOTSTRAP, (uint32_t)ec, 0);
    spot_identity id;
    spot_ec drawn;
    CHECK_OK(c, spot_identify(c, &id, cfg, NULL));
    CHECK_OK(c, spot_ec_draw(c, &drawn, &cfg->scene, cfg->seed, (uint32_t)ec));
    spot_segment_close(s);
    CHECK_OK(c, spot_segment_begin(c, s, cfg, &id, &drawn));
    s->lesson = (spot_learning){ .epochs = 10, .best_epoch = 7, .outside = 0.99, .outside_count = 800, .learned = ec % 9 != 4 };
    for (int m = 0; m < s->blindspots; m++) s->lesson.inside[m] = 0.02 * spot_rng_uniform(&r);
    s->methods = cfg->bdms;
    for (int b = 0; b < cfg->bdms; b++) {
        spot_bdm_name(&cfg->bdm[b], s->method[b].name, sizeof s->method[b].name);
        spot_key_text(s->method[b].settings, spot_key_of_method(&cfg->bdm[b]));
        shards_outcome(&s->method[b], s, &r);
    }
}

/* A run directory of cfg without segments. */
static inline void shards_begin(spot_ctx *c, const char *dir, const spot_config *cfg)
{
    spot_store store;
    char path[256], *yaml;
    CHECK_OK(c, spot_store_open(c, &store, dir));
    CHECK_OK(c, spot_config_print(c, cfg, &yaml));
    snprintf(path, sizeof path, "%s/config.yaml", dir);
    CHECK_OK(c, spot_file_write(c, path, yaml, strlen(yaml)));
    free(yaml);
}

#endif
