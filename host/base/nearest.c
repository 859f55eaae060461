/* nearest.c - see nearest.h. */
#include "base/nearest.h"

#include <string.h>

/* Edits between two words: insert, drop, replace, or swap neighbours (optimal string alignment). */
static int distance(const char *a, const char *b)
{
    enum { MOST = 32 };
    int d[MOST + 1][MOST + 1], n = (int)strlen(a), m = (int)strlen(b);

    if (n > MOST || m > MOST) return MOST;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (!i || !j) { d[i][j] = i + j; continue; }
            d[i][j] = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < d[i][j]) d[i][j] = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < d[i][j]) d[i][j] = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[n][m];
}

const char *spot_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    int least = 1 + (int)strlen(word) / 3;      /* one edit, and one more for every three letters */

    for (; *names; names++) {
        int d = distance(word, *names);
        if (d <= least && (!best || d < least)) { best = *names; least = d; }
    }
    return best;
}
