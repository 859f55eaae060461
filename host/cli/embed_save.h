/* embed_save.h - the output of spotter embed: rows in .safetensors or .npy, their names in .csv, facts beside .npy in .json. */
#ifndef SPOTTER_EMBED_SAVE_H
#define SPOTTER_EMBED_SAVE_H

#include "cli/embed_part.h"
#include "cli/embed_rows.h"
#include "spotter/encoder.h"

enum { CLI_EMBED_PATH = 1200 };

typedef struct {
    char out[CLI_EMBED_PATH], csv[CLI_EMBED_PATH], json[CLI_EMBED_PATH];      /* json: beside .npy, else "" */
    bool half;                         /* F16 */
    char key[33];                      /* of encoder, rows and form: what the output was made of */
} cli_embed_files;

/* Fills the paths. SPOT_USAGE for another extension. */
spot_status cli_embed_name_files(spot_ctx *c, cli_embed_files *f, const char *out, bool half);

typedef struct { int rows, skipped, dim; } cli_embed_report;

/* *done: the output is there and was made of f->key; *report tells its rows. SPOT_USAGE, with a sentence that names --replace,
 * for files of somebody else or of other rows. part: unfinished rows of the same output are there. */
spot_status cli_embed_check(spot_ctx *c, const cli_embed_files *f, bool part, bool *done, cli_embed_report *report);

/* Brings the blocks together, without the unreadable pictures, and writes the files, each whole or not at all, the output
 * last. */
spot_status cli_embed_save(spot_ctx *c, const cli_embed_files *f, cli_embed_part *p, const cli_embed_rows *r,
                           const spot_encoder_info *e, const char *model, cli_embed_report *report);

#endif
