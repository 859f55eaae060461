/* cmd_render.c - spotter render: pictures of 3-D objects under given conditions. */
#include <stdio.h>

#include "cli/study_command.h"
#include "spotter/examine.h"

enum { MOST_NAMES = 256 };

typedef struct {
    cli_machine machine;
    const char *config, *objects;
    const char *object[MOST_NAMES], *cls[MOST_NAMES];
    spot_renders_job job;
    int size, samples, seed;
    bool json, own_size, own_samples, own_seed;        /* own_: the option was given */
} render_flags, cli_flags;

static const cli_row table[] = {
    { .word = "CONFIG", .kind = CLI_TEXT, CLI_AT(config) },
    { "out",     'o', "DIR",  CLI_TEXT, CLI_AT(job.out), .most = 1000, .need = "renders",
      .help = "folder for the pictures, new or of the same command, which goes on there" },
    { "objects", 0, "PATH", CLI_TEXT, CLI_AT(objects), .most = 511,
      .help = "3-D models, in place of CONFIG: a folder CLASS/model.obj, Sweet Home 3D's archives, ShapeNet's folder" },
    { "class",   0, "NAME", CLI_LIST, CLI_AT(cls), .most = MOST_NAMES, .count = CLI_AT(job.classes), .otherwise = "all",
      .help = "objects of this class only; may be given several times" },
    { "object",  0, "ID",   CLI_LIST, CLI_AT(object), .most = MOST_NAMES, .count = CLI_AT(job.objects), .otherwise = "all",
      .help = "this object only, by its id in conditions.csv; may be given several times" },
    { .kind = CLI_HEADING, .help = "Conditions:" },
    { "factors", 'f', "LIST", CLI_TEXT, CLI_AT(job.factors), .most = 4000,
      .otherwise = "the config's; without a config the nine of the paper at random",
      .help = "camera_azimuth=0:360:12 for twelve values of a grid, camera_roll=0 for one value, sun_energy=1:3 for a random "
              "one, with commas between them; others are drawn once for an object" },
    { "table",   0, "FILE", CLI_TEXT, CLI_AT(job.table), .most = 1000,
      .help = "CSV with columns of factors, and `object` where a row is about one object, such as an earlier conditions.csv" },
    { "number",  'n', "N", CLI_INT, CLI_AT(job.number), 1, 10000000, .preset = "1",
      .help = "renders of an object at each point of the grid or row of the table; without both: of each object" },
    { "seed",    's', "N", CLI_INT, CLI_AT(seed), 0, 2147483647, .otherwise = "the config's; without a config 1",
      .help = "seed of all that is random" },
    { .kind = CLI_HEADING, .help = "Pictures:" },
    { "size",    0, "PIXELS", CLI_INT, CLI_AT(size), 16, 1024, .otherwise = "the config's; without a config 224",
      .help = "pixels a side" },
    { "samples", 0, "N", CLI_INT, CLI_AT(samples), 1, 4, .otherwise = "the config's; without a config 2",
      .help = "samples a side of a pixel: 1, 2 or 4" },
    { "masks",   0, NULL, CLI_ON, CLI_AT(job.masks),
      .help = "grey pictures, too: the share of a pixel that the object covers" },
    { "depth",   0, NULL, CLI_ON, CLI_AT(job.depth),
      .help = "arrays (.npy, float32), too: distance along the view in diagonals of the object's box; 0: no object" },
    { "json",    'j', NULL, CLI_ON, CLI_AT(json), .help = "one JSON object on stdout at the end" },
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    render_flags *o = input;

    if (o->config && o->objects) argp_error(state, "a config says what the objects are; give either it or --objects");
    if (!o->config && !o->objects) argp_error(state, "CONFIG is missing, such as configs/examine.yaml; or --objects");
    o->own_size = cli_is_given(state, "size"), o->own_samples = cli_is_given(state, "samples");
    o->own_seed = cli_is_given(state, "seed");
    if (o->own_samples && o->samples == 3) argp_error(state, "--samples takes 1, 2 or 4");
}

/* ---- the command ---- */

static spot_status fill_config(spot_ctx *c, spot_examine_config *cfg, const render_flags *o)
{
    if (!o->config) {
        cfg->objects.catalogue = cli_word(o->objects);
        cfg->render.size = 224;
        SPOT_TRY(spot_examine_complete(c, cfg));
    }
    if (o->own_size) cfg->render.size = o->size;
    if (o->own_samples) cfg->render.samples = o->samples;
    if (o->own_seed) cfg->search.seed = (uint64_t)o->seed;
    return SPOT_OK;
}

static spot_status print_end(spot_ctx *c, spot_status how, const render_flags *o, const spot_renders_report *r)
{
    spot_json j;

    cli_log_close();
    if (!o->json) {
        if (how == SPOT_OK)
            printf("%s/conditions.csv: %d renders of %d objects, %d of them valid; %d files written\n", o->job.out, r->renders,
                   r->objects - r->left_out, r->valid, r->written);
        return how;
    }
    SPOT_TRY(cli_json_open(c, &j, how, o->job.out));
    spot_json_put_int(&j, "objects", r->objects);
    spot_json_put_int(&j, "left_out", r->left_out);
    spot_json_put_int(&j, "renders", r->renders);
    spot_json_put_int(&j, "valid", r->valid);
    spot_json_put_int(&j, "written", r->written);
    spot_json_print(&j, stdout);
    return how;
}

static spot_status render(spot_ctx *c, const spot_examine_config *cfg, render_flags *o)
{
    spot_renders *r;
    char memory[32], disk[32];
    spot_status s;

    o->job.object = o->object, o->job.cls = o->cls;
    o->job.factors = cli_word(o->job.factors), o->job.table = cli_word(o->job.table);
    s = spot_renders_open(c, &r, cfg, &o->job);
    if (s == SPOT_OK) {
        const spot_renders_report *about = spot_renders_about(r);
        spot_log(c, SPOT_LOG_INFO, "%d renders of %d objects, %d pixels a side: at most %s of disk; %s of memory, beside one "
                 "mesh", about->renders, about->objects, cfg->render.size, cli_memory(disk, about->disk),
                 cli_memory(memory, about->memory));
        s = spot_renders_run(c, r);
        s = print_end(c, s, o, about);
    }
    spot_renders_close(c, r);
    return s;
}

static spot_status run_render(spot_ctx *c, void *flags)
{
    render_flags *o = flags;
    void *config;
    spot_status s;

    cli_log_device(c, &o->machine);
    s = spot_study_load(c, &spot_examine_study, &config, o->config);
    if (s == SPOT_OK) s = fill_config(c, config, o);
    if (s == SPOT_OK) s = render(c, config, o);
    spot_study_close(config);
    return s;
}

const cli_command cli_render_command = {
    "render", "pictures of 3-D objects under given conditions", "[CONFIG] --out DIR",
    "  spotter render --objects models --out renders --number 100\n"
    "  spotter render --objects models --out turntable \\\n"
    "      --factors camera_azimuth=0:360:12,camera_elevation=20,camera_roll=0\n"
    "  spotter render configs/examine.yaml --out renders --masks --depth\n"
    "  spotter render --objects models --out again --table renders/conditions.csv",
    "Renders 3-D objects as `spotter examine` does, to PNG files and a table of their conditions: for training, for looking, "
    "for checking. The same conditions give the same pixels in both. DIR/images is a folder for each class, as torchvision's "
    "ImageFolder reads it; DIR/conditions.csv names file, class, object, conditions, and whether a person could name the "
    "object. The same command goes on where it was stopped.", table, check_options,
    .work = run_render, CLI_OPTIONS(size), .machine = true
};
