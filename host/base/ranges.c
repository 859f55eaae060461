/* ranges.c - see ranges.h. */
#include "base/ranges.h"

#include <stdio.h>
#include <string.h>

const char *spot_ranges(char *text, size_t size, const int *number, int n)
{
    static const char more[] = ", ...";
    char part[32];
    size_t used = 0, m;

    *text = 0;
    for (int i = 0, last; i < n; i = last + 1) {
        for (last = i; last + 1 < n && number[last + 1] == number[last] + 1; last++) { }
        m = (size_t)snprintf(part, sizeof part, "%s%d", i ? ", " : "", number[i]);
        if (last > i) m += (size_t)snprintf(part + m, sizeof part - m, "-%d", number[last]);
        if (used + m + (last + 1 < n ? sizeof more - 1 : 0) >= size) {
            snprintf(text + used, size - used, "%s", used ? more : "...");
            break;
        }
        memcpy(text + used, part, m + 1);
        used += m;
    }
    return text;
}
