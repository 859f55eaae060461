/* layout.c - torchvision's state_dict: its tensors, their order and their initialisation. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/network.h"
#include "spotter/rng.h"

/* widths: 64, 192, 384, 256 and 256 channels of torchvision's */
static const spot_unit units_alexnet[] = {
    { 0, 1, 11, 4, 1 }, { 1, 3, 5, 1, 1 }, { 3, 6, 3, 1, 0 }, { 6, 4, 3, 1, 0 }, { 4, 4, 3, 1, 1 },
};

/* The forms that have names; the first two by spot_arch. */
static const struct { spot_resnet_form form; const char *name; } named[] = {
    { { .count = { 2, 2, 2, 2 } }, "ResNet-18" },
    { { .count = { 3, 4, 6, 3 } }, "ResNet-34" },
    { { .count = { 3, 4, 6, 3 }, .bottleneck = 1 }, "ResNet-50" },
    { { .count = { 3, 4, 23, 3 }, .bottleneck = 1 }, "ResNet-101" },
    { { .count = { 3, 8, 36, 3 }, .bottleneck = 1 }, "ResNet-152" },
};

/* -- a ResNet's form as a number: bit 30, that of the stem, two of the bottleneck, and six a stage ----------------------- */

enum { FORM = 1 << 30, SMALL = 1 << 29, BOTTLENECK = 24, STAGE = 6, MOST_IN_STAGE = (1 << STAGE) - 1 };

static bool same_form(const spot_resnet_form *a, const spot_resnet_form *b)
{
    return a->small_stem == b->small_stem && a->bottleneck == b->bottleneck && !memcmp(a->count, b->count, sizeof a->count);
}

static int units_of(const spot_resnet_form *f)
{
    int units = 1;

    for (int s = 0; s < SPOT_STAGES && f->count[s]; s++)
        units += f->count[s] * (f->bottleneck ? 3 : 2) + (s || f->bottleneck);
    return units;
}

int spot_arch_of_form(const spot_resnet_form *f)
{
    int code = FORM | (f->small_stem ? SMALL : 0) | f->bottleneck << BOTTLENECK, stages = 0;

    for (int a = SPOT_ARCH_RESNET18; a <= SPOT_ARCH_RESNET34; a++)
        if (same_form(f, &named[a].form)) return a;
    for (int s = 0; s < SPOT_STAGES; s++) {
        if (f->count[s] < 0 || f->count[s] > MOST_IN_STAGE || (f->count[s] && stages < s)) return -1;
        stages += f->count[s] > 0;
        code |= f->count[s] << STAGE * s;
    }
    return stages && f->bottleneck >= 0 && f->bottleneck <= SPOT_MOST_BOTTLENECK && units_of(f) <= SPOT_MAX_UNITS ? code : -1;
}

spot_resnet_form spot_form_of_arch(int arch)
{
    spot_resnet_form f = { .small_stem = arch & SMALL, .bottleneck = arch >> BOTTLENECK & SPOT_MOST_BOTTLENECK };

    if (arch < FORM) return named[arch].form;
    for (int s = 0; s < SPOT_STAGES; s++) f.count[s] = arch >> STAGE * s & MOST_IN_STAGE;
    return f;
}

bool spot_arch_is(int arch)
{
    spot_resnet_form f;

    if (arch < FORM) return arch >= SPOT_ARCH_RESNET18 && arch <= SPOT_ARCH_ALEXNET;
    f = spot_form_of_arch(arch);
    return spot_arch_of_form(&f) == arch;
}

/* -- units and blocks -------------------------------------------------------------------------------------------------- */

/* A block of a ResNet: its place, its first unit and what goes through it. Widths, and strides, of each stage follow from its
 * number. */
typedef struct { int stage, block, first, in, planes, out, stride, shrink; bool down; } place;

/* The block that has unit `unit`, or, with unit 0, block number `block`. */
static place find_block(const spot_resnet_form *f, int unit, int block)
{
    const int expand = f->bottleneck ? 4 : 1, units = f->bottleneck ? 3 : 2;
    place p = { .first = 1, .in = 1, .shrink = f->small_stem ? 1 : 4 };

    for (int n = 0, next;; n++, p.block++, p.first = next) {
        while (p.block == f->count[p.stage]) p.stage++, p.block = 0;
        p.planes = 1 << p.stage;
        p.out = expand * p.planes;
        p.stride = p.stage && !p.block ? 2 : 1;
        p.down = p.in != p.out || p.stride > 1;
        next = p.first + units + p.down;
        if (unit ? unit < next : n == block) return p;
        p.in = p.out;
        p.shrink *= p.stride;
    }
}

/* torchvision's bottleneck has its stride in the 3x3. */
static spot_unit resnet_unit(const spot_resnet_form *f, int u)
{
    const place p = find_block(f, u, 0);
    const int part = u - p.first, last = f->bottleneck ? 2 : 1, after = p.shrink * p.stride, inner = f->bottleneck * p.planes;

    if (!u) return (spot_unit){ 0, 1, f->small_stem ? 3 : 7, f->small_stem ? 1 : 2, 1 };
    if (part > last) return (spot_unit){ p.in, p.out, 1, p.stride, p.shrink };
    if (!f->bottleneck) return (spot_unit){ part ? p.out : p.in, p.out, 3, part ? 1 : p.stride, part ? after : p.shrink };
    if (part == 0) return (spot_unit){ p.in, inner, 1, 1, p.shrink };
    return part == 1 ? (spot_unit){ inner, inner, 3, p.stride, p.shrink } : (spot_unit){ inner, p.out, 1, 1, after };
}

spot_unit spot_unit_of(int arch, int u)
{
    const spot_resnet_form f = arch == SPOT_ARCH_ALEXNET ? (spot_resnet_form){ 0 } : spot_form_of_arch(arch);

    return arch == SPOT_ARCH_ALEXNET ? units_alexnet[u] : resnet_unit(&f, u);
}

spot_block spot_block_of(int arch, int b)
{
    const spot_resnet_form f = spot_form_of_arch(arch);
    const place p = find_block(&f, 0, b);
    const int last = p.first + (f.bottleneck ? 2 : 1);

    return (spot_block){ p.first, last, p.down ? last + 1 : 0 };
}

spot_unit_name spot_unit_name_of(int arch, int u)
{
    static const char *const alexnet[] = { "features.0", "features.3", "features.6", "features.8", "features.10" };
    spot_unit_name n = { "conv1", "bn1" };
    spot_resnet_form f;
    place p;
    int part;

    if (arch == SPOT_ARCH_ALEXNET) snprintf(n.conv, sizeof n.conv, "%s", alexnet[u]);
    if (arch == SPOT_ARCH_ALEXNET || !u) return n;
    f = spot_form_of_arch(arch);
    p = find_block(&f, u, 0);
    part = u - p.first;
    if (part > (f.bottleneck ? 2 : 1)) {
        snprintf(n.conv, sizeof n.conv, "layer%d.%d.downsample.0", p.stage + 1, p.block);
        snprintf(n.norm, sizeof n.norm, "layer%d.%d.downsample.1", p.stage + 1, p.block);
    } else {
        snprintf(n.conv, sizeof n.conv, "layer%d.%d.conv%d", p.stage + 1, p.block, part + 1);
        snprintf(n.norm, sizeof n.norm, "layer%d.%d.bn%d", p.stage + 1, p.block, part + 1);
    }
    return n;
}

spot_architecture spot_architecture_of(int arch)
{
    spot_architecture a = { "AlexNet", "classifier.6", 64, 64, 5, 0 };
    spot_resnet_form f;
    int stages = 0;

    if (arch == SPOT_ARCH_ALEXNET) return a;
    a = (spot_architecture){ "ResNet", "fc", 32, 0, 0, 0 };
    f = spot_form_of_arch(arch);
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        if (same_form(&f, &named[k].form)) a.name = named[k].name;
    for (; stages < SPOT_STAGES && f.count[stages]; stages++) a.blocks += f.count[stages];
    a.features = (f.bottleneck ? 4 : 1) << (stages - 1);
    a.units = units_of(&f);
    return a;
}

const char *spot_arch_name(int arch)                 { return spot_architecture_of(arch).name; }
int         spot_model_features(int arch, int width) { return spot_architecture_of(arch).features * width; }

int spot_model_tensors(int arch) { return arch == SPOT_ARCH_ALEXNET ? 16 : 6 * spot_architecture_of(arch).units + 2; }

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

static size_t resnet_layout(spot_model_tensor *table, int arch, int width)
{
    static const char *const part[6] = { "weight", "weight", "bias", "running_mean", "running_var",
                                         "num_batches_tracked" };
    const int units = spot_architecture_of(arch).units;
    size_t offset = 0;

    for (int u = 0; u < units; u++) {
        const spot_unit l = spot_unit_of(arch, u);
        const spot_unit_name name = spot_unit_name_of(arch, u);
        const int dim[4] = { l.out * width, l.in ? l.in * width : 3, l.k, l.k };
        for (int kind = 0; kind < 6; kind++, table++) {
            offset = put_tensor(table, kind ? name.norm : name.conv, part[kind], kind == 0 ? 4 : kind < 5, dim, offset);
            if (kind == 5) table->count = 0, offset--;
        }
    }
    return offset;
}

static size_t alexnet_layout(spot_model_tensor *table, int width)
{
    const spot_architecture a = spot_architecture_of(SPOT_ARCH_ALEXNET);
    size_t offset = 0;

    for (int u = 0; u < a.units; u++, table += 2) {
        const spot_unit *t = &units_alexnet[u];
        const spot_unit_name name = spot_unit_name_of(SPOT_ARCH_ALEXNET, u);
        const int dim[4] = { t->out * width, t->in ? t->in * width : 3, t->k, t->k };
        offset = put_tensor(&table[0], name.conv, "weight", 4, dim, offset);
        offset = put_tensor(&table[1], name.conv, "bias", 1, dim, offset);
    }
    for (int l = 0; l < 2; l++, table += 2) {
        const int hidden = a.features * width;
        const int dim[4] = { hidden, l ? hidden : 4 * width * SPOT_POOL_MEAN * SPOT_POOL_MEAN };
        offset = put_tensor(&table[0], l ? "classifier.4" : "classifier.1", "weight", 2, dim, offset);
        offset = put_tensor(&table[1], l ? "classifier.4" : "classifier.1", "bias", 1, dim, offset);
    }
    return offset;
}

size_t spot_model_layout(spot_model_tensor *table, int arch, int width, int outputs)
{
    const spot_architecture a = spot_architecture_of(arch);
    const int head = spot_model_tensors(arch) - 2, dim[4] = { outputs, a.features * width };
    size_t offset = arch == SPOT_ARCH_ALEXNET ? alexnet_layout(table, width) : resnet_layout(table, arch, width);

    offset = put_tensor(&table[head], a.head, "weight", 2, dim, offset);
    return put_tensor(&table[head + 1], a.head, "bias", 1, dim, offset);
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
    if (outputs < 0 || outputs > SPOT_MOST_OUTPUTS)
        return spot_fail(c, SPOT_INVALID, "a head of %d outputs; up to %d are possible", outputs, SPOT_MOST_OUTPUTS);
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
