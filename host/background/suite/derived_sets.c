/* derived_sets.c - see derived_sets.h. */
#include "background/suite/derived_sets.h"

#include <stdlib.h>
#include <string.h>

#include "image/backdrop.h"
#include "spotter/rng.h"

enum { GREY = 128, OBJECT = 128, OWN = 1 << 16 };      /* OWN: an index that no derived set has */
static const float noise_sigma = 64, blur_share = 1.0f / 16;       /* deviation of the noise; sigma of the blur, of a side */

bool spot_set_is_in_place(int set)
{
    return set == SPOT_SET_NO_FG || set == SPOT_SET_ONLY_BG_B || set == SPOT_SET_ONLY_BG_T || set == SPOT_SET_NOISE_FG
        || set == SPOT_SET_NOISE_BG;
}

bool spot_set_is_blend(int set) { return set > SPOT_SET_ORIGINAL && set < SPOT_SET_SUITE && !spot_set_is_in_place(set); }

/* ---- donors ---- */

/* The targets [*from, *to) of a class; targets are sorted by class. */
static void class_range(const spot_background_suite *s, int cls, int *from, int *to)
{
    int low = 0, high = s->targets;

    while (low < high) {
        const int middle = (low + high) / 2;
        if (s->cls[middle] < cls) low = middle + 1;
        else high = middle;
    }
    for (*from = *to = low; *to < s->targets && s->cls[*to] == cls;) ++*to;
}

int spot_set_donor(const spot_background_suite *s, uint64_t seed, int t, int set)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_DONOR, (uint32_t)s->target_number[t], (uint32_t)set);
    int from = 0, to = s->targets;

    if (set == SPOT_SET_MIXED_SAME) class_range(s, s->cls[t], &from, &to);
    else if (set == SPOT_SET_MIXED_NEXT) {
        int next = s->cls[t];
        do {
            next = (next + 1) % s->classes;
            class_range(s, next, &from, &to);
        } while (from == to);
        if (next == s->cls[t]) return -1;
        return from + (int)spot_rng_below(&r, (uint32_t)(to - from));
    } else if (set != SPOT_SET_MIXED_RAND) return -1;
    if (to - from < 2) return -1;
    const int donor = from + (int)spot_rng_below(&r, (uint32_t)(to - from - 1));
    return donor >= t ? donor + 1 : donor;     /* never the target itself */
}

/* Each of the others is taken with the chance that is left for it. */
int spot_own_donors(const spot_background_suite *s, uint64_t seed, int t, int most, int *donor)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_DONOR, (uint32_t)s->target_number[t], OWN);
    int from, to, n = 0;

    class_range(s, s->cls[t], &from, &to);
    for (int d = from, left = to - from - 1; d < to && n < most; d++) {
        if (d == t) continue;
        if (left <= most - n || (int)spot_rng_below(&r, (uint32_t)left) < most - n) donor[n++] = d;
        left--;
    }
    return n;
}

/* ---- pictures ---- */

static spot_backdrop problem_of(const spot_set_picture *p, int size, uint64_t seed)
{
    spot_backdrop b = { .width = size, .height = size, .pictures = 1, .rgb = p->rgb, .mask = p->mask, .least = OBJECT,
                        .colour = { GREY, GREY, GREY }, .out = p->out };

    switch (p->set) {
    case SPOT_SET_ONLY_FG: b.kind = SPOT_BACKDROP_PLAIN, memset(b.colour, 0, 3); break;
    case SPOT_SET_NO_FG:   b.kind = SPOT_BACKDROP_CUT, memset(b.colour, 0, 3); break;
    case SPOT_SET_ONLY_BG_B: b.kind = SPOT_BACKDROP_BOX, memset(b.colour, 0, 3); break;
    case SPOT_SET_PLAIN:   b.kind = SPOT_BACKDROP_PLAIN; break;
    case SPOT_SET_NOISE:
        b.kind = SPOT_BACKDROP_NOISE, b.sigma = noise_sigma, b.seed.seed = seed, b.first = (uint32_t)p->number;
        break;
    case SPOT_SET_NOISE_FG: case SPOT_SET_NOISE_BG:
        b.kind = p->set == SPOT_SET_NOISE_FG ? SPOT_BACKDROP_NOISE_ON : SPOT_BACKDROP_NOISE_OFF;
        b.sigma = SPOT_NOISE_SIGMA, b.seed.seed = seed, b.first = (uint32_t)p->number;
        break;
    case SPOT_SET_BLURRED:
        b.kind = SPOT_BACKDROP_BLURRED, b.sigma = blur_share * (float)size;
        if (b.sigma > SPOT_BACKDROP_SIGMA) b.sigma = SPOT_BACKDROP_SIGMA;
        break;
    default: b.kind = SPOT_BACKDROP_TILED; break;
    }
    return b;
}

size_t spot_sets_scratch(int n, int size, int threads)
{
    spot_backdrop kind[SPOT_SET_SUITE];

    for (int set = 0; set < SPOT_SET_SUITE; set++) kind[set] = problem_of(&(spot_set_picture){ .set = set }, size, 0);
    return spot_arena_room(spot_backdrop_scratch(SPOT_SET_SUITE, kind, threads)) + spot_arena_room((size_t)n * 4 * sizeof(int));
}

spot_status spot_sets_make(spot_ctx *c, spot_arena *scratch, const spot_set_picture *p, int n, int size, uint64_t seed)
{
    spot_backdrop *b = malloc(((size_t)n + 1) * sizeof *b);
    const size_t mark = scratch->used;
    spot_status s = b ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d pictures of derived sets", n);
    int *box = NULL;

    if (s == SPOT_OK && n) s = SPOT_TAKE(c, scratch, box, (size_t)n * 4);
    for (int i = 0; i < n && s == SPOT_OK; i++) b[i] = problem_of(&p[i], size, seed), b[i].box = box + 4 * i;
    if (s == SPOT_OK && n) s = spot_backdrop_make(c, scratch, n, b);
    scratch->used = mark;
    free(b);
    return s;
}
