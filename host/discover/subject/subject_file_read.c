/* subject_file_read.c - see subject_file.h. All sizes and numbers of rows and classes are checked before they are used. */
#define _POSIX_C_SOURCE 200809L
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/pointer.h"
#include "discover/describe/gallery.h"
#include "discover/describe/suspect_labels.h"
#include "discover/subject/subject_file.h"
#include "discover/subject/subject_memory.h"
#include "formats/safetensors.h"

enum { PATH = 1200 };

typedef struct {
    spot_ctx     *c;
    const char   *path;
    spot_tensors  all;
    spot_subject *s;                   /* holds all memory */
} subject_file_reader;

static spot_status damaged(subject_file_reader *r, const char *name, const char *what)
{
    return spot_fail(r->c, SPOT_INPUT, "{subject.damaged} %s: \"%s\" %s; it is damaged: run spotter discover again", r->path,
                     name, what);
}

/* A copy, since data in the file is not aligned. *rows negative: any number, which is returned. columns 0: shape (rows). */
static spot_status get(subject_file_reader *r, const char *name, spot_dtype type, int64_t *rows, int columns, void *out)
{
    const spot_tensor *t = spot_tensors_find(&r->all, name);
    void *own;

    if (!t) return damaged(r, name, "is not there");
    if (t->type != type || t->rank != (columns ? 2 : 1) || (columns && t->dim[1] != columns) || t->dim[0] > INT_MAX
        || (*rows >= 0 && t->dim[0] != *rows))
        return damaged(r, name, "is of another type or size than it should be");
    *rows = t->dim[0];
    SPOT_TRY(spot_subject_take(r->c, r->s, &own, t->bytes));
    if (t->bytes) memcpy(own, t->data, t->bytes);
    spot_pointer_put(out, own);
    return SPOT_OK;
}

static bool exists(const subject_file_reader *r, const char *name) { return spot_tensors_find(&r->all, name); }

/* Zeros from calloc: only pages that are written take memory, however many numbers a file asks for. */
static spot_status zeros(subject_file_reader *r, void *out, size_t count, size_t size)
{
    void *own = count <= (size_t)INT_MAX ? calloc(count + 1, size) : NULL;

    spot_pointer_put(out, own);
    if (!own) return spot_fail(r->c, SPOT_NOMEM, "no memory for %zu numbers of %s", count, r->path);
    return spot_subject_keep(r->c, r->s, own);
}

static spot_status get_words(subject_file_reader *r, const char *name, char ***out, int64_t *n)
{
    int64_t bytes = -1, count = 0;
    char *text;

    SPOT_TRY(get(r, name, SPOT_U8, &bytes, 0, &text));
    for (int64_t i = 0; i < bytes; i++) count += !text[i];
    if ((bytes && text[bytes - 1]) || (*n >= 0 && count != *n))
        return damaged(r, name, "has more or fewer words than it should");
    *n = count;
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, r->s, *out, count));
    for (int64_t i = 0; i < count; i++, text += strlen(text) + 1) (*out)[i] = text;
    return SPOT_OK;
}

static spot_status check_ints(subject_file_reader *r, const char *name, const int *v, int64_t n, int least, int most)
{
    for (int64_t i = 0; i < n; i++)
        if (v[i] < least || v[i] > most) return damaged(r, name, "has numbers out of range");
    return SPOT_OK;
}

static spot_status check_probs(subject_file_reader *r, const char *name, const float *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!(v[i] >= 0 && v[i] <= 1)) return damaged(r, name, "has numbers that are no probabilities");
    return SPOT_OK;
}

/* ---- the subject ---- */

static spot_status get_pairs(subject_file_reader *r)
{
    spot_subject *s = r->s;
    size_t all = (size_t)s->n * (size_t)s->classes;
    const spot_tensor *map = spot_tensors_find(&r->all, "map");
    int64_t pairs = -1;
    int32_t *pair;
    float *prob;

    if (!map || map->dim[0] != s->n) return damaged(r, "map", "is not of all rows");
    SPOT_TRY(get(r, "pair", SPOT_I32, &pairs, 2, &pair));
    SPOT_TRY(get(r, "pair_prob", SPOT_F32, &pairs, 0, &prob));
    SPOT_TRY(check_probs(r, "pair_prob", prob, pairs));
    SPOT_TRY(zeros(r, &s->has, all, sizeof *s->has));
    SPOT_TRY(zeros(r, &s->prob, all, sizeof *s->prob));
    for (int64_t i = 0; i < pairs; i++) {
        size_t at;
        SPOT_TRY(check_ints(r, "pair", &pair[2 * i], 1, 0, s->n - 1));
        SPOT_TRY(check_ints(r, "pair", &pair[2 * i + 1], 1, 0, s->classes - 1));
        at = (size_t)pair[2 * i] * (size_t)s->classes + (size_t)pair[2 * i + 1];
        s->has[at] = 1;
        s->prob[at] = prob[i];
    }
    return SPOT_OK;
}

static spot_status get_targets(subject_file_reader *r)
{
    spot_subject *s = r->s;
    int64_t n = s->n;

    SPOT_TRY(get(r, "target", SPOT_I32, &n, 0, &s->target));
    SPOT_TRY(check_ints(r, "target", s->target, n, 0, s->classes - 1));
    SPOT_TRY(get(r, "confidence", SPOT_F32, &n, 0, &s->confidence));
    SPOT_TRY(check_probs(r, "confidence", s->confidence, n));
    if (!exists(r, "predicted")) return SPOT_OK;
    SPOT_TRY(get(r, "predicted", SPOT_I32, &n, 0, &s->predicted));
    return check_ints(r, "predicted", s->predicted, n, 0, s->classes - 1);
}

void spot_picture_stamp(int64_t stamp[2], const char *path)
{
    struct stat st;
    bool found = path && !stat(path, &st) && S_ISREG(st.st_mode);

    stamp[0] = found ? (int64_t)st.st_size : -1;
    stamp[1] = found ? (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec : -1;
}

/* Only pictures that have not changed since they were recorded: see subject_file.h. */
static spot_status get_pictures(subject_file_reader *r)
{
    spot_subject *s = r->s;
    int64_t n = s->n, *recorded = NULL, now[2];
    int others = 0;

    SPOT_TRY(get_words(r, "pictures", &s->image, &n));
    if (exists(r, "picture_stamps")) SPOT_TRY(get(r, "picture_stamps", SPOT_I64, &n, 2, &recorded));
    for (int i = 0; i < s->n; i++) {
        if (!*s->image[i]) s->image[i] = NULL;
        spot_picture_stamp(now, s->image[i]);
        if (now[0] < 0 || (recorded && now[0] == recorded[2 * i] && now[1] == recorded[2 * i + 1])) continue;
        s->image[i] = NULL;
        others++;
    }
    if (others)
        spot_log(r->c, SPOT_LOG_WARN, "%s: %d pictures are left out: %s; give their folder with --images FOLDER", r->path,
                 others, recorded ? "the files have changed since" : "an earlier Spotter did not record their size and time");
    return SPOT_OK;
}

/* Groups count from 0 in the order of their first rows. */
static spot_status get_groups(subject_file_reader *r)
{
    spot_subject *s = r->s;
    int64_t n = s->n;

    if (!exists(r, "group")) return SPOT_OK;
    SPOT_TRY(get(r, "group", SPOT_I32, &n, 0, &s->group));
    for (int i = 0; i < s->n; i++) {
        SPOT_TRY(check_ints(r, "group", &s->group[i], 1, 0, s->groups));
        s->groups += s->group[i] == s->groups;
    }
    n = s->groups;
    return exists(r, "group_names") ? get_words(r, "group_names", &s->group_name, &n) : SPOT_OK;
}

static spot_status get_boxes(subject_file_reader *r)
{
    int64_t n = r->s->n;

    if (!exists(r, "boxes")) return SPOT_OK;
    SPOT_TRY(get(r, "boxes", SPOT_F32, &n, 4, &r->s->box));
    for (int64_t i = 0; i < 4 * n; i++)
        if (!isfinite(r->s->box[i])) return damaged(r, "boxes", "has numbers that are not finite");
    return SPOT_OK;
}

/* Absent where both are the defaults. */
static spot_status get_reading(subject_file_reader *r)
{
    int64_t n = 2;
    int *reading;

    if (!exists(r, "reading")) return SPOT_OK;
    SPOT_TRY(get(r, "reading", SPOT_I32, &n, 0, &reading));
    SPOT_TRY(check_ints(r, "reading", reading, n, 0, 1));
    r->s->reading = (spot_picture_reading){ reading[0], reading[1] };
    return SPOT_OK;
}

static spot_status get_subject(subject_file_reader *r)
{
    spot_subject *s = r->s;
    int64_t *about, n = SPOT_RECALL_ABOUT, one = 1, classes = -1;
    char **source, **encoder;

    SPOT_TRY(get(r, "about", SPOT_I64, &n, 0, &about));
    if (about[0] != SPOT_RECALL_SCHEMA && about[0] != SPOT_RECALL_PROVED)
        return spot_fail(r->c, SPOT_INPUT, "%s is of another version of Spotter; run spotter discover again, which its cache "
                         "makes quick", r->path);
    for (int i = 1; i < SPOT_RECALL_ABOUT; i++)
        if (about[i] < (i < 4) || about[i] > INT_MAX) return damaged(r, "about", "has numbers out of range");
    s->n = (int)about[1];
    s->d = (int)about[2];
    s->classes = (int)about[3];
    s->skipped = (int)about[4];
    n = s->n;
    classes = s->classes;
    SPOT_TRY(get_words(r, "source", &source, &one));
    snprintf(s->source, sizeof s->source, "%s", source[0]);
    if (exists(r, "encoder")) {
        SPOT_TRY(get_words(r, "encoder", &encoder, &one));
        snprintf(s->encoder, sizeof s->encoder, "%s", encoder[0]);
    }
    SPOT_TRY(get_words(r, "class_names", &s->class_name, &classes));
    if (exists(r, "ids")) SPOT_TRY(get_words(r, "ids", &s->id, &n));
    if (exists(r, "pictures")) SPOT_TRY(get_pictures(r));
    SPOT_TRY(get_reading(r));
    SPOT_TRY(get_groups(r));
    SPOT_TRY(get_boxes(r));
    return exists(r, "target") ? get_targets(r) : get_pairs(r);
}

/* ---- the findings ---- */

typedef struct {
    int64_t *finding, count, slices, members;
    char   **message;
    int32_t *slice, *member;
    double  *fact;
    int64_t  slices_used, members_used;
    int      bdms, maps;
    spot_points *map;                  /* those read so far, of `maps` at most `count` */
} tables;

/* At most two of d dimensions are stored; the rest, which are not shown, become zero. */
static spot_status get_map(subject_file_reader *r, tables *t, spot_finding *g, int64_t k, int64_t d)
{
    int64_t rows = g->n;
    int columns = d < 2 ? (int)d : 2;
    char name[32];
    float *at;

    if (k == -1) return SPOT_OK;
    if (k < 0 || k > t->maps || k >= t->count || d < 1 || d > INT_MAX)
        return damaged(r, "findings", "has numbers out of range");
    if (k == t->maps) {
        snprintf(name, sizeof name, "map/%d", (int)k);
        SPOT_TRY(get(r, name, SPOT_F32, &rows, columns, &at));
        for (int64_t i = 0; i < rows * columns; i++)
            if (!isfinite(at[i])) return damaged(r, name, "has numbers that are not finite");
        t->map[t->maps++] = (spot_points){ .n = g->n, .d = (int)d, .at = at };
        if (d > 2) {
            SPOT_TRY(zeros(r, &t->map[k].at, (size_t)rows * (size_t)d, sizeof *at));
            for (int64_t i = 0; i < rows; i++) memcpy(t->map[k].at + i * d, at + 2 * i, 2 * sizeof *at);
        }
    }
    if (t->map[k].n != g->n || t->map[k].d != d) return damaged(r, "findings", "names a map of other rows");
    g->points = t->map[k];
    return SPOT_OK;
}

/* Checks that the rows have the class and, for members, ascend. */
static spot_status check_rows(subject_file_reader *r, const char *name, const int *row, int n, int cls, bool ascending)
{
    SPOT_TRY(check_ints(r, name, row, n, 0, r->s->n - 1));
    for (int i = 0; i < n; i++)
        if (!spot_subject_is_of(r->s, row[i], cls) || (ascending && i && row[i] <= row[i - 1]))
            return damaged(r, name, "names rows of another class, or rows that do not ascend");
    return SPOT_OK;
}

static spot_status get_slice(subject_file_reader *r, tables *t, const spot_finding *g, spot_slice *s)
{
    const int32_t *v = t->slice + t->slices_used * SPOT_RECALL_SLICE;
    const double *fact = t->fact + t->slices_used * SPOT_RECALL_FACTS;

    if (t->slices_used++ >= t->slices || v[0] < 0 || v[0] > t->members - t->members_used || v[1] < 0 || v[1] > v[0] || v[2] < 0
        || v[2] > SPOT_MAX_NEIGHBOURS)
        return damaged(r, "slices", "has numbers out of range");
    *s = (spot_slice){ .size = v[0], .wrong = v[1], .neighbours = v[2], .error_rate = fact[0], .mean_confidence = fact[1],
                       .share = fact[2], .score = fact[3], .row = t->member + t->members_used };
    memcpy(s->neighbour, v + 3, sizeof s->neighbour);
    t->members_used += s->size;
    SPOT_TRY(check_rows(r, "members", s->row, s->size, g->cls, true));
    return check_rows(r, "slices", s->neighbour, s->neighbours, g->cls, false);
}

/* The rows of the finding's class, shared with an earlier finding on the same class. */
static spot_status rows_of(subject_file_reader *r, spot_findings *f, int i)
{
    spot_finding *g = &f->finding[i];
    int used = 0;

    for (int k = i - 1; k >= 0; k--)
        if (f->finding[k].cls == g->cls) {
            g->n = f->finding[k].n;
            g->row = f->finding[k].row;
            return SPOT_OK;
        }
    g->n = spot_subject_rows(r->s, g->cls);
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, r->s, g->row, g->n));
    for (int k = 0; k < r->s->n; k++)
        if (spot_subject_is_of(r->s, k, g->cls)) g->row[used++] = k;
    return SPOT_OK;
}

static spot_status get_finding(subject_file_reader *r, tables *t, spot_findings *f, int i)
{
    const int64_t *v = t->finding + (int64_t)i * SPOT_RECALL_FINDING;
    spot_finding *g = &f->finding[i];
    const int least = r->s->target ? SPOT_ALL_CLASSES : 0;

    if (v[0] < 0 || v[0] >= t->bdms || v[1] < least || v[1] >= r->s->classes || v[3] < 0 || v[3] > r->s->n || v[4] < 0
        || v[4] >= SPOT_STATUS_COUNT || v[5] < 0 || v[5] > SPOT_MAX_HYPOTHESES)
        return damaged(r, "findings", "has numbers out of range");
    *g = (spot_finding){ .bdm = (int)v[0], .cls = (int)v[1], .seed = (uint64_t)v[2], .wrong = (int)v[3],
                         .status = (spot_status)v[4], .slices = (int)v[5] };
    snprintf(g->message, sizeof g->message, "%s", t->message[i]);
    SPOT_TRY(rows_of(r, f, i));
    SPOT_TRY(get_map(r, t, g, v[6], v[7]));
    for (int k = 0; k < g->slices; k++) SPOT_TRY(get_slice(r, t, g, &g->slice[k]));
    return SPOT_OK;
}

static spot_status get_findings(subject_file_reader *r, spot_findings *f, int bdms)
{
    tables t = { .count = -1, .slices = -1, .members = -1, .bdms = bdms };
    int64_t left = -1, n = r->s->n;

    SPOT_TRY(get(r, "findings", SPOT_I64, &t.count, SPOT_RECALL_FINDING, &t.finding));
    SPOT_TRY(get_words(r, "messages", &t.message, &t.count));
    SPOT_TRY(get(r, "slices", SPOT_I32, &t.slices, SPOT_RECALL_SLICE, &t.slice));
    SPOT_TRY(get(r, "facts", SPOT_F64, &t.slices, SPOT_RECALL_FACTS, &t.fact));
    SPOT_TRY(get(r, "members", SPOT_I32, &t.members, 0, &t.member));
    SPOT_TRY(get(r, "left_out", SPOT_I32, &left, 0, &f->left_class));
    SPOT_TRY(check_ints(r, "left_out", f->left_class, left, 0, r->s->classes - 1));
    f->left_out = (int)left;
    if (exists(r, "map")) SPOT_TRY(get(r, "map", SPOT_F32, &n, 2, &f->map));
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, r->s, t.map, t.count));
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, r->s, f->finding, t.count));
    f->count = (int)t.count;
    for (int i = 0; i < f->count; i++) SPOT_TRY(get_finding(r, &t, f, i));
    if (t.slices_used != t.slices || t.members_used != t.members) return damaged(r, "slices", "has more than the findings");
    return SPOT_OK;
}

/* ---- descriptions ---- */

typedef struct { int32_t *count; double *fact, *match; char **word, **item; int64_t slices, words, items, matches; } told;

spot_match spot_match_of(const double v[SPOT_RECALL_MATCH])
{
    return (spot_match){ .rows = (int)v[0], .group = (int)v[1], .covered = (int)v[2], .inside = (int)v[3], .wrong = (int)v[4],
                         .precision = v[5], .recall = v[6], .f1 = v[7], .lift = v[8], .t = v[9], .p = v[10] };
}

/* Takes a slice's words and items from the front of the lists. */
static spot_status get_description(subject_file_reader *r, told *t, spot_slice *s)
{
    if (t->slices-- <= 0 || t->count[0] < 0 || t->count[0] > t->words || t->count[1] < 0 || t->count[1] > SPOT_MOST_ITEMS
        || t->count[1] > t->items || (t->count[1] && !t->matches))
        return damaged(r, "descriptions", "has numbers out of range");
    s->words = t->count[0];
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, r->s, s->word, s->words));
    for (int i = 0; i < s->words; i++, t->word++, t->words--, t->fact += SPOT_RECALL_WORD)
        s->word[i] = (spot_word){ *t->word, t->fact[0], t->fact[1], t->fact[2] };
    if (t->count[1]) {
        SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, r->s, s->conjunction, 1));
        *s->conjunction = (spot_conjunction){ t->count[1], { -1, -1, -1 }, { NULL }, spot_match_of(t->match),
                                              spot_match_of(t->match + SPOT_RECALL_MATCH) };
        for (int i = 0; i < t->count[1]; i++, t->items--) s->conjunction->name[i] = *t->item++;
        t->match += 2 * SPOT_RECALL_MATCH;
        t->matches--;
    }
    t->count += 2;
    return SPOT_OK;
}

static spot_status get_descriptions(subject_file_reader *r, spot_findings *f)
{
    told t = { .slices = -1, .words = -1, .items = -1, .matches = -1 };

    if (!exists(r, "descriptions")) return SPOT_OK;
    SPOT_TRY(get(r, "descriptions", SPOT_I32, &t.slices, 2, &t.count));
    SPOT_TRY(get_words(r, "words", &t.word, &t.words));
    SPOT_TRY(get(r, "word_facts", SPOT_F64, &t.words, SPOT_RECALL_WORD, &t.fact));
    SPOT_TRY(get_words(r, "conjunctions", &t.item, &t.items));
    SPOT_TRY(get(r, "conjunction_facts", SPOT_F64, &t.matches, 2 * SPOT_RECALL_MATCH, &t.match));
    for (int64_t i = 0; i < t.matches * 2 * SPOT_RECALL_MATCH; i++)
        if (i % SPOT_RECALL_MATCH < 5 && !(t.match[i] >= 0 && t.match[i] <= r->s->n))
            return damaged(r, "conjunction_facts", "has numbers out of range");
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++) SPOT_TRY(get_description(r, &t, &f->finding[i].slice[k]));
    if (t.slices || t.words || t.items || t.matches) return damaged(r, "descriptions", "has other words than the slices");
    return SPOT_OK;
}

static spot_status get_suspects(subject_file_reader *r, spot_findings *f)
{
    spot_suspects *x = &f->suspects;
    int64_t n = -1;

    if (!exists(r, "suspect_rows") || !r->s->target) return SPOT_OK;
    SPOT_TRY(get(r, "suspect_rows", SPOT_I32, &n, 0, &x->row));
    SPOT_TRY(get(r, "suspect_classes", SPOT_I32, &n, 0, &x->cls));
    SPOT_TRY(check_rows(r, "suspect_rows", x->row, (int)n, SPOT_ALL_CLASSES, true));
    SPOT_TRY(check_ints(r, "suspect_classes", x->cls, n, 0, r->s->classes - 1));
    x->known = true;
    x->count = (int)n;
    spot_suspects_count(f);
    return SPOT_OK;
}

/* After the proofs, of which the rules are a part. */
static spot_status get_rules(subject_file_reader *r, spot_findings *f, const spot_discover_options *o)
{
    int64_t slices = 0, names = -1;
    int32_t *count;
    char **name;

    if (!exists(r, "rule_items") || !o->proof) return SPOT_OK;
    for (int i = 0; i < f->count; i++) slices += f->finding[i].slices;
    SPOT_TRY(get(r, "rule_items", SPOT_I32, &slices, 0, &count));
    SPOT_TRY(check_ints(r, "rule_items", count, slices, 0, SPOT_RULE_ITEMS));
    SPOT_TRY(get_words(r, "rules", &name, &names));
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < f->finding[i].slices; k++, count++) {
            spot_proof *p = f->finding[i].slice[k].proof;
            if (*count > names) return damaged(r, "rules", "has fewer names than the slices");
            p->rule_items = *count, p->rule = name;
            name += *count, names -= *count;
        }
    return names ? damaged(r, "rules", "has more names than the slices") : SPOT_OK;
}

static spot_status get_decided(subject_file_reader *r, spot_decided *d)
{
    int64_t n = SPOT_RECALL_DECIDED;
    double *fact;

    if (!exists(r, "features_decide")) return SPOT_OK;
    SPOT_TRY(get(r, "features_decide", SPOT_F64, &n, 0, &fact));
    if (!(fact[0] >= 0 && fact[0] <= r->s->n && fact[1] >= 0 && fact[1] <= r->s->n))
        return damaged(r, "features_decide", "has numbers out of range");
    *d = (spot_decided){ (int)fact[0], (int)fact[1], fact[2], fact[3], fact[4], fact[5] > 0 };
    return SPOT_OK;
}

static spot_status get_attributes(subject_file_reader *r, spot_discover_options *o)
{
    int64_t items = -1;
    spot_attributes *a;

    if (!exists(r, "attribute_bits")) return SPOT_OK;
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, r->s, a, 1));
    *a = (spot_attributes){ .rows = r->s->n, .words = r->s->n > 64 ? ((size_t)r->s->n + 63) / 64 : 1 };
    SPOT_TRY(get_words(r, "attribute_names", &a->name, &items));
    SPOT_TRY(get(r, "attribute_bits", SPOT_I64, &items, (int)a->words, &a->bit));
    SPOT_TRY(get(r, "attribute_columns", SPOT_I32, &items, 0, &a->column));
    SPOT_TRY(get(r, "attribute_ranges", SPOT_F64, &items, 2, &a->range));
    a->items = (int)items;
    o->attributes = a;
    return SPOT_OK;
}

static spot_status get_methods(subject_file_reader *r, spot_discover_options *o)
{
    spot_bdm_config *bdm;
    int64_t n = -1;
    char **name;

    SPOT_TRY(get_words(r, "methods", &name, &n));
    SPOT_TRY(SPOT_SUBJECT_TAKE(r->c, r->s, bdm, n));
    for (int64_t i = 0; i < n; i++) bdm[i].name = name[i], bdm[i].embeddings = "";
    o->bdm = bdm;
    o->bdms = (int)n;
    return SPOT_OK;
}

spot_status spot_findings_read(spot_ctx *c, const char *dir, spot_subject *s, spot_findings *f, spot_discover_options *o)
{
    char path[PATH];
    subject_file_reader r = { .c = c, .path = path, .s = s };
    struct stat st;
    spot_status how;

    memset(s, 0, sizeof *s);
    memset(f, 0, sizeof *f);
    *o = spot_discover_defaults();
    if (snprintf(path, sizeof path, "%s/subject.safetensors", dir) >= PATH)
        return spot_fail(c, SPOT_USAGE, "the name of the folder is longer than %d bytes", PATH - 24);
    if (stat(path, &st))
        return spot_fail(c, SPOT_INPUT, "{subject.missing} %s has no subject.safetensors, which a report needs; run the same "
                         "spotter discover again, which its cache makes quick", dir);
    SPOT_TRY(spot_tensors_open(c, &r.all, path));
    how = get_subject(&r);
    if (how == SPOT_OK) how = get_methods(&r, o);
    if (how == SPOT_OK) how = get_findings(&r, f, o->bdms);
    if (how == SPOT_OK) how = get_descriptions(&r, f);
    if (how == SPOT_OK) how = get_attributes(&r, o);
    if (how == SPOT_OK) how = spot_recall_proofs(c, &r.all, path, s, f, o);
    if (how == SPOT_OK) how = get_suspects(&r, f);
    if (how == SPOT_OK) how = get_rules(&r, f, o);
    if (how == SPOT_OK) how = get_decided(&r, &f->decided);
    spot_tensors_close(&r.all);
    if (how) {
        spot_findings_close(f);
        spot_subject_close(s);
    }
    return how;
}

spot_status spot_findings_pictures(spot_ctx *c, spot_subject *s, const char *folder)
{
    if (!s->id) return spot_fail(c, SPOT_INPUT, "these findings have no ids, so the pictures in %s cannot be found", folder);
    return spot_gallery_paths(c, s, folder, false);
}
