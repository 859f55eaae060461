#include "spotter/model.h"
spot_status spot_model_load(spot_ctx *c, spot_arena *a, spot_model *m, const char *path, int outputs, uint64_t seed){(void)a;(void)m;(void)path;(void)outputs;(void)seed;return spot_fail(c,SPOT_INPUT,"x");}
