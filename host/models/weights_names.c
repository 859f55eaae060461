/* weights_names.c - see weights_names.h. */
#include "models/weights_names.h"

#include <stdio.h>
#include <string.h>

/* A tensor by which a network is found, wherever its names begin, and one that must be there, too. */
static const struct { const char *mark, *also; bool alexnet, numbered; } marks[] = {
    { "layer1.0.conv1.weight", "conv1.weight", false, false },
    { "4.0.conv1.weight",      "0.weight",     false, true },
    { "features.10.weight",    "features.0.weight", true, false },
};

/* Names of heads, and of what may follow: a number in a Sequential, or the layer of a head that is a module. */
static const char *const heads[] = { "fc", "head", "classifier", "linear", "last_linear", "heads", "linear_head" };
static const char *const inner[] = { "fc", "head" };

static const spot_tensor *find(const spot_tensors *file, const char *prefix, const char *name)
{
    char whole[256];

    snprintf(whole, sizeof whole, "%s%s", prefix, name);
    return spot_tensors_find(file, whole);
}

/* Whether `name` ends with mark k, behind nothing or a point; the letters before it. */
static bool ends_with_mark(const char *name, size_t k, size_t *before)
{
    const size_t n = strlen(name), m = strlen(marks[k].mark);

    *before = n - m;
    return n >= m && !strcmp(name + n - m, marks[k].mark) && (n == m || name[n - m - 1] == '.');
}

/* The tensor with mark k behind number `from`, or file->count. */
static int next_mark(const spot_tensors *file, size_t k, int from, char prefix[160])
{
    size_t before;

    for (; from < file->count; from++) {
        const char *name = file->tensor[from].name;
        if (!ends_with_mark(name, k, &before) || before >= 160) continue;
        snprintf(prefix, 160, "%.*s", (int)before, name);
        if (find(file, prefix, marks[k].also)) return from;
    }
    return from;
}

/* The row of the mark that is there; -1: none. */
static int find_mark(const spot_tensors *file, char prefix[160], int *at)
{
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if ((*at = next_mark(file, k, 0, prefix)) < file->count) return (int)k;
    return -1;
}

bool spot_weights_known(const spot_tensors *file)
{
    char prefix[160];
    int at;

    return find_mark(file, prefix, &at) >= 0;
}

spot_weights_name spot_weights_name_of(const spot_weights_names *n, const char *name)
{
    const spot_architecture a = spot_architecture_of(n->arch);
    const size_t head = strlen(a.head);
    spot_weights_name out;
    const char *down;

    if (!strncmp(name, a.head, head) && name[head] == '.') {
        snprintf(out.text, sizeof out.text, "%s%s", n->head, name + head);
        return out;
    }
    down = n->shortcut ? strstr(name, ".downsample.") : NULL;
    if (n->numbered && !strncmp(name, "layer", 5))
        snprintf(out.text, sizeof out.text, "%s%d%s", n->prefix, name[5] - '0' + 3, name + 6);
    else if (n->numbered)
        snprintf(out.text, sizeof out.text, "%s%d%s", n->prefix, *name == 'b', strchr(name, '.'));
    else if (down)
        snprintf(out.text, sizeof out.text, "%s%.*s.shortcut.%s", n->prefix, (int)(down - name), name, down + 12);
    else
        snprintf(out.text, sizeof out.text, "%s%s", n->prefix, name);
    return out;
}

void spot_shape_words(char *text, size_t size, int rank, const int64_t *dim)
{
    int n = snprintf(text, size, "(");

    for (int i = 0; i < rank && n < (int)size; i++)
        n += snprintf(text + n, size - (size_t)n, "%s%lld", i ? ", " : "", (long long)dim[i]);
    if (n < (int)size) snprintf(text + n, size - (size_t)n, ")");
}

/* -- form ------------------------------------------------------------------------------------------------------------- */

static const spot_tensor *body(const spot_tensors *file, const spot_weights_names *n, const char *name)
{
    return spot_tensors_find(file, spot_weights_name_of(n, name).text);
}

static spot_resnet_form form_of(const spot_tensors *file, const spot_weights_names *n, const spot_tensor *stem)
{
    const spot_tensor *first = body(file, n, "layer1.0.conv1.weight");
    spot_resnet_form f = { .small_stem = stem->dim[2] == 3 };
    char name[48];

    for (int s = 0; s < SPOT_STAGES; s++)
        for (;; f.count[s]++) {
            snprintf(name, sizeof name, "layer%d.%d.conv1.weight", s + 1, f.count[s]);
            if (!body(file, n, name)) break;
        }
    if (body(file, n, "layer1.0.conv3.weight") && first->rank == 4 && first->dim[0] > 0 && stem->dim[0] > 0)
        f.bottleneck = first->dim[0] / stem->dim[0] < 1 ? 1 : (int)(first->dim[0] / stem->dim[0]);
    return f;
}

static spot_status find_form(spot_ctx *c, spot_weights_names *n, const spot_tensors *file, const char *path)
{
    const char *first = n->arch == SPOT_ARCH_ALEXNET ? "features.0.weight" : "conv1.weight";
    const spot_tensor *stem = body(file, n, first);
    spot_resnet_form f;
    char shape[120];

    spot_shape_words(shape, sizeof shape, stem->rank, stem->dim);
    if (stem->rank != 4 || stem->dim[0] < SPOT_LEAST_WIDTH || stem->dim[0] > SPOT_MOST_WIDTH || stem->dim[0] % SPOT_LEAST_WIDTH)
        return spot_fail(c, SPOT_INPUT, "{weights.width} %s: %s has the shape %s; the first layer of a network that Spotter "
                         "computes has (WIDTH, 3, K, K), its width a multiple of %d from there to %d", path, stem->name, shape,
                         SPOT_LEAST_WIDTH, SPOT_MOST_WIDTH);
    n->width = (int)stem->dim[0];
    if (n->arch == SPOT_ARCH_ALEXNET) return SPOT_OK;
    n->shortcut = !body(file, n, "layer2.0.downsample.0.weight");
    n->shortcut = n->shortcut && body(file, n, "layer2.0.downsample.0.weight");        /* by the other name */
    f = form_of(file, n, stem);
    n->arch = spot_arch_of_form(&f);
    if (n->arch >= 0) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{weights.depth} %s: a ResNet of %d, %d, %d and %d blocks whose bottlenecks are %d widths "
                     "wide is larger than Spotter computes", path, f.count[0], f.count[1], f.count[2], f.count[3],
                     f.bottleneck);
}

/* -- head ------------------------------------------------------------------------------------------------------------- */

static bool is_word(const char *text, size_t n, const char *const *words, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (strlen(words[k]) == n && !strncmp(text, words[k], n)) return true;
    return false;
}

/* Whether a tensor is a head's weights by its name: outside the body's prefix or within it, a head's word, and perhaps one
 * more; or a number behind numbered layers. */
static bool is_head(const spot_weights_names *n, const char *name)
{
    const size_t all = strlen(name), end = all > 7 && !strcmp(name + all - 7, ".weight") ? all - 7 : 0;
    size_t same = 0, start = 0, word, rest;

    while (name[same] && name[same] == n->prefix[same]) {
        if (name[same++] == '.') start = same;
    }
    word = strcspn(name + start, ".");
    rest = start + word + 1 < end ? end - (start + word + 1) : 0;
    if (n->numbered && word && start + word == end && strspn(name + start, "0123456789") == word) return true;
    if (start + word > end || !is_word(name + start, word, heads, sizeof heads / sizeof *heads)) return false;
    return !rest || strspn(name + start + word + 1, "0123456789") == rest
        || is_word(name + start + word + 1, rest, inner, sizeof inner / sizeof *inner);
}

bool spot_weights_is_head(const char *name) { return is_head(&(spot_weights_names){ 0 }, name); }

/* AlexNet's classifier has two more layers, which are of its body. */
static spot_status find_head(spot_ctx *c, spot_weights_names *n, const spot_tensors *file, const char *path)
{
    const int features = spot_model_features(n->arch, n->width);
    const spot_tensor *e = NULL;
    char shape[120];

    if (n->arch == SPOT_ARCH_ALEXNET) e = find(file, n->prefix, "classifier.6.weight");
    for (int i = 0; i < file->count && n->arch != SPOT_ARCH_ALEXNET; i++) {
        const spot_tensor *t = &file->tensor[i];
        if (!is_head(n, t->name) || t->rank != 2) continue;
        if (e)
            return spot_fail(c, SPOT_INPUT, "{weights.heads} %s: %.80s and %.80s follow the features; a head of one linear "
                             "layer is known, and a file without any serves where features alone are wanted", path, e->name,
                             t->name);
        e = t;
    }
    if (!e) return SPOT_OK;
    spot_shape_words(shape, sizeof shape, e->rank, e->dim);
    if (e->rank != 2 || e->dim[1] != features || e->dim[0] < 1 || e->dim[0] > SPOT_MOST_OUTPUTS)
        return spot_fail(c, SPOT_INPUT, "{weights.shape} %s: %.80s has the shape %s; the head of a %s of width %d has "
                         "(OUTPUTS, %d)", path, e->name, shape, spot_arch_name(n->arch), n->width, features);
    snprintf(n->head, sizeof n->head, "%.*s", (int)strlen(e->name) - 7, e->name);
    n->bias = find(file, n->head, ".bias");
    n->outputs = (int)e->dim[0];
    return SPOT_OK;
}

/* -- the file --------------------------------------------------------------------------------------------------------- */

spot_status spot_weights_find(spot_ctx *c, spot_weights_names *n, const spot_tensors *file, const char *path)
{
    char other[160];
    int at, k;

    memset(n, 0, sizeof *n);
    k = find_mark(file, n->prefix, &at);
    if (k < 0)
        return spot_fail(c, SPOT_INPUT, "{weights.no_tensor} %s has no %s behind any prefix: not torchvision's ResNet or "
                         "AlexNet, which begin with conv1.weight and features.0.weight", path, marks[0].mark);
    if (next_mark(file, (size_t)k, at + 1, other) < file->count)
        return spot_fail(c, SPOT_INPUT, "{weights.several} %s holds two networks, whose names begin with \"%.60s\" and "
                         "\"%.60s\"; save one of them alone", path, n->prefix, other);
    n->numbered = marks[k].numbered;
    n->arch = marks[k].alexnet ? SPOT_ARCH_ALEXNET : SPOT_ARCH_RESNET18;
    SPOT_TRY(find_form(c, n, file, path));
    return find_head(c, n, file, path);
}

void spot_weights_words(char *text, size_t size, const spot_weights_names *n)
{
    const bool resnet = n->arch != SPOT_ARCH_ALEXNET;
    const char *usual = spot_architecture_of(n->arch).head, *behind = strncmp(n->head, n->prefix, strlen(n->prefix)) ? n->head
                                                                    : n->head + strlen(n->prefix);
    int at = 0;

    *text = 0;
#define ADD(...) at += snprintf(text + at, at < (int)size ? size - at : 0, __VA_ARGS__)
    if (*n->prefix) ADD("; its names begin with %s", n->prefix);
    if (!*n->head) ADD("; it has no head: features alone");
    else if (strcmp(behind, usual)) ADD("; its head is %s", n->head);
    if (resnet && spot_form_of_arch(n->arch).small_stem)
        ADD("; its first layer is 3x3: of stride 1, without a max-pool, as for CIFAR");
#undef ADD
}
