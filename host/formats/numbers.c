/* numbers.c - converts an array's values to floats or ints, and checks each. */
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/csv_dialect.h"
#include "formats/formats.h"

enum { BLOCK = 4096 };

/* Every half and bfloat16 value is a float. */
static float from_half(uint16_t h)
{
    int exponent = h >> 10 & 31;
    float v = exponent == 31 ? (h & 1023 ? NAN : INFINITY)
            : exponent ? ldexpf((float)(1024 + (h & 1023)), exponent - 25) : ldexpf((float)(h & 1023), -24);

    return h >> 15 ? -v : v;
}

uint16_t spot_half_bits(float x)
{
    float a = fabsf(x);
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    int exponent;

    if (isnan(x)) return 0x7e00;
    if (a >= 65520.0f) return sign | 0x7c00;
    if (a < 0x1p-14f) return (uint16_t)(sign | (int)rintf(a * 0x1p24f));
    a = frexpf(a, &exponent);                  /* 1/2 <= a < 1; rounding up to 1 carries into the exponent */
    return (uint16_t)(sign | (((exponent + 14) << 10) + (int)rintf(a * 2048) - 1024));
}

static float from_bfloat16(uint16_t b)
{
    uint32_t bits = (uint32_t)b << 16;
    float v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

void spot_array_doubles(double *out, const spot_array *a, size_t i, size_t n)
{
#define FROM(type, expression)                                     \
    {                                                              \
        const type *v = (const type *)a->data + i;                 \
        for (size_t k = 0; k < n; k++) out[k] = (double)(expression); \
        return;                                                    \
    }
    switch (a->type) {
    case SPOT_F32:       FROM(float, v[k])
    case SPOT_F64:       FROM(double, v[k])
    case SPOT_F16:       FROM(uint16_t, from_half(v[k]))
    case SPOT_BFLOAT16:  FROM(uint16_t, from_bfloat16(v[k]))
    case SPOT_I64:       FROM(int64_t, v[k])
    case SPOT_I32:       FROM(int32_t, v[k])
    case SPOT_I16:       FROM(int16_t, v[k])
    case SPOT_I8:        FROM(int8_t, v[k])
    case SPOT_U32:       FROM(uint32_t, v[k])
    case SPOT_U16:       FROM(uint16_t, v[k])
    case SPOT_U8:
    case SPOT_BOOL:      FROM(uint8_t, v[k])
    case SPOT_WORDS:
    case SPOT_DTYPES:    return;
    }
#undef FROM
}

/* Fails for words instead of numbers; names the first word that is no number. */
static spot_status no_numbers(spot_ctx *c, const spot_array *a)
{
    const spot_csv_dialect dialect = { .comma = a->comma };
    char **word = a->data, where[64];
    size_t i = 0;
    double v;

    while (i + 1 < a->count && spot_csv_take_number(&dialect, &v, word[i], strlen(word[i]))) i++;
    if (!a->count) return spot_fail(c, SPOT_INPUT, "%s: numbers are wanted, it holds no words even", a->name);
    return spot_fail(c, SPOT_INPUT, "{number.form} %s: %s is \"%.40s\" where a number is wanted", a->name,
                     spot_array_place(where, a, i), word[i]);
}

/* Threads check blocks; the least index wins. */
size_t spot_array_first_beyond(spot_ctx *c, const spot_array *a, double most)
{
    size_t first = a->count;
    int64_t blocks = (int64_t)((a->count + BLOCK - 1) / BLOCK);

#pragma omp parallel for num_threads(c->threads > 0 ? c->threads : 1) schedule(static) reduction(min : first)
    for (int64_t b = 0; b < blocks; b++) {
        size_t at = (size_t)b * BLOCK, n = a->count - at < BLOCK ? a->count - at : BLOCK;
        double v[BLOCK];
        bool wild = false;
        spot_array_doubles(v, a, at, n);
        for (size_t k = 0; k < n; k++) wild |= !(fabs(v[k]) <= most);
        for (size_t k = 0; wild && k < n; k++)
            if (!(fabs(v[k]) <= most) && at + k < first) first = at + k;
    }
    return first;
}

void spot_array_rows_beyond(spot_ctx *c, const spot_array *a, double most, uint8_t *bad)
{
    const int64_t rows = a->dim[0];
    const size_t columns = a->count / (size_t)rows;

#pragma omp parallel for num_threads(c->threads > 0 ? c->threads : 1) schedule(static)
    for (int64_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k += BLOCK) {
            const size_t n = columns - k < BLOCK ? columns - k : BLOCK;
            double v[BLOCK];
            spot_array_doubles(v, a, (size_t)i * columns + k, n);
            for (size_t j = 0; j < n; j++) bad[i] |= !(fabs(v[j]) <= most);
        }
}

/* Converts in place if a value has four bytes or more: its float overwrites only values that were already read. */
static spot_status convert_to_floats(spot_ctx *c, float **out, spot_array *a)
{
    bool in_place = spot_dtype_size(a->type) >= sizeof(float);
    char *to = in_place ? a->data : malloc((a->count + 1) * sizeof(float));

    if (!to) return spot_fail(c, SPOT_NOMEM, "no memory for the %zu numbers of %s", a->count, a->name);
    for (size_t at = 0; at < a->count; at += BLOCK) {
        size_t n = a->count - at < BLOCK ? a->count - at : BLOCK;
        double v[BLOCK];
        float f[BLOCK];
        spot_array_doubles(v, a, at, n);
        for (size_t k = 0; k < n; k++) f[k] = (float)v[k];
        memcpy(to + at * sizeof(float), f, n * sizeof(float));
    }
    if (!in_place) free(a->data);
    else {
        char *less = realloc(to, (a->count + 1) * sizeof(float));
        if (less) to = less;
    }
    *out = (float *)to;
    return SPOT_OK;
}

spot_status spot_array_floats(spot_ctx *c, float **out, spot_array *a)
{
    char where[64];
    size_t wild;
    double v = 0;

    *out = NULL;
    if (a->type == SPOT_WORDS) return no_numbers(c, a);
    wild = spot_array_first_beyond(c, a, FLT_MAX);
    if (wild < a->count) {
        spot_array_doubles(&v, a, wild, 1);
        return spot_fail(c, SPOT_INPUT, "{number.value} %s: %s is %g; %s", a->name, spot_array_place(where, a, wild), v,
                         isfinite(v) ? "a float does not reach so far" : "a finite number is wanted");
    }
    return spot_array_to_floats(c, out, a);
}

spot_status spot_array_to_floats(spot_ctx *c, float **out, spot_array *a)
{
    *out = NULL;
    if (a->type == SPOT_WORDS) return no_numbers(c, a);
    if (a->type == SPOT_F32) *out = a->data;
    else SPOT_TRY(convert_to_floats(c, out, a));
    a->data = NULL;
    return SPOT_OK;
}

spot_status spot_array_whole(spot_ctx *c, int *out, const spot_array *a, size_t i, const int range[2])
{
    char where[64];
    double v;

    if (a->type == SPOT_WORDS) return no_numbers(c, a);
    spot_array_doubles(&v, a, i, 1);
    if (!(v >= range[0] && v <= range[1]) || v != floor(v))
        return spot_fail(c, SPOT_INPUT, "{number.whole} %s: %s is %.17g; a whole number from %d to %d is wanted", a->name,
                         spot_array_place(where, a, i), v, range[0], range[1]);
    *out = (int)v;
    return SPOT_OK;
}

spot_status spot_array_ints(spot_ctx *c, int *out, const spot_array *a, int least, int most)
{
    double v[BLOCK];

    if (a->type == SPOT_WORDS) return no_numbers(c, a);
    for (size_t at = 0; at < a->count; at += BLOCK) {
        size_t n = a->count - at < BLOCK ? a->count - at : BLOCK;
        spot_array_doubles(v, a, at, n);
        for (size_t k = 0; k < n; k++) {
            if (!(v[k] >= least && v[k] <= most) || v[k] != floor(v[k]))
                return spot_array_whole(c, out, a, at + k, (int[]){ least, most });
            out[at + k] = (int)v[k];
        }
    }
    return SPOT_OK;
}
