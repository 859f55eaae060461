/* same_id.h - ids that mean one row or picture though their bytes differ: "./" in front, blanks at the ends and Unicode's
 * normal form (a file's name from a Mac is in another one) do not count. Whoever matches by them tries the bytes first, and
 * says how many matched so. */
#ifndef SPOTTER_SAME_ID_H
#define SPOTTER_SAME_ID_H

#include <stdbool.h>

#include "base/text.h"
#include "spotter/ctx.h"

/* Whether an id is ASCII, without "./" in front and blanks at its ends: no other id of this kind means the same. */
bool spot_id_is_plain(const char *id);

/* t = the plain form of an id, in the normal form C or D, with a NUL. Bytes that are not UTF-8 stay. Check t->status. */
enum { SPOT_FORM_C, SPOT_FORM_D, SPOT_ID_FORMS };
void spot_id_plain(spot_text *t, const char *id, int form);

/* Ids in their plain forms C, sorted. Close accepts a zeroed one. */
typedef struct {
    int    n, *order;          /* (n) */
    char **key;                /* (n), in the order of the ids */
    spot_text text, wanted;
} spot_plain_ids;

spot_status spot_plain_ids_open (spot_ctx *c, spot_plain_ids *p, char *const *id, int n);
void        spot_plain_ids_close(spot_plain_ids *p);

/* The place in order of the first id that means the same, and *end behind the last; *end where there is none. SPOT_NOMEM. */
spot_status spot_plain_ids_find(spot_ctx *c, spot_plain_ids *p, const char *id, int *first, int *end);

#endif
