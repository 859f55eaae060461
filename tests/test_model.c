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
        CHECK_NEAR(sqrt(norm) / want[0], 1, 5e-4);
        for (int i = 0; i < 3; i++) CHECK_NEAR(v[at[i]], want[1 + i], 2e-3 * want[0] / sqrt((double)count) + 1e-3 * fabs(want[1 + i]));
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
        CHECK_NEAR(loss / want[step], 1, 1e-3);
    }
    n = read_line(&g, after, want, MAX_LOGITS);
    fill_batch(b.x, b.y, 0, &g.s, g.batch);
    CHECK_OK(&b.c, spot_net_forward(&b.c, &b.net, b.x, g.batch, false));
    for (int i = 0; i < n; i++) CHECK_NEAR(b.net.logit[i], want[i], 2e-2 * scale_of(want, n));
    print_message("%s: losses of %d steps off by %.1e\n", name, g.steps, worst);
    clear_bed(&b);
    fclose(g.f);
}

static void ten_losses_by_adam(void **state) { (void)state; loses_like_torchvision("adam", "adam_eval", adam); }
static void ten_losses_by_sgd(void **state)  { (void)state; loses_like_torchvision("sgd", "sgd_eval", sgd); }

int main(int argc, char **argv)
{
    const struct CMUnitTest torchvision[] = {
        cmocka_unit_test(agrees_with_torchvision),
        cmocka_unit_test(ten_losses_by_adam),
        cmocka_unit_test(ten_losses_by_sgd),
    };

    if (argc > 1) golden_path = argv[1];
    return cmocka_run_group_tests(torchvision, NULL, NULL);
}
