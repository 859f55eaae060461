/* json_tree.h - parses untrusted JSON into yajl's tree. */
#ifndef SPOTTER_JSON_TREE_H
#define SPOTTER_JSON_TREE_H

#include <stddef.h>
#include <yajl/yajl_tree.h>

/* Parses n bytes that a NUL follows; free the tree with yajl_tree_free. A byte order mark of UTF-8 at the start is passed over.
 * NULL, with a line in `why` (which may be NULL with size 0), for invalid JSON, a NUL byte, or nesting deeper than
 * SPOT_TREE_DEPTH: freeing a tree recurses once per level. The line names a word such as NaN, which Python writes. */
enum { SPOT_TREE_DEPTH = 16 };
yajl_val spot_tree_parse(const char *text, size_t n, char *why, size_t size);

/* The word with which the text begins, which Python or JavaScript writes and JSON has not: NaN, Infinity, -Infinity, None,
 * True, False. The text may end in the word. NULL: none. */
const char *spot_json_strange(const char *text, size_t n);

#endif
