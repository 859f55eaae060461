/* embed_rows.h - the rows of spotter embed, before they are encoded: pictures by their paths, or texts. */
#ifndef SPOTTER_EMBED_ROWS_H
#define SPOTTER_EMBED_ROWS_H

#include "base/key.h"
#include "spotter/subject.h"

typedef struct {
    const char *images;        /* folder of pictures: all of them, or those that coco names; or NULL */
    const char *texts;         /* file with a text a line; or NULL */
    const char *coco;          /* annotations; without images: their captions are the texts */
    bool        links;         /* pictures of coco may be links that lead out of images */
} cli_embed_input;

typedef struct {
    int    n;
    char **path;               /* (n): of the pictures; NULL: texts */
    char **id;                 /* (n): path below the folder, or the text */
    char **of;                 /* (n): the picture of each caption; NULL: no captions */
    spot_subject owner;        /* of all memory */
} cli_embed_rows;

/* Close also after a failure. SPOT_INPUT for a source without rows, and with the line of an empty text. */
spot_status cli_embed_list(spot_ctx *c, cli_embed_rows *r, const cli_embed_input *in);
void        cli_embed_rows_close(cli_embed_rows *r);

/* The key of rows [first, first + n): their ids and, of pictures, size and time of change. */
spot_status cli_embed_rows_key(spot_ctx *c, spot_key *key, const cli_embed_rows *r, int first, int n);

#endif
