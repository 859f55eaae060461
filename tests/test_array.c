/* test_array.c - files of arrays: what numpy, zipfile and csv see in them (golden/arrays.txt, made by tools/golden/arrays.py)
 * is what we see, and each file that no honest program makes gets its sentence. ctest: threads */
#define _GNU_SOURCE
#include "checks.h"
#include "check_folder.h"

#include <math.h>
#include <unistd.h>

#include "formats/formats.h"
#include "formats/safetensors.h"

/* -- what is good ------------------------------------------------------------------------------------------------ */

static void word_is(const spot_array *a, size_t i, const char *hex)
{
    const char *word = ((char **)a->data)[i];
    char text[2048] = "x";

    for (size_t k = 0; word[k]; k++) sprintf(text + 1 + 2 * k, "%02x", (unsigned char)word[k]);
    assert_string_equal(text, hex);
}

/* The same bits, but for NaN, which has many. */
static void number_is(const spot_array *a, size_t i, const char *text)
{
    double want = strtod(text, NULL), got;

    if (a->type == SPOT_I64) {
        assert_int_equal(((int64_t *)a->data)[i], strtoll(text, NULL, 10));
        return;
    }
    spot_array_doubles(&got, a, i, 1);
    if (isnan(want) ? !isnan(got) : memcmp(&want, &got, sizeof want) != 0)
        fail_msg("%s: value %zu is %.17g, wanted %s", a->name, i, got, text);
}

static void check_line(spot_ctx *c, char *line)
{
    char *rest = line, *where = strsep(&rest, "\t"), *type = strsep(&rest, "\t"), *dims = strsep(&rest, "\t");
    char shape[128] = "";
    spot_array a;
    size_t n = 0;

    CHECK_OK(c, spot_array_read(c, &a, where, 0));
    for (int i = 0; i < a.rank; i++) sprintf(shape + strlen(shape), "%s%d", i ? "x" : "", (int)a.dim[i]);
    assert_string_equal(spot_dtype_name(a.type), type);
    assert_string_equal(a.rank ? shape : "-", dims);
    assert_string_equal(a.name, where);
    assert_int_equal((uintptr_t)a.data % 64, 0);
    for (char *value; (value = strsep(&rest, "\t")); n++) {
        assert_true(n < a.count);
        if (a.type == SPOT_WORDS) word_is(&a, n, value);
        else number_is(&a, n, value);
    }
    assert_int_equal(n, a.count);
    spot_array_close(&a);
}

TEST(what_others_wrote_is_read)
{
    FILE *f = fopen("golden/arrays.txt", "r");
    spot_ctx c = check_ctx(2);
    char *line = NULL;
    size_t room = 0, lines = 0;

    assert_non_null(f);
    for (ssize_t n; (n = getline(&line, &room, f)) > 0; lines++) {
        line[n - 1] = 0;
        check_line(&c, line);
    }
    assert_true(lines > 50);
    free(line);
    fclose(f);
}

/* -- what is not ------------------------------------------------------------------------------------------------- */

typedef struct { const char *where, *words; } sentence;

static void refused(const char *folder, const sentence *list, int n)
{
    for (int i = 0; i < n; i++) {
        spot_ctx c = check_ctx(2);
        spot_array a;
        char path[256];
        snprintf(path, sizeof path, "fuzz/corpus_%s/%s", folder, list[i].where);
        CHECK_FAILS(&c, spot_array_read(&c, &a, path, 1 << 16), SPOT_INPUT, list[i].words);
        assert_null(a.data);
    }
}

TEST(no_npy)
{
    static const sentence list[] = {
        { "empty.npy", "npy.short: 0" }, { "magic.npy", "npy.begin" }, { "version9.npy", "npy.version: version 9 | 0" },
        { "short_start.npy", "npy.short: 9" }, { "short_header.npy", "npy.header_length: 118 | 50" },
        { "short_data.npy", "npy.cut: cut short | byte 151 | 152" },
        { "rest.npy", "npy.cut: longer | byte 153" },
        { "object.npy", "npy.objects" }, { "fields.npy", "npy.fields" }, { "complex.npy", "npy.type: <c8" },
        { "date.npy", "npy.type: <M8[s]" }, { "bfloat.npy", "npy.type: <V2" }, { "truth.npy", "array.truth_value: row 2 | 2" },
        { "u8_large.npy", "npy.number: row 1 | 9223372036854775808" }, { "shape_huge.npy", "array.shape: size 0" },
        { "shape_overflow.npy", "npy.header" }, { "shape_negative.npy", "npy.header" },
        { "shape_deep.npy", "npy.header" }, { "shape_number.npy", "npy.header" },
        { "key_twice.npy", "npy.header" }, { "key_missing.npy", "npy.header" },
        { "key_other.npy", "npy.header" },
        { "order_maybe.npy", "npy.header" }, { "code.npy", "npy.header" }, { "tail.npy", "npy.header: byte 68" },
        { "open.npy", "npy.header" }, { "type_none.npy", "npy.no_type" },
        { "surrogate.npy", "npy.character: row 1" },
        { "latin.npy", "array.utf8: row 1 | byte 1" },
        { "nul_inside.npy", "array.utf8: row 1 | byte 1" }, { "f4.npy:x", "array.name_needless" },
    };
    refused("npy", list, LEN(list));
}

TEST(no_npz)
{
    static const sentence list[] = {
        { "empty.npz", "zip.directory" }, { "no_end.npz", "zip.directory" }, { "half_end.npz",
            "zip.directory" },
        { "comment_lies.npz", "zip.contradiction" }, { "parts.npz", "zip.parts" },
        { "count_lies.npz", "zip.contradiction" }, { "bzip2.npz", "zip.packing: x.npy | way 12" },
        { "offset_lies.npz", "zip.contradiction" }, { "crc.npz", "zip.member_damaged: checksum" }, { "encrypted.npz",
            "zip.encrypted: x.npy" },
        { "method.npz", "zip.contradiction" }, { "name_differs.npz", "zip.contradiction" },
        { "no_array.npz", "safetensors.pickle" }, { "several.npz", "npz.which_array: x, y" },
        { "several.npz:z", "npz.no_array: \"z\" | x, y" }, { "twice.npz", "zip.name_twice" },
        { "overlap.npz", "zip.contradiction" },
        { "overlap_data.npz", "zip.contradiction" }, { "beyond.npz", "zip.member_damaged: more" },
        { "size_lies.npz", "zip.sizes: x.npy | 1000000000" },
        { "more.npz", "npy.cut: cut short" }, { "fewer.npz", "zip.member_damaged: fewer" }, { "cut_deflate.npz",
                                                                              "zip.member_damaged: too early" },
        { "broken_deflate.npz", "zip.member_damaged" }, { "left_over.npz", "zip.member_damaged: left over" },
        { "local_lies.npz", "zip.directory" }, { "stored_size.npz", "zip.sizes: 160" },
        { "bomb.npz", "array.memory: 400000 | 65536" }, { "object.npz", "npy.objects" },
        { "member_short.npz", "npy.cut: cut short" }, { "member_long.npz", "npy.cut: longer" },
        { "wide_lies.npz", "zip.contradiction" }, { "nothing.npz", "npz.empty" },
        { "nul_name.npz", "zip.contradiction" },
    };
    refused("npz", list, LEN(list));
}

TEST(no_csv)
{
    static const sentence list[] = {
        { "empty.csv:a", "table.empty" }, { "blank.csv:a", "table.empty" }, { "header_only.csv:a", "table.no_rows" },
        { "utf16.csv:a", "table.utf16" }, { "fewer.csv:a,b", "table.cells: row 1 (line 3) | fewer | 2" },
        { "more.csv:a", "table.cells: row 1 (line 3) | more | 2" },
        { "missing.csv:b", "table.cell_empty: row 1 (line 3) | \"b\"" },
        { "missing.csv:a,b", "table.cell_empty: row 1 (line 3) | \"b\"" },
        { "blank_cell.csv:a,b", "table.cell_empty: row 1 (line 3) | \"b\"" },
        { "word.csv:a,b", "table.number: row 1 (line 3) | \"x\" | \"b\"" },
        { "never_closed.csv:a", "table.quotes_open: line 3" }, { "amid.csv:a",
                                                                        "table.quotes_amid: row 1 (line 3) | cell 1" },
        { "behind.csv:b", "table.quotes_amid: row 0 (line 2) | cell 1" }, { "header_quotes.csv:c", "table.header_quotes" },
        { "same_name.csv:a", "table.column_twice: \"a\"" }, { "lines.csv:b", "table.cells: row 1 (line 4) | more" },
        { "nul.csv:a", "array.utf8: row 0 | byte 1" }, { "latin.csv:a", "array.utf8: row 0 | byte 1" },
        { "first.csv:a,b", "table.number: row 1 (line 3) | \"x\"" }, { "first.csv:b", "table.cells: row 2 (line 4) | fewer" },
        { "hex.csv:a,b", "table.number: \"0x10\" | \"a\"" }, { "comma_number.csv:a,b", "table.number: \"1,5\" | \"a\"" },
        { "gap.csv:a", "table.cell_empty: row 1 (line 3)" }, { "dots.csv:e0..e3", "table.no_column: \"e2\"" },
        { "plain.csv", "table.which_column: 4" },
        { "plain.csv:e1..e0", "table.columns_order: \"e1\" | \"e0\"" }, { "plain.csv:id,id", "table.column_asked_twice" },
        { "plain.csv:label..id", "table.columns_order: \"id\" | \"label\"" }, { "plain.csv:e0..x", "table.no_column: \"x\"" },
        { "plain.csv:e0..e9999999", "table.no_column: \"e2\"" }, { "plain.csv:", "table.no_column" },
        { "list_length.csv:e", "lists.length: row 1 | 1 | row 0 | 2" }, { "list_word.csv:e", "lists.number: row 1 | place 1 | None" },
        { "list_nested.csv:e", "lists.nested: row 0" }, { "list_cut.csv:e", "lists.cut: row 0 | place 2" },
        { "ragged_semicolons.csv:a", "table.no_column: semicolons" },
    };
    refused("csv", list, LEN(list));
}

/* -- which file -------------------------------------------------------------------------------------------------- */

TEST_IN_FOLDER(names_may_hold_colons)
{
    spot_ctx c = check_ctx(1);
    spot_array a;
    char path[300], where[340];

    snprintf(path, sizeof path, "%s/a:b.csv", root);
    put_bytes(path, "x:y,z\n1,2\n", 10);
    snprintf(where, sizeof where, "%s:x:y", path);
    CHECK_OK(&c, spot_array_read(&c, &a, where, 0));
    assert_int_equal(*(int64_t *)a.data, 1);
    spot_array_close(&a);
    CHECK_FAILS(&c, spot_array_read(&c, &a, "nowhere.npy:x", 0), SPOT_IO, "file.unopened: nowhere.npy:x");
    CHECK_FAILS(&c, spot_array_read(&c, &a, root, 0), SPOT_INPUT, "file.no_data: folder");
    CHECK_FAILS(&c, spot_array_read(&c, &a, "/dev/null", 0), SPOT_INPUT, "file.no_data: device");
    memset(where, 'n', sizeof where - 1);
    where[sizeof where - 1] = 0;
    CHECK_FAILS(&c, spot_array_read(&c, &a, where, 0), SPOT_IO, "file.unopened");
}

TEST_IN_FOLDER(other_formats_are_named)
{
    static const struct { const char *bytes, *words; } list[] = {
        { "\x80\x04" "abcdefgh", "array.pickle" }, { "\x89HDF\r\n\x1a\n", "array.packed: HDF5" }, { "PAR1xxxxxxxx",
                                                                                       "array.packed: Parquet" },
        { "\x1f\x8b\x08xxxxxx", "array.packed: gzip" }, { "hello, world", "array.format" },
    };
    spot_ctx c = check_ctx(1);
    spot_array a;

    const char *path = in_root("some.bin");
    for (int i = 0; i < LEN(list); i++) {
        put_bytes(path, list[i].bytes, strlen(list[i].bytes));
        CHECK_FAILS(&c, spot_array_read(&c, &a, path, 0), SPOT_INPUT, list[i].words);
    }
}

static const char *read_text(spot_ctx *c, spot_array *a, const char *column, bool text, const char *table)
{
    const spot_array_how how = { .text = text };
    char where[340];

    const char *path = put_text("c.csv", table);
    snprintf(where, sizeof where, "%s:%s", path, column);
    if (spot_array_read_as(c, a, where, &how)) return spot_failure_id(c);
    return a->type == SPOT_WORDS ? ((char **)a->data)[0] : spot_dtype_name(a->type);
}

/* A comma is a decimal one only where a number is read. */
TEST_IN_FOLDER(words_keep_their_commas)
{
    static const struct { const char *column, *table, *first; bool text; double v; } list[] = {
        { "a", "a;x\n1,5;0,5\n2;1,5\n", "F64", false, 1.5 },                         /* numbers, unless text is asked for */
        { "a", "a;x\n1,5;0,5\n2;1,5\n", "1,5", true, 0 },
        { "a", "a;x\n1,5;0,5\nfox;1,5\n", "1,5", false, 0 }, { "a", "a;x\n\"1,5\";2\n\"3,4\";2\n", "1,5", false, 0 },
        { "x", "a;x\n\"3.1\";0,5\nb;1,5\n", "F64", false, 0.5 }, { "x,a", "a;x\n\"0,25\";0,5\n1,5;1,5\n", "F64", false, 0.5 },
        { "x", "\"a\";\"x\"\n\"cat\";\"0,5\"\n;\"1,5\"\n", "F64", false, 0.5 },             /* a writer that quotes all */
        { "a", "\"a\";\"x\"\n\"1,5\";\"0,5\"\n\"fox\";\"1,5\"\n", "1,5", false, 0 },
        { "a", "\"a\";\"x\"\n\"1,5\";\"0.5\"\n\"2,5\";\"1.5\"\n", "1,5", false, 0 },
    };
    for (int i = 0; i < LEN(list); i++) {
        spot_ctx c = check_ctx(1);
        spot_array a;
        assert_string_equal(read_text(&c, &a, list[i].column, list[i].text, list[i].table), list[i].first);
        if (list[i].v != 0) assert_true(*(double *)a.data == list[i].v);
        spot_array_close(&a);
    }
    spot_ctx c = check_ctx(1);
    spot_array a;
    float *v;
    read_text(&c, &a, "a", false, "a;x\n0,5;0,5\nfox;1\n");
    CHECK_FAILS(&c, spot_array_floats(&c, &v, &a), SPOT_INPUT, "number.form: row 1 | fox");
    spot_array_close(&a);
}

TEST_IN_FOLDER(words_in_brackets_are_no_lists)
{
    static const struct { const char *table, *first; bool text; } list[] = {
        { "a\n[cat]\n[dog]\n", "[cat]", false }, { "a\n[1]\n[dog]\n", "[1]", false }, { "a\n[1]\n[2]\n", "[1]", true },
        { "a\n[1]\n[2]\n", "F64", false }, { "a\n[]\n[2]\n", "lists.missing", false }, { "a\n[]\n[]\n", "[]", false },
        { "a\n[1]\n2\n", "[1]", false }, { "a\n[1]\n[]\n", "lists.missing", false },
    };
    for (int i = 0; i < LEN(list); i++) {
        spot_ctx c = check_ctx(1);
        spot_array a = { 0 };
        assert_string_equal(read_text(&c, &a, "a", list[i].text, list[i].table), list[i].first);
        if (!c.status) spot_array_close(&a);
    }
    spot_ctx c = check_ctx(1);
    spot_array a;
    char where[340];
    snprintf(where, sizeof where, "%s:a", put_text("c.csv", "a\n[1]\n[]\n"));
    CHECK_FAILS(&c, spot_array_read(&c, &a, where, 0), SPOT_INPUT, "lists.missing: row 1 | \"[]\"");
}

/* Our own writers, and tensors of every type. */
TEST_IN_FOLDER(what_we_wrote_is_read)
{
    static const float v[6] = { 1, -2.5f, 3, 4, 5, 6 };
    static const double wide[2] = { 0.1, -1e300 };
    static const int32_t whole[2] = { -7, 1 << 30 };
    static const uint8_t bytes[3] = { 0, 1, 255 };
    const spot_tensor tensor[] = {
        { .name = "double", .type = SPOT_F64, .rank = 1, .dim = { 2 }, .data = wide, .bytes = sizeof wide },
        { .name = "int", .type = SPOT_I32, .rank = 2, .dim = { 2, 1 }, .data = whole, .bytes = sizeof whole },
        { .name = "byte", .type = SPOT_U8, .rank = 1, .dim = { 3 }, .data = bytes, .bytes = sizeof bytes },
    };
    spot_ctx c = check_ctx(1);
    spot_array a;
    char path[128], where[160];

    snprintf(path, sizeof path, "%s/v.npy", root);
    for (int columns = 0; columns <= 3; columns += 3) {
        CHECK_OK(&c, spot_npy_write(&c, path, v, columns ? 2 : 6, columns));
        CHECK_OK(&c, spot_array_read(&c, &a, path, 0));
        assert_int_equal(a.rank, columns ? 2 : 1);
        assert_int_equal(a.dim[0], columns ? 2 : 6);
        assert_memory_equal(a.data, v, sizeof v);
        spot_array_close(&a);
    }
    CHECK_FAILS(&c, spot_npy_write(&c, "/nowhere/v.npy", v, 1, 1), SPOT_IO, "file.failed: write | /nowhere/v.npy");
    snprintf(path, sizeof path, "%s/t.safetensors", root);
    CHECK_OK(&c, spot_tensors_save(&c, path, tensor, 3));
    for (int i = 0; i < 3; i++) {
        snprintf(where, sizeof where, "%s:%s", path, tensor[i].name);
        CHECK_OK(&c, spot_array_read(&c, &a, where, 0));
        assert_int_equal(a.type, tensor[i].type);
        assert_int_equal(a.rank, tensor[i].rank);
        assert_memory_equal(a.data, tensor[i].data, tensor[i].bytes);
        spot_array_close(&a);
    }
    CHECK_FAILS(&c, spot_array_read(&c, &a, path, 0), SPOT_INPUT, "safetensors.which_tensor: holds 3");
    snprintf(where, sizeof where, "%s:none", path);
    CHECK_FAILS(&c, spot_array_read(&c, &a, where, 0), SPOT_INPUT, "safetensors.no_tensor: \"none\" | byte, double, int");
    snprintf(where, sizeof where, "%s:double", path);
    CHECK_FAILS(&c, spot_array_read(&c, &a, where, 15), SPOT_INPUT, "array.memory: 16 | 15");
}

/* -- as numbers -------------------------------------------------------------------------------------------------- */

static void read_good(spot_ctx *c, spot_array *a, const char *where) { CHECK_OK(c, spot_array_read(c, a, where, 0)); }

TEST(floats_and_ints_are_looked_at)
{
    static const char *const finite[] = { "f4", "f8", "i8", "i4", "i2", "i1", "u1", "u2", "u4", "u8", "b1", "f2" };
    spot_ctx c = check_ctx(2);
    spot_array a, b;
    float *v;
    int whole[12];

    for (int i = 0; i < LEN(finite); i++) {
        char where[64];
        snprintf(where, sizeof where, "fuzz/corpus_npy/%s.npy", finite[i]);
        read_good(&c, &a, where);
        read_good(&c, &b, where);
        CHECK_OK(&c, spot_array_floats(&c, &v, &a));
        assert_null(a.data);
        for (size_t k = 0; k < b.count; k++) {
            double want;
            spot_array_doubles(&want, &b, k, 1);
            assert_true(v[k] == (float)want);
        }
        free(v);
        spot_array_close(&b);
    }
    read_good(&c, &a, "fuzz/corpus_npy/half.npy");
    CHECK_FAILS(&c, spot_array_floats(&c, &v, &a), SPOT_INPUT, "number.value: row 5 | inf");
    spot_array_close(&a);
    read_good(&c, &a, "fuzz/corpus_csv/numbers.csv");
    CHECK_FAILS(&c, spot_array_floats(&c, &v, &a), SPOT_INPUT, "number.value: row 3 | inf");
    assert_null(v);
    spot_array_close(&a);
    read_good(&c, &a, "fuzz/corpus_csv/plain.csv:label");
    CHECK_FAILS(&c, spot_array_floats(&c, &v, &a), SPOT_INPUT, "number.form: row 0 | \"cat\"");
    CHECK_FAILS(&c, spot_array_ints(&c, whole, &a, 0, 1), SPOT_INPUT, "number.form: row 0 | \"cat\"");
    spot_array_close(&a);
    read_good(&c, &a, "fuzz/corpus_npy/i1.npy");
    CHECK_OK(&c, spot_array_ints(&c, whole, &a, -128, 127));
    for (size_t k = 0; k < a.count; k++) assert_int_equal(whole[k], ((int8_t *)a.data)[k]);
    ((int8_t *)a.data)[7] = -128;
    CHECK_FAILS(&c, spot_array_ints(&c, whole, &a, -127, 127), SPOT_INPUT, "number.whole: row 1, column 3 | -128 | -127");
    spot_array_close(&a);
    read_good(&c, &a, "fuzz/corpus_csv/mixed.csv");
    CHECK_FAILS(&c, spot_array_ints(&c, whole, &a, 0, 9), SPOT_INPUT, "number.whole: row 1 | 2.5 | 0 | 9");
    spot_array_close(&a);
    read_good(&c, &a, "fuzz/corpus_csv/wild.csv:a");
    CHECK_FAILS(&c, spot_array_floats(&c, &v, &a), SPOT_INPUT, "number.value: row 0 | nan");
    CHECK_FAILS(&c, spot_array_ints(&c, whole, &a, -9, 9), SPOT_INPUT, "number.whole: row 0 | nan");
    spot_array_close(&a);
}

/* Blocks, records across their borders, a record longer than a block, and any number of threads. */
/* Every half comes back; between two halves the nearer one, or the even one. */
TEST(halves_are_the_nearest)
{
    static const struct { float x; unsigned half; } cases[] = {
        { 65519.0f, 0x7bff }, { 65520.0f, 0x7c00 }, { -1e30f, 0xfc00 }, { 0x1p-25f, 0 }, { 0x1.01p-25f, 1 }, { 0x3p-25f, 2 },
        { 0x1.ffep-15f, 0x400 }, { 1 + 0x1p-11f, 0x3c00 }, { 1 + 0x3p-11f, 0x3c02 }, { 1.999999f, 0x4000 }, { -0.0f, 0x8000 },
    };

    for (int i = 0; i < LEN(cases); i++) assert_int_equal(spot_half_bits(cases[i].x), cases[i].half);
    for (unsigned h = 0; h < 65536; h++) {
        uint16_t half = (uint16_t)h;
        spot_array a = { .type = SPOT_F16, .data = &half };
        double v;
        spot_array_doubles(&v, &a, 0, 1);
        if (isnan(v)) assert_int_equal(spot_half_bits((float)v) & 0x7e00, 0x7e00);
        else assert_int_equal(spot_half_bits((float)v), h);
    }
}

static const char *encoder_of(spot_ctx *c, const char *where)
{
    static spot_notes notes;
    spot_array a;

    CHECK_OK(c, spot_array_read(c, &a, where, 0));
    CHECK_OK(c, spot_array_notes(c, &notes, &a, where));
    spot_array_close(&a);
    assert_true(*notes.text[SPOT_NOTE_MADE_BY] || !*notes.text[SPOT_NOTE_ROWS]);
    return notes.text[SPOT_NOTE_ENCODER];
}

static void put_json(const char *text)
{
    FILE *f;

    const char *path = in_root("e.json");
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The metadata is told of files that spotter embed wrote, and of no others. */
TEST_IN_FOLDER(notes_are_told)
{
    spot_ctx c = check_ctx(1);
    float v[2] = { 1, 2 };
    spot_tensor t = spot_tensor_of("embeddings", SPOT_F32, 2, 1, v);
    const spot_tensor_note note[] = { { "encoder", "clip-\"1\"\n" }, { "rows", "2" }, { "dim", "1" },
                                      { SPOT_MADE_BY_EMBED, "0" } };
    char path[128], where[160];

    snprintf(path, sizeof path, "%s/e.safetensors", root);
    snprintf(where, sizeof where, "%s:embeddings", path);
    CHECK_OK(&c, spot_tensors_save_with(&c, path, &t, 1, note, 4));
    assert_string_equal(encoder_of(&c, where), "clip-\"1\"?");
    CHECK_OK(&c, spot_tensors_save_with(&c, path, &t, 1, note, 3));
    assert_string_equal(encoder_of(&c, where), "");
    snprintf(path, sizeof path, "%s/e.npy", root);
    CHECK_OK(&c, spot_npy_write(&c, path, v, 2, 1));
    assert_string_equal(encoder_of(&c, path), "");
    put_json("{\"" SPOT_MADE_BY_EMBED "\": \"0\", \"encoder\": \"clip-2\", \"rows\": \"2\", \"dim\": \"1\"}");
    assert_string_equal(encoder_of(&c, path), "clip-2");
    put_json("{\"encoder\": \"clip-2\", \"rows\": \"2\", \"dim\": \"1\"}");                 /* of another maker */
    assert_string_equal(encoder_of(&c, path), "");
    put_json("{\"" SPOT_MADE_BY_EMBED "\": \"0\", \"encoder\": \"clip-2\", \"rows\": \"3\", \"dim\": \"1\"}");
    assert_string_equal(encoder_of(&c, path), "");                                           /* of an array that is gone */
    for (const char *const *bad = (const char *const[]){ "[]", "{", "7", "{\"encoder\": 5}", NULL }; *bad; bad++) {
        put_json(*bad);
        assert_string_equal(encoder_of(&c, path), "");
    }
}

TEST_IN_FOLDER(long_files_are_read_in_blocks)
{
    enum { ROWS = 40000, LONG = 5000000 };
    spot_ctx c = check_ctx(1);
    spot_array a, b;
    char path[128], where[160];
    FILE *f;

    snprintf(path, sizeof path, "%s/long.csv", root);
    f = fopen(path, "w");
    fputs("name,a,b,c\n", f);
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; i == 17 && k < LONG; k++) fputc(k ? k % 100 ? 'x' : '\n' : '"', f);
        fprintf(f, "r%d%s,%d,%.9f,%d.5%s", i, i == 17 ? "\"" : "", i, i / 7.0, i, i % 3 ? "\n" : "\r\n");
    }
    fclose(f);
    snprintf(where, sizeof where, "%s:a..c", path);
    read_good(&c, &a, where);
    assert_int_equal(a.dim[0], ROWS);
    for (int i = 0; i < ROWS; i++) {
        char text[64];
        assert_true(((double *)a.data)[3 * i] == i);
        snprintf(text, sizeof text, "%.9f", i / 7.0);
        assert_true(((double *)a.data)[3 * i + 1] == strtod(text, NULL));
    }
    c.threads = 3;
    read_good(&c, &b, where);
    assert_memory_equal(a.data, b.data, a.count * sizeof(double));
    spot_array_close(&a);
    spot_array_close(&b);
    snprintf(where, sizeof where, "%s:name", path);
    read_good(&c, &a, where);
    assert_int_equal(strlen(((char **)a.data)[17]), LONG + 2);
    assert_string_equal(((char **)a.data)[ROWS - 1], "r39999");
    spot_array_close(&a);
    f = fopen(path, "a");
    fputs("x,1,2,\n", f);
    fclose(f);
    snprintf(where, sizeof where, "%s:a..c", path);
    CHECK_FAILS(&c, spot_array_read(&c, &a, where, 0), SPOT_INPUT, "table.cell_empty: row 40000 (line 90001) | \"c\"");
}
