/* test_model.c - each architecture against itself (folded, on other threads, in other batches) and on a data set.
 * ctest: threads, heavy */
#include "check_resnet.h"

#include <stdlib.h>

#include "check_scene.h"
#include "models/trainer.h"
#include "spotter/model.h"

/* -- itself ----------------------------------------------------------------------------------------------------- */

/* Folded weights and fused ReLUs against the net that trains, with a batch that ends within a piece. */
static void looks_as_it_evaluates(int arch)
{
    spot_net_shape s = { .arch = arch, .width = 32, .outputs = 3, .size = 96, .rows = 16, .lanes = 4 };
    const int features = 11 * spot_model_features(arch, s.width);
    spot_arena count = spot_arena_counting(), a;
    float logit[11 * 3], *feature = malloc((size_t)features * sizeof *feature);
    double most = 0;
    spot_look look;
    bed b;
    make_bed(&b, s, 2);
    fill_batch(b.x, b.y, 5, &s, 11);
    CHECK_OK(&b.c, spot_net_forward(&b.c, &b.net, b.x, 11, true));      /* moves the running statistics */
    CHECK_OK(&b.c, spot_net_get(&b.c, &b.m, &b.net));
    CHECK_OK(&b.c, spot_net_forward(&b.c, &b.net, b.x, 11, false));
    CHECK_OK(&b.c, spot_look_open(&b.c, &count, &look, s));
    spot_look_close(&b.c, &look);
    CHECK_OK(&b.c, spot_arena_open(&b.c, &a, count.peak));
    CHECK_OK(&b.c, spot_look_open(&b.c, &a, &look, s));
    CHECK_OK(&b.c, spot_look_put(&b.c, &look, &b.m));
    CHECK_OK(&b.c, spot_look_run(&b.c, &look, feature, logit, b.x, 11));
    for (int i = 0; i < LEN(logit); i++) most = fmax(most, fabs(logit[i]));
    for (int i = 0; i < LEN(logit); i++) CHECK_NEAR(logit[i], b.net.logit[i], 1e-4 * most);
    for (int i = 0; i < features; i++) CHECK_NEAR(feature[i], b.net.feature[i], 1e-4 * (1 + fabs(b.net.feature[i])));
    spot_look_close(&b.c, &look);
    spot_arena_close(&a);
    clear_bed(&b);
    free(feature);
}

TEST(looking_is_evaluating)
{
    for (int arch = 0; spot_arch_is(arch); arch++) looks_as_it_evaluates(arch);
}

/* Made and run with other numbers of threads; 7 images in 3 lanes of 3. */
static void runs_on_threads(int arch)
{
    spot_net_shape s = { .arch = arch, .width = 32, .outputs = 1, .size = 64, .rows = 9, .lanes = 3 };
    static const int threads[] = { 1, 2, 3, 5 }, made = 3;
    spot_optim_rule rule = adam;
    float *first = NULL;
    for (int k = 0; k < LEN(threads); k++) {
        bed b;
        make_bed(&b, s, threads[k]);
        spot_net_drop(&b.net, 0.5, 4, 1, &made);
        for (int step = 0; step < 3; step++) train_step(&b, step, 7, &rule);
        CHECK_OK(&b.c, spot_net_get(&b.c, &b.m, &b.net));
        if (!first) first = memcpy(malloc(b.m.floats * sizeof(float)), b.m.value, b.m.floats * sizeof(float));
        assert_memory_equal(first, b.m.value, b.m.floats * sizeof(float));
        clear_bed(&b);
    }
    free(first);
}

TEST(threads_leave_no_trace)
{
    for (int arch = 0; spot_arch_is(arch); arch++) runs_on_threads(arch);
}

/* The loss on both sides of `at`, n numbers that a net reads, along their gradient: its slope is the gradient's square. */
static void has_slope(bed *b, float *at, const float *gradient, size_t n, const char *name)
{
    float *kept = memcpy(malloc(n * sizeof *kept), at, n * sizeof *kept);
    double length = 0, loss[2], far, slope;

    for (size_t i = 0; i < n; i++) length += (double)gradient[i] * gradient[i];
    far = 2e-3 / sqrt(length);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < n; i++) at[i] = (float)(kept[i] + (side ? far : -far) * gradient[i]);
        CHECK_OK(&b->c, spot_net_forward(&b->c, &b->net, NULL, b->net.s.rows, true));
        CHECK_OK(&b->c, spot_head_loss(&b->c, &loss[side], NULL, b->net.logit, b->y, b->net.s.rows * b->net.s.outputs));
    }
    memcpy(at, kept, n * sizeof *kept);
    slope = (loss[1] - loss[0]) / (2 * far);
    print_message("%s: slope %.6f, along the gradient %.6f\n", name, slope, length);
    CHECK_NEAR(slope / length, 1, 0.02);
    free(kept);
}

/* AlexNet, with the dropped numbers of two steps: the gradients by the weights and by the images. */
TEST(gradients_are_slopes)
{
    enum { BATCH = 6 };
    spot_net_shape s = { .arch = SPOT_ARCH_ALEXNET, .width = 16, .outputs = 3, .size = 96, .rows = BATCH, .lanes = 1,
                         .attacked = true };
    for (int made = 0; made < 2; made++) {
        double loss;
        bed b;
        make_bed(&b, s, 2);
        spot_net_drop(&b.net, 0.5, 4, 1, &made);
        fill_batch(b.x, b.y, made, &s, BATCH);
        CHECK_OK(&b.c, spot_net_forward(&b.c, &b.net, b.x, BATCH, true));
        CHECK_OK(&b.c, spot_net_backward(&b.c, &b.net, b.y, BATCH, &loss));
        has_slope(&b, b.net.param, b.net.grad, b.net.params, "weights");
        CHECK_OK(&b.c, spot_net_forward(&b.c, &b.net, b.x, BATCH, true));
        CHECK_OK(&b.c, spot_net_backward_image(&b.c, &b.net, b.y, BATCH, &loss));
        has_slope(&b, b.net.planes, b.net.dplanes, (size_t)BATCH * 3 * s.size * s.size, "images");
        clear_bed(&b);
    }
}

/* Half of the numbers of a tensor are dropped, others in the next step and at the other site; the rest are doubled. */
TEST(dropout_has_addresses)
{
    enum { N = 10007 };
    static float x[4][N];
    int made[2] = { 7, 8 }, same = 0, zeros = 0;
    spot_ctx c = check_ctx(2);
    for (int k = 0; k < 4; k++) {
        const spot_drop_rule rule = { 0.5, 11, 2, &made[k == 1] };
        for (int i = 0; i < N; i++) x[k][i] = (float)(1 + i);
        CHECK_OK(&c, spot_dense_drop(&c, x[k], N, &rule, k == 2));
    }
    for (int i = 0; i < N; i++) {
        zeros += x[0][i] == 0;
        assert_true(x[0][i] == 0 || x[0][i] == 2 * (float)(1 + i));
        same += (x[0][i] == 0) == (x[1][i] == 0) && (x[0][i] == 0) == (x[2][i] == 0);
    }
    assert_memory_equal(x[3], x[0], sizeof x[0]);
    assert_in_range(zeros, N / 2 - 250, N / 2 + 250);          /* five standard deviations */
    assert_in_range(same, N / 4 - 220, N / 4 + 220);
}

/* Images that pad a batch enter no sum: five images of a net made for five, and of one made for twelve in four lanes. */
static void pads(int arch)
{
    spot_net_shape small = { .arch = arch, .width = 16, .outputs = 1, .size = arch == SPOT_ARCH_ALEXNET ? 64 : 32, .rows = 5,
                             .lanes = 1 }, large = small;
    spot_optim_rule rule = sgd;
    double most = 0;
    bed a, b;
    large.rows = 12;
    large.lanes = 4;
    make_bed(&a, small, 2);
    make_bed(&b, large, 2);
    train_step(&b, 1, 12, &rule);                       /* leaves its twelve images everywhere */
    CHECK_OK(&b.c, spot_net_put(&b.c, &b.net, &b.m));
    CHECK_NEAR(train_step(&b, 0, 5, &rule), train_step(&a, 0, 5, &rule), 1e-6);
    for (size_t i = 0; i < a.net.params; i++) most = fmax(most, fabs(a.net.grad[i]));
    for (size_t i = 0; i < a.net.params; i++) CHECK_NEAR(a.net.grad[i], b.net.grad[i], 1e-4 * most);
    clear_bed(&a);
    clear_bed(&b);
}

TEST(padding_enters_no_sum)
{
    for (int arch = 0; spot_arch_is(arch); arch++) pads(arch);
}

/* torch.optim.lr_scheduler.OneCycleLR(max_lr=0.002, total_steps=20), PyTorch 1.13. */
/* Inputs times outputs of torchvision's layers, by hooks on a forward pass (torchvision of Debian 12, 1,000 outputs). */
TEST(multiplications_are_torchvisions)
{
    static const struct { int arch, size; double n; } is[] = {
        { SPOT_ARCH_RESNET18, 224, 1814073344 }, { SPOT_ARCH_RESNET18, 64, 148557824 },
        { SPOT_ARCH_RESNET34, 224, 3663761408 }, { SPOT_ARCH_RESNET34, 64, 299552768 },
        { SPOT_ARCH_ALEXNET, 224, 714188480 }, { SPOT_ARCH_ALEXNET, 64, 98144960 },
    };

    for (size_t i = 0; i < sizeof is / sizeof *is; i++)
        assert_true(spot_model_multiplications(is[i].arch, 64, 1000, is[i].size) == is[i].n);
}

TEST(one_cycle_is_pytorchs)
{
    static const struct { int step; double lr; } cases[] = {
        { 0, 8e-05 },
        { 1, 0.00026334368540005 },
        { 4, 0.00181665631459995 },
        { 5, 0.002 },
        { 6, 0.00197492801247017 },
        { 10, 0.0014338860035826 },
        { 18, 2.50799875298251e-05 },
        { 19, 8e-09 },
    };
    spot_model_config cfg = { .lr = 0.002, .schedule = SPOT_ONE_CYCLE };
    for (int i = 0; i < LEN(cases); i++) CHECK_NEAR(spot_learning_rate(&cfg, cases[i].step, 20), cases[i].lr, 1e-12);
    cfg.schedule = SPOT_CONSTANT;
    CHECK_NEAR(spot_learning_rate(&cfg, 7, 20), 0.002, 0);
}

/* -- a data set ------------------------------------------------------------------------------------------------- */

static void small_ec(spot_ctx *c, spot_ec *ec)
{
    spot_scene_config scene = tiny_scene(5, 3, 25, 4, 4);

    CHECK_OK(c, spot_ec_draw(c, ec, &scene, 3, 0));
}

static spot_model_config small_model(void)
{
    spot_model_config cfg = spot_model_defaults();

    cfg.width = 16;
    cfg.epochs = 4;
    cfg.batch = 60;                    /* 800 images: the last batch has 20 */
    cfg.lr = 4e-3;
    cfg.schedule = SPOT_ONE_CYCLE;
    cfg.lanes = 4;
    return cfg;
}

/* In an arena of just the bytes that plan tells, on one thread and on two; then look. */
TEST(trains_and_looks)
{
    spot_model_config cfg = small_model();
    spot_learning lesson[2];
    spot_view view[2];
    spot_truth truth;
    spot_arena a[2];
    spot_model m[2];
    spot_ec ec;
    int images;
    for (int k = 0; k < 2; k++) {
        spot_ctx c = check_ctx(1 + k);
        size_t bytes;
        small_ec(&c, &ec);
        images = ec.images[SPOT_TEST];
        bytes = spot_model_train_bytes(&ec.scene, &cfg) + spot_model_look_bytes(&ec.scene, &cfg, images);
        CHECK_OK(&c, spot_arena_open(&c, &a[k], bytes));
        CHECK_OK(&c, spot_model_train(&c, &a[k], &m[k], &lesson[k], &ec, &cfg, NULL));
        CHECK_OK(&c, spot_model_look(&c, &a[k], &view[k], &truth, &m[k], &ec, SPOT_TEST, &cfg));
    }
    assert_memory_equal(m[0].value, m[1].value, m[0].floats * sizeof(float));
    assert_memory_equal(view[0].feature, view[1].feature, sizeof(float) * view[0].n * view[0].d);
    assert_int_equal(lesson[0].epochs, 4);
    assert_true(lesson[0].epoch[3].train_loss < 0.7 * lesson[0].epoch[0].train_loss);
    assert_true(lesson[0].outside > 0.75);
    assert_int_equal(lesson[0].outside_count + lesson[0].inside_count[0], ec.images[SPOT_VAL]);
    for (int e = 0; e < 4; e++) assert_true(lesson[0].epoch[lesson[0].best_epoch].val_loss <= lesson[0].epoch[e].val_loss);
    assert_in_range(view[0].n, 1, images);
    for (int i = 0; i < view[0].n; i++) {
        spot_image image;
        spot_image_draw(&image, &ec, SPOT_TEST, (uint32_t)view[0].image[i]);
        assert_int_equal(image.label, 1);
        assert_int_equal(image.blindspots, truth.mask[i]);
        if (i) assert_true(view[0].image[i] > view[0].image[i - 1]);
    }
    spot_arena_close(&a[0]);
    spot_arena_close(&a[1]);
}

TEST(diverging_is_said)
{
    spot_ctx c = check_ctx(2);
    spot_model_config cfg = small_model();
    volatile sig_atomic_t stop = 1;
    spot_learning lesson;
    spot_arena a;
    spot_model m;
    spot_ec ec;
    small_ec(&c, &ec);
    cfg.optimizer = SPOT_SGD;
    cfg.schedule = SPOT_CONSTANT;
    cfg.lr = 100;
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_model_train_bytes(&ec.scene, &cfg)));
    CHECK_FAILS(&c, spot_model_train(&c, &a, &m, &lesson, &ec, &cfg, NULL), SPOT_NUMERIC, "training.diverged: epoch 1");
    a.used = 0;
    c.stop = &stop;
    CHECK_FAILS(&c, spot_model_train(&c, &a, &m, &lesson, &ec, &cfg, NULL), SPOT_STOPPED, "run.stopped");
    a.used = 0;
    c.stop = NULL;
    cfg.batch = 0;
    CHECK_FAILS(&c, spot_model_train(&c, &a, &m, &lesson, &ec, &cfg, NULL), SPOT_INVALID, "setting.value: model.batch | 0");
    spot_arena_close(&a);
}
