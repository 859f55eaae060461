/* kept_answers.h - which program a predictor is (spotter/predictor.h): by its answers to pictures that the run keeps.
 *
 * DIR/programs/<identity>.safetensors holds pictures and a program's answers to them: `pictures` uint8 (n, side, side, 3),
 * `logits`, `embeddings` and `channels` float32 (n, columns); without embeddings or channels those are missing. The first
 * pictures are Spotter's own, then come some of the study. The identity is that of the predictor, a dash and a hash of the
 * file's content. Files are never changed: a program that answers otherwise gets a file of its own. */
#ifndef SPOTTER_KEPT_ANSWERS_H
#define SPOTTER_KEPT_ANSWERS_H

#include "spotter/predictor.h"

enum { SPOT_KEPT_IDENTITY = 48, SPOT_KNOWN_PROGRAMS = 8 };

/* The identities whose kept answers are those of a program. More than one where processes on several machines began at once. */
typedef struct {
    bool asked;
    int  n;
    char identity[SPOT_KNOWN_PROGRAMS][SPOT_KEPT_IDENTITY];
} spot_known_program;

/* Pictures of the study that spot_kept_begin is given: at least one, and at most some MB. */
int spot_kept_most(int side);

/* Asks p the pictures that dir keeps, and fills k. Where dir keeps answers of p's command and none fit, a warning says by how
 * much, of `model`. SPOT_INPUT as spot_predict. An unreadable file counts as none. */
spot_status spot_kept_recall(spot_ctx *c, spot_known_program *k, spot_predictor *p, const char *dir, const char *model);

/* Keeps p's answers to Spotter's pictures and to n others, rgb (n, side, side, 3), and adds their identity to k. */
spot_status spot_kept_begin(spot_ctx *c, spot_known_program *k, spot_predictor *p, const char *dir, const uint8_t *rgb, int n);

/* The same in parts, for a program that has another name than its predictor's (kept_encoder.h): recall_as takes files whose
 * names begin with `command` and a dash; ask has p's answers to Spotter's pictures alone, free them; write keeps them under a
 * name. */
typedef struct spot_kept_given spot_kept_given;
spot_status spot_kept_recall_as(spot_ctx *c, spot_known_program *k, spot_predictor *p, const char *command, const char *dir,
                                const char *model);
spot_status spot_kept_ask  (spot_ctx *c, spot_kept_given **kept, spot_predictor *p);
spot_status spot_kept_write(spot_ctx *c, const spot_kept_given *kept, const char *dir, const char *identity);
void        spot_kept_free (spot_kept_given *kept);

/* Copies to `dir` what another run keeps, or what it keeps of one program. */
spot_status spot_kept_copy    (spot_ctx *c, const char *dir, const char *from);
spot_status spot_kept_copy_one(spot_ctx *c, const char *dir, const char *from, const char *identity);

bool spot_known_has(const spot_known_program *k, const char *identity);

/* Whether two results are of one program: equal identities, or equal commands and the same answers, within what rounding
 * changes, to the pictures that both keep. */
bool spot_kept_same(spot_ctx *c, const char *dir_a, const char *a, const char *dir_b, const char *b);

/* False, and "", where an identity has no file: it is of a file of weights, of a function, or of a program that was named. */
bool spot_kept_path(char *path, size_t size, const char *dir, const char *identity);

#endif
