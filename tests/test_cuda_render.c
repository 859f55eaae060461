/* test_cuda_render.c - kernels/image/render: images of every number of samples, from near, far and within an object, before
 * pictures, more than a launch takes; what is refused. test_render.c looks closer at single images. ctest: threads */
#define _GNU_SOURCE   /* setenv */
#include "check_op.h"

#include "image/render.h"
#include "op_mesh.h"

/* pixels, samples, images, rings, pictures, nearest camera, falloff */
static const int sizes[][SPOT_OP_SIZES] = {
    { 16, 1, 5, 3, 0, 0, SPOT_FALLOFF_LINEAR },  { 17, 2, 18, 6, 2, 0, SPOT_FALLOFF_SQUARE },
    { 20, 4, 4, 4, 1, 60, SPOT_FALLOFF_LINEAR }, { 24, 2, 5, 5, 1, 12, SPOT_FALLOFF_SQUARE },
    { 33, 1, 3, 12, 3, 0, SPOT_FALLOFF_LINEAR }, { 16, 2, 0, 2, 0, 0, SPOT_FALLOFF_LINEAR },
};

int main(void)
{
    static op_row rows[] = { OP_ROW(spot_op_mesh, sizes, .problems = LEN(sizes)) };

    return run_ops(rows, LEN(rows));
}
