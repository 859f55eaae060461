/* look.c - pictures and a network -> subject. */
#include "discover/look.h"

spot_status spot_subject_look(spot_ctx *c, spot_subject *s, const spot_subject_files *files)
{
    (void)s;
    (void)files;
    return spot_fail(c, SPOT_UNSUPPORTED, "looking at pictures is not there yet; bring embeddings");
}
