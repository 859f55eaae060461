/* attribute_rows.c - see attribute_rows.h. */
#include "discover/subject/attribute_rows.h"

bool spot_by_table(const spot_discover_options *o, int b)
{
    return o->attributes && o->bdm[b].representation == SPOT_BY_ATTRIBUTES;
}

int spot_method_width(const spot_subject *s, const spot_discover_options *o, int b)
{
    return spot_by_table(o, b) ? o->attributes->items : s->d;
}

spot_status spot_attribute_view(spot_ctx *c, spot_arena *a, spot_view *v, const spot_attributes *t, const spot_view *of)
{
    const int d = t->items;

    *v = *of;
    v->d = d;
    v->head = v->device_feature = NULL;
    SPOT_TRY(SPOT_TAKE(c, a, v->feature, (size_t)of->n * (size_t)d));
    if (a->counting) return SPOT_OK;
    for (int k = 0; k < t->items; k++) {
        const uint64_t *bit = t->bit + (size_t)k * t->words;
        for (int i = 0; i < of->n; i++)
            v->feature[(size_t)i * (size_t)d + (size_t)k] = (float)(bit[of->image[i] / 64] >> of->image[i] % 64 & 1);
    }
    return SPOT_OK;
}

/* Without a table the features may be the attributes. */
static spot_status check_features(spot_ctx *c, const spot_subject *s, const spot_bdm_config *cfg)
{
    const size_t d = (size_t)s->d, all = (size_t)s->n * d;
    char name[80];

    if (cfg->method != SPOT_ITEMSETS)
        return spot_fail(c, SPOT_USAGE, "%s looks at attributes, and there is no table of them; give one: "
                         "--attributes FILE.csv", spot_bdm_name(cfg, name, sizeof name));
    for (size_t e = 0; s->feature && e < all; e++)
        if (s->feature[e] != 0 && s->feature[e] != 1)
            return spot_fail(c, SPOT_USAGE, "%s looks at columns of 0 and 1, and column %zu of row %zu of the embeddings is "
                             "%g; give a table of attributes: --attributes FILE.csv", spot_bdm_name(cfg, name, sizeof name),
                             e % d, e / d, s->feature[e]);
    return SPOT_OK;
}

spot_status spot_attribute_check(spot_ctx *c, const spot_subject *s, const spot_discover_options *o)
{
    if (o->attributes && o->attributes->rows != s->n)
        return spot_fail(c, SPOT_INVALID, "discover: attributes of %d rows for %d rows", o->attributes->rows, s->n);
    for (int b = 0; b < o->bdms && !o->attributes; b++)
        if (o->bdm[b].representation == SPOT_BY_ATTRIBUTES) SPOT_TRY(check_features(c, s, &o->bdm[b]));
    return SPOT_OK;
}
