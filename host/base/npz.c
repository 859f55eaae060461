/* npz.c - stub */
#include "base/formats.h"
spot_status spot_npz_read(spot_ctx *c, spot_array *a, const spot_source *in, const char *member, size_t limit)
{
    (void)a; (void)member; (void)limit;
    return spot_fail(c, SPOT_UNSUPPORTED, "%s: npz", in->name);
}
