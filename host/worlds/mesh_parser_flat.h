/* mesh_parser_flat.h - readers of our own for PLY and OFF, which assimp 5.2 reads wrongly: it has floats, drops colours of
 * faces, takes a file that is cut short for whole, or never ends with it. They are parts of spotter-mesh. */
#ifndef SPOTTER_MESH_PARSER_FLAT_H
#define SPOTTER_MESH_PARSER_FLAT_H

#include <assimp/scene.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Vertices and polygons as they come. Arrays that the file lacks are NULL. Colours are 0 to 1, or to 255; a NaN as alpha is
 * none. */
typedef struct {
    size_t vertices, faces, corners;
    double *place;                         /* (vertices, 3) */
    float  *normal, *at, *colour;          /* (vertices, 3), (vertices, 2), (vertices, 4) */
    size_t *first;                         /* (faces + 1): where a face's corners begin */
    uint32_t *corner;                      /* (corners): vertices */
    float  *face_colour, *corner_at;       /* (faces, 4), (corners, 2) */
    char    picture[1024];                 /* the texture's name; "": none */
} spot_flat;

/* Text ends with a NUL at n. A failure ends the program with a sentence. */
void spot_ply_read(spot_flat *to, const char *text, size_t n);
void spot_off_read(spot_flat *to, const char *text, size_t n);

/* Memory that is never given back: the program ends with its answer. */
void *spot_flat_take(size_t count, size_t size);

/* Adds a face of `corners` corners, for which the arrays grow. */
void spot_flat_add(spot_flat *to, const uint32_t *corner, size_t corners);

/* A scene of one mesh, whose places are counted from the middle of a box that is far from the origin. */
const struct aiScene *spot_flat_scene(const spot_flat *from);

/* The program fails: the file ends before its last `what`. */
_Noreturn void spot_flat_fail_short(const char *what, double said);

#endif
