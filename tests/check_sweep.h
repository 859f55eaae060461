/* check_sweep.h - what the tests of whole sweeps share: a tiny config, runs in the test's folder, segments compared. */
#ifndef SPOTTER_TESTS_CHECK_SWEEP_H
#define SPOTTER_TESTS_CHECK_SWEEP_H

#include "base/file.h"
#include "check_folder.h"
#include "checks.h"
#include "spotter/sweep.h"
#include "tiny_config.h"

static const char tiny[] = TINY_CONFIG(3);

static inline spot_config *config(spot_ctx *c)
{
    spot_config *cfg = malloc(sizeof *cfg);
    assert_non_null(cfg);
    CHECK_OK(c, spot_config_parse(c, cfg, tiny, sizeof tiny - 1, "tiny"));
    return cfg;
}

static inline spot_ctx context(int threads)
{
    spot_ctx c = { 0 };
    spot_status s = spot_ctx_open(&c, "cpu", threads);
    if (s) fail_msg("%s", spot_message(&c, s));
    return c;
}

/* Runs cfg into root/name; o without its directory. */
static inline spot_status sweep_with(spot_ctx *c, const spot_config *cfg, const char *name, spot_sweep_options o,
                                     spot_sweep_report *r)
{
    char dir[128];
    o.place.out = dir;
    snprintf(dir, sizeof dir, "%s/%s", root, name);
    return spot_sweep_run(c, cfg, &o, r);
}

static inline spot_status sweep(spot_ctx *c, const spot_config *cfg, const char *name, int shard, int shards,
                                spot_sweep_report *r)
{
    return sweep_with(c, cfg, name, (spot_sweep_options){ .place.shard = shard, .place.shards = shards }, r);
}

static inline unsigned char *segment_bytes(spot_ctx *c, const char *name, int index, size_t *n)
{
    char path[160];
    unsigned char *bytes;
    snprintf(path, sizeof path, "%s/%s/segments/000/ec-%06d.json", root, name, index);
    CHECK_OK(c, spot_file_read(c, path, &bytes, n, 1 << 20));
    return bytes;
}

static inline void check_same_segments(spot_ctx *c, const char *a, const char *b, int ecs)
{
    for (int i = 0; i < ecs; i++) {
        size_t n, m;
        unsigned char *x = segment_bytes(c, a, i, &n), *y = segment_bytes(c, b, i, &m);
        if (n != m || memcmp(x, y, n)) fail_msg("EC %d of %s and %s differ:\n%s\n%s", i, a, b, (char *)x, (char *)y);
        free(x);
        free(y);
    }
}

static inline void shell(const char *fmt, const char *a)
{
    char command[512], path[128];
    snprintf(path, sizeof path, "%s/%s", root, a);
    snprintf(command, sizeof command, fmt, path);
    assert_int_equal(system(command), 0);
}

#endif
