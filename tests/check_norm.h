/* check_norm.h - a batch norm layer, what is joined to it, and all their tensors, for test_norm.c. */
#ifndef SPOTTER_TESTS_CHECK_NORM_H
#define SPOTTER_TESTS_CHECK_NORM_H

#include "check_tensor.h"
#include "net/norm.h"

enum { PARTS = 10 };
typedef enum { ALONE, IDENTITY, SHORTCUT, POOLED } kind;   /* what is added: nothing, a tensor, bn of one; the stem */
typedef struct { kind kind; spot_plane p; bool db; } norm_case;

typedef struct {
    kind kind;
    spot_plane p, q;            /* of y, of out */
    spot_norm l[2];
    float *y, *y2, *out, *da, *db, *dz, *kept;
    unsigned char *at;
    void *scratch;
} bed;

static inline float **part(spot_norm *l, int i)
{
    float **all[PARTS] = { &l->weight, &l->bias, &l->running_mean, &l->running_var, &l->mean, &l->invstd, &l->scale,
                           &l->shift, &l->dweight, &l->dbias };

    return all[i];
}

/* y has this mean; rows behind the live ones hold NaN. */
static inline bed make_bed(const norm_case *k, float mean)
{
    bed b = { .kind = k->kind, .p = k->p, .q = k->p };
    size_t n = numbers(b.p), n_out, live = n / b.p.rows * b.p.live;

    if (b.kind == POOLED) b.q.size /= 2;
    n_out = numbers(b.q);
    b.y = random_tensor(n, 0), b.y2 = random_tensor(n, 1), b.out = random_tensor(n_out, 2);
    b.da = random_tensor(n_out, 3), b.db = k->db ? random_tensor(n_out, 4) : NULL;
    b.dz = random_tensor(n, 5), b.kept = room(4 * n_out), b.at = room(n_out), b.scratch = room(spot_norm_scratch(b.p));
    for (size_t i = 0; i < n; i++) {
        b.y[i] = i < live ? mean + b.y[i] / 2 : NAN;
        if (i >= live) b.y2[i] = NAN;
    }
    for (int j = 0; j < 2 * PARTS; j++)
        *part(&b.l[j / PARTS], j % PARTS) = random_tensor((size_t)b.p.channels, 10 + (uint32_t)j);
    return b;
}

static inline void clear_bed(bed *b)
{
    void *all[] = { b->y, b->y2, b->out, b->da, b->db, b->dz, b->kept, b->at, b->scratch };

    for (int i = 0; i < LEN(all); i++) free(all[i]);
    for (int i = 0; i < 2 * PARTS; i++) free(*part(&b->l[i / PARTS], i % PARTS));
}

/* All pointers lie in c's memory. */
static inline void forward(spot_ctx *c, bed *b)
{
    CHECK_OK(c, spot_norm_stats(c, &b->l[0], b->y, b->p, b->scratch));
    if (b->kind == SHORTCUT) CHECK_OK(c, spot_norm_stats(c, &b->l[1], b->y2, b->p, b->scratch));
    if (b->kind == POOLED) CHECK_OK(c, spot_norm_pool(c, b->out, b->at, b->y, &b->l[0], b->p));
    else CHECK_OK(c, spot_norm_apply(c, b->out, b->y, &b->l[0], b->kind == ALONE ? NULL : b->y2,
                                     b->kind == SHORTCUT ? &b->l[1] : NULL, b->p));
}

static inline void backward(spot_ctx *c, bed *b, float *dz)
{
    spot_norm_back back = { .da = b->da, .db = b->db, .y = b->y, .a = &b->l[0] };

    if (b->kind == IDENTITY || b->kind == SHORTCUT) back.out = b->out, back.dz = dz;
    if (b->kind == SHORTCUT) back.y2 = b->y2, back.b = &b->l[1];
    if (b->kind == POOLED)
        CHECK_OK(c, spot_norm_pool_back(c, &(spot_norm_pooled){ b->y, b->da, b->db, b->out, b->at }, &b->l[0], b->p,
                                        b->scratch));
    else CHECK_OK(c, spot_norm_backward(c, &back, b->p, b->scratch));
}

#endif
