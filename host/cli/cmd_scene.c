/* cmd_scene.c - spotter scene: an EC's images as PNG, and their labels as JSON Lines. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "cli/cli.h"
#include "spotter/config.h"
#include "store/store.h"
#include "worlds/scene_files.h"

typedef struct {
    cli_machine machine;
    const char *config, *out;
    int ec, split, count, start;
} scene_flags, cli_flags;

static const cli_row table[] = {
    { .word = "CONFIG", .kind = CLI_TEXT, CLI_AT(config), .need = "configs/quickstart.yaml" },
    { "ec",    'e', "N",   CLI_INT, CLI_AT(ec), 0, 1000000, .need = "0", .help = "number of the EC, from 0" },
    { "split", 's', "train|val|test", CLI_CHOICE, CLI_AT(split), .preset = "test", .help = "split of the images" },
    { "count", 'n', "N",   CLI_INT, CLI_AT(count), 1, 1000000, .preset = "16", .help = "number of images" },
    { "start", 'i', "I",   CLI_INT, CLI_AT(start), 0, 1000000000, .preset = "0", .help = "number of the first image" },
    { "out",   'o', "DIR", CLI_TEXT, CLI_AT(out), .most = 1000, .need = "images", .help = "folder; made if it is missing" },
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

/* One image to its file, its line to the end of `lines`. rgb holds one image. */
static spot_status write_image(spot_ctx *c, const scene_flags *o, const spot_ec *ec, uint32_t index, uint8_t *rgb, FILE *lines)
{
    char file[32], line[16384];
    spot_image image;

    SPOT_TRY(spot_scene_picture(c, o->out, ec, (spot_split)o->split, index, &image, rgb, file));
    SPOT_TRY(spot_ec_jsonl(c, line, sizeof line, &image, file, ec));
    if (fputs(line, lines) < 0) return spot_fail(c, SPOT_NOMEM, "no memory for the lines of %s", o->out);
    return SPOT_OK;
}

static spot_status write_images(spot_ctx *c, const scene_flags *o, const spot_ec *ec, FILE *lines)
{
    size_t bytes = (size_t)ec->scene.size * (size_t)ec->scene.size * 3;
    uint8_t *rgb = malloc(bytes);
    spot_status s = rgb ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for an image of %zu bytes", bytes);

    for (int i = 0; i < o->count && s == SPOT_OK; i++) {
        s = spot_check_stop(c);
        if (s == SPOT_OK) s = write_image(c, o, ec, (uint32_t)(o->start + i), rgb, lines);
        if (s == SPOT_OK) spot_tell(c, "render", o->ec, i + 1, o->count, "");
    }
    free(rgb);
    return s;
}

static spot_status write_ec(spot_ctx *c, const scene_flags *o, const spot_source *source)
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
    SPOT_TRY(spot_folder_make(c, o->out));
    lines = open_memstream(&text, &n);
    if (!lines) return spot_fail(c, SPOT_NOMEM, "no memory to describe images");
    s = write_images(c, o, &ec, lines);
    if (fclose(lines) && s == SPOT_OK) s = spot_fail(c, SPOT_NOMEM, "no memory to describe images");
    snprintf(path, sizeof path, "%s/images.jsonl", o->out);
    if (s == SPOT_OK) s = spot_file_write(c, path, text, n);
    if (s == SPOT_OK) printf("%s\n", path);
    free(text);
    return s;
}

static spot_status write_scene(spot_ctx *c, void *input)
{
    spot_config cfg;
    const scene_flags *o = input;
    spot_source source;
    spot_status s;

    s = cli_config(c, &cfg, o->config);
    if (!s && o->ec >= cfg.ecs)
        s = spot_fail(c, SPOT_USAGE, "there is no EC %d: %s has %d, from 0; raise its ecs to see more", o->ec, o->config,
                      cfg.ecs);
    if (!s) {
        s = spot_source_open(c, &source, &cfg);
        if (!s) s = write_ec(c, o, &source);
        spot_source_close(&source);
    }
    spot_memory_close(&cfg.memory);
    return s;
}

const cli_command cli_scene_command = {
    "scene", "images of an EC as PNG, with their labels as JSON Lines", "CONFIG --ec N --out DIR",
    "  spotter scene configs/quickstart.yaml --ec 0 --out images\n"
    "  spotter scene configs/paper_synthetic.yaml --ec 7 --count 50 --out images",
    "Writes images of an experimental configuration (EC) as PNG, and images.jsonl with one line per image: labels, "
    "blindspots, objects with boxes in pixels.", table,
    .work = write_scene, CLI_OPTIONS(config), .machine = true
};
