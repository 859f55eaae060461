/* test_cuda_background.c - the steps of a background study on CUDA against the CPU: suite, blends, responses, matrices, forest.
 * Results that are gpu_to_gpu have the CPU's bytes; every other number is within its header's tolerance and has the same bits
 * every time. Nothing is left on the device. ctest: heavy */
#define _GNU_SOURCE   /* setenv */
#include "check_background.h"

#include "background/look/look_batch.h"
#include "background/background_result.h"
#include "background/look/matrices.h"
#include "check_clip.h"
#include "check_cuda.h"
#include "check_verdict.h"
#include "spotter/background_pictures.h"
#include "spotter/verdict.h"

/* fp32 sums in another order, of a network of 18 layers; then the softmax and means of the last one. */
#define SIGNAL_OFF 2e-5

enum { EACH = 3, BACKGROUNDS = 9 };

static size_t room_of(spot_ctx *c)
{
    size_t left, total;

    CHECK_OK(c, spot_device_room(c, &left, &total));
    return left;
}

/* On a GPU others may take memory, too. */
static void check_room(spot_ctx *c, size_t before)
{
    if (getenv("SPOT_EMULATOR")) assert_int_equal(room_of(c), before);
}

/* -- runs ------------------------------------------------------------------------------------------------------------ */

typedef struct { spot_background_results r; spot_background_responses a[8]; } finished;

static finished run_study(spot_ctx *c, const spot_background_config *cfg, const char *out)
{
    spot_run_report report;
    spot_ctx cpu = check_ctx(1);
    finished f;

    CHECK_OK(c, run_world(c, cfg, out, NULL, 0, 1, &report));
    assert_int_equal(report.done, cfg->models);
    CHECK_OK(&cpu, spot_background_read(&cpu, &f.r, in_world(out)));
    for (int u = 0; u < f.r.units; u++)
        CHECK_OK(&cpu, spot_background_responses_read(&cpu, &f.a[u], in_world(out), &f.r.unit[u]));
    return f;
}

static void close_study(finished *f)
{
    for (int u = 0; u < f->r.units; u++) spot_background_responses_free(&f->a[u]);
    spot_background_close(&f->r);
}

/* off: of the largest. NaN is where NaN is wanted. */
static void check_floats(const float *got, const float *want, size_t n, double off, const char *what)
{
    double most = 0;

    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(want[i]));
    for (size_t i = 0; i < n; i++)
        if (isnan(want[i]) ? !isnan(got[i]) : !(fabs((double)got[i] - want[i]) <= off * most))
            fail_msg("%s: number %zu is %.9g, wanted %.9g; the largest is %g", what, i, got[i], want[i], most);
}

/* The suite depends on bytes of blends alone, unless a network measures distances. */
static void check_suite(const spot_background_suite *got, const spot_background_suite *want, double off)
{
    const size_t n = (size_t)want->targets * (size_t)want->n;

    assert_true(got->targets == want->targets && got->n == want->n && got->backgrounds == want->backgrounds);
    assert_memory_equal(got->chosen, want->chosen, n * sizeof(int));
    assert_memory_equal(got->keyword, want->keyword, n * sizeof(int));
    assert_memory_equal(got->unreal, want->unreal, n);
    check_floats(got->distance, want->distance, n, off, "distances");
    CHECK_NEAR(got->range, want->range, off * want->range);
}

/* |S_j - S_k| is off by twice a signal's error, a matrix by that and by its own (rbf.h). */
static void check_matrices(const spot_background_responses *got, const spot_background_responses *want)
{
    const size_t cells = (size_t)want->grid * (size_t)want->grid, images = (size_t)want->targets * (size_t)(want->n + 1);

    assert_memory_equal(got->weight, want->weight, cells * sizeof(float));
    for (int k = 0; k < SPOT_BACKGROUND_MATRICES; k++) {
        const float *m = want->matrix + (size_t)k * cells, *s = want->signal + (size_t)k * images;
        double signal = 0, most = 0;
        for (size_t i = 0; i < images; i++) signal = fmax(signal, fabs(s[i]));
        for (size_t i = 0; i < cells; i++) most = fmax(most, fabs(m[i]));
        assert_true(most > 0);
        check_floats(got->matrix + (size_t)k * cells, m, cells, 2 * SIGNAL_OFF * signal / most + 1e-6, "matrix");
    }
}

static void check_study(const finished *got, const finished *want, double off)
{
    assert_int_equal(got->r.units, want->r.units);
    check_suite(got->r.suite, want->r.suite, off);
    for (int u = 0; u < want->r.units; u++) {
        const spot_background_responses *a = &got->a[u], *b = &want->a[u];
        const size_t images = (size_t)b->targets * (size_t)(b->n + 1);
        assert_memory_equal(a->answer, b->answer, images * sizeof(int));
        assert_memory_equal(a->derived, b->derived, (size_t)b->targets * SPOT_BACKGROUND_SETS * sizeof(int));
        for (int k = 0; k < SPOT_BACKGROUND_MATRICES; k++)
            check_floats(a->signal + (size_t)k * images, b->signal + (size_t)k * images, images, SIGNAL_OFF, "signals");
        check_matrices(a, b);
        for (int k = 0; k < SPOT_COVERAGES; k++)
            CHECK_NEAR(got->r.unit[u].coverage[k], want->r.unit[u].coverage[k], 0);
    }
}

/* A run, and a second one with other schedules. */
static void check_runs(const spot_background_config *cfg, double off)
{
    spot_ctx cpu = check_ctx(2), c;
    finished want = run_study(&cpu, cfg, "cpu"), got;
    size_t before;

    open_cuda(&c, 0);
    before = room_of(&c);
    got = run_study(&c, cfg, "cuda");
    check_room(&c, before);
    spot_device_close(&c);
    check_study(&got, &want, off);
    close_study(&got);
    if (!is_slow()) {
        open_cuda(&c, 2);
        got = run_study(&c, cfg, "again");
        spot_device_close(&c);
        for (int u = 0; u < cfg->models; u++) {
            char name[64];
            snprintf(name, sizeof name, "responses/000/model-%06d.safetensors", u);
            assert_same_file("cuda", "again", name);
        }
        close_study(&got);
    }
    close_study(&want);
}

/* Two models that look together, all derived sets, a test of realness. */
TEST_IN_FOLDER(a_run_finds_what_the_cpu_finds)
{
    spot_background_config *cfg = world_config(3);

    make_world(EACH, BACKGROUNDS);
    add_weights(cfg);
    cfg->suite.realness = 0.9, cfg->suite.tries = 3;
    check_runs(cfg, 0);
    CHECK_CONFIG_FREE(cfg);
}

/* CLIP and a ResNet measure distances, CLIP says which words a background shows; points lie where they are. */
TEST_IN_FOLDER(networks_choose_what_they_choose_on_the_cpu)
{
    spot_background_config *cfg = world_config(2);

    make_world(EACH, BACKGROUNDS);
    add_weights(cfg);
    cfg->encoders = 2;
    cfg->encoder[0] = (spot_background_encoder){ "clip", "", "", 2 };
    cfg->encoder[0].weights = check_text("%s", put_model());
    cfg->encoder[1] = (spot_background_encoder){ "resnet", "", "", 1 };
    cfg->encoder[1].weights = check_text("%s", cfg->model[1].weights);
    cfg->models = 1;
    put_text(in_root("words.txt"), "cat\ndo\nbig cat\ntree\nsky\n");
    cfg->ontology.words = check_text("%s", in_root("words.txt"));
    cfg->ontology.top = 2;
    cfg->suite.choice = SPOT_SUITE_CLIP;
    cfg->measure.sets = 0, cfg->measure.exact = 1;
    check_runs(cfg, 1e-4);
    CHECK_CONFIG_FREE(cfg);
}

/* Networks that round: signals within 2^-8 or 2^-7 of the largest. The suite has no network, so it stays. */
TEST_IN_FOLDER(other_precisions_answer_nearly_so)
{
    static const struct { spot_precision precision; double off; } rounded[] = { { SPOT_TF32, 0x1p-8 }, { SPOT_BF16, 0x1p-5 } };
    spot_background_config *cfg = world_config(2);
    spot_ctx cpu = check_ctx(2), c;
    spot_run_report report;

    make_world(2, 5);
    add_weights(cfg);
    cfg->models = 1;
    finished want = run_study(&cpu, cfg, "cpu");
    for (int i = 0; i < LEN(rounded); i++) {
        cfg->measure.precision = rounded[i].precision;
        open_cuda(&c, 0);
        finished got = run_study(&c, cfg, i ? "bf16" : "tf32");
        spot_device_close(&c);
        check_suite(got.r.suite, want.r.suite, 0);
        for (int k = 0; k < SPOT_BACKGROUND_MATRICES; k++)
            check_floats(got.a[0].signal + k * 4 * 3, want.a[0].signal + k * 4 * 3, 4 * 3, rounded[i].off, "rounded signals");
        if (i) assert_memory_not_equal(got.a[0].signal, want.a[0].signal, 4 * 3 * sizeof(float));
        close_study(&got);
    }
    cfg->measure.precision = SPOT_TF32;
    CHECK_FAILS(&cpu, run_world(&cpu, cfg, "none", NULL, 0, 1, &report), SPOT_UNSUPPORTED, "conv.precision: tf32");
    close_study(&want);
    CHECK_CONFIG_FREE(cfg);
}

/* -- pictures -------------------------------------------------------------------------------------------------------- */

/* Every blend and every derived set has the CPU's bytes, of sides whose squares do not end with a whole group of bytes, too. */
static void check_pictures(spot_ctx *cuda, const spot_background_config *cfg, const char *out)
{
    spot_ctx cpu = check_ctx(2);
    spot_background_results r;
    spot_background_pictures *p[2];
    const size_t bytes = 3 * (size_t)cfg->data.size * (size_t)cfg->data.size;
    uint8_t *rgb[2] = { malloc(bytes), malloc(bytes) };
    world_model of_background = { .of_background = true };
    spot_run_report report;

    CHECK_OK(cuda, run_world(cuda, cfg, out, &of_background, 0, 1, &report));
    CHECK_OK(&cpu, spot_background_read(&cpu, &r, in_world(out)));
    CHECK_OK(&cpu, spot_background_pictures_open(&cpu, &p[0], &r, false));
    CHECK_OK(cuda, spot_background_pictures_open(cuda, &p[1], &r, false));
    for (int t = 0; t < r.suite->targets; t++)
        for (int image = 0; image < r.suite->n + 1 + SPOT_SET_SUITE; image++) {
            if (image == r.suite->n + 1 + SPOT_SET_ORIGINAL) continue;
            CHECK_OK(&cpu, spot_background_picture(&cpu, p[0], rgb[0], t, image));
            CHECK_OK(cuda, spot_background_picture(cuda, p[1], rgb[1], t, image));
            if (memcmp(rgb[0], rgb[1], bytes)) fail_msg("target %d, image %d: other bytes than the CPU's", t, image);
        }
    spot_background_pictures_close(p[0]), spot_background_pictures_close(p[1]);
    spot_background_close(&r);
    free(rgb[0]), free(rgb[1]);
}

TEST_IN_FOLDER(pictures_have_the_bytes_of_the_cpu)
{
    spot_background_config *cfg = world_config(2);
    spot_ctx c;
    size_t before;

    make_world(2, 5);
    open_cuda(&c, 0);
    before = room_of(&c);
    check_pictures(&c, cfg, "whole");
    check_room(&c, before);
    spot_device_close(&c);
    CHECK_CONFIG_FREE(cfg);
}

/* A function sees on the host what a network sees on the device, also in a second batch. */
TEST_IN_FOLDER(a_function_answers_as_on_the_cpu)
{
    spot_background_config *cfg = world_config(4);
    spot_ctx cpu = check_ctx(1), c;
    spot_run_report report;
    const char *const file = "responses/000/model-000000.safetensors";

    make_world(is_slow() ? EACH : 52, BACKGROUNDS);
    open_cuda(&c, 0);
    if (!is_slow()) assert_int_equal(spot_look_together(&c, cfg), 60);         /* of 104 */
    spot_device_close(&c);
    for (int of = 0; of < 2; of++) {
        world_model m = { .of_background = of };
        CHECK_OK(&cpu, run_world(&cpu, cfg, of ? "cpu1" : "cpu0", &m, 0, 1, &report));
        open_cuda(&c, of);
        CHECK_OK(&c, run_world(&c, cfg, of ? "cuda1" : "cuda0", &m, 0, 1, &report));
        spot_device_close(&c);
        assert_same_file(of ? "cpu1" : "cpu0", of ? "cuda1" : "cuda0", file);
    }
    CHECK_CONFIG_FREE(cfg);
}

/* -- matrices -------------------------------------------------------------------------------------------------------- */

enum { TARGETS = 37, N = 5 };

static void fill_suite(spot_background_suite *s, float *distance)
{
    *s = (spot_background_suite){ .targets = TARGETS, .n = N, .range = 1, .distance = distance };
    for (int i = 0; i < TARGETS * N; i++) distance[i] = (float)unit(1, (size_t)i);
}

static void compute_matrices(spot_ctx *c, spot_background_responses *r, spot_background_result *u,
                             const spot_background_suite *s, const spot_background_config *cfg)
{
    const size_t images = TARGETS * (N + 1);

    CHECK_OK(c, spot_background_responses_take(c, r, TARGETS, N, 0, cfg->measure.grid));
    for (size_t i = 0; i < SPOT_BACKGROUND_MATRICES * images; i++) r->signal[i] = (float)unit(2, i);
    *u = (spot_background_result){ .has = { true, true, true, true } };
    CHECK_OK(c, spot_background_matrices(c, r, u, s, cfg));
}

TEST(matrices_are_those_of_the_cpu)
{
    spot_background_config *cfg = malloc(sizeof *cfg);
    float distance[TARGETS * N];
    spot_background_suite s;
    spot_ctx cpu = check_ctx(2), c;

    spot_background_defaults(cfg);
    cfg->measure.grid = 20, cfg->measure.kernel = 8, cfg->measure.sigma = 2.5;
    fill_suite(&s, distance);
    for (int exact = 0; exact < 2; exact++) {
        spot_background_responses got, want;
        spot_background_result x, y;
        const size_t cells = 20 * 20;
        cfg->measure.exact = exact;
        compute_matrices(&cpu, &want, &y, &s, cfg);
        open_cuda(&c, exact);
        const size_t before = room_of(&c);
        compute_matrices(&c, &got, &x, &s, cfg);
        check_room(&c, before);
        spot_device_close(&c);
        assert_memory_equal(got.weight, want.weight, cells * sizeof(float));
        check_floats(got.matrix, want.matrix, SPOT_BACKGROUND_MATRICES * cells, 1e-6, "matrix");
        for (int k = 0; k < SPOT_BACKGROUND_MATRICES; k++)
            for (int i = 0; i < SPOT_BACKGROUND_FEATURES; i++)
                CHECK_NEAR(x.feature[k][i], y.feature[k][i], 1e-4 * fmax(1, fabs(y.feature[k][i])));
        spot_background_responses_free(&got), spot_background_responses_free(&want);
    }
    CHECK_CONFIG_FREE(cfg);
}

/* -- verdict --------------------------------------------------------------------------------------------------------- */

TEST_IN_FOLDER(a_forest_is_that_of_the_cpu)
{
    spot_ctx cpu = check_ctx(2), c;
    spot_verdict_table t = table_of(&cpu, 24, SPOT_BACKGROUND_MATRICES, 1);
    const spot_background_verdict cuts = { .invariant = 1.0 / 3, .variant = 2.0 / 3 };
    spot_verdict_labels l;
    spot_forest f;

    CHECK_OK(&cpu, spot_verdict_labels_cut(&cpu, &l, &t, SPOT_TRUTH_PLANTED, &cuts));
    write_file("cpu/made", ""), write_file("cuda/made", "");
    CHECK_OK(&cpu, spot_verdict_train(&cpu, &f, &t, &l, 3));
    CHECK_OK(&cpu, spot_forest_save(&cpu, &f, in_world("cpu/forest.safetensors")));
    spot_forest_close(&f);
    open_cuda(&c, 0);
    const size_t before = room_of(&c);
    CHECK_OK(&c, spot_verdict_train(&c, &f, &t, &l, 3));
    check_room(&c, before);
    CHECK_OK(&c, spot_forest_save(&c, &f, in_world("cuda/forest.safetensors")));
    spot_forest_close(&f);
    spot_device_close(&c);
    assert_same_file("cpu", "cuda", "forest.safetensors");
    spot_verdict_labels_free(&l);
    spot_verdict_table_free(&t);
}

/* -- a small device -------------------------------------------------------------------------------------------------- */

TEST_IN_FOLDER(a_small_device_is_not_overrun)
{
    spot_background_config *cfg = world_config(3);
    spot_run_report report;
    spot_ctx c;

    if (!getenv("SPOT_EMULATOR")) skip();
    make_world(2, 6);
    add_weights(cfg);
    open_cuda(&c, 0);
    const size_t before = room_of(&c);
    setenv("SPOT_EMULATOR_MEMORY", "100000", 1);
    CHECK_FAILS(&c, run_world(&c, cfg, "small", NULL, 0, 1, &report), SPOT_NOMEM, "device.full");
    unsetenv("SPOT_EMULATOR_MEMORY");
    check_room(&c, before);
    spot_device_close(&c);
    CHECK_CONFIG_FREE(cfg);
}

int main(void) { return run_cuda_tests(); }
