/* test_cost.c - what is said in advance: time by a stubbed pace, room by made-up files of /proc and /sys, and sweeps that are
 * refused for what a made-up machine has left. */
#define _DEFAULT_SOURCE
#include "check_sweep.h"

#include <math.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/room.h"
#include "sweep/sweep_pace.h"

/* -- the machine, as a sweep finds it ------------------------------------------------------------------------- */

static size_t memory = SIZE_MAX, addresses = SIZE_MAX;
static fsblkcnt_t blocks = (fsblkcnt_t)1 << 40;

size_t __wrap_spot_room_of_memory(const char *where, const char **whose);
size_t __real_spot_room_of_memory(const char *where, const char **whose);
size_t __wrap_spot_room_of_memory(const char *where, const char **whose)
{
    if (*where) return __real_spot_room_of_memory(where, whose);
    *whose = "the test";
    return memory;
}

size_t __wrap_spot_room_of_addresses(void);
size_t __wrap_spot_room_of_addresses(void) { return addresses; }

int __wrap_statvfs(const char *path, struct statvfs *disk);
int __wrap_statvfs(const char *path, struct statvfs *disk)
{
    (void)path;
    *disk = (struct statvfs){ .f_bavail = blocks, .f_frsize = 1 };
    return 0;
}

/* -- time ----------------------------------------------------------------------------------------------------- */

static const spot_pace stub = {
    .start = { 1, 2 }, .open = { 0.5, 0.5 }, .train = { 0.01, 0.02 }, .robust = { 0.03, 0.06 }, .watch = { 0.004, 0.008 },
    .look = { 0.002, 0.002 }, .picture = { 0.1, 0.1 },
    .method = { { .rows = 100, .power = 2, .at = { 3, 6 } }, { .rows = 100, .power = 0, .at = { 7, 7 } },
                { .rows = 100, .power = 0, .at = { 7, 7 }, .map = { .rows = 100, .before = { 1, 1 }, .step = { 0.5, 0.5 } } } },
};

TEST(time_grows_with_images_epochs_and_rows)
{
    static spot_config cfg;
    spot_ctx c = check_ctx(1);
    spot_source source = { 0 };
    spot_ec ec = { .images = { 100, 33, 0 } };
    spot_embed_config mapped;
    spot_spent s;

    cfg = spot_config_defaults();
    CHECK_OK(&c, spot_config_room(&c, &cfg, 1, 0));
    cfg.model.batch = 64;
    cfg.model.lanes = 2;
    cfg.model.epochs = 3;
    cfg.bdm[0].representation = SPOT_BY_MODEL;
    s = spot_pace_of_ec(&stub, &cfg, &ec, 65);               /* lanes of 32: 128 train, 64 val images, and 96 rows */
    assert_float_equal(s.wall, 0.5 + 3 * (128 * 0.01 + 64 * 0.004) + 96 * 0.002, 1e-9);
    assert_float_equal(s.cpu,  0.5 + 3 * (128 * 0.02 + 64 * 0.008) + 96 * 0.002, 1e-9);
    cfg.bdm[0].representation = SPOT_BY_ROBUST;
    cfg.model.robust.epochs = 2;
    s = spot_pace_of_ec(&stub, &cfg, &ec, 65);
    assert_float_equal(s.wall, 1 + 3 * 128 * 0.01 + 2 * 128 * 0.03 + 5 * 64 * 0.004 + 64 * 0.03 + 2 * 96 * 0.002, 1e-9);

    assert_float_equal(spot_method_timing_at(&stub.method[0], &cfg.bdm[0].embed, 200).cpu, 24, 1e-9);
    assert_float_equal(spot_method_timing_at(&stub.method[1], &cfg.bdm[0].embed, 200).wall, 7, 1e-9);
    mapped = cfg.bdm[0].embed;
    mapped.method = SPOT_REDUCE_SCVIS;
    mapped.scvis.iterations = 10;
    mapped.scvis.batch = 50;                                 /* a step has as many rows on every view */
    assert_float_equal(spot_method_timing_at(&stub.method[2], &mapped, 200).wall, 7 + 2 + 10 * 0.5, 1e-9);
    mapped.method = SPOT_REDUCE_TSNE;
    mapped.tsne.iterations = 10;                             /* a step grows with the pairs */
    assert_float_equal(spot_method_timing_at(&stub.method[2], &mapped, 200).wall, 7 + 2 + 10 * 0.5 * 4, 1e-9);

    assert_float_equal(spot_pace_of_start(&stub, &cfg, &source).wall, 1, 1e-9);
    cfg.model.base.images = 640;
    cfg.model.base.epochs = 2;
    assert_float_equal(spot_pace_of_start(&stub, &cfg, &source).wall, 1.5 + 2 * (640 * 0.01 + SPOT_BASE_VAL * 0.004), 1e-9);
}

/* The estimate takes their time off the rest, of which they are a part for these reducers alone. */
TEST(neighbours_are_timed_of_reducers_that_search_them)
{
    static const int method[] = { SPOT_REDUCE_PCA, SPOT_REDUCE_UMAP };
    spot_ctx c = check_ctx(1);
    spot_embed_config embed = spot_embed_defaults();
    spot_arena a;

    CHECK_OK(&c, spot_arena_open(&c, &a, (size_t)64 << 20));
    for (int k = 0; k < 2; k++) {
        spot_reducer_timing t;
        spot_truth truth;
        spot_view view;
        spot_points points;
        a.used = 0;
        embed.method = method[k];
        CHECK_OK(&c, spot_method_timing_view(&c, &a, &view, &truth, 1, 300, 16));
        points = (spot_points){ .n = view.n, .d = view.d, .at = view.feature, .objective = NAN };
        CHECK_OK(&c, spot_reducer_timing_take(&c, &a, &t, &points, &view, &embed));
        assert_true(t.before.wall > 0 && (t.neighbours.wall > 0) == k);
        assert_true(spot_reducer_timing_at(&t, &embed, 300).wall >= 0.9 * t.before.wall);
    }
    spot_arena_close(&a);
}

/* Twice the ECs, epochs and views: about twice the seconds. The calibration itself is real, so the margins are wide. */
TEST(a_calibration_measures_every_part)
{
    spot_sweep_options all = { .place.shards = 1, .pictures = true };
    spot_ctx c = context(1);
    spot_config *cfg = config(&c);
    spot_sweep_cost cost;
    double sum;

    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &all, &cost, true));
    sum = cost.start + cost.training + cost.pictures + cost.method[0] + cost.method[1];
    assert_true(cost.start > 0 && cost.training > 0 && cost.pictures > 0 && cost.method[0] > 0 && cost.method[1] > 0);
    assert_float_equal(cost.seconds, sum, 1e-6 * sum);
    assert_true(cost.cpu_seconds > 0 && cost.calibration > 0);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

TEST(disk_is_what_stays)
{
    spot_sweep_options o = { .place.shards = 1 };
    spot_ctx c = context(1);
    spot_config *cfg = config(&c);
    spot_sweep_cost all, results, pictures;

    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &o, &all, false));
    o.pictures = true;
    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &o, &pictures, false));
    o = (spot_sweep_options){ .place.shards = 1, .keep = SPOT_KEEP_RESULTS };
    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &o, &results, false));
    assert_true(results.disk < all.disk - 2 * 2.7e6);            /* one network of width 16 is there for a time, not three */
    assert_float_equal(pictures.disk, all.disk + 6 * 150e3, 1);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* -- room ----------------------------------------------------------------------------------------------------- */

TEST_WITH(the_least_limit_counts, set_up, tear_down)
{
    const char *whose;

    put_text("proc/meminfo", "MemTotal:  16000 kB\nMemAvailable:    8000 kB\n");
    assert_int_equal(spot_room_of_memory(root, &whose), 8000 * 1024);
    assert_string_equal(whose, "the machine");

    put_text("proc/self/cgroup", "0::/job/step\n");
    put_text("sys/fs/cgroup/job/step/memory.max", "max\n");
    assert_int_equal(spot_room_of_memory(root, &whose), 8000 * 1024);
    /* of the parent; 3.5 MB are taken, 1.5 MB of them spare */
    put_text("sys/fs/cgroup/job/memory.max", "5000000\n");
    put_text("sys/fs/cgroup/job/memory.current", "3500000\n");
    put_text("sys/fs/cgroup/job/memory.stat", "anon 2000000\ninactive_file 1500000\n");
    assert_int_equal(spot_room_of_memory(root, &whose), 3000000);
    assert_string_equal(whose, "the control group");

    put_text("proc/self/cgroup", "9:cpu:/job\n4:memory:/slurm/job\n0::/\n");
    put_text("sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes", "4000000\n");
    put_text("sys/fs/cgroup/memory/slurm/job/memory.usage_in_bytes", "4500000\n");
    assert_int_equal(spot_room_of_memory(root, &whose), 0);
    put_text("sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes", "9223372036854771712\n");       /* none */
    put_text("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n");
    assert_int_equal(spot_room_of_memory(root, &whose), 1000000);
}

/* Nothing is computed or claimed: another config may have the directory. */
static void refused(spot_ctx *c, const spot_config *cfg, spot_status s, const char *words)
{
    spot_sweep_report r;

    CHECK_FAILS(c, sweep(c, cfg, "a", 0, 1, &r), s, words);
    assert_int_equal(r.done, 0);
    shell("test ! -e %s/config.yaml", "a");
    shell("test -z \"$(ls %s/cache)\"", "a");
    memory = addresses = SIZE_MAX;
    blocks = (fsblkcnt_t)1 << 40;
}

static int warnings;
static void count_warnings(void *user, spot_log_level level, const char *text)
{
    (void)user;
    warnings += level == SPOT_LOG_WARN && strstr(text, "--keep views") != NULL;
}

TEST_WITH(what_cannot_fit_is_refused, set_up, tear_down)
{
    spot_ctx c = context(1);
    spot_config *cfg = config(&c);
    spot_sweep_report r;

    memory = 20 << 20;
    refused(&c, cfg, SPOT_NOMEM, "sweep.memory: the test | 0.02 GB | model.batch | scene.size | model.width");
    addresses = 200 << 20;
    refused(&c, cfg, SPOT_NOMEM, "sweep.addresses");
    blocks = 8 << 20;                                          /* the base model, twice, and one EC's network are more */
    refused(&c, cfg, SPOT_IO, "sweep.disk");
    blocks = 12 << 20;                                         /* and all three are more than this */
    cfg->seed++;
    c.on_log = count_warnings;
    CHECK_OK(&c, sweep(&c, cfg, "a", 0, 1, &r));
    assert_int_equal(warnings, 1);
    memory = 0;                                                /* what is done needs nothing */
    CHECK_OK(&c, sweep(&c, cfg, "a", 0, 1, &r));
    memory = SIZE_MAX;
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

