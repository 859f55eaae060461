/* mesh_parser_obj.h - OBJ and MTL files are put right before assimp reads them. It is a part of spotter-mesh. */
#ifndef SPOTTER_MESH_PARSER_OBJ_H
#define SPOTTER_MESH_PARSER_OBJ_H

#include <stddef.h>
#include <stdint.h>

/* A box is far from the origin where its middle is more than so many diagonals away: floats lose digits that are seen. */
#define SPOT_PARSER_FAR 16

/* The middle of a box that is far, else zeros. */
void spot_parser_origin(double origin[3], const double low[3], const double high[3]);

/* The text of an OBJ file, as assimp 5.2 reads it rightly. The caller frees it; NULL: there is no memory. *size: its bytes.
 *  - Places far from the origin are moved to it: assimp has floats.
 *  - A face whose normals or coordinates are not all there is written without them, and counted in *lost. */
char *spot_obj_mend(const char *text, size_t n, size_t *size, uint32_t *lost);

/* Where a picture lies in its material: coordinates times scale, plus offset. */
typedef struct { char material[256]; float scale[2], offset[2]; } spot_mtl_place;
typedef struct { spot_mtl_place *place; size_t count; } spot_mtl_places;

/* The text of an MTL file with the lines that are used alone: Kd, Ks, Ns, d, Tr, map_Kd and map_d. Names of pictures lose their
 * options, of which -s and -o become places, spaces at the end and quotes. d counts before Tr. */
char *spot_mtl_mend(const char *text, size_t n, size_t *size, spot_mtl_places *places);

#endif
