/* forest_file.c - a forest as a safetensors file, and the checks of one that was read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/safetensors.h"
#include "stats/forest_grow.h"

#define FORMAT "spotter forest 1"
static const char *const profiles[SPOT_FOREST_PROFILES] = { "bagged", "samme_r", "samme" };

/* -- checks ---------------------------------------------------------------------------------------------------------------- */

/* Children come after their parent, each node but the first has one, and covers and shares are possible. held: (nodes) */
static spot_status check_tree(spot_ctx *c, const spot_forest *f, int t, unsigned char *held, const char *name)
{
    const spot_forest_node *node = f->node + f->start[t];
    const int nodes = f->start[t + 1] - f->start[t];

    memset(held, 0, (size_t)nodes);
    for (int i = 0; i < nodes; i++) {
        const spot_forest_node *n = &node[i];
        const double *share = f->share + (size_t)(f->start[t] + i) * (size_t)f->classes;
        double all = 0;
        if (!(n->cover > 0 && n->cover < INFINITY) || (i && !held[i]))
            return spot_fail(c, SPOT_INPUT, "{forest.node} %s: node %d of tree %d %s; it is damaged", name, i, t,
                             i && !held[i] ? "has no parent" : "covers no rows");
        if (n->feature >= f->features || n->feature < -1 || !isfinite(n->threshold))
            return spot_fail(c, SPOT_INPUT, "{forest.node_question} %s: node %d of tree %d asks for feature %d of %d <= %g; it "
                             "is damaged", name, i, t, n->feature, f->features, n->threshold);
        for (int k = 0; n->feature < 0 && k < f->classes; k++) all += share[k] >= 0 && share[k] <= 1 ? share[k] : NAN;
        if (n->feature < 0 && !(fabs(all - 1) < 1e-6))
            return spot_fail(c, SPOT_INPUT, "{forest.node_shares} %s: the class shares of node %d of tree %d do not add up to "
                             "1; it is damaged", name, i, t);
        if (n->feature < 0) continue;
        if (n->left <= i || n->right <= i || n->left >= nodes || n->right >= nodes || n->left == n->right || held[n->left] ||
            held[n->right])
            return spot_fail(c, SPOT_INPUT, "{forest.node_children} %s: node %d of tree %d leads to nodes %d and %d; it is "
                             "damaged", name, i, t, n->left, n->right);
        if (!(fabs(node[n->left].cover + node[n->right].cover - n->cover) <= 1e-6 * n->cover))
            return spot_fail(c, SPOT_INPUT, "{forest.node_rows} %s: the children of node %d of tree %d do not cover its rows; "
                             "it is damaged", name, i, t);
        held[n->left] = held[n->right] = 1;
    }
    return SPOT_OK;
}

spot_status spot_forest_check(spot_ctx *c, const spot_forest *f, const char *name)
{
    unsigned char *held;
    spot_status s = SPOT_OK;

    if (f->features < 1 || f->classes < 2 || f->classes > SPOT_TREE_CLASSES || f->trees < 1 || f->start[0])
        return spot_fail(c, SPOT_INPUT, "{forest.sizes} %s: a forest of %d features, %d classes, %d trees", name, f->features,
                         f->classes, f->trees);
    for (int t = 0; t < f->trees; t++)
        if (f->start[t + 1] <= f->start[t] || !(f->vote[t] > 0 && f->vote[t] < 1e100))
            return spot_fail(c, SPOT_INPUT, "{forest.tree} %s: tree %d has %d nodes and vote %g; it is damaged", name, t,
                             f->start[t + 1] - f->start[t], f->vote[t]);
    for (int j = 0; j < f->features; j++)
        if (!isfinite(f->least[j]) || !isfinite(f->most[j]) || f->least[j] > f->most[j])
            return spot_fail(c, SPOT_INPUT, "{forest.range} %s: feature %d ranges from %g to %g; it is damaged", name, j,
                             f->least[j], f->most[j]);
    held = malloc((size_t)f->start[f->trees]);
    if (!held) return spot_fail(c, SPOT_NOMEM, "%s: no memory for %d nodes", name, f->start[f->trees]);
    for (int t = 0; t < f->trees && s == SPOT_OK; t++) s = check_tree(c, f, t, held, name);
    free(held);
    return s == SPOT_OK ? spot_forest_kept_check(c, f, name) : s;
}

/* -- writing --------------------------------------------------------------------------------------------------------------- */

enum { NOTES = 3, KEPT = 5 };  /* beside names; tensors of kept rows */

static spot_status save_all(spot_ctx *c, const spot_forest *f, const char *path, int *index, double *number,
                            spot_tensor_note *note, char (*key)[32])
{
    const size_t nodes = (size_t)f->start[f->trees], kept = (size_t)f->kept.rows;
    int notes = 0;

    for (size_t i = 0; i < nodes; i++) {
        const spot_forest_node *n = &f->node[i];
        index[i] = n->feature, index[nodes + i] = n->left, index[2 * nodes + i] = n->right;
        number[i] = n->threshold, number[nodes + i] = n->cover;
    }
    spot_tensor tensor[] = {
        spot_tensor_of("threshold", SPOT_F64, nodes, 0, number), spot_tensor_of("cover", SPOT_F64, nodes, 0, number + nodes),
        spot_tensor_of("share", SPOT_F64, nodes, f->classes, f->share),
        spot_tensor_of("vote", SPOT_F64, (size_t)f->trees, 0, f->vote),
        spot_tensor_of("least", SPOT_F32, (size_t)f->features, 0, f->least),
        spot_tensor_of("most", SPOT_F32, (size_t)f->features, 0, f->most),
        spot_tensor_of("start", SPOT_I32, (size_t)f->trees + 1, 0, f->start),
        spot_tensor_of("feature", SPOT_I32, nodes, 0, index), spot_tensor_of("left", SPOT_I32, nodes, 0, index + nodes),
        spot_tensor_of("right", SPOT_I32, nodes, 0, index + 2 * nodes),
        spot_tensor_of("kept.x", SPOT_F32, kept, f->features, f->kept.x),
        spot_tensor_of("kept.class", SPOT_I32, kept, 0, f->kept.cls),
        spot_tensor_of("kept.group", SPOT_I32, kept, 0, f->kept.group),
        spot_tensor_of("kept.share", SPOT_F64, kept, f->classes, f->kept.share),
        spot_tensor_of("kept.aside", SPOT_F32, kept, 0, f->kept.aside),
    };
    const int tensors = (int)(sizeof tensor / sizeof *tensor) - (kept ? 0 : KEPT);
    note[notes++] = (spot_tensor_note){ "format", FORMAT };
    note[notes++] = (spot_tensor_note){ "profile", profiles[f->profile] };
    if (f->about) note[notes++] = (spot_tensor_note){ "about", f->about };
    for (int i = 0; f->feature_name && i < f->features; i++, key++, notes++) {
        snprintf(*key, sizeof *key, "feature.%d", i);
        note[notes] = (spot_tensor_note){ *key, f->feature_name[i] };
    }
    for (int i = 0; f->class_name && i < f->classes; i++, key++, notes++) {
        snprintf(*key, sizeof *key, "class.%d", i);
        note[notes] = (spot_tensor_note){ *key, f->class_name[i] };
    }
    return spot_tensors_save_with(c, path, tensor, tensors, note, notes);
}

spot_status spot_forest_save(spot_ctx *c, const spot_forest *f, const char *path)
{
    const size_t nodes = (size_t)f->start[f->trees], names = (size_t)f->features + (size_t)f->classes;
    int *index = malloc(3 * nodes * sizeof *index);
    double *number = malloc(2 * nodes * sizeof *number);
    spot_tensor_note *note = malloc((names + NOTES) * sizeof *note);
    char (*key)[32] = malloc(names * sizeof *key);
    spot_status s;

    if (!index || !number || !note || !key) s = spot_fail(c, SPOT_NOMEM, "%s: no memory for %zu nodes", path, nodes);
    else s = save_all(c, f, path, index, number, note, key);
    free(index), free(number), free(note), free(key);
    return s;
}

/* -- reading --------------------------------------------------------------------------------------------------------------- */

typedef struct { const spot_tensors *t; const char *path; } file;

/* The tensor of this type, rank and size; rows, columns -1: any. */
static spot_status find(spot_ctx *c, const file *in, const spot_tensor **out, const char *name, spot_dtype type, int64_t rows,
                        int64_t columns)
{
    const spot_tensor *t = *out = spot_tensors_find(in->t, name);
    const int rank = columns ? 2 : 1;

    if (!t) return spot_fail(c, SPOT_INPUT, "{forest.no_tensor} %s is no forest: it has no tensor \"%s\"", in->path, name);
    if (t->type != type || t->rank != rank || (rows >= 0 && t->dim[0] != rows) || (columns > 0 && t->dim[1] != columns))
        return spot_fail(c, SPOT_INPUT,
                         "{forest.tensor} %s: \"%s\" has type %.20s, rank %d, %lld rows; wanted %s, rank %d, %lld rows",
                         in->path, name, t->dtype, t->rank, t->rank ? (long long)t->dim[0] : 0, spot_dtype_name(type), rank,
                         (long long)rows);
    return SPOT_OK;
}

static spot_status copy_tensor(spot_ctx *c, const file *in, void *to, const char *name, spot_dtype type, int64_t rows,
                               int64_t columns)
{
    const spot_tensor *t;

    SPOT_TRY(find(c, in, &t, name, type, rows, columns));
    memcpy(to, t->data, t->bytes);
    return SPOT_OK;
}

/* The names feature.0, ...; none if the first is missing. */
static spot_status read_names(spot_ctx *c, const file *in, const char ***out, const char *kind, int count)
{
    const char **name = calloc((size_t)count, sizeof *name);

    *out = NULL;
    if (!name) return spot_fail(c, SPOT_NOMEM, "%s: no memory for %d names", in->path, count);
    for (int i = 0; i < count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s.%d", kind, i);
        name[i] = spot_tensors_note(in->t, key);
        if (!i && !name[i]) break;
        if (!name[i]) {
            free(name);
            return spot_fail(c, SPOT_INPUT, "{forest.names} %s: %s has no name, though %s.0 has one; it is damaged", in->path,
                             key, kind);
        }
    }
    if (name[0]) *out = name;
    else free(name);
    return SPOT_OK;
}

static spot_status read_nodes(spot_ctx *c, const file *in, spot_forest *f, int nodes)
{
    struct { const char *name; spot_dtype type; const spot_tensor *t; } column[] = {
        { "feature", SPOT_I32, NULL }, { "left", SPOT_I32, NULL }, { "right", SPOT_I32, NULL }, { "threshold", SPOT_F64, NULL },
        { "cover", SPOT_F64, NULL },
    };

    for (int k = 0; k < 5; k++) SPOT_TRY(find(c, in, &column[k].t, column[k].name, column[k].type, nodes, 0));
    for (size_t i = 0; i < (size_t)nodes; i++) {
        spot_forest_node *n = &f->node[i];
        memcpy(&n->feature, (const char *)column[0].t->data + i * sizeof(int), sizeof(int));
        memcpy(&n->left, (const char *)column[1].t->data + i * sizeof(int), sizeof(int));
        memcpy(&n->right, (const char *)column[2].t->data + i * sizeof(int), sizeof(int));
        memcpy(&n->threshold, (const char *)column[3].t->data + i * sizeof(double), sizeof(double));
        memcpy(&n->cover, (const char *)column[4].t->data + i * sizeof(double), sizeof(double));
    }
    SPOT_TRY(copy_tensor(c, in, f->share, "share", SPOT_F64, nodes, f->classes));
    SPOT_TRY(copy_tensor(c, in, f->vote, "vote", SPOT_F64, f->trees, 0));
    SPOT_TRY(copy_tensor(c, in, f->least, "least", SPOT_F32, f->features, 0));
    SPOT_TRY(copy_tensor(c, in, f->most, "most", SPOT_F32, f->features, 0));
    return copy_tensor(c, in, f->start, "start", SPOT_I32, f->trees + 1, 0);
}

static spot_status read_profile(spot_ctx *c, const file *in, spot_forest_profile *out)
{
    const char *format = spot_tensors_note(in->t, "format"), *profile = spot_tensors_note(in->t, "profile");

    if (!format || strcmp(format, FORMAT))
        return spot_fail(c, SPOT_INPUT, "{forest.format} %s is no forest: its format is not \"" FORMAT "\"", in->path);
    for (int k = 0; profile && k < SPOT_FOREST_PROFILES; k++)
        if (!strcmp(profile, profiles[k])) {
            *out = (spot_forest_profile)k;
            return SPOT_OK;
        }
    return spot_fail(c, SPOT_INPUT, "{forest.profile} %s: its profile is none of bagged, samme_r, samme", in->path);
}

static spot_status read_texts(spot_ctx *c, const file *in, spot_forest *f)
{
    const char **feature = NULL, **cls = NULL;
    spot_status s = read_names(c, in, &feature, "feature", f->features);

    if (s == SPOT_OK) s = read_names(c, in, &cls, "class", f->classes);
    if (s == SPOT_OK && spot_forest_name(c, f, feature, cls, spot_tensors_note(in->t, "about")) != SPOT_OK) {
        spot_forget(c);
        s = spot_fail(c, SPOT_INPUT, "%s: a name has control characters, or there is no memory for it", in->path);
    }
    free(feature), free(cls);
    return s;
}

static spot_status read_kept(spot_ctx *c, const file *in, spot_forest *f)
{
    const spot_tensor *t = spot_tensors_find(in->t, "kept.x");
    int rows;

    if (!t) return SPOT_OK;
    SPOT_TRY(find(c, in, &t, "kept.x", SPOT_F32, -1, f->features));
    if (t->dim[0] < 1 || t->dim[0] > INT32_MAX)
        return spot_fail(c, SPOT_INPUT, "%s keeps %lld rows; it is damaged", in->path, (long long)t->dim[0]);
    rows = (int)t->dim[0];
    SPOT_TRY(spot_forest_kept_take(c, f, rows));
    SPOT_TRY(copy_tensor(c, in, f->kept.x, "kept.x", SPOT_F32, rows, f->features));
    SPOT_TRY(copy_tensor(c, in, f->kept.cls, "kept.class", SPOT_I32, rows, 0));
    SPOT_TRY(copy_tensor(c, in, f->kept.group, "kept.group", SPOT_I32, rows, 0));
    SPOT_TRY(copy_tensor(c, in, f->kept.aside, "kept.aside", SPOT_F32, rows, 0));
    return copy_tensor(c, in, f->kept.share, "kept.share", SPOT_F64, rows, f->classes);
}

static spot_status read_forest(spot_ctx *c, const file *in, spot_forest *f)
{
    const spot_tensor *start, *share, *least;
    spot_forest_profile profile = SPOT_FOREST_BAGGED;

    SPOT_TRY(read_profile(c, in, &profile));
    SPOT_TRY(find(c, in, &start, "start", SPOT_I32, -1, 0));
    SPOT_TRY(find(c, in, &share, "share", SPOT_F64, -1, -1));
    SPOT_TRY(find(c, in, &least, "least", SPOT_F32, -1, 0));
    if (start->dim[0] < 2 || start->dim[0] > INT32_MAX || least->dim[0] < 1 || least->dim[0] > INT32_MAX || share->dim[0] < 1 ||
        share->dim[0] > INT32_MAX || share->dim[1] < 2 || share->dim[1] > SPOT_TREE_CLASSES)
        return spot_fail(c, SPOT_INPUT, "%s: %lld trees, %lld features, %lld nodes of %lld classes are no forest", in->path,
                         (long long)start->dim[0] - 1, (long long)least->dim[0], (long long)share->dim[0],
                         (long long)share->dim[1]);
    SPOT_TRY(spot_forest_take(c, f, (int)least->dim[0], (int)share->dim[1], (int)start->dim[0] - 1, (int)share->dim[0]));
    f->profile = profile;
    SPOT_TRY(read_nodes(c, in, f, (int)share->dim[0]));
    if (f->start[f->trees] != share->dim[0])
        return spot_fail(c, SPOT_INPUT, "%s: its trees end at node %d of %lld; it is damaged", in->path, f->start[f->trees],
                         (long long)share->dim[0]);
    SPOT_TRY(read_kept(c, in, f));
    SPOT_TRY(spot_forest_check(c, f, in->path));
    return read_texts(c, in, f);
}

static spot_status take_forest(spot_ctx *c, spot_forest *f, spot_tensors *t, const char *name)
{
    const file in = { t, name };
    const spot_status s = read_forest(c, &in, f);

    spot_tensors_close(t);
    if (s != SPOT_OK) spot_forest_close(f);
    return s;
}

spot_status spot_forest_open(spot_ctx *c, spot_forest *f, const char *path)
{
    spot_tensors t;

    *f = (spot_forest){ 0 };
    SPOT_TRY(spot_tensors_open(c, &t, path));
    return take_forest(c, f, &t, path);
}

spot_status spot_forest_parse(spot_ctx *c, spot_forest *f, const void *bytes, size_t size, const char *name)
{
    spot_tensors t;

    *f = (spot_forest){ 0 };
    SPOT_TRY(spot_tensors_parse(c, &t, bytes, size, name));
    return take_forest(c, f, &t, name);
}
