/* examine_program.c - see examine_program.h. */
#include "examine/examine_program.h"

#include <stdlib.h>

#include "core/device.h"
#include "examine/examine_search.h"
#include "models/foreign_model.h"

static const char *program_of(const spot_examine_source *from)
{
    return spot_program_text(from->model->weights, from->model->command);
}

bool spot_examine_is_nameless(const spot_examine_source *from)
{
    return !from->options->function && *program_of(from) && !from->model->identity[0];
}

bool spot_examine_is_program(spot_ctx *c, spot_known_program *k, const spot_examine_source *from, int side, const char *dir,
                             const char *identity)
{
    const spot_predictor_options o = { .kind = SPOT_PREDICTOR_COMMAND, .command = program_of(from), .side = side,
                                       .input = from->model->input };
    spot_predictor *p;

    if (!spot_examine_is_nameless(from)) return true;
    if (!k->asked) {
        k->asked = true;
        if (spot_predictor_open(c, &p, &o)) return false;
        if (spot_kept_recall(c, k, p, dir, from->model->name)) k->n = 0;
        spot_predictor_close(c, p);
    }
    return spot_known_has(k, identity);
}

/* Objects whose meshes can be read, one random view of each, as the search shows them. Returns how many. */
static int choose_shots(spot_ctx *c, spot_examine_shot *shot, int most, const spot_examine_viewer *v)
{
    spot_examine_objects_list *o = v->look->drawer.objects;
    const int entries = o->list.entries, tries = entries < most ? entries : most;
    int n = 0;

    for (int i = 0; i < tries; i++) {
        const int entry = (int)((long long)i * entries / tries);
        const uint32_t number = spot_examine_number(o->list.entry[entry].id);
        const spot_conditions own = spot_examine_fixed(o->cfg, v->space, v->fixed, number);
        const spot_conditions at = spot_examine_chance(v->space, &own, o->cfg->search.seed, number, 0);
        if (spot_examine_mesh(c, o, entry)) spot_forget(c);
        else shot[n++] = (spot_examine_shot){ entry, number, at };
    }
    return n;
}

static spot_status keep_answers(spot_ctx *c, spot_known_program *k, const spot_examine_viewer *v, const char *dir)
{
    spot_examine_drawer *d = &v->look->drawer;
    const int side = d->settings.size, most = spot_kept_most(side);
    const size_t each = 3 * (size_t)side * (size_t)side;
    spot_examine_shot *shot = malloc((size_t)most * sizeof *shot);
    uint8_t *rgb = malloc((size_t)most * each);
    spot_status s = shot && rgb ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d renders", most);

    if (s == SPOT_OK) {
        const int n = choose_shots(c, shot, most < d->most ? most : d->most, v);
        if (n) s = spot_examine_draw(c, d, shot, n);
        if (n && s == SPOT_OK) s = spot_device_copy(c, rgb, d->rgb, (size_t)n * each);
        if (s == SPOT_OK) s = spot_kept_begin(c, k, v->look->predictor, dir, rgb, n);
    }
    free(shot), free(rgb);
    return s;
}

spot_status spot_examine_know(spot_ctx *c, spot_known_program *k, const spot_examine_viewer *v, const spot_examine_source *from,
                              const char *dir)
{
    if (!spot_examine_is_nameless(from)) return SPOT_OK;
    SPOT_TRY(spot_kept_recall(c, k, v->look->predictor, dir, from->model->name));
    return k->n ? SPOT_OK : keep_answers(c, k, v, dir);
}
