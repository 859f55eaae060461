/* test_keywords.c - host/background/keywords: both forms of CSV, wrong files, similarity, backgrounds that are left out. */
#define _XOPEN_SOURCE 700
#include "checks.h"
#include "check_folder.h"

#include "background/suite/keywords.h"
#include "formats/word_lines.h"

static char *pictures[] = { "dog/b.png", "dog/a.png", "cat/a.png" }, *grounds[] = { "1.jpg", "2.jpg" };

static const char *put_file(char path[96], const char *name, const char *text)
{
    snprintf(path, 96, "%s/%s", root, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static void expect_words(const spot_keywords *k, const spot_baskets *b, int row, const char *expected)
{
    char got[256] = "";

    for (int i = b->first[row]; i < b->first[row + 1]; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s;", k->word[b->item[i]]);
    assert_string_equal(got, expected);
}

TEST_IN_FOLDER(both_forms_share_a_vocabulary)
{
    char one[96], two[96];
    spot_keyword_list images = { put_file(one, "i.csv", "path,sky,Palm_Tree\ndog/a.png,1,0\ncat/a.png,0,0\nx.png,1,1\n"
                                 "\"dog/b.png\",true,1\n"), pictures, 3 },
                      backgrounds = { put_file(two, "b.csv", "keywords,path\nwater; SKY ;water,2.jpg\n,1.jpg\n"), grounds, 2 };
    spot_ctx c = check_ctx(1);
    spot_keywords k;

    CHECK_OK(&c, spot_keywords_read(&c, &k, &images, &backgrounds));
    assert_int_equal(k.words, 3);
    assert_int_equal(k.others, 1);
    expect_words(&k, &k.images, 0, "sky;palm tree;");
    expect_words(&k, &k.images, 1, "sky;");
    expect_words(&k, &k.images, 2, "");
    expect_words(&k, &k.backgrounds, 0, "");
    expect_words(&k, &k.backgrounds, 1, "sky;water;");
    assert_int_equal(k.backgrounds.items, 3);
    spot_keywords_close(&k);
}

static void expect_refused(const char *text, const char *words)
{
    char path[96];
    spot_keyword_list images = { put_file(path, "w.csv", text), pictures, 3 }, none = { NULL, grounds, 2 };
    spot_ctx c = check_ctx(1);
    spot_keywords k;

    CHECK_FAILS(&c, spot_keywords_read(&c, &k, &images, &none), SPOT_INPUT, words);
    spot_keywords_close(&k);
}

TEST_IN_FOLDER(wrong_files_are_sentences)
{
    expect_refused("", "file.empty");
    expect_refused("file,sky\na,1\n", "keywords.no_path");
    expect_refused("path\na\n", "keywords.none");
    expect_refused("path,sky\ndog/a.png,1\n", "keywords.no_record: 2 | 3 | dog/b.png | cat/a.png");
    expect_refused("path,sky\ndog/a.png,1\ncat/a.png,2\n", "keywords.value: line 3 | cell 2 | 2");
    expect_refused("path,sky\ndog/a.png,1\ndog/a.png,1\n", "keywords.twice: lines 2 | 3 | dog/a.png");
    expect_refused("path,sky\ndog/a.png\n", "table.cells: line 2 | 1 | 2");
    expect_refused("path,sky\ndog/a.png,1,1\n", "table.cells: line 2 | 3");
}

TEST_IN_FOLDER(backgrounds_with_a_tested_class_are_left_out)
{
    char path[96];
    spot_keyword_list none = { NULL, pictures, 3 },
                      backgrounds = { put_file(path, "b.csv", "path,keywords\n1.jpg,tree;hot dog\n2.jpg,tree;grass\n"),
                                      grounds, 2 };
    spot_ctx c = check_ctx(1);
    spot_keywords k;
    int excluded[2];

    CHECK_OK(&c, spot_keywords_read(&c, &k, &none, &backgrounds));
    assert_int_equal(spot_keywords_excluded(excluded, &k, "", (char *[]){ "Hot_Dog", "cat" }, 2), 1);
    assert_string_equal(k.word[excluded[0] - 1], "hot dog");
    assert_int_equal(excluded[1], 0);
    assert_int_equal(spot_keywords_excluded(excluded, &k, "moss; Grass", (char *[]){ "dog" }, 1), 1);
    assert_string_equal(k.word[excluded[1] - 1], "grass");
    spot_keywords_close(&k);
}

/* Lines are compared as the keywords of CSV files; of equal ones the first stays. */
TEST(words_of_lines)
{
    char line[][24] = { "Hot_Dog", "sky", "hot dog", " SKY ", "Tree" }, *word[LEN(line)];
    spot_ctx c = check_ctx(1);
    char far[300], *longest = far;
    int n = LEN(line);

    for (int i = 0; i < n; i++) word[i] = line[i];
    CHECK_OK(&c, spot_keyword_words(&c, word, &n, "words.txt"));
    assert_int_equal(n, 3);
    assert_string_equal(word[0], "hot dog"), assert_string_equal(word[1], "sky"), assert_string_equal(word[2], "tree");
    const spot_keywords k = { .words = n, .word = word };
    assert_true(spot_keywords_have(&k, "HOT DOG; cat", 7) && !spot_keywords_have(&k, "hot", 3));
    memset(far, 'x', sizeof far - 1), far[sizeof far - 1] = 0;
    CHECK_FAILS(&c, spot_keyword_words(&c, &longest, &(int){ 1 }, "words.txt"), SPOT_INPUT,
                "words.too_long: words.txt | word 1");
}

TEST_IN_FOLDER(similar_words)
{
    static const float text[] = { 1, 0, 0, 1, 0.6f, 0.8f, 1, 0 }, image[] = { 0, 1 }, background[] = { 1, 0, 0.8f, 0.6f };
    char path[96], **word;
    spot_ctx c = check_ctx(2);
    spot_keywords k;
    int n;

    CHECK_OK(&c, spot_word_lines(&c, &word, &n, put_file(path, "words.txt", "\xef\xbb\xbf  sky \n\n# none\ntree\r\nsea\nsun")));
    assert_int_equal(n, 4);
    assert_string_equal(word[1], "tree");
    const spot_keyword_rows rows = { word, text, image, background, 4, 2, 1, 2, 2 };
    CHECK_OK(&c, spot_keywords_similar(&c, &k, &rows));
    expect_words(&k, &k.images, 0, "tree;sea;");
    expect_words(&k, &k.backgrounds, 0, "sky;sun;");
    expect_words(&k, &k.backgrounds, 1, "sky;sea;");           /* .8, .6, .96, .8: of equal words the first */
    spot_keywords_close(&k);
    free(word);
    CHECK_FAILS(&c, spot_word_lines(&c, &word, &n, put_file(path, "none.txt", "\n# x\n")), SPOT_INPUT, "words.none");
}
