/* background_pictures.c - see background_pictures.h: the run's suite over the folders as they are now. */
#include "spotter/background_pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/look/background_look.h"

#define MOST_SQUARES ((size_t)64 << 20)        /* bytes of decoded pictures */

struct spot_background_pictures {
    spot_background_config *cfg;               /* a copy, without derived sets */
    spot_background_inputs in;
    spot_background_suite suite;               /* the run's arrays, but numbers of now */
    int *target, *background;                  /* numbers among the files of now; -1: not looked for, or gone */
    spot_background_look look;
    bool moved;                                /* some file has another number than in the run */
};

/* The number of a file. Most have the one that they had in the run. */
static int find_name(char *const *name, int n, const char *wanted, int number)
{
    if (number < n && !strcmp(name[number], wanted)) return number;
    for (int i = 0; i < n; i++)
        if (!strcmp(name[i], wanted)) return i;
    return -1;
}

static spot_status copy_suite(spot_ctx *c, spot_background_pictures *p, const spot_background_suite *s)
{
    const size_t targets = (size_t)s->targets, backgrounds = (size_t)s->backgrounds;

    p->suite = *s;
    p->target = p->suite.target_number = malloc((targets + 1) * sizeof *p->target);
    p->background = p->suite.background_number = malloc((backgrounds + 1) * sizeof *p->background);
    if (!p->target || !p->background) return spot_fail(c, SPOT_NOMEM, "no memory for the numbers of %zu pictures", targets);
    for (size_t t = 0; t < targets; t++) {
        const int number = s->target_number[t];
        p->target[t] = number < p->in.pictures && !strcmp(p->in.name[number], s->target[t]) ? number : -1;
        p->moved |= p->target[t] < 0;
    }
    for (size_t b = 0; b < backgrounds; b++) {
        const int number = s->background_number[b];
        p->background[b] = number < p->in.backgrounds && !strcmp(p->in.back_name[number], s->background[b]) ? number : -1;
    }
    return SPOT_OK;
}

/* A run may have been started in another directory than the present one. */
static spot_status open_inputs(spot_ctx *c, spot_background_pictures *p)
{
    const spot_status s = spot_background_inputs_open(c, &p->in, p->cfg);

    if (s != SPOT_IO || p->cfg->data.images[0] == '/') return s;
    return spot_fail(c, s, "%.600s; the paths of the run begin at the directory in which it was started",
                     spot_take_message(c, s));
}

static spot_status check_inputs(spot_ctx *c, spot_background_pictures *p, const spot_background_results *r)
{
    SPOT_TRY(spot_background_hash(c, &p->in, NULL));
    if (!strcmp(p->in.key, r->suite->inputs)) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{pictures.other} %.300s and %.300s do not hold the files that the run saw; "
                     "--other-pictures shows what lies there now", p->cfg->data.images, p->cfg->data.backgrounds);
}

spot_status spot_background_pictures_open(spot_ctx *c, spot_background_pictures **out, const spot_background_results *r,
                                          bool other)
{
    spot_background_pictures *p = calloc(1, sizeof *p);
    spot_status s;

    *out = NULL;
    if (p) p->cfg = malloc(sizeof *p->cfg);
    if (!p || !p->cfg) return free(p), spot_fail(c, SPOT_NOMEM, "no memory for the pictures of a run");
    *p->cfg = *r->cfg;
    p->cfg->measure.own = 0;
    s = open_inputs(c, p);
    if (s == SPOT_OK && !other) s = check_inputs(c, p, r);
    if (s == SPOT_OK) s = spot_background_squares(c, &p->in, MOST_SQUARES, 8, r->suite->n + 1);
    if (s == SPOT_OK) s = copy_suite(c, p, r->suite);
    p->look = (spot_background_look){ .in = &p->in, .suite = &p->suite, .cfg = p->cfg };
    if (s == SPOT_OK) *out = p;
    else spot_background_pictures_close(p);
    return s;
}

void spot_background_pictures_close(spot_background_pictures *p)
{
    if (!p) return;
    spot_background_inputs_close(&p->in);
    free(p->target), free(p->background), free(p->cfg);
    free(p);
}

static spot_status need_target(spot_ctx *c, spot_background_pictures *p, int t)
{
    if (p->target[t] < 0) p->target[t] = find_name(p->in.name, p->in.pictures, p->suite.target[t], 0);
    if (p->target[t] >= 0) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{pictures.gone} %s is no longer in %s", p->suite.target[t], p->cfg->data.images);
}

static spot_status need_background(spot_ctx *c, spot_background_pictures *p, int target, int image)
{
    const int b = p->suite.chosen[(size_t)target * (size_t)p->suite.n + (size_t)image - 1];

    if (p->background[b] < 0) p->background[b] = find_name(p->in.back_name, p->in.backgrounds, p->suite.background[b], 0);
    if (p->background[b] >= 0) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{pictures.gone} %s is no longer in %s", p->suite.background[b], p->cfg->data.backgrounds);
}

spot_status spot_background_picture(spot_ctx *c, spot_background_pictures *p, uint8_t *rgb, int target, int image)
{
    const int n = p->suite.n;

    if (target < 0 || target >= p->suite.targets || image < 0 || image > n + SPOT_BACKGROUND_SETS)
        return spot_fail(c, SPOT_INVALID, "{pictures.number} picture %d of target %d of %d", image, target, p->suite.targets);
    SPOT_TRY(need_target(c, p, target));
    if (image && image <= n) SPOT_TRY(need_background(c, p, target, image));
    if (image > n && p->moved)
        return spot_fail(c, SPOT_INPUT, "{pictures.changed} %s holds other files than the run saw: the derived sets would have "
                         "other donors", p->cfg->data.images);
    p->cfg->measure.sets = image > n;          /* else a target needs no donors */
    return spot_look_picture(c, &p->look, rgb, target, image);
}

spot_status spot_background_behind(spot_ctx *c, spot_background_pictures *p, uint8_t *rgb, int target, int image)
{
    const int size = p->cfg->data.size;

    if (target < 0 || target >= p->suite.targets || image < 1 || image > p->suite.n)
        return spot_fail(c, SPOT_INVALID, "background %d of target %d", image, target);
    SPOT_TRY(need_background(c, p, target, image));
    const int number = p->background[p->suite.chosen[(size_t)target * (size_t)p->suite.n + (size_t)image - 1]];
    SPOT_TRY(spot_squares_need(c, &p->in.background, &number, 1));
    memcpy(rgb, spot_square_rgb(&p->in.background, number), 3 * (size_t)size * (size_t)size);
    return SPOT_OK;
}
