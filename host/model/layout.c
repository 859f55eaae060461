/* layout.c - torchvision's state_dict: its tensors, their order and their initialisation. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/resnet18.h"
#include "spotter/rng.h"

#define STAGE(name, in, out, stride, shrink)                                                  \
    { name ".0.conv1", name ".0.bn1", in,  out, 3, stride, shrink },                          \
    { name ".0.conv2", name ".0.bn2", out, out, 3, 1, (shrink) * (stride) }
#define DOWN(name, in, out, shrink) \
    { name ".0.downsample.0", name ".0.downsample.1", in, out, 1, 2, shrink }
#define SECOND(name, out, shrink)                                                             \
    { name ".1.conv1", name ".1.bn1", out, out, 3, 1, shrink },                               \
    { name ".1.conv2", name ".1.bn2", out, out, 3, 1, shrink }

const spot_unit spot_resnet18_unit[SPOT_UNITS] = {
    { "conv1", "bn1", 0, 1, 7, 2, 1 },
    STAGE("layer1", 1, 1, 1, 4),                              SECOND("layer1", 1, 4),
    STAGE("layer2", 1, 2, 2, 4),   DOWN("layer2", 1, 2, 4),   SECOND("layer2", 2, 8),
    STAGE("layer3", 2, 4, 2, 8),   DOWN("layer3", 2, 4, 8),   SECOND("layer3", 4, 16),
    STAGE("layer4", 4, 8, 2, 16),  DOWN("layer4", 4, 8, 16),  SECOND("layer4", 8, 32),
};

const spot_block spot_resnet18_block[SPOT_BLOCKS] = {
    { 1, 2, 0 },    { 3, 4, 0 },
    { 5, 6, 7 },    { 8, 9, 0 },
    { 10, 11, 12 }, { 13, 14, 0 },
    { 15, 16, 17 }, { 18, 19, 0 },
};

size_t spot_model_layout(spot_model_tensor *table, int width, int outputs)
{
    static const char *const part[6] = { "weight", "weight", "bias", "running_mean", "running_var",
                                         "num_batches_tracked" };
    size_t offset = 0;

    for (int t = 0; t < SPOT_RESNET18_TENSORS; t++) {
        spot_model_tensor *e = &table[t];
        const spot_unit *u = &spot_resnet18_unit[t < 120 ? t / 6 : 0];
        int kind = t % 6, in = u->in ? u->in * width : 3, out = u->out * width;
        *e = (spot_model_tensor){ .rank = 1, .dim = { out } };
        if (t >= 120) {
            *e = (spot_model_tensor){ .rank = t == 120 ? 2 : 1, .dim = { outputs } };
            if (t == 120) e->dim[1] = 8 * width;
        } else if (kind == 0) {
            *e = (spot_model_tensor){ .rank = 4, .dim = { out, in, u->k, u->k } };
        } else if (kind == 5) {
            *e = (spot_model_tensor){ .rank = 0 };
        }
        snprintf(e->name, sizeof e->name, "%s.%s", t >= 120 ? "fc" : kind ? u->norm : u->conv,
                 t >= 120 ? part[1 + t - 120] : part[kind]);
        e->offset = offset;
        e->count = t >= 120 || kind < 5;
        for (int i = 0; i < e->rank; i++) e->count *= (size_t)e->dim[i];
        offset += e->count;
    }
    return offset;
}

/* A weight of a kernel that many outputs read: He et al. 2015 by fan_out, as torchvision starts its ResNets. */
static void start(float *v, const spot_model_tensor *e, int t, int width, spot_rng rng)
{
    for (size_t i = 0; i < e->count; i++)
        if (t >= 120)
            v[i] = (float)((2 * spot_rng_uniform(&rng) - 1) / sqrt(8.0 * width));
        else if (t % 6 == 0)
            v[i] = (float)(spot_rng_normal(&rng) * sqrt(2.0 / ((double)e->dim[0] * e->dim[2] * e->dim[3])));
        else
            v[i] = t % 6 == 1 || t % 6 == 4;       /* weight and running variance 1, bias and mean 0 */
}

void spot_model_start(spot_model *m, int tensor, uint64_t seed, uint32_t ec)
{
    spot_model_tensor table[SPOT_RESNET18_TENSORS];

    spot_model_layout(table, m->width, m->outputs);
    start(m->value + table[tensor].offset, &table[tensor], tensor, m->width,
          spot_rng_at(seed, SPOT_RNG_INIT, ec, (uint32_t)tensor));
}

void spot_model_direction(float *direction, const spot_model *m)
{
    spot_model_tensor table[SPOT_RESNET18_TENSORS];

    spot_model_layout(table, m->width, m->outputs);
    memcpy(direction, m->value + table[120].offset, table[120].count * sizeof *direction);
}

spot_status spot_model_take(spot_ctx *c, spot_arena *a, spot_model *m, int width, int outputs)
{
    spot_model_tensor table[SPOT_RESNET18_TENSORS];

    if (width < SPOT_LEAST_WIDTH || width % SPOT_LEAST_WIDTH || width > SPOT_MOST_WIDTH)
        return spot_fail(c, SPOT_INVALID, "model.width is %d; a multiple of %d from there to %d is wanted", width,
                         SPOT_LEAST_WIDTH, SPOT_MOST_WIDTH);
    if (outputs < 1 || outputs > SPOT_MOST_OUTPUTS)
        return spot_fail(c, SPOT_INVALID, "a head of %d outputs; 1 to %d are possible", outputs, SPOT_MOST_OUTPUTS);
    *m = (spot_model){ .width = width, .outputs = outputs, .floats = spot_model_layout(table, width, outputs) };
    return SPOT_TAKE(c, a, m->value, m->floats);
}

spot_status spot_model_init(spot_ctx *c, spot_arena *a, spot_model *m, int width, int outputs, uint64_t seed, uint32_t ec)
{
    SPOT_TRY(spot_model_take(c, a, m, width, outputs));
    for (int t = 0; t < SPOT_RESNET18_TENSORS && !a->counting; t++) spot_model_start(m, t, seed, ec);
    return SPOT_OK;
}
