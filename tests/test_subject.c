/* test_subject.c - a user's arrays as a subject: what is read, row by row; and a sentence with file and row for each thing
 * that does not fit. The arrays are written here as text, so that each case can be read beside what is said about it. */
#define _GNU_SOURCE
#include "checks.h"
#include "check_folder.h"

#include <math.h>
#include <sys/stat.h>

#include "claims/measure.h"
#include "spotter/array.h"
#include "discover/describe/gallery.h"
#include "spotter/subject.h"

enum { ROWS = 5, COLUMNS = 2 };

static const float embedding[ROWS * COLUMNS] = { 0, 1, 10, 11, 20, 21, 30, 31, 40, 41 };

/* One table with everything; column names say what is in them. */
static const char table[] =
    "id,word,y,two,far,neg,half,pc,p0,p1,p2,bad,score,loss,negloss,nan,many0,many1,many2,m0,m1,m2,up\n"
    "a.png,dog,1,0,1,0,0,.7,.2,.7,.1,.7,2.5,0.25,0.1,.5,1,0,1,.9,.2,.6,../a.png\n"
    "b c.png,cat,0,1,0,0,1,.6,.6,.3,.1,.6,-1,0.5,0.1,.5,0,0,0,.1,.2,.3,a.png\n"
    "s/d.png,owl,2,1,2,1,0.5,.4,.3,.3,.4,1.5,.4,0,-0.2,nan,0,1,0,.1,.4,.3,a.png\n"
    "none.png,cat,0,0,0,-1,1,.2,.2,.5,.3,.2,.2,2,0.1,.5,1,1,1,1,1,1,a.png\n"
    "a.png,dog,1,1,3,1,1,1.0000004,0,1.0000004,0,1,1,0,0.1,.5,0,0,2,0,0,0,a.png\n";

typedef struct { spot_ctx c; char e[128], t[128], logs[4096]; } fixture;

static void hear(void *user, spot_log_level level, const char *text)
{
    fixture *f = user;
    (void)level;
    strncat(f->logs, text, sizeof f->logs - strlen(f->logs) - 2);
    strcat(f->logs, "\n");
}

static void make(fixture *f)
{

    memset(f, 0, sizeof *f);
    f->c = check_ctx(1);
    f->c.on_log = hear;
    f->c.user = f;
    snprintf(f->e, sizeof f->e, "%s/e.npy", root);
    snprintf(f->t, sizeof f->t, "%s/t.csv", root);
    CHECK_OK(&f->c, spot_npy_write(&f->c, f->e, embedding, ROWS, COLUMNS));
    put_text("t.csv", table);
    const char *folder = in_root("s");
    mkdir(folder, 0777);
    put_text("a.png", "a");
    put_text("b c.png", "b");
    put_text("s/d.png", "d");
}

/* A column of the table, as spot_array_read has it; one buffer an argument. */
static const char *column(const fixture *f, const char *name, int slot)
{
    static char where[5][256];

    if (!name) return NULL;
    snprintf(where[slot], sizeof where[slot], "%s:%s", f->t, name);
    return where[slot];
}

static spot_status read_subject(fixture *f, spot_subject *s, const char *labels, const char *probs, const char *losses,
                                const char *ids, bool images)
{
    spot_subject_files files = { .embeddings = f->e, .labels = column(f, labels, 0), .probs = column(f, probs, 1),
                                 .losses = column(f, losses, 2), .ids = column(f, ids, 3), .images = images ? root : NULL };

    return spot_subject_read(&f->c, s, &files);
}

TEST_IN_FOLDER(rows_keep_their_order)
{
    static const int target[ROWS] = { 1, 0, 2, 0, 1 };
    static const float p[ROWS * 3] = { .2f, .7f, .1f, .6f, .3f, .1f, .3f, .3f, .4f, .2f, .5f, .3f, 0, 1, 0 };
    static const char *const name[] = { "cat", "dog", "owl" };
    static const char *const id[] = { "a.png", "b c.png", "s/d.png", "none.png", "a.png" };
    fixture f;
    spot_subject s;

    make(&f);
    CHECK_OK(&f.c, read_subject(&f, &s, "word", "p0..p2", NULL, "id", false));
    assert_int_equal(s.n, ROWS);
    assert_int_equal(s.d, COLUMNS);
    assert_int_equal(s.classes, 3);
    assert_memory_equal(s.feature, embedding, sizeof embedding);
    assert_memory_equal(s.target, target, sizeof target);
    assert_memory_equal(s.prob, p, sizeof p);
    for (int k = 0; k < 3; k++) assert_string_equal(s.class_name[k], name[k]);
    for (int i = 0; i < ROWS; i++) {
        assert_string_equal(s.id[i], id[i]);
        assert_true(s.confidence[i] == p[3 * i + target[i]]);
    }
    assert_null(s.image);
    assert_null(s.has);
    assert_non_null(strstr(s.source, "5 rows of 2 numbers"));
    spot_subject_close(&s);
    CHECK_OK(&f.c, read_subject(&f, &s, "y", "p0..p2", NULL, NULL, false));
    assert_memory_equal(s.target, target, sizeof target);
    assert_string_equal(s.class_name[2], "2");
    assert_string_equal(s.id[4], "4");
    spot_subject_close(&s);
    CHECK_OK(&f.c, read_subject(&f, &s, "y", "p0..p2", NULL, "y", false));
    assert_string_equal(s.id[2], "2");
    spot_subject_close(&s);
}

TEST_IN_FOLDER(one_number_a_row)
{
    fixture f;
    spot_subject s;

    make(&f);
    CHECK_OK(&f.c, read_subject(&f, &s, "two", "pc", NULL, NULL, false));      /* two classes: it is that of class 1 */
    assert_int_equal(s.classes, 2);
    CHECK_NEAR(s.confidence[0], 0.3, 1e-6);
    CHECK_NEAR(s.confidence[1], 0.6, 1e-6);
    CHECK_NEAR(s.prob[0], 0.3, 1e-6);
    CHECK_NEAR(s.prob[1], 0.7, 1e-6);
    assert_true(s.confidence[4] == 1);                                         /* 1.0000004 is a softmax's rounding */
    assert_non_null(strstr(f.logs, "taken as the probability of class 1"));
    spot_subject_close(&s);
    CHECK_OK(&f.c, read_subject(&f, &s, "y", "pc", NULL, NULL, false));        /* three: of the true class */
    CHECK_NEAR(s.confidence[0], 0.7, 1e-6);
    assert_null(s.prob);
    spot_subject_close(&s);
    CHECK_OK(&f.c, read_subject(&f, &s, "word", NULL, "loss", NULL, false));
    CHECK_NEAR(s.confidence[0], exp(-0.25), 1e-6);
    CHECK_NEAR(s.confidence[2], 1, 0);
    spot_subject_close(&s);
}

TEST_IN_FOLDER(rows_may_have_many_classes)
{
    static const uint8_t has[] = { 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1 };
    fixture f;
    spot_subject s;
    spot_arena a;
    spot_view v;

    make(&f);
    put_text("few.csv", "h0,h1,h2,m0,m1,m2,e0,e1\n1,0,1,.9,.2,.6,0,1\n0,0,0,.1,.2,.3,10,11\n0,1,0,.1,.4,.3,20,21\n"
        "1,1,1,1,1,1,30,31\n");
    snprintf(f.t, sizeof f.t, "%s/few.csv", root);
    snprintf(f.e, sizeof f.e, "%s/few.csv:e0,e1", root);
    CHECK_OK(&f.c, read_subject(&f, &s, "h0..h2", "m0..m2", NULL, NULL, false));
    assert_memory_equal(s.has, has, sizeof has);
    assert_null(s.target);
    assert_null(s.confidence);
    assert_int_equal(spot_subject_rows(&s, 0), 2);
    assert_int_equal(spot_subject_rows(&s, 2), 2);
    assert_int_equal(spot_subject_rows(&s, -1), 4);
    CHECK_NEAR(spot_subject_error(&s, 0, 2), 0.4, 1e-6);
    assert_false(spot_subject_wrong(&s, 0, 2));
    assert_true(spot_subject_wrong(&s, 2, 1));
    CHECK_OK(&f.c, spot_arena_open(&f.c, &a, 1 << 16));
    CHECK_OK(&f.c, spot_subject_view(&f.c, &a, &v, &s, 1));
    assert_int_equal(v.n, 2);
    assert_int_equal(v.image[0], 2);
    assert_int_equal(v.image[1], 3);
    CHECK_NEAR(v.confidence[0], 0.4, 1e-6);
    assert_true(v.feature[0] == 20 && v.feature[3] == 31);
    CHECK_FAILS(&f.c, spot_subject_view(&f.c, &a, &v, &s, -1), SPOT_INPUT, "discover.several_classes");
    spot_arena_close(&a);
    spot_subject_close(&s);
    CHECK_FAILS(&f.c, read_subject(&f, &s, "h0..h2", "m0", NULL, NULL, false), SPOT_INPUT,
                "probability.columns");
    CHECK_FAILS(&f.c, read_subject(&f, &s, "h0..h2", "m0,m1", NULL, NULL, false), SPOT_INPUT, "probability.columns: 2");
    CHECK_FAILS(&f.c, read_subject(&f, &s, "h0..h2", NULL, "m0", NULL, false), SPOT_INPUT, "loss.several_classes");
}

TEST_IN_FOLDER(views_are_of_a_class)
{
    fixture f;
    spot_subject s;
    spot_arena a, count = spot_arena_counting();
    spot_view v;

    make(&f);
    CHECK_OK(&f.c, read_subject(&f, &s, "word", "p0..p2", NULL, NULL, false));
    CHECK_OK(&f.c, spot_arena_open(&f.c, &a, 1 << 16));
    for (int cls = -1; cls < 3; cls++) {
        a.used = count.used = 0;
        CHECK_OK(&f.c, spot_subject_view(&f.c, &a, &v, &s, cls));
        assert_int_equal(v.n, spot_subject_rows(&s, cls));
        assert_int_equal(v.d, COLUMNS);
        assert_null(v.label);
        for (int i = 0; i < v.n; i++) {
            assert_true(cls < 0 || s.target[v.image[i]] == cls);
            assert_true(i == 0 || v.image[i] > v.image[i - 1]);
            assert_memory_equal(v.feature + i * COLUMNS, embedding + v.image[i] * COLUMNS, COLUMNS * sizeof(float));
            assert_true(v.confidence[i] == s.confidence[v.image[i]]);
        }
        assert_true((v.feature == s.feature) == (cls < 0));
        CHECK_OK(&f.c, spot_subject_view(&f.c, &count, &v, &s, cls));
        assert_int_equal(count.used, a.used);
    }
    assert_false(spot_subject_wrong(&s, 0, 1));
    assert_false(spot_subject_wrong(&s, 2, 2));        /* .4 is the greatest of its row */
    assert_true(spot_subject_wrong(&s, 3, 0));
    CHECK_NEAR(spot_subject_error(&s, 2, 2), 0.6, 1e-6);
    CHECK_FAILS(&f.c, spot_subject_view(&f.c, &a, &v, &s, 3), SPOT_INVALID, "class.number: class 3 | 3");
    spot_arena_close(&a);
    spot_subject_close(&s);
}

TEST_IN_FOLDER(pictures_are_found)
{
    fixture f;
    spot_subject s;
    spot_subject_files files;
    char path[200];

    make(&f);
    CHECK_FAILS(&f.c, read_subject(&f, &s, "y", "pc", NULL, "id", true), SPOT_INPUT,
                "pictures.missing: 1 | 5");
    assert_non_null(strstr(f.logs, "row 3: "));
    assert_non_null(strstr(f.logs, "none.png is no file"));
    assert_non_null(strstr(f.logs, "t.csv:id: 1 rows have the id of an earlier row, the first of them is row 4, a.png"));
    files = (spot_subject_files){ .embeddings = f.e, .labels = column(&f, "y", 0), .probs = column(&f, "pc", 1),
                                  .ids = column(&f, "id", 3), .images = root, .skip = true };
    CHECK_OK(&f.c, spot_subject_read(&f.c, &s, &files));
    assert_int_equal(s.skipped, 1);
    assert_int_equal(s.n, ROWS);
    assert_null(s.image[3]);
    snprintf(path, sizeof path, "%s/b c.png", root);
    assert_string_equal(s.image[1], path);
    snprintf(path, sizeof path, "%s/s/d.png", root);
    assert_string_equal(s.image[2], path);
    assert_string_equal(s.id[2], "s/d.png");
    spot_subject_close(&s);
    CHECK_FAILS(&f.c, read_subject(&f, &s, "y", "pc", NULL, "up", true), SPOT_INPUT, "picture.outside: row 0 | \"../a.png\"");
    CHECK_FAILS(&f.c, read_subject(&f, &s, "y", "pc", NULL, NULL, true), SPOT_INPUT, "subject.no_ids");
    files.images = "/nowhere";
    CHECK_FAILS(&f.c, spot_subject_read(&f.c, &s, &files), SPOT_IO, "folder.missing: /nowhere");
    files.images = root;
    files.ids = column(&f, "id", 3);
    snprintf(path, sizeof path, "%s/s/d.png", root);
    assert_int_equal(remove(path), 0);
    assert_int_equal(symlink("../a.png", path), 0);                /* within the folder */
    CHECK_OK(&f.c, spot_subject_read(&f.c, &s, &files));
    assert_string_equal(s.image[2], path);
    spot_subject_close(&s);
    assert_int_equal(remove(path), 0);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    CHECK_FAILS(&f.c, spot_subject_read(&f.c, &s, &files), SPOT_INPUT, "picture.link_outside: s/d.png");
    files.links = true;
    CHECK_OK(&f.c, spot_subject_read(&f.c, &s, &files));
    assert_string_equal(s.image[2], path);
    spot_subject_close(&s);
}

/* Files of a Mac, and ids with "./" and blanks, name the same pictures; what leads out does so in every form. */
TEST_IN_FOLDER(pictures_are_found_by_names_that_mean_the_same)
{
    static char *id[] = { "a\xc3\xa9.png", "./b.png", "c.png ", "a\xcc\x8a.png" }, *out[] = { " ../b.png" };
    static const char *const file[] = { "ae\xcc\x81.png", "b.png", "c.png", "\xc3\xa5.png" };
    spot_ctx c = check_ctx(1);
    spot_subject s = { .n = LEN(id), .id = id };
    char path[200];

    for (int i = 0; i < LEN(file); i++) {
        snprintf(path, sizeof path, "%s/%s", root, file[i]);
        FILE *f = fopen(path, "w");
        assert_true(f && !fclose(f));
    }
    CHECK_OK(&c, spot_gallery_paths(&c, &s, root, false));
    for (int i = 0; i < LEN(file); i++)
        if (access(s.image[i], F_OK)) fail_msg("%s is not found: %s", id[i], s.image[i]);
    spot_subject_close(&s);
    s = (spot_subject){ .n = 1, .id = out };
    CHECK_OK(&c, spot_gallery_paths(&c, &s, root, false));
    assert_int_not_equal(access(s.image[0], F_OK), 0);
    spot_subject_close(&s);
}

TEST_IN_FOLDER(what_does_not_fit_is_told)
{
    static const struct { const char *labels, *probs, *losses, *ids, *words; } list[] = {
        { NULL, "pc", NULL, NULL, "subject.no_labels" },
        { "y", NULL, NULL, NULL, "subject.no_answers" },
        { "y", "pc", "loss", NULL, "subject.no_answers" },
        { "neg", "pc", NULL, NULL, "number.whole: t.csv:neg | row 3 | -1 | 0" },
        { "half", "pc", NULL, NULL, "number.whole: t.csv:half | row 2 | 0.5" },
        { "far", "p0..p2", NULL, NULL, "labels.class: t.csv:far | row 4 | class 3" },
        { "word", "p0,p1", NULL, NULL, "probability.columns: 2" },
        { "y", "bad", NULL, NULL, "probability.value: t.csv:bad | row 2 | 1.5" },
        { "y", "score", NULL, NULL, "probability.value: t.csv:score | row 0 | 2.5" },
        { "y", "score,p1,p2", NULL, NULL, "probability.value: row 0 | column 0 | 2.5" },
        { "y", "pc,p1,p2", NULL, NULL, "probability.sum: row 0 | 1.5" },
        { "y", "nan", NULL, NULL, "number.value: t.csv:nan | row 2 | nan" },
        { "y", NULL, "negloss", NULL, "loss.value: t.csv:negloss | row 2 | -0.2" },
        { "y", NULL, "p0..p2", NULL, "subject.dimensions: 2 | (rows)" },
        { "y", "word", NULL, NULL, "number.form: t.csv:word | row 0 | \"dog\"" },
        { "many0..many2", "m0..m2", NULL, NULL, "number.whole: row 4, column 2 | 2 | 0 | 1" },
        { "y", "pc", NULL, "p0..p2", "subject.dimensions: 2 | (rows)" },
        { "y", "none", NULL, NULL, "table.no_column: \"none\"" },
    };

    for (int i = 0; i < LEN(list); i++) {
        fixture f;
        spot_subject s;
        make(&f);
        CHECK_FAILS(&f.c, read_subject(&f, &s, list[i].labels, list[i].probs, list[i].losses, list[i].ids, false), SPOT_INPUT,
                    list[i].words);
        assert_null(s.owned);
        assert_null(s.feature);
    }
}

/* Tables of five rows, as people write them: what is said of a row or of names that fit nothing. */
TEST_IN_FOLDER(words_that_fit_nothing_are_told)
{
    static const struct { const char *text, *labels, *probs, *words; } list[] = {
        { "y\ncat\nNone\ndog\ncat\ndog\n", "y", "pc", "labels.missing: t.csv:y | row 1 | \"None\"" },
        { "y\ncat\ncat\ndog\ncat\n<NA>\n", "y", "pc", "labels.missing: t.csv:y | row 4 | \"<NA>\"" },
        { "y\n1\n0\n1\nnan\n0\n", "y", "pc", "labels.missing: t.csv:y | row 3" },
        { "y\n1\n0\n1\nNA\n0\n", "y", "pc", "labels.missing: t.csv:y | row 3 | \"NA\"" },
        { "y,a,b\n1,1,0\n01,1,0\n1,1,0\n2,1,0\n0,1,0\n", "y", "a,b", "probability.names: 0 of its 2 | 4 classes | \"0\"" },
        { "y,p0,p1\n1,1,0\n01,1,0\n1,1,0\n2,1,0\n0,1,0\n", "y", "p0,p1",
          "probability.columns: 2 columns | 4 classes | \"01\"" },
        { "y,p_a,p_c\na,1,0\na,1,0\nb,1,0\na,1,0\na,1,0\n", "y", "p_a,p_c",
          "probability.names: t.csv:p_a,p_c | 1 of its 2 | \"b\" | \"c\"" },
        { "l0,l1,p0,p1\n.9,.1,.6,.3\n.9,.1,.6,.3\n.9,.1,.6,.3\n.9,.1,1,0\n.9,.1,1,0\n", "l0,l1", "p0,p1",
          "labels.shares: t.csv:l0,l1 | 5 rows" },
        { "l0,l1,p0,p1\n.9,.1,.6,.3\n.9,.1,1,0\n.9,.1,1,0\n.9,.1,1,0\n.9,.1,1,0\n", "l0,l1", "p0,p1",
          "probability.sum: t.csv:p0,p1 | row 0 | 0.9" },
        { "l0,l1,p0,p1\n.9,.1,1,0\n1,1,1,0\n1,0,1,0\n1,0,1,0\n1,0,1,0\n", "l0,l1", "p0,p1", "labels.shares: 1 rows" },
        { "l0,l1,p0,p1\n.9,.3,1,0\n1,1,1,0\n1,0,1,0\n1,0,1,0\n1,0,1,0\n", "l0,l1", "p0,p1",
          "number.whole: row 0, column 0" },
    };

    for (int i = 0; i < LEN(list); i++) {
        fixture f;
        spot_subject s;
        spot_subject_files files = { 0 };
        make(&f);
        put_text("t.csv", list[i].text);
        put_text("pc.csv", "pc\n.5\n.2\n.3\n1\n0\n");
        files = (spot_subject_files){ .embeddings = f.e, .labels = column(&f, list[i].labels, 0) };
        files.probs = strcmp(list[i].probs, "pc") ? column(&f, list[i].probs, 1) : in_root("pc.csv");
        CHECK_FAILS(&f.c, spot_subject_read(&f.c, &s, &files), SPOT_INPUT, list[i].words);
        assert_null(s.owned);
    }
}

/* Rows 1 and 3 of five are bad: the others keep their ids and values, in every array. */
TEST_IN_FOLDER(bad_rows_are_left_out)
{
    static const char *const id[] = { "0", "2", "4" };
    static const int target[] = { 1, 0, 1 };
    fixture f;
    spot_subject s;
    spot_subject_files files;

    make(&f);
    put_text("t.csv", "y,p0,p1,e0,e1\n1,.5,.5,1,2\n0,.9,.1,3,\n0,.25,.75,5,6\n,.5,.5,7,8\n1,1,0,9,1e12\n");
    files = (spot_subject_files){ .embeddings = column(&f, "e0,e1", 0), .labels = column(&f, "y", 1),
                                  .probs = column(&f, "p0,p1", 2), .skip_bad = true };
    CHECK_OK(&f.c, spot_subject_read(&f.c, &s, &files));
    assert_int_equal(s.n, 3);
    assert_int_equal(s.left_out, 2);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(s.id[i], id[i]);
        assert_int_equal(s.target[i], target[i]);
        assert_true(s.feature[2 * i] == 1 + 4 * i);
        assert_true(s.confidence[i] == s.prob[2 * i + target[i]]);
    }
    assert_true(spot_subject_wrong(&s, 0, 1) && spot_subject_wrong(&s, 1, 0) && spot_subject_wrong(&s, 2, 1));
    assert_non_null(strstr(f.logs, "left out: 2 of 5 rows"));
    assert_non_null(strstr(f.logs, "1 of 5 rows are ties"));
    spot_subject_close(&s);
    files.skip_bad = false;
    CHECK_FAILS(&f.c, spot_subject_read(&f.c, &s, &files), SPOT_INPUT, "table.cell_empty: row 3 (line 5) | \"y\"");
    put_text("t.csv", "y,p0,p1,e0,e1\n1,.5,.5,1,2\n0,.9,.1,3,4\n0,.25,.75,5,-2e12\n1,.5,.5,7,8\n1,1,0,9,1e12\n");
    CHECK_FAILS(&f.c, spot_subject_read(&f.c, &s, &files), SPOT_INPUT, "number.value: row 2, column 1 | -2e+12 | 1e+12");
    put_text("t.csv", "y,p0,p1,e0,e1\n1,.5,.5,nan,2\n0,.9,.1,3,nan\n0,.25,.75,5,inf\n1,.5,.5,7,8\n1,1,0,9,1e12\n");
    files.skip_bad = true;
    CHECK_FAILS(&f.c, spot_subject_read(&f.c, &s, &files), SPOT_INPUT, "rows.bad: 5 rows | row 2, column 1 | inf");
}

TEST_IN_FOLDER(embeddings_are_looked_at)
{
    fixture f;
    spot_subject s;
    spot_subject_files files;
    float v[ROWS * COLUMNS + COLUMNS];

    make(&f);
    memcpy(v, embedding, sizeof embedding);
    v[7] = NAN;
    CHECK_OK(&f.c, spot_npy_write(&f.c, f.e, v, ROWS, COLUMNS));
    CHECK_FAILS(&f.c, read_subject(&f, &s, "y", "pc", NULL, NULL, false), SPOT_INPUT,
                "number.value: e.npy | row 3, column 1 | nan");
    v[7] = v[10] = v[11] = 0;
    CHECK_OK(&f.c, spot_npy_write(&f.c, f.e, v, ROWS + 1, COLUMNS));
    CHECK_FAILS(&f.c, read_subject(&f, &s, "y", "pc", NULL, NULL, false), SPOT_INPUT, "subject.rows: e.npy | 6");
    CHECK_OK(&f.c, spot_npy_write(&f.c, f.e, v, ROWS, 0));
    CHECK_FAILS(&f.c, read_subject(&f, &s, "y", "pc", NULL, NULL, false), SPOT_INPUT, "subject.dimensions: 1 | (rows");
    CHECK_OK(&f.c, spot_npy_write(&f.c, f.e, v, ROWS, COLUMNS));
    files = (spot_subject_files){ .embeddings = f.e, .labels = column(&f, "y", 0), .probs = column(&f, "pc", 1),
                                  .memory = 100 };
    CHECK_FAILS(&f.c, spot_subject_read(&f.c, &s, &files), SPOT_INPUT, "array.memory: e.npy | 40 | 20");
    files.memory = 30;
    CHECK_FAILS(&f.c, spot_subject_read(&f.c, &s, &files), SPOT_INPUT, "array.memory: t.csv:y");
    files.memory = 1000;
    CHECK_OK(&f.c, spot_subject_read(&f.c, &s, &files));
    spot_subject_close(&s);
    files.coco = "c.json";
    CHECK_FAILS(&f.c, spot_subject_read(&f.c, &s, &files), SPOT_INPUT, "subject.picture_option: c.json");
}

/* The answer is numpy's argmax: that of [.25 .5 .25 0], [.5 .5 0 0], [.25 .25 .25 .25], [0 .5 .5 0] is 1, 0, 0, 1. */
TEST(the_first_greatest_is_the_answer)
{
    float prob[16] = { .25f, .5f, .25f, 0, .5f, .5f, 0, 0, .25f, .25f, .25f, .25f, 0, .5f, .5f, 0 }, confidence[4];
    static const int answer[4] = { 1, 0, 0, 1 };
    int target[4] = { 2, 0, 3, 1 }, told[4] = { 1, 0, 0, 1 };
    spot_subject s = { .n = 4, .d = 1, .classes = 4, .target = target, .prob = prob, .confidence = confidence };

    for (int from = 0; from < 2; from++) {
        for (int i = 0; i < 4; i++) {
            confidence[i] = prob[4 * i + target[i]];
            assert_int_equal(spot_subject_predicted(&s, i), answer[i]);
            assert_true(spot_subject_wrong(&s, i, target[i]) == (answer[i] != target[i]));
        }
        s.prob = from ? prob : NULL, s.predicted = told;           /* as from a folder of findings */
    }
    s.prob = NULL, s.predicted = NULL;
    confidence[0] = .5f, confidence[1] = nextafterf(.5f, 0);       /* of the true class alone: below 1/2 is wrong */
    assert_false(spot_subject_wrong(&s, 0, 2));
    assert_true(spot_subject_wrong(&s, 1, 0));
}

/* New pictures are judged by the same rule; a single output is the logit of class 1. */
TEST(new_pictures_have_the_first_greatest_output)
{
    static const struct { float out[3]; int outputs, label, wrong; const char *answer; } list[] = {
        { { 1, 2, 2 }, 3, 2, 1, "1" }, { { 1, 2, 2 }, 3, 1, 0, "1" }, { { 0, 0, 0 }, 3, 0, 0, "0" },
        { { 0 }, 1, 1, 1, "0" }, { { 0 }, 1, 0, 0, "0" }, { { 1e-20f }, 1, 1, 0, "1" },
    };
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < LEN(list); i++) {
        const spot_measure_options o = { .label = list[i].label };
        spot_new_picture r = { 0 };
        CHECK_OK(&c, spot_measure_picture(&c, &o, &r, list[i].out, list[i].outputs, 0));
        assert_int_equal(r.wrong, list[i].wrong);
        assert_string_equal(r.predicted, list[i].answer);
        free(r.predicted);
    }
}

/* A subject that came another way is looked at as closely. */
static spot_array lend(spot_dtype type, int columns, void *data, const char *name)
{
    spot_array a = { .type = type, .rank = columns ? 2 : 1, .dim = { ROWS, columns },
                     .count = (size_t)(ROWS * (columns ? columns : 1)), .data = data };

    snprintf(a.name, sizeof a.name, "%s", name);
    return a;
}

TEST_IN_FOLDER(arrays_of_the_caller)
{
    static float feature[ROWS * COLUMNS];
    float prob[ROWS * 3] = { .1f, .7f, .2f, .6f, .3f, .1f, .3f, .3f, .4f, .2f, .5f, .3f, 0, 1, 0 };
    char *word[ROWS] = { "dog", "cat", "owl", "cat", "dog" }, *const name[] = { "cat", "dog", "owl", "yak" };
    int64_t number[ROWS] = { 1, 0, 2, 0, 3 };
    fixture f;
    spot_subject s;
    spot_array array[] = { lend(SPOT_F32, COLUMNS, feature, "embeddings"), lend(SPOT_WORDS, 0, word, "labels"),
                           lend(SPOT_F32, 3, prob, "probs") };
    spot_subject_files files = { .embeddings = "embeddings", .labels = "labels", .probs = "probs", .array = array,
                                 .arrays = LEN(array) };

    make(&f);
    memcpy(feature, embedding, sizeof feature);
    CHECK_OK(&f.c, spot_subject_read(&f.c, &s, &files));
    assert_true(s.feature == feature && s.prob != prob && s.classes == 3);
    assert_true(!strcmp(s.class_name[1], "dog") && s.target[2] == 2);
    assert_true(strstr(s.source, "(embeddings)"));
    spot_subject_close(&s);                            /* frees nothing of the caller's */
    assert_true(feature[3] == embedding[3] && !strcmp(word[4], "dog"));

    files.class_name = name, files.classes = 4;        /* one more than the columns */
    CHECK_FAILS(&f.c, spot_subject_read(&f.c, &s, &files), SPOT_INPUT, ": probs | 3 | 4");
    files.probs = column(&f, "pc", 1);                 /* a file beside arrays */
    CHECK_OK(&f.c, spot_subject_read(&f.c, &s, &files));
    assert_true(s.classes == 4 && s.target[0] == 1 && !s.prob && !strcmp(s.class_name[3], "yak"));
    spot_subject_close(&s);
    array[1] = lend(SPOT_I64, 0, number, "labels");
    CHECK_OK(&f.c, spot_subject_read(&f.c, &s, &files));
    assert_true(s.target[4] == 3 && number[4] == 3);
    spot_subject_close(&s);
    files.classes = 3;
    CHECK_FAILS(&f.c, spot_subject_read(&f.c, &s, &files), SPOT_INPUT, "number.whole: labels | 3 | 2");
    array[1] = lend(SPOT_WORDS, 0, word, "labels");
    word[3] = "emu";
    CHECK_FAILS(&f.c, spot_subject_read(&f.c, &s, &files), SPOT_INPUT, "labels.unknown: labels | 3 | emu");
}

TEST(a_subject_is_checked)
{
    float feature[4] = { 1, 2, 3, 4 }, prob[4] = { .5f, .5f, .9f, .1f }, confidence[2] = { .5f, .9f }, bad[4];
    int target[2] = { 0, 0 }, far[2] = { 0, 2 };
    uint8_t has[4] = { 0, 1, 1, 2 };
    char *names[] = { "x", "y" };
    spot_subject good = { .n = 2, .d = 2, .classes = 2, .feature = feature, .target = target, .prob = prob,
                          .confidence = confidence, .class_name = names, .id = names }, s;
    spot_ctx c = check_ctx(1);

    CHECK_OK(&c, spot_subject_check(&c, &good));
#define REFUSED(change, failure)                                        \
    do {                                                                \
        s = good;                                                       \
        change;                                                         \
        CHECK_FAILS(&c, spot_subject_check(&c, &s), SPOT_INPUT, failure); \
    } while (0)
    REFUSED(s.n = 0, "subject.sizes");
    REFUSED(s.feature = NULL, "subject.sizes");
    REFUSED(s.target = far, "labels.class: target | row 1 | class 2 | 2");
    REFUSED(s.target = NULL, "subject.target_or_has");
    REFUSED(s.has = has, "subject.target_or_has");
    REFUSED((s.target = NULL, s.has = has), "labels.truth_value: has | row 1 | column 1 | 2");
    REFUSED((s.target = NULL, s.has = has, s.prob = NULL), "subject.no_probabilities");
    REFUSED(s.confidence = NULL, "subject.no_confidence");
    memcpy(bad, feature, sizeof bad);
    bad[2] = INFINITY;
    REFUSED(s.feature = bad, "features.value: feature | row 1 | column 0 | inf");
    REFUSED(s.head = bad, "features.value: head | row 1 | column 0 | inf");
    memcpy(bad, prob, sizeof bad);
    bad[1] = 0.6f;
    REFUSED(s.prob = bad, "probability.sum: prob | row 0 | 1.1");
    bad[1] = 0.498f;
    REFUSED(s.prob = bad, "probability.sum: prob | row 0 | 0.998");
    bad[1] = 0.498046875f;                         /* which bfloat16 has, and so all of the row */
    s = good;
    s.prob = bad;
    CHECK_OK(&c, spot_subject_check(&c, &s));
    bad[1] = 0.494140625f;                         /* of 1,000 classes four decimals may move the sum by 0.05 */
    REFUSED(s.prob = bad, "probability.sum: prob | row 0 | 0.994141");
    bad[1] = 0.6f;
    bad[0] = 0.4f;
    REFUSED(s.prob = bad, "probability.contradiction: row 0 | 0.4 | prob | 0.5 | confidence");
    bad[0] = NAN;
    REFUSED(s.prob = bad, "probability.value: prob | row 0 | column 0 | nan");
    REFUSED((s.prob = NULL, s.confidence = bad), "probability.value: confidence | row 0 | nan");
#undef REFUSED
}
