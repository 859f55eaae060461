/* conv_task.cu - a pass of a convolution as a task for a library: the arrays as they lie in memory, and its name. Nothing here
 * needs a GPU, so that plans can be asked for without one. */
#include "net/conv_cudnn.cuh"

#include <stdio.h>

enum { STEM = 8 };

bool spot_conv_has(const spot_conv_shape *s, int pass)
{
    return pass == SPOT_PASS_FORWARD || s->train > (pass == SPOT_PASS_DATA && s->ci == 3);
}

spot_conv_task spot_conv_task_of(const spot_conv_shape *s, int pass)
{
    static const char *const name[SPOT_PASSES] = { "forward", "backward_data", "backward_weights" };
    static const char *const precision[] = { "fp32", "tf32", "bf16" };
    spot_conv_task t = { *s, pass };

    t.channels = s->ci == 3 ? (int)STEM : s->ci;
    t.size = s->size;
    t.out = s->size / s->stride;
    t.k = s->k;
    t.stride = s->stride;
    t.before = t.after = s->k / 2;
    snprintf(t.words, sizeof t.words, "conv.%s of (%d,%d,%d,%d) by (%d,%d,%d,%d), stride %d, %s%s%s%s", name[pass], s->rows,
             t.channels, t.size, t.size, s->co, t.channels, t.k, t.k, t.stride, precision[s->precision],
             s->bias ? ", bias" : "", s->add ? ", add" : "", s->relu ? ", relu" : "");
    return t;
}
