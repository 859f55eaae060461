/* json_tree.h - parses untrusted JSON into yajl's tree. */
#ifndef SPOTTER_JSON_TREE_H
#define SPOTTER_JSON_TREE_H

#include <stddef.h>
#include <yajl/yajl_tree.h>

/* Parses n bytes that a NUL follows; free the tree with yajl_tree_free. NULL, with a line in `why` (which may be NULL with size
 * 0), for invalid JSON, a NUL byte, or nesting deeper than SPOT_TREE_DEPTH: freeing a tree recurses once per level. */
enum { SPOT_TREE_DEPTH = 16 };
yajl_val spot_tree_parse(const char *text, size_t n, char *why, size_t size);

#endif
