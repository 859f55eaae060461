/* embed_part.h - the unfinished rows of spotter embed, in a file beside its output, so that a stopped command goes on.
 *
 *     128 bytes     "spotter embed 1 KEY PID BEGAN HOST", blanks and "\n"; KEY: of the encoder and of the form of a block; the
 *                   others: of the process that works on it, the mark of run_claim.h; none if it has ended
 *     a block       (block, dim) F32, (block) bytes: 1 for an unreadable picture; 16 bytes: the key of the block
 *
 * The key of a block is of the file's key, of its rows' names and of its bytes. So a block of other rows, of pictures that have
 * changed, or that was written in part, is computed again; and every block is used whatever order they were written in. */
#ifndef SPOTTER_EMBED_PART_H
#define SPOTTER_EMBED_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/key.h"
#include "spotter/ctx.h"

typedef struct {
    char     path[1200];
    int      fd;               /* -1: not open */
    int      n, block, dim;    /* rows of all, of a block; numbers of a row */
    spot_key key;
    spot_key *of;              /* (blocks): keys of the blocks' rows; borrowed */
    uint8_t *done;             /* (blocks): 1 where the file has the block */
    unsigned char *record;     /* a block's bytes */
    bool     claimed;          /* the file has this process's mark */
} cli_embed_part;

/* Fill path, n, block, dim, key and of before. Opens the file or makes it, and finds the blocks that it has. SPOT_USAGE, with a
 * sentence that names --replace, for a file of somebody else, of another encoder, or with other rows; unless `replace`.
 * SPOT_USAGE when another process that lives works on it, unless `beside`. Close after success or failure. */
typedef struct { bool replace, beside; } cli_embed_force;
spot_status cli_embed_part_open (spot_ctx *c, cli_embed_part *p, cli_embed_force force);
void        cli_embed_part_close(cli_embed_part *p);

/* Removes the file where it is that of this job, and no process that lives works on it: one was killed after it had saved the
 * output. Fill path and key before; p stays closed. */
void cli_embed_part_tidy(spot_ctx *c, cli_embed_part *p);

int  cli_embed_blocks(const cli_embed_part *p);
int  cli_embed_block_rows(const cli_embed_part *p, int b);
int  cli_embed_rows_done(const cli_embed_part *p);

/* The places of the rows (block, dim), and of the marks of unreadable pictures in block b. */
float   *cli_embed_part_rows(cli_embed_part *p);
uint8_t *cli_embed_part_marks(cli_embed_part *p, int b);

/* Writes what was put there as block b; reads block b there, SPOT_IO if it is not whole any more. */
spot_status cli_embed_part_write(spot_ctx *c, cli_embed_part *p, int b);
spot_status cli_embed_part_read (spot_ctx *c, cli_embed_part *p, int b);

#endif
