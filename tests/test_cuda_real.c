/* test_cuda_real.c - real pictures on CUDA: they lie on the device, a step copies none of them, and a sweep finds what the CPU
 * finds. ctest: heavy, ctest: long */
#define _POSIX_C_SOURCE 200809L
#include "check_real.h"

#include "check_cuda_sweep.h"
#include "worlds/source_draw.h"
#include "store/pixel_cache.h"

static const char text[] =
    "seed: 5\necs: 2\n"
    "data: {coco: %s/a.json, images: %s, tasks: \"animal, vehicle\", size: 32, pair_least: 2, blindspots: [1, 2],\n"
    "       val: 0.2, test: 0.4, flip: 0.7}\n"
    "model: {width: 16, epochs: 1, batch: 8, lr: 1.0e-4, learned_gap: 0.2}\n"
    "bdms: [{method: planespot, reduce: pca, mixture: {k_max: 3}}]\n"
    "metric: {lambda_p: 0.5, lambda_r: 0.5}\n";

enum { ECS = 2, PICTURES = 64 };

static spot_config *real_config(spot_ctx *c)
{
    spot_config *cfg = malloc(sizeof *cfg);
    char filled[1024];

    assert_non_null(cfg);
    annotate("a", plain, LEN(plain), PICTURES, true);
    snprintf(filled, sizeof filled, text, root, root);
    CHECK_OK(c, spot_config_parse(c, cfg, filled, strlen(filled), "pictures"));
    return cfg;
}

/* A wave; then under another schedule one by one, and two at once. */
TEST_WITH(a_sweep_on_pictures_finds_what_the_cpu_finds, set_up, tear_down)
{
    const spot_sweep_options wave = { .place.shards = 1, .pictures = true }, workers = { .place.shards = 1, .at_once = 2 };
    spot_ctx cpu = context(2), c;
    spot_config *cfg = real_config(&cpu);
    size_t before, after, total;
    spot_sweep_report r;

    CHECK_OK(&cpu, sweep_with(&cpu, cfg, "cpu", wave, &r));
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_device_room(&c, &before, &total));
    CHECK_OK(&c, sweep_with(&c, cfg, "cuda", wave, &r));
    assert_true(r.done == ECS && !r.failed);
    compare_runs(&cpu, &c, cfg, ECS, 1e-3);
    CHECK_OK(&c, spot_device_room(&c, &after, &total));
    if (getenv("SPOT_EMULATOR")) assert_int_equal(before, after);
    spot_device_close(&c);
    open_cuda(&c, 2);
    CHECK_OK(&c, sweep_with(&c, cfg, "workers", workers, &r));
    check_same_segments(&c, "cuda", "workers", ECS);
    spot_device_close(&c);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&cpu);
}

/* Labels, blindspots and input of every picture of a split, with a pixel cache or decoded. */
static void check_split(spot_ctx *c, const spot_ec *ec, spot_split split)
{
    enum { SIZE = 32, VALUES = 3 * SIZE * SIZE };
    const spot_ctx host = check_ctx(1);
    int n = ec->images[split];
    size_t bytes = (size_t)n * VALUES * sizeof(float);
    float *x = malloc(bytes), *y = malloc(bytes), target[PICTURES];
    spot_image image[PICTURES];
    uint32_t mask[PICTURES];
    spot_sample s = { .ec = ec, .split = split, .n = n, .image = image, .target = target, .mask = mask }, d = s;
    spot_ctx cpu = host;
    void *on;

    CHECK_OK(&cpu, spot_ec_images(&cpu, &s));
    CHECK_OK(&cpu, spot_ec_input(&cpu, x, 3, SPOT_FP32, image, n, ec, NULL));
    d.image = to_device(c, NULL, sizeof image), d.target = to_device(c, NULL, sizeof target);
    d.mask = to_device(c, NULL, sizeof mask), on = to_device(c, NULL, bytes);
    CHECK_OK(c, spot_ec_images(c, &d));
    CHECK_OK(c, spot_ec_input(c, on, 3, SPOT_FP32, d.image, n, ec, NULL));
    expect_bytes(c, on, x, bytes, "input", (int)split, 0);
    expect_bytes(c, d.image, image, (size_t)n * sizeof *image, "images", (int)split, 0);
    expect_bytes(c, d.target, target, (size_t)n * sizeof *target, "targets", (int)split, 0);
    expect_bytes(c, d.mask, mask, (size_t)n * sizeof *mask, "masks", (int)split, 0);
    free(x), free(y);
}

TEST_WITH(the_device_has_the_pictures_of_the_cpu, set_up, tear_down)
{
    spot_photos_config cfg;
    spot_ctx c, cpu = check_ctx(2);
    spot_photos *p;
    spot_store store;
    spot_ec ec;

    annotate("a", plain, LEN(plain), PICTURES, true);
    cfg = settings("a");
    cfg.pair_least = 1;
    const char *dir = in_root("run");
    CHECK_OK(&cpu, spot_store_open(&cpu, &store, dir));
    open_cuda(&c, 0);
    for (int cached = 0; cached < 2; cached++) {
        cfg.flip_val = cached;
        cfg.flip = cached ? 0.5 : 1;
        p = open_photos(&cpu, &cfg, 1);
        if (cached) CHECK_OK(&c, spot_pixel_cache_open(&c, &store, p));
        CHECK_OK(&cpu, spot_photos_ec(&cpu, &ec, p, 1));
        CHECK_FAILS(&c, spot_ec_images(&c, &(spot_sample){ .ec = &ec }), SPOT_INVALID,
                    "photos.not_uploaded: spot_photos_upload");
        CHECK_OK(&c, spot_photos_upload(&c, p, 0));
        for (int k = 0; k < SPOT_SPLITS; k++) check_split(&c, &ec, (spot_split)k);
        spot_photos_close(p);
    }
    spot_device_close(&c);
}

static int copies;
static const spot_plugin *counted_plugin;

static spot_status counted_copy(spot_ctx *c, void *to, const void *from, size_t bytes)
{
    copies++;
    return counted_plugin->copy(c, to, from, bytes);
}

/* Copies of a training in batches of this size. */
static int count_copies(spot_ctx *c, const spot_ec *ec, int batch)
{
    spot_model_config cfg = spot_model_defaults();
    spot_learning lesson;
    spot_arena a;
    spot_model m;

    cfg.width = 16;
    cfg.epochs = 1;
    cfg.batch = batch;
    cfg.lr = 1e-4;
    CHECK_OK(c, spot_arena_open(c, &a, 64 << 20));
    copies = 0;
    CHECK_OK(c, spot_model_train(c, &a, &m, &lesson, ec, &cfg, NULL));
    spot_arena_close(&a);
    return copies;
}

/* The pictures are copied once. Then the number of copies does not depend on the number of steps, and a recorded step, which
 * must not copy (device.h), reads the pictures. */
TEST_WITH(a_step_copies_nothing, set_up, tear_down)
{
    spot_photos_config cfg;
    spot_plugin counting;
    spot_ctx c;
    spot_device *d;
    spot_photos *p;
    spot_ec ec;

    annotate("a", plain, LEN(plain), 48, true);
    cfg = settings("a");
    cfg.pair_least = 1;
    open_cuda(&c, 0);
    d = c.device;
    counted_plugin = d->plugin;
    counting = *d->plugin;
    counting.copy = counted_copy;
    d->plugin = &counting;
    p = open_photos(&c, &cfg, 1);
    CHECK_OK(&c, spot_photos_ec(&c, &ec, p, 0));
    copies = 0;
    CHECK_OK(&c, spot_photos_upload(&c, p, 0));
    assert_true(copies > 0);
    copies = 0;
    CHECK_OK(&c, spot_photos_upload(&c, p, 0));
    assert_int_equal(copies, 0);
    assert_true(ec.images[SPOT_TRAIN] > 12);
    assert_int_equal(count_copies(&c, &ec, 4), count_copies(&c, &ec, 12));
    spot_photos_close(p);
    d->plugin = counted_plugin;
    spot_device_close(&c);
}

/* Where a device cannot hold the pictures nothing is begun. */
TEST_WITH(a_small_device_is_not_overrun, set_up, tear_down)
{
    spot_sweep_report r;
    spot_config *cfg;
    size_t before, after, total;
    spot_ctx c;

    if (!getenv("SPOT_EMULATOR")) skip();
    open_cuda(&c, 0);
    cfg = real_config(&c);
    CHECK_OK(&c, spot_device_room(&c, &before, &total));
    hold(100000);
    CHECK_FAILS(&c, sweep_with(&c, cfg, "small", (spot_sweep_options){ .place.shards = 1 }, &r), SPOT_NOMEM,
                "sweep.device_memory: pictures");
    unsetenv("SPOT_EMULATOR_MEMORY");
    CHECK_OK(&c, spot_device_room(&c, &after, &total));
    assert_int_equal(before, after);
    CHECK_CONFIG_FREE(cfg);
    spot_device_close(&c);
}

/* The plan states the memory of the pictures. */
TEST_WITH(the_plan_counts_the_pictures, set_up, tear_down)
{
    const spot_sweep_options o = { .place.shards = 1 };
    spot_sweep_cost cost;
    spot_config *cfg;
    size_t before;
    spot_ctx c;

    open_cuda(&c, 0);
    cfg = real_config(&c);
    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &o, &cost, false));
    before = cost.device_memory;
    cfg->data.size = 64;
    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &o, &cost, false));
    assert_true(cost.device_memory > before + 25 * 3 * (64 * 64 - 32 * 32));
    CHECK_CONFIG_FREE(cfg);
    spot_device_close(&c);
}

int main(void) { return run_cuda_tests(); }
