/* keywords.c - see keywords.h. A list of keywords grows record by record: records come in the order of the file, pictures in
 * that of the caller. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/suite/keywords.h"
#include "formats/csv_records.h"

enum { LONGEST = 256, MOST_WORDS = 100000, TOLD = 3 };

/* ---- names ---- */

static bool is_blank(char b) { return b == '_' || isspace((unsigned char)b); }

/* The keyword of n bytes of text: lower case, ' ' for '_', no blanks around it. False: it is longer than LONGEST - 1. */
static bool plain_word(char out[LONGEST], const char *text, size_t n)
{
    size_t k = 0;

    while (n && is_blank(*text)) text++, n--;
    while (n && is_blank(text[n - 1])) n--;
    if (n >= LONGEST) return false;
    for (; k < n; k++) out[k] = text[k] == '_' ? ' ' : (char)tolower((unsigned char)text[k]);
    out[k] = 0;
    return true;
}

/* Words by number and sorted, to find them. */
typedef struct { char **word; int *sorted, n, room; } vocabulary;

static int find_word(const vocabulary *v, const char *word, bool *found)
{
    int low = 0, high = v->n;

    while (low < high) {
        const int mid = (low + high) / 2, order = strcmp(v->word[v->sorted[mid]], word);
        if (!order) return *found = true, mid;
        if (order < 0) low = mid + 1;
        else high = mid;
    }
    return *found = false, low;
}

/* The number of a word, which is new if needed; -1: no memory. */
static int word_number(vocabulary *v, const char *word)
{
    bool found;
    const int at = find_word(v, word, &found);

    if (found) return v->sorted[at];
    if (v->n == v->room) {
        const int room = v->room ? 2 * v->room : 256;
        char **words = realloc(v->word, (size_t)room * sizeof *words);
        if (words) v->word = words;
        int *sorted = words ? realloc(v->sorted, (size_t)room * sizeof *sorted) : NULL;
        if (!sorted) return -1;
        v->sorted = sorted, v->room = room;
    }
    if (!(v->word[v->n] = strdup(word))) return -1;
    memmove(v->sorted + at + 1, v->sorted + at, (size_t)(v->n - at) * sizeof *v->sorted);
    v->sorted[at] = v->n;
    return v->n++;
}

/* ---- one file ---- */

typedef struct { int picture, word; } mark;

typedef struct {
    spot_ctx *c;
    const spot_keyword_list *list;
    vocabulary *words;
    mark   *marks;
    size_t  marked, room;
    int    *by_path, *record;          /* (pictures): sorted by path; line of the record, 0: none */
    int     columns, path_column, list_column;     /* list_column: "keywords", or -1 */
    int    *word_of;                   /* (columns) */
    char   *cell;
    size_t  cell_room;
    uint64_t line;
    int     others;
} keywords_reader;

static spot_status no_memory(keywords_reader *r)
{
    return spot_fail(r->c, SPOT_NOMEM, "no memory for the keywords of %s", r->list->file);
}

static spot_status take_cell(keywords_reader *r, const spot_csv_cell *cell)
{
    if (cell->n >= r->cell_room) {
        char *more = realloc(r->cell, r->cell_room = 2 * cell->n + LONGEST);
        if (!more) return no_memory(r);
        r->cell = more;
    }
    r->cell[spot_csv_unquote(r->cell, cell)] = 0;
    return SPOT_OK;
}

static spot_status add_mark(keywords_reader *r, int picture, int word)
{
    if (word < 0) return no_memory(r);
    if (r->words->n > MOST_WORDS)
        return spot_fail(r->c, SPOT_INPUT, "%s: more than %d different keywords", r->list->file, MOST_WORDS);
    if (picture < 0) return SPOT_OK;
    if (r->marked == r->room) {
        mark *more = realloc(r->marks, (r->room = 2 * r->room + 1024) * sizeof *more);
        if (!more) return no_memory(r);
        r->marks = more;
    }
    r->marks[r->marked++] = (mark){ picture, word };
    return SPOT_OK;
}

/* The cell "sky; tree" of a picture. */
static spot_status add_list(keywords_reader *r, int picture)
{
    char word[LONGEST];

    for (char *at = r->cell, *end; *at; at = *end ? end + 1 : end) {
        end = at + strcspn(at, ";");
        if (!plain_word(word, at, (size_t)(end - at)))
            return spot_fail(r->c, SPOT_INPUT, "%s: line %" PRIu64 " has a keyword of more than %d bytes; are they separated "
                             "by ';'?", r->list->file, r->line, LONGEST - 1);
        if (*word && picture >= 0) SPOT_TRY(add_mark(r, picture, word_number(r->words, word)));
    }
    return SPOT_OK;
}

static spot_status add_flag(keywords_reader *r, int picture, int column)
{
    char flag[LONGEST];
    const bool plain = plain_word(flag, r->cell, strlen(r->cell));

    if (plain && (!strcmp(flag, "1") || !strcmp(flag, "true"))) return add_mark(r, picture, r->word_of[column]);
    if (plain && (!strcmp(flag, "0") || !strcmp(flag, "false"))) return SPOT_OK;
    return spot_fail(r->c, SPOT_INPUT, "{keywords.value} %s: line %" PRIu64 ", cell %d is \"%.40s\"; a column of a keyword has "
                     "0 and 1", r->list->file, r->line, column + 1, r->cell);
}

/* The picture of the path in r->cell; -1: none of the list. */
static spot_status find_picture(keywords_reader *r, int *picture)
{
    int low = 0, high = r->list->n;

    *picture = -1;
    while (low < high) {
        const int mid = (low + high) / 2, order = strcmp(r->list->path[r->by_path[mid]], r->cell);
        if (!order) *picture = r->by_path[mid];
        if (order < 0) low = mid + 1;
        else high = mid;
    }
    if (*picture < 0) return r->others++, SPOT_OK;
    if (r->record[*picture])
        return spot_fail(r->c, SPOT_INPUT, "{keywords.twice} %s: lines %d and %" PRIu64 " are both of %s", r->list->file,
                         r->record[*picture], r->line, r->cell);
    r->record[*picture] = (int)r->line;
    return SPOT_OK;
}

/* The path may stand behind the flags, so that a record is read twice. */
static spot_status take_record(keywords_reader *r, spot_csv_cells cells)
{
    spot_csv_cells again = cells;
    spot_csv_cell cell;
    int more, k = 0, picture = -1;

    for (; (more = spot_csv_cell_next(&cells, &cell)) > 0; k++)
        if (k == r->path_column) {
            SPOT_TRY(take_cell(r, &cell));
            SPOT_TRY(find_picture(r, &picture));
        }
    if (more < 0)
        return spot_fail(r->c, SPOT_INPUT, "%s: line %" PRIu64 ": quotes amid a cell; write them twice, between quotes",
                         r->list->file, r->line);
    if (k != r->columns)
        return spot_fail(r->c, SPOT_INPUT, "{table.cells} %s: line %" PRIu64 " has %d cells; the header has %d", r->list->file,
                         r->line, k, r->columns);
    for (k = 0; spot_csv_cell_next(&again, &cell) > 0; k++) {
        if (k == r->path_column || (r->list_column >= 0 && k != r->list_column)) continue;
        SPOT_TRY(take_cell(r, &cell));
        SPOT_TRY(r->list_column >= 0 ? add_list(r, picture) : add_flag(r, picture, k));
    }
    return SPOT_OK;
}

static spot_status count_columns(keywords_reader *r, spot_csv_cells cells)
{
    spot_csv_cell cell;
    char name[LONGEST];

    r->path_column = r->list_column = -1;
    for (; spot_csv_cell_next(&cells, &cell) > 0; r->columns++) {
        SPOT_TRY(take_cell(r, &cell));
        if (!plain_word(name, r->cell, strlen(r->cell)))
            return spot_fail(r->c, SPOT_INPUT, "%s: the name of column %d is longer than %d bytes", r->list->file,
                             r->columns + 1, LONGEST - 1);
        if (!strcmp(name, "path")) r->path_column = r->columns;
        if (!strcmp(name, "keywords")) r->list_column = r->columns;
    }
    return r->path_column < 0 ? spot_fail(r->c, SPOT_INPUT, "{keywords.no_path} %s has no column \"path\"", r->list->file)
         : r->columns < 2 ? spot_fail(r->c, SPOT_INPUT, "{keywords.none} %s has no column of keywords",
                                      r->list->file) : SPOT_OK;
}

static spot_status take_header(keywords_reader *r, spot_csv_cells cells)
{
    spot_csv_cells again = cells;
    spot_csv_cell cell;
    char name[LONGEST];

    SPOT_TRY(count_columns(r, cells));
    r->word_of = calloc((size_t)r->columns, sizeof *r->word_of);
    if (!r->word_of) return no_memory(r);
    for (int k = 0; r->list_column < 0 && spot_csv_cell_next(&again, &cell) > 0; k++) {
        SPOT_TRY(take_cell(r, &cell));
        plain_word(name, r->cell, strlen(r->cell));
        if (k != r->path_column && (r->word_of[k] = word_number(r->words, name)) < 0) return no_memory(r);
    }
    return SPOT_OK;
}

static spot_status read_records(keywords_reader *r)
{
    spot_csv_block b = { 0 };
    spot_blob in;
    spot_status s;
    bool header = false;

    SPOT_TRY(spot_blob_open(r->c, &in, r->list->file));
    s = spot_csv_open(r->c, &b, &in);
    const bool open = s == SPOT_OK;
    while (s == SPOT_OK && (s = spot_csv_next(r->c, &b)) == SPOT_OK && b.records)
        for (int i = 0; i < b.records && s == SPOT_OK; i++, header = true) {
            r->line = b.row + (uint64_t)i + 1;
            s = header ? take_record(r, spot_csv_record(&b, i)) : take_header(r, spot_csv_record(&b, i));
        }
    if (open) spot_csv_close(&b);
    spot_blob_close(&in);
    return s == SPOT_OK && !header ? spot_fail(r->c, SPOT_INPUT, "{file.empty} %s is empty", r->list->file) : s;
}

/* ---- pictures ---- */

/* Sorts numbers of pictures by path: a merge of runs needs no global for the comparison. */
static void sort_paths(int *number, int *spare, int n, char *const *path)
{
    for (int width = 1; width < n; width *= 2) {
        for (int at = 0; at < n; at += 2 * width) {
            const int middle = at + width < n ? at + width : n, end = at + 2 * width < n ? at + 2 * width : n;
            for (int k = at, a = at, b = middle; k < end; k++) {
                const bool left = a < middle && (b == end || strcmp(path[number[a]], path[number[b]]) <= 0);
                spare[k] = left ? number[a++] : number[b++];
            }
        }
        memcpy(number, spare, (size_t)n * sizeof *number);
    }
}

static spot_status check_pictures(keywords_reader *r)
{
    char names[TOLD * 200] = "";
    int missing = 0;

    for (int i = 0; i < r->list->n; i++) {
        if (r->record[i]) continue;
        if (missing++ < TOLD)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.180s", *names ? ", " : "", r->list->path[i]);
    }
    return !missing ? SPOT_OK
                    : spot_fail(r->c, SPOT_INPUT, "{keywords.no_record} %s has no record of %d of %d pictures: %s%s",
                                r->list->file, missing,
                                r->list->n, names, missing > TOLD ? ", ..." : "");
}

static int compare_marks(const void *a, const void *b)
{
    const mark *x = a, *y = b;

    return x->picture != y->picture ? (x->picture > y->picture) - (x->picture < y->picture)
                                    : (x->word > y->word) - (x->word < y->word);
}

/* Marks as rows; one that stands twice counts once. */
static spot_status fill_baskets(keywords_reader *r, spot_baskets *out)
{
    int *first = calloc((size_t)r->list->n + 1 + r->marked + 1, sizeof *first), *item = first ? first + r->list->n + 1 : NULL;
    int n = 0;

    if (!first) return no_memory(r);
    if (r->marked) qsort(r->marks, r->marked, sizeof *r->marks, compare_marks);
    for (size_t i = 0; i < r->marked; i++)
        if (!i || compare_marks(&r->marks[i - 1], &r->marks[i])) {
            item[n++] = r->marks[i].word;
            first[r->marks[i].picture + 1]++;
        }
    for (int i = 0; i < r->list->n; i++) first[i + 1] += first[i];
    *out = (spot_baskets){ r->list->n, 0, first, item };
    return SPOT_OK;
}

static spot_status read_list(spot_ctx *c, spot_baskets *out, int *others, vocabulary *v, const spot_keyword_list *list)
{
    const size_t n = (size_t)list->n + 1;
    keywords_reader r = { .c = c, .list = list, .words = v, .by_path = malloc(2 * n * sizeof(int)),
                          .record = calloc(n, sizeof(int)) };
    spot_status s = r.by_path && r.record ? SPOT_OK : no_memory(&r);

    for (int i = 0; s == SPOT_OK && i < list->n; i++) r.by_path[i] = i;
    if (s == SPOT_OK) sort_paths(r.by_path, r.by_path + n, list->n, list->path);
    if (s == SPOT_OK && list->file) s = read_records(&r);
    if (s == SPOT_OK && list->file) s = check_pictures(&r);
    if (s == SPOT_OK) s = fill_baskets(&r, out);
    *others += r.others;
    free(r.by_path), free(r.record), free(r.marks), free(r.word_of), free(r.cell);
    return s;
}

spot_status spot_keywords_read(spot_ctx *c, spot_keywords *k, const spot_keyword_list *images,
                               const spot_keyword_list *backgrounds)
{
    vocabulary v = { 0 };
    spot_status s;

    *k = (spot_keywords){ 0 };
    s = read_list(c, &k->images, &k->others, &v, images);
    if (s == SPOT_OK) s = read_list(c, &k->backgrounds, &k->others, &v, backgrounds);
    k->word = v.word;
    k->words = k->images.items = k->backgrounds.items = v.n;
    free(v.sorted);
    return s;
}

void spot_keywords_close(spot_keywords *k)
{
    for (int i = 0; i < k->words; i++) free(k->word[i]);
    free(k->word);
    free((void *)k->images.first), free((void *)k->backgrounds.first);
    memset(k, 0, sizeof *k);
}

/* ---- lines of words ---- */

spot_status spot_keyword_words(spot_ctx *c, char **word, int *n, const char *path)
{
    vocabulary v = { 0 };
    spot_status s = SPOT_OK;
    char out[LONGEST];

    for (int i = 0; i < *n && s == SPOT_OK; i++) {
        const int before = v.n;
        if (!plain_word(out, word[i], strlen(word[i])))
            s = spot_fail(c, SPOT_INPUT, "{words.too_long} %s: word %d has more than %d bytes; write one in each line", path,
                          i + 1, LONGEST - 1);
        else if (word_number(&v, out) < 0) s = spot_fail(c, SPOT_NOMEM, "no memory for the words of %s", path);
        else if (v.n > before) word[before] = strcpy(word[i], out);      /* a keyword is no longer than its line */
    }
    if (s == SPOT_OK) *n = v.n;
    for (int i = 0; i < v.n; i++) free(v.word[i]);
    free(v.word), free(v.sorted);
    return s;
}

/* ---- backgrounds that are left out ---- */

bool spot_keywords_have(const spot_keywords *k, const char *name, size_t n)
{
    char out[LONGEST];
    bool found = false;

    if (!plain_word(out, name, n)) return false;
    for (int w = 0; w < k->words && !found; w++) found = !strcmp(out, k->word[w]);
    return found;
}

int spot_keywords_excluded(int *excluded, const spot_keywords *k, const char *names, char *const *class_name, int classes)
{
    char out[LONGEST];
    int n = 0;

    memset(excluded, 0, (size_t)k->backgrounds.transactions * sizeof *excluded);
    for (int w = 0; w < k->words; w++) {
        bool out_of_it = false;
        for (int i = 0; i < classes && !out_of_it; i++)
            out_of_it = plain_word(out, class_name[i], strlen(class_name[i])) && !strcmp(out, k->word[w]);
        for (const char *at = names, *end; *at && !out_of_it; at = *end ? end + 1 : end) {
            end = at + strcspn(at, ";");
            out_of_it = plain_word(out, at, (size_t)(end - at)) && !strcmp(out, k->word[w]);
        }
        for (int b = 0; out_of_it && b < k->backgrounds.transactions; b++)
            for (int i = k->backgrounds.first[b]; i < k->backgrounds.first[b + 1] && !excluded[b]; i++)
                if (k->backgrounds.item[i] == w) excluded[b] = w + 1, n++;
    }
    return n;
}
