/* test_attack.c - an adversary's steps against plain arithmetic in double, the gradient that it climbs against finite
 * differences, and what climbing does to a loss. (ctest: heavy) */
#include "net/attack.h"
#include "check_resnet.h"
#include "check_tensor.h"
#include "models/trainer.h"
#include "image/raster.h"

static const int made = 7;

typedef struct { int live, size; double epsilon, length; bool random; } attack_case;
static const attack_case attacks[] = {
    { 3, 32, 1.5, 1.0, false }, { 3, 32, 1.5, 4.0, false }, { 2, 33, 0.7, 0.1, true }, { 1, 5, 100, 30, false },
};

static spot_attack_rule rule_for(const attack_case *k)
{
    return (spot_attack_rule){ .epsilon = k->epsilon, .length = k->length, .random = k->random, .seed = 3, .ec = 9,
                               .made = &made };
}

/* Images as the raster leaves them: pixel values from 0 to 1, ends included, normalised. */
static float *make_images(const attack_case *k)
{
    int pixels = k->size * k->size;
    float *x = random_tensor((size_t)k->live * 3 * pixels, 40);

    for (int i = 0; i < k->live * 3 * pixels; i++) {
        int ch = i / pixels % 3;
        float v = x[i] < -1 ? 0 : x[i] > 1 ? 1 : (x[i] + 1) / 2;
        x[i] = (v - spot_imagenet[0][ch]) / spot_imagenet[1][ch];
    }
    return x;
}

static double norm_of(const double *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += v[i] * v[i];
    return sqrt(sum);
}

/* One move of one image, from the text of attack.h. */
static void move_in_double(double *x, double *d, const float *clean, const float *grad, int pixels, const attack_case *k)
{
    int n = 3 * pixels;
    double *g = calloc(n, sizeof *g), steep, far;

    for (int i = 0; i < n; i++) g[i] = (double)grad[i] / spot_imagenet[1][i / pixels];
    steep = norm_of(g, n);
    for (int i = 0; i < n && steep > 0; i++) d[i] += k->length * g[i] / steep;
    far = norm_of(d, n);
    for (int i = 0; i < n; i++) {
        double mean = spot_imagenet[0][i / pixels], std = spot_imagenet[1][i / pixels], pixel = clean[i] * std + mean;
        if (far > k->epsilon) d[i] *= k->epsilon / far;
        d[i] = fmin(fmax(pixel + d[i], 0), 1) - pixel;
        x[i] = clean[i] + d[i] / std;
    }
    free(g);
}

TEST(moves_as_the_text_says)
{
    spot_ctx c = check_ctx(2);
    for (int k = 0; k < LEN(attacks); k++) {
        const attack_case *a = &attacks[k];
        const spot_attack_rule rule = rule_for(a);
        int pixels = a->size * a->size, each = 3 * pixels, n = a->live * each;
        spot_plane p = { a->live + 1, a->live, 3, a->size, SPOT_FP32 };
        float *clean = make_images(a), *grad = random_tensor(n, 41), *x = room((n + each) * 4), *d = room(n * 4);
        double *wx = calloc(n, sizeof *wx), *wd = calloc(n, sizeof *wd);
        if (a->live > 1) memset(grad, 0, each * sizeof *grad);                  /* who sees no slope stands still */
        for (int i = 0; i < each; i++) x[n + i] = 42;
        CHECK_OK(&c, spot_attack_start(&c, x, d, clean, p, &rule));
        for (int i = 0; i < n; i++) wd[i] = d[i];
        for (int m = 0; m < a->live; m++) {
            double far = norm_of(wd + m * each, each);
            if (a->random) assert_true(far > 0.5 * a->epsilon && far <= 1.000001 * a->epsilon);
            else           assert_true(far < 1e-5);
        }
        for (int step = 0; step < 3; step++) {
            CHECK_OK(&c, spot_attack_move(&c, x, d, clean, grad, p, &rule));
            for (int m = 0; m < a->live; m++)
                move_in_double(wx + m * each, wd + m * each, clean + m * each, grad + m * each, pixels, a);
            for (int i = 0; i < n; i++) {
                float pixel = x[i] * spot_imagenet[1][i / pixels % 3] + spot_imagenet[0][i / pixels % 3];
                CHECK_NEAR(d[i], wd[i], 1e-6 * a->epsilon);
                CHECK_NEAR(x[i], wx[i], 1e-5 + 1e-6 * a->epsilon / 0.2);
                assert_true(pixel > -1e-6 && pixel < 1 + 1e-6);
            }
            for (int m = 0; m < a->live; m++) assert_true(norm_of(wd + m * each, each) <= a->epsilon * (1 + 1e-9));
        }
        assert_true(x[n] == 42 && x[n + each - 1] == 42);                       /* behind the live ones */
        free(clean), free(grad), free(x), free(d), free(wx), free(wd);
    }
}

TEST(noise_has_addresses)
{
    spot_ctx one = check_ctx(1), two = check_ctx(2);
    const attack_case k = { 4, 16, 1, 1, true };
    int other = 8, n = 3 * 16 * 16;
    spot_attack_rule rule = rule_for(&k);
    spot_plane p = { 4, 4, 3, 16, SPOT_FP32 };
    float *clean = make_images(&k), *x = room(4 * n * 4), *a = room(4 * n * 4), *b = room(4 * n * 4);
    for (int i = 0; i < 4 * n; i++) clean[i] = 0;
    CHECK_OK(&one, spot_attack_start(&one, x, a, clean, p, &rule));
    CHECK_OK(&two, spot_attack_start(&two, x, b, clean, p, &rule));
    assert_memory_equal(a, b, 4 * n * sizeof *a);
    assert_memory_not_equal(a, a + n, n * sizeof *a);                           /* image by image */
    rule.made = &other;
    CHECK_OK(&two, spot_attack_start(&two, x, b, clean, p, &rule));
    assert_memory_not_equal(a, b, n * sizeof *a);                               /* step by step */
    free(clean), free(x), free(a), free(b);
}

TEST(broken_gradients_come_through)
{
    spot_ctx c = check_ctx(1);
    const attack_case k = { 2, 8, 1, 1, false };
    spot_attack_rule rule = rule_for(&k);
    spot_plane p = { 2, 2, 3, 8, SPOT_FP32 }, none = { 2, 3, 3, 8, SPOT_FP32 };
    float *clean = make_images(&k), *grad = random_tensor(2 * 192, 41), *x = room(2 * 192 * 4), *d = room(2 * 192 * 4);
    grad[200] = NAN;
    CHECK_OK(&c, spot_attack_start(&c, x, d, clean, p, &rule));
    CHECK_OK(&c, spot_attack_move(&c, x, d, clean, grad, p, &rule));
    assert_true(isfinite(x[0]) && isnan(x[192]));
    CHECK_FAILS(&c, spot_attack_move(&c, x, d, clean, grad, none, &rule), SPOT_INVALID, "attack.sizes: move");
    rule.epsilon = NAN;
    CHECK_FAILS(&c, spot_attack_start(&c, x, d, clean, p, &rule), SPOT_INVALID, "attack.steps: start");
    free(clean), free(grad), free(x), free(d);
}

static double loss_of(bed *b, int batch)
{
    double loss;

    CHECK_OK(&b->c, spot_net_forward(&b->c, &b->net, b->x, batch, true));
    CHECK_OK(&b->c, spot_head_loss(&b->c, &loss, NULL, b->net.logit, b->y, batch * b->net.s.outputs));
    return loss;
}

/* Along the gradient the loss rises as fast as it says. A step that crosses no ReLU's edge is too short for fp32, so one that
 * crosses few is taken, in both directions: 3 % is asked for. */
TEST(the_images_gradient_is_the_losss_slope)
{
    static const struct { spot_net_shape s; int batch; } cases[] = {
        { { 16, 1, 32, 4, 2, SPOT_ARCH_RESNET18, SPOT_FP32, true }, 4 },
        { { 32, 3, 64, 6, 2, SPOT_ARCH_RESNET18, SPOT_FP32, true }, 5 },
    };
    for (int k = 0; k < LEN(cases); k++) {
        const spot_net_shape *s = &cases[k].s;
        int pixels = s->size * s->size, n = cases[k].batch * 3 * pixels;
        double steep = 0, up, down, loss, h = 1e-3;
        const float *g;
        float *slope, *was;
        bed b;
        make_bed(&b, *s, 2);
        fill_batch(b.x, b.y, 1, s, cases[k].batch);
        CHECK_OK(&b.c, spot_net_forward(&b.c, &b.net, b.x, cases[k].batch, true));
        CHECK_OK(&b.c, spot_net_backward_image(&b.c, &b.net, b.y, cases[k].batch, &loss));
        slope = room(n * sizeof *slope), was = room(n * sizeof *was);
        g = b.net.dplanes;
        memcpy(was, b.x, n * sizeof *was);
        for (int i = 0; i < n; i++) {                       /* the net's own order -> pixels */
            slope[i] = g[place(i / (3 * pixels), i % 3, i / 3 % pixels, 3, pixels)];
            steep += (double)slope[i] * slope[i];
        }
        steep = sqrt(steep);
        for (int i = 0; i < n; i++) b.x[i] = was[i] + (float)(h * slope[i] / steep);
        up = loss_of(&b, cases[k].batch);
        for (int i = 0; i < n; i++) b.x[i] = was[i] - (float)(h * slope[i] / steep);
        down = loss_of(&b, cases[k].batch);
        print_message("slope %.5f, by differences %.5f\n", steep, (up - down) / (2 * h));
        assert_true(steep > 1e-4);
        CHECK_NEAR((up - down) / (2 * h) / steep, 1, 0.03);
        free(slope), free(was);
        clear_bed(&b);
    }
}

/* A weight's gradient is what it was, and a net that was not opened for it says so. */
TEST(images_cost_weights_nothing)
{
    spot_net_shape s = { 16, 1, 32, 4, 2, SPOT_ARCH_RESNET18, SPOT_FP32, false }, t = s;
    double loss;
    bed a, b;
    t.attacked = true;
    make_bed(&a, s, 1);
    make_bed(&b, t, 2);
    CHECK_FAILS(&a.c, spot_net_backward_image(&a.c, &a.net, a.y, 4, &loss), SPOT_INVALID, "network.no_image_gradients");
    for (int i = 0; i < 2; i++) {
        bed *k = i ? &b : &a;
        fill_batch(k->x, k->y, 1, &s, 4);
        CHECK_OK(&k->c, spot_net_forward(&k->c, &k->net, k->x, 4, true));
        if (i) CHECK_OK(&k->c, spot_net_backward_image(&k->c, &k->net, k->y, 4, &loss));
        CHECK_OK(&k->c, spot_net_forward(&k->c, &k->net, k->x, 4, true));
        CHECK_OK(&k->c, spot_net_backward(&k->c, &k->net, k->y, 4, &loss));
    }
    assert_int_equal(a.net.params, b.net.params);
    assert_memory_equal(a.net.grad, b.net.grad, a.net.params * sizeof(float));
    clear_bed(&a);
    clear_bed(&b);
}

/* -- trainings ---------------------------------------------------------------------------------------------------- */

static void make_ec(spot_ctx *c, spot_ec *ec, spot_model_config *cfg)
{
    spot_scene_config scene = spot_scene_defaults();

    scene.size = 32;
    scene.rollable[0] = scene.rollable[1] = 4;
    scene.blindspots[0] = scene.blindspots[1] = 1;
    scene.specificity[0] = scene.specificity[1] = 3;
    scene.per_bucket[SPOT_TRAIN] = 40;
    scene.per_bucket[SPOT_VAL] = 16;
    CHECK_OK(c, spot_ec_draw(c, ec, &scene, 3, 0));
    *cfg = spot_model_defaults();
    cfg->width = 16;
    cfg->batch = 32;
    cfg->epochs = cfg->robust.epochs = 4;
    cfg->lr = cfg->robust.lr = 2e-3;
    cfg->robust.epsilon = 12;
    cfg->robust.steps = 2;
}

/* The mean loss of the val images as they are, and under attack. */
static void losses_of(spot_ctx *c, const spot_model *m, const spot_ec *ec, const spot_model_config *cfg,
                      const spot_robust_config *foe, double *plain, double *attacked)
{
    spot_arena a = spot_arena_counting();
    spot_trainer t;

    CHECK_OK(c, spot_trainer_open(c, &a, &a, &t, ec, cfg, foe));
    spot_trainer_close(c, &t);
    CHECK_OK(c, spot_arena_open(c, &a, a.peak));
    CHECK_OK(c, spot_trainer_open(c, &a, &a, &t, ec, cfg, foe));
    CHECK_OK(c, spot_trainer_start(c, &t, m));
    CHECK_OK(c, spot_trainer_watch(c, &t, false, plain));
    CHECK_OK(c, spot_trainer_watch(c, &t, true, attacked));
    spot_trainer_close(c, &t);
    spot_arena_close(&a);
}

TEST(who_met_an_adversary_fears_less)
{
    spot_ctx c = check_ctx(2), one = check_ctx(1);
    spot_model_config cfg;
    spot_model m[2], again;
    spot_learning l[2], l1;
    double plain[2], attacked[2][3];
    spot_bytes needs;
    spot_arena a;
    spot_ec ec;
    make_ec(&c, &ec, &cfg);
    CHECK_OK(&c, spot_model_needs(&c, &needs, &ec.scene, &cfg, 100, true));
    CHECK_OK(&c, spot_arena_open(&c, &a, 3 * needs.host));
    CHECK_OK(&c, spot_model_train(&c, &a, &m[0], &l[0], &ec, &cfg, NULL));
    CHECK_OK(&c, spot_model_robust(&c, &a, &m[1], &l[1], &ec, &cfg, NULL));
    CHECK_OK(&one, spot_model_robust(&one, &a, &again, &l1, &ec, &cfg, NULL));
    assert_memory_equal(m[1].value, again.value, again.floats * sizeof(float));     /* threads leave no trace */
    assert_true(isnan(l[0].attacked) && l[1].attacked >= 0 && l[1].attacked <= l[1].outside);
    for (int i = 0; i < 2; i++)
        for (int way = 0; way < 3; way++) {
            spot_robust_config foe = cfg.robust;
            if (way == 1) foe.steps = 8;
            if (way == 2) foe.random = 1;
            losses_of(&c, &m[i], &ec, &cfg, &foe, &plain[i], &attacked[i][way]);
        }
    for (int i = 0; i < 2; i++)
        print_message("%s: loss %.4f, under attack %.4f, eight steps %.4f, random start %.4f\n", i ? "robust" : "plain ",
                      plain[i], attacked[i][0], attacked[i][1], attacked[i][2]);
    for (int i = 0; i < 2; i++)
        for (int way = 0; way < 3; way++) assert_true(attacked[i][way] > plain[i] + 1e-3);
    for (int way = 0; way < 3; way++) assert_true(attacked[1][way] < 0.8 * attacked[0][way]);
    spot_arena_close(&a);
}

/* An adversary who may go nowhere is none: the same bits as without. */
TEST(a_ball_of_nothing_changes_nothing)
{
    spot_ctx c = check_ctx(2);
    spot_model_config cfg;
    spot_model m[2];
    spot_learning l;
    spot_bytes needs;
    spot_arena a;
    spot_ec ec;
    make_ec(&c, &ec, &cfg);
    cfg.epochs = cfg.robust.epochs = 1;
    cfg.robust.steps = 1;
    cfg.robust.epsilon = 0;
    CHECK_OK(&c, spot_model_needs(&c, &needs, &ec.scene, &cfg, 100, true));
    CHECK_OK(&c, spot_arena_open(&c, &a, 2 * needs.host));
    CHECK_OK(&c, spot_model_train(&c, &a, &m[0], &l, &ec, &cfg, NULL));
    CHECK_OK(&c, spot_model_robust(&c, &a, &m[1], &l, &ec, &cfg, NULL));
    for (size_t i = 0; i < m[0].floats; i++) CHECK_NEAR(m[1].value[i], m[0].value[i], 2e-2);
    spot_arena_close(&a);
}
