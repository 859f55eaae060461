/* view_check.c - checks a view's numbers. */
#include "spotter/view.h"

#include <math.h>
#include <stddef.h>

spot_status spot_view_check(spot_ctx *c, const spot_view *v, uint32_t ec)
{
    size_t d = (size_t)v->d, count = v->feature ? (size_t)v->n * d : 0;

    for (size_t e = 0; e < count; e++)
        if (!(fabsf(v->feature[e]) <= SPOT_LARGEST_FEATURE))
            return spot_fail_of(c, SPOT_INPUT, ec, "{features.value} feature %zu of row %zu is %g; features must be finite and "
                                "within %g", e % d, e / d, v->feature[e], SPOT_LARGEST_FEATURE);
    for (int i = 0; v->confidence && i < v->n; i++)
        if (!(v->confidence[i] >= 0 && v->confidence[i] <= 1))
            return spot_fail_of(c, SPOT_INPUT, ec, "{confidence.value} the confidence of row %d is %g; it must lie in [0, 1]",
                                i, v->confidence[i]);
    return SPOT_OK;
}
