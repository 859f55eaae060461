/* json_tree.h - JSON of any origin as yajl's tree. */
#ifndef SPOTTER_JSON_TREE_H
#define SPOTTER_JSON_TREE_H

#include <stddef.h>
#include <yajl/yajl_tree.h>

/* The n bytes of text, behind which stands a NUL. NULL, with a line in `why` (which may be NULL, of size 0): no JSON, a NUL
 * byte, or deeper than SPOT_TREE_DEPTH, since freeing a tree recurses as deep as it nests. yajl_tree_free. */
enum { SPOT_TREE_DEPTH = 16 };
yajl_val spot_tree_parse(const char *text, size_t n, char *why, size_t size);

#endif
