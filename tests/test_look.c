/* test_look.c - folders, annotations and networks against torchvision (tools/golden/look.py), and what is said when they do not
 * fit together.
 *
 * With arguments MODEL FOLDER RESIZE CROP: writes what it sees to stdout, for that script to compare. ctest: threads, both */
#define _GNU_SOURCE
#include "checks.h"
#include "check_folder.h"
#include "check_resnet.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "discover/describe/look_pictures.h"
#include "heard.h"
#include "spotter/model.h"

static spot_ctx context(int threads)
{
    spot_ctx c = check_ctx(threads);

    c.on_log = hear_lines;
    says = 0;
    return c;
}

static void put(const char *to, const char *from)
{
    spot_ctx c = check_ctx(1);
    unsigned char *bytes;
    size_t n;

    CHECK_OK(&c, spot_file_read(&c, from, &bytes, &n, 1 << 24));
    put_bytes(to, bytes, n);
    free(bytes);
}

/* A net of width 16 with the weights of resnet18.py in root/net. */
static const char *put_net(int outputs)
{
    spot_ctx c = check_ctx(1);
    spot_arena a;
    spot_model m;
    const char *path = in_root("net%d", outputs);

    CHECK_OK(&c, spot_arena_open(&c, &a, 16 << 20));
    CHECK_OK(&c, spot_model_take(&c, &a, &m, SPOT_ARCH_RESNET18, 16, outputs));
    fill_model(&m);
    m.batches_tracked = 0;
    CHECK_OK(&c, spot_model_save(&c, path, &m));
    spot_arena_close(&a);
    return path;
}

/* Logits of a row from what a subject holds: the head and its bias, which only the file has. */
static void logits_of(float *logit, const spot_subject *s, int row, const spot_model *m)
{
    const float *bias = m->value + m->floats - m->outputs;

    for (int k = 0; k < m->outputs; k++) {
        double sum = bias[k];
        for (int i = 0; i < s->d; i++) sum += (double)s->head[(size_t)k * s->d + i] * s->feature[(size_t)row * s->d + i];
        logit[k] = (float)sum;
    }
}

TEST_IN_FOLDER(pictures_are_seen_as_torchvision_sees_them)
{
    enum { D = 128 };
    struct { char name[32]; float logit[2], feature[D]; } want;
    spot_ctx c = context(2);
    spot_arena a;
    spot_subject s = { 0 };
    spot_model m;
    int rows = 0;
    const char *net = put_net(2);
    spot_subject_files files = { .images = in_root("pictures"), .model = net, .resize = 70, .crop = 64 };
    FILE *f = fopen("golden/look.bin", "rb");
    assert_non_null(f);
    while (fread(&want, sizeof want, 1, f) == 1) {
        char from[64];
        snprintf(from, sizeof from, "fuzz/corpus_%s", want.name);
        put(in_root("pictures/%s.jpg", want.name), from);
        rows++;
    }
    assert_true(rows > 30);
    CHECK_OK(&c, spot_subject_look(&c, &s, &files));
    CHECK_OK(&c, spot_arena_open(&c, &a, 16 << 20));
    CHECK_OK(&c, spot_model_load(&c, &a, &m, net, 0, 0));
    assert_int_equal(s.n, rows);
    assert_int_equal(s.d, D);
    assert_int_equal(s.classes, 2);
    assert_string_equal(s.class_name[0], "jpeg");
    rewind(f);
    while (fread(&want, sizeof want, 1, f) == 1) {
        int row = 0;
        char id[64];
        float logit[2];
        snprintf(id, sizeof id, "%s.jpg", want.name);
        while (row < s.n && strcmp(s.id[row], id)) row++;
        assert_true(row < s.n);
        assert_string_equal(s.image[row], in_root("pictures/%s", id));
        assert_int_equal(s.target[row], *id == 'p');
        logits_of(logit, &s, row, &m);
        for (int k = 0; k < 2; k++) CHECK_NEAR(logit[k], want.logit[k], 1e-4);
        for (int k = 0; k < D; k++) CHECK_NEAR(s.feature[(size_t)row * D + k], want.feature[k], 1e-4);
        CHECK_NEAR(s.prob[2 * row + 1], 1 / (1 + exp(want.logit[0] - want.logit[1])), 1e-5);
        CHECK_NEAR(s.confidence[row], s.prob[2 * row + s.target[row]], 0);
    }
    fclose(f);
    CHECK_OK(&c, spot_subject_check(&c, &s));
    spot_subject_close(&s);
    spot_arena_close(&a);
}

/* 300 pictures of two kinds, more than one batch; every twentieth is broken. */
static void put_many(void)
{
    for (int i = 0; i < 300; i++) {
        const char *to = in_root("many/%s/%03d.png", i % 3 ? "dog" : "cat", i);
        if (i < 2) put(to, "fuzz/corpus_png/rgb_8");
        else if (i % 20 == 7) put_text(to, "\x89PNG\r\n\x1a\n");
        else assert_int_equal(symlink(i % 2 ? "../cat/000.png" : "../dog/001.png", to), 0);
    }
    put(in_root("many/cat/000.png"), "fuzz/corpus_jpeg/rgb_420");
    assert_int_equal(symlink("nowhere", in_root("many/dog/zz.png")), 0);        /* a link that leads nowhere */
}

TEST_IN_FOLDER(unreadable_pictures_are_left_out_with_leave_only)
{
    spot_ctx c = context(2);
    spot_subject s = { 0 };
    spot_subject_files files = { .images = in_root("many"), .model = put_net(2), .resize = 32, .crop = 32 };
    put_many();
    CHECK_FAILS(&c, spot_subject_look(&c, &s, &files), SPOT_INPUT, "png.damaged: cat/027.png | 2 | 32");
    assert_true(count_said("cat/087.png is no PNG"));
    spot_subject_close(&s);
    says = 0;
    files.skip = true;
    CHECK_OK(&c, spot_subject_look(&c, &s, &files));
    assert_int_equal(s.skipped, 16);
    assert_int_equal(s.n, 285);
    assert_true(count_said("MB") && count_said("pictures are done; the others take about"));
    for (int i = 0, number; i < s.n; i++) {          /* the right row beside each picture, and the same bits for the same one */
        sscanf(s.id[i] + 4, "%d", &number);
        assert_true(number % 20 != 7);
        assert_int_equal(s.target[i], number % 3 != 0);
        assert_memory_equal(s.id[i], s.target[i] ? "dog" : "cat", 3);
        assert_non_null(strstr(s.image[i], s.id[i]));
        if (number > 1 && number % 2) assert_memory_equal(s.feature + (size_t)i * s.d, s.feature, (size_t)s.d * sizeof(float));
    }
    CHECK_OK(&c, spot_subject_check(&c, &s));
    spot_subject_close(&s);
}

TEST_IN_FOLDER(any_number_of_threads_sees_the_same)
{
    spot_subject s[2] = { { 0 } };
    spot_subject_files files = { .images = in_root("many"), .model = put_net(2), .resize = 0, .crop = 32, .skip = true };
    put_many();
    for (int i = 0; i < 2; i++) {
        spot_ctx c = context(1 + 2 * i);
        CHECK_OK(&c, spot_subject_look(&c, &s[i], &files));
    }
    assert_memory_equal(s[0].feature, s[1].feature, (size_t)s[0].n * s[0].d * sizeof(float));
    assert_memory_equal(s[0].prob, s[1].prob, (size_t)s[0].n * 2 * sizeof(float));
    for (int i = 0; i < 2; i++) spot_subject_close(&s[i]);
}

TEST_IN_FOLDER(a_single_output_speaks_for_the_second_class)
{
    spot_ctx c = context(1);
    spot_subject s = { 0 };
    spot_subject_files files = { .images = in_root("p"), .model = put_net(1), .resize = 32, .crop = 32 };
    spot_arena a;
    spot_model m;
    float logit;
    put(in_root("p/no/x.png"), "fuzz/corpus_png/rgb_8");
    put(in_root("p/yes/y.JPEG"), "fuzz/corpus_jpeg/rgb_420");
    put_text(in_root("p/yes/readme.md"), "");
    CHECK_OK(&c, spot_subject_look(&c, &s, &files));
    assert_true(count_said("1 files are left out that are no pictures by their names; the first is yes/readme.md"));
    CHECK_OK(&c, spot_arena_open(&c, &a, 16 << 20));
    CHECK_OK(&c, spot_model_load(&c, &a, &m, files.model, 0, 0));
    for (int i = 0; i < s.d; i++) assert_true(s.head[i] == -s.head[s.d + i]);
    memmove(s.head, s.head + s.d, (size_t)s.d * sizeof(float));
    logits_of(&logit, &s, 1, &m);
    CHECK_NEAR(s.prob[3], 1 / (1 + exp(-logit)), 1e-6);
    CHECK_NEAR(s.prob[2] + s.prob[3], 1, 1e-6);
    CHECK_NEAR(s.confidence[1], s.prob[3], 0);
    CHECK_NEAR(s.confidence[0], s.prob[0], 0);
    spot_subject_close(&s);
    spot_arena_close(&a);
}

TEST_IN_FOLDER(annotations_give_several_classes)
{
    static const char text[] =
        "{\"images\": [{\"id\": 5, \"file_name\": \"x.png\"}, {\"id\": 2, \"file_name\": \"sub/y.jpg\"}], "
        "\"annotations\": [{\"image_id\": 5, \"category_id\": 8}, {\"image_id\": 5, \"category_id\": 1}, "
        "{\"image_id\": 5, \"category_id\": 8}], "
        "\"categories\": [{\"id\": 8, \"name\": \"cup\"}, {\"id\": 1, \"name\": \"cat\"}, {\"id\": 3, \"name\": \"sky\"}]}";
    spot_ctx c = context(1);
    spot_subject s = { 0 };
    spot_subject_files files = { .images = root, .coco = in_root("a.json"), .model = put_net(3), .resize = 32, .crop = 32 };
    spot_arena a;
    spot_model m;
    float logit[3];
    put(in_root("x.png"), "fuzz/corpus_png/rgb_8");
    put(in_root("sub/y.jpg"), "fuzz/corpus_jpeg/rgb_420");
    put_text(files.coco, text);
    CHECK_OK(&c, spot_subject_look(&c, &s, &files));
    assert_null(s.target);
    assert_null(s.confidence);
    assert_memory_equal(s.has, ((uint8_t[]){ 1, 1, 0, 0, 0, 0 }), 6);
    assert_string_equal(s.class_name[2], "sky");
    assert_string_equal(s.id[1], "sub/y.jpg");
    CHECK_OK(&c, spot_arena_open(&c, &a, 16 << 20));
    CHECK_OK(&c, spot_model_load(&c, &a, &m, files.model, 0, 0));
    logits_of(logit, &s, 1, &m);
    for (int k = 0; k < 3; k++) CHECK_NEAR(s.prob[3 + k], 1 / (1 + exp(-logit[k])), 1e-6);
    CHECK_OK(&c, spot_subject_check(&c, &s));
    spot_subject_close(&s);
    spot_arena_close(&a);
}

TEST_IN_FOLDER(labels_of_a_table_are_read_with_their_pictures)
{
    spot_ctx c = context(1);
    spot_subject s;
    spot_subject_files files = { .images = root, .ids = in_root("t.csv:path"), .labels = in_root("t.csv:label"),
                                 .model = put_net(2), .resize = 32, .crop = 32 };
    put(in_root("x.png"), "fuzz/corpus_png/rgb_8");
    put(in_root("sub/y.jpg"), "fuzz/corpus_jpeg/rgb_420");
    put_text(in_root("t.csv"), "path,label\nsub/y.jpg,1\nx.png,1\n");
    CHECK_OK(&c, spot_subject_read(&c, &s, &files));
    assert_true(s.n == 2 && s.classes == 2 && s.target[0] == 1 && s.target[1] == 1);
    assert_string_equal(s.class_name[0], "0");
    assert_string_equal(s.image[0], in_root("sub/y.jpg"));
    assert_true(s.confidence[0] == s.prob[1] && s.confidence[1] == s.prob[3]);
    spot_subject_close(&s);
    files.ids = NULL;
    CHECK_FAILS(&c, spot_subject_read(&c, &s, &files), SPOT_INPUT, "look.answers_given");
}

/* Labels that came as arrays: their ids name the pictures. */
TEST_IN_FOLDER(labels_of_arrays_name_their_pictures)
{
    spot_ctx c = context(1);
    char *ids[] = { "sub/y.jpg", "nowhere.jpg", "x.png" }, *classes[] = { "a", "b" };
    int target[] = { 1, 0, 0 };
    spot_subject s = { .n = 3, .classes = 2, .target = target, .id = ids, .class_name = classes };
    spot_subject_files files = { .images = root, .labels = "l.npy", .model = put_net(2), .resize = 32, .crop = 32,
                                 .skip = true };
    put(in_root("x.png"), "fuzz/corpus_png/rgb_8");
    put(in_root("sub/y.jpg"), "fuzz/corpus_jpeg/rgb_420");
    CHECK_OK(&c, spot_subject_look(&c, &s, &files));
    assert_int_equal(s.n, 2);
    assert_int_equal(s.skipped, 1);
    assert_true(target[0] == 1 && target[1] == 0);
    assert_string_equal(s.id[1], "x.png");
    spot_subject_close(&s);
    files.skip = false;
    s = (spot_subject){ .n = 3, .classes = 2, .target = target, .id = ids, .class_name = classes };
    ids[1] = "nowhere.jpg";
    CHECK_FAILS(&c, spot_subject_look(&c, &s, &files), SPOT_INPUT, "file.unopened: nowhere.jpg | 1 | 3");
    spot_subject_close(&s);
    ids[0] = "a/../../../etc/passwd";
    s = (spot_subject){ .n = 3, .classes = 2, .target = target, .id = ids, .class_name = classes };
    CHECK_FAILS(&c, spot_subject_look(&c, &s, &files), SPOT_INPUT, "picture.outside");
    spot_subject_close(&s);
}

/* All pictures below a folder: those in it first, then in the order of an ImageFolder. */
TEST_IN_FOLDER(all_pictures_come_in_the_order_of_classes)
{
    static const char *const names[] = { "a/2.png", "a/b/1.png", "a-b/0.png", "c/3.JPG" };
    spot_ctx c = check_ctx(1);
    spot_folder by_class, all;

    for (int i = LEN(names) - 1; i >= 0; i--) put(in_root("p/%s", names[i]), "fuzz/corpus_png/rgb_8");
    put_text(in_root("p/c/readme"), "");
    put_text(in_root("p/c/x.heic"), "");
    CHECK_OK(&c, spot_folder_list(&c, &by_class, in_root("p")));
    put(in_root("p/z.png"), "fuzz/corpus_png/rgb_8");
    CHECK_OK(&c, spot_folder_pictures(&c, &all, in_root("p")));
    assert_true(all.n == LEN(names) + 1 && all.classes == 0 && all.others == 2 && all.unread == 1 && !all.doubles);
    assert_string_equal(all.path[0], "z.png");
    for (int i = 0; i < LEN(names); i++) {
        assert_string_equal(all.path[i + 1], names[i]);
        assert_string_equal(by_class.path[i], names[i]);
    }
    spot_folder_close(&by_class), spot_folder_close(&all);
    mkdir(in_root("none"), 0777);
    CHECK_FAILS(&c, spot_folder_pictures(&c, &all, in_root("none")), SPOT_INPUT, "folder.no_pictures: none");
}

/* A file of AppleDouble is one by its bytes: a picture may be named ._x, and is hidden then, but a picture. */
TEST_IN_FOLDER(attributes_of_macos_are_no_pictures)
{
    static const char mark[] = "\0\5\x16\7\0\2\0\0Mac OS X        ";
    spot_ctx c = check_ctx(1);
    spot_folder f;
    FILE *file;

    put(in_root("p/a/1.png"), "fuzz/corpus_png/rgb_8");
    put(in_root("p/a/._2.png"), "fuzz/corpus_png/rgb_8");
    file = fopen(in_root("p/a/._1.png"), "wb");
    assert_true(file && fwrite(mark, sizeof mark, 1, file) == 1 && !fclose(file));
    put(in_root("p/b/3.gif"), "fuzz/corpus_png/rgb_8");
    CHECK_OK(&c, spot_folder_list(&c, &f, in_root("p")));
    assert_true(f.n == 3 && f.doubles == 1 && !f.others);
    assert_string_equal(f.path[0], "a/._2.png");
    spot_folder_close(&f);
}

/* A list or a table holds the pictures of other forms of data sets; splits are no classes. */
TEST_IN_FOLDER(a_data_set_of_another_form_is_no_folder_of_classes)
{
    spot_ctx c = context(1);
    spot_folder f;

    put(in_root("d/train/1.png"), "fuzz/corpus_png/rgb_8");
    put(in_root("d/train/metadata.csv"), "fuzz/corpus_coco/good");
    CHECK_FAILS(&c, spot_folder_list(&c, &f, in_root("d/train")), SPOT_INPUT, "folder.data_set: d/train | metadata.csv");
    put(in_root("d/Test/1.png"), "fuzz/corpus_png/rgb_8");
    CHECK_FAILS(&c, spot_folder_list(&c, &f, in_root("d")), SPOT_INPUT, "folder.splits: Test | d/Test");
    put(in_root("d/cat/1.png"), "fuzz/corpus_png/rgb_8");
    CHECK_OK(&c, spot_folder_list(&c, &f, in_root("d")));       /* a class may be called as a split */
    assert_int_equal(f.classes, 3);
    spot_folder_close(&f);
    put(in_root("h/blobs/0123"), "fuzz/corpus_coco/good");
    put(in_root("h/snapshots/a/train-0.parquet"), "fuzz/corpus_coco/good");
    CHECK_FAILS(&c, spot_folder_list(&c, &f, in_root("h")), SPOT_INPUT,
                "folder.data_set: h | snapshots/a/train-0.parquet");
    CHECK_FAILS(&c, spot_folder_pictures(&c, &f, in_root("h")), SPOT_INPUT, "folder.data_set: h");
}

TEST_IN_FOLDER(what_does_not_fit_together_is_said)
{
    spot_ctx c = context(1);
    spot_subject s = { 0 };
    spot_subject_files files = { .images = in_root("p"), .model = put_net(3), .resize = 256, .crop = 224 };
    put(in_root("p/no/x.png"), "fuzz/corpus_png/rgb_8");
    mkdir(in_root("p/yes"), 0777);
    CHECK_FAILS(&c, spot_subject_look(&c, &s, &files), SPOT_INPUT, "folder.class_empty: p/yes");
    put(in_root("p/yes/y.gif.png"), "fuzz/corpus_coco/good");
    CHECK_FAILS(&c, spot_subject_look(&c, &s, &files), SPOT_INPUT, "look.classes: net3 | 3");
    spot_subject_close(&s);
    files.crop = 225;
    CHECK_FAILS(&c, spot_subject_look(&c, &s, &files), SPOT_USAGE, "look.crop: crop 225");
    files = (spot_subject_files){ .images = in_root("p"), .model = put_net(2), .resize = 256, .crop = 224, .memory = 1 << 20 };
    CHECK_FAILS(&c, spot_subject_look(&c, &s, &files), SPOT_INPUT, "look.memory: 1048576");
    spot_subject_close(&s);
    files.memory = 0;
    CHECK_FAILS(&c, spot_subject_look(&c, &s, &files), SPOT_INPUT, "picture.format: y.gif.png | something else | 1 | 2");
    spot_subject_close(&s);
    files.model = NULL;
    CHECK_FAILS(&c, spot_subject_look(&c, &s, &files), SPOT_USAGE, "look.nobody");
    files.model = "x";
    files.images = in_root("p/no");
    CHECK_FAILS(&c, spot_subject_look(&c, &s, &files), SPOT_INPUT, "folder.no_classes");
    files.images = in_root("nowhere");
    CHECK_FAILS(&c, spot_subject_look(&c, &s, &files), SPOT_IO, "folder.unlisted: nowhere");
    assert_int_equal(symlink("..", in_root("p/no/round")), 0);
    files.images = in_root("p");
    CHECK_FAILS(&c, spot_subject_look(&c, &s, &files), SPOT_INPUT, "folder.too_deep");
    spot_subject_close(&s);
}

static int show(char **argv)
{
    spot_ctx c = { 0 };
    spot_subject s = { 0 };
    spot_subject_files files = { .model = argv[1], .images = argv[2], .resize = atoi(argv[3]), .crop = atoi(argv[4]),
                                 .reading.pillow = strcmp(argv[5], "12") ? SPOT_PILLOW_13 : SPOT_PILLOW_12 };
    spot_arena a = { 0 };
    spot_model m;
    float *logit;

    if (spot_ctx_open(&c, "cpu", 0) || spot_subject_look(&c, &s, &files) || spot_arena_open(&c, &a, 64 << 20)
        || spot_model_load(&c, &a, &m, argv[1], 0, 0)) {
        fprintf(stderr, "%s\n", c.message);
        return 1;
    }
    fwrite((int32_t[]){ s.n, s.d, s.classes }, sizeof(int32_t), 3, stdout);
    logit = malloc((size_t)s.classes * sizeof *logit);
    for (int i = 0; i < s.n; i++) {
        logits_of(logit, &s, i, &m);
        fwrite(logit, sizeof *logit, (size_t)s.classes, stdout);
        fwrite(s.prob + (size_t)i * s.classes, sizeof *s.prob, (size_t)s.classes, stdout);
        fwrite(s.feature + (size_t)i * s.d, sizeof *s.feature, (size_t)s.d, stdout);
    }
    free(logit);
    spot_subject_close(&s);
    spot_arena_close(&a);
    spot_ctx_close(&c);
    return 0;
}

int main(int argc, char **argv)
{
    return argc == 6 ? show(argv) : run_all_tests();
}
