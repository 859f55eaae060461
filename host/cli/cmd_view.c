/* cmd_view.c - spotter view: features and confidences of a run's classifier on an EC, as a file for other programs. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "formats/safetensors.h"
#include "spotter/config.h"
#include "spotter/sweep.h"
#include "store/pixel_cache.h"
#include "store/store.h"
#include "worlds/scene_files.h"

typedef struct {
    cli_machine machine;
    const char *dir, *out, *images;
    int ec, split, look;       /* spot_split, spot_representation */
} view_flags, cli_flags;

static const cli_row table[] = {
    { .word = "DIR", .kind = CLI_TEXT, CLI_AT(dir), .most = 1000, .need = "runs/quickstart" },
    { "ec",    'e', "N",    CLI_INT, CLI_AT(ec), 0, 1000000, .need = "0", .help = "number of the EC, from 0" },
    { "split", 's', "train|val|test", CLI_CHOICE, CLI_AT(split), .preset = "test", .help = "split of the images" },
    { "representation", 'r', "model|robust|clip", CLI_CHOICE, CLI_AT(look), .preset = "model",
      .help = "network that makes the features: the classifier, the robust network or the config's encoder" },
    { "out",   'o', "FILE", CLI_TEXT, CLI_AT(out), .otherwise = "ec-NNNNNN.safetensors", .help = "file to write" },
    { "images", 0,  "DIR",  CLI_TEXT, CLI_AT(images), .most = 1000, .help = "folder for the images of the rows, as PNG, and "
      "rows.csv with their names and attributes; made if it is missing" },
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

static spot_status save_tensors(spot_ctx *c, spot_arena *a, const char *path, const spot_view *v, const spot_truth *t)
{
    spot_tensor all[6];
    int64_t *image, *mask, *label;
    int n = 0;

    SPOT_TRY(SPOT_TAKE(c, a, image, v->n));
    SPOT_TRY(SPOT_TAKE(c, a, mask, v->n));
    SPOT_TRY(SPOT_TAKE(c, a, label, v->n));
    for (int i = 0; i < v->n; i++) {
        label[i] = spot_view_positive(v, i);
        image[i] = v->image[i];
        mask[i] = t->mask[i];
    }
    all[n++] = spot_tensor_of("feature", SPOT_F32, (size_t)v->n, v->d, v->feature);
    all[n++] = spot_tensor_of("confidence", SPOT_F32, (size_t)v->n, 0, v->confidence);
    all[n++] = spot_tensor_of("label", SPOT_I64, (size_t)v->n, 0, label);
    all[n++] = spot_tensor_of("image", SPOT_I64, (size_t)v->n, 0, image);
    all[n++] = spot_tensor_of("blindspots", SPOT_I64, (size_t)v->n, 0, mask);
    if (v->head) all[n++] = spot_tensor_of("head", SPOT_F32, (size_t)v->d, 0, v->head);
    SPOT_TRY(spot_tensors_save(c, path, all, n));
    printf("%s\n", path);
    return SPOT_OK;
}

static spot_status save_view(spot_ctx *c, const view_flags *o, const spot_config *cfg, const spot_source *source)
{
    char path[64];
    size_t bytes;
    spot_truth truth;
    spot_view seen;
    spot_arena a;
    spot_status s;
    spot_ec ec;
    int rows;

    SPOT_TRY(spot_source_ec(c, &ec, source, (uint32_t)o->ec));
    rows = spot_ec_positives(NULL, &ec, (spot_split)o->split);
    SPOT_TRY(spot_sweep_view_needs(c, &bytes, cfg, &source->scene, rows, o->look));
    SPOT_TRY(spot_arena_open(c, &a, bytes + 3 * spot_arena_room((size_t)rows * sizeof(int64_t))));
    s = spot_sweep_view(c, &a, o->dir, cfg, &ec, (spot_split)o->split, o->look, &seen, &truth);
    snprintf(path, sizeof path, "ec-%06d.safetensors", o->ec);
    if (s == SPOT_OK) s = save_tensors(c, &a, o->out ? o->out : path, &seen, &truth);
    if (s == SPOT_OK && o->images) s = spot_folder_make(c, o->images);
    if (s == SPOT_OK && o->images) s = spot_scene_rows(c, o->images, &ec, (spot_split)o->split, seen.image, seen.n);
    if (s == SPOT_OK && o->images) printf("%s/rows.csv\n", o->images);
    spot_arena_close(&a);
    return s;
}

/* Pictures from files are those that the run saw and keeps: its config may be a stranger's, and what lies at the paths in it
 * may be the reader's own. */
static spot_status open_source(spot_ctx *c, spot_source *source, const spot_config *cfg, const view_flags *o)
{
    bool found;

    SPOT_TRY(spot_source_open(c, source, cfg));
    if (!source->photos) return SPOT_OK;
    SPOT_TRY(spot_pixel_cache_find(c, o->dir, source->photos, &found));
    if (found || !o->images) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{view.pixels} %s/cache has no pixels of the run's pictures (*.album), so --images cannot "
                     "show them; `spotter scene` with the run's config.yaml shows what lies in %.300s now", o->dir,
                     cfg->data.images);
}

static spot_status view_ec(spot_ctx *c, void *input)
{
    spot_config cfg;
    const view_flags *o = input;
    spot_source source;
    char path[1200];
    spot_status s;

    SPOT_TRY(cli_study_for(c, NULL, o->dir, "view", "sweep"));
    snprintf(path, sizeof path, "%s/config.yaml", o->dir);
    s = cli_config(c, &cfg, path);
    if (!s) {
        s = open_source(c, &source, &cfg, o);
        if (!s) s = save_view(c, o, &cfg, &source);
        spot_source_close(&source);
    }
    spot_memory_close(&cfg.memory);
    return s;
}

const cli_command cli_view_command = {
    "view", "features, confidences and truth of an EC, for other programs", "DIR --ec N",
    "  spotter view runs/quickstart --ec 0 --out ec-0.safetensors\n"
    "  spotter view runs/quickstart --ec 0 --images ec-0\n"
    "  spotter view runs/mini --ec 7 --representation robust\n"
    "  spotter view runs/mini --ec 7 --representation clip",
    "Writes what the classifier of an EC computes on the EC's positive images, as a .safetensors file:\n"
    "  feature (n, d)   output of the last layer but one; of CLIP, the embedding of length 1\n"
    "  confidence (n)   probability of the true class\n"
    "  label (n)        1\n"
    "  head (d)         weights of the last layer; CLIP has none\n"
    "  image (n)        number of the image, as in `spotter scene`\n"
    "  blindspots (n)   truth: bit m is set for images in blindspot m\n"
    "With --images the same rows come as pictures, with a table that `spotter discover` takes as --ids and --attributes.\n"
    "A file with one tensor, embedding (n, any), for the same test images of every EC is an input for "
    "`representation: file`.", table,
    .work = view_ec, CLI_OPTIONS(dir), .machine = true
};
