/* render.h - triangles -> pixels: a batch of (mesh, conditions) pairs drawn by a z-buffer.
 *
 * The camera of conditions f (mesh.h; A, U: azimuth and elevation, z up) is at r_v (cos A cos U, sin A cos U, sin U) and
 * looks at the origin. Its axes are analytic, so elevations of +-90 are like any other:
 *     right = (-sin A, cos A, 0)    up = (-sin U cos A, -sin U sin A, cos U)
 * and the image is turned by theta_v about the axis of view, against the clock. `view` is the angle of a side of the image.
 * Triangles are cut at the plane `near`, so the camera may be inside an object. Triangles have two sides: where the sum of a
 * triangle's three normals points away from the side that is seen, its shading normals are turned round.
 *
 * Light of a sample, in linear light, of the nearest triangle's material (k_d, k_s, n), with N, V, L_sun, L_lamp of length 1:
 *     k_d ambient + sum over sun, lamp of E max(0, N.L) (k_d + specular k_s max(0, N.H)^n),   H = (L + V) / |L + V|
 * E_sun = sun_scale Gamma_o from direction R (0, 0, 1), R = Rz(zeta) Ry(beta) Rx(alpha), as Blender turns a sun. The lamp lies
 * at distance r_l, azimuth and elevation; at distance r from the sample E_lamp = lamp_scale Gamma_l D / (D + r) (LINEAR) or
 * Gamma_l D^2 / (D^2 + r^2) (SQUARE), D = falloff_distance. There are no shadows. Times exposure, cut at 1, for each sample. A
 * pixel is the mean of samples x samples of them, mixed with the background by the share of samples that the object covers, in
 * linear light, and becomes a byte by the sRGB curve. A pixel without the object has the background's bytes.
 *
 * k_d is the material's diffuse times the texture times the colour of the mesh, which is linear between the corners.
 * Textures are read at the mip level of the pixel's footprint, bilinearly, the two levels mixed; colours count by their alpha.
 * Opacity below 1 (the material's, times the texture's alpha, times the cut-out) is a screen door: a sample of a 4 x 4 Bayer
 * pattern is covered where opacity is above its threshold, (0 .. 15 + 1/2) / 16.
 *
 * Coverage is exact: projected vertices are rounded to 1/256 of a sample, edges are integers, and a sample on an edge belongs
 * to one of the two triangles (top-left rule). Depth is the reciprocal distance along the view, a float whose bits are compared
 * as an integer; of equal depths the triangle of the lesser number is seen. Triangles of equal places have equal depths, in any
 * order of their corners. Arithmetic is correctly rounded operations and fma in one order, exp and log are vmath.h's, sums of
 * the facts are integers: equal bytes on every device, for any number of threads, and for any order of the triangles but for
 * ties (gpu_to_gpu).
 *
 * Meshes, pixels, facts and scratch lie in the memory of c's device; shots and settings lie on the host. */
#ifndef SPOTTER_RENDER_H
#define SPOTTER_RENDER_H

#include <stddef.h>
#include <stdint.h>

#include "core/ops.h"
#include "spotter/arena.h"
#include "spotter/mesh.h"

enum { SPOT_RENDER_LEAST_SIZE = 16, SPOT_RENDER_SIZE = 1024, SPOT_RENDER_SAMPLES = 4, SPOT_RENDER_FAR = 1000,
       SPOT_RENDER_MOST = 1000000 };

typedef enum { SPOT_FALLOFF_LINEAR, SPOT_FALLOFF_SQUARE } spot_falloff;

typedef struct {
    int    size;                   /* pixels a side, 16 to 1024 */
    int    samples;                /* a side of a pixel: 1, 2, 4 */
    double view;                   /* degrees; 49.13, Blender's 35 mm on 32 mm */
    double near;                   /* diagonals; .02 */
    double ambient, specular;      /* .15, .5 */
    double sun_scale, lamp_scale;  /* 1/pi, 1: Blender 2.7's energies have no unit */
    double exposure;               /* 1 */
    int    falloff;                /* spot_falloff */
    double falloff_distance;       /* 25, Blender's */
    double background[3];          /* linear light; .2 */
} spot_render_settings;

spot_render_settings spot_render_defaults(void);

/* A copy of a mesh in the memory of c's device; m may be closed afterwards. SPOT_INVALID for an index out of range, and for
 * places, coordinates, normals and materials that are not finite or beyond SPOT_RENDER_FAR. */
typedef struct spot_render_mesh spot_render_mesh;

spot_status spot_render_take(spot_ctx *c, spot_render_mesh **out, const spot_mesh *m);
void        spot_render_give(spot_ctx *c, spot_render_mesh *m);

typedef struct {
    int mesh;                      /* of the call's meshes */
    int picture;                   /* of the call's background pictures; -1: settings.background */
    spot_conditions at;
} spot_shot;

/* They say whether a person could still name the object. Shares are of the image's pixels or of their border. */
typedef struct {
    float area;                    /* the object's share of the image; 0: nothing is seen */
    float border;                  /* the share of the pixels of the image's border that the object covers: it is cropped */
    float light, spread;           /* mean and standard deviation of the object's luminance (0..1, linear light) */
    float contrast;                /* |object - background|: means of luminance, on the sRGB curve. The background is whole, the
                                    * part behind the object as well. 0: nothing is seen */
    int   inside;                  /* 1: the camera is within the box of the mesh */
} spot_shot_facts;

typedef struct {
    const spot_render_settings *settings;
    const spot_render_mesh *const *mesh;   /* (meshes) on the host */
    int    meshes;
    const uint8_t *picture;        /* (pictures, size, size, 3) backgrounds, sRGB; NULL: none */
    int    pictures;
    const spot_shot *shot;         /* (n) on the host */
    int    n;
    uint8_t *rgb;                  /* (n, size, size, 3) */
    uint8_t *mask;                 /* (n, size, size): covered samples, 255 all; NULL: not wanted */
    float   *depth;                /* (n, size, size): distance along the view of the pixel's nearest sample; 0: none. NULL */
    spot_shot_facts *facts;        /* (n); NULL: not wanted */
} spot_render_call;

struct spot_render_ops {
    spot_status (*draw)(spot_ctx *c, spot_arena *scratch, const spot_render_call *r);
    size_t      (*scratch)(const spot_render_call *r, int threads);
};

/* SPOT_INVALID for a size, a number of samples, another setting or an index out of range, and for conditions that are not
 * finite or beyond SPOT_RENDER_MOST. A camera at distance 0 is out of range. */
spot_status spot_render_draw(spot_ctx *c, spot_arena *scratch, const spot_render_call *r);

/* Bytes of scratch on c's device. */
size_t spot_render_scratch(spot_ctx *c, const spot_render_call *r);

#endif
