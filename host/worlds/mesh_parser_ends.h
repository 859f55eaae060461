/* mesh_parser_ends.h - files of STL, 3DS, FBX and Collada that assimp 5.2 takes for whole though they are cut short, or reads
 * wrongly. They are parts of spotter-mesh. */
#ifndef SPOTTER_MESH_PARSER_ENDS_H
#define SPOTTER_MESH_PARSER_ENDS_H

#include <assimp/scene.h>
#include <stdbool.h>
#include <stddef.h>

#include "worlds/mesh_parser_bones.h"

/* Text ends with a NUL at n. A file that is cut short ends the program with a sentence. Of FBX as text only what its braces and
 * its last parts tell is known. */
void spot_stl_check(const char *text, size_t n);
void spot_fbx_check(const char *text, size_t n);

/* The same of a 3DS file, whose movements are taken out. */
void spot_3ds_mend(char *text, size_t n);

/* Takes the blanks behind each ">" out of a Collada file, of which assimp makes no numbers. *n: its bytes, before and after. */
void spot_dae_mend(char *text, size_t *n);

/* The text, in UTF-16 with its mark, as UTF-8. The caller frees it; NULL: there is no memory. */
char *spot_narrow(const char *text, size_t n, size_t *size);

/* The turn after which y points up and x to the right, from what an FBX file says of its axes. */
spot_axes spot_fbx_turn(const struct aiScene *scene);

#endif
