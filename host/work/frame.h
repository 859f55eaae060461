/* frame.h - the file of a result segment: {"checksum":"<XXH3-64 of the content's bytes>","segment":{...}}. The content is the
 * study's. */
#ifndef SPOTTER_FRAME_H
#define SPOTTER_FRAME_H

#include "spotter/store.h"
#include "spotter/work.h"

#define SPOT_FRAME_LIMIT ((size_t)1 << 26)         /* bytes of a file */

/* A segment that was read. */
typedef struct {
    spot_segment_state state;
    int            index, numbers;     /* of a whole one */
    char           config[33];         /* the config's key */
    unsigned char *bytes;              /* (n) the file's, where spot_frame_load found some; free() them */
    size_t         n;
    char           why[1400];          /* the path and, of a damaged one, what is wrong in a few words */
} spot_frame;

void        spot_frame_path (char *path, size_t size, const spot_study *y, const char *dir, int unit);
spot_status spot_frame_write(spot_ctx *c, const spot_study *y, const char *dir, int unit, void *result);

/* A zeroed result, for the two below, which close what it held before; NULL where there is no memory. Free accepts NULL. */
void *spot_frame_result(const spot_study *y);
void  spot_frame_free(const spot_study *y, void *result);

/* A damaged segment is no failure of the call: f says so. SPOT_IO when the disk does not give the file. */
spot_status spot_frame_read(spot_ctx *c, const spot_study *y, const char *dir, int unit, void *result, spot_frame *f);

/* For those that go on whatever they find: a file that cannot be read is damaged, too. SPOT_NOMEM only. */
spot_status spot_frame_load(spot_ctx *c, const spot_study *y, const char *dir, int unit, void *result, spot_frame *f);

/* The units of all segment files of a run, ascending, whole or not. *unit is malloc'd. */
spot_status spot_frame_list(spot_ctx *c, const spot_study *y, const char *dir, int **unit, int *n);

/* For describe. no_memory: `wrong` points at this where memory for a result did not suffice. plain: a text that reaches a
 * terminal; reading, one with control characters is wrong. */
extern const char spot_frame_no_memory[];
void spot_frame_plain(struct spot_json *j, const char *key, char *v, size_t size);

#endif
