/* op_mesh.h - objects made by formulas, and their images, for tests/test_cuda_render.c, tests/test_render.c and
 * bench_mesh.c. */
#ifndef SPOTTER_OP_MESH_H
#define SPOTTER_OP_MESH_H

#include "image/render.h"
#include "op.h"

/* A mesh with room for more triangles. Close it also after a failure. */
typedef struct {
    spot_mesh mesh;
    int room;                      /* triangles; three vertices each */
    spot_mesh_material look[8];
    spot_mesh_texture texture[2];
    bool broken;                   /* there was no memory, or no room */
} spot_toy;

/* The parts that a toy can have. Materials: 0 matt, 1 shiny, 2 and 3 textured, 4 half transparent, 5 with cut-outs. */
void spot_toy_open (spot_toy *t, int room);
void spot_toy_close(spot_toy *t);

/* corner (3, 3), normal (3, 3) or NULL: flat; at (3, 2) or NULL. */
void spot_toy_triangle(spot_toy *t, const float *corner, const float *normal, const float *at, int material);

/* A ball of 2 x rings x (rings - 1) x 2 triangles around `middle` whose radius swells by `swell` in bumps. */
void spot_toy_ball(spot_toy *t, const float *middle, float radius, float swell, int rings, int material);

/* Twelve triangles. */
void spot_toy_box(spot_toy *t, const float *middle, const float *half, int material);

/* Ends the making. SPOT_NOMEM. */
spot_status spot_toy_done(spot_ctx *c, spot_toy *t);

/* A ball and boxes of all materials; 4,300 triangles with 32 rings, 30,000 with 86. SPOT_NOMEM. */
spot_status spot_toy_make(spot_ctx *c, spot_toy *t, int rings);

/* Conditions number i, within the ranges of factors.h. */
spot_conditions spot_toy_conditions(int i);

/* size: pixels a side, samples, images, rings, pictures behind the objects, nearest camera in hundredths (0: by the factors),
 * falloff. Conditions are random. Images alternate between the toy and one without a ball. */
typedef struct {
    spot_render_settings settings;
    spot_shot *shot;               /* (images) on the host */
    int images, rings, pictures;
    uint8_t *picture, *rgb, *mask;
    float   *depth;
    spot_shot_facts *facts;
} spot_op_images;
extern const spot_op spot_op_mesh;

/* Opens the two toys of problem p into `of` (2); close them also after a failure. */
spot_status spot_op_toys(spot_ctx *c, spot_toy *of, const spot_op_images *p);

#endif
