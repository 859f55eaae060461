/* study_of_squares.h - a whole study: a unit sleeps a little and squares a number. */
#ifndef SPOTTER_TESTS_STUDY_OF_SQUARES_H
#define SPOTTER_TESTS_STUDY_OF_SQUARES_H

#include <signal.h>
#include <unistd.h>

#include "base/json.h"
#include "check_folder.h"
#include "checks.h"
#include "study/yaml.h"
#include "store/store.h"
#include "study/frame.h"

typedef struct { spot_memory *memory; int units, add; } config;
typedef struct { int index, numbers; char config[33]; double square; bool failed; } square;

static void describe(spot_json *j, void *result)
{
    square *s = result;
    spot_json_int(j, "index", &s->index), spot_json_int(j, "numbers", &s->numbers);
    spot_json_text(j, "config", s->config, sizeof s->config);
    spot_json_real(j, "square", &s->square);
    spot_json_bool(j, "failed", &s->failed);
}

static int failures(const void *result, spot_status *first, const char **what, const char **message)
{
    *first = SPOT_NUMERIC, *what = "squaring", *message = "the number is unlucky";
    return ((const square *)result)->failed;
}

static const spot_setting rows[] = {
    SPOT_ROW("units", INT, config, units, "numbers", SPOT_IN(0, 1000), .affects = SPOT_AFFECTS_EXTENT),
    SPOT_ROW("add", INT, config, add, "what is added to each square", SPOT_IN(0, 9), .affects = SPOT_AFFECTS_FINDING),
    SPOT_END
};
static const spot_config_kind kind = {
    .rows = rows, .size = sizeof(config), .key = SPOT_AFFECTS_FINDING, .run = SPOT_AFFECTS_FINDING,
};
static int count(const void *v) { return ((const config *)v)->units; }

static const spot_study squares = {
    .name = "squares", .unit = "number", .units = "numbers", .prefix = "n", .numbers = 1, .result = sizeof(square),
    .describe = describe, .failures = failures, .config = &kind, .units_of = count,
};

static volatile sig_atomic_t stop;
static int dies_at = -1, halts_at = -1, stops_at = -1, slow = 1000;   /* microseconds of a unit */
static bool let_both, shared;

static spot_status compute(spot_ctx *c, spot_work *w, const int *unit, int n)
{
    for (int i = 0; i < n; i++) {
        square s = { unit[i], 1, "", unit[i] * unit[i] + ((const config *)w->config)->add, unit[i] == 13 };
        memcpy(s.config, w->key, sizeof s.config);
        if (usleep((useconds_t)slow) || unit[i] == dies_at) raise(SIGKILL);
        if (unit[i] == halts_at) raise(SIGSTOP);
        stop |= unit[i] == stops_at;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_work_keep(c, w, unit[i], &s));
    }
    return SPOT_OK;
}

static spot_status prepare(spot_ctx *c, spot_work *w) { (void)c; w->batch = 3; return SPOT_OK; }

static spot_status run(spot_ctx *c, spot_work *w, const char *dir, const config *g, int shard, int shards)
{
    static char path[200];
    spot_store store;
    snprintf(path, sizeof path, "%s/%s", root, dir);
    SPOT_TRY(spot_store_open(c, &store, path));
    *w = (spot_work){ .study = &squares, .config = g, .units = g->units,
                      .place = { .out = path, .shard = shard, .shards = shards, .starts = 3, .beside = let_both, .shared = shared },
                      .prepare = prepare, .compute = compute };
    SPOT_TRY(spot_study_key(c, &squares, w->key, g));
    return spot_work_run(c, w);
}

#endif
