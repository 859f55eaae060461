/* stand_in.c - TEMPORARY, until the readers of arrays and subjects are merged: enough of them to work against. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include "spotter/array.h"
#include "spotter/store.h"
#include "spotter/subject.h"

spot_status spot_subject_check(spot_ctx *c, const spot_subject *s) { (void)c; (void)s; return SPOT_OK; }

static bool in(const spot_subject *s, int i, int cls)
{
    return cls < 0 || (s->target ? s->target[i] == cls : s->has[(size_t)i * s->classes + cls]);
}

int spot_subject_rows(const spot_subject *s, int cls)
{
    int n = 0;
    for (int i = 0; i < s->n; i++) n += in(s, i, cls);
    return n;
}

double spot_subject_error(const spot_subject *s, int i, int cls)
{
    return s->confidence ? 1 - (double)s->confidence[i] : 1 - (double)s->prob[(size_t)i * s->classes + cls];
}

bool spot_subject_wrong(const spot_subject *s, int i, int cls)
{
    if (s->prob && s->target) {
        for (int k = 0; k < s->classes; k++)
            if (s->prob[(size_t)i * s->classes + k] > s->prob[(size_t)i * s->classes + s->target[i]]) return true;
        return false;
    }
    return spot_subject_error(s, i, cls) > 0.5;
}

spot_status spot_subject_view(spot_ctx *c, spot_arena *a, spot_view *v, const spot_subject *s, int cls)
{
    int n = spot_subject_rows(s, cls), at = 0;
    *v = (spot_view){ .n = n, .d = s->d, .feature = s->feature };
    if (n < s->n) SPOT_TRY(SPOT_TAKE(c, a, v->feature, (size_t)n * s->d));
    SPOT_TRY(SPOT_TAKE(c, a, v->confidence, n));
    SPOT_TRY(SPOT_TAKE(c, a, v->image, n));
    for (int i = 0; i < s->n; i++) {
        if (!in(s, i, cls)) continue;
        if (n < s->n) memcpy(v->feature + (size_t)at * s->d, s->feature + (size_t)i * s->d, (size_t)s->d * 4);
        v->confidence[at] = (float)(1 - spot_subject_error(s, i, cls));
        v->image[at++] = i;
    }
    return SPOT_OK;
}

spot_status spot_npy_write(spot_ctx *c, const char *path, const float *v, int rows, int columns)
{
    size_t bytes = (size_t)rows * columns * 4;
    char *all = malloc(128 + bytes), head[119];
    spot_status st;
    int n = snprintf(head, sizeof head, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, columns);
    memset(head + n, ' ', 118 - n);
    memcpy(all, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(all + 10, head, 117);
    all[127] = '\n';
    memcpy(all + 128, v, bytes);
    st = spot_file_write(c, path, all, 128 + bytes);
    free(all);
    return st;
}

static void *npy(spot_ctx *c, const char *path, int *rows, int *cols, int *bad)
{
    unsigned char *b; size_t n; char *shape;
    void *out;
    if (spot_file_read(c, path, &b, &n, (size_t)1 << 40)) { *bad = 1; return NULL; }
    int head = b[8] | b[9] << 8;
    shape = strstr((char *)b + 10, "'shape': (");
    *cols = 1;
    if (sscanf(shape, "'shape': (%d, %d", rows, cols) < 1) *bad = 1;
    out = malloc(n - 10 - head);
    memcpy(out, b + 10 + head, n - 10 - head);
    free(b);
    return out;
}

spot_status spot_subject_read(spot_ctx *c, spot_subject *s, const spot_subject_files *f)
{
    int rows, cols, bad = 0;
    memset(s, 0, sizeof *s);
    s->feature = npy(c, f->embeddings, &s->n, &s->d, &bad);
    if (bad) return SPOT_INPUT;
    int64_t *y = npy(c, f->labels, &rows, &cols, &bad);
    if (bad) return SPOT_INPUT;
    s->confidence = npy(c, f->probs, &rows, &cols, &bad);
    s->target = malloc(s->n * sizeof(int));
    s->id = malloc(s->n * sizeof(char *));
    for (int i = 0; i < s->n; i++) {
        s->target[i] = (int)y[i];
        if (s->target[i] >= s->classes) s->classes = s->target[i] + 1;
        s->id[i] = malloc(16);
        snprintf(s->id[i], 16, "%d", i);
    }
    free(y);
    s->class_name = malloc(s->classes * sizeof(char *));
    for (int k = 0; k < s->classes; k++) {
        s->class_name[k] = malloc(16);
        snprintf(s->class_name[k], 16, "%d", k);
    }
    snprintf(s->source, sizeof s->source, "%s: %d rows of %d features, %d classes", f->embeddings, s->n, s->d, s->classes);
    return bad ? SPOT_INPUT : SPOT_OK;
}

void spot_subject_close(spot_subject *s) { (void)s; }
