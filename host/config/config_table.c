/* config_table.c - the settings. */
#include "config/config_table.h"

#include <stdio.h>
#include <string.h>

#define NAMES(...) (const char *const[]){ __VA_ARGS__, NULL }
#define ROW(name_, kind_, type, field, help_, ...) \
    { .name = name_, .kind = SETTING_##kind_, .offset = offsetof(type, field), .help = help_, __VA_ARGS__ }
#define IN(least, most) .lo = (least), .hi = (most)
#define END { .name = NULL }

static const spot_setting per_bucket[] = {
#define S(name_, split, help_) \
    { .name = name_, .kind = SETTING_INT, .offset = (split) * sizeof(int), IN(1, 1e6), .help = help_ }
    S("train", SPOT_TRAIN, "training images a bucket"),
    S("val",   SPOT_VAL,   "validation images a bucket"),
    S("test",  SPOT_TEST,  "test images a bucket"),
#undef S
    END
};

static const spot_setting scene[] = {
#define S(name, kind, field, help, ...) ROW(name, kind, spot_scene_config, field, help, __VA_ARGS__)
    S("size",         INT,   size,         "pixels a side; scales the geometry (the authors': 224)", IN(32, 1024)),
    S("rollable",     RANGE, rollable,     "attributes that vary in an EC, presences counted", IN(1, 16)),
    S("extra_layers", RANGE, extra_layers, "object layers besides the square", IN(0, 3)),
    S("blindspots",   RANGE, blindspots,   "blindspots of an EC", IN(1, SPOT_MAX_BLINDSPOTS)),
    S("specificity",  RANGE, specificity,  "attributes that define a blindspot", IN(1, SPOT_MAX_TRIPLETS)),
    S("per_bucket",   GROUP, per_bucket,   "images of a split = this x 2^rollable", .rows = per_bucket),
    S("attribute_choice", NAME, attribute_choice,
      "how a blindspot's attributes are drawn: uniformly over pairs (code) or layer first (paper)",
      .names = NAMES("pairs", "layer_first")),
    S("square_presence", NAME, square_presence, "every blindspot has a square (code) or not (paper)",
      .names = NAMES("forced", "free")),
    S("text_alternative", NAME, text_alternative, "\"small\" text is larger (code) or smaller (paper)",
      .names = NAMES("larger", "smaller")),
    S("jpeg_quality", INT,   jpeg_quality, "0: lossless images; 75: through JPEG, as the authors' files went", IN(0, 100)),
    S("flip",         REAL,  flip,         "chance that a blindspot's label is flipped in train and val", IN(0, 1)),
    S("induce",       NAME,  induce,       "what plants a blindspot: labels flipped, or none of it in training (appendix B)",
      .names = NAMES("flip", "leave_out")),
#undef S
    END
};

static const spot_setting data[] = {
#define S(name, kind, field, help, ...) ROW(name, kind, spot_photos_config, field, help, __VA_ARGS__)
    S("coco",    TEXT, coco,    "annotation files in COCO's format, ':' between them", .hi = 512),
    S("images",  TEXT, images,  "the folder of their pictures, or one for each file, ':' between them", .hi = 512),
    S("tasks",   TEXT, tasks,   "super-categories, ',' between them: is one of its objects in the picture?", .hi = 256),
    S("against", TEXT, against, "negatives show an object of this super-category; \"\": anything but the task's", .hi = 64),
    S("size",    INT,  size,    "pixels a side", IN(32, 1024)),
    S("fit",     NAME, fit,     "how a picture becomes square: black bars, or its middle", .names = NAMES("pad", "crop")),
    S("val",     REAL, val,     "share of the pictures that validate", IN(0, 1)),
    S("test",    REAL, test,    "share that tests; the rest trains", IN(0, 1)),
    S("pool",    NAME, pool,
      "which ECs: all mixed; each category alone; conditioned on less-specific blindspots, or on one blindspot",
      .names = NAMES("general", "singles", "number", "specificity")),
    S("blindspots", RANGE, blindspots, "blindspots of an EC", IN(1, SPOT_MAX_BLINDSPOTS)),
    S("each",    INT,  each,    "ECs of a kind in a conditioned pool, at most", IN(1, 1e6)),
    S("induced", TEXT, induced, "categories of conditioned pools, ',' between them: those that singles induced; \"\": all",
      .hi = 1024),
    S("pair_least", INT, pair_least,
      "training pictures with and without a second category that make it eligible to define a blindspot", IN(1, 1e9)),
    S("category_least", INT, category_least, "pictures of a category in a task that may be a blindspot", IN(1, 1e9)),
    S("flip",    REAL, flip,    "chance that a blindspot's label is flipped in training", IN(0, 1)),
    S("flip_val", SWITCH, flip_val, "it is flipped in val, too, by which the best epoch is chosen", .hi = 1),
#undef S
    END
};

static bool reads_pictures(const void *config)  { return ((const spot_config *)config)->data.coco[0]; }
static bool renders_scenes(const void *config)  { return !reads_pictures(config); }

static const spot_setting base[] = {
#define S(name, kind, field, help, ...) ROW(name, kind, spot_base_config, field, help, __VA_ARGS__)
    S("images", INT,  images, "training images; 0: no base model", IN(0, 1e8)),
    S("epochs", INT,  epochs, "passes over them", IN(1, SPOT_MAX_EPOCHS)),
    S("lr",     REAL, lr,     "learning rate; the peak of one_cycle", IN(1e-9, 100)),
#undef S
    END
};

static const spot_setting robust[] = {
#define S(name, kind, field, help, ...) ROW(name, kind, spot_robust_config, field, help, __VA_ARGS__)
    S("epsilon", REAL, epsilon, "radius of the attack: L2, pixels from 0 to 1, at 224 pixels a side (x size/224 at others)",
      IN(0, 1000)),
    S("steps",   INT,  steps,   "of the attack on each batch", IN(1, 100)),
    S("step",    REAL, step,    "length of one, in epsilons", IN(0, 100)),
    S("random",  SWITCH, random, "the attack begins on the sphere around the image (off: with the image itself)", .hi = 1),
    S("epochs",  INT,  epochs,  "passes over the training images", IN(1, SPOT_MAX_EPOCHS)),
    S("lr",      REAL, lr,      "learning rate; the peak of one_cycle", IN(1e-9, 100)),
#undef S
    END
};

static const spot_setting model[] = {
#define S(name, kind, field, help, ...) ROW(name, kind, spot_model_config, field, help, __VA_ARGS__)
    S("arch",      NAME, arch,      "the network", .names = NAMES("resnet18")),
    S("width",     INT,  width,     "channels of the first stage; 64 is the real ResNet-18", IN(16, 256), .unit = 16),
    S("epochs",    INT,  epochs,    "passes over the training images", IN(1, SPOT_MAX_EPOCHS)),
    S("batch",     INT,  batch,     "images a step", IN(2, 4096)),
    S("optimizer", NAME, optimizer, "Adam (0.9, 0.999, 1e-8) or SGD", .names = NAMES("adam", "sgd")),
    S("lr",        REAL, lr,        "learning rate; the peak of one_cycle", IN(1e-9, 100)),
    S("momentum",  REAL, momentum,  "of SGD", IN(0, 0.9999)),
    S("weight_decay", REAL, weight_decay, "L2 on every weight", IN(0, 1)),
    S("schedule",  NAME, schedule,  "of the learning rate", .names = NAMES("constant", "one_cycle")),
    S("precision", NAME, precision, "of the arithmetic; the CPU knows fp32 only", .names = NAMES("fp32", "tf32", "bf16")),
    S("init",      TEXT, init,      "\"\" for He initialisation, or a .safetensors file with torchvision's names", .hi = 256),
    S("base",      GROUP, base,     "a network that first learns every attribute; all ECs start from it", .rows = base),
    S("robust",    GROUP, robust,  "a second network, trained against an adversary, for methods that look at robust features",
      .rows = robust),
    S("keep_best", SWITCH, keep_best, "keep the epoch of the least validation loss instead of the last", .hi = 1),
    S("lanes",     INT,  lanes,     "pieces a batch is cut into; changes bits, not meaning", IN(1, 64)),
    S("learned_outside", REAL, learned_outside, "an EC is learned if accuracy outside its blindspots is at least this",
      IN(0, 1)),
    S("learned_inside",  REAL, learned_inside,  "... and inside each of them at most this", IN(0, 1)),
    S("learned_gap",     REAL, learned_gap,
      "in place of these: by how much less test positives inside each are recalled than outside; 0: not asked", IN(0, 1)),
    S("learned_rest",    NAME, learned_rest, "of learned_gap, outside: of the blindspot at hand, or of all",
      .names = NAMES("this", "all")),
#undef S
    END
};

static const spot_setting tsne[] = {
#define S(name, kind, field, help, ...) ROW(name, kind, spot_tsne_config, field, help, __VA_ARGS__)
    S("perplexity",   REAL, perplexity,   "effective neighbours", IN(1, 1000)),
    S("iterations",   INT,  iterations,   "the first 250 are exaggerated", IN(1, 100000)),
    S("exaggeration", REAL, exaggeration, "of the first 250 iterations", IN(1, 100)),
    S("lr",           REAL, lr,           "0: max(n / exaggeration / 4, 50)", IN(0, 1e6)),
    S("repulsion",    NAME, repulsion,    "of all pairs, or interpolated (1 and 2 dimensions); auto: exact up to 20000 points",
      .names = NAMES("auto", "exact", "fft")),
#undef S
    END
};

static const spot_setting compat[] = {
#define S(name, help) ROW(#name, SWITCH, spot_scvis_config, compat.name, help, .hi = 1)
    S(perplexity_log2, "target entropy log2(perplexity) though entropy is in nats: 10 acts as 27.7"),
    S(drop_tail,       "the last partial batch of an epoch is dropped"),
    S(max_abs,         "input divided by its largest absolute value (off: standardised columns)"),
    S(weight_dropout,  "keep 0.9 on the weight matrix of the encoder's mean head"),
    S(kl_decay,        "KL times max(0.1, D/t) (off: 1)"),
    S(tsne_ramp,       "t-SNE term times min(t, D) (off: D)"),
    S(column_weight,   "likelihood weighted by the clipped column sums of P (off: 1)"),
    S(adam_eps,        "epsilon 1e-3 (off: 1e-8)"),
#undef S
    END
};

static const spot_setting scvis[] = {
#define S(name, kind, field, help, ...) ROW(name, kind, spot_scvis_config, field, help, __VA_ARGS__)
    S("perplexity", REAL, perplexity, "effective neighbours", IN(1, 1000)),
    S("batch",      INT,  batch,      "rows a step, at most all", IN(2, 4096)),
    S("iterations", INT,  iterations, "0: the original's rule, 3000 to 30000", IN(0, 1000000)),
    S("lr",         REAL, lr,         "Adam's learning rate", IN(1e-9, 100)),
    S("l2",         REAL, l2,         "on the weights", IN(0, 1)),
    { .name = "compat", .kind = SETTING_GROUP, .rows = compat, .help = "each on = the original implementation's behaviour" },
#undef S
    END
};

static const spot_setting mixture[] = {
#define S(name, kind, field, help, ...) ROW(name, kind, spot_mixture_config, field, help, __VA_ARGS__)
    S("k_min", INT,  k_min, "fewest components tried", IN(1, SPOT_MAX_COMPONENTS)),
    S("k_max", INT,  k_max, "most components tried", IN(1, SPOT_MAX_COMPONENTS)),
    S("tol",   REAL, tol,   "of the mean log-likelihood: EM ends below it", IN(0, 1)),
    S("ridge", REAL, ridge, "added to every variance", IN(0, 1)),
    S("max_iterations", INT, max_iterations, "of EM", IN(1, 100000)),
#undef S
    END
};

static const spot_setting umap[] = {
#define S(name, kind, field, help, ...) ROW(name, kind, spot_umap_config, field, help, __VA_ARGS__)
    S("neighbours", INT,  neighbours, "of a point, itself counted", IN(2, 1000)),
    S("min_dist",   REAL, min_dist,   "how near points may lie on the map", IN(0, 100)),
    S("spread",     REAL, spread,     "scale of the map", IN(0.001, 100)),
    S("epochs",     INT,  epochs,     "0: 500 up to 10000 points, 200 above", IN(0, 100000)),
    S("negatives",  INT,  negatives,  "points that each drawn edge repels", IN(0, 1000)),
    S("lr",         REAL, lr,         "at the first epoch; it falls to 0", IN(1e-9, 100)),
#undef S
    END
};

const char *const spot_method_names[] = {
#define X(NAME, name) #name,
    SPOT_BDM_METHODS(X)
#undef X
    NULL
};

#define BIT(method) (1u << SPOT_##method)
#define OF(methods) .only = (methods)

static const spot_setting bdm[] = {
#define S(name, kind, field, help, ...) ROW(name, kind, spot_bdm_config, field, help, __VA_ARGS__)
    S("method",  NAME,  method,        "the blindspot discovery method",
      .names = spot_method_names),
    S("name",    TEXT,  name,
      "label in tables; \"\": the method, and its reducer and representation where they are not its own", .hi = 80),
    S("top",     INT,   top,           "hypotheses returned at most", IN(1, SPOT_MAX_HYPOTHESES)),
    S("representation", NAME, representation, "whose features: the classifier's, a robust network's, or those of files",
      .names = NAMES("model", "robust", "file")),
    S("embeddings", TEXT, embeddings,  "for representation: file; folder of ec-000012.safetensors, each a tensor \"embedding\"",
      .hi = 256),
    S("reduce",  NAME,  embed.method,  "dimensionality reduction before the method",
      .names = NAMES("none", "pca", "tsne", "scvis", "umap")),
    S("dim",     INT,   embed.dim,     "dimensions after it; pca: at most rows - 1, and features", IN(1, 4096)),
    S("normalise", SWITCH, embed.normalise, "features to length 1 before it", .hi = 1),
    S("hardness", SWITCH, embed.hardness, "first dimension: along the classifier's direction; the reducer gets the rest",
      .hi = 1),
    S("tsne",    GROUP, embed.tsne,    "for reduce: tsne", .rows = tsne),
    S("scvis",   GROUP, embed.scvis,   "for reduce: scvis", .rows = scvis),
    S("umap",    GROUP, embed.umap,    "for reduce: umap", .rows = umap),
    S("mixture", GROUP, mixture,       "Gaussian mixture; PlaneSpot chooses its size by BIC", .rows = mixture,
      OF(BIT(PLANESPOT) | BIT(DOMINO) | BIT(GEORGE))),
    S("compat",  SWITCH, compat,       "as the method's upstream code does it, to the letter", .hi = 1,
      OF(BIT(SPOTLIGHT) | BIT(BARLOW) | BIT(MULTIACCURACY))),
    S("threshold", REAL, threshold,
      "share of the greatest weight that a row needs (upstream's 0.5 is of weights that sum to 1: no row has it), or of an "
      "auditor's greatest value", IN(0, 1),
      OF(BIT(SPOTLIGHT) | BIT(MULTIACCURACY))),
    S("least",   INT,   least,         "rows of a piece of a cluster, or of a partition, at least", IN(1, 1e9),
      OF(BIT(GEORGE) | BIT(MULTIACCURACY))),
    S("weight",  REAL,  weight,        "the paper's w: of the confidence beside the points", IN(0, 1000), OF(BIT(PLANESPOT))),
    S("norm",    NAME,  norm,          "of the points: min-max, or the released code's (s - min) / max",
      .names = NAMES("minmax", "released"), OF(BIT(PLANESPOT))),
    S("order",   NAME,  order,         "errors that order hypotheses: 1 - confidence, or confidence < 0.5",
      .names = NAMES("soft", "hard"), OF(BIT(PLANESPOT))),
    S("min_weight", REAL, spotlight.min_weight, "least total weight of a spotlight, as a fraction of the rows", IN(1e-6, 0.5),
      OF(BIT(SPOTLIGHT))),
    S("kernel",  NAME,  spotlight.kernel, "exp(-D/2), or max(0, 1 - D)", .names = NAMES("gaussian", "compact"),
      OF(BIT(SPOTLIGHT))),
    S("precision", NAME, spotlight.precision, "one number, or a matrix", .names = NAMES("spherical", "full"),
      OF(BIT(SPOTLIGHT))),
    S("steps",   INT,   spotlight.steps, "of Adam, each spotlight", IN(2, 1e6), OF(BIT(SPOTLIGHT))),
    S("lr",      REAL,  spotlight.lr,  "Adam's first learning rate", IN(1e-9, 100), OF(BIT(SPOTLIGHT))),
    S("patience", INT,  spotlight.patience, "steps without progress before the rate is halved", IN(0, 1e6), OF(BIT(SPOTLIGHT))),
    S("barrier_scale", REAL, spotlight.barrier_scale, "of the penalty on too little weight", IN(0, 1e6), OF(BIT(SPOTLIGHT))),
    S("barrier_end", REAL, spotlight.barrier_end, "its last width, in minimum weights", IN(1e-6, 1), OF(BIT(SPOTLIGHT))),
    S("membership", NAME, spotlight.membership, "weight at least `threshold`, or the `min_weight` x rows of greatest weight",
      .names = NAMES("weight", "top"), OF(BIT(SPOTLIGHT))),
    S("gamma",   REAL,  domino.gamma,  "weight of labels and predictions beside the features", IN(0, 1e6), OF(BIT(DOMINO))),
    S("gamma_hat", REAL, domino.gamma_hat, "of the predictions, where it is another; -1: gamma", IN(-1, 1e6), OF(BIT(DOMINO))),
    S("components", INT, domino.components, "of Domino's mixture", IN(1, 512), OF(BIT(DOMINO))),
    S("start",   NAME,  domino.start,  "from cells of the confusion matrix, or k-means", .names = NAMES("confusion", "kmeans"),
      OF(BIT(DOMINO))),
    S("noise",   REAL,  domino.noise,  "added to the start", IN(0, 1), OF(BIT(DOMINO))),
    S("covariance", NAME, domino.covariance, "of its components", .names = NAMES("diag", "full"), OF(BIT(DOMINO))),
    S("assign",  NAME,  domino.assign, "a row goes to the best of the slices returned, or of all components",
      .names = NAMES("kept", "all"), OF(BIT(DOMINO))),
    S("depth",   INT,   barlow.depth,  "of the decision tree, at most", IN(1, 30), OF(BIT(BARLOW))),
    S("features", INT,  barlow.features, "that the tree may use", IN(1, 1e6), OF(BIT(BARLOW))),
    S("choose",  NAME,  barlow.choose, "features of greatest mutual information with failure, or of greatest mean",
      .names = NAMES("information", "activation"), OF(BIT(BARLOW))),
    S("cluster", NAME,  george.cluster, "how rows are grouped", .names = NAMES("mixture", "kmeans"), OF(BIT(GEORGE))),
    S("clusters", INT,  george.clusters, "groups at most", IN(1, SPOT_MAX_COMPONENTS), OF(BIT(GEORGE))),
    S("search",  SWITCH, george.search, "their number by silhouette, from 2 on (off: exactly `clusters`)", .hi = 1,
      OF(BIT(GEORGE))),
    S("starts",  INT,   george.starts, "of each number of groups", IN(1, 100), OF(BIT(GEORGE))),
    S("overcluster", INT, george.overcluster, "pieces that each group is tried to be cut into; 0: none", IN(0, 16),
      OF(BIT(GEORGE))),
    S("eta",     REAL,  multiaccuracy.eta, "step of the repair after each auditor", IN(1e-9, 100), OF(BIT(MULTIACCURACY))),
    S("ridge",   REAL,  multiaccuracy.ridge, "of the auditors' regression", IN(1e-12, 1e12), OF(BIT(MULTIACCURACY))),
    S("held_out", REAL, multiaccuracy.held_out, "share of the rows by which an auditor is chosen", IN(0.01, 0.9),
      OF(BIT(MULTIACCURACY))),
    S("gain",    REAL,  multiaccuracy.gain, "least held-out correlation of an auditor", IN(0, 1e6), OF(BIT(MULTIACCURACY))),
#undef S
    END
};

static const spot_setting metric[] = {
#define S(name, kind, field, help, ...) ROW(name, kind, spot_metric_config, field, help, __VA_ARGS__)
    S("profile",  NAME, profile,  "thresholds reached (tmlr) or passed (workshop)", .names = NAMES("tmlr", "workshop")),
    S("lambda_p", REAL, lambda_p, "precision from which a hypothesis belongs to a blindspot", IN(0, 1)),
    S("lambda_r", REAL, lambda_r, "recall from which a blindspot is found", IN(0, 1)),
    S("top",      INT,  top,      "hypotheses looked at", IN(1, SPOT_MAX_HYPOTHESES)),
#undef S
    END
};

const spot_setting spot_settings[] = {
#define S(name, kind, field, help, ...) ROW(name, kind, spot_config, field, help, __VA_ARGS__)
    S("seed",   SEED,  seed,   "every random number follows from it", .hi = 0),
    S("ecs",    INT,   ecs,    "experimental configurations: data sets with their blindspots", IN(1, 1000000)),
    S("data",   GROUP, data,   "in place of scene: pictures from files, with what is annotated in them", .rows = data,
      .when = reads_pictures, .otherwise = "needs data.coco, the file of annotations"),
    S("scene",  GROUP, scene,  "the images", .rows = scene,
      .when = renders_scenes, .otherwise = "does not go with data: images are rendered, or read from files"),
    S("model",  GROUP, model,  "the classifier", .rows = model),
    S("bdms",   LIST,  bdm,    "blindspot discovery methods, each one column of the tables", IN(1, SPOT_MAX_BDMS),
      .rows = bdm, .size = sizeof(spot_bdm_config), .count = offsetof(spot_config, bdms)),
    S("metric", GROUP, metric, "when a blindspot counts as found", .rows = metric),
#undef S
    END
};

const spot_setting *spot_setting_find(const spot_setting *rows, const char *name)
{
    for (; rows->name; rows++)
        if (!strcmp(rows->name, name)) return rows;
    return NULL;
}

int spot_settings_count(const spot_setting *rows)
{
    int n = 0;

    while (rows[n].name) n++;
    return n;
}

const spot_setting *spot_settings_at(const char *path, const spot_setting **s)
{
    const spot_setting *rows = spot_settings;
    char word[64];
    int n;

    *s = NULL;
    while (rows && sscanf(path, "%63[^.[]%n", word, &n) == 1) {
        *s = spot_setting_find(rows, word);
        if (!*s) return NULL;
        rows = (*s)->rows;
        path += n;
        if (*path == '[') path += strcspn(path, ".");
        if (*path == '.') path++;
    }
    return rows;
}

bool spot_setting_is_of(const spot_setting *s, const void *group)
{
    return !s->only || (s->only >> ((const spot_bdm_config *)group)->method & 1);
}

bool spot_setting_applies(const spot_setting *s, const void *group)
{
    return spot_setting_is_of(s, group) && (!s->when || s->when(group));
}

bool spot_setting_is_idle(const spot_setting *s, const spot_bdm_config *m)
{
    if (!strcmp(s->name, "dim"))   return m->embed.method == SPOT_REDUCE_NONE;
    if (!strcmp(s->name, "tsne"))  return m->embed.method != SPOT_REDUCE_TSNE;
    if (!strcmp(s->name, "scvis")) return m->embed.method != SPOT_REDUCE_SCVIS;
    if (!strcmp(s->name, "umap"))  return m->embed.method != SPOT_REDUCE_UMAP;
    return false;
}

const char *spot_setting_takes(char *text, size_t size, const spot_setting *s)
{
    size_t n;

    switch (s->kind) {
    case SETTING_INT:
        snprintf(text, size, "%s %.0f to %.0f", "an integer from", s->lo, s->hi);
        if (s->unit) {
            n = strlen(text);
            snprintf(text + n, size - n, ", a multiple of %d", s->unit);
        }
        break;
    case SETTING_RANGE:  snprintf(text, size, "[least, most], integers from %.0f to %.0f", s->lo, s->hi); break;
    case SETTING_SEED:   snprintf(text, size, "an integer from 0 to 18446744073709551615"); break;
    case SETTING_REAL:   snprintf(text, size, "a number from %g to %g", s->lo, s->hi); break;
    case SETTING_SWITCH: snprintf(text, size, "true or false"); break;
    case SETTING_TEXT:   snprintf(text, size, "a text of at most %.0f bytes", s->hi - 1); break;
    case SETTING_LIST:   snprintf(text, size, "a list of %.0f to %.0f groups of settings", s->lo, s->hi); break;
    case SETTING_NAME:
        for (n = 0, text[0] = 0; s->names[n]; n++) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, "%s%s", !n ? "" : s->names[n + 1] ? ", " : " or ", s->names[n]);
        }
        break;
    case SETTING_GROUP:
        snprintf(text, size, "a group of settings ({%s: ...})", s->rows->name);
        break;
    }
    return text;
}
