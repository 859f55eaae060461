/* frame.h - the file of a result segment: {"checksum":"<XXH3-64 of the content's bytes>","segment":{...}}. The study writes
 * and reads the content. */
#ifndef SPOTTER_FRAME_H
#define SPOTTER_FRAME_H

#include "spotter/work.h"

#define SPOT_FRAME_LIMIT ((size_t)1 << 30)         /* largest file, in bytes */

/* A segment that was read. */
typedef struct {
    spot_segment_state state;
    int            index, numbers;     /* set if the segment is whole */
    char           config[33];         /* the config's key */
    unsigned char *bytes;              /* (n) the file, after spot_frame_load; NULL: it was not read. free() it */
    size_t         n;
    char           why[1400];          /* the path; if the segment is damaged, a few words about the damage */
} spot_frame;

void        spot_frame_path (char *path, size_t size, const spot_study *y, const char *dir, int unit);
spot_status spot_frame_write(spot_ctx *c, const spot_study *y, const char *dir, int unit, void *result);

/* A zeroed result for read and load, which first close its old content; NULL: no memory. Free accepts NULL. */
void *spot_frame_result(const spot_study *y);
void  spot_frame_free(const spot_study *y, void *result);

/* A damaged segment is no failure: f->state reports it. SPOT_IO when the file cannot be read. */
spot_status spot_frame_read(spot_ctx *c, const spot_study *y, const char *dir, int unit, void *result, spot_frame *f);

/* The same, but a file that cannot be read counts as damaged, too. SPOT_NOMEM is the only failure. */
spot_status spot_frame_load(spot_ctx *c, const spot_study *y, const char *dir, int unit, void *result, spot_frame *f);

/* The units of all segment files of a run, ascending, whole or not. *unit is malloc'd. */
spot_status spot_frame_list(spot_ctx *c, const spot_study *y, const char *dir, int **unit, int *n);

/* A study's describe uses these. no_memory: `wrong` points at this when the result did not fit into memory. plain: a text that
 * will be shown on a terminal; while reading, control characters in it are wrong. */
extern const char spot_frame_no_memory[];
void spot_frame_plain(struct spot_json *j, const char *key, char *v, size_t size);

#endif
