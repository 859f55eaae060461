/* test_optim.c - Adam, SGD and RMSprop against their formulas in double (with which PyTorch's agree: test_resnet.c,
 * test_train_pixels.c). ctest: threads, both */
#include "check_tensor.h"

#include "net/optim.h"

enum { COUNT = 1003, STEPS = 20 };

static const spot_optim_rule rules[] = {
    { .kind = SPOT_OPTIM_ADAM, .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8 },
    { .kind = SPOT_OPTIM_ADAM, .lr = 1e-1, .beta1 = 0.5, .beta2 = 0.99, .epsilon = 1e-3, .decay = 1e-2 },
    { .lr = 1e-2, .momentum = 0.9, .decay = 1e-3 },
    { .lr = 1e-1 },
    { .kind = SPOT_OPTIM_RMSPROP, .lr = 1e-3, .beta2 = 0.99, .epsilon = 1e-8 },
    { .kind = SPOT_OPTIM_RMSPROP, .lr = 1e-2, .momentum = 0.9, .beta2 = 0.9, .epsilon = 1e-3, .decay = 1e-2 },
};

typedef struct { double p, m, v; } parameter;

static void step_in_double(parameter *a, double g, const spot_optim_rule *r)
{
    g += r->decay * a->p;
    if (r->kind == SPOT_OPTIM_ADAM) {
        a->m = r->beta1 * a->m + (1 - r->beta1) * g;
        a->v = r->beta2 * a->v + (1 - r->beta2) * g * g;
        a->p -= r->lr * (a->m / (1 - pow(r->beta1, r->t)))
                / (sqrt(a->v / (1 - pow(r->beta2, r->t))) + r->epsilon);
    } else if (r->kind == SPOT_OPTIM_RMSPROP) {
        a->v = r->beta2 * a->v + (1 - r->beta2) * g * g;
        a->m = (r->t == 1 ? 0 : r->momentum * a->m) + g / (sqrt(a->v) + r->epsilon);
        a->p -= r->lr * a->m;
    } else {
        a->m = r->t == 1 ? g : r->momentum * a->m + g;
        a->p -= r->lr * a->m;
    }
}

/* The numbers that are added up to the gradient, in the units of m. */
static double size_of(const parameter *a, double before, double g, const spot_optim_rule *r)
{
    if (r->kind != SPOT_OPTIM_RMSPROP) return fabs(g);
    return (fabs(g) + r->decay * fabs(before)) / (sqrt(a->v) + r->epsilon);
}

/* Twenty steps, each from the state that fp32 left: to 1e-6 of the parameter and of its move (for Adam of lr: m may
 * be the small difference of large numbers). */
TEST(a_step_is_the_formula)
{
    for (int k = 0; k < LEN(rules); k++) {
        float *p = random_tensor(COUNT, 0), *m = calloc(COUNT, sizeof *m), *v = calloc(COUNT, sizeof *v);
        spot_optim_rule r = rules[k];
        spot_ctx c = check_ctx(2);
        for (r.t = 1; r.t <= STEPS; r.t++) {
            float *g = random_tensor(COUNT, r.t);
            parameter want[COUNT];
            double before[COUNT];
            for (int i = 0; i < COUNT; i++) {
                g[i] *= (float)pow(10, i % 9 - 6);             /* gradients from 1e-6 to 100 */
                want[i] = (parameter){ p[i], m[i], v[i] };
                before[i] = p[i];
                step_in_double(&want[i], g[i], &r);
            }
            CHECK_OK(&c, spot_optim_step(&c, p, g, m, v, COUNT, &r));
            for (int i = 0; i < COUNT; i++) {
                double size = size_of(&want[i], before[i], g[i], &r);
                double move = r.kind == SPOT_OPTIM_ADAM ? r.lr : r.lr * fabs(want[i].m);
                if (r.kind == SPOT_OPTIM_RMSPROP) move += r.lr * size;
                CHECK_NEAR(p[i], want[i].p, 1e-6 * (move + fabs(want[i].p)));
                CHECK_NEAR(m[i], want[i].m, 1e-6 * (size + fabs(want[i].m)));
                CHECK_NEAR(v[i], want[i].v, 1e-6 * (fabs(want[i].v) + g[i] * g[i]));
            }
            free(g);
        }
        free(p), free(m), free(v);
    }
}

TEST(threads_leave_no_trace_and_nan_stays)
{
    spot_ctx one = check_ctx(1), two = check_ctx(2);
    for (int k = 0; k < LEN(rules); k++) {
        float *p[2], *g = random_tensor(COUNT, 1), *m[2], *v[2];
        spot_optim_rule r = rules[k];
        r.t = 1;
        g[7] = NAN;
        for (int j = 0; j < 2; j++) {
            p[j] = random_tensor(COUNT, 0), m[j] = random_tensor(COUNT, 2), v[j] = calloc(COUNT, sizeof(float));
            CHECK_OK(j ? &two : &one, spot_optim_step(j ? &two : &one, p[j], g, m[j], v[j], COUNT, &r));
            assert_true(isnan(p[j][7]) && isfinite(p[j][6]));
        }
        assert_memory_equal(p[0], p[1], COUNT * sizeof(float));
        assert_memory_equal(m[0], m[1], COUNT * sizeof(float));
        for (int j = 0; j < 2; j++) free(p[j]), free(m[j]), free(v[j]);
        free(g);
    }
}

/* Strides that are computed for all steps beforehand are those that each step computes by itself. */
TEST(a_course_has_the_bits_of_its_steps)
{
    enum { TAKEN = 5 };
    spot_ctx c = check_ctx(1);
    for (int k = 0; k < LEN(rules); k++) {
        float *p[2], *g = random_tensor(COUNT, 1), *m[2], *v[2];
        spot_optim_stride stride[TAKEN];
        double loss = 1, losses[TAKEN];
        int made = 0;
        uint32_t seen = 0;
        const spot_optim_course course = { stride, &loss, losses, &made, &seen, 2 };
        for (int t = 0; t < TAKEN; t++) stride[t] = spot_optim_stride_of(&rules[k], rules[k].lr / (t + 3), t + 1);
        for (int j = 0; j < 2; j++) p[j] = random_tensor(COUNT, 0), m[j] = random_tensor(COUNT, 2), v[j] = calloc(COUNT, 4);
        for (int t = 0; t < TAKEN; t++) {
            spot_optim_rule told = rules[k], by_course = rules[k];
            told.t = t + 1, told.lr = rules[k].lr / (t + 3), by_course.course = &course;
            CHECK_OK(&c, spot_optim_step(&c, p[0], g, m[0], v[0], COUNT, &told));
            CHECK_OK(&c, spot_optim_step(&c, p[1], g, m[1], v[1], COUNT, &by_course));
        }
        assert_true(made == TAKEN && seen == 2 * TAKEN);
        assert_memory_equal(p[0], p[1], COUNT * sizeof(float));
        assert_memory_equal(m[0], m[1], COUNT * sizeof(float));
        assert_memory_equal(v[0], v[1], COUNT * sizeof(float));
        for (int j = 0; j < 2; j++) free(p[j]), free(m[j]), free(v[j]);
        free(g);
    }
}

TEST(a_rate_is_a_number)
{
    spot_ctx c = check_ctx(1);
    spot_optim_rule r = rules[0];
    CHECK_FAILS(&c, spot_optim_step(&c, NULL, NULL, NULL, NULL, 0, &r), SPOT_INVALID, "optim.step: step 0");
    r.t = 1;
    r.lr = NAN;
    CHECK_FAILS(&c, spot_optim_step(&c, NULL, NULL, NULL, NULL, 0, &r), SPOT_INVALID, "optim.step: nan");
}
