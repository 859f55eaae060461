/* mesh_answer.h - the parser's answer: triangles, materials and names of pictures, every length and number of it checked. */
#ifndef SPOTTER_MESH_ANSWER_H
#define SPOTTER_MESH_ANSWER_H

#include "spotter/mesh.h"
#include "worlds/mesh_files.h"
#include "worlds/mesh_wire.h"

/* Where the answer's bytes come from. */
typedef struct { spot_status (*take)(spot_ctx *c, void *from, void *out, size_t n); void *from; } spot_answer_source;

typedef struct { bool embedded; size_t n; uint8_t *bytes; } spot_mesh_picture;        /* a name, or a PNG or JPEG; then a NUL */

typedef struct {
    int triangles, materials, textures, pictures, polygons, crossed, lost, shown, mixed;
    bool  upright, replaces;               /* these and the last four as in mesh_wire.h */
    float *place, *normal, *coordinate, *colour;           /* as in spot_mesh_triangles */
    int   *material;
    spot_mesh_material *look;              /* texture: one of `texture`, or -1 */
    spot_wire_texture  *texture;
    spot_mesh_picture  *picture;
} spot_mesh_answer;

/* Reads the arrays behind the frame of a SPOT_WIRE_MESH. most: bytes of all embedded pictures together. Close it also after
 * a failure. */
spot_status spot_mesh_answer_read (spot_ctx *c, spot_mesh_answer *a, spot_answer_source *in, size_t most);
void        spot_mesh_answer_close(spot_mesh_answer *a);

/* Whether a triangle would be drawn at all, by opacity and the textures' alpha. make_opaque: makes every material and texture
 * opaque; returns how many materials hid all. Exporters write d 0 or Tr 1 and mean opaque. */
bool spot_mesh_is_seen    (const spot_mesh_answer *a, const spot_mesh_texture *texture);
int  spot_mesh_make_opaque(spot_mesh_answer *a, spot_mesh_texture *texture);

/* Keeps the name of the first file that is lost, for the words. */
void spot_mesh_repairs_name(spot_mesh_repairs *r, const char *name);

/* Decodes the answer's pictures into textures, (a->textures), level 0 alone; a texture that has no picture has width 0. Counts
 * in *repairs what is lost or refused. Free the texels also after a failure. */
spot_status spot_mesh_pictures_read(spot_ctx *c, spot_mesh_texture *texture, spot_mesh_repairs *repairs,
                                    const spot_mesh_answer *a, spot_mesh_files *f, const char *model, size_t limit);

#endif
