/* test_bpe.c - CLIP's tokenizer: the ids of others on difficult texts, every format of a vocabulary, and the sentences that
 * broken ones get. tools/golden/bpe.py makes golden/bpe.
 *
 * With arguments VOCABULARY TEXTS: TEXTS has texts that end in NUL; writes for each the number of its ids, -1 if it is refused,
 * and the ids, for that script to compare. ctest: threads, both */
#define _GNU_SOURCE
#include "golden_file.h"
#include "check_folder.h"

#include <unistd.h>
#include <zlib.h>

#include "formats/bpe.h"

enum { CONTEXT = 4096 };

static spot_bpe *open_bpe(const char *path)
{
    spot_ctx c = check_ctx(1);
    spot_bpe *t;

    CHECK_OK(&c, spot_bpe_open(&c, &t, path, 0));
    return t;
}

/* The ids of a text; returns their number. */
static int encode(const spot_bpe *t, const char *text, int32_t *id)
{
    spot_ctx c = check_ctx(1);
    int length;
    spot_bpe_texts b = { .text = &text, .n = 1, .context = CONTEXT, .id = id, .length = &length };

    CHECK_OK(&c, spot_bpe_encode(&c, t, &b));
    return length;
}

/* -- as others have it --------------------------------------------------------------------------------------------- */

static char **golden_texts(FILE *f, int *n, uint16_t ***id, int32_t **count)
{
    char **text;

    get(f, n, sizeof *n);
    text = calloc((size_t)*n, sizeof *text);
    *id = calloc((size_t)*n, sizeof **id);
    *count = calloc((size_t)*n, sizeof **count);
    for (int i = 0; i < *n; i++) {
        int32_t bytes;
        get(f, &bytes, sizeof bytes);
        text[i] = calloc((size_t)bytes + 1, 1);
        get(f, text[i], (size_t)bytes);
        get(f, &(*count)[i], sizeof **count);
        if ((*count)[i] >= 0) (*id)[i] = read_new(f, (size_t)(*count)[i] * sizeof ***id);
    }
    return text;
}

/* Each text alone, and all at once on three threads, those that are refused (count -1) aside. */
static void check_texts(FILE *f, const char *vocabulary)
{
    spot_bpe *t = open_bpe(vocabulary);
    static int32_t alone[CONTEXT], all[1024 * 1024];
    static int length[1024];
    spot_ctx c = check_ctx(3);
    int n, good = 0, row = 0;
    uint16_t **id;
    int32_t *count;
    char **text = golden_texts(f, &n, &id, &count);
    const char **kept = calloc((size_t)n, sizeof *kept);
    spot_bpe_texts b = { .text = kept, .context = 1024, .id = all, .length = length };
    for (int i = 0; i < n; i++) {
        spot_bpe_texts one = { .text = (const char *const *)text + i, .n = 1, .context = CONTEXT, .id = alone,
                               .length = length };
        if (count[i] < 0)
            CHECK_FAILS(&c, spot_bpe_encode(&c, t, &one), SPOT_INPUT,
                        strchr(text[i], '&') ? "text.html_entity: text 1" : "text.encoding: text 1");
        else kept[good++] = text[i];
    }
    assert_true(n > 300 && good > 200 && good < 300);
    b.n = good;
    CHECK_OK(&c, spot_bpe_encode(&c, t, &b));
    for (int i = 0; i < n; i++) {
        if (count[i] >= 0) {
            if (encode(t, text[i], alone) != count[i] || b.length[row] != count[i])
                fail_msg("%s: %d ids and not %d", text[i], b.length[row], count[i]);
            for (int k = 0; k < 1024; k++) {
                int want = k < count[i] ? id[i][k] : 0;
                if (alone[k] != want || all[1024 * row + k] != want)
                    fail_msg("%s: id %d is %d and not %d", text[i], k, all[1024 * row + k], want);
            }
            row++;
        }
        free(text[i]);
        free(id[i]);
    }
    free(text);
    free(kept);
    free(id);
    free(count);
    spot_bpe_close(t);
}

TEST(difficult_texts_have_the_ids_of_others)
{
    static const char *const vocabularies[] = { "golden/bpe", "golden/bpe/tokenizer.json", "golden/bpe/vocab.json",
                                                "golden/bpe/merges.txt" };
    for (int k = 0; k < LEN(vocabularies); k++) {
        FILE *f = fopen("golden/bpe/ids.bin", "rb");
        assert_non_null(f);
        check_texts(f, vocabularies[k]);
        assert_int_equal(fgetc(f), EOF);
        fclose(f);
    }
}

/* -- vocabularies -------------------------------------------------------------------------------------------------- */

static char *read_text(const char *path, size_t *n)
{
    char *bytes = calloc(1, 1 << 20);
    FILE *f = fopen(path, "rb");

    assert_non_null(f);
    *n = fread(bytes, 1, (1 << 20) - 1, f);
    fclose(f);
    return bytes;
}

TEST_IN_FOLDER(a_packed_vocabulary_is_unpacked)
{
    size_t n;
    char *text = read_text("golden/bpe/merges.txt", &n), path[128];
    spot_ctx c = check_ctx(1);
    spot_bpe *t, *plain = open_bpe("golden/bpe/merges.txt");
    gzFile f;
    FILE *cut;
    snprintf(path, sizeof path, "%s", put_bytes("packed", "", 0));
    f = gzopen(path, "wb");
    assert_int_equal(gzwrite(f, text, (unsigned)n), n);
    gzclose(f);
    CHECK_OK(&c, spot_bpe_open(&c, &t, path, 0));
    assert_int_equal(spot_bpe_about(t).size, spot_bpe_about(plain).size);
    assert_int_equal(spot_bpe_about(t).merges, spot_bpe_about(plain).merges);
    spot_bpe_close(t);
    spot_bpe_close(plain);
    cut = fopen(path, "r+b");
    assert_int_equal(ftruncate(fileno(cut), 200), 0);
    fclose(cut);
    CHECK_FAILS(&c, spot_bpe_open(&c, &t, path, 0), SPOT_INPUT, "vocabulary.gzip");
    assert_null(t);
    free(text);
}

TEST(the_model_says_how_many_tokens_there_are)
{
    spot_ctx c = check_ctx(1);
    spot_bpe *t;
    CHECK_OK(&c, spot_bpe_open(&c, &t, "golden/bpe/merges.txt", 514 + 20));
    assert_int_equal(spot_bpe_about(t).size, 534);
    assert_int_equal(spot_bpe_about(t).merges, 20);
    assert_int_equal(spot_bpe_about(t).end, 533);
    spot_bpe_close(t);
    CHECK_FAILS(&c, spot_bpe_open(&c, &t, "golden/bpe/merges.txt", 49408), SPOT_INPUT, "vocabulary.few_merges: 49408");
    CHECK_FAILS(&c, spot_bpe_open(&c, &t, "golden/bpe/merges.txt", 100), SPOT_INPUT, "vocabulary.few_merges: 100");
    CHECK_FAILS(&c, spot_bpe_open(&c, &t, "golden/bpe/tokenizer.json", 600), SPOT_INPUT, "vocabulary.ids: 600");
    CHECK_FAILS(&c, spot_bpe_open(&c, &t, "golden/bpe", -1), SPOT_INVALID, "vocabulary.size: -1");
}

TEST_IN_FOLDER(broken_merges_get_their_sentence)
{
    static const struct { const char *text, *words; } cases[] = {
        { "#version\na b\nab c d\n", "vocabulary.merge_pair: line 3" },
        { "a b\nab\n", "vocabulary.merge_pair: line 2" },
        { "a b\n c\n", "vocabulary.merge_pair: line 2" },
        { "a b\n\nab xy\n", "vocabulary.merge_part: line 3 | \"xy\" | neither" },
        { "abc b\n", "vocabulary.merge_part: line 1 | \"abc\" | neither" },
        { "a b\r\nc d\r\na b\r\n", "vocabulary.merge_twice: line 3 | merge 1" },
        { "\xff\xfe\xfd a\n", "vocabulary.merge_part: line 1" },
    };
    for (int i = 0; i < LEN(cases); i++) {
        spot_ctx c = check_ctx(1);
        spot_bpe *t;
        const char *path = put_bytes("merges.txt", cases[i].text, strlen(cases[i].text));
        CHECK_FAILS(&c, spot_bpe_open(&c, &t, path, 0), SPOT_INPUT, cases[i].words);
        assert_null(t);
    }
}

/* One place of a good file is changed. */
static void check_changed(const char *name, const char *from, const char *to, const char *words)
{
    char golden[64], *text, *at, changed[1 << 15];
    spot_ctx c = check_ctx(1);
    spot_bpe *t;
    size_t n;
    snprintf(golden, sizeof golden, "golden/bpe/%s", name);
    text = read_text(golden, &n);
    at = strstr(text, from);
    if (!at) fail_msg("%s has no %s", name, from);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    CHECK_FAILS(&c, spot_bpe_open(&c, &t, put_bytes(name, changed, strlen(changed)), 0), SPOT_INPUT, words);
    assert_null(t);
    free(text);
}

TEST_IN_FOLDER(broken_files_of_hugging_face_get_their_sentence)
{
    check_changed("tokenizer.json", "\"!\":0", "\"!\":1", "vocabulary.id_twice: id 1");
    check_changed("tokenizer.json", "\"!\":0", "\"!\":-1", "vocabulary.id: \"!\"");
    check_changed("tokenizer.json", "\"!\":0", "\"!\":1048576", "vocabulary.id: \"!\"");
    check_changed("tokenizer.json", "\"!\":0", "\"!\":0.5", "vocabulary.id: \"!\"");
    check_changed("tokenizer.json", "\"!\":0", "\"?\":700", "vocabulary.symbol_twice: \"?\"");
    check_changed("tokenizer.json", "\"!\":0,", "", "vocabulary.byte_missing: \"!\" | byte 33");
    check_changed("tokenizer.json", "[\"h\",\"e</w>\"]", "[\"h\",\"hh\"]",
                  "vocabulary.merge_part: merge 1 | \"hh\" | no symbol");
    check_changed("tokenizer.json", "[\"h\",\"e</w>\"]", "[\"h\",\"h\"]", "vocabulary.merge_result: merge 1 | \"hh\"");
    check_changed("tokenizer.json", "[\"h\",\"e</w>\"]", "[\"h\"]", "vocabulary.merge_pair: merge 1");
    check_changed("tokenizer.json", "[\"h\",\"e</w>\"]", "[\"o\",\"f</w>\"]", "vocabulary.merge_twice: merge 3 | merge 1");
    check_changed("tokenizer.json", "\"</w>\"", "\"\"", "vocabulary.kind");
    check_changed("tokenizer.json", "\"type\":\"BPE\"", "\"type\":\"WordPiece\"", "vocabulary.kind");
    check_changed("tokenizer.json", "\"merges\":[", "\"merge\":[", "vocabulary.no_merges");
    check_changed("tokenizer.json", "\"vocab\":{", "\"vocab\":[", "vocabulary.json");
    check_changed("vocab.json", "\"!\": 0", "\"!\": 0", "vocabulary.no_merges_file");
    check_changed("vocab.json", "\"<|endoftext|>\"", "\"<|end|>\"", "vocabulary.no_merges_file");
}

TEST(files_that_are_none_get_their_sentence)
{
    spot_ctx c = check_ctx(1);
    spot_bpe *t;
    CHECK_FAILS(&c, spot_bpe_open(&c, &t, "golden/nothing", 0), SPOT_IO, "file.unopened: golden/nothing");
    CHECK_FAILS(&c, spot_bpe_open(&c, &t, "golden", 0), SPOT_INPUT, "vocabulary.missing: golden");
    CHECK_FAILS(&c, spot_bpe_open(&c, &t, "golden/pictures.bin", 0), SPOT_INPUT, "vocabulary.merge_pair: pictures.bin");
}

/* -- texts --------------------------------------------------------------------------------------------------------- */

typedef struct { char line[8][256]; int lines; } log_lines;

static void keep_line(void *user, spot_log_level level, const char *text)
{
    log_lines *l = user;

    assert_int_equal(level, SPOT_LOG_WARN);
    snprintf(l->line[l->lines++], sizeof *l->line, "%s", text);
}

TEST(long_texts_are_cut_or_refused)
{
    static const char *const text[] = { "a b c", "a b c d", "a b c d e", "" };
    spot_bpe *t = open_bpe("golden/bpe");
    spot_bpe_info about = spot_bpe_about(t);
    log_lines seen = { .lines = 0 };
    spot_ctx c = check_ctx(2);
    int32_t id[4][5], whole[CONTEXT];
    int length[4];
    spot_bpe_texts b = { .text = text, .n = 4, .context = 5, .cut = true, .id = id[0], .length = length };
    c.on_log = keep_line;
    c.user = &seen;
    CHECK_OK(&c, spot_bpe_encode(&c, t, &b));
    assert_int_equal(b.cuts, 2);
    assert_int_equal(seen.lines, 1);
    assert_string_equal(seen.line[0], "2 of 4 texts have more than 5 tokens and were cut");
    assert_int_equal(encode(t, text[2], whole), 7);
    assert_memory_equal(id[2], whole, 4 * sizeof **id);
    assert_memory_equal(id[2], id[1], sizeof *id);
    assert_memory_equal(id[2], id[0], sizeof *id);
    for (int i = 0; i < 3; i++) assert_int_equal(length[i], 5);
    assert_int_equal(length[3], 2);
    assert_int_equal(id[3][1], about.end);
    assert_int_equal(id[2][4], about.end);
    b.cut = false;
    CHECK_FAILS(&c, spot_bpe_encode(&c, t, &b), SPOT_INPUT, "text.too_long: text 2 | \"a b c d\" | 6 | 5");
    b.context = 1;
    CHECK_FAILS(&c, spot_bpe_encode(&c, t, &b), SPOT_INVALID, "bpe.row_length: 1");
    spot_bpe_close(t);
}

TEST(texts_that_nobody_means_are_refused)
{
    static const struct { const char *text, *words; } cases[] = {
        { "a \xff\n", "text.utf8: text 2 | \"a ??\" | byte 2" },
        { "also \xc3", "text.utf8: byte 5" },
        { "\xed\xa0\x80", "text.utf8: byte 0" },
        { "\xc3\xa9 \xc2\x93quoted", "text.encoding: byte 3" },
        { "caf\xef\xbf\xbd", "text.encoding: byte 3" },
        { "salt &amp; oil", "text.html_entity: text 2 | \"salt &amp; oil\" | &amp; | byte 5" },
        { "&CounterClockwiseContourIntegral;", "text.html_entity: &CounterClockwiseContourIntegral; | byte 0" },
        { "it&#39;s", "text.html_entity: &#39;" }, { "it&#X27;s", "text.html_entity: &#X27;" },
        { "Q&A; &#; &#x; &; &lt &#3a; AT&T caf\xc3\xa9 \xf0\x9f\x98\x80 \xc2\xa0", NULL },
    };
    spot_bpe *t = open_bpe("golden/bpe");
    spot_ctx c = check_ctx(2);
    int32_t id[3 * 77];
    int length[3];
    for (int i = 0; i < LEN(cases); i++) {
        const char *const text[] = { "fine", cases[i].text, "&amp;" };
        spot_bpe_texts b = { .text = text, .n = cases[i].words ? 3 : 2, .context = 77, .id = id, .length = length };
        if (cases[i].words) CHECK_FAILS(&c, spot_bpe_encode(&c, t, &b), SPOT_INPUT, cases[i].words);
        else CHECK_OK(&c, spot_bpe_encode(&c, t, &b));
        assert_int_equal(spot_bpe_check(&c, "w.txt: line 7", cases[i].text), cases[i].words ? SPOT_INPUT : SPOT_OK);
        spot_forget(&c);
    }
    CHECK_FAILS(&c, spot_bpe_check(&c, "w.txt: line 7", "&lt;"), SPOT_INPUT, "text.html_entity: w.txt | line 7 | \"&lt;\"");
    spot_bpe_close(t);
}

/* Ids of the text alone, of its other cases, and with other spaces. */
TEST(case_and_spaces_do_not_count)
{
    static const char *const text[] = { "a photo of a fox", "A Photo OF a FOX", "  a\tphoto\n of  a\xc2\xa0""fox\r\n" };
    spot_bpe *t = open_bpe("golden/bpe");
    int32_t id[3][CONTEXT];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(encode(t, text[i], id[i]), encode(t, text[0], id[0]));
        assert_memory_equal(id[i], id[0], sizeof *id);
    }
    spot_bpe_close(t);
}

/* Short words are remembered, one for each of 64 hashes, but not those of more than 8 ids: such a word leaves nothing of itself
 * behind under the name of the one that it drove out. */
TEST(a_word_of_many_ids_is_not_taken_for_another)
{
    enum { WORDS = 600, LETTERS = 12, IDS = WORDS * (1 + LETTERS) + 2 };
    static char text[WORDS * (LETTERS + 5) + 1];
    static int32_t id[IDS];
    spot_bpe *t = open_bpe("golden/bpe");
    const char *const one = text;
    spot_ctx c = check_ctx(1);
    int32_t fox[CONTEXT];
    int length, at = 0;
    uint32_t drawn = 1;
    spot_bpe_texts b = { .text = &one, .n = 1, .context = IDS, .id = id, .length = &length };

    for (char *to = text; at < WORDS; at++) {
        to = stpcpy(to, "fox ");
        for (int k = 0; k < LETTERS; k++) *to++ = "qxzjvwkg"[(drawn = drawn * 1103515245 + 12345) >> 29];
        *to++ = ' ';
    }
    assert_int_equal(encode(t, "fox", fox), 3);           /* between begin and end */
    CHECK_OK(&c, spot_bpe_encode(&c, t, &b));
    at = 0;
    for (int i = 0; i < length; i++) at += id[i] == fox[1];
    assert_int_equal(at, WORDS);
    spot_bpe_close(t);
}

/* A million letters without a space are one word. With 'a' and 'aa' to merge, half a minute would tell that each merge looks at
 * the whole word. */
TEST_IN_FOLDER(a_word_of_a_million_letters_takes_no_longer)
{
    enum { LETTERS = 1 << 20 };
    spot_ctx c = check_ctx(1);
    spot_bpe *t;
    char *text = malloc(LETTERS + 1);
    int32_t *id = malloc(sizeof *id * LETTERS);
    int length;
    spot_bpe_texts b = { .text = (const char *const *)&text, .n = 1, .context = LETTERS, .id = id, .length = &length };
    static const char merges[] = "a a\naa aa\na a</w>\naa aa</w>\naaaa aaaa</w>\n";
    const char *path = put_bytes("merges.txt", merges, strlen(merges));
    double start;
    memset(text, 'a', LETTERS);
    text[LETTERS] = 0;
    CHECK_OK(&c, spot_bpe_open(&c, &t, path, 0));
    start = spot_clock();
    CHECK_OK(&c, spot_bpe_encode(&c, t, &b));
    assert_true(spot_clock() - start < (SANITIZED ? 60 : 10));
    assert_int_equal(id[1], 513);                                  /* aaaa */
    for (int i = 2; i < length - 2; i++) assert_int_equal(id[i], id[1]);
    assert_int_equal(length, 1 + LETTERS / 4);
    spot_bpe_close(t);
    free(text);
    free(id);
}

/* -- for tools/golden/bpe.py ------------------------------------------------------------------------------------------ */

static int encode_file(const char *vocabulary, const char *path)
{
    enum { ROOM = 1 << 20 };
    spot_ctx c = check_ctx(1);
    spot_bpe *t;
    int32_t *id = malloc(sizeof *id * ROOM), count;
    char *line = NULL;
    size_t size = 0;
    FILE *f = fopen(path, "rb");

    if (!f || !id || spot_bpe_open(&c, &t, vocabulary, 0)) {
        fprintf(stderr, "%s\n", c.message);
        return 1;
    }
    while (getdelim(&line, &size, 0, f) > 0) {
        spot_bpe_texts b = { .text = (const char *const *)&line, .n = 1, .context = ROOM, .id = id, .length = &count };
        b.context = (int)(strlen(line) * 6 + 16);
        if (b.context > ROOM || spot_bpe_encode(&c, t, &b)) count = -1;
        fwrite(&count, sizeof count, 1, stdout);
        if (count > 0) fwrite(id, sizeof *id, (size_t)count, stdout);
        spot_forget(&c);
    }
    free(line);
    free(id);
    fclose(f);
    spot_bpe_close(t);
    return 0;
}

int main(int argc, char **argv)
{
    return argc == 3 ? encode_file(argv[1], argv[2]) : run_all_tests();
}
