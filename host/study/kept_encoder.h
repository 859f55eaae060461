/* kept_encoder.h - an encoder that is a program (encoder.h) is the one whose features a run has: by its answers, as any other
 * program (kept_answers.h), with the same tolerance. Other encoders are known by their files; for them nothing happens here.
 *
 *     open an encoder -> know: has DIR answers that it gives, too? -> use it by its name -> save: DIR keeps new answers
 *
 * The name of kept answers is the hash of those that were given first, on whatever machine. */
#ifndef SPOTTER_KEPT_ENCODER_H
#define SPOTTER_KEPT_ENCODER_H

#include "spotter/encoder.h"
#include "study/kept_answers.h"

/* Answers that are not kept yet. All zero at first; save and drop make it so again. */
typedef struct spot_kept_encoder {
    const char *dir;                           /* where answers are looked for; NULL: none are kept */
    spot_kept_given  *answers;                       /* NULL: dir has them */
    char        name[32];
} spot_kept_encoder;

/* Gives e the name under which k->dir keeps its answers, or takes them into k. A warning says by how much those of its command
 * differ. SPOT_INPUT as spot_predict. Call it before the name is used. */
spot_status spot_kept_encoder_know(spot_ctx *c, spot_kept_encoder *k, spot_encoder *e);
spot_status spot_kept_encoder_save(spot_ctx *c, spot_kept_encoder *k);
void        spot_kept_encoder_drop(spot_kept_encoder *k);

/* Whether two names are of one encoder: equal, or of programs with the same answers, which the folders of the files keep in
 * `programs`. A path is of a file with features of that encoder, or of a directory. */
bool spot_kept_encoder_same(spot_ctx *c, const char *a, const char *path_a, const char *b, const char *path_b);

/* The folder of a file; that of several, in lines of their own, of the first. A directory's is itself. */
void spot_kept_folder(char *folder, size_t size, const char *path);

#endif
