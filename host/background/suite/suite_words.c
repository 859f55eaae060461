/* suite_words.c - keywords of targets and backgrounds. */
#include <stdlib.h>
#include <string.h>

#include "background/suite/suite_work.h"
#include "formats/word_lines.h"

/* ---- from files ---- */

static spot_status read_keywords(spot_ctx *c, spot_suite_work *w)
{
    const spot_background_ontology *o = &w->in->cfg->ontology;
    char **path = malloc(((size_t)w->s->targets + 1) * sizeof *path);
    spot_status s;

    if (!path) return spot_fail(c, SPOT_NOMEM, "no memory for the keywords of %d pictures", w->s->targets);
    for (int i = 0; i < w->s->targets; i++) path[i] = w->in->name[w->picture[i]];
    s = spot_keywords_read(c, &w->keywords, &(spot_keyword_list){ o->images[0] ? o->images : NULL, path, w->s->targets },
                           &(spot_keyword_list){ o->backgrounds[0] ? o->backgrounds : NULL, w->in->back_name,
                                                 w->in->backgrounds });
    free(path);
    return s;
}

/* ---- by an encoder ---- */

/* The columns of one encoder: (n, dim) from (n, all). */
static void take_columns(float *out, const spot_suite_encoders *e, int encoder, const float *row, int n)
{
    const int dim = e->at[encoder + 1] - e->at[encoder];

    for (int i = 0; i < n; i++)
        memcpy(out + (size_t)i * (size_t)dim, row + (size_t)i * (size_t)e->dim + e->at[encoder], (size_t)dim * sizeof *out);
}

/* *rows: targets, backgrounds, texts by the encoder with texts; malloc'd. */
static spot_status encode_words(spot_ctx *c, spot_suite_work *w, float **rows, int *dim, char *const *word, int words)
{
    spot_suite_encoders *e = w->encoders;

    *rows = NULL;
    if (e->texts < 0)
        return spot_fail(c, SPOT_INPUT, "words are compared with pictures, and none of the encoders (%s) takes texts; one "
                         "must be a CLIP with its tokenizer", e->name);
    *dim = e->at[e->texts + 1] - e->at[e->texts];
    *rows = malloc(((size_t)w->s->targets + (size_t)w->in->backgrounds + (size_t)words) * (size_t)*dim * sizeof **rows + 1);
    if (!*rows) return spot_fail(c, SPOT_NOMEM, "no memory to compare %d words with pictures", words);
    take_columns(*rows, e, e->texts, w->row, w->s->targets);
    take_columns(*rows + (size_t)w->s->targets * (size_t)*dim, e, e->texts, w->back_row, w->in->backgrounds);
    return spot_encode_texts(c, e->net[e->texts], *rows + ((size_t)w->s->targets + (size_t)w->in->backgrounds) * (size_t)*dim,
                             (const char *const *)word, words);
}

static spot_status find_keywords(spot_ctx *c, spot_suite_work *w)
{
    const spot_background_ontology *o = &w->in->cfg->ontology;
    float *rows = NULL;
    char **word = NULL;
    int words = 0, dim = 0;
    spot_status s = spot_word_lines(c, &word, &words, o->words);

    if (s == SPOT_OK) s = spot_keyword_words(c, word, &words, o->words);
    if (s == SPOT_OK) s = encode_words(c, w, &rows, &dim, word, words);
    if (s == SPOT_OK) {
        const float *back = rows + (size_t)w->s->targets * (size_t)dim;
        const spot_keyword_rows r = { word, back + (size_t)w->in->backgrounds * (size_t)dim, rows, back, words, dim,
                                      w->s->targets,
                                      w->in->backgrounds, o->top };
        s = spot_keywords_similar(c, &w->keywords, &r);
    }
    free(rows), free(word);
    return s;
}

typedef struct { float score; int word; } scored;

static int compare_scores(const void *a, const void *b)
{
    const scored *x = a, *y = b;

    return x->score != y->score ? (x->score < y->score) - (x->score > y->score) : (x->word > y->word) - (x->word < y->word);
}

/* w->similar: the N words that are most similar to each target. */
static spot_status rank_words(spot_ctx *c, spot_suite_work *w)
{
    const int words = w->keywords.words, n = w->in->cfg->suite.n;
    float *rows = NULL;
    int dim = 0;
    spot_status s = encode_words(c, w, &rows, &dim, w->keywords.word, words);
    scored *list = malloc(((size_t)words + 1) * sizeof *list);

    w->similar_words = n < words ? n : words;
    w->similar = malloc(((size_t)w->s->targets * (size_t)w->similar_words + 1) * sizeof *w->similar);
    if (s == SPOT_OK && (!list || !w->similar)) s = spot_fail(c, SPOT_NOMEM, "no memory to rank %d words", words);
    for (int i = 0; i < w->s->targets && s == SPOT_OK; i++) {
        const float *row = rows + (size_t)i * (size_t)dim;
        const float *text = rows + ((size_t)w->s->targets + (size_t)w->in->backgrounds) * (size_t)dim;
        for (int k = 0; k < words; k++) {
            double dot = 0;
            for (int d = 0; d < dim; d++) dot += (double)row[d] * text[(size_t)k * (size_t)dim + (size_t)d];
            list[k] = (scored){ (float)dot, k };
        }
        qsort(list, (size_t)words, sizeof *list, compare_scores);
        for (int k = 0; k < w->similar_words; k++) w->similar[(size_t)i * (size_t)w->similar_words + (size_t)k] = list[k].word;
    }
    free(rows), free(list);
    return s;
}

/* ---- which backgrounds are allowed ---- */

/* Says what keeps backgrounds from being left out, though they may show an object of a class. */
static void log_excluded(spot_ctx *c, const spot_suite_work *w)
{
    bool some = false;

    if (!w->keywords.words) {
        spot_log(c, SPOT_LOG_WARN, "nothing says which backgrounds show an object of a class: without keywords "
                 "(ontology.backgrounds or ontology.words) all backgrounds are used");
        return;
    }
    for (int k = 0; k < w->in->classes; k++)
        some |= spot_keywords_have(&w->keywords, w->in->class_name[k], strlen(w->in->class_name[k]));
    for (const char *at = w->in->cfg->ontology.excluded, *end; *at; at = *end ? end + 1 : end) {
        end = at + strcspn(at, ";");
        at += strspn(at, " ");
        if (at >= end) continue;
        if (spot_keywords_have(&w->keywords, at, (size_t)(end - at))) some = true;
        else spot_log(c, SPOT_LOG_WARN, "ontology.excluded has \"%.*s\", and no picture or background has that keyword",
                      (int)(end - at), at);
    }
    if (!some)
        spot_log(c, SPOT_LOG_WARN, "none of the %d keywords is the name of a class (%s, ...) or in ontology.excluded, so no "
                 "background is left out for an object that it shows", w->keywords.words, w->in->class_name[0]);
}

static spot_status list_allowed(spot_ctx *c, spot_suite_work *w)
{
    const spot_background_config *cfg = w->in->cfg;
    const int n = w->in->backgrounds;

    w->excluded = calloc((size_t)n + 1, sizeof *w->excluded);
    w->allowed = malloc(((size_t)n + 1) * sizeof *w->allowed);
    if (!w->excluded || !w->allowed) return spot_fail(c, SPOT_NOMEM, "no memory for %d backgrounds", n);
    if (w->keywords.words)
        w->s->with_class = spot_keywords_excluded(w->excluded, &w->keywords, cfg->ontology.excluded, w->in->class_name,
                                                  w->in->classes);
    log_excluded(c, w);
    for (int i = 0; i < n; i++)
        if (!w->excluded[i]) w->allowed[w->allowed_count++] = i;
    if (w->s->with_class)
        spot_log(c, SPOT_LOG_INFO, "%d of %d backgrounds are left out: they show an object of a class or an excluded keyword",
                 w->s->with_class, n);
    if (w->allowed_count >= cfg->suite.n) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{suite.few_backgrounds} a target needs %d different backgrounds (suite.n), and %d are "
                     "left of %d in %s: %d show an object of a class or an excluded keyword; add backgrounds or take a smaller "
                     "suite.n", cfg->suite.n, w->allowed_count, n, cfg->data.backgrounds, w->s->with_class);
}

spot_status spot_suite_words(spot_ctx *c, spot_suite_work *w)
{
    const spot_background_ontology *o = &w->in->cfg->ontology;

    if (o->words[0]) SPOT_TRY(find_keywords(c, w));
    else if (o->images[0] || o->backgrounds[0]) SPOT_TRY(read_keywords(c, w));
    SPOT_TRY(list_allowed(c, w));
    return w->in->cfg->suite.choice == SPOT_SUITE_CLIP ? rank_words(c, w) : SPOT_OK;
}
