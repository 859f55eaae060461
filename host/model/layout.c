/* layout.c - torchvision's state_dict: its tensors, their order and their initialisation. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/network.h"
#include "spotter/rng.h"

#define FIRST(name, in, out, stride, shrink)                                                  \
    { name ".0.conv1", name ".0.bn1", in,  out, 3, stride, shrink },                          \
    { name ".0.conv2", name ".0.bn2", out, out, 3, 1, (shrink) * (stride) }
#define DOWN(name, in, out, shrink) \
    { name ".0.downsample.0", name ".0.downsample.1", in, out, 1, 2, shrink }
#define NEXT(name, block, out, shrink)                                                        \
    { name "." block ".conv1", name "." block ".bn1", out, out, 3, 1, shrink },               \
    { name "." block ".conv2", name "." block ".bn2", out, out, 3, 1, shrink }

static const spot_unit units18[] = {
    { "conv1", "bn1", 0, 1, 7, 2, 1 },
    FIRST("layer1", 1, 1, 1, 4),                             NEXT("layer1", "1", 1, 4),
    FIRST("layer2", 1, 2, 2, 4),  DOWN("layer2", 1, 2, 4),   NEXT("layer2", "1", 2, 8),
    FIRST("layer3", 2, 4, 2, 8),  DOWN("layer3", 2, 4, 8),   NEXT("layer3", "1", 4, 16),
    FIRST("layer4", 4, 8, 2, 16), DOWN("layer4", 4, 8, 16),  NEXT("layer4", "1", 8, 32),
};

static const spot_block blocks18[] = {
    { 1, 2, 0 },    { 3, 4, 0 },
    { 5, 6, 7 },    { 8, 9, 0 },
    { 10, 11, 12 }, { 13, 14, 0 },
    { 15, 16, 17 }, { 18, 19, 0 },
};

static const spot_unit units34[] = {
    { "conv1", "bn1", 0, 1, 7, 2, 1 },
    FIRST("layer1", 1, 1, 1, 4),                             NEXT("layer1", "1", 1, 4),  NEXT("layer1", "2", 1, 4),
    FIRST("layer2", 1, 2, 2, 4),  DOWN("layer2", 1, 2, 4),   NEXT("layer2", "1", 2, 8),  NEXT("layer2", "2", 2, 8),
    NEXT("layer2", "3", 2, 8),
    FIRST("layer3", 2, 4, 2, 8),  DOWN("layer3", 2, 4, 8),   NEXT("layer3", "1", 4, 16), NEXT("layer3", "2", 4, 16),
    NEXT("layer3", "3", 4, 16),   NEXT("layer3", "4", 4, 16), NEXT("layer3", "5", 4, 16),
    FIRST("layer4", 4, 8, 2, 16), DOWN("layer4", 4, 8, 16),  NEXT("layer4", "1", 8, 32), NEXT("layer4", "2", 8, 32),
};

static const spot_block blocks34[] = {
    { 1, 2, 0 },    { 3, 4, 0 },   { 5, 6, 0 },
    { 7, 8, 9 },    { 10, 11, 0 }, { 12, 13, 0 }, { 14, 15, 0 },
    { 16, 17, 18 }, { 19, 20, 0 }, { 21, 22, 0 }, { 23, 24, 0 }, { 25, 26, 0 }, { 27, 28, 0 },
    { 29, 30, 31 }, { 32, 33, 0 }, { 34, 35, 0 },
};

static const spot_architecture architectures[] = {
    [SPOT_ARCH_RESNET18] = { "ResNet-18", "conv1", "fc", 20, 8, units18, blocks18 },
    [SPOT_ARCH_RESNET34] = { "ResNet-34", "conv1", "fc", 36, 16, units34, blocks34 },
};

bool spot_arch_is(int arch) { return arch >= 0 && arch < (int)(sizeof architectures / sizeof *architectures); }

const spot_architecture *spot_architecture_of(int arch) { return &architectures[arch]; }

const char *spot_arch_name(int arch)                { return architectures[arch].name; }
int         spot_model_tensors(int arch)            { return 6 * architectures[arch].units + 2; }
int         spot_model_features(int arch, int width) { return (void)arch, 8 * width; }

size_t spot_model_layout(spot_model_tensor *table, int arch, int width, int outputs)
{
    static const char *const part[6] = { "weight", "weight", "bias", "running_mean", "running_var",
                                         "num_batches_tracked" };
    const int head = spot_model_tensors(arch) - 2;
    size_t offset = 0;

    for (int t = 0; t < head + 2; t++) {
        spot_model_tensor *e = &table[t];
        const spot_unit *u = &architectures[arch].unit[t < head ? t / 6 : 0];
        int kind = t % 6, in = u->in ? u->in * width : 3, out = u->out * width;
        *e = (spot_model_tensor){ .rank = 1, .dim = { out } };
        if (t >= head) {
            *e = (spot_model_tensor){ .rank = t == head ? 2 : 1, .dim = { outputs } };
            if (t == head) e->dim[1] = 8 * width;
        } else if (kind == 0) {
            *e = (spot_model_tensor){ .rank = 4, .dim = { out, in, u->k, u->k } };
        } else if (kind == 5) {
            *e = (spot_model_tensor){ .rank = 0 };
        }
        snprintf(e->name, sizeof e->name, "%s.%s", t >= head ? architectures[arch].head : kind ? u->norm : u->conv,
                 t >= head ? part[1 + t - head] : part[kind]);
        e->offset = offset;
        e->count = t >= head || kind < 5;
        for (int i = 0; i < e->rank; i++) e->count *= (size_t)e->dim[i];
        offset += e->count;
    }
    return offset;
}

/* A weight of a kernel that many outputs read: He et al. 2015 by fan_out, as torchvision starts its ResNets. */
static void start(float *v, const spot_model_tensor *e, int t, const spot_model *m, spot_rng rng)
{
    for (size_t i = 0; i < e->count; i++)
        if (t >= spot_model_tensors(m->arch) - 2)
            v[i] = (float)((2 * spot_rng_uniform(&rng) - 1) / sqrt(8.0 * m->width));
        else if (t % 6 == 0)
            v[i] = (float)(spot_rng_normal(&rng) * sqrt(2.0 / ((double)e->dim[0] * e->dim[2] * e->dim[3])));
        else
            v[i] = t % 6 == 1 || t % 6 == 4;       /* weight and running variance 1, bias and mean 0 */
}

void spot_model_start(spot_model *m, int tensor, uint64_t seed, uint32_t ec)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];

    spot_model_layout(table, m->arch, m->width, m->outputs);
    start(m->value + table[tensor].offset, &table[tensor], tensor, m,
          spot_rng_at(seed, SPOT_RNG_INIT, ec, (uint32_t)tensor));
}

void spot_model_direction(float *direction, const spot_model *m)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];
    const spot_model_tensor *head = &table[spot_model_tensors(m->arch) - 2];

    spot_model_layout(table, m->arch, m->width, m->outputs);
    memcpy(direction, m->value + head->offset, head->count * sizeof *direction);
}

spot_status spot_model_take(spot_ctx *c, spot_arena *a, spot_model *m, int arch, int width, int outputs)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];

    if (!spot_arch_is(arch)) return spot_fail(c, SPOT_INVALID, "%d is no architecture", arch);
    if (width < SPOT_LEAST_WIDTH || width % SPOT_LEAST_WIDTH || width > SPOT_MOST_WIDTH)
        return spot_fail(c, SPOT_INVALID, "model.width is %d; a multiple of %d from there to %d is wanted", width,
                         SPOT_LEAST_WIDTH, SPOT_MOST_WIDTH);
    if (outputs < 1 || outputs > SPOT_MOST_OUTPUTS)
        return spot_fail(c, SPOT_INVALID, "a head of %d outputs; 1 to %d are possible", outputs, SPOT_MOST_OUTPUTS);
    *m = (spot_model){ .arch = arch, .width = width, .outputs = outputs };
    m->floats = spot_model_layout(table, arch, width, outputs);
    return SPOT_TAKE(c, a, m->value, m->floats);
}

spot_status spot_model_init(spot_ctx *c, spot_arena *a, spot_model *m, int arch, int width, int outputs, uint64_t seed,
                            uint32_t ec)
{
    SPOT_TRY(spot_model_take(c, a, m, arch, width, outputs));
    for (int t = 0; t < spot_model_tensors(arch) && !a->counting; t++) spot_model_start(m, t, seed, ec);
    return SPOT_OK;
}
