/* test_attributes.c - the conjunctions of attributes that describe groups against all that there are, and attributes from
 * tables. tests/test_describe.sh compares with exact fractions. ctest: both */
#define _POSIX_C_SOURCE 200809L   /* getpid */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "checks.h"
#include "discover/subject/attributes.h"
#include "heard.h"
#include "noise.h"
#include "spotter/describe.h"

/* ---- conjunctions ---- */

enum { ROWS = 500, COLUMNS = 9, GROUPS = 3 };

typedef struct {
    spot_attributes a;
    int   row[ROWS], member[GROUPS][ROWS];
    uint8_t wrong[ROWS];
    spot_group group[GROUPS];
    spot_conjunctions_problem p;
} table;

static void set_item(spot_attributes *a, int item, int row, bool on)
{
    uint64_t bit = (uint64_t)1 << row % 64, *word = &a->bit[(size_t)item * a->words + (size_t)row / 64];

    *word = on ? *word | bit : *word & ~bit;
}

static bool is_set(const spot_attributes *a, int item, int row)
{
    return a->bit[(size_t)item * a->words + (size_t)row / 64] >> row % 64 & 1;
}

/* Each column has the items "cK" and "not cK", with a share of ones that differs. The rows of the class are every second row of
 * the attributes. Group 0 is c3 and not c5, with noise; group 1 is random; group 2 has one row. */
static void open_table(table *t, int columns)
{
    spot_attributes *a = &t->a;

    *t = (table){ .a = { .rows = 2 * ROWS, .items = 2 * columns } };
    a->words = (size_t)(a->rows + 63) / 64;
    a->bit = calloc((size_t)a->items * a->words, sizeof *a->bit);
    a->name = malloc((size_t)a->items * sizeof *a->name);
    a->column = malloc((size_t)a->items * sizeof *a->column);
    for (int k = 0; k < a->items; k++) {
        spot_rng r = noise_at(9, k / 2);
        a->column[k] = k / 2;
        a->name[k] = malloc(16);
        snprintf(a->name[k], 16, "%sc%d", k % 2 ? "not " : "", k / 2);
        for (int i = 0; i < a->rows; i++) {
            bool on = spot_rng_uniform(&r) < 0.1 + 0.8 * (k / 2) / columns;
            set_item(a, k, i, on != (k % 2));
        }
    }
    for (int i = 0; i < ROWS; i++) {
        spot_rng r = noise_at(10, i);
        bool in = is_set(a, 2 * 3, 2 * i) && !(columns > 5 && is_set(a, 2 * 5, 2 * i));
        t->row[i] = 2 * i;
        t->wrong[i] = spot_rng_uniform(&r) < (in ? 0.8 : 0.1);
        if (spot_rng_uniform(&r) < (in ? 0.8 : 0.05)) t->member[0][t->group[0].n++] = i;
        if (spot_rng_uniform(&r) < 0.3) t->member[1][t->group[1].n++] = i;
        if (i == 77) t->member[2][t->group[2].n++] = i;
    }
    for (int g = 0; g < GROUPS; g++) t->group[g].row = t->member[g];
    t->p = (spot_conjunctions_problem){ .attributes = a, .n = ROWS, .row = t->row, .wrong = t->wrong, .groups = GROUPS,
                                        .group = t->group, .seed = { 3, 1 } };
}

static void close_table(table *t)
{
    for (int k = 0; k < t->a.items; k++) free(t->a.name[k]);
    free(t->a.name);
    free(t->a.column);
    free(t->a.bit);
}

/* The halves as the header says: the first n/2 of a shuffled order. */
static void first_half(bool seen[ROWS], spot_seed seed)
{
    uint32_t order[ROWS];
    spot_rng r = spot_rng_at(seed.seed, SPOT_RNG_DESCRIBE, seed.ec, 0);

    spot_rng_shuffle(&r, order, ROWS);
    for (int i = 0; i < ROWS; i++) seen[order[i]] = i < ROWS / 2;
}

typedef struct { int covered, inside, group, wrong, all_wrong, rows; } counts;

static counts count_on(const table *t, int g, const int *item, int items, const bool *seen, bool half)
{
    counts n = { 0 };
    bool in[ROWS] = { false };

    for (int i = 0; i < t->group[g].n; i++) in[t->group[g].row[i]] = true;
    for (int i = 0; i < ROWS; i++) {
        bool on = true;
        if (seen && seen[i] != half) continue;
        for (int k = 0; k < items; k++) on = on && is_set(&t->a, item[k], t->row[i]);
        n.rows++, n.covered += on, n.group += in[i], n.inside += on && in[i];
        n.wrong += on && t->wrong[i], n.all_wrong += t->wrong[i];
    }
    return n;
}

typedef struct { int items, item[3]; long long up, down; } brute;

static void consider(const table *t, int g, const bool *seen, brute *best, int items, int a, int b, int c)
{
    const int item[] = { a, b, c };
    counts n = count_on(t, g, item, items, seen, true);
    long long up = 2LL * n.inside, down = n.covered + n.group;

    if (!n.inside || 10 * up < down || up * best->down < best->up * down) return;
    if (up * best->down == best->up * down && items >= best->items) return;
    *best = (brute){ items, { a, b, c }, up, down };
}

/* Every conjunction, singles first and in the order of the items, so that of equal ones the first stays. */
static brute all_conjunctions(const table *t, int g, const bool *seen)
{
    brute best = { .items = 9, .down = 1 };
    const int items = t->a.items, *column = t->a.column;

    for (int a = 0; a < items; a++) consider(t, g, seen, &best, 1, a, -1, -1);
    for (int a = 0; a < items; a++)
        for (int b = a + 1; b < items; b++)
            if (column[a] != column[b]) consider(t, g, seen, &best, 2, a, b, -1);
    for (int a = 0; a < items; a++)
        for (int b = a + 1; b < items; b++)
            for (int c = b + 1; c < items && column[a] != column[b]; c++)
                if (column[c] != column[a] && column[c] != column[b]) consider(t, g, seen, &best, 3, a, b, c);
    return best;
}

static double choose(int n, int k)
{
    double v = 1;

    if (k < 0 || k > n) return 0;
    for (int i = 0; i < k; i++) v = v * (n - i) / (i + 1);
    return v;
}

static void check_match(const spot_match *m, counts n)
{
    double k = n.wrong + 1, all = n.all_wrong + 1, mean = k / (n.covered + 2), mean_all = all / (n.rows + 2), tail = 0;
    double v = k * (n.covered - n.wrong + 1) / pow(n.covered + 2, 2) / (n.covered + 3);
    double v_all = all * (n.rows - n.all_wrong + 1) / pow(n.rows + 2, 2) / (n.rows + 3);

    assert_int_equal(m->rows, n.rows);
    assert_int_equal(m->covered, n.covered);
    assert_int_equal(m->inside, n.inside);
    assert_int_equal(m->group, n.group);
    assert_int_equal(m->wrong, n.wrong);
    if (n.covered) CHECK_NEAR(m->precision, (double)n.inside / n.covered, 1e-12);
    else assert_true(isnan(m->precision) && isnan(m->lift));
    if (n.group) CHECK_NEAR(m->recall, (double)n.inside / n.group, 1e-12);
    else assert_true(isnan(m->recall) && isnan(m->lift));
    if (n.covered && n.group) CHECK_NEAR(m->lift, (double)n.inside / n.covered / ((double)n.group / n.rows), 1e-12);
    CHECK_NEAR(m->t, (mean - mean_all) / sqrt(v + v_all), 1e-12);
    for (int i = n.inside; i <= n.covered; i++)
        tail += choose(n.group, i) * choose(n.rows - n.group, n.covered - i) / choose(n.rows, n.covered);
    CHECK_NEAR(m->p, tail, 1e-9 * tail + 1e-15);
}

TEST(conjunctions_are_those_of_all_that_there_are)
{
    spot_conjunction found[GROUPS];
    bool seen[ROWS];
    table t;

    open_table(&t, COLUMNS);
    first_half(seen, t.p.seed);
    for (int threads = 1; threads <= 4; threads += 3) {
        spot_ctx c = check_ctx(threads);
        CHECK_OK(&c, spot_conjunctions_find(&c, found, &t.p));
        for (int g = 0; g < GROUPS; g++) {
            brute want = all_conjunctions(&t, g, seen);
            if (g == 2 && !seen[77]) {
                assert_int_equal(found[g].items, 0);
                continue;
            }
            assert_int_equal(found[g].items, want.items);
            for (int k = 0; k < 3; k++) assert_int_equal(found[g].item[k], want.item[k]);
            for (int k = 0; k < want.items; k++) assert_ptr_equal(found[g].name[k], t.a.name[want.item[k]]);
            check_match(&found[g].held_out, count_on(&t, g, want.item, want.items, seen, false));
            check_match(&found[g].all, count_on(&t, g, want.item, want.items, NULL, false));
        }
    }
    assert_int_equal(found[0].items, 2);
    assert_string_equal(found[0].name[0], "c3");
    assert_string_equal(found[0].name[1], "not c5");
    assert_true(found[0].held_out.p < 1e-6 && found[0].held_out.t > 3);
    assert_true(found[1].held_out.p > 1e-3);           /* a random group has no name */
    close_table(&t);
}

/* Small classes have many ties, and items that hold for all rows or for none. */
TEST(conjunctions_of_few_rows_obey_the_order)
{
    spot_ctx c = check_ctx(2);
    int differs = 0;

    for (uint32_t turn = 0; turn < (SANITIZED ? 6 : 40); turn++) {
        spot_conjunction found[GROUPS];
        bool seen[ROWS] = { false };
        uint32_t order[ROWS];
        brute best = { .items = 9, .down = 1 };
        spot_rng r;
        table t;

        open_table(&t, 5);
        t.p.n = 9 + (int)turn % 5;
        t.p.seed.ec = turn;
        t.p.groups = 1;
        t.group[0] = (spot_group){ t.member[0], 3 };
        for (int i = 0; i < 3; i++) t.member[0][i] = i * ((int)turn % 3 + 1);
        r = spot_rng_at(3, SPOT_RNG_DESCRIBE, turn, 0);
        spot_rng_shuffle(&r, order, (uint32_t)t.p.n);
        for (int i = 0; i < t.p.n / 2; i++) seen[order[i]] = true;
        for (int k = 0; k < t.a.items; k++) {              /* what holds for all seen rows is left out: no row has it then */
            bool all = true;
            for (int i = 0; i < t.p.n; i++) all = all && (!seen[i] || is_set(&t.a, k, t.row[i]));
            for (int i = 0; i < t.p.n && all; i++) set_item(&t.a, k, t.row[i], false);
        }
        best = all_conjunctions(&t, 0, seen);
        CHECK_OK(&c, spot_conjunctions_find(&c, found, &t.p));
        assert_int_equal(found[0].items, best.items == 9 ? 0 : best.items);
        for (int k = 0; k < found[0].items; k++) assert_int_equal(found[0].item[k], best.item[k]);
        differs |= 1 << found[0].items;
        close_table(&t);
    }
    assert_true((differs & 6) == 6);                   /* singles and pairs, at least */
}

/* ---- tables ---- */

static const char *write_text(spot_ctx *c, const char *text)
{
    static char path[64];

    snprintf(path, sizeof path, "/tmp/spotter-attributes-%d.csv", (int)getpid());
    CHECK_OK(c, spot_file_write(c, path, text, strlen(text)));
    return path;
}

/* The rows of an item as ones and zeros, "" where there is no such item. */
static const char *rows_of(const spot_attributes *a, const char *name)
{
    static char text[80];

    *text = 0;
    for (int k = 0; k < a->items; k++) {
        if (strcmp(a->name[k], name)) continue;
        for (int i = 0; i < a->rows; i++) text[i] = (char)('0' + is_set(a, k, i));
        text[a->rows] = 0;
    }
    return text;
}

TEST(columns_become_items)
{
    spot_ctx c = check_ctx(1);
    const char *path = write_text(&c, "\xef\xbb\xbf" "night,weather,size,kind,same,\"a \"\"b\"\"\",rare\r\n"
                                      "1,rain,0.5,1,x,true,p\r\n0,sun,1,2,x,FALSE,q\r\n1, rain ,1.5,1.0,x,,r\r\n"
                                      "0,,2,2,x,false,s\r\n1,sun,2.5,1,x,True,t\r\n0,\"rain\",nan,2,x,0,u\r\n"
                                      "0,snow,3,1,x,1,v\r\n");
    spot_attributes a;

    CHECK_OK(&c, spot_attributes_read(&c, &a, path, NULL, 7));
    assert_string_equal(rows_of(&a, "night"), "1010100");
    assert_string_equal(rows_of(&a, "not night"), "0101011");
    assert_string_equal(rows_of(&a, "weather=rain"), "1010010");
    assert_string_equal(rows_of(&a, "weather=sun"), "0100100");
    assert_string_equal(rows_of(&a, "weather=snow"), "");              /* one row only */
    assert_string_equal(rows_of(&a, "size=low (<= 1)"), "1100000");
    assert_string_equal(rows_of(&a, "size=middle (<= 2)"), "0011000");
    assert_string_equal(rows_of(&a, "size=high (> 2)"), "0000101");
    assert_string_equal(rows_of(&a, "kind=1"), "1010101");
    assert_string_equal(rows_of(&a, "kind=2"), "0101010");
    assert_string_equal(rows_of(&a, "a \"b\""), "1000101");
    assert_string_equal(rows_of(&a, "not a \"b\""), "0101010");
    assert_int_equal(a.items, 2 + 2 + 3 + 2 + 2);
    assert_int_equal(a.column[0], a.column[1]);
    assert_int_not_equal(a.column[1], a.column[2]);
    spot_attributes_close(&a);
    remove(path);
}

/* Most of the rows have the highest number, or the lowest one: the thirds are not all rows. */
TEST(thirds_of_many_equal_numbers)
{
    spot_ctx c = check_ctx(1);
    const char *path = write_text(&c, "top,bottom\n5,1\n7,1\n9,1\n9,1\n9,2\n9,3\n");
    spot_attributes a;

    CHECK_OK(&c, spot_attributes_read(&c, &a, path, NULL, 6));
    assert_string_equal(rows_of(&a, "top=low (<= 7)"), "110000");
    assert_string_equal(rows_of(&a, "top=high (> 7)"), "001111");
    assert_string_equal(rows_of(&a, "bottom=low (<= 1)"), "111100");
    assert_string_equal(rows_of(&a, "bottom=high (> 1)"), "000011");
    assert_int_equal(a.items, 4);
    spot_attributes_close(&a);
    remove(path);
}

/* Notes that are there once become terms; paths do not, nor what nearly all rows have, or too few. */
TEST(free_text_becomes_terms)
{
    enum { N = 60 };
    spot_ctx c = check_ctx(1);
    spot_attributes a;
    char text[N * 80 + 40] = "note,path\n";
    const char *path;
    size_t used = strlen(text);
    int fog = -1;

    for (int i = 0; i < N; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "\"the %s street, %d%s, the\",a/photo %d.png\n",
                                 i % 3 ? "old" : "new", i, i % 4 ? "" : i % 8 ? " FOG" : " fog", i);
    path = write_text(&c, text);
    CHECK_OK(&c, spot_attributes_read(&c, &a, path, NULL, N));
    assert_int_equal(a.items, 3);              /* fog, old, new */
    for (int k = 0; k < a.items; k++)
        if (!strcmp(a.name[k], "note has fog")) fog = k;
    assert_true(fog >= 0 && a.column[0] == a.column[2]);
    for (int i = 0; i < N; i++) assert_int_equal(is_set(&a, fog, i), i % 4 == 0);
    spot_attributes_close(&a);
    remove(path);
}

/* New rows are looked up in their own table, by the names of the items: terms of another text, by whole words. */
TEST(terms_are_found_in_another_table)
{
    static char *const names[] = { "note has fog", "note has fo", "a has b has fog", "note=fog and ice", "not note has fog" };
    static double range[LEN(names)][2];
    char *name[LEN(names)], *id[] = { "0", "1", "2", "3", "4" };
    spot_ctx c = check_ctx(1);
    const spot_subject s = { .n = 5, .id = id };
    int column[LEN(names)] = { 0 };
    const spot_attributes like = { .rows = 1, .items = LEN(names), .name = name, .column = column, .range = range };
    const char *path = write_text(&c, "note,a has b,note has fog\nthe FOG lifts,ice,0\nfoggy,fog-ice,1\nno fo here,fog,0\n"
                                      "fog and ice,defog,1\n,,\n");
    spot_attributes a;

    memcpy(name, names, sizeof names);
    for (int k = 0; k < LEN(names); k++) range[k][0] = range[k][1] = NAN;
    CHECK_OK(&c, spot_attributes_like(&c, &a, path, &s, &like));
    assert_string_equal(rows_of(&a, "note has fog"), "01010");         /* a column has this very name */
    assert_string_equal(rows_of(&a, "note has fo"), "00100");
    assert_string_equal(rows_of(&a, "a has b has fog"), "01100");
    assert_string_equal(rows_of(&a, "note=fog and ice"), "00010");
    assert_string_equal(rows_of(&a, "not note has fog"), "10100");
    spot_attributes_close(&a);
    path = write_text(&c, "note\nthe FOG lifts\nfoggy\nno fo here\nfog and ice\n\"\"\n");
    CHECK_OK(&c, spot_attributes_like(&c, &a, path, &s, &like));
    assert_string_equal(rows_of(&a, "note has fog"), "10010");
    assert_string_equal(rows_of(&a, "a has b has fog"), "00000");      /* there is no such column */
    spot_attributes_close(&a);
    remove(path);
}

/* The writer of a file decides whether its numbers have commas; the names of items have points. */
TEST(names_of_items_do_not_depend_on_decimal_commas)
{
    static const char *const text[] = { "size,kind\n0.5,1\n1.50,2\n0.5,3\n", "size;kind\n0,5;1\n1,50;2\n0,5;3\n" };
    spot_ctx c = check_ctx(1);
    spot_attributes a;

    for (int i = 0; i < LEN(text); i++) {
        const char *path = write_text(&c, text[i]);
        CHECK_OK(&c, spot_attributes_read(&c, &a, path, NULL, 3));
        assert_string_equal(rows_of(&a, "size=0.5"), "101");
        assert_int_equal(a.items, 1 + 3);                              /* 1.5 is of one row alone */
        spot_attributes_close(&a);
        remove(path);
    }
}

TEST(decimal_commas_are_read_in_numbers_alone)
{
    spot_ctx c = check_ctx(1);
    const char *path = write_text(&c, "size;lens\n0,5;1,5\n0,5;fox\n1,5;1,5\n1,5;fox\n2,5;1,5\n2,5;1,5\n");
    spot_attributes a;

    CHECK_OK(&c, spot_attributes_read(&c, &a, path, NULL, 6));
    assert_string_equal(rows_of(&a, "size=low (<= 0.5)"), "110000");
    assert_string_equal(rows_of(&a, "size=high (> 1.5)"), "000011");
    assert_string_equal(rows_of(&a, "lens=1,5"), "101011");
    spot_attributes_close(&a);
    remove(path);
}

TEST(records_are_found_by_their_ids)
{
    spot_ctx c = check_ctx(1);
    char *id[] = { "b", "a", "b", "c" }, where[80];
    const char *path = write_text(&c, "x,name,n\n1,a,4\n0,\"b\",5\n1,other,9\n0,c,6\n");
    spot_attributes a, classes;
    static const uint8_t has[] = { 1, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1 };
    char *class_name[] = { "cat", "dog", "all" };

    snprintf(where, sizeof where, "%s:name", path);
    CHECK_OK(&c, spot_attributes_read(&c, &a, where, id, 4));
    assert_string_equal(rows_of(&a, "x"), "0100");
    assert_string_equal(rows_of(&a, "not x"), "1011");
    assert_string_equal(rows_of(&a, "n=middle (<= 5)"), "");
    assert_string_equal(rows_of(&a, "n=low (<= 5)"), "1110");
    CHECK_OK(&c, spot_attributes_of_classes(&c, &classes, has, class_name, 4, 3));
    CHECK_OK(&c, spot_attributes_join(&c, &a, &classes));
    assert_string_equal(rows_of(&a, "cat"), "1100");
    assert_string_equal(rows_of(&a, "not dog"), "1010");
    assert_string_equal(rows_of(&a, "all"), "");                       /* every row has it */
    assert_int_not_equal(a.column[0], a.column[a.items - 1]);
    spot_attributes_close(&a);
    path = write_text(&c, "x,name\r\n1,nan\r\n0, a\r\n1, 7 \r\n0,a\r\n");
    CHECK_OK(&c, spot_attributes_read(&c, &a, where, (char *[]){ "a", "nan", "7", " a" }, 4));
    assert_string_equal(rows_of(&a, "x"), "0110");
    spot_attributes_close(&a);
    path = write_text(&c, "x,name,n\n1,a,4\n0,\"b\",5\n1,other,9\n0,c,6\n");
    CHECK_FAILS(&c, spot_attributes_read(&c, &a, where, NULL, 4), SPOT_INPUT, "attributes.rows_without_ids");
    id[3] = "d";
    CHECK_FAILS(&c, spot_attributes_read(&c, &a, where, id, 4), SPOT_INPUT, "attributes.no_record: 1 | 4 | row 3");
    snprintf(where, sizeof where, "%s:nome", path);
    CHECK_FAILS(&c, spot_attributes_read(&c, &a, where, id, 4), SPOT_INPUT, "attributes.no_id_column: \"nome\"");
    remove(path);
}

/* The table writes the ids in other forms; an id that is there as it is has priority. */
TEST(records_are_found_by_ids_that_mean_the_same)
{
    spot_ctx c = check_ctx(1);
    char *id[] = { "caf\xc3\xa9.jpg", "b", "x/c", "d ", "d" }, where[80];
    const char *path = write_text(&c, "x,name\n1,cafe\xcc\x81.jpg\n0,./b\n1, x/c \n1,d \n0,d\n");
    spot_attributes a;

    c.on_log = hear;
    *murmured = 0;
    snprintf(where, sizeof where, "%s:name", path);
    CHECK_OK(&c, spot_attributes_read(&c, &a, where, id, 5));
    assert_string_equal(rows_of(&a, "x"), "10110");
    assert_non_null(strstr(murmured, "3 ids match"));
    spot_attributes_close(&a);
    path = write_text(&c, "x,name\n1,./d\n0,b\n1,x/c\n0,caf\xc3\xa9.jpg\n");            /* d, or d with a blank? */
    CHECK_FAILS(&c, spot_attributes_read(&c, &a, where, id, 5), SPOT_INPUT, "attributes.no_record: 2 | 5 | row 3");
    path = write_text(&c, "x,name\n1,b\n0,x/c\n1,./b\n");
    CHECK_FAILS(&c, spot_attributes_read(&c, &a, where, id, 5), SPOT_INPUT, "attributes.id_twice: row 2 (line 4) | ./b | row "
                "0");
    path = write_text(&c, "x,name,x\n1,b,0\n");
    CHECK_FAILS(&c, spot_attributes_read(&c, &a, where, id, 5), SPOT_INPUT, "table.column_twice: \"x\"");
    remove(path);
}

TEST(bad_tables_are_refused)
{
    static const struct { const char *text, *words; } bad[] = {
        { "", "table.empty" }, { "a,b\n", "attributes.records: 0 | 3" }, { "a\n1\n0\n", "attributes.records: 2" },
        { "a,b\n1,2\n0\n1,1\n", "table.cells: line 3 | fewer" }, { "a\n1\n0,5\n1\n", "table.cells: line 3 | more" },
        { "a\n1\n0\n\"1\"x\n", "table.quotes_amid: line 4 | 1" }, { "a,b\n1,x\n1,x\n1,x\n", "attributes.constant" },
        { ",b\n0,x\n1,x\n2,x\n", "attributes.constant" },
        { "a\n1\n\"0\n1\n", "table.quotes_open" },
    };
    spot_ctx c = check_ctx(1);
    spot_attributes a;

    for (int i = 0; i < LEN(bad); i++) {
        const char *path = write_text(&c, bad[i].text);
        CHECK_FAILS(&c, spot_attributes_read(&c, &a, path, NULL, 3), SPOT_INPUT, bad[i].words);
        assert_null(a.bit);
        remove(path);
    }
    CHECK_FAILS(&c, spot_attributes_read(&c, &a, "/nowhere.csv", NULL, 3), SPOT_IO, "file.unopened: /nowhere.csv");
}
