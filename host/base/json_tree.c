/* json_tree.c - see json_tree.h. */
#include "base/json_tree.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *spot_json_strange(const char *text, size_t n)
{
    static const char *const words[] = { "NaN", "Infinity", "-Infinity", "None", "True", "False" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i]), least = *words[i] == '-' ? 2 : 1;
        if (n >= least && !memcmp(text, words[i], n < length ? n : length)) return words[i];
    }
    return NULL;
}

/* Ignores what is in strings: brackets, and *strange, the first word that JSON has not. */
static bool nests_too_deep(const char *text, size_t n, const char **strange)
{
    bool string = false;
    int depth = 0;

    for (size_t i = 0; i < n; i++) {
        if (string && text[i] == '\\') { i++; continue; }
        if (text[i] == '"') string = !string;
        if (string) continue;
        if (text[i] == '{' || text[i] == '[') depth++;
        if (text[i] == '}' || text[i] == ']') depth--;
        if (depth > SPOT_TREE_DEPTH) return true;
        if (!*strange && strchr("NITF-", text[i])) *strange = spot_json_strange(text + i, n - i);
    }
    return false;
}

yajl_val spot_tree_parse(const char *text, size_t n, char *why, size_t size)
{
    const size_t mark = n > 2 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    const char *strange = NULL;
    const char *bad = memchr(text, 0, n) ? "it holds a NUL byte"
                    : nests_too_deep(text + mark, n - mark, &strange) ? "it is nested too deep" : NULL;
    yajl_val tree = bad ? NULL : yajl_tree_parse(text + mark, why, size);

    if (bad && size) snprintf(why, size, "%s", bad);
    else if (!tree && strange && size) snprintf(why, size, "%s is no word of JSON", strange);
    if (size) why[strcspn(why, "\n")] = 0;
    return tree;
}
