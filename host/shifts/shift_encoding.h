/* shift_encoding.h - similarities of pictures to captions, by an encoder or from files of embeddings: how much a picture looks
 * like its class and like its shift. A picture below the threshold of its class, a quantile over real pictures, or below that
 * of its shift is not kept (paper 004, section 3.1 and appendix A.3; shift_unit.h).
 *
 * Embeddings in files are what `spotter embed` writes: FOLDER/ID.safetensors (tensor "embeddings") or FOLDER/ID.npy, a row for
 * each picture of the folder ID ("clean/in_the_snow"), and FOLDER/ID.csv, whose column `id` has the pictures' paths below that
 * folder; FOLDER/captions.* the same for the captions, whose ids are their texts. */
#ifndef SPOTTER_SHIFT_ENCODING_H
#define SPOTTER_SHIFT_ENCODING_H

#include "shifts/shift_pictures.h"
#include "spotter/array.h"
#include "spotter/encoder.h"
#include "store/store.h"

/* The most of a unit, the real pictures: class captions of base and of every shift, every shift's caption, and the nearest
 * class's. */
enum { SPOT_SHIFT_COLUMNS = 2 * SPOT_MAX_SHIFTS + 2 };

typedef struct {
    const spot_shifts_config *cfg;
    const spot_shift_classes *classes;
    const spot_store *store;
    spot_encoder *encoder;             /* NULL: embeddings from files */
    char  name[96];                    /* the encoder's own; of files the label */
    int   dim;
    spot_array caption_id;             /* files: the captions ... */
    float *caption;                    /* ... and their rows, (captions, dim) */
    spot_shift_progress *progress;
} spot_shift_encoding;

/* How the encoder of a config is opened. */
spot_encoder_options spot_shift_encoder_options(const spot_shifts_config *cfg);

/* The memory of a unit's embeddings where they come from files: as the file has them, as numbers, in the order of the
 * pictures. 0: there is no such file. */
size_t spot_shift_embedding_bytes(const spot_shifts_config *cfg, const char *id);

/* SPOT_USAGE when thresholds were chosen for another encoder. Does nothing where the config has no encoder. Close also after a
 * failure. */
spot_status spot_shift_encoding_open (spot_ctx *c, spot_shift_encoding *e, const spot_shifts_config *cfg,
                                      const spot_shift_classes *k, const spot_store *store, spot_shift_progress *progress);
void        spot_shift_encoding_close(spot_ctx *c, spot_shift_encoding *e);

/* A column of similarities: to the class caption of each picture's own class as the shift `shift` has it, or to its shift
 * caption; nearest: the greatest similarity to the class caption of any class. */
typedef struct { int shift; bool of_class, nearest; } spot_shift_column;

/* Columns that a unit needs: of real pictures the different class captions, the base's first, every shift's, and the nearest
 * last; of base its class caption; of a shift both. Returns their number. spot_real_column: the column of real
 * pictures for the class caption of a shift. */
int spot_shift_columns(spot_shift_column *column, const spot_shifts_config *cfg, spot_shift_unit unit);
int spot_real_column(const spot_shifts_config *cfg, int shift);

/* The hash of what similarities are computed from: the pictures, and their file of embeddings. */
spot_status spot_shift_input_hash(spot_ctx *c, const spot_shift_encoding *e, char hash[33], const spot_shift_pictures *p);

/* similarity (pictures, columns), malloc'd: cosines of the features (pictures, dim), from the cache where it has them. */
spot_status spot_shift_similarities(spot_ctx *c, spot_shift_encoding *e, float **similarity, const spot_shift_pictures *p,
                                    const float *feature, const spot_shift_column *column, int columns);

/* ---- shift_features.c ---- */

/* feature (pictures, dim), malloc'd; free it also after a failure. From files, or from the cache where it has them. A piece of
 * pictures is kept as soon as it is encoded, so a stopped call continues. spot_shift_piece: the pictures of one. */
spot_status spot_shift_features(spot_ctx *c, spot_shift_encoding *e, float **feature, const spot_shift_pictures *p);
int         spot_shift_piece(const spot_shift_encoding *e);

/* "FOLDER/ID.npy", or ".safetensors:embeddings" where there is such a file. */
void spot_shift_embedding_path(char *path, size_t size, const spot_shifts_config *cfg, const char *id, bool file_alone);

/* Rows and ids of a file; *rows is malloc'd. All files have the same number of columns. pick: feature (n, dim), the rows of the
 * words, in their order. */
spot_status spot_shift_embeddings_read(spot_ctx *c, spot_shift_encoding *e, spot_array *id, float **rows, const char *what);
spot_status spot_shift_embeddings_pick(spot_ctx *c, float *feature, const spot_array *id, const float *rows, int dim,
                                       const char *const *word, int n);

#endif
