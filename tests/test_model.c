/* test_model.c - ResNet-18 against torchvision's, against itself on other threads, and on a data set.
 * With an argument: only the comparison, with another output of tools/golden/resnet18.py (test_resnet_torch.sh). */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "model/resnet18.h"
#include "model/train.h"
#include "spotter/model.h"

enum { MAX_LOGITS = 64, MAX_LINE = 4096 };

/* -- weights and images from a hash, as in tools/golden/resnet18.py --------------------------------------------- */

static double unit(int tensor, size_t i)
{
    uint32_t x = (uint32_t)((i + 1) * 2654435761u + ((uint64_t)tensor + 1) * 2246822519u);

    x = (x ^ x >> 15) * 2246822519u;
    x = (x ^ x >> 13) * 3266489917u;
    return (x ^ x >> 16) * 0x1p-32;
}

static void fill_model(spot_model *m)
{
    spot_model_tensor table[SPOT_RESNET18_TENSORS];

    spot_model_layout(table, m->width, m->outputs);
    for (int t = 0; t < SPOT_RESNET18_TENSORS; t++) {
        const spot_model_tensor *e = &table[t];
        float *v = m->value + e->offset;
        for (size_t i = 0; i < e->count; i++) {
            double u = unit(t, i);
            if (t >= 120)          v[i] = (float)((2 * u - 1) / sqrt(8.0 * m->width));
            else if (t % 6 == 0)   v[i] = (float)((2 * u - 1) * sqrt(6.0 / ((double)e->dim[0] * e->dim[2] * e->dim[3])));
            else if (t % 6 < 3)    v[i] = (float)((t % 6 == 1) + 0.4 * (u - 0.5));
            else                   v[i] = t % 6 == 4;
        }
    }
}

static void fill_batch(float *x, float *y, int step, const spot_net_shape *s, int batch)
{
    for (size_t i = 0; i < (size_t)batch * s->size * s->size * 3; i++) x[i] = (float)(4 * (unit(1000 + step, i) - 0.5));
    for (int i = 0; i < batch * s->outputs; i++) y[i] = unit(2000 + step, (size_t)i) > 0.5;
}

/* A net with those weights in an arena of just the size that counting gives. */
typedef struct {
    spot_ctx   c;
    spot_arena a;
    spot_model m;
    spot_net   net;
    float     *x, *y;
} bed;

static void lay(bed *b, spot_arena *a, spot_net_shape s)
{
    CHECK_OK(&b->c, spot_model_take(&b->c, a, &b->m, s.width, s.outputs));
    CHECK_OK(&b->c, spot_net_open(&b->c, a, &b->net, s));
    CHECK_OK(&b->c, SPOT_TAKE(&b->c, a, b->x, (size_t)s.rows * s.size * s.size * 3));
    CHECK_OK(&b->c, SPOT_TAKE(&b->c, a, b->y, (size_t)s.rows * s.outputs));
}

static void make_bed(bed *b, spot_net_shape s, int threads)
{
    spot_arena count = spot_arena_counting();

    memset(b, 0, sizeof *b);
    b->c = check_ctx(threads);
    lay(b, &count, s);
    spot_net_close(&b->c, &b->net);
    CHECK_OK(&b->c, spot_arena_open(&b->c, &b->a, count.peak));
    lay(b, &b->a, s);
    fill_model(&b->m);
    CHECK_OK(&b->c, spot_net_put(&b->c, &b->net, &b->m));
}

static void clear_bed(bed *b)
{
    spot_net_close(&b->c, &b->net);
    spot_arena_close(&b->a);
}

static double train_step(bed *b, int step, int batch, spot_optim_rule *rule)
{
    double loss;

    fill_batch(b->x, b->y, step, &b->net.s, batch);
    CHECK_OK(&b->c, spot_net_forward(&b->c, &b->net, b->x, batch, true));
    CHECK_OK(&b->c, spot_net_backward(&b->c, &b->net, b->y, batch, &loss));
    rule->t = step + 1;
    CHECK_OK(&b->c, spot_optim_step(&b->c, b->net.param, b->net.grad, b->net.moment, b->net.square, b->net.params, rule));
    return loss;
}

static const spot_optim_rule adam = { .adam = 1, .lr = 3e-4, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8 };
static const spot_optim_rule sgd = { .lr = 2e-3, .momentum = 0.9, .decay = 1e-4 };

/* -- torchvision ------------------------------------------------------------------------------------------------ */

static const char *golden_path = "golden/resnet18.txt";

/* At full width one rounded ReLU more or less changes single gradients and then losses: in ten steps of Adam,
 * torchvision's own single precision is 1.6 % away from its double. Logits get no slack. */
static double slack = 1;

typedef struct { spot_net_shape s; int batch, steps; FILE *f; } golden;

static golden open_golden(void)
{
    golden g = { .f = fopen(golden_path, "r") };
    char line[MAX_LINE];

    if (!g.f) fail_msg("cannot read %s", golden_path);
    assert_non_null(fgets(line, sizeof line, g.f));
    assert_int_equal(fscanf(g.f, "%d %d %d %d %d", &g.s.width, &g.s.size, &g.batch, &g.s.outputs, &g.steps), 5);
    g.s.lanes = 2;
    g.s.rows = (g.batch + 1) / 2 * 2;
    return g;
}

/* The numbers behind `name`. */
static int read_line(golden *g, const char *name, double *v, int most)
{
    char word[64];
    int n = 0;

    rewind(g->f);
    while (fscanf(g->f, "%63s", word) == 1)
        if (!strcmp(word, name)) {
            while (n < most && fscanf(g->f, "%lf", &v[n]) == 1) n++;
            return n;
        }
    fail_msg("%s has no line %s", golden_path, name);
    return 0;
}

static double scale_of(const double *v, int n)
{
    double most = 0;

    for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
    return most;
}

/* The gradient of tensor t in torchvision's order: unpacked into m. */
static void gradients(bed *b, spot_model *m)
{
    spot_net view = b->net;

    for (int u = 0; u < SPOT_UNITS; u++) {
        view.w[u] = view.dw[u];
        view.norm[u].weight = view.norm[u].dweight;
        view.norm[u].bias = view.norm[u].dbias;
    }
    view.fc_w = view.fc_dw;
    view.fc_b = view.fc_db;
    CHECK_OK(&b->c, spot_net_get(&b->c, m, &view));
}

static void agrees_with_torchvision(void **state)
{
    golden g = open_golden();
    spot_model_tensor table[SPOT_RESNET18_TENSORS];
    double want[MAX_LOGITS], loss, worst = 0;
    int n;
    bed b;
    (void)state;

    make_bed(&b, g.s, 2);
    fill_batch(b.x, b.y, 0, &g.s, g.batch);
    CHECK_OK(&b.c, spot_net_forward(&b.c, &b.net, b.x, g.batch, true));
    n = read_line(&g, "logits", want, MAX_LOGITS);
    assert_int_equal(n, g.batch * g.s.outputs);
    for (int i = 0; i < n; i++) {
        double off = fabs(b.net.logit[i] - want[i]) / scale_of(want, n);
        worst = fmax(worst, off);
        CHECK_NEAR(b.net.logit[i], want[i], 1e-4 * scale_of(want, n));
    }
    print_message("logits: off by %.1e of their scale\n", worst);
    CHECK_OK(&b.c, spot_net_backward(&b.c, &b.net, b.y, g.batch, &loss));
    gradients(&b, &b.m);
    spot_model_layout(table, g.s.width, g.s.outputs);
    worst = 0;
    for (int t = 0; t < SPOT_RESNET18_TENSORS; t++) {
        const float *v = b.m.value + table[t].offset;
        size_t count = table[t].count, at[3] = { 0, count / 2, count - 1 };
        double norm = 0;
        if (t < 120 && t % 6 > 2) continue;
        read_line(&g, table[t].name, want, 4);
        for (size_t i = 0; i < count; i++) norm += (double)v[i] * v[i];
        worst = fmax(worst, fabs(sqrt(norm) / want[0] - 1));
        CHECK_NEAR(sqrt(norm) / want[0], 1, slack * 5e-4);
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(v[at[i]], want[1 + i], slack * (2e-3 * want[0] / sqrt((double)count) + 1e-3 * fabs(want[1 + i])));
    }
    print_message("gradients: norms off by %.1e\n", worst);
    clear_bed(&b);
    fclose(g.f);
}

static void loses_like_torchvision(const char *name, const char *after, spot_optim_rule rule)
{
    golden g = open_golden();
    double want[MAX_LOGITS], worst = 0;
    bed b;
    int n;

    make_bed(&b, g.s, 2);
    assert_int_equal(read_line(&g, name, want, MAX_LOGITS), g.steps);
    for (int step = 0; step < g.steps; step++) {
        double loss = train_step(&b, step, g.batch, &rule);
        worst = fmax(worst, fabs(loss / want[step] - 1));
        CHECK_NEAR(loss / want[step], 1, slack * 2e-3);      /* torchvision itself in single precision: 9e-4 */
    }
    n = read_line(&g, after, want, MAX_LOGITS);
    fill_batch(b.x, b.y, 0, &g.s, g.batch);
    CHECK_OK(&b.c, spot_net_forward(&b.c, &b.net, b.x, g.batch, false));
    for (int i = 0; i < n; i++) CHECK_NEAR(b.net.logit[i], want[i], slack * 2e-2 * scale_of(want, n));
    print_message("%s: losses of %d steps off by %.1e\n", name, g.steps, worst);
    clear_bed(&b);
    fclose(g.f);
}

static void ten_losses_by_adam(void **state) { (void)state; loses_like_torchvision("adam", "adam_eval", adam); }
static void ten_losses_by_sgd(void **state)  { (void)state; loses_like_torchvision("sgd", "sgd_eval", sgd); }

/* -- itself ----------------------------------------------------------------------------------------------------- */

/* Folded weights and fused ReLUs against the net that trains, with a batch that ends within a piece. */
static void looking_is_evaluating(void **state)
{
    spot_net_shape s = { .width = 32, .outputs = 3, .size = 96, .rows = 16, .lanes = 4 };
    spot_arena count = spot_arena_counting(), a;
    float logit[11 * 3], feature[11 * 256];
    double most = 0;
    spot_look look;
    bed b;
    (void)state;
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
    for (int i = 0; i < LEN(feature); i++) CHECK_NEAR(feature[i], b.net.feature[i], 1e-4 * (1 + fabs(b.net.feature[i])));
    spot_look_close(&b.c, &look);
    spot_arena_close(&a);
    clear_bed(&b);
}

/* Made and run with other numbers of threads; 7 images in 3 lanes of 3. */
static void threads_leave_no_trace(void **state)
{
    spot_net_shape s = { .width = 32, .outputs = 1, .size = 64, .rows = 9, .lanes = 3 };
    static const int threads[] = { 1, 2, 3, 5 };
    spot_optim_rule rule = adam;
    float *first = NULL;
    (void)state;
    for (int k = 0; k < LEN(threads); k++) {
        bed b;
        make_bed(&b, s, threads[k]);
        for (int step = 0; step < 3; step++) train_step(&b, step, 7, &rule);
        CHECK_OK(&b.c, spot_net_get(&b.c, &b.m, &b.net));
        if (!first) first = memcpy(malloc(b.m.floats * sizeof(float)), b.m.value, b.m.floats * sizeof(float));
        assert_memory_equal(first, b.m.value, b.m.floats * sizeof(float));
        clear_bed(&b);
    }
    free(first);
}

/* Images that pad a batch enter no sum: five images of a net made for five, and of one made for twelve in four lanes. */
static void padding_enters_no_sum(void **state)
{
    spot_net_shape small = { .width = 16, .outputs = 1, .size = 32, .rows = 5, .lanes = 1 }, large = small;
    spot_optim_rule rule = sgd;
    double most = 0;
    bed a, b;
    (void)state;
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

/* torch.optim.lr_scheduler.OneCycleLR(max_lr=0.002, total_steps=20), PyTorch 1.13. */
static void one_cycle_is_pytorchs(void **state)
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
    (void)state;
    for (int i = 0; i < LEN(cases); i++) CHECK_NEAR(spot_learning_rate(&cfg, cases[i].step, 20), cases[i].lr, 1e-12);
    cfg.schedule = SPOT_CONSTANT;
    CHECK_NEAR(spot_learning_rate(&cfg, 7, 20), 0.002, 0);
}

/* -- a data set ------------------------------------------------------------------------------------------------- */

static void small_ec(spot_ctx *c, spot_ec *ec)
{
    spot_scene_config scene = spot_scene_defaults();

    scene.size = 32;
    scene.rollable[0] = scene.rollable[1] = 5;
    scene.extra_layers[0] = scene.extra_layers[1] = 1;
    scene.blindspots[0] = scene.blindspots[1] = 1;
    scene.specificity[0] = scene.specificity[1] = 3;
    scene.per_bucket[SPOT_TRAIN] = 25;
    scene.per_bucket[SPOT_VAL] = scene.per_bucket[SPOT_TEST] = 4;
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
static void trains_and_looks(void **state)
{
    spot_model_config cfg = small_model();
    spot_lesson lesson[2];
    spot_view view[2];
    spot_truth truth;
    spot_arena a[2];
    spot_model m[2];
    spot_ec ec;
    int images;
    (void)state;
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

static void diverging_is_said(void **state)
{
    spot_ctx c = check_ctx(2);
    spot_model_config cfg = small_model();
    volatile sig_atomic_t stop = 1;
    spot_lesson lesson;
    spot_arena a;
    spot_model m;
    spot_ec ec;
    (void)state;
    small_ec(&c, &ec);
    cfg.optimizer = SPOT_SGD;
    cfg.schedule = SPOT_CONSTANT;
    cfg.lr = 1e30;
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_model_train_bytes(&ec.scene, &cfg)));
    CHECK_FAILS(&c, spot_model_train(&c, &a, &m, &lesson, &ec, &cfg, NULL), SPOT_NUMERIC, "epoch 1, step");
    a.used = 0;
    c.stop = &stop;
    CHECK_FAILS(&c, spot_model_train(&c, &a, &m, &lesson, &ec, &cfg, NULL), SPOT_STOPPED, "stopped");
    a.used = 0;
    c.stop = NULL;
    cfg.batch = 0;
    CHECK_FAILS(&c, spot_model_train(&c, &a, &m, &lesson, &ec, &cfg, NULL), SPOT_INVALID, "batch 0");
    spot_arena_close(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(agrees_with_torchvision),
        cmocka_unit_test(ten_losses_by_adam),
        cmocka_unit_test(ten_losses_by_sgd),
        cmocka_unit_test(looking_is_evaluating),
        cmocka_unit_test(threads_leave_no_trace),
        cmocka_unit_test(padding_enters_no_sum),
        cmocka_unit_test(one_cycle_is_pytorchs),
        cmocka_unit_test(trains_and_looks),
        cmocka_unit_test(diverging_is_said),
    };
    const struct CMUnitTest torchvision[] = {
        cmocka_unit_test(agrees_with_torchvision),
        cmocka_unit_test(ten_losses_by_adam),
        cmocka_unit_test(ten_losses_by_sgd),
    };

    if (argc < 2) return cmocka_run_group_tests(all, NULL, NULL);
    golden_path = argv[1];
    slack = 30;
    return cmocka_run_group_tests(torchvision, NULL, NULL);
}
