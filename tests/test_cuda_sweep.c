/* test_cuda_sweep.c - a whole sweep on CUDA: what the CPU finds, the same bytes every time, nothing left behind.
 * ctest: heavy, ctest: long */
#define _POSIX_C_SOURCE 200809L
#include "check_cuda_sweep.h"
#include "check_copies.h"

#include "sweep/pipeline.h"

/* Learned here means better than chance: what matters is that both devices say the same. t-SNE's own learning rate, at
 * least 50, throws some twenty points about so that rounding decides where they land. */
static const char small[] =
    "seed: 5\n"
    "ecs: 3\n"
    "scene: {size: 32, rollable: [3, 3], extra_layers: [1, 1], blindspots: [1, 1], specificity: [2, 2],\n"
    "        per_bucket: {train: 2, val: 2, test: 5}}\n"
    "model: {width: 16, epochs: 1, batch: 8, lr: 1.0e-4,\n"
    "        learned_outside: 0.4, learned_inside: 0.6}\n"
    "bdms:\n"
    "  - {method: planespot, reduce: tsne, tsne: {perplexity: 5, iterations: 40, lr: 2}, mixture: {k_max: 3}}\n"
    "  - {method: planespot, reduce: pca, mixture: {k_max: 3}}\n"
    "  - {method: planespot, reduce: scvis, scvis: {iterations: 3, batch: 16}, mixture: {k_max: 2}}\n";

enum { ECS = 3 };

static spot_config *small_config(spot_ctx *c)
{
    spot_config *cfg = malloc(sizeof *cfg);

    assert_non_null(cfg);
    CHECK_OK(c, spot_config_parse(c, cfg, small, sizeof small - 1, "small"));
    return cfg;
}

TEST_WITH(a_sweep_finds_what_the_cpu_finds, set_up, tear_down)
{
    const spot_sweep_options wave = { .place.shards = 1, .pictures = true },
                             alone = { .place.shards = 1, .limit = 1, .wave = 1 },
                             workers = { .place.shards = 1, .limit = 2, .at_once = 2 };
    spot_ctx cpu = context(2), c;
    spot_config *cfg = small_config(&cpu);
    spot_sweep_report r;
    size_t before, after, total;

    CHECK_OK(&cpu, sweep_with(&cpu, cfg, "cpu", wave, &r));
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_device_room(&c, &before, &total));
    CHECK_OK(&c, sweep_with(&c, cfg, "cuda", wave, &r));
    assert_true(r.done == ECS && !r.failed);
    compare_runs(&cpu, &c, cfg, ECS, 1e-3);
    CHECK_OK(&c, spot_device_room(&c, &after, &total));
    if (getenv("SPOT_EMULATOR")) assert_int_equal(before, after);
    spot_device_close(&c);

    open_cuda(&c, 2);                                /* run_to_run: under another schedule one by one, two at once */
    CHECK_OK(&c, sweep_with(&c, cfg, "alone", alone, &r));
    check_same_segments(&c, "cuda", "alone", 1);
    CHECK_OK(&c, sweep_with(&c, cfg, "workers", workers, &r));
    check_same_segments(&c, "cuda", "workers", 2);
    spot_device_close(&c);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&cpu);
}

/* Views and points go from stage to stage on the device. */
static const char resident[] =
    "seed: 5\n"
    "ecs: 2\n"
    "scene: {size: 32, rollable: [3, 3], extra_layers: [1, 1], blindspots: [1, 1], specificity: [2, 2],\n"
    "        per_bucket: {train: 2, val: 2, test: 5}}\n"
    "model: {width: 16, epochs: 1, batch: 8, lr: 1.0e-4, learned_outside: 0.4, learned_inside: 0.6}\n"
    "bdms:\n"
    "  - {method: planespot, reduce: pca, dim: 3, mixture: {k_max: 2}}\n"
    "  - {method: planespot, reduce: scvis, dim: 3, scvis: {iterations: 3, batch: 16}, mixture: {k_max: 2}}\n"
    "  - {method: planespot, reduce: tsne, dim: 3, tsne: {perplexity: 5, iterations: 20, lr: 2}, mixture: {k_max: 2}}\n"
    "  - {method: george, normalise: true, hardness: true, dim: 3, umap: {epochs: 10}, clusters: 3}\n"
    "  - {method: spotlight, min_weight: 0.02, steps: 5, top: 2}\n"
    "  - {method: domino, dim: 3, components: 4}\n"
    "  - {method: barlow, representation: model, features: 20}\n"
    "  - {method: multiaccuracy}\n";

static void remove_segments(const char *name, int ecs)
{
    char path[160];

    for (int ec = 0; ec < ecs; ec++) {
        snprintf(path, sizeof path, "%s/%s/segments/000/ec-%06d.json", root, name, ec);
        if (remove(path)) fail_msg("%s cannot be removed", path);
    }
}

/* No features and no points go to the device; where the store has them, each goes once a wave. */
TEST_WITH(views_and_points_stay_on_the_device, set_up, tear_down)
{
    enum { BOTH = 2, D = 8 * 16 };
    const spot_sweep_options wave = { .place.shards = 1, .wave = BOTH, .at_once = 1 };
    spot_config *cfg = malloc(sizeof *cfg);
    spot_sweep_report r;
    spot_arena a;
    spot_ctx c;
    int n, m, as_many = 0;

    open_cuda(&c, 0);
    CHECK_OK(&c, spot_config_parse(&c, cfg, resident, sizeof resident - 1, "resident"));
    n = 8 * 5 / 2;                                   /* half of the images are positive */
    count_copies(&c);
    copies.size[0] = (size_t)n * D * sizeof(float);
    copies.size[1] = (size_t)n * 3 * sizeof(float);
    CHECK_OK(&c, sweep_with(&c, cfg, "resident", wave, &r));
    assert_int_equal(r.done, BOTH);
    assert_true(copies.of_size[0] == 0 && copies.of_size[1] == 0);
    CHECK_OK(&c, spot_arena_open(&c, &a, 1 << 20));
    for (int ec = 0; ec < BOTH; ec++) {              /* views of as many rows */
        confidences(&c, &a, cfg, "resident", ec, &m);
        as_many += m == n;
    }
    assert_true(as_many > 0);
    spot_arena_close(&a);
    remove_segments("resident", BOTH);
    CHECK_OK(&c, sweep_with(&c, cfg, "resident", wave, &r));
    assert_int_equal(r.done, BOTH);
    assert_int_equal(copies.of_size[0], as_many);
    spot_device_close(&c);
    CHECK_CONFIG_FREE(cfg);
}

/* Where a device has no memory for an EC nothing is begun. */
TEST_WITH(a_small_device_is_not_overrun, set_up, tear_down)
{
    spot_ctx c;
    spot_config *cfg;
    spot_sweep_report r;
    size_t before, after, total;

    if (!getenv("SPOT_EMULATOR")) skip();
    open_cuda(&c, 0);
    cfg = small_config(&c);
    hold(100000);
    CHECK_OK(&c, spot_device_room(&c, &before, &total));
    for (int at_once = 1; at_once <= 2; at_once++) {
        const spot_sweep_options o = { .place.shards = 1, .at_once = at_once };
        CHECK_FAILS(&c, sweep_with(&c, cfg, "small", o, &r), SPOT_NOMEM,
                    "sweep.device_memory: EC");
        assert_true(!r.failed && !r.done && !r.already);
    }
    CHECK_OK(&c, spot_device_room(&c, &after, &total));
    assert_int_equal(before, after);
    unsetenv("SPOT_EMULATOR_MEMORY");
    CHECK_CONFIG_FREE(cfg);
    spot_device_close(&c);
}

TEST(waves_fit_into_the_device)
{
    const spot_sweep_options o = { .place.shards = 1, .wave = 20, .at_once = 3 }, seven = { .place.shards = 1, .wave = 7 };
    spot_source source;
    spot_config *cfg;
    size_t left, total, taken;
    spot_layout l;
    spot_ctx c;

    if (!getenv("SPOT_EMULATOR")) skip();
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_device_room(&c, &left, &total));
    taken = total - left;                                        /* by the context itself */
    cfg = small_config(&c);
    CHECK_OK(&c, spot_source_open(&c, &source, cfg));
    CHECK_OK(&c, spot_layout_of(&c, &l, cfg, &source, NULL, &o, 2, 16));
    assert_true(l.wave == 2 && l.at_once == 2);
    CHECK_OK(&c, spot_layout_of(&c, &l, cfg, &source, NULL, &o, 100, 16));
    assert_true(l.wave == 20 && l.at_once == 3 && l.resident >= 20 * 16 * 128 * sizeof(float));
    hold(taken + 2 * l.worker.device + l.resident);
    CHECK_OK(&c, spot_layout_of(&c, &l, cfg, &source, NULL, &o, 100, 16));
    assert_true(l.wave == 20 && l.at_once == 2 && l.all.device == 2 * l.worker.device + l.resident);
    unsetenv("SPOT_EMULATOR_MEMORY");
    CHECK_OK(&c, spot_layout_of(&c, &l, cfg, &source, NULL, &seven, 100, 3200));
    assert_true(l.all.device > 3 * l.worker.device);             /* that many rows take more than training */
    hold(taken + l.all.device);
    CHECK_OK(&c, spot_layout_of(&c, &l, cfg, &source, NULL, &o, 100, 3200));
    assert_true(l.wave == 7 && l.at_once == 3);
    hold(taken + 1000);
    CHECK_OK(&c, spot_layout_of(&c, &l, cfg, &source, NULL, &o, 100, 3200));
    assert_true(l.wave == 1 && l.at_once == 1);
    unsetenv("SPOT_EMULATOR_MEMORY");
    CHECK_CONFIG_FREE(cfg);
    spot_device_close(&c);
}

int main(void) { return run_cuda_tests(); }
