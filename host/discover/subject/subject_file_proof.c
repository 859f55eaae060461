/* subject_file_proof.c - reads the proofs of subject.safetensors. All numbers are checked before they are used. */
#include <string.h>

#include "core/pointer.h"
#include "discover/proof/proof_files.h"
#include "discover/subject/subject_file.h"
#include "discover/subject/subject_memory.h"

typedef struct {
    spot_ctx           *c;
    const spot_tensors *all;
    const char         *path;
    spot_subject       *s;
} subject_file_proof_reader;

/* The rest of each list, which is read from its front. */
typedef struct { int64_t proofs, pieces, members; double *fact, *piece; int64_t *seed; uint8_t *origin; } lists;

static spot_status damaged(const subject_file_proof_reader *r, const char *name)
{
    return spot_fail(r->c, SPOT_INPUT, "{subject.damaged} %s: \"%s\" has numbers out of range; it is damaged: run spotter "
                     "discover again", r->path, name);
}

/* A copy, since data in the file is not aligned. *rows -1: any number. */
static spot_status get(const subject_file_proof_reader *r, const char *name, spot_dtype type, int64_t *rows, int columns,
                       void *out)
{
    const spot_tensor *t = spot_tensors_find(r->all, name);
    void *own;

    if (!t || t->type != type || t->rank != (columns ? 2 : 1) || (columns && t->dim[1] != columns)
        || (*rows >= 0 && t->dim[0] != *rows)) return damaged(r, name);
    *rows = t->dim[0];
    SPOT_TRY(spot_subject_take(r->c, r->s, &own, t->bytes));
    if (t->bytes) memcpy(own, t->data, t->bytes);
    spot_pointer_put(out, own);
    return SPOT_OK;
}

static spot_status get_proof(const subject_file_proof_reader *r, lists *t, spot_slice *slice, int bdms)
{
    spot_proof *p;

    if (!t->proofs || slice->size > t->members) return damaged(r, "proofs");
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, r->s, p, 1));
    if (!spot_proof_of(p, t->fact, slice, r->s->classes) || p->pieces > t->pieces) return damaged(r, "proofs");
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, r->s, p->piece, p->pieces));
    for (int i = 0; i < p->pieces; i++)
        if (!spot_piece_of(&p->piece[i], t->piece + (size_t)i * SPOT_RECALL_PIECE, (uint64_t)t->seed[i], bdms))
            return damaged(r, "pieces");
    p->origin = t->origin;
    for (int i = 0; i < slice->size; i++)
        if (p->origin[i] < SPOT_ORIGIN_FOUND || p->origin[i] > SPOT_ORIGIN_BOTH) return damaged(r, "origins");
    slice->proof = p;
    t->proofs--;
    t->fact += SPOT_RECALL_PROOF;
    t->pieces -= p->pieces;
    t->piece += (size_t)p->pieces * SPOT_RECALL_PIECE;
    t->seed += p->pieces;
    t->members -= slice->size;
    t->origin += slice->size;
    return SPOT_OK;
}

static spot_status get_options(const subject_file_proof_reader *r, spot_discover_options *o)
{
    int64_t n = SPOT_RECALL_CHOSEN, m = SPOT_RECALL_SHARES, *chosen;
    spot_proof_options *p;
    double *shares;

    SPOT_TRY(get(r, "proof", SPOT_I64, &n, 0, &chosen));
    SPOT_TRY(get(r, "proof_shares", SPOT_F64, &m, 0, &shares));
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, r->s, p, 1));
    if (!spot_proof_options_of(p, chosen, shares)) return damaged(r, "proof");
    o->proof = p;
    return SPOT_OK;
}

/* Slices of a cause are confirmed and taken for the same class as its first one. */
static bool may_have_cause(const spot_findings *f, const spot_proof *p)
{
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            const spot_proof *first = f->finding[i].slice[k].proof;
            if (first->cause != p->cause) continue;
            return p->claim == SPOT_CLAIM_CONFIRMED && p->predicted >= 0 && p->predicted == first->predicted;
        }
    return false;
}

static spot_status get_causes(const subject_file_proof_reader *r, spot_findings *f)
{
    int64_t slices = 0;
    int32_t *cause;

    if (!spot_tensors_find(r->all, "causes")) return SPOT_OK;
    for (int i = 0; i < f->count; i++) slices += f->finding[i].slices;
    SPOT_TRY(get(r, "causes", SPOT_I32, &slices, 0, &cause));
    for (int64_t i = 0; i < slices; i++)
        if (cause[i] < 0 || cause[i] > slices / 2) return damaged(r, "causes");
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) f->finding[i].slice[k].proof->cause = *cause++;
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++)
            if (f->finding[i].slice[k].proof->cause && !may_have_cause(f, f->finding[i].slice[k].proof))
                return damaged(r, "causes");
    return SPOT_OK;
}

static spot_status get_judged_groups(const subject_file_proof_reader *r, spot_findings *f)
{
    int64_t slices = 0, all = 0;
    double *slice, *piece;

    if (!spot_tensors_find(r->all, "judged_groups")) return SPOT_OK;
    for (int i = 0; i < f->count; i++) {
        slices += f->finding[i].slices;
        for (int k = 0; k < f->finding[i].slices; k++) all += 2 + f->finding[i].slice[k].proof->pieces;
    }
    SPOT_TRY(get(r, "judged_groups", SPOT_F64, &all, 0, &slice));
    for (int64_t i = 0; i < all; i++)
        if (!(slice[i] >= 0 && slice[i] <= (i < 2 * slices && i % 2 ? 1 : r->s->groups))) return damaged(r, "judged_groups");
    piece = slice + 2 * slices;
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            spot_proof *p = f->finding[i].slice[k].proof;
            p->groups = (int)*slice++;
            p->least_p = *slice++;
            for (int j = 0; j < p->pieces; j++) p->piece[j].groups = (int)*piece++;
        }
    return SPOT_OK;
}

spot_status spot_recall_proofs(spot_ctx *c, const spot_tensors *all, const char *path, spot_subject *s, spot_findings *f,
                               spot_discover_options *o)
{
    const subject_file_proof_reader r = { c, all, path, s };
    lists t = { .proofs = -1, .pieces = -1, .members = -1 };

    if (!spot_tensors_find(all, "proof")) return SPOT_OK;
    SPOT_TRY(get_options(&r, o));
    SPOT_TRY(get(&r, "proofs", SPOT_F64, &t.proofs, SPOT_RECALL_PROOF, &t.fact));
    SPOT_TRY(get(&r, "pieces", SPOT_F64, &t.pieces, SPOT_RECALL_PIECE, &t.piece));
    SPOT_TRY(get(&r, "piece_seeds", SPOT_I64, &t.pieces, 0, &t.seed));
    SPOT_TRY(get(&r, "origins", SPOT_U8, &t.members, 0, &t.origin));
    for (int i = 0; i < f->count; i++) {
        f->finding[i].merged = true;
        for (int k = 0; k < f->finding[i].slices; k++) SPOT_TRY(get_proof(&r, &t, &f->finding[i].slice[k], o->bdms));
    }
    if (t.proofs || t.pieces || t.members) return damaged(&r, "proofs");
    SPOT_TRY(get_judged_groups(&r, f));
    return get_causes(&r, f);
}
