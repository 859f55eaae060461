/* describe_files.h - descriptions of slices from files: phrases, an encoder, a table of attributes. */
#ifndef SPOTTER_DESCRIBE_FILES_H
#define SPOTTER_DESCRIBE_FILES_H

#include "spotter/discover.h"
#include "spotter/encoder.h"

typedef struct {
    const char *words;             /* one phrase a line, UTF-8; NULL: no phrases */
    const char *encoder;           /* .safetensors of a CLIP, for the phrases; for the pictures, too, unless it made the rows */
    const spot_encoder_options *encoder_options;       /* NULL: the defaults */
    const char *word_embeddings;   /* FILE or FILE:NAME (array.h): features of the phrases (phrases, d), in place of `encoder`,
                                    * by the encoder that made the rows' features */
    const char *attributes;        /* spot_attributes_read; NULL: none */
    const char *instances;         /* another such table, which is not looked for before the subject is read; NULL: none */
    bool pictures;                 /* rows that have pictures also have their attributes (spot_attributes_of_pictures) */
    int  phrases, rounds;          /* spot_describe_options */
    size_t memory;                 /* most bytes for decoding pictures; 0: SPOT_PICTURE_MEMORY */
    bool skip;                     /* unreadable pictures have no words; false: the first one is SPOT_INPUT */
} spot_describe_files;

typedef struct {
    const spot_describe_files *files;
    spot_describe_options o;
    spot_attributes attributes;
    char name[32];                 /* of the encoder of the phrases; "": not known */
    spot_encoder *encoder;         /* open while pictures are still to be encoded */
    unsigned char *bytes;          /* the file of the phrases */
    char    **phrase;
    float    *text, *feature;      /* (phrases, d); (rows, d) */
    uint8_t  *missing;             /* (rows) */
} spot_describer;

/* Before the subject: reads and encodes the phrases, and looks for the table of attributes, so that a bad file costs no
 * pictures. Close d also after a failure. */
spot_status spot_describer_read (spot_ctx *c, spot_describer *d, const spot_describe_files *files);

/* Before the search, on a describer that has read its phrases: checks that they fit the rows, and reads the attributes. The
 * encoder stays open if pictures are to be encoded. rows_encoder: the name (encoder.h) of the encoder of the subject's
 * features, "" where it is not known. SPOT_INPUT where the pictures must be encoded and there are none. */
spot_status spot_describer_open (spot_ctx *c, spot_describer *d, const spot_subject *s, const char *rows_encoder);

/* Adds the descriptions to what spot_discover_cost said of the search: bytes, at most, and seconds, unless these are NaN. It
 * tries the encoder and the search for descriptions for a moment. SPOT_NOMEM: o->memory does not suffice. */
spot_status spot_describer_cost(spot_ctx *c, const spot_describer *d, const spot_subject *s, const spot_discover_options *o,
                                spot_bytes *cost, double *seconds);

/* After it: encodes the pictures of the classes with slices, if need be, and describes. */
spot_status spot_describer_run  (spot_ctx *c, spot_describer *d, spot_findings *f, const spot_subject *s);
void        spot_describer_close(spot_ctx *c, spot_describer *d);

#endif
