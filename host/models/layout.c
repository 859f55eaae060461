/* layout.c - torchvision's state_dict: its tensors, their order and their initialisation. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/network.h"
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

/* widths: 64, 192, 384, 256 and 256 channels of torchvision's */
static const spot_unit units_alexnet[] = {
    { "features.0", NULL, 0, 1, 11, 4, 1 }, { "features.3", NULL, 1, 3, 5, 1, 1 },  { "features.6", NULL, 3, 6, 3, 1, 0 },
    { "features.8", NULL, 6, 4, 3, 1, 0 },  { "features.10", NULL, 4, 4, 3, 1, 1 },
};

static const spot_architecture architectures[] = {
    [SPOT_ARCH_RESNET18] = { "ResNet-18", "conv1", "fc", 32, 8, 20, 8, units18, blocks18 },
    [SPOT_ARCH_RESNET34] = { "ResNet-34", "conv1", "fc", 32, 8, 36, 16, units34, blocks34 },
    [SPOT_ARCH_ALEXNET] = { "AlexNet", "features.0", "classifier.6", 64, 64, 5, 0, units_alexnet, NULL },
};

bool spot_arch_is(int arch) { return arch >= 0 && arch < (int)(sizeof architectures / sizeof *architectures); }

const spot_architecture *spot_architecture_of(int arch) { return &architectures[arch]; }

const char *spot_arch_name(int arch)                 { return architectures[arch].name; }
int         spot_model_features(int arch, int width) { return architectures[arch].features * width; }

int spot_model_tensors(int arch) { return arch == SPOT_ARCH_ALEXNET ? 16 : 6 * architectures[arch].units + 2; }

/* A layer's weights, or bias, of `rank` sizes from dim on. Returns the offset of the next tensor. */
static size_t put_tensor(spot_model_tensor *e, const char *layer, const char *part, int rank, const int dim[4], size_t offset)
{
    *e = (spot_model_tensor){ .rank = rank, .offset = offset, .count = 1 };
    snprintf(e->name, sizeof e->name, "%s.%s", layer, part);
    for (int i = 0; i < rank; i++) {
        e->dim[i] = dim[i];
        e->count *= (size_t)dim[i];
    }
    return offset + e->count;
}

static size_t resnet_layout(spot_model_tensor *table, const spot_architecture *a, int width)
{
    static const char *const part[6] = { "weight", "weight", "bias", "running_mean", "running_var",
                                         "num_batches_tracked" };
    size_t offset = 0;

    for (int t = 0; t < 6 * a->units; t++) {
        const spot_unit *u = &a->unit[t / 6];
        const int kind = t % 6, dim[4] = { u->out * width, u->in ? u->in * width : 3, u->k, u->k };
        offset = put_tensor(&table[t], kind ? u->norm : u->conv, part[kind], kind == 0 ? 4 : kind < 5, dim, offset);
        if (kind == 5) table[t].count = 0, offset--;
    }
    return offset;
}

static size_t alexnet_layout(spot_model_tensor *table, const spot_architecture *a, int width)
{
    size_t offset = 0;

    for (int u = 0; u < a->units; u++, table += 2) {
        const spot_unit *t = &a->unit[u];
        const int dim[4] = { t->out * width, t->in ? t->in * width : 3, t->k, t->k };
        offset = put_tensor(&table[0], t->conv, "weight", 4, dim, offset);
        offset = put_tensor(&table[1], t->conv, "bias", 1, dim, offset);
    }
    for (int l = 0; l < 2; l++, table += 2) {
        const int hidden = a->features * width;
        const int dim[4] = { hidden, l ? hidden : 4 * width * SPOT_POOL_MEAN * SPOT_POOL_MEAN };
        offset = put_tensor(&table[0], l ? "classifier.4" : "classifier.1", "weight", 2, dim, offset);
        offset = put_tensor(&table[1], l ? "classifier.4" : "classifier.1", "bias", 1, dim, offset);
    }
    return offset;
}

size_t spot_model_layout(spot_model_tensor *table, int arch, int width, int outputs)
{
    const spot_architecture *a = &architectures[arch];
    const int head = spot_model_tensors(arch) - 2, dim[4] = { outputs, a->features * width };
    size_t offset = arch == SPOT_ARCH_ALEXNET ? alexnet_layout(table, a, width) : resnet_layout(table, a, width);

    offset = put_tensor(&table[head], a->head, "weight", 2, dim, offset);
    return put_tensor(&table[head + 1], a->head, "bias", 1, dim, offset);
}

/* Inputs of the layer of tensor t, which is its weights or the bias behind them. */
static double inputs_of(const spot_model_tensor *table, int t)
{
    const spot_model_tensor *e = &table[table[t].rank > 1 ? t : t - 1];

    return (double)e->count / e->dim[0];
}

/* First weights are those with which torchvision starts its networks. ResNets: He et al. 2015 by fan_out, since many outputs
 * read a weight of a kernel; a batch norm's weight and running variance 1, its bias and mean 0. Heads, and AlexNet: uniform
 * within +-1/sqrt(inputs). */
static void start(const spot_model *m, const spot_model_tensor *table, int t, spot_rng rng)
{
    const spot_model_tensor *e = &table[t];
    const bool uniform = m->arch == SPOT_ARCH_ALEXNET || t >= spot_model_tensors(m->arch) - 2;
    float *v = m->value + e->offset;

    for (size_t i = 0; i < e->count; i++)
        if (uniform)
            v[i] = (float)((2 * spot_rng_uniform(&rng) - 1) / sqrt(inputs_of(table, t)));
        else if (t % 6 == 0)
            v[i] = (float)(spot_rng_normal(&rng) * sqrt(2.0 / ((double)e->dim[0] * e->dim[2] * e->dim[3])));
        else
            v[i] = t % 6 == 1 || t % 6 == 4;
}

void spot_model_start(spot_model *m, int tensor, uint64_t seed, uint32_t ec)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];

    spot_model_layout(table, m->arch, m->width, m->outputs);
    start(m, table, tensor, spot_rng_at(seed, SPOT_RNG_INIT, ec, (uint32_t)tensor));
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
