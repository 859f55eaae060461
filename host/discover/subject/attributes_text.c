/* attributes_text.c - a column of free text -> the terms that its rows have, as items "NAME has TERM". */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "discover/subject/attributes.h"

enum { MOST_TERMS = 256, FEWEST_ROWS = 5, LONGEST = 60 };      /* terms of a column; rows of a term; its bytes */

/* Bytes of the text; upper and lower case of ASCII are the same. */
typedef struct { const char *at; int bytes, row; } text_term;
typedef struct { int first, n, rows; } term_rows;

static bool is_letter(char c) { return isalnum((unsigned char)c) || (unsigned char)c >= 0x80; }

/* The next term of at least two bytes from *at on; false: there is none. */
static bool next_term(const char **at, text_term *t)
{
    for (;;) {
        while (**at && !is_letter(**at)) ++*at;
        if (!**at) return false;
        t->at = *at;
        while (is_letter(**at)) ++*at;
        t->bytes = (int)(*at - t->at);
        if (t->bytes > 1 && t->bytes <= LONGEST) return true;
    }
}

bool spot_text_has_term(const char *text, const char *term)
{
    const size_t n = strlen(term);
    text_term t;

    while (next_term(&text, &t))
        if ((size_t)t.bytes == n && !strncasecmp(t.at, term, n)) return true;
    return false;
}

/* Words between blanks: a path has one. */
static int words_in(const char *text)
{
    int words = 0;

    for (size_t n; *text; text += n) {
        text += strspn(text, " \t\r\n");
        n = strcspn(text, " \t\r\n");
        words += n > 0;
    }
    return words;
}

/* Whether most cells are there once, and have three words on the average. order: the rows sorted by their words. */
static bool is_text(char *const *word, const int *order, int rows)
{
    long words = 0;
    int filled = 0, once = 0;

    for (int i = 0, end; i < rows; i = end) {
        for (end = i + 1; end < rows && !strcmp(word[order[end]], word[order[i]]); end++) { }
        if (!*word[order[i]]) continue;
        filled += end - i;
        once += end == i + 1;
        words += (long)words_in(word[order[i]]) * (end - i);
    }
    return 2 * once > filled && words >= 3L * filled;
}

static int compare_terms(const void *a, const void *b)
{
    const text_term *x = a, *y = b;

    for (int i = 0; i < x->bytes && i < y->bytes; i++) {
        const int p = tolower((unsigned char)x->at[i]), q = tolower((unsigned char)y->at[i]);
        if (p != q) return p - q;
    }
    return x->bytes != y->bytes ? x->bytes - y->bytes : x->row - y->row;
}

static bool same_term(const text_term *x, const text_term *y)
{
    text_term z = *y;

    z.row = x->row;
    return !compare_terms(x, &z);
}

static int more_rows_first(const void *a, const void *b)
{
    const term_rows *x = a, *y = b;

    return x->rows != y->rows ? y->rows - x->rows : x->first - y->first;
}

/* The terms of FEWEST_ROWS rows and more that nine tenths of the rows at most have; their number. */
static int count_terms(term_rows *out, const text_term *term, int n, int rows)
{
    int found = 0;

    for (int i = 0, end; i < n; i = end) {
        term_rows t = { i, 0, 0 };
        for (end = i; end < n && same_term(&term[i], &term[end]); end++)
            t.rows += end == i || term[end].row != term[end - 1].row;
        t.n = end - i;
        if (t.rows >= FEWEST_ROWS && t.rows <= 0.9 * rows) out[found++] = t;
    }
    qsort(out, (size_t)found, sizeof *out, more_rows_first);
    return found;
}

static spot_status add_terms(spot_ctx *c, spot_attributes *a, int column, const char *name, const text_term *term,
                             const term_rows *found, int count)
{
    for (int k = 0; k < count; k++) {
        const text_term *t = &term[found[k].first];
        char text[LONGEST + 1] = "";
        uint64_t *bit;
        for (int i = 0; i < t->bytes; i++) text[i] = (char)tolower((unsigned char)t->at[i]);
        SPOT_TRY(spot_attributes_item(c, a, column, &bit, "%s" SPOT_HAS_TERM "%s", name, text));
        for (int i = 0; i < found[k].n; i++) bit[t[i].row / 64] |= (uint64_t)1 << t[i].row % 64;
    }
    return SPOT_OK;
}

static spot_status add_text(spot_ctx *c, spot_attributes *a, int column, const char *name, char *const *word)
{
    size_t n = 0, all = 0;
    text_term *term, t;
    term_rows *found;
    spot_status how;
    int count;

    for (int i = 0; i < a->rows; i++)
        for (const char *at = word[i]; next_term(&at, &t);) all++;
    term = malloc((all + 1) * sizeof *term);
    found = malloc((all / FEWEST_ROWS + 1) * sizeof *found);
    if (!term || !found || all > INT32_MAX) {
        free(term), free(found);
        return spot_fail(c, SPOT_NOMEM, "no memory for the %zu words of the attribute %.80s", all, name);
    }
    for (int i = 0; i < a->rows; i++)
        for (const char *at = word[i]; next_term(&at, &t);) t.row = i, term[n++] = t;
    qsort(term, n, sizeof *term, compare_terms);
    count = count_terms(found, term, (int)n, a->rows);
    spot_log(c, SPOT_LOG_INFO, "attribute %.80s is read as text: %d of its terms that %d rows have or more are used", name,
             count < MOST_TERMS ? count : MOST_TERMS, FEWEST_ROWS);
    how = add_terms(c, a, column, name, term, found, count < MOST_TERMS ? count : MOST_TERMS);
    free(term), free(found);
    return how;
}

spot_status spot_attributes_text(spot_ctx *c, spot_attributes *a, int column, const char *name, char *const *word)
{
    int *order = malloc(((size_t)a->rows + 1) * sizeof *order);
    bool text;

    if (!order) return spot_fail(c, SPOT_NOMEM, "no memory to sort the attribute %.80s", name);
    spot_words_sort(order, word, a->rows);
    text = is_text(word, order, a->rows);
    free(order);
    return (text ? add_text : spot_attributes_words)(c, a, column, name, word);
}
