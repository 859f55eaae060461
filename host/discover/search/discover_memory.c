/* discover_memory.c - the most memory that spot_discover takes, with the subject's arrays. One step follows another: searches,
 * of a part of the rows each where there is a proof, then what makes one list of their slices, then the suspect labels. */
#include <stdbool.h>
#include <stdlib.h>

#include "core/device.h"
#include "discover/describe/suspect_labels.h"
#include "discover/proof/judge.h"

/* Adds the searches of these classes, one group after another, and the findings of all; `held` is there meanwhile. */
static spot_status add_searches(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, const spot_candidate *list,
                                int count, size_t held, spot_bytes *most)
{
    const size_t results = spot_findings_bytes(s, o, list, count);
    spot_status how = SPOT_OK;

    for (int i = 0, together = 0; i < count && how == SPOT_OK; i += together) {
        spot_bytes needs;
        how = spot_group_fit(c, s, o, list + i, count - i, results, &together, &needs);
        needs.host += results + held;
        *most = spot_bytes_larger(*most, needs);
    }
    return how;
}

/* ---- the searches of a proof ---- */

typedef struct {
    spot_ctx *c;
    const spot_subject *s;
    const spot_discover_options *o;
    const spot_candidate *from;
    int     (*rows)[2];                    /* (all candidates): in each part */
    spot_candidate *list;                  /* (all candidates): those of a part */
} proof_plan;

/* All rows beside the classes. */
static bool is_across(const proof_plan *p, int i) { return p->from[i].cls < 0 && spot_crosses_classes(p->s, p->o); }

/* The search of n classes of a part, with `rows` rows in all: they are copied, and nothing new is fitted to them. */
static spot_status add_part(const proof_plan *p, int n, int rows, size_t held, spot_bytes *most)
{
    spot_subject part = *p->s;
    spot_discover_options o = *p->o;

    part.n = rows, part.id = NULL, part.image = NULL, part.group = NULL;
    o.proof = NULL, o.fit = false, o.neighbours = 0;
    if (o.memory) o.memory = o.memory > spot_subject_bytes(p->s) ? o.memory - spot_subject_bytes(p->s) : 1;
    return n ? add_searches(p->c, &part, &o, p->list, n, held + spot_proof_subject_bytes(p->s, p->o, rows), most) : SPOT_OK;
}

/* Adds, in one part, the candidates from `first` to before `end`, then all rows beside them, if that is one of these. */
static spot_status add_part_of(proof_plan *p, int q, int first, int end, size_t held, spot_bytes *most)
{
    const int across = end - is_across(p, end - 1);
    int n = 0, rows = 0;

    for (int i = first; i < across; i++) {
        if (!p->rows[i][q]) continue;
        p->list[n] = p->from[i];
        p->list[n++].n = p->rows[i][q];
        rows += p->s->n - rows < p->rows[i][q] ? p->s->n - rows : p->rows[i][q];       /* a row may be of several classes */
    }
    SPOT_TRY(add_part(p, n, rows, held, most));
    if (across == end) return SPOT_OK;
    rows = p->rows[across][q] < SPOT_FINDERS ? p->rows[across][q] : SPOT_FINDERS;
    p->list[0] = p->from[across];
    p->list[0].n = rows;
    return add_part(p, rows > 0, rows, held, most);
}

/* Rows of a class, or of the sample of all rows, in the part that has more. */
static int most_finders(const proof_plan *p, int first, int end)
{
    int most = 0;

    for (int i = first; i < end; i++) {
        const int more = p->rows[i][0] > p->rows[i][1] ? p->rows[i][0] : p->rows[i][1];
        const int rows = is_across(p, i) && more > SPOT_FINDERS ? SPOT_FINDERS : more;
        most = rows > most ? rows : most;
    }
    return most;
}

/* Bytes of a proof of these candidates, beside the subject. */
static size_t proof_bytes(const proof_plan *p, int first, int end)
{
    return spot_proof_bytes(p->c, p->s, p->o, p->from + first, end - first, most_finders(p, first, end));
}

static spot_status add_proof(proof_plan *p, spot_examined of, size_t results, spot_bytes *most)
{
    const size_t rows = spot_subject_bytes(p->s), chance = p->o->proof->chance ? spot_proof_chance_bytes(p->s) : 0;
    const size_t corrects = spot_proof_correct_bytes(p->c, p->s, p->o, of.list, of.count);

    SPOT_TRY(spot_proof_part_rows(p->c, p->s, p->o, of.list, of.count, p->rows));
    for (int first = 0; first < of.count && of.list->wrong; first += of.at_once) {
        const int end = first + of.at_once < of.count ? first + of.at_once : of.count;
        const size_t held = rows + chance + proof_bytes(p, first, end);
        for (int q = 0; q < p->o->proof->parts; q++) SPOT_TRY(add_part_of(p, q, first, end, held, most));
    }
    *most = spot_bytes_larger(*most, (spot_bytes){ rows + proof_bytes(p, 0, of.count)
                                                   + (corrects > results ? corrects : results), 0 });
    return SPOT_OK;
}

static spot_status plan_proof(proof_plan *p, spot_examined of, size_t results, spot_bytes *most)
{
    spot_status how;

    p->rows = calloc((size_t)of.count, sizeof *p->rows);
    p->list = malloc((size_t)of.count * sizeof *p->list);
    how = p->rows && p->list ? add_proof(p, of, results, most)
        : spot_fail(p->c, SPOT_NOMEM, "no memory for %d classes", of.count);
    free(p->rows);
    free(p->list);
    return how;
}

/* ---- all ---- */

spot_status spot_discover_needs(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, spot_examined of,
                                spot_bytes *most)
{
    const size_t rows = spot_subject_bytes(s), results = spot_findings_bytes(s, o, of.list, of.count);
    proof_plan p = { .c = c, .s = s, .o = o, .from = of.list };
    const spot_status how = o->proof ? plan_proof(&p, of, results, most)
                                     : add_searches(c, s, o, of.list, of.count, rows, most);

    *most = spot_bytes_larger(*most, (spot_bytes){ rows + results + spot_suspects_bytes(c, s), 0 });
    return how;
}
