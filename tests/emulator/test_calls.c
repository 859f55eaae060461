/* test_calls.c - how often a replayed step, an EC and a model that is examined on backgrounds call the CUDA runtime, against
 * calls_*_budget.txt.
 * ctest: heavy */
#define _GNU_SOURCE   /* setenv */
#include <sys/wait.h>
#include <unistd.h>

#include "call_budget.h"
#include "check_background.h"
#include "check_cuda.h"
#include "check_scene.h"
#include "check_sweep.h"
#include "models/trainer.h"
#include "store/pack.h"
#include "study/keys.h"

static const char ec_config[] =
    "seed: 5\n"
    "ecs: 1\n"
    "scene: {size: 32, rollable: [3, 3], extra_layers: [1, 1], blindspots: [1, 1], specificity: [2, 2],\n"
    "        per_bucket: {train: 2, val: 2, test: 5}}\n"
    "model: {width: 16, epochs: 2, batch: 8, lr: 1.0e-4, learned_outside: 0.4, learned_inside: 0.6}\n"
    "bdms:\n"
    "  - {method: planespot, reduce: tsne, tsne: {perplexity: 5, iterations: 40, lr: 2}, mixture: {k_max: 3}}\n"
    "  - {method: planespot, reduce: scvis, scvis: {iterations: 3, batch: 16}, mixture: {k_max: 2}}\n"
    "  - {method: spotlight, min_weight: 0.02, steps: 20}\n"
    "  - {method: domino, representation: model}\n"
    "  - {method: barlow, representation: model}\n"
    "  - {method: george}\n"
    "  - {method: multiaccuracy}\n";

static const char *const call_names[] = {
#define X(call) #call,
    EMU_CALLS(X)
#undef X
};

/* -- a step --------------------------------------------------------------------------------------------------- */

enum { BATCH = 4, STEPS = 2, BUCKETS = 8 };

static void ask_for_stop(void *user, const spot_progress *p)
{
    (void)p;
    *(volatile sig_atomic_t *)user = 1;
}

/* A stop that is asked for in the first step of an epoch is heard before the second, and no more steps than t->ahead are still
 * on their way to the device. */
static void stop_amid_an_epoch(spot_ctx *c, spot_trainer *t)
{
    static volatile sig_atomic_t stop;
    double mean;

    stop = 0;
    t->ahead = 1;
    c->stop = &stop, c->user = (void *)(uintptr_t)&stop, c->on_progress = ask_for_stop;
    calls_of(c)->reset();
    assert_int_equal(spot_trainer_learn(c, t, 1, &mean), SPOT_STOPPED);
    assert_int_equal(calls_of(c)->count(NULL, "replays"), 1);
    assert_int_equal(calls_of(c)->count(NULL, "waits"), 1);
    c->stop = NULL, c->on_progress = NULL;
    spot_forget(c);
}

/* The calls of the second epoch of a training, whose first one has recorded the step. */
static void count_epoch(spot_ctx *c, int arch, bool robust, long long count[EMU_CALL_KINDS])
{
    spot_scene_config scene = tiny_scene(3, 2, STEPS * BATCH / BUCKETS, 2, 2);
    const spot_robust_config foe = { .epsilon = 3, .steps = 1, .step = 1 };
    spot_model_config cfg = spot_model_defaults();
    spot_arena a, host;
    spot_trainer t;
    spot_model m;
    spot_ec ec;
    double mean;

    if (arch == SPOT_ARCH_ALEXNET) scene.size = 64;
    ec = an_ec(&scene, 0);
    cfg.arch = arch, cfg.width = 16, cfg.epochs = 2, cfg.batch = BATCH;
    CHECK_OK(c, spot_arena_open(c, &host, (size_t)64 << 20));
    CHECK_OK(c, spot_arena_open_device(c, &a, (size_t)96 << 20));
    CHECK_OK(c, spot_model_init(c, &host, &m, cfg.arch, cfg.width, ec.targets, ec.seed, ec.index));
    CHECK_OK(c, spot_trainer_open(c, &a, &host, &t, &ec, &cfg, robust ? &foe : NULL));
    assert_int_equal(t.images, STEPS * BATCH);
    CHECK_OK(c, spot_trainer_start(c, &t, &m));
    calls_of(c)->reset();
    CHECK_OK(c, spot_trainer_learn(c, &t, 0, &mean));
    assert_int_equal(calls_of(c)->count(NULL, "recordings"), 2);       /* of each batch's step, with the drawing beside it */
    assert_int_equal(calls_of(c)->count(NULL, "branches"), 2);
    calls_of(c)->reset();
    CHECK_OK(c, spot_trainer_learn(c, &t, 1, &mean));
    for (int k = 0; k < EMU_CALL_KINDS; k++) count[k] = calls_of(c)->count(NULL, call_names[k]);
    stop_amid_an_epoch(c, &t);
    spot_trainer_close(c, &t);
    spot_arena_close(&a);
    spot_arena_close(&host);
}

/* An epoch of a recorded step is one call a step. Besides, its order and its first batch are drawn (3 launches) and its losses
 * are fetched; one step alone would be 150 launches. */
static void an_epoch_is_a_call_a_step(int arch, bool robust)
{
    long long count[EMU_CALL_KINDS];
    spot_ctx c;

    open_cuda(&c, 0);
    count_epoch(&c, arch, robust, count);
    spot_device_close(&c);
    for (int k = 0; k < EMU_CALL_KINDS; k++) {
        long long most = k == EMU_replays ? STEPS : k == EMU_bytes_out ? STEPS * (long long)sizeof(double)
                       : k == EMU_launches ? 3 : k == EMU_clears || k == EMU_copies_out || k == EMU_waits;
        if (count[k] > most) fail_msg("an epoch of %d steps makes %lld %s, not %lld", STEPS, count[k], call_names[k], most);
    }
    assert_int_equal(count[EMU_replays], STEPS);
}

TEST(a_replayed_step_is_one_call) { an_epoch_is_a_call_a_step(SPOT_ARCH_RESNET18, false); }
TEST(a_replayed_step_against_an_adversary_is_one_call) { an_epoch_is_a_call_a_step(SPOT_ARCH_RESNET18, true); }
TEST(a_replayed_step_of_an_alexnet_is_one_call) { an_epoch_is_a_call_a_step(SPOT_ARCH_ALEXNET, false); }

/* -- an EC ---------------------------------------------------------------------------------------------------- */

static long long floats_of_model(void)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];

    return (long long)spot_model_layout(table, SPOT_ARCH_RESNET18, 16, 1);
}

TEST_WITH(an_ec_stays_within_its_budget, set_up, tear_down)
{
    const spot_sweep_options o = { .place.shards = 1 };
    spot_config *cfg = malloc(sizeof *cfg);
    spot_sweep_report r;
    spot_ctx c;

    assert_non_null(cfg);
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_config_parse(&c, cfg, ec_config, sizeof ec_config - 1, "ec_config"));
    calls_of(&c)->reset();
    CHECK_OK(&c, sweep_with(&c, cfg, "counted", o, &r));
    assert_true(r.done == 1 && !r.failed);
    stays_within(&c, "emulator/calls_ec_budget.txt");
    spot_device_close(&c);
    CHECK_CONFIG_FREE(cfg);
}

/* A network is the host's to the device once, when its training begins, and the device's to the host once, for the store. The
 * robust network starts from the classifier, both look with the weights of their trainings. */
TEST_WITH(weights_stay_on_the_device, set_up, tear_down)
{
    static const char text[] =
        "seed: 5\necs: 1\n"
        "scene: {size: 32, rollable: [3, 3], extra_layers: [1, 1], blindspots: [1, 1], specificity: [2, 2],\n"
        "        per_bucket: {train: 2, val: 2, test: 5}}\n"
        "model: {width: 16, epochs: 1, batch: 8, lr: 1.0e-4, learned_outside: 0.4, learned_inside: 0.6,\n"
        "        robust: {from: classifier, epochs: 1, steps: 1}}\n"
        "bdms: [{method: barlow, representation: robust}]\n";
    const spot_sweep_options o = { .place.shards = 1 };
    const long long model = 4 * floats_of_model(), few = model / 16;
    spot_config *cfg = malloc(sizeof *cfg);
    const spot_emulator_calls *calls;
    spot_sweep_report r;
    spot_ctx c;

    assert_non_null(cfg);
    open_cuda(&c, 0);
    calls = calls_of(&c);
    CHECK_OK(&c, spot_config_parse(&c, cfg, text, sizeof text - 1, "robust"));
    calls->reset();
    CHECK_OK(&c, sweep_with(&c, cfg, "robust", o, &r));
    assert_true(r.done == 1 && !r.failed);
    assert_in_range(calls->count("EC/train", "bytes_in"), model, model + few);
    assert_in_range(calls->count("EC/train", "bytes_out"), 2 * model, 2 * model + few);
    assert_in_range(calls->count("EC/view", "bytes_in"), 1, few);
    assert_in_range(calls->count("EC/view", "bytes_out"), 1, few);
    spot_device_close(&c);
    CHECK_CONFIG_FREE(cfg);
}

/* A base model of chance in the run's store, so that none is trained. */
static void keep_base(spot_ctx *c, const spot_config *cfg, const char *name)
{
    spot_store store;
    spot_arena a;
    spot_model m;

    CHECK_OK(c, spot_store_open(c, &store, in_root(name)));
    CHECK_OK(c, spot_arena_open(c, &a, (size_t)16 << 20));
    CHECK_OK(c, spot_model_init(c, &a, &m, cfg->model.arch, cfg->model.width, SPOT_BASE_TARGETS, 5, 0));
    CHECK_OK(c, spot_keep(c, &store, spot_key_of_base(c, cfg), "base", spot_pack_model, &m));
    spot_arena_close(&a);
}

/* The base model is the host's to the device once a process; an EC brings its head. */
TEST_WITH(the_base_model_stays_on_the_device, set_up, tear_down)
{
    static const char text[] =
        "seed: 5\necs: 2\n"
        "scene: {size: 32, rollable: [3, 3], extra_layers: [1, 1], blindspots: [1, 1], specificity: [2, 2],\n"
        "        per_bucket: {train: 2, val: 2, test: 5}}\n"
        "model: {width: 16, epochs: 1, batch: 8, lr: 1.0e-4, learned_outside: 0.4, learned_inside: 0.6,\n"
        "        base: {images: 64}}\n"
        "bdms: [{method: confidence}]\n";
    const spot_sweep_options o = { .place.shards = 1 };
    const long long model = 4 * floats_of_model(), few = model / 16;
    spot_config *cfg = malloc(sizeof *cfg);
    const spot_emulator_calls *calls;
    spot_sweep_report r;
    spot_ctx c;

    assert_non_null(cfg);
    open_cuda(&c, 0);
    calls = calls_of(&c);
    CHECK_OK(&c, spot_config_parse(&c, cfg, text, sizeof text - 1, "base"));
    keep_base(&c, cfg, "base");
    calls->reset();
    CHECK_OK(&c, sweep_with(&c, cfg, "base", o, &r));
    assert_true(r.done == 2 && !r.failed);
    assert_in_range(calls->count("", "bytes_in"), model, model + few);
    assert_in_range(calls->count("EC/train", "bytes_in"), 1, few);
    assert_in_range(calls->count("EC/train", "copies_within"), 1, 2 * 2);
    spot_device_close(&c);
    CHECK_CONFIG_FREE(cfg);
}

/* -- a model examined on backgrounds ------------------------------------------------------------------------------ */

enum { TARGETS = 4, N = 2, SETS = SPOT_BACKGROUND_SETS - 2, OWN = 1, LOOKS = TARGETS * (1 + N + OWN + SETS), WIDTH = 16 };

/* Squares of targets and donors go in with their masks, each target of a class of two as the donor of the other, too; the
 * backgrounds go without; logits, embeddings and channels come back. */
static void check_look(const spot_emulator_calls *calls)
{
    const long long square = 3 * SIDE * SIDE, channels = spot_look_channels(SPOT_ARCH_RESNET18, WIDTH), donors = (3 + OWN) * TARGETS;
    const char *const look = "background/look";
    const long long in = calls->count(look, "bytes_in"), out = calls->count(look, "bytes_out");

    assert_int_equal(out, LOOKS * (2 + 8 * WIDTH + channels) * (long long)sizeof(float));
    assert_int_equal(calls->count(look, "copies_out"), 3);
    assert_in_range(in, (TARGETS + donors) * square / 3 * 4, (TARGETS + donors) * square / 3 * 4 + TARGETS * N * square);
    assert_int_equal(calls->count(look, "copies_in"), 4);
}

TEST_WITH(a_model_examined_stays_within_its_budget, set_up, tear_down)
{
    spot_background_config *cfg = world_config(N);
    spot_run_report r;
    spot_ctx c;

    make_world(TARGETS / 2, 5);
    add_weights(cfg);
    cfg->models = 1;
    open_cuda(&c, 0);
    calls_of(&c)->reset();
    CHECK_OK(&c, run_world(&c, cfg, "counted", NULL, 0, 1, &r));
    assert_int_equal(r.done, 1);
    check_look(calls_of(&c));
    stays_within(&c, "emulator/calls_background_budget.txt");
    spot_device_close(&c);
    CHECK_CONFIG_FREE(cfg);
}

/* -- the file ------------------------------------------------------------------------------------------------- */

/* In a process of its own, as the file is written at its end. */
TEST_WITH(counts_are_written_at_the_end, set_up, tear_down)
{
    static char text[65536];
    char path[160];
    int status;
    pid_t child;
    FILE *f;

    snprintf(path, sizeof path, "%s/calls.json", root);
    if (!(child = fork())) {
        float x = 1;
        spot_ctx c;
        setenv("SPOT_EMULATOR_CALLS", path, 1);
        open_cuda(&c, 0);
        calls_of(&c)->reset();
        spot_range_begin(&c, "EC 12");
        spot_device_give(&c, to_device(&c, &x, sizeof x));
        spot_range_end(&c);
        exit(0);
    }
    assert_true(waitpid(child, &status, 0) == child && !status);
    assert_non_null(f = fopen(path, "r"));
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    assert_non_null(strstr(text, "{\"stages\": {\"EC\": {\"launches\": 0,"));
    assert_non_null(strstr(text, "\"takes\": 1, \"taken\": 4, \"gives\": 1, \"copies_in\": 1, \"bytes_in\": 4,"));
    assert_non_null(strstr(text, "\"kernels\": {}}"));
}

int main(void) { return run_cuda_tests(); }
