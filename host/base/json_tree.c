/* json_tree.c - see json_tree.h. */
#include "base/json_tree.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Ignores brackets in strings. */
static bool nests_too_deep(const char *text, size_t n)
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
    }
    return false;
}

yajl_val spot_tree_parse(const char *text, size_t n, char *why, size_t size)
{
    const char *bad = memchr(text, 0, n) ? "it holds a NUL byte" : nests_too_deep(text, n) ? "it is nested too deep" : NULL;
    yajl_val tree = bad ? NULL : yajl_tree_parse(text, why, size);

    if (bad && size) snprintf(why, size, "%s", bad);
    if (size) why[strcspn(why, "\n")] = 0;
    return tree;
}
