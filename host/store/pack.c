/* pack.c - the descriptions of stage values. */
#include "store/pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bdm/fit.h"
#include "core/pointer.h"
#include "models/network.h"

static spot_status pack_bytes(spot_ctx *c, spot_packer *p, void *v, size_t n)
{
    if (p->way == PACK_COUNT) { p->n += n; return SPOT_OK; }
    if (p->way == PACK_READ && n > p->left)
        return spot_fail(c, SPOT_INPUT, "a stored value ends early");
    if (n) memcpy(p->way == PACK_READ ? v : p->at, p->way == PACK_READ ? p->at : v, n);
    p->at += n;
    p->left -= p->way == PACK_READ ? n : 0;
    return SPOT_OK;
}

/* v: the address of a pointer of any type. */
static spot_status pack_array(spot_ctx *c, spot_packer *p, void *v, size_t count, size_t size)
{

    if (p->way == PACK_READ) {
        if (count > p->left / size)
            return spot_fail(c, SPOT_INPUT, "a stored value ends early");
        SPOT_TRY(spot_arena_take(c, p->arena, v, count * size));
    }
    return pack_bytes(c, p, spot_pointer_get(v), count * size);
}

/* The checksum catches damage, not a malicious writer: check every number before using it. */
static spot_status check_read(spot_ctx *c, const spot_packer *p, bool good)
{
    if (p->way != PACK_READ || good) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "a stored value holds numbers that cannot be");
}

#define PART(x)         SPOT_TRY(pack_bytes(c, p, &(x), sizeof (x)))
#define ARRAY(x, count) SPOT_TRY(pack_array(c, p, &(x), (size_t)(count), sizeof *(x)))

spot_status spot_pack_model(spot_ctx *c, spot_packer *p, void *value)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];
    spot_model *m = value;
    int kind = m->arch << 16 | m->width;           /* a ResNet-18's is its width, as it was before there were others */

    PART(kind);
    m->arch = kind >> 16;
    m->width = kind & 0xffff;
    if (p->way == PACK_READ) m->pixels = (spot_pixel_rule){ 0 };        /* ImageNet's: a run trains no network on others */
    PART(m->outputs);
    PART(m->batches_tracked);
    PART(m->floats);
    SPOT_TRY(check_read(c, p, spot_arch_is(m->arch) && m->width > 0 && m->width <= SPOT_MOST_WIDTH && m->outputs > 0
                        && m->outputs <= SPOT_MOST_OUTPUTS
                        && m->floats == spot_model_layout(table, m->arch, m->width, m->outputs)));
    ARRAY(m->value, m->floats);
    return SPOT_OK;
}

spot_status spot_pack_learning(spot_ctx *c, spot_packer *p, void *value)
{
    spot_learning *l = value;

    PART(l->epochs);
    PART(l->best_epoch);
    PART(l->epoch);
    PART(l->outside);
    PART(l->inside);
    PART(l->outside_count);
    PART(l->inside_count);
    PART(l->blindspots);
    if (p->way == PACK_READ) SPOT_TRY(check_read(c, p, p->left && *p->at <= 1));         /* any other byte is no valid bool */
    PART(l->learned);
    SPOT_TRY(check_read(c, p, l->epochs >= 0 && l->epochs <= SPOT_MAX_EPOCHS && l->best_epoch >= 0 && l->blindspots >= 0
                        && l->blindspots <= SPOT_MAX_BLINDSPOTS));
    if (p->way == PACK_READ) l->attacked = NAN;
    if (p->way == PACK_READ ? p->left : !isnan(l->attacked)) PART(l->attacked);      /* only a robust network has it */
    return SPOT_OK;
}

spot_status spot_pack_seen(spot_ctx *c, spot_packer *p, void *value)
{
    spot_seen *s = value;
    spot_view *v = &s->view;

    if (p->way == PACK_READ) *v = (spot_view){ 0 };    /* no labels: a sweep has positives only */
    PART(v->n);
    PART(v->d);
    SPOT_TRY(check_read(c, p, v->n >= 0 && v->d >= 0));
    ARRAY(v->feature, (size_t)v->n * (size_t)v->d);
    ARRAY(v->confidence, v->n);
    ARRAY(v->image, v->n);
    PART(s->truth.n);
    PART(s->truth.blindspots);
    SPOT_TRY(check_read(c, p, s->truth.n == v->n && s->truth.blindspots >= 0 && s->truth.blindspots <= SPOT_MAX_BLINDSPOTS));
    ARRAY(s->truth.mask, s->truth.n);
    if (p->way == PACK_READ ? p->left : v->head != NULL) ARRAY(v->head, v->d);      /* older builds kept none */
    return SPOT_OK;
}

spot_status spot_pack_points(spot_ctx *c, spot_packer *p, void *value)
{
    spot_points *s = value;

    PART(s->n);
    PART(s->d);
    PART(s->objective);
    SPOT_TRY(check_read(c, p, s->n >= 0 && s->d >= 0));
    ARRAY(s->at, (size_t)s->n * (size_t)s->d);
    return SPOT_OK;
}

/* (n) or NULL, with a mark that tells which. */
static spot_status pack_weights(spot_ctx *c, spot_packer *p, float **weight, int n)
{
    uint8_t has_weight = p->way != PACK_READ && *weight != NULL;

    PART(has_weight);
    SPOT_TRY(check_read(c, p, has_weight <= 1));
    if (!has_weight) {
        if (p->way == PACK_READ) *weight = NULL;
        return SPOT_OK;
    }
    ARRAY(*weight, n);
    return SPOT_OK;
}

spot_status spot_pack_found(spot_ctx *c, spot_packer *p, void *value)
{
    spot_hypotheses *f = value;

    PART(f->len);
    PART(f->components);
    PART(f->n);
    SPOT_TRY(check_read(c, p, f->n >= 0));
    if (f->len < 0 || f->len > SPOT_MAX_HYPOTHESES)
        return spot_fail(c, SPOT_INPUT, "a stored value has %d hypotheses", f->len);
    for (int i = 0; i < f->len; i++) {
        PART(f->h[i].len);
        PART(f->h[i].score);
        PART(f->h[i].mean_error);
        ARRAY(f->h[i].row, f->h[i].len);
        SPOT_TRY(pack_weights(c, p, &f->h[i].weight, f->n));
    }
    return SPOT_OK;
}

static spot_status pack_tensor(spot_ctx *c, spot_packer *p, spot_fit *f, int i)
{
    spot_fit_tensor t = p->way == PACK_READ ? (spot_fit_tensor){ .rows = 0 } : f->tensor[i];
    size_t n;

    PART(t.name);
    PART(t.type);
    PART(t.rows);
    PART(t.columns);
    SPOT_TRY(check_read(c, p, t.rows >= 0 && t.columns >= 0 && memchr(t.name, 0, sizeof t.name)
                        && (t.type == SPOT_F32 || t.type == SPOT_F64 || t.type == SPOT_I32 || t.type == SPOT_U8)));
    n = (size_t)t.rows * (size_t)(t.columns ? t.columns : 1) * spot_dtype_size(t.type);
    if (p->way != PACK_READ) return pack_bytes(c, p, t.data, n);
    SPOT_TRY(check_read(c, p, n <= p->left));
    SPOT_TRY(spot_fit_put(c, f, t.name, t.type, p->at, t.rows, t.columns, NULL));
    p->at += n;
    p->left -= n;
    return SPOT_OK;
}

spot_status spot_pack_fit(spot_ctx *c, spot_packer *p, void *value)
{
    spot_fit *f = value;
    int count = f->count;

    PART(count);
    SPOT_TRY(check_read(c, p, count >= 0 && count <= SPOT_FIT_TENSORS));
    if (p->way == PACK_READ) f->count = 0;
    for (int i = 0; i < count; i++) SPOT_TRY(pack_tensor(c, p, f, i));
    return SPOT_OK;
}

spot_status spot_recall(spot_ctx *c, spot_arena *a, const spot_store *s, spot_key k, const char *kind,
                        spot_pack_fn *pack, void *value, bool *found)
{
    spot_packer p = { .way = PACK_READ, .arena = a };
    unsigned char *stored;
    spot_status status;

    SPOT_TRY(spot_store_get(c, s, k, kind, &stored, &p.left, found));
    if (!*found) return SPOT_OK;
    p.at = stored;
    status = pack(c, &p, value);
    free(stored);
    if (status == SPOT_INPUT || (status == SPOT_OK && p.left)) {     /* whole, but from another build */
        spot_log(c, SPOT_LOG_WARN, "a stored %s does not hold what it should; it is computed again", kind);
        spot_forget(c);
        *found = false;
        return SPOT_OK;
    }
    return status;
}

spot_status spot_keep(spot_ctx *c, const spot_store *s, spot_key k, const char *kind, spot_pack_fn *pack, void *value)
{
    spot_packer count = { .way = PACK_COUNT }, write = { .way = PACK_WRITE };
    unsigned char *whole;
    spot_status status;

    SPOT_TRY(pack(c, &count, value));
    whole = malloc(count.n + 1);
    if (!whole) return spot_fail(c, SPOT_NOMEM, "no memory to keep a %s of %.1f MB", kind, count.n / 1e6);
    write.at = whole;
    status = pack(c, &write, value);
    if (status == SPOT_OK) status = spot_store_put(c, s, k, kind, whole, count.n);
    free(whole);
    return status;
}
