/* cmd_scene.c - spotter scene: an EC's images as PNG, and what is in them as JSON Lines. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "formats/png.h"
#include "spotter/source.h"
#include "spotter/store.h"

typedef struct {
    cli_machine machine;
    const char *config, *out;
    int ec, split, count, start;
} options;

enum { EC = 'e', SPLIT = 's', COUNT = 'n', START = 'i', OUT = 'o' };

static const struct argp_option table[] = {
    { "ec",    EC,    "N",   0, "which experimental configuration, from 0", 0 },
    { "split", SPLIT, "train|val|test", 0, "of which split (test)", 0 },
    { "count", COUNT, "N",   0, "how many images (16)", 0 },
    { "start", START, "I",   0, "the first image (0)", 0 },
    { "out",   OUT,   "DIR", 0, "where to; made when it is not there", 0 },
    { 0 }
};

static error_t option(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->machine; return 0;
    case EC:    o->ec = cli_number(state, "--ec", arg, 0, 1000000); return 0;
    case COUNT: o->count = cli_number(state, "--count", arg, 1, 1000000); return 0;
    case START: o->start = cli_number(state, "--start", arg, 0, 1000000000); return 0;
    case OUT:   o->out = arg; return 0;
    case SPLIT: o->split = cli_split(state, arg); return 0;
    case ARGP_KEY_ARG:
        if (o->config) argp_error(state, "one config at a time; \"%s\" is one too many", arg);
        o->config = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->config) argp_error(state, "which config? for example configs/quickstart.yaml");
        if (o->ec < 0) argp_error(state, "which EC? --ec 0 is the first");
        if (o->out && strlen(o->out) > 1000) argp_error(state, "the name of the directory is longer than 1000 bytes");
        if (!o->out) argp_error(state, "where to? give a directory with --out DIR");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* One image to its file, its line to the end of `lines`. rgb holds one image. */
static spot_status write_one(spot_ctx *c, const options *o, const spot_ec *ec, uint32_t index, uint8_t *rgb, FILE *lines)
{
    int size = ec->scene.size;
    char file[32], path[1200], line[16384];
    unsigned char *png;
    spot_image image;
    size_t n;
    spot_status s;

    snprintf(file, sizeof file, "%s-%06u.png", spot_split_name((spot_split)o->split), index);
    snprintf(path, sizeof path, "%s/%s", o->out, file);
    SPOT_TRY(spot_image_picture(c, &image, rgb, ec, (spot_split)o->split, index));
    SPOT_TRY(spot_ec_jsonl(c, line, sizeof line, &image, file, ec));
    SPOT_TRY(spot_png_encode(c, &png, &n, rgb, size, size));
    s = spot_file_write(c, path, png, n);
    free(png);
    if (s == SPOT_OK && fputs(line, lines) < 0) s = spot_fail(c, SPOT_NOMEM, "no memory for the lines of %s", o->out);
    return s;
}

static spot_status write_all(spot_ctx *c, const options *o, const spot_ec *ec, FILE *lines)
{
    size_t bytes = (size_t)ec->scene.size * (size_t)ec->scene.size * 3;
    uint8_t *rgb = malloc(bytes);
    spot_status s = rgb ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for an image of %zu bytes", bytes);

    for (int i = 0; i < o->count && s == SPOT_OK; i++) {
        s = spot_check_stop(c);
        if (s == SPOT_OK) s = write_one(c, o, ec, (uint32_t)(o->start + i), rgb, lines);
        if (s == SPOT_OK) spot_tell(c, "render", o->ec, i + 1, o->count, "");
    }
    free(rgb);
    return s;
}

static spot_status write_ec(spot_ctx *c, const options *o, const spot_source *source)
{
    char path[1200], *text = NULL;
    size_t n = 0;
    spot_ec ec;
    spot_status s;
    FILE *lines;

    SPOT_TRY(spot_source_ec(c, &ec, source, (uint32_t)o->ec));
    if (ec.photos && o->start + o->count > ec.images[o->split])
        return spot_fail(c, SPOT_USAGE, "the %s split of EC %d has %d pictures; --start and --count go past them",
                         spot_split_name((spot_split)o->split), o->ec, ec.images[o->split]);
    if (mkdir(o->out, 0777) && errno != EEXIST)
        return spot_fail(c, SPOT_IO, "cannot make the directory %s: %s", o->out, strerror(errno));
    lines = open_memstream(&text, &n);
    if (!lines) return spot_fail(c, SPOT_NOMEM, "no memory to describe images");
    s = write_all(c, o, &ec, lines);
    if (fclose(lines) && s == SPOT_OK) s = spot_fail(c, SPOT_NOMEM, "no memory to describe images");
    snprintf(path, sizeof path, "%s/images.jsonl", o->out);
    if (s == SPOT_OK) s = spot_file_write(c, path, text, n);
    if (s == SPOT_OK) printf("%s\n", path);
    free(text);
    return s;
}

static spot_status run(spot_ctx *c, const options *o, const spot_config *cfg)
{
    spot_source source;
    spot_status s;

    if (o->ec >= cfg->ecs)
        return spot_fail(c, SPOT_USAGE, "there is no EC %d: %s has %d, from 0; raise its ecs to see more", o->ec, o->config,
                         cfg->ecs);
    s = spot_source_open(c, &source, cfg);
    if (!s) s = write_ec(c, o, &source);
    spot_source_close(&source);
    return s;
}

int cli_scene(int argc, char **argv)
{
    static const struct argp_child children[] = { { &cli_machine_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = { table, option, "CONFIG --ec N --out DIR",
        "Writes images of an EC as PNG, and images.jsonl with a line on what is in each: labels, blindspots, objects "
        "with boxes in pixels.\n\nExamples:\n"
        "  spotter scene configs/quickstart.yaml --ec 0 --out images\n"
        "  spotter scene configs/paper_synthetic.yaml --ec 7 --split train --count 50 --out images",
        children, NULL, NULL };
    options o = { .ec = -1, .split = SPOT_TEST, .count = 16 };
    static spot_config cfg;
    spot_ctx c;
    spot_status s;

    cli_parse_argp(&argp, argc, argv, &o);
    s = cli_open(&c, &o.machine);
    if (s == SPOT_OK) s = cli_config(&c, &cfg, o.config);
    if (s == SPOT_OK) s = run(&c, &o, &cfg);
    return cli_close(&c, s);
}
