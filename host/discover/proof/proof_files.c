/* proof_files.c - see proof_files.h. */
#include "discover/proof/proof_files.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

const char *spot_proof_methods(char *text, size_t size, const spot_proof *p, const spot_discover_options *o)
{
    size_t used = 0;

    *text = 0;
    for (int i = 0; i < p->pieces; i++) {
        char name[80];
        int k = 0;
        while (k < i && p->piece[k].bdm != p->piece[i].bdm) k++;
        if (k < i) continue;
        spot_bdm_name(&o->bdm[p->piece[i].bdm], name, sizeof name);
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "+" : "", name);
        if (used >= size) break;
    }
    return text;
}

/* ---- JSON ---- */

void spot_put_proof_options(spot_json *j, const spot_proof_options *p, const spot_findings *f)
{
    int tests = 0, claims[3] = { 0, 0, 0 };

    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            const spot_proof *q = f->finding[i].slice[k].proof;
            if (!q) continue;
            tests = q->tests;
            claims[q->claim]++;
        }
    spot_json_object(j, "proof");
    spot_json_put_int(j, "parts", p->parts);
    spot_json_put_real(j, "holdout", p->parts == 1 ? p->holdout : 0.5);
    spot_json_put_int(j, "neighbours", p->neighbours);
    spot_json_put_int(j, "chance_searches", p->chance);
    spot_json_put_real(j, "level", p->level);
    spot_json_put_real(j, "same", p->same);
    spot_json_put_number(j, "seed", "%" PRIu64, p->seed);
    spot_json_put_text(j, "map", "principal components of all rows of each class: no method's map");
    spot_json_put_int(j, "tests", tests);
    for (int k = SPOT_CLAIM_CONFIRMED; k >= SPOT_CLAIM_CHANCE; k--)
        spot_json_put_int(j, spot_claim_name((spot_claim)k), claims[k]);
    spot_json_end(j);
}

/* ---- numbers ---- */

void spot_proof_numbers(double v[SPOT_RECALL_PROOF], const spot_proof *p)
{
    const double all[SPOT_RECALL_PROOF] = { p->claim, p->p, p->judged, p->wrong, p->class_rate, p->excess.value, p->excess.low,
                                            p->excess.high, p->shrunk, p->cell, p->predicted, p->predicted_share, p->pieces,
                                            p->tests };

    memcpy(v, all, sizeof all);
}

void spot_piece_numbers(double v[SPOT_RECALL_PIECE], const spot_piece *p)
{
    const double all[SPOT_RECALL_PIECE] = { p->bdm, p->part, p->rank, p->found, p->found_wrong, p->judged, p->wrong, p->base,
                                            p->p, p->corrected };

    memcpy(v, all, sizeof all);
}

static bool within(double v, double least, double most) { return v >= least && v <= most; }      /* false for NaN */
static bool whole(double v, double least, double most) { return within(v, least, most) && v == floor(v); }

bool spot_proof_of(spot_proof *p, const double v[SPOT_RECALL_PROOF], const spot_slice *slice, int classes)
{
    if (!whole(v[0], SPOT_CLAIM_CHANCE, SPOT_CLAIM_CONFIRMED) || !within(v[1], 0, 1) || !whole(v[2], 1, slice->size)
        || !whole(v[3], 0, v[2]) || !within(v[4], 0, 1) || !within(v[5], -1, 1) || !within(v[6], -2, v[5] + 1e-9)
        || !within(v[7], v[5] - 1e-9, 2) || !within(v[8], -1, 1) || !(isnan(v[9]) || within(v[9], 0, 1 + 1e-6))
        || !whole(v[10], -1, classes - 1) || !(isnan(v[11]) || within(v[11], 0, 1)) || !whole(v[12], 1, INT_MAX)
        || !whole(v[13], v[12], INT_MAX)) return false;
    *p = (spot_proof){ .claim = (spot_claim)v[0], .p = v[1], .judged = (int)v[2], .wrong = (int)v[3], .class_rate = v[4],
                       .excess = { v[5], v[6], v[7] }, .shrunk = v[8], .cell = v[9], .predicted = (int)v[10],
                       .predicted_share = v[11], .pieces = (int)v[12], .tests = (int)v[13] };
    return true;
}

bool spot_piece_of(spot_piece *p, const double v[SPOT_RECALL_PIECE], uint64_t seed, int bdms)
{
    if (!whole(v[0], 0, bdms - 1) || !whole(v[1], 0, 1) || !whole(v[2], 1, SPOT_MAX_HYPOTHESES) || !whole(v[3], 0, INT_MAX)
        || !whole(v[4], 0, v[3]) || !whole(v[5], 1, INT_MAX) || !whole(v[6], 0, v[5]) || !within(v[7], 0, v[5] + 1e-6)
        || !within(v[8], 0, 1) || !within(v[9], 0, 1)) return false;
    *p = (spot_piece){ .bdm = (int)v[0], .part = (int)v[1], .seed = seed, .rank = (int)v[2], .found = (int)v[3],
                       .found_wrong = (int)v[4], .judged = (int)v[5], .wrong = (int)v[6], .base = v[7], .p = v[8],
                       .corrected = v[9] };
    return true;
}

void spot_proof_options_numbers(int64_t chosen[SPOT_RECALL_CHOSEN], double shares[SPOT_RECALL_SHARES],
                                const spot_proof_options *p)
{
    const int64_t all[SPOT_RECALL_CHOSEN] = { p->parts, p->neighbours, p->chance, (int64_t)p->seed };

    memcpy(chosen, all, sizeof all);
    memcpy(shares, (double[]){ p->holdout, p->level, p->same }, SPOT_RECALL_SHARES * sizeof *shares);
}

bool spot_proof_options_of(spot_proof_options *p, const int64_t chosen[SPOT_RECALL_CHOSEN],
                           const double shares[SPOT_RECALL_SHARES])
{
    for (int i = 0; i < 3; i++) if (chosen[i] < 0 || chosen[i] > INT_MAX || !within(shares[i], 0, 1)) return false;
    if (chosen[0] < 1 || chosen[0] > 2 || chosen[1] % 2 == 0) return false;
    *p = (spot_proof_options){ .parts = (int)chosen[0], .neighbours = (int)chosen[1], .chance = (int)chosen[2],
                               .seed = (uint64_t)chosen[3], .holdout = shares[0], .level = shares[1], .same = shares[2] };
    return true;
}
