/* class_result.c - see class_result.h. */
#include "discover/search/class_result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "study/chain.h"
#include "study/frame.h"

enum { MOST_ENTRIES = 1 << 20 };

/* ---- JSON ---- */

static size_t digits_of(int rows) { return (size_t)rows / 4 + 1; }

static void describe_rows(spot_json *j, const char *key, char **text, int rows)
{
    if (!j->gen) *text = calloc(digits_of(rows) + 1, 1);
    if (*text) spot_json_text(j, key, *text, digits_of(rows) + 1);
    else j->wrong = spot_frame_no_memory;
}

/* Any number, also an infinite one, with all of its bits. */
static void describe_exact(spot_json *j, const char *key, double *v)
{
    char text[40];

    snprintf(text, sizeof text, "%.17g", *v);
    spot_json_text(j, key, text, sizeof text);
    *v = strtod(text, NULL);
}

static void describe_piece(spot_json *j, spot_class_piece *p, int rows)
{
    spot_json_object(j, NULL);
    spot_json_int(j, "method", &p->bdm);
    spot_json_u64(j, "seed", &p->seed);
    spot_json_int(j, "part", &p->part);
    spot_json_int(j, "rank", &p->rank);
    describe_exact(j, "score", &p->score);
    spot_json_bool(j, "backed", &p->backed);
    describe_rows(j, "found", &p->found, rows);
    describe_rows(j, "judged", &p->judged, rows);
    spot_json_int(j, "items", &p->rule.items);
    if (p->rule.items < 0 || p->rule.items > SPOT_RULE_ITEMS) p->rule.items = 0, j->wrong = "items";
    if (p->rule.items) spot_json_ints(j, "rule", p->rule.item, p->rule.items);
    spot_json_end(j);
}

static void describe_proof(spot_json *j, spot_class_result *r)
{
    spot_json_object(j, "proof");
    spot_json_real(j, "least_p_of_chance", &r->best);
    spot_json_int(j, "no_test", &r->left);
    spot_json_array(j, "parts", 2, 2);
    for (int q = 0; q < 2; q++) {
        spot_json_object(j, NULL);
        spot_json_int(j, "searches", &r->tried[q]);
        spot_json_int(j, "failed", &r->failed[q]);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_int(j, "status", &r->failure);
    spot_frame_plain(j, "message", r->why, sizeof r->why);
    r->pieces = spot_json_list(j, "slices", r->pieces, MOST_ENTRIES, &r->piece, sizeof *r->piece, spot_frame_no_memory);
    for (int i = 0; i < r->pieces; i++) describe_piece(j, &r->piece[i], r->rows);
    spot_json_end(j);
    spot_json_end(j);
}

static void describe_searches(spot_json *j, spot_class_result *r)
{
    r->searches = spot_json_list(j, "searches", r->searches, MOST_ENTRIES, &r->search, sizeof *r->search,
                                 spot_frame_no_memory);
    for (int i = 0; i < r->searches; i++) {
        spot_class_search *s = &r->search[i];
        spot_json_object(j, NULL);
        spot_json_int(j, "method", &s->bdm);
        spot_json_u64(j, "seed", &s->seed);
        spot_json_int(j, "slices", &s->slices);
        spot_json_int(j, "status", &s->status);
        spot_frame_plain(j, "message", s->message, sizeof s->message);
        spot_json_end(j);
    }
    spot_json_end(j);
}

void spot_class_result_describe(spot_json *j, void *result)
{
    spot_class_result *r = result;

    spot_json_int(j, "index", &r->index);
    spot_json_int(j, "numbers", &r->numbers);
    spot_json_text(j, "config", r->config, sizeof r->config);
    spot_json_int(j, "class_number", &r->cls);
    spot_json_int(j, "rows", &r->rows);
    if (r->rows < 0) r->rows = 0, j->wrong = "rows";
    spot_json_int(j, "wrong", &r->wrong);
    spot_json_bool(j, "again", &r->again);
    spot_json_bool(j, "proved", &r->proved);
    if (r->proved) describe_proof(j, r);
    else describe_searches(j, r);
}

void spot_class_result_close(void *result)
{
    spot_class_result *r = result;

    for (int i = 0; i < r->pieces; i++) free(r->piece[i].found), free(r->piece[i].judged);
    free(r->piece), free(r->search);
    memset(r, 0, sizeof *r);
}

/* ---- what was found ---- */

static spot_status no_memory(spot_ctx *c) { return spot_fail(c, SPOT_NOMEM, "no memory for the slices of a class"); }

static spot_status print_rows(spot_ctx *c, char **text, const uint64_t *bit, int rows)
{
    *text = calloc(digits_of(rows) + 1, 1);
    if (!*text) return no_memory(c);
    for (size_t i = 0; i < digits_of(rows); i++) (*text)[i] = "0123456789abcdef"[bit[i / 16] >> i % 16 * 4 & 15];
    return SPOT_OK;
}

spot_status spot_class_result_of_proof(spot_ctx *c, spot_class_result *r, const spot_proving *j, int i)
{
    const spot_proved *k = &j->cls[i];

    r->proved = true, r->again = k->again, r->left = k->left, r->best = k->best, r->failure = k->failure;
    memcpy(r->tried, k->tried, sizeof r->tried), memcpy(r->failed, k->failed, sizeof r->failed);
    memcpy(r->why, k->why, sizeof r->why);
    r->piece = calloc((size_t)j->pieces + 1, sizeof *r->piece);
    if (!r->piece) return no_memory(c);
    for (const spot_judged *g = j->piece; g < j->piece + j->pieces; g++) {
        spot_class_piece *p = &r->piece[r->pieces];
        if (g->class_place != i) continue;
        *p = (spot_class_piece){ .bdm = g->said.bdm, .part = g->said.part, .rank = g->said.rank, .seed = g->said.seed,
                                 .rule = g->said.rule, .score = g->score, .backed = g->backed };
        r->pieces++;
        SPOT_TRY(print_rows(c, &p->found, g->found, k->n));
        SPOT_TRY(print_rows(c, &p->judged, g->judged, k->n));
    }
    return SPOT_OK;
}

spot_status spot_class_result_of_search(spot_ctx *c, spot_class_result *r, const spot_finding *f, int count)
{
    r->search = calloc((size_t)count + 1, sizeof *r->search);
    if (!r->search) return no_memory(c);
    for (r->searches = 0; r->searches < count; r->searches++, f++) {
        spot_class_search *s = &r->search[r->searches];
        s->bdm = f->bdm, s->slices = f->slices, s->status = f->status, s->seed = f->seed;
        memcpy(s->message, f->message, sizeof s->message);
        r->again |= f->status && !spot_is_verdict(f->status);
    }
    return SPOT_OK;
}

/* ---- into a proof ---- */

/* False: the text has rows that are not of this part of the class, or none. */
static bool read_rows(const spot_proving *j, const spot_proved *k, uint64_t *bit, const char *text, int part)
{
    int rows = 0;

    for (int i = 0; text[i]; i++) {
        const char digit[2] = { text[i], 0 };
        bit[i / 16] |= (uint64_t)strtoul(digit, NULL, 16) << i % 16 * 4;
    }
    for (int i = 0; i < (int)k->words * 64; i++) {
        if (!spot_has_bit(bit, i)) continue;
        if (i >= k->n || j->part[k->row[i]] != part) return false;
        rows++;
    }
    return rows > 0;
}

/* The rule's items are attributes, and ascend. */
static bool has_items(const spot_discover_options *o, const spot_rule *rule)
{
    for (int i = 0; i < rule->items; i++)
        if (rule->item[i] <= (i ? rule->item[i - 1] : -1) || !o->attributes || rule->item[i] >= o->attributes->items)
            return false;
    return true;
}

static spot_status load_piece(spot_proving *j, const spot_class_piece *p, int i)
{
    const spot_piece said = { .bdm = p->bdm, .part = p->part, .seed = p->seed, .rank = p->rank, .rule = p->rule };
    const spot_proved *k = &j->cls[i];
    const bool whole = j->pieces < j->most && p->bdm >= 0 && p->bdm < j->o->bdms && strlen(p->found) == digits_of(k->n)
                    && strlen(p->judged) == digits_of(k->n) && has_items(j->o, &p->rule);
    spot_judged *g;

    if (whole) SPOT_TRY(spot_proof_piece(j, &g, &said, p->score, i));
    if (!whole || !read_rows(j, k, g->found, p->found, p->part) || !read_rows(j, k, g->judged, p->judged, 1 - p->part))
        return spot_fail(j->c, SPOT_INPUT, "the result of class %d has a slice that no search can find", k->cls);
    g->backed = p->backed;
    return spot_proof_keep(j, g);
}

/* Slices come part by part and class by class, as one search of all classes finds them. */
static spot_status load_part(spot_proving *j, const spot_class_result *r, int part)
{
    for (int i = 0; i < j->classes; i++)
        for (int k = 0; k < r[i].pieces; k++)
            if (r[i].piece[k].part == part) SPOT_TRY(load_piece(j, &r[i].piece[k], i));
    return SPOT_OK;
}

spot_status spot_class_results_load(spot_proving *j, const spot_class_result *r)
{
    spot_proof_begin(j, (spot_run_errors){ NULL, NULL });
    for (int i = 0; i < j->classes; i++) {
        spot_proved *k = &j->cls[i];
        if (r[i].cls != k->cls || r[i].rows != k->n || !r[i].proved || !r[i].piece || r[i].failure < 0
            || r[i].failure >= SPOT_STATUS_COUNT)
            return spot_fail(j->c, SPOT_INPUT, "the result of class %d is that of class %d of other rows", k->cls, r[i].cls);
        k->left = r[i].left, k->best = r[i].best, k->failure = (spot_status)r[i].failure;
        memcpy(k->tried, r[i].tried, sizeof k->tried), memcpy(k->failed, r[i].failed, sizeof k->failed);
        memcpy(k->why, r[i].why, sizeof k->why);
    }
    for (int q = 0; q < j->p.parts; q++) SPOT_TRY(load_part(j, r, q));
    return SPOT_OK;
}
