/* shift_cover.c - see shift_cover.h. A thread works on one class. */
#include "shifts/shift_cover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/cover.h"
#include "study/process_memory.h"

void spot_shift_unit_rows(float *feature, int n, int dim)
{
    for (int i = 0; i < n; i++) {
        float *row = feature + (size_t)i * (size_t)dim;
        double length = 0;
        for (int k = 0; k < dim; k++) length += (double)row[k] * row[k];
        for (int k = 0; k < dim; k++) row[k] = (float)(row[k] / sqrt(length));
    }
}

/* ---- one class ---- */

typedef struct {
    int dim;
    const spot_shift_featured *real, *made;
    const uint8_t *in;
} cover_work;

/* The pictures of a class are those from *first to before the returned one. */
static int class_range(const spot_shift_featured *p, int cls, int *first)
{
    int i = 0, end;

    while (i < p->n && p->cls[i] < cls) i++;
    for (end = i; end < p->n && p->cls[end] == cls;) end++;
    *first = i;
    return end;
}

/* out->real stays 0 where the class has too few pictures of a kind. */
static spot_status cover_class(spot_ctx *c, spot_cover_draws *out, const cover_work *w, int cls)
{
    const size_t row = (size_t)w->dim * sizeof(float);
    int real, first;
    const int reals = class_range(w->real, cls, &real), end = class_range(w->made, cls, &first);
    float *chosen;
    int n = 0;

    for (int i = first; i < end; i++) n += w->in[i] != 0;
    if (reals - real < SPOT_COVER_LEAST || n < SPOT_COVER_LEAST) return SPOT_OK;
    chosen = malloc((size_t)n * row);
    if (!chosen) return spot_fail(c, SPOT_NOMEM, "no memory to compare %d pictures with real ones", n);
    n = 0;
    for (int i = first; i < end; i++)
        if (w->in[i]) memcpy((char *)chosen + (size_t)n++ * row, w->made->feature + (size_t)i * (size_t)w->dim, row);
    const spot_mat x = { (float *)(uintptr_t)w->real->feature + (size_t)real * (size_t)w->dim, reals - real, w->dim };
    const spot_status s = spot_cover_of(c, out, x, (spot_mat){ chosen, n, w->dim }, (uint32_t)cls);
    free(chosen);
    return s;
}

/* ---- all classes ---- */

static void fill(spot_shift_cover *v, const spot_cover_draws *of, int n)
{
    spot_interval *const number[SPOT_COVER_NUMBERS] = { &v->density, &v->coverage, &v->precision, &v->recall };
    double *const chance[SPOT_COVER_NUMBERS] = { &v->density_chance, &v->coverage_chance, &v->precision_chance,
                                                 &v->recall_chance };

    v->classes = n, v->real = v->pictures = 0;
    for (int k = 0; k < n; k++) v->real += of[k].real, v->pictures += of[k].made;
    for (int i = 0; i < SPOT_COVER_NUMBERS; i++) {
        *number[i] = n ? spot_cover_mean(of, n, (spot_cover_number)i) : (spot_interval){ NAN, NAN, NAN };
        *chance[i] = n ? 0 : NAN;
        for (int k = 0; k < n; k++) *chance[i] += of[k].chance[i] / n;
    }
}

static spot_status cover_classes(spot_ctx *c, spot_cover_draws *draws, const cover_work *w, int classes)
{
    spot_status first = SPOT_OK;

#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
    for (int k = 0; k < classes; k++) {
        spot_ctx own = spot_quiet_of(c);
        const spot_status s = cover_class(&own, &draws[k], w, k);
        if (s != SPOT_OK) {
#pragma omp critical
            {
                if (first == SPOT_OK) spot_fail_from(c, s, &own);
                first = s;
            }
        }
    }
    return first;
}

spot_status spot_shift_cover_of(spot_ctx *c, spot_shift_cover *all, spot_shift_cover *of_class, int classes, int dim,
                                const spot_shift_featured *real, const spot_shift_featured *made, const uint8_t *in)
{
    const cover_work w = { dim, real, made, in };
    spot_cover_draws *draws = calloc((size_t)classes + 1, sizeof *draws);
    spot_status s = draws ? cover_classes(c, draws, &w, classes)
                          : spot_fail(c, SPOT_NOMEM, "no memory to compare %d classes with real pictures", classes);
    int n = 0;

    for (int k = 0; k < classes && s == SPOT_OK; k++) {
        if (of_class) fill(&of_class[k], &draws[k], draws[k].real > 0);
        if (draws[k].real && n != k) draws[n] = draws[k];
        n += draws[k].real > 0;
    }
    if (s == SPOT_OK) fill(all, draws, n);
    free(draws);
    return s;
}

size_t spot_shift_cover_bytes(const spot_ctx *c, int classes, int dim, int real, int made)
{
    const size_t most = (size_t)(real > made ? real : made), row = (size_t)dim * sizeof(float);
    const size_t threads = (size_t)(c->threads < classes ? c->threads : classes);

    return (size_t)classes * sizeof(spot_cover_draws) + threads * (spot_cover_bytes(real, made) + ((size_t)made + most) * row);
}
