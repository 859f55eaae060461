/* quote.c - see quote.h. */
#include "base/quote.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *spot_quote(spot_quoted text, const char *word)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:@%/";
    bool bare = *word && *word != '-' && strspn(word, harmless) == strlen(word);
    size_t n = 0;

    if (bare) return snprintf(text, sizeof(spot_quoted), "%s", word), text;
    n = (size_t)snprintf(text, sizeof(spot_quoted), *word == '-' ? "'./" : "'");       /* not an option */
    for (; *word && n + 6 < sizeof(spot_quoted); word++)
        n += (size_t)snprintf(text + n, sizeof(spot_quoted) - n, *word == '\'' ? "'\\''" : "%c", *word);
    snprintf(text + n, sizeof(spot_quoted) - n, "'");
    return text;
}
