/* examine_choose.c - see examine_choose.h. */
#include "examine/examine_choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examine/examine_search.h"

spot_status spot_examine_start(spot_ctx *c, spot_examine_first_look *first, const spot_examine_viewer *v, int entry, int n)
{
    const spot_examine_config *cfg = v->look->drawer.objects->cfg;
    const uint32_t number = spot_examine_number(v->look->drawer.objects->list.entry[entry].id);
    const spot_conditions own = spot_examine_fixed(cfg, v->space, v->fixed, number);
    spot_examine_shot *shot = malloc((size_t)n * sizeof *shot);
    spot_examine_seen *seen = malloc((size_t)n * sizeof *seen);
    spot_status s = shot && seen ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d renders", n);
    double sum = 0;

    for (int i = 0; s == SPOT_OK && i < n; i++)
        shot[i] = (spot_examine_shot){ entry, number, spot_examine_chance(v->space, &own, cfg->search.seed, number, i) };
    if (s == SPOT_OK) s = spot_examine_look(c, v->look, shot, n, seen);
    for (int i = 0; s == SPOT_OK && i < n; i++) sum += seen[i].p;
    first->mean = sum / n;
    first->usual = 0;
    for (int i = 1; s == SPOT_OK && i < n; i++)
        if (fabs(seen[i].p - first->mean) < fabs(seen[first->usual].p - first->mean)) first->usual = i;
    for (int i = 0; s == SPOT_OK && first->answer && i < n; i++)
        first->answer[i] = seen[i].valid ? seen[i].answer : SPOT_ANSWER_NOT_VALID;
    free(shot), free(seen);
    return s;
}

/* ---- the best ones ---- */

/* p of the held-out objects of every class, one behind the other; -1: its mesh cannot be read. */
static spot_status look_at_held_out(spot_ctx *c, double *p, const spot_examine_viewer *v)
{
    spot_examine_objects_list *o = v->look->drawer.objects;
    spot_examine_first_look first = { .answer = NULL };
    int n = 0, all = 0;

    for (int k = 0; k < o->list.classes; k++) all += o->held[k];
    for (int k = 0; k < o->list.classes; k++)
        for (int i = o->first[k]; i < o->first[k] + o->held[k]; i++, n++) {
            spot_status s = spot_examine_mesh(c, o, i);
            if (spot_examine_may_leave(c, s)) {
                spot_log(c, SPOT_LOG_WARN, "%s; this object is not examined", spot_take_message(c, s));
                p[n] = -1;
                continue;
            }
            if (s == SPOT_OK) s = spot_examine_start(c, &first, v, i, o->cfg->objects.views);
            SPOT_TRY(s);
            p[n] = first.mean;
            spot_tell(c, "examine: best objects", -1, n + 1, all, "");
        }
    return SPOT_OK;
}

static spot_key key_of_held_out(const spot_examine_objects_list *o, const char *hash, const char *config)
{
    spot_key k = spot_key_join(spot_key_of(hash, strlen(hash)), "held out", config, strlen(config));

    for (int c = 0; c < o->list.classes; c++)
        for (int i = o->first[c]; i < o->first[c] + o->held[c]; i++)
            k = spot_key_join(k, o->list.cls[c], o->list.entry[i].id, strlen(o->list.entry[i].id));
    return k;
}

static spot_status recall_held_out(spot_ctx *c, double *p, int n, const spot_examine_viewer *v, const char *hash,
                                   const spot_store *store)
{
    unsigned char *bytes = NULL;
    char config[33];
    bool found;
    size_t size;

    spot_key_text(config, spot_examine_key(v->look->drawer.objects->cfg));
    const spot_key key = key_of_held_out(v->look->drawer.objects, hash, config);
    SPOT_TRY(spot_store_get(c, store, key, "objects", &bytes, &size, &found));
    found = found && size == (size_t)n * sizeof *p;
    if (found) memcpy(p, bytes, size);
    free(bytes);
    if (found) return SPOT_OK;
    SPOT_TRY(look_at_held_out(c, p, v));
    return spot_store_put(c, store, key, "objects", p, (size_t)n * sizeof *p);
}

/* The greatest p first, of equal ones the first entry; each becomes -1 when it is taken. */
static spot_status pick_best(spot_ctx *c, int *entry, double *p, const spot_examine_objects_list *o)
{
    const int each = o->cfg->objects.per_class;

    for (int k = 0, at = 0; k < o->list.classes; at += o->held[k++])
        for (int j = 0; j < each; j++) {
            int best = 0;
            for (int i = 1; i < o->held[k]; i++)
                if (p[at + i] > p[at + best]) best = i;
            if (p[at + best] < 0)
                return spot_fail(c, SPOT_INPUT, "%d objects of each class are examined, and fewer held-out ones of class "
                                 "\"%s\" can be read", each, o->list.cls[k]);
            p[at + best] = -1;
            *entry++ = o->first[k] + best;
        }
    return SPOT_OK;
}

static spot_status choose_best(spot_ctx *c, int *entry, const spot_examine_viewer *v, const char *hash, const spot_store *store)
{
    const spot_examine_objects_list *o = v->look->drawer.objects;
    int n = 0;

    for (int k = 0; k < o->list.classes; k++) n += o->held[k];
    double *p = malloc(((size_t)n + 1) * sizeof *p);
    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for %d objects", n);
    spot_status s = recall_held_out(c, p, n, v, hash, store);
    if (s == SPOT_OK) s = pick_best(c, entry, p, o);
    free(p);
    return s;
}

spot_status spot_examine_choose(spot_ctx *c, int *entry, const spot_examine_viewer *v, const spot_examine_model *m,
                                const char *hash, const spot_store *store)
{
    const spot_examine_objects_list *o = v->look->drawer.objects;

    if (o->cfg->objects.choice == SPOT_OBJECTS_BEST) return choose_best(c, entry, v, hash, store);
    for (int k = 0; k < o->list.classes; k++) {
        int from = o->first[k], n;
        if (o->cfg->objects.choice == SPOT_OBJECTS_TRAINED) spot_examine_learned(o, m, k, &from, &n);
        for (int j = 0; j < o->cfg->objects.per_class; j++) *entry++ = from + j;
    }
    return SPOT_OK;
}
