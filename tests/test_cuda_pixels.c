/* test_cuda_pixels.c - a predictor by weights, and a training on pixels with batches drawn ahead, on CUDA against the CPU.
 * ctest: heavy, ctest: long */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include "check_folder.h"
#include "check_resnet.h"
#include "spotter/predictor.h"

enum { SIDE = 32, EACH = 3 * SIDE * SIDE, N = 3, OUTPUTS = 5, DIM = 128, CHANNELS = 61 * 16, PICTURES = 6 };

static void fill_pixels(uint8_t *rgb, int n)
{
    for (int i = 0; i < n * EACH; i++) rgb[i] = (uint8_t)(256 * unit(50, (size_t)i));
}

typedef struct { float logit[N * OUTPUTS], embedding[N * DIM], channel[N * CHANNELS]; } answers;

static void ask(spot_ctx *c, answers *to, const char *weights)
{
    const spot_predictor_options o = { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = weights, .side = SIDE };
    uint8_t rgb[N * EACH];
    spot_predictor *p;

    fill_pixels(rgb, N);
    CHECK_OK(c, spot_predictor_open(c, &p, &o));
    CHECK_OK(c, spot_predict(c, p, &(spot_prediction){ rgb, N, SIDE, to->logit, to->embedding, to->channel }));
    spot_predictor_close(c, p);
}

static double gap(const float *a, const float *b, int n)
{
    double off = 0, most = 0;

    for (int i = 0; i < n; i++) off = fmax(off, fabs((double)a[i] - b[i])), most = fmax(most, fabs((double)b[i]));
    return off / most;
}

TEST_IN_FOLDER(weights_answer_the_same)
{
    spot_ctx cpu = check_ctx(2), c;
    answers want, got;
    spot_arena a;
    spot_model m;

    const char *path = in_root("weights.safetensors");
    CHECK_OK(&cpu, spot_arena_open(&cpu, &a, 16 << 20));
    CHECK_OK(&cpu, spot_model_take(&cpu, &a, &m, SPOT_ARCH_RESNET18, 16, OUTPUTS));
    fill_model(&m);
    m.batches_tracked = 0;
    CHECK_OK(&cpu, spot_model_save(&cpu, path, &m));
    ask(&cpu, &want, path);
    open_cuda(&c, 2);
    ask(&c, &got, path);
    spot_device_close(&c);
    CHECK_NEAR(gap(got.logit, want.logit, N * OUTPUTS), 0, 1e-5);
    CHECK_NEAR(gap(got.embedding, want.embedding, N * DIM), 0, 1e-5);
    CHECK_NEAR(gap(got.channel, want.channel, N * CHANNELS), 0, 1e-5);
    spot_arena_close(&a);
}

static void learn(spot_ctx *c, double *losses, spot_model *m, spot_arena *a, bool ahead, bool fgsm)
{
    uint8_t rgb[PICTURES * EACH];
    const int cls[PICTURES] = { 0, 1, 2, 2, 1, 0 };
    const spot_pixel_training how = { .size = SIDE, .classes = 3, .images = PICTURES, .loss = SPOT_SOFTMAX, .rgb = rgb,
                                      .cls = cls, .triplet = fgsm ? 0 : 0.5, .margin = 0.2, .fgsm = fgsm ? 4 / 256.0 : 0,
                                      .seed = 1, .ahead = ahead };
    spot_model_config cfg = spot_model_defaults();

    fill_pixels(rgb, PICTURES);
    cfg.width = 16, cfg.epochs = 1, cfg.batch = 4;
    if (fgsm) cfg.optimizer = SPOT_SGD, cfg.batch = PICTURES;
    *a = spot_arena_counting();
    CHECK_OK(c, spot_model_train_pixels(c, a, m, losses, &how, &cfg, NULL));
    CHECK_OK(c, spot_arena_open(c, a, a->peak));
    CHECK_OK(c, spot_model_train_pixels(c, a, m, losses, &how, &cfg, NULL));
}

/* Adam's first steps have the length of the learning rate, whatever the gradient: a weight whose gradient's sign rounding
 * decides is two steps away. */
static void check_training(bool fgsm, double off)
{
    spot_ctx cpu = check_ctx(2), c;
    double losses[2];
    spot_arena a[2];
    spot_model m[2];

    learn(&cpu, &losses[0], &m[0], &a[0], false, fgsm);
    open_cuda(&c, 2);
    learn(&c, &losses[1], &m[1], &a[1], true, fgsm);
    spot_device_close(&c);
    CHECK_NEAR(losses[1] / losses[0], 1, off);
    CHECK_NEAR(gap(m[1].value, m[0].value, (int)m[0].floats), 0, 4 * spot_model_defaults().lr);
    assert_int_equal(m[1].batches_tracked, fgsm ? 1 : 2);
    for (int i = 0; i < 2; i++) spot_arena_close(&a[i]);
}

TEST(training_with_triplets_is_the_same) { check_training(false, 1e-4); }

/* One step on all pictures. Batch norm of two pictures at one pixel a side makes +-1 of each channel, whose gradient is 0 but
 * for rounding: the signs of FGSM would be rounding's, and so would the pixels. */
TEST(training_against_fgsm_is_the_same) { check_training(true, 1e-5); }

int main(void) { return run_cuda_tests(); }
