/* check_scene.h - what the tests of scenes share. */
#ifndef SPOTTER_TESTS_CHECK_SCENE_H
#define SPOTTER_TESTS_CHECK_SCENE_H

#include "checks.h"

#include "spotter/scene.h"

/* Scenes of 32 pixels whose ECs are small: one blindspot of `specificity`, one layer besides the square. */
static inline spot_scene_config tiny_scene(int rollable, int specificity, int train, int val, int test)
{
    spot_scene_config s = spot_scene_defaults();

    s.size = 32;
    s.rollable[0] = s.rollable[1] = rollable;
    s.extra_layers[0] = s.extra_layers[1] = s.blindspots[0] = s.blindspots[1] = 1;
    s.specificity[0] = s.specificity[1] = specificity;
    s.per_bucket[SPOT_TRAIN] = train;
    s.per_bucket[SPOT_VAL] = val;
    s.per_bucket[SPOT_TEST] = test;
    return s;
}

/* EC number `index` of seed 1. */
static inline spot_ec an_ec(const spot_scene_config *cfg, uint32_t index)
{
    spot_ctx c = check_ctx(1);
    spot_ec ec;

    CHECK_OK(&c, spot_ec_draw(&c, &ec, cfg, 1, index));
    return ec;
}

/* The value that blindspot m asks of an attribute, or -1. */
static inline int asks(const spot_ec *ec, int m, int layer, int attribute)
{
    for (int i = 0; i < ec->blindspot[m].len; i++) {
        const spot_triplet *t = &ec->blindspot[m].triplet[i];
        if (t->layer == layer && t->attribute == attribute) return t->value;
    }
    return -1;
}

#endif
