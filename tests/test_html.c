/* test_html.c - the report's file: escaping, the same bytes, the budget, pictures. What a browser makes of it: test_html.sh.
 * ctest: threads, both */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"
#include "check_findings.h"
#include "check_folder.h"

#include <fcntl.h>
#include <png.h>
#include <sys/stat.h>
#include <unistd.h>

#include "discover/subject/subject_file.h"
#include "report/page/html.h"

static void write_report(spot_ctx *c, const char *path, const fake_findings *k, spot_report_options r)
{
    const spot_subject *s = &k->s;
    const spot_findings *f = &k->f;
    const spot_discover_options *o = &k->o;
    CHECK_OK(c, spot_report_findings(c, path, 1, &s, &f, &o, &r));
}

/* The file of a report on 300 rows of 3 classes, with pictures; NUL-terminated. */
static char *report(int threads, bool nasty, spot_report_options r, size_t *n)
{
    spot_ctx c = check_ctx(threads);
    fake_findings k;
    unsigned char *bytes;
    fake_open(&k, 300, 3, 1, 1);
    if (nasty) fake_hostile(&k);
    fake_pictures(&c, &k, root);
    const char *path = in_root("report.html");
    write_report(&c, path, &k, r);
    CHECK_OK(&c, spot_file_read(&c, path, &bytes, n, (size_t)1 << 30));
    fake_close(&k);
    return (char *)bytes;
}

static int occurrences(const char *text, const char *words)
{
    int n = 0;
    for (; (text = strstr(text, words)); text += strlen(words)) n++;
    return n;
}

static int number(const char *page, const char *key)
{
    const char *at = strstr(page, key);
    if (!at) fail_msg("the page has no %s", key);
    return atoi(at + strlen(key));
}

TEST_IN_FOLDER(test_nothing_becomes_markup)
{
    size_t n;
    char *plain = report(1, false, spot_report_defaults(), &n), *nasty = report(1, true, spot_report_defaults(), &n);
    assert_int_equal(strlen(nasty), n);
    assert_int_equal(occurrences(nasty, "<script"), occurrences(plain, "<script"));
    assert_int_equal(occurrences(nasty, "</script>"), occurrences(plain, "</script>"));
    assert_int_equal(occurrences(nasty, "hacked = 3</script>"), 0);
    assert_non_null(strstr(nasty, "\\u003c/title>\\u003cscript>window.hacked = 3"));
    assert_non_null(strstr(nasty, "bold\\\\xff"));
    assert_null(strstr(plain, "{{"));
    assert_int_equal(occurrences(nasty, "{{"), 2);                     /* a phrase's, which stays as it is */
    assert_int_equal(occurrences(nasty, "{{what}} {{page.css}}"), 1);
    free(plain);
    free(nasty);
}

TEST_IN_FOLDER(test_same_bytes)
{
    size_t one, four;
    char *a = report(1, true, spot_report_defaults(), &one), *b = report(4, true, spot_report_defaults(), &four);
    assert_int_equal(one, four);
    assert_memory_equal(a, b, one);
    free(a);
    free(b);
}

TEST_IN_FOLDER(test_budget)
{
    spot_report_options r = spot_report_defaults();
    size_t n, tight, full;
    char *page = report(2, false, r, &n), *small, *whole;
    assert_int_equal(number(page, "\"there\":"), 299);
    assert_int_equal(number(page, "\"given\":"), 297);
    assert_int_equal(number(page, "\"unreadable\":"), 2);
    r.budget = spot_page_bare() + 28000;
    small = report(2, false, r, &tight);
    assert_true(tight <= r.budget);
    assert_in_range(number(small, "\"given\":"), 1, 296);
    r.full = true;
    whole = report(2, false, r, &full);
    assert_int_equal(number(whole, "\"given\":"), 297);
    free(page);
    free(small);
    free(whole);
}

/* ---- transparent pictures ---- */

/* The middle pixel of a picture of one colour, (200, 40, 100) with alpha, as a matte shows it. */
static void assert_matte(int format, const uint8_t *pixel, int matte, const uint8_t want[3])
{
    spot_ctx c = check_ctx(1);
    spot_picture p = { .matte = matte };
    png_image image = { .version = PNG_IMAGE_VERSION, .width = 5, .height = 3, .format = (png_uint_32)format };
    const int bytes = (int)PNG_IMAGE_PIXEL_SIZE(format);
    uint8_t all[5 * 3 * 4];
    for (int i = 0; i < 15; i++) memcpy(all + i * bytes, pixel, (size_t)bytes);
    const char *path = in_root("alpha.png");
    assert_true(png_image_write_to_file(&image, path, 0, all, 0, NULL));
    CHECK_OK(&c, spot_picture_read(&c, &p, path));
    for (int k = 0; k < 3; k++) assert_true(abs(p.rgb[7 * 3 + k] - want[k]) <= 1);
    spot_picture_close(&p);
}

TEST_IN_FOLDER(test_mattes)
{
    static const uint8_t half[] = { 200, 40, 100, 51 }, clear[] = { 9, 9, 9, 0 }, grey[] = { 90, 51 };
    assert_matte(PNG_FORMAT_RGBA, half, SPOT_MATTE_DROP, half);
    assert_matte(PNG_FORMAT_RGBA, half, SPOT_MATTE_WHITE, (const uint8_t[]){ 244, 212, 224 });     /* a fifth of it on white */
    assert_matte(PNG_FORMAT_RGBA, half, SPOT_MATTE_BLACK, (const uint8_t[]){ 40, 8, 20 });
    assert_matte(PNG_FORMAT_RGBA, clear, SPOT_MATTE_WHITE, (const uint8_t[]){ 255, 255, 255 });
    assert_matte(PNG_FORMAT_GA, grey, SPOT_MATTE_WHITE, (const uint8_t[]){ 222, 222, 222 });
    assert_matte(PNG_FORMAT_RGB, half, SPOT_MATTE_WHITE, half);                                    /* no alpha */
}

/* ---- names ---- */

TEST_IN_FOLDER(test_names)
{
    spot_report_options r = spot_report_defaults();
    size_t n, again;
    const char *const model[] = { "" , NULL };
    char *page, *same, *plain = report(1, false, r, &n);
    assert_null(strstr(plain, "\"data\":"));
    assert_null(strstr(plain, "\"date\":"));
    assert_non_null(strstr(plain, "\"title\":\"Blindspots\""));
    r.title = "</title>", r.data = "held <out>", r.date = "2026-11-27", r.model = model, r.models = 1;
    page = report(1, false, r, &n);
    same = report(3, false, r, &again);
    assert_int_equal(n, again);
    assert_memory_equal(page, same, n);
    assert_non_null(strstr(page, "\"title\":\"\\u003c/title>\""));
    assert_non_null(strstr(page, "\"data\":\"held \\u003cout>\""));
    assert_non_null(strstr(page, "\"date\":\"2026-11-27\""));
    assert_non_null(strstr(page, "\"name\":null"));                     /* an empty name is none */
    free(plain);
    free(page);
    free(same);
}

static void test_shown(const char *given, const char *want)
{
    spot_text t = { 0 };
    spot_text_visible(&t, given);
    spot_text_add(&t, "", 1);
    assert_string_equal(t.bytes, want);
    spot_text_free(&t);
}

TEST(test_words_are_shown)
{
    test_shown("plain <b>", "plain <b>");
    test_shown("a\nb\x7f", "a\\x0ab\\x7f");
    test_shown("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    test_shown("\xff\xc3", "\\xff\\xc3");
    test_shown("\xc0\x80", "\\xc0\\x80");                       /* overlong */
    test_shown("\xed\xa0\x80", "\\xed\\xa0\\x80");              /* a surrogate */
    test_shown("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");     /* beyond U+10FFFF */
}

TEST(test_base64)
{
    static const char *const want[] = { "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy" };    /* RFC 4648 */
    for (size_t n = 0; n < 7; n++) {
        spot_text t = { 0 };
        spot_text_base64(&t, "foobar", n);
        spot_text_add(&t, "", 1);
        assert_string_equal(t.bytes, want[n]);
        spot_text_free(&t);
    }
}

TEST(test_every_row_has_its_turn)
{
    static const int sizes[] = { 1, 2, 3, 4, 10, 97, 100, 1000, 1597 };
    spot_ctx c = check_ctx(1);
    for (int k = 0; k < LEN(sizes); k++) {
        spot_wanted w;
        CHECK_OK(&c, spot_wanted_open(&c, &w, sizes[k]));
        spot_wanted_add(&w, 0);
        spot_wanted_rest(&w, sizes[k]);
        assert_int_equal(w.n, sizes[k]);
        for (int i = 0; i < sizes[k]; i++) assert_true(w.taken[i]);
        spot_wanted_close(&w);
    }
}

/* Rows of two models are the same rows in any order, or there is no page. */
TEST_IN_FOLDER(test_two_models)
{
    spot_ctx c = check_ctx(1);
    fake_findings a, b;
    const spot_subject *s[] = { &a.s, &b.s };
    const spot_findings *f[] = { &a.f, &b.f };
    const spot_discover_options *o[] = { &a.o, &b.o };
    spot_report_options r = spot_report_defaults();
    char path[128], *id;
    fake_open(&a, 120, 2, 1, 1);
    fake_open(&b, 120, 2, 1, 2);
    snprintf(path, sizeof path, "%s/two.html", root);
    id = b.s.id[0], b.s.id[0] = b.s.id[118], b.s.id[118] = id;
    CHECK_OK(&c, spot_report_findings(&c, path, 2, s, f, o, &r));
    assert_int_equal(access(path, R_OK), 0);
    remove(path);
    strcpy(b.s.id[6], "nobody.png");
    CHECK_FAILS(&c, spot_report_findings(&c, path, 2, s, f, o, &r), SPOT_INPUT,
                "report.rows: \"images/img_000006.png\" | first");
    assert_int_not_equal(access(path, R_OK), 0);
    strcpy(b.s.class_name[1], "another");
    CHECK_FAILS(&c, spot_report_findings(&c, path, 2, s, f, o, &r), SPOT_INPUT, "report.classes: class 1 | \"class 1\"");
    fake_close(&a);
    fake_close(&b);
}

/* ---- what discover wrote, read back ---- */

typedef struct { spot_subject s; spot_findings f; spot_discover_options o; } recalled;

static spot_status recall(spot_ctx *c, recalled *b) { return spot_findings_read(c, root, &b->s, &b->f, &b->o); }

static void recalled_close(recalled *b)
{
    spot_findings_close(&b->f);
    spot_subject_close(&b->s);
}

/* The page of models, which is told apart by its name. */
static unsigned char *page_of(spot_ctx *c, const char *name, int models, const recalled *const *b, size_t *n)
{
    const spot_subject *s[2];
    const spot_findings *f[2];
    const spot_discover_options *o[2];
    spot_report_options r = spot_report_defaults();
    unsigned char *page;
    char path[128];
    for (int k = 0; k < models; k++) s[k] = &b[k]->s, f[k] = &b[k]->f, o[k] = &b[k]->o;
    snprintf(path, sizeof path, "%s/%s.html", root, name);
    CHECK_OK(c, spot_report_findings(c, path, models, s, f, o, &r));
    CHECK_OK(c, spot_file_read(c, path, &page, n, (size_t)1 << 30));
    return page;
}

static recalled as_recalled(const fake_findings *k) { return (recalled){ k->s, k->f, k->o }; }

/* The page of what was read back is the page of what was written, alone and as the second model. */
static void assert_comes_back(spot_ctx *c, const fake_findings *k)
{
    recalled was = as_recalled(k), is;
    const recalled *one[] = { &was, &was }, *other[] = { &is, &is };
    CHECK_OK(c, spot_recall_write(c, root, &k->f, &k->s, &k->o));
    CHECK_OK(c, recall(c, &is));
    assert_null(is.s.feature);
    assert_true(is.s.reading.exif == k->s.reading.exif && is.s.reading.pillow == k->s.reading.pillow);
    for (int models = 1; models <= 2; models++) {
        size_t n, m;
        unsigned char *a = page_of(c, "was", models, one, &n), *b = page_of(c, "is", models, other, &m);
        assert_int_equal(n, m);
        assert_memory_equal(a, b, n);
        assert_int_equal(strstr((char *)b, "\"name\":\"model 2\"") != NULL, models == 2);
        free(a);
        free(b);
    }
    recalled_close(&is);
}

/* The page shows a photo as the classifier saw it, also from the folder. */
TEST_IN_FOLDER(test_photos_that_are_turned)
{
    spot_ctx c = check_ctx(2);
    fake_findings k;
    size_t n, m;
    fake_open(&k, 60, 2, 1, 1);
    fake_pictures(&c, &k, root);
    for (int i = 0; i < k.s.n; i++) free(k.s.image[i]), k.s.image[i] = strdup("fuzz/corpus_jpeg/exif_6");
    recalled was = as_recalled(&k);
    unsigned char *a = page_of(&c, "plain", 1, (const recalled *[]){ &was }, &n), *b;
    was.s.reading.exif = k.s.reading.exif = SPOT_EXIF_APPLY, k.s.reading.pillow = SPOT_PILLOW_12;
    b = page_of(&c, "plain", 1, (const recalled *[]){ &was }, &m);
    assert_true(n != m || memcmp(a, b, n));
    free(a), free(b);
    assert_comes_back(&c, &k);
    fake_close(&k);
}

TEST_IN_FOLDER(test_comes_back)
{
    spot_ctx c = check_ctx(2);
    fake_findings k;
    fake_open(&k, 300, 3, 2, 1);
    fake_hostile(&k);
    fake_pictures(&c, &k, root);
    k.f.map = k.points;
    k.f.decided = (spot_decided){ 300, 5, 0.97, 0.5, 0.93, true };
    k.f.finding[1].status = SPOT_NUMERIC;
    strcpy(k.f.finding[1].message, "it left the finite numbers");
    k.f.left_out = 1;
    k.f.left_class = &(int){ 2 };
    k.s.prob[0] = k.s.prob[1] = 0.5f;                      /* two classes are as probable: the true one is taken */
    assert_comes_back(&c, &k);
    fake_close(&k);
    fake_open(&k, 100, 1, 1, 1);                           /* no prob */
    k.f.finding[0].points.d = 1;
    k.f.finding[0].points.n = 100;
    assert_comes_back(&c, &k);
    fake_close(&k);
}

/* Whoever wrote a folder of findings chose the paths of its pictures: only files that are what was recorded are shown. */
TEST_IN_FOLDER(test_pictures_of_others_stay_hidden)
{
    spot_ctx c = check_ctx(1);
    fake_findings k;
    recalled is;
    char path[128], folder[128];
    struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { 1000000000, 5 } };
    fake_open(&k, 60, 2, 1, 1);
    fake_pictures(&c, &k, root);
    CHECK_OK(&c, spot_recall_write(&c, root, &k.f, &k.s, &k.o));
    CHECK_OK(&c, recall(&c, &is));
    assert_string_equal(is.s.image[3], k.s.image[3]);
    recalled_close(&is);
    CHECK_OK(&c, spot_file_write(&c, k.s.image[3], "another", 7));
    assert_int_equal(utimensat(AT_FDCWD, k.s.image[4], times, 0), 0);
    CHECK_OK(&c, recall(&c, &is));
    assert_null(is.s.image[3]);                            /* another size, another time */
    assert_null(is.s.image[4]);
    assert_string_equal(is.s.image[6], k.s.image[6]);
    assert_string_equal(is.s.image[5], k.s.image[5]);      /* a file that never was */
    CHECK_OK(&c, spot_findings_pictures(&c, &is.s, root)); /* the user says where they are */
    snprintf(path, sizeof path, "%s/%s", root, is.s.id[3]);
    assert_string_equal(is.s.image[3], path);
    CHECK_FAILS(&c, spot_findings_pictures(&c, &is.s, "/nowhere"), SPOT_IO, "file.unopened: /nowhere");
    snprintf(folder, sizeof folder, "%s/images", root);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    CHECK_FAILS(&c, spot_findings_pictures(&c, &is.s, root), SPOT_INPUT, "picture.link_outside");
    recalled_close(&is);
    fake_close(&k);
}

/* Rows of several classes. */
TEST_IN_FOLDER(test_several_come_back)
{
    spot_ctx c = check_ctx(1);
    fake_findings k;
    int *target;
    float *confidence;
    fake_open(&k, 120, 3, 1, 1);
    k.f.map = k.points;
    target = k.s.target, confidence = k.s.confidence;
    k.s.has = calloc(120, 3);
    for (int i = 0; i < 120; i++) k.s.has[3 * i + target[i]] = 1;
    k.s.target = NULL, k.s.confidence = NULL;
    assert_comes_back(&c, &k);
    free(k.s.has);
    k.s.target = target, k.s.confidence = confidence;
    fake_close(&k);
}

/* Whatever byte is another, or not there: it is refused in a sentence, or a page can be made of it. */
TEST_IN_FOLDER(test_damage)
{
    spot_ctx c = check_ctx(1);
    fake_findings k;
    recalled b;
    unsigned char *bytes;
    size_t n, m;
    int refused = 0, tried = 0;
    const char *path = in_root("subject.safetensors");
    CHECK_FAILS(&c, recall(&c, &b), SPOT_INPUT, "subject.missing");
    fake_open(&k, 60, 2, 1, 1);
    CHECK_OK(&c, spot_recall_write(&c, root, &k.f, &k.s, &k.o));
    CHECK_OK(&c, spot_file_read(&c, path, &bytes, &n, 1 << 24));
    CHECK_OK(&c, spot_file_write(&c, path, bytes, n - 1));
    CHECK_FAILS(&c, recall(&c, &b), SPOT_INPUT, "safetensors.offsets: subject.safetensors");
    for (size_t at = 0; at < n; at += 11, tried++) {
        unsigned char was = bytes[at];
        spot_status s;
        bytes[at] ^= at % 2 ? 0x80 : 0x5f;
        CHECK_OK(&c, spot_file_write(&c, path, bytes, n));
        s = recall(&c, &b);
        bytes[at] = was;
        if (s) assert_true((s == SPOT_INPUT || s == SPOT_NOMEM) && strstr(spot_message(&c, s), path));
        spot_forget(&c);
        refused += s != SPOT_OK;
        if (s) continue;
        free(page_of(&c, "damaged", 1, &(const recalled *){ &b }, &m));
        recalled_close(&b);
    }
    assert_in_range(refused, tried / 4, tried - 1);
    for (size_t at = 8; at + 8 < n; at++)
        if (!memcmp(bytes + at, "\"target\"", 8)) memcpy(bytes + at, "\"tarGet\"", 8);
    CHECK_OK(&c, spot_file_write(&c, path, bytes, n));
    CHECK_FAILS(&c, recall(&c, &b), SPOT_INPUT, "subject.damaged");
    free(bytes);
    fake_close(&k);
}

/* A method that failed, one that found nothing, and no method at all still make a page. */
TEST_IN_FOLDER(test_little_to_show)
{
    spot_ctx c = check_ctx(1);
    fake_findings k;
    unsigned char *page;
    size_t n;
    int count;
    fake_open(&k, 60, 2, 1, 1);
    count = k.f.count;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < k.f.finding[i].slices; j++) free(k.f.finding[i].slice[j].row);
        k.f.finding[i].slices = 0;
    }
    k.f.finding[0].status = SPOT_NUMERIC;
    strcpy(k.f.finding[0].message, "it left the finite numbers in <step 3>");
    const char *path = in_root("little.html");
    write_report(&c, path, &k, spot_report_defaults());
    CHECK_OK(&c, spot_file_read(&c, path, &page, &n, 1 << 24));
    assert_non_null(strstr((char *)page, "it left the finite numbers in \\u003cstep 3>"));
    free(page);
    k.f.count = 0;
    write_report(&c, path, &k, spot_report_defaults());
    k.f.count = count;
    fake_close(&k);
}

TEST(test_refuses)
{
    spot_ctx c = check_ctx(1);
    spot_report_options r = spot_report_defaults();
    CHECK_FAILS(&c, spot_report_run(&c, "/dev/null/x.html", "/nowhere", &r), SPOT_IO, "run.unread: /nowhere");
    r.thumb = 4;
    CHECK_FAILS(&c, spot_report_findings(&c, "x.html", 0, NULL, NULL, NULL, &r), SPOT_INVALID, "report.models: 16");
}

/* test_html FILE ROWS CLASSES [KIND [FOLDER]]: a page for test_html.sh. KIND: "two": of two models, the second one's rows in
 * another order; "proven", "both": the same for one and two models with proofs and hostile names; "across": with a proof, a
 * slice of several classes and a class that was not examined; "hostile"; "gather": of a claim on new pictures in ROWS groups.
 * FOLDER: for pictures. */
static void reverse_rows(fake_findings *k)
{
    for (int i = 0, classes = k->s.classes; i < k->s.n / 2; i++) {       /* each class's rows in reverse */
        int j = (k->s.n / classes - 1 - i / classes) * classes + i % classes;
        char *id = k->s.id[i];
        k->s.id[i] = k->s.id[j];
        k->s.id[j] = id;
    }
}

static void write_gathered(spot_ctx *c, const char *path, int groups)
{
    const spot_new_picture row[] = { { (char *)(uintptr_t)"a.png", SPOT_GATHERED, 0.3, 1, NULL },
                                     { (char *)(uintptr_t)"b.png", SPOT_CONTROL, 0.1, 0, NULL } };
    spot_claim_test t = { .n = { 1, 1 }, .wrong = { 1, 0 } };
    spot_report_options r = spot_report_defaults();
    spot_claim_judge(&t, 0.05);
    t.groups = groups;
    const spot_claim_result k = { .claim = "dark", .rate = NAN, .class_rate = NAN, .folder = "/nowhere", .row = row, .n = 2,
                                  .level = 0.05, .test = &t };
    CHECK_OK(c, spot_report_claim(c, path, &k, &r));
}

static int write_for_browser(char **argv, int argc)
{
    spot_ctx c = check_ctx(2);
    const char *kind = argc > 4 ? argv[4] : "", *folder = argc > 5 ? argv[5] : NULL;
    const char *const model[] = { "</script><b>v1</b>", "<img src=x onerror=\"window.hacked = 4\">" };
    bool both = !strcmp(kind, "both"), two = both || !strcmp(kind, "two"), proven = both || !strcmp(kind, "proven");
    bool across = !strcmp(kind, "across");
    fake_findings k, other;
    const spot_subject *s[] = { &k.s, &other.s };
    const spot_findings *f[] = { &k.f, &other.f };
    const spot_discover_options *o[] = { &k.o, &other.o };
    spot_report_options r = spot_report_defaults();
    if (!strcmp(kind, "gather")) {
        write_gathered(&c, argv[1], atoi(argv[2]));
        return 0;
    }
    fake_open(&k, atoi(argv[2]), atoi(argv[3]), 2, 1);
    fake_open(&other, atoi(argv[2]), atoi(argv[3]), 1, 2);
    reverse_rows(&other);
    if (!strcmp(kind, "hostile")) fake_hostile(&k);
    if (folder) fake_pictures(&c, &k, folder);
    if (proven) {
        fake_prove(&k);
        fake_prove(&other);
        r.model = model, r.models = 1 + both;
        r.data = "<i>rows</i> & \xff", r.date = "2026-11-27<script>window.hacked = 5</script>";
        if (both) r.title = "</title><script>window.hacked = 6</script>";
        if (folder) fake_twins(&c, &k);
        fake_attributes(&k);
        if (folder) fake_suspects(&k);
    }
    if (across) {
        fake_leave_out(&k, k.s.classes - 1);
        fake_descriptions(&k);
        fake_prove(&k);
        fake_across(&k);
        fake_attributes(&k);
        fake_names(&k);
        k.f.decided = (spot_decided){ k.s.n, 5, 0.97, 0.5, 0.93, true };
    }
    CHECK_OK(&c, spot_report_findings(&c, argv[1], 1 + two, s, f, o, &r));
    fake_close(&k);
    fake_close(&other);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 3) return write_for_browser(argv, argc);
    return run_all_tests();
}
