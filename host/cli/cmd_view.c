/* cmd_view.c - spotter view: what a run's classifier shows of an EC, as a file for other programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "formats/safetensors.h"
#include "spotter/source.h"
#include "spotter/sweep.h"

typedef struct {
    cli_machine machine;
    const char *dir, *out;
    int ec, split;
    bool robust;
} options;

enum { EC = 'e', SPLIT = 's', REPRESENTATION = 'r', OUT = 'o' };

static const struct argp_option table[] = {
    { "ec",    EC,    "N",   0, "which experimental configuration, from 0", 0 },
    { "split", SPLIT, "train|val|test", 0, "of which split (test)", 0 },
    { "representation", REPRESENTATION, "model|robust", 0, "through which network (model)", 0 },
    { "out",   OUT,   "FILE", 0, "where to (ec-NNNNNN.safetensors)", 0 },
    { 0 }
};

static error_t option(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->machine; return 0;
    case EC:    o->ec = cli_number(state, "--ec", arg, 0, 1000000); return 0;
    case OUT:   o->out = arg; return 0;
    case SPLIT: o->split = cli_split(state, arg); return 0;
    case REPRESENTATION:
        o->robust = !strcmp(arg, "robust");
        if (!o->robust && strcmp(arg, "model")) argp_error(state, "--representation is model or robust, not \"%s\"", arg);
        return 0;
    case ARGP_KEY_ARG:
        if (o->dir) argp_error(state, "one run at a time; \"%s\" is one too many", arg);
        o->dir = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->dir) argp_error(state, "which run? give its directory");
        if (o->ec < 0) argp_error(state, "which EC? --ec 0 is the first");
        if (strlen(o->dir) > 1000) argp_error(state, "the name of the directory is longer than 1000 bytes");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static spot_tensor tensor(const char *name, spot_dtype type, const void *data, int rows, int columns)
{
    spot_tensor t = { .name = name, .type = type, .rank = columns ? 2 : 1, .dim = { rows, columns }, .data = data };

    t.bytes = (size_t)rows * (size_t)(columns ? columns : 1) * (type == SPOT_I64 ? sizeof(int64_t) : sizeof(float));
    return t;
}

static spot_status save(spot_ctx *c, spot_arena *a, const char *path, const spot_view *v, const spot_truth *t)
{
    spot_tensor all[6];
    int64_t *image, *mask, *label;
    int n = 0;

    SPOT_TRY(SPOT_TAKE(c, a, image, v->n));
    SPOT_TRY(SPOT_TAKE(c, a, mask, v->n));
    SPOT_TRY(SPOT_TAKE(c, a, label, v->n));
    for (int i = 0; i < v->n; i++) {
        label[i] = !v->label || v->label[i];
        image[i] = v->image[i];
        mask[i] = t->mask[i];
    }
    all[n++] = tensor("feature", SPOT_F32, v->feature, v->n, v->d);
    all[n++] = tensor("confidence", SPOT_F32, v->confidence, v->n, 0);
    all[n++] = tensor("label", SPOT_I64, label, v->n, 0);
    all[n++] = tensor("image", SPOT_I64, image, v->n, 0);
    all[n++] = tensor("blindspots", SPOT_I64, mask, v->n, 0);
    if (v->head) all[n++] = tensor("head", SPOT_F32, v->head, v->d, 0);
    SPOT_TRY(spot_tensors_save(c, path, all, n));
    printf("%s\n", path);
    return SPOT_OK;
}

static spot_status view(spot_ctx *c, const options *o, const spot_config *cfg, const spot_source *source)
{
    char path[64];
    spot_bytes needs;
    spot_truth truth;
    spot_view seen;
    spot_arena a;
    spot_status s;
    spot_ec ec;
    int rows;

    SPOT_TRY(spot_source_ec(c, &ec, source, (uint32_t)o->ec));
    rows = spot_ec_positives(NULL, &ec, (spot_split)o->split);
    SPOT_TRY(spot_model_needs(c, &needs, &source->scene, &cfg->model, rows, false));
    SPOT_TRY(spot_arena_open(c, &a, needs.host + (size_t)rows * 48));
    s = spot_sweep_view(c, &a, o->dir, cfg, &ec, (spot_split)o->split, o->robust, &seen, &truth);
    snprintf(path, sizeof path, "ec-%06d.safetensors", o->ec);
    if (s == SPOT_OK) s = save(c, &a, o->out ? o->out : path, &seen, &truth);
    spot_arena_close(&a);
    return s;
}

static spot_status run(spot_ctx *c, const options *o, const spot_config *cfg)
{
    spot_source source;
    spot_status s = spot_source_open(c, &source, cfg);

    if (!s) s = view(c, o, cfg, &source);
    spot_source_close(&source);
    return s;
}

int cli_view(int argc, char **argv)
{
    static const struct argp_child children[] = { { &cli_machine_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = { table, option, "DIR --ec N",
        "Writes what the classifier of an EC shows of its positive images, in a .safetensors file: feature (n, d), "
        "confidence (n), label (n), which is 1, head (d), the row of the classifier's last layer; which images these are, "
        "image (n), as `spotter scene` numbers them; and the truth, blindspots (n): bit m is set in blindspot m. A file "
        "with one tensor, embedding (n, any), for the same test images of every EC is what representation: file looks at.\n\n"
        "Examples:\n"
        "  spotter view runs/quickstart --ec 0 --out ec-0.safetensors\n"
        "  spotter view runs/mini --ec 7 --representation robust",
        children, NULL, NULL };
    options o = { .ec = -1, .split = SPOT_TEST };
    static spot_config cfg;
    char path[1200];
    spot_ctx c;
    spot_status s;

    cli_parse_argp(&argp, argc, argv, &o);
    s = cli_open(&c, &o.machine);
    snprintf(path, sizeof path, "%s/config.yaml", o.dir);
    if (s == SPOT_OK) s = cli_config(&c, &cfg, path);
    if (s == SPOT_OK) s = run(&c, &o, &cfg);
    return cli_close(&c, s);
}
