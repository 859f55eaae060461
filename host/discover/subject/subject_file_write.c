/* subject_file_write.c - writes subject.safetensors: see subject_file.h. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>

#include "core/pointer.h"
#include "discover/proof/proof_files.h"
#include "discover/subject/subject_file.h"
#include "discover/subject/subject_memory.h"
#include "formats/safetensors.h"

enum { FIXED = 50, NAME = 24 };        /* tensors beside the maps; bytes of a map's name */

typedef struct {
    spot_ctx    *c;
    spot_subject keep;                 /* only owns memory (subject_memory.h) */
    spot_tensor *tensor;
    int          count, maps;
    char       (*map_name)[NAME];
} recorder;

static void borrow(recorder *w, const char *name, spot_dtype type, size_t rows, int columns, const void *data)
{
    w->tensor[w->count++] = spot_tensor_of(name, type, rows, columns, data);
}

static spot_status add(recorder *w, const char *name, spot_dtype type, size_t rows, int columns, void *data)
{
    void *own;

    SPOT_TRY(spot_subject_take(w->c, &w->keep, &own, rows * (size_t)(columns ? columns : 1) * spot_dtype_size(type)));
    borrow(w, name, type, rows, columns, own);
    spot_pointer_put(data, own);
    return SPOT_OK;
}

static spot_status add_text(recorder *w, const char *name, const char *from)
{
    const size_t bytes = strlen(from) + 1;
    char *text;

    SPOT_TRY(add(w, name, SPOT_U8, bytes, 0, &text));
    memcpy(text, from, bytes);
    return SPOT_OK;
}

static spot_status add_words(recorder *w, const char *name, char *const *word, int n)
{
    size_t bytes = 0;
    char *text;

    for (int i = 0; i < n; i++) bytes += (word[i] ? strlen(word[i]) : 0) + 1;
    SPOT_TRY(add(w, name, SPOT_U8, bytes, 0, &text));
    for (int i = 0; i < n; i++) text = stpcpy(text, word[i] ? word[i] : "") + 1;
    return SPOT_OK;
}

/* ---- the subject ---- */

static spot_status add_pairs(recorder *w, const spot_subject *s)
{
    const size_t all = (size_t)s->n * (size_t)s->classes;
    size_t pairs = 0;
    int32_t *pair;
    float *prob;

    for (size_t i = 0; i < all; i++) pairs += s->has[i];
    SPOT_TRY(add(w, "pair", SPOT_I32, pairs, 2, &pair));
    SPOT_TRY(add(w, "pair_prob", SPOT_F32, pairs, 0, &prob));
    for (size_t i = 0; i < all; i++) {
        if (!s->has[i]) continue;
        *pair++ = (int32_t)(i / (size_t)s->classes);
        *pair++ = (int32_t)(i % (size_t)s->classes);
        *prob++ = s->prob[i];
    }
    return SPOT_OK;
}

static spot_status add_pictures(recorder *w, const spot_subject *s)
{
    int64_t *stamp;

    SPOT_TRY(add(w, "picture_stamps", SPOT_I64, (size_t)s->n, 2, &stamp));
    for (int i = 0; i < s->n; i++) spot_picture_stamp(stamp + 2 * i, s->image[i]);
    return add_words(w, "pictures", s->image, s->n);
}

static spot_status add_subject(recorder *w, const spot_subject *s, int schema)
{
    int64_t *about;
    int32_t *predicted, *reading;

    SPOT_TRY(add(w, "about", SPOT_I64, SPOT_RECALL_ABOUT, 0, &about));
    memcpy(about, (int64_t[]){ schema, s->n, s->d, s->classes, s->skipped }, SPOT_RECALL_ABOUT * sizeof *about);
    SPOT_TRY(add_text(w, "source", s->source));
    if (*s->encoder) SPOT_TRY(add_text(w, "encoder", s->encoder));
    SPOT_TRY(add_words(w, "class_names", s->class_name, s->classes));
    if (s->id) SPOT_TRY(add_words(w, "ids", s->id, s->n));
    if (s->image) SPOT_TRY(add_pictures(w, s));
    if (s->reading.exif || s->reading.pillow) {
        SPOT_TRY(add(w, "reading", SPOT_I32, 2, 0, &reading));
        reading[0] = s->reading.exif, reading[1] = s->reading.pillow;
    }
    if (spot_subject_is_grouped(s)) {
        borrow(w, "group", SPOT_I32, (size_t)s->n, 0, s->group);
        if (s->group_name) SPOT_TRY(add_words(w, "group_names", s->group_name, s->groups));
    }
    if (s->box) borrow(w, "boxes", SPOT_F32, (size_t)s->n, 4, s->box);
    if (!s->target) return add_pairs(w, s);
    borrow(w, "target", SPOT_I32, (size_t)s->n, 0, s->target);
    borrow(w, "confidence", SPOT_F32, (size_t)s->n, 0, s->confidence);
    if (spot_subject_predicted(s, 0) < 0) return SPOT_OK;
    SPOT_TRY(add(w, "predicted", SPOT_I32, (size_t)s->n, 0, &predicted));
    for (int i = 0; i < s->n; i++) predicted[i] = spot_subject_predicted(s, i);
    return SPOT_OK;
}

/* ---- the findings ---- */

static bool same(const spot_points *a, const spot_points *b)
{
    return a->n == b->n && a->d == b->d && !memcmp(a->at, b->at, (size_t)a->n * (size_t)a->d * sizeof *a->at);
}

/* The number of the map of f's finding i. A map that several findings share is written once. */
static spot_status add_map(recorder *w, const spot_findings *f, int i, int64_t *all)
{
    const spot_finding *g = &f->finding[i];
    int64_t *row = all + (size_t)i * SPOT_RECALL_FINDING;
    int columns = g->points.d < 2 ? g->points.d : 2;
    float *at;

    row[6] = -1;
    row[7] = g->points.d;
    if (!g->points.at) return SPOT_OK;
    for (int k = 0; k < i && row[6] < 0; k++)
        if (f->finding[k].points.at && f->finding[k].cls == g->cls && same(&f->finding[k].points, &g->points))
            row[6] = all[(size_t)k * SPOT_RECALL_FINDING + 6];
    if (row[6] >= 0) return SPOT_OK;
    row[6] = w->maps;
    snprintf(w->map_name[w->maps], NAME, "map/%d", w->maps);
    SPOT_TRY(add(w, w->map_name[w->maps++], SPOT_F32, (size_t)g->points.n, columns, &at));
    for (int k = 0; k < g->points.n; k++)
        memcpy(at + (size_t)k * (size_t)columns, g->points.at + (size_t)k * (size_t)g->points.d, (size_t)columns * sizeof *at);
    return SPOT_OK;
}

static spot_status add_slices(recorder *w, const spot_findings *f)
{
    size_t slices = 0, members = 0;
    int32_t *slice, *member;
    double *fact;

    for (int i = 0; i < f->count; i++) {
        slices += (size_t)f->finding[i].slices;
        for (int k = 0; k < f->finding[i].slices; k++) members += (size_t)f->finding[i].slice[k].size;
    }
    SPOT_TRY(add(w, "slices", SPOT_I32, slices, SPOT_RECALL_SLICE, &slice));
    SPOT_TRY(add(w, "facts", SPOT_F64, slices, SPOT_RECALL_FACTS, &fact));
    SPOT_TRY(add(w, "members", SPOT_I32, members, 0, &member));
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            const spot_slice *s = &f->finding[i].slice[k];
            const double facts[SPOT_RECALL_FACTS] = { s->error_rate, s->mean_confidence, s->share, s->score };
            memcpy(slice, (int32_t[]){ s->size, s->wrong, s->neighbours }, 3 * sizeof *slice);
            memcpy(slice + 3, s->neighbour, (size_t)s->neighbours * sizeof *slice);
            memcpy(fact, facts, sizeof facts);
            memcpy(member, s->row, (size_t)s->size * sizeof *member);
            slice += SPOT_RECALL_SLICE;
            fact += SPOT_RECALL_FACTS;
            member += s->size;
        }
    return SPOT_OK;
}

/* ---- descriptions ---- */

typedef struct { size_t words, items, conjunctions, slices; } told;

static told count_told(const spot_findings *f)
{
    told n = { 0 };

    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            const spot_slice *s = &f->finding[i].slice[k];
            n.slices++;
            n.words += (size_t)s->words;
            n.conjunctions += s->conjunction != NULL;
            n.items += s->conjunction ? (size_t)s->conjunction->items : 0;
        }
    return n;
}

void spot_match_numbers(double v[SPOT_RECALL_MATCH], const spot_match *m)
{
    const double all[SPOT_RECALL_MATCH] = { m->rows, m->group, m->covered, m->inside, m->wrong, m->precision, m->recall, m->f1,
                                            m->lift, m->t, m->p };

    memcpy(v, all, sizeof all);
}

static spot_status add_descriptions(recorder *w, const spot_findings *f)
{
    const told n = count_told(f);
    int32_t *count;
    double *fact, *match;
    char **word, **item;

    if (!n.words && !n.conjunctions) return SPOT_OK;
    SPOT_TRY(add(w, "descriptions", SPOT_I32, n.slices, 2, &count));
    SPOT_TRY(add(w, "word_facts", SPOT_F64, n.words, SPOT_RECALL_WORD, &fact));
    SPOT_TRY(add(w, "conjunction_facts", SPOT_F64, n.conjunctions, 2 * SPOT_RECALL_MATCH, &match));
    SPOT_TRY(SPOT_SUBJECT_TAKE(w->c, &w->keep, word, n.words + 1));
    SPOT_TRY(SPOT_SUBJECT_TAKE(w->c, &w->keep, item, n.items + 1));
    for (int i = 0, words = 0, items = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++, count += 2) {
            const spot_slice *s = &f->finding[i].slice[k];
            count[0] = s->words;
            count[1] = s->conjunction ? s->conjunction->items : 0;
            for (int j = 0; j < s->words; j++, fact += SPOT_RECALL_WORD) {
                word[words++] = s->word[j].phrase;
                memcpy(fact, (double[]){ s->word[j].score, s->word[j].auc, s->word[j].p }, SPOT_RECALL_WORD * sizeof *fact);
            }
            for (int j = 0; j < count[1]; j++) item[items++] = s->conjunction->name[j];
            if (!s->conjunction) continue;
            spot_match_numbers(match, &s->conjunction->held_out);
            spot_match_numbers(match + SPOT_RECALL_MATCH, &s->conjunction->all);
            match += 2 * SPOT_RECALL_MATCH;
        }
    SPOT_TRY(add_words(w, "words", word, (int)n.words));
    return add_words(w, "conjunctions", item, (int)n.items);
}

/* All of the attributes, with which a rule of the reader's own is counted and judged. */
static spot_status add_attributes(recorder *w, const spot_attributes *a)
{
    if (!a || !a->items) return SPOT_OK;
    borrow(w, "attribute_bits", SPOT_I64, (size_t)a->items, (int)a->words, a->bit);
    borrow(w, "attribute_columns", SPOT_I32, (size_t)a->items, 0, a->column);
    borrow(w, "attribute_ranges", SPOT_F64, (size_t)a->items, 2, a->range);
    return add_words(w, "attribute_names", a->name, a->items);
}

/* ---- proofs ---- */

static void put_proof(const spot_slice *s, double **fact, double **piece, int64_t **seed, uint8_t **origin)
{
    const spot_proof *p = s->proof;

    spot_proof_numbers(*fact, p);
    *fact += SPOT_RECALL_PROOF;
    memcpy(*origin, p->origin, (size_t)s->size);
    *origin += s->size;
    for (int i = 0; i < p->pieces; i++, *piece += SPOT_RECALL_PIECE) {
        spot_piece_numbers(*piece, &p->piece[i]);
        *(*seed)++ = (int64_t)p->piece[i].seed;
    }
}

static spot_status add_proofs(recorder *w, const spot_findings *f, const spot_discover_options *o)
{
    size_t slices = 0, members = 0, pieces = 0;
    double *shares, *fact, *piece;
    int64_t *chosen, *seed;
    int32_t *cause;
    uint8_t *origin;

    if (!o->proof) return SPOT_OK;
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            slices++;
            members += (size_t)f->finding[i].slice[k].size;
            pieces += (size_t)f->finding[i].slice[k].proof->pieces;
        }
    SPOT_TRY(add(w, "proof", SPOT_I64, SPOT_RECALL_CHOSEN, 0, &chosen));
    SPOT_TRY(add(w, "proof_shares", SPOT_F64, SPOT_RECALL_SHARES, 0, &shares));
    SPOT_TRY(add(w, "proofs", SPOT_F64, slices, SPOT_RECALL_PROOF, &fact));
    SPOT_TRY(add(w, "pieces", SPOT_F64, pieces, SPOT_RECALL_PIECE, &piece));
    SPOT_TRY(add(w, "piece_seeds", SPOT_I64, pieces, 0, &seed));
    SPOT_TRY(add(w, "origins", SPOT_U8, members, 0, &origin));
    SPOT_TRY(add(w, "causes", SPOT_I32, slices, 0, &cause));
    spot_proof_options_numbers(chosen, shares, o->proof);
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            *cause++ = f->finding[i].slice[k].proof->cause;
            put_proof(&f->finding[i].slice[k], &fact, &piece, &seed, &origin);
        }
    return SPOT_OK;
}

/* Groups of the judged rows of each slice, and the least p that they can give; then groups of each piece. Absent where rows are
 * alone. */
static spot_status add_judged_groups(recorder *w, const spot_findings *f, const spot_subject *s, const spot_discover_options *o)
{
    size_t slices = 0, pieces = 0;
    double *slice, *piece;

    if (!o->proof || !spot_subject_is_grouped(s)) return SPOT_OK;
    for (int i = 0; i < f->count; i++) {
        slices += (size_t)f->finding[i].slices;
        for (int k = 0; k < f->finding[i].slices; k++) pieces += (size_t)f->finding[i].slice[k].proof->pieces;
    }
    SPOT_TRY(add(w, "judged_groups", SPOT_F64, 2 * slices + pieces, 0, &slice));
    piece = slice + 2 * slices;
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            const spot_proof *p = f->finding[i].slice[k].proof;
            *slice++ = p->groups;
            *slice++ = p->least_p;
            for (int j = 0; j < p->pieces; j++) *piece++ = p->piece[j].groups;
        }
    return SPOT_OK;
}

/* The rules that slices are: how many items each slice has, and their names. */
static spot_status add_rules(recorder *w, const spot_findings *f, const spot_discover_options *o)
{
    size_t slices = 0, items = 0;
    int32_t *count;
    char **item;

    for (int i = 0; i < f->count && o->proof; i++)
        for (int k = 0; k < f->finding[i].slices; k++, slices++) items += (size_t)f->finding[i].slice[k].proof->rule_items;
    if (!items) return SPOT_OK;
    SPOT_TRY(add(w, "rule_items", SPOT_I32, slices, 0, &count));
    SPOT_TRY(SPOT_SUBJECT_TAKE(w->c, &w->keep, item, items));
    items = 0;
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) {
            const spot_proof *p = f->finding[i].slice[k].proof;
            *count++ = p->rule_items;
            for (int j = 0; j < p->rule_items; j++) item[items++] = p->rule[j];
        }
    return add_words(w, "rules", item, (int)items);
}

/* How much the features decide the answers, where it was measured. */
static spot_status add_decided(recorder *w, const spot_decided *d)
{
    const double facts[SPOT_RECALL_DECIDED] = { d->rows, d->neighbours, d->same, d->expected, d->wrong, d->decide };
    double *fact;

    if (!d->rows) return SPOT_OK;
    SPOT_TRY(add(w, "features_decide", SPOT_F64, SPOT_RECALL_DECIDED, 0, &fact));
    memcpy(fact, facts, sizeof facts);
    return SPOT_OK;
}

static spot_status add_findings(recorder *w, const spot_findings *f)
{
    char **message;
    int64_t *row;

    SPOT_TRY(add(w, "findings", SPOT_I64, (size_t)f->count, SPOT_RECALL_FINDING, &row));
    SPOT_TRY(SPOT_SUBJECT_TAKE(w->c, &w->keep, message, f->count));
    for (int i = 0; i < f->count; i++) {
        spot_finding *g = &f->finding[i];
        const int64_t facts[] = { g->bdm, g->cls, (int64_t)g->seed, g->wrong, g->status, g->slices };
        message[i] = g->message;
        memcpy(row + (size_t)i * SPOT_RECALL_FINDING, facts, sizeof facts);
        SPOT_TRY(add_map(w, f, i, row));
    }
    return add_words(w, "messages", message, f->count);
}

static spot_status add_methods(recorder *w, const spot_discover_options *o)
{
    char (*name)[80], **word;

    SPOT_TRY(SPOT_SUBJECT_TAKE(w->c, &w->keep, name, o->bdms));
    SPOT_TRY(SPOT_SUBJECT_TAKE(w->c, &w->keep, word, o->bdms));
    for (int i = 0; i < o->bdms; i++) {
        spot_bdm_name(&o->bdm[i], name[i], sizeof name[i]);
        word[i] = name[i];
    }
    return add_words(w, "methods", word, o->bdms);
}

static spot_status add_all(recorder *w, const spot_findings *f, const spot_subject *s, const spot_discover_options *o)
{
    const size_t count = (size_t)f->count;

    SPOT_TRY(SPOT_SUBJECT_TAKE(w->c, &w->keep, w->tensor, FIXED + count));
    SPOT_TRY(SPOT_SUBJECT_TAKE(w->c, &w->keep, w->map_name, count));
    SPOT_TRY(add_subject(w, s, o->proof ? SPOT_RECALL_PROVED : SPOT_RECALL_SCHEMA));
    SPOT_TRY(add_methods(w, o));
    SPOT_TRY(add_findings(w, f));
    SPOT_TRY(add_slices(w, f));
    SPOT_TRY(add_descriptions(w, f));
    SPOT_TRY(add_attributes(w, o->attributes));
    SPOT_TRY(add_proofs(w, f, o));
    SPOT_TRY(add_judged_groups(w, f, s, o));
    if (f->suspects.known) {
        borrow(w, "suspect_rows", SPOT_I32, (size_t)f->suspects.count, 0, f->suspects.row);
        borrow(w, "suspect_classes", SPOT_I32, (size_t)f->suspects.count, 0, f->suspects.cls);
    }
    SPOT_TRY(add_rules(w, f, o));
    SPOT_TRY(add_decided(w, &f->decided));
    borrow(w, "left_out", SPOT_I32, (size_t)f->left_out, 0, f->left_class);
    if (f->map) borrow(w, "map", SPOT_F32, (size_t)s->n, 2, f->map);
    return SPOT_OK;
}

spot_status spot_recall_write(spot_ctx *c, const char *dir, const spot_findings *f, const spot_subject *s,
                              const spot_discover_options *o)
{
    recorder w = { .c = c };
    char path[1200];
    spot_status how = add_all(&w, f, s, o);

    snprintf(path, sizeof path, "%s/subject.safetensors", dir);
    if (how == SPOT_OK) how = spot_tensors_save(c, path, w.tensor, w.count);
    spot_subject_close(&w.keep);
    return how;
}
