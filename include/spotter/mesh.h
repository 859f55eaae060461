/* mesh.h - 3-D objects: triangles with normals, materials and textures, from OBJ with MTL, PLY, glTF, STL, OFF, Collada (.dae),
 * 3DS and FBX. render.h draws them.
 *
 *     folder or archive -> spot_mesh_files -> model file -> `spotter-mesh`, a process of its own -> triangles -> spot_mesh
 *
 * The parsers of such files are not made for hostile input, so they run in a program of their own, which has limits of memory
 * and time, opens no file and asks for each by a pipe. This process answers with files of the opened folder or archive only.
 * The program lies beside the library or program that this code is in, in ../bin, or in the folder $SPOT_PARSER_DIR.
 *
 * A mesh is centred and scaled by the vertices that its triangles use: the middle of their box lies at the origin, and the
 * box's diagonal is 1. z points up, as in the papers' Blender. A vertex of a mesh is one place, normal and texture coordinate,
 * so a place can be several vertices.
 *
 * Collada and FBX say which axis points up, and 3DS has z: that counts, whatever spot_mesh_options.z_up says. Units have no
 * effect. Movements are not drawn: nodes and bones stand as the file places them, of 3DS the vertices as they lie. Pictures of
 * these three formats replace the material's colour, of the others they multiply it. Their exporters do not agree which end of
 * opacity is opaque: a material of Collada or FBX that nothing would be seen of is opaque, and if Collada has one, opacity o of
 * its other materials means 1 - o.
 *
 * Other formats that assimp knows are refused, for nobody has compared them with an outside reader: Blender's files change with
 * each version, X and LWO have left-handed axes that files do not name, and IFC and STEP are no meshes. */
#ifndef SPOTTER_MESH_H
#define SPOTTER_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spotter/ctx.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_MESH_MOST_TRIANGLES 4000000
#define SPOT_MESH_TEXTURE_SIDE   1024                    /* larger textures are reduced when they are read */

/* Colours are linear light, 0 to 1. The numbers of a file (Kd, Ks; glTF's base colour) are taken as they are, as Blender and
 * glTF do; pictures are sRGB. Colours of vertices and faces multiply diffuse; those of glTF are linear, of the others sRGB.
 * Their alpha, of PLY, OFF and glTF, multiplies opacity: a triangle has the mean of its corners, and where they differ it is
 * counted. A glTF material that is masked is drawn where alpha reaches its cutoff, and an opaque one has no alpha. */
typedef struct {
    float diffuse[3], specular[3];
    float shininess;               /* exponent of Blinn-Phong, 1 to 1000 */
    float opacity;                 /* 1: opaque; 0: not drawn */
    int   texture;                 /* multiplies diffuse, and its alpha opacity; -1: none */
    int   cutout;                  /* its first channel multiplies opacity; -1: none. spot_mesh_read has none: it multiplies
                                    * a map_d into the texture's alpha */
} spot_mesh_material;

/* Bytes RGBA in sRGB (alpha linear), the first row on top. Level k + 1 is half of level k in both directions, rounded down, at
 * least 1, down to 1 x 1; colours are averaged in linear light, by alpha. Coordinates repeat; (0, 0) is the lower left corner,
 * and the second one grows upwards. */
typedef struct {
    int width, height, levels;
    uint8_t *texel;                /* all levels, one behind the other */
} spot_mesh_texture;

/* Things that were missing, wrong or repaired in the file. */
typedef struct {
    int polygons;                  /* with more than three corners */
    int flat;                      /* triangles without area, dropped */
    int made_normals;              /* corners whose normal was made */
    /* Counts of things that are not drawn as the file says: spot_mesh_repairs_say tells these. */
    int not_finite;                /* triangles with a NaN or infinite vertex, dropped */
    int crossed;                   /* polygons whose outline crosses itself: their triangles do not cover them once */
    int lost_corners;              /* faces that name normals or coordinates that are not there: drawn without them */
    int lost_materials;            /* files of materials that are not there */
    int lost_textures;             /* that are not there or cannot be read: the material's plain colour is drawn */
    int refused;                   /* files outside the model's folder */
    int made_opaque;               /* materials that nothing would be seen of, of Collada and FBX, or of a model that nothing
                                    * would be seen of: drawn opaque */
    int mixed;                     /* triangles whose corners have other alphas: drawn with their mean */
    char lost[100];                /* the first lost texture or file of materials; "": none */
} spot_mesh_repairs;

typedef struct {
    int vertices, triangles, materials, textures;
    float    *place;               /* (3, vertices): all x, all y, all z */
    float    *normal;              /* (3, vertices), length 1 */
    float    *coordinate;          /* (2, vertices); NULL: no texture */
    float    *colour;              /* (3, vertices): red, green, blue, linear light; NULL: none */
    uint32_t *corner;              /* (3, triangles): vertices */
    uint16_t *material;            /* (triangles) */
    spot_mesh_material *look;      /* (materials) */
    spot_mesh_texture  *texture;   /* (textures) */
    spot_mesh_repairs   repairs;
    size_t bytes;                  /* of all that */
    char   hash[33];               /* of all that: equal meshes draw equal images */
    void  *owned;
} spot_mesh;

/* ---- files ---- */

/* A folder, or a zip archive (.zip, .sh3f), from which models and what they name are read. Names are relative, with "/"; an
 * absolute name, a colon (drive letters), a backslash, a link or a ".." that leads out are refused. */
typedef struct spot_mesh_files spot_mesh_files;

spot_status spot_mesh_files_open (spot_ctx *c, spot_mesh_files **f, const char *path);
void        spot_mesh_files_close(spot_mesh_files *f);

typedef struct {
    double crease;                 /* degrees: corners without a normal share one across edges that bend by less; 45 */
    double turn[9];                /* a rotation of the file's places before all else, row by row; all 0: none */
    bool   z_up;                   /* the file's z points up; else its y does, as in OBJ and glTF; see the top */
    double seconds;                /* that the parser may take; 60 */
    size_t memory;                 /* that the parser may take, bytes; 2 GiB */
    size_t file;                   /* greatest size of a file that is read, bytes; 256 MiB */
} spot_mesh_options;

spot_mesh_options spot_mesh_defaults(void);

/* Reads model `name` of the files. o: NULL for the defaults. SPOT_INPUT with a sentence: no such file, too large, not a format
 * that is known, a glTF extension that it requires and that is not read, a file that is cut short (of OBJ nobody can tell), a
 * parser that failed, died or took too long, no triangle left, more than SPOT_MESH_MOST_TRIANGLES. SPOT_IO: the parser is not
 * installed. SPOT_NOMEM: a texture for which there is no memory, before it is taken. Missing textures and materials are no
 * failure: m->repairs counts them. Free with spot_mesh_close, also after a failure. Equal bytes on every machine with one
 * version of assimp. */
spot_status spot_mesh_read (spot_ctx *c, spot_mesh *m, spot_mesh_files *f, const char *name, const spot_mesh_options *o);
void        spot_mesh_close(spot_mesh *m);

/* Whether the file has one of the endings of formats that are read. */
bool spot_mesh_is_model(const char *name);

/* Says what is not drawn as the file says, as words on one line, "2 textures are not there (t.png)"; "" where all is so.
 * Returns `to`. */
enum { SPOT_MESH_WORDS = 400 };
const char *spot_mesh_repairs_say(char to[SPOT_MESH_WORDS], const spot_mesh_repairs *r);

/* A mesh of the caller's triangles. */
typedef struct {
    int triangles, materials, textures;
    const float *place;            /* (triangles, 3 corners, 3): x, y, z */
    const float *normal;           /* the same; of length 0 where there is none; NULL: none at all */
    const float *coordinate;       /* (triangles, 3, 2); NULL: none */
    const float *colour;           /* (triangles, 3, 3), 0 to 1; NULL: none */
    const int   *material;         /* (triangles); NULL: all 0 */
    const spot_mesh_material *look;     /* (materials), at least 1 */
    const spot_mesh_texture  *texture;  /* (textures): level 0 alone, copied; levels are made */
} spot_mesh_triangles;

/* Corners that are equal in all become one vertex; made normals, centre and scale as above. SPOT_INPUT as spot_mesh_read;
 * SPOT_INVALID for an index, a material or an option out of range; colours of corners are cut at 0 and 1. */
spot_status spot_mesh_make(spot_ctx *c, spot_mesh *m, const spot_mesh_triangles *t, const spot_mesh_options *o);

/* ---- collections of models ---- */

/* Collections of 3-D models: which there are, their classes, licences and authors.
 *
 * Three layouts are known:
 *     Sweet Home 3D   archives (.sh3f) or a folder of them, each with PluginFurnitureCatalog.properties
 *     ShapeNet        <synset>/<model>/model.obj (version 1), <synset>/<model>/models/model_normalized.obj (version 2), and
 *                     taxonomy.json, which names the synsets
 *     a folder        CLASS/model.obj, .ply, .glb, .gltf, .stl, .off, .dae, .3ds, .fbx at any depth below CLASS; a
 *                     model may name files anywhere in CLASS */

#define SPOT_MAX_CATALOGUE_CLASSES 64

/* One class as rules on the catalogue's entries; an entry belongs to the first class whose rules it meets. Words are those of
 * the name in lower case, separated by anything but letters and digits; lists of words have spaces between them. A rule that
 * is "" or NULL fits all; the rules of a class must all fit. A class without any rule takes the entries whose own class has its
 * name. */
typedef struct {
    const char *name;
    const char *category;          /* the entry's category */
    const char *words;             /* one of them is a word of the name */
    const char *last;              /* one of them is the last word */
    const char *starts;            /* or the name starts so (beside `last`: one of both) */
    const char *without;           /* and none of them occurs in the name */
    int  door;                     /* 1: the entry is a door or a window */
    int  leave;                    /* 1: such entries are left out */
} spot_catalogue_class;

typedef struct {
    char *id, *name;               /* unique, as the catalogue has it; for readers */
    char *category;                /* the catalogue's; of ShapeNet the synset's name, of folders the first one */
    char *licence, *author;        /* "": not known */
    char *archive;                 /* path for spot_mesh_files_open ... */
    char *file;                    /* ... and of the model in it */
    double turn[9];                /* spot_mesh_options.turn; all 0: none */
    bool  z_up, door;
    int   cls;                     /* of the classes given; -1: none */
} spot_catalogue_entry;

typedef struct {
    int entries;
    spot_catalogue_entry *entry;   /* in order of class and then of the SHA-1 of the id, so that a split is one cut: the
                                    * first quarter of a class is held out */
    int  classes;
    char (*cls)[64];               /* (classes): those of the rules that are not left out; without rules the categories */
    void *owned;
} spot_catalogue;

/* Entries without a class are left out. SPOT_INPUT where nothing is found or
 * a properties file or taxonomy cannot be read; the sentence names the line. */
spot_status spot_catalogue_read (spot_ctx *c, spot_catalogue *k, const char *path, const spot_catalogue_class *cls,
                                 int classes);
void        spot_catalogue_close(spot_catalogue *k);

/* ---- conditions ---- */

/* The conditions under which an object is seen: paper 002 (Adversarial Examiner, Shu et al. 2020), Table 1.
 *
 * Twelve numbers: the rotation of the sun (three), the energies of sun and lamp, the place of the lamp (three), the place of
 * the camera (three) and its roll. Angles are degrees; lengths are in units of the object's diagonal (mesh.h). */

/*    factor             name in a config     symbol   unit        least  most  turns */
#define SPOT_FACTOR_TABLE(X)                                                           \
    X(SUN_X,             sun_x,               alpha_o, degrees,        0,  360, true)  \
    X(SUN_Y,             sun_y,               beta_o,  degrees,        0,  360, true)  \
    X(SUN_Z,             sun_z,               zeta_o,  degrees,        0,  360, true)  \
    X(LAMP_ENERGY,       lamp_energy,         Gamma_l, 1,            0.3,    1, false) \
    X(SUN_ENERGY,        sun_energy,          Gamma_o, 1,              0,    5, false) \
    X(LAMP_DISTANCE,     lamp_distance,       r_l,     diagonals,      8,   20, false) \
    X(LAMP_AZIMUTH,      lamp_azimuth,        A_l,     degrees,        0,  360, true)  \
    X(LAMP_ELEVATION,    lamp_elevation,      U_l,     degrees,      -90,   90, false) \
    X(CAMERA_DISTANCE,   camera_distance,     r_v,     diagonals,      1,    5, false) \
    X(CAMERA_AZIMUTH,    camera_azimuth,      A_v,     degrees,        0,  180, false) \
    X(CAMERA_ELEVATION,  camera_elevation,    U_v,     degrees,      -90,   90, false) \
    X(CAMERA_ROLL,       camera_roll,         theta_v, degrees,        0,  360, true)

typedef enum {
#define X(NAME, name, symbol, unit, least, most, turns) SPOT_##NAME,
    SPOT_FACTOR_TABLE(X)
#undef X
    SPOT_FACTORS
} spot_condition;

/* One set of conditions. */
typedef struct { float value[SPOT_FACTORS]; } spot_conditions;

/* The label of SPOT_SUN_X is "sun_x", and find gives SPOT_SUN_X for "sun_x"; -1: no factor.
 * Units: "degrees", "diagonals", "". */
const char *spot_factor_label(int factor);
const char *spot_factor_unit (int factor);
int         spot_factor_find (const char *name);

/* ---- the factors that a search changes ---- */

typedef struct { int factor; double least, most; } spot_factor_range;      /* least = most: fixed */

/* The unit cube of a search: dimension d is one factor. What is not in it is fixed or drawn once for an object. */
typedef struct {
    int    dims;                       /* 1 to SPOT_FACTORS; 0 of spot_factor_ranges */
    int    factor[SPOT_FACTORS];       /* (dims) */
    double least[SPOT_FACTORS], most[SPOT_FACTORS];    /* (dims), least < most */
    bool   turns[SPOT_FACTORS];        /* (dims): 360 degrees, so 0 and 1 are the same condition */
} spot_factor_space;

/* The paper's nine, in its order (Gamma_l, Gamma_o, r_l, A_l, U_l, r_v, A_v, U_v, theta_v), with the ranges above. */
spot_factor_space spot_factor_space_paper(void);

/* The space of n ranges in their order. Ranges of no width (as floats) give no dimension; *fixed gets the value of every factor
 * that the ranges fix, and NaN for the others. SPOT_USAGE: a factor twice, least above most, a number that is not finite or
 * that render.h refuses, a camera distance that is not above 0, an elevation beyond 90 degrees, more than a full turn, no
 * dimension left. */
spot_status spot_factor_space_of(spot_ctx *c, spot_factor_space *s, spot_conditions *fixed, const spot_factor_range *r, int n);

/* The same, and no dimension may be left: s->dims is 0. */
spot_status spot_factor_ranges(spot_ctx *c, spot_factor_space *s, spot_conditions *fixed, const spot_factor_range *r, int n);

/* Sets the factors of the space from a point x (dims) of the cube; and back. */
void spot_factor_space_place(spot_conditions *f, const spot_factor_space *s, const double *x);
void spot_factor_space_point(double *x, const spot_factor_space *s, const spot_conditions *f);

/* Draws every factor of *f that is NaN uniformly in its paper's range: the sun's rotation, which the paper draws once for an
 * object. Address: (seed, SPOT_RNG_CONDITIONS, number, factor). */
void spot_conditions_draw(spot_conditions *f, uint64_t seed, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
