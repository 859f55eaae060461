/* conv_task.cu - a pass of a convolution as a task for a library: the arrays as they lie in memory, and its name. Nothing here
 * needs a GPU, so that plans can be asked for without one. */
#include "net/conv_cudnn.cuh"

#include <stdio.h>

#include "core/stem.h"

bool spot_conv_has_pass(const spot_conv_shape *s, int pass)
{
    return pass == SPOT_PASS_FORWARD || s->train > (pass == SPOT_PASS_DATA && s->ci == 3);
}

bool spot_conv_in_blocks(const spot_conv_shape *s) { return s->ci == 3 && s->stride % SPOT_STEM_SIDE == 0; }

/* An image's convolution of an even stride over blocks of 2 x 2 pixels: the taps of output p lie in rows stride*p - pad ..
 * stride*p + k - 1 - pad of pixels. For 7x7 of stride 2 these are 4 blocks, from p - 2 to p + 1, for 11x11 of stride 4 and a
 * padding of 2 they are 6, from 2p - 1 to 2p + 4. */
static void put_stem(spot_conv_task *t)
{
    t->channels = SPOT_STEM_BLOCK;
    t->size = t->s.size / SPOT_STEM_SIDE;
    t->stride = t->s.stride / SPOT_STEM_SIDE;
    t->before = (spot_conv_pad(&t->s) + 1) / 2;
    t->k = t->before + 1 + (t->s.k - 1 - spot_conv_pad(&t->s)) / 2;
    t->after = (t->out - 1) * t->stride + t->k - t->before - t->size;
}

spot_conv_task spot_conv_task_of(const spot_conv_shape *s, int pass)
{
    static const char *const name[SPOT_PASSES] = { "forward", "backward_data", "backward_weights" };
    static const char *const precision[] = { "fp32", "tf32", "bf16" };
    spot_conv_task t = { *s, pass };

    t.channels = s->ci;
    t.size = s->size;
    t.out = spot_conv_out(s);
    t.k = s->k;
    t.stride = s->stride;
    t.before = t.after = spot_conv_pad(s);
    t.adds = s->add && (!s->train || pass == SPOT_PASS_DATA);
    if (spot_conv_in_blocks(s)) put_stem(&t);
    else if (s->ci == 3) t.channels = s->precision == SPOT_BF16 ? 2 * SPOT_STEM : SPOT_STEM;       /* 16 bytes a pixel */
    snprintf(t.words, sizeof t.words, "conv.%s of (%d,%d,%d,%d) by (%d,%d,%d,%d), stride %d, %s%s%s%s", name[pass], s->rows,
             t.channels, t.size, t.size, s->co, t.channels, t.k, t.k, t.stride, precision[s->precision],
             s->bias ? ", bias" : "", t.adds ? ", add" : "", s->relu ? ", relu" : "");
    return t;
}
