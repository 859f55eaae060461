/* check_net.h - a network in a file, beside the CLIP of check_clip.h. */
#ifndef SPOTTER_TESTS_CHECK_NET_H
#define SPOTTER_TESTS_CHECK_NET_H

#include "check_clip.h"
#include "check_resnet.h"

/* Writes net.safetensors into the test's folder: a ResNet-18 of width 16. Returns its path. */
static inline const char *put_net(int outputs)
{
    spot_ctx c = check_ctx(1);
    const char *path = in_root("net.safetensors");
    spot_arena a;
    spot_model m;

    CHECK_OK(&c, spot_arena_open(&c, &a, (size_t)16 << 20));
    CHECK_OK(&c, spot_model_take(&c, &a, &m, SPOT_ARCH_RESNET18, 16, outputs));
    fill_model(&m);
    CHECK_OK(&c, spot_model_save(&c, path, &m));
    spot_arena_close(&a);
    return path;
}

#endif
