/* ci_report.c - see ci_report.h: the formats, and whose a file is. */
#include "result/ci_parts.h"

#include <string.h>

spot_status spot_ci_text(spot_ctx *c, spot_text *out, spot_ci_format format, const spot_ci_report *r)
{
    return (format == SPOT_CI_JUNIT ? spot_ci_junit : format == SPOT_CI_SARIF ? spot_ci_sarif : spot_ci_summary)(c, out, r);
}

bool spot_ci_is_ours(spot_ci_format format, const char *bytes, size_t n)
{
    static const char *const top[] = { SPOT_CI_JUNIT_TOP, SPOT_CI_SARIF_TOP };
    const size_t needs = format == SPOT_CI_SUMMARY ? 0 : strlen(top[format]);

    return !n || (n >= needs && (!needs || !memcmp(bytes, top[format], needs)));
}
