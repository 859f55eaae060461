/* test_store.c - names of values, files that are whole or not there, the stage cache, and JSON both ways. */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"
#include "check_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "store/pack.h"
#include "store/store.h"
#include "store/world.h"

/* How many entries a folder has, . and .. not counted. */
static int entries(const char *path)
{
    DIR *d = opendir(path);
    int n = -2;
    assert_non_null(d);
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

/* The known XXH3-128 of "" and "a". */
TEST(keys_are_xxh3)
{
    char text[33];
    spot_key_text(text, spot_key_of("", 0));
    assert_string_equal(text, "99aa06d3014798d86001c324468d497f");
    spot_key_text(text, spot_key_of("a", 1));
    assert_string_equal(text, "a96faf705af16834e6c632b61e964e1f");
}

TEST(joined_keys_tell_their_parts_apart)
{
    spot_key a = spot_key_of("a", 1), b = spot_key_of("b", 1);
    spot_key k[] = { spot_key_join(a, "x", "yz", 2), spot_key_join(a, "xy", "z", 1), spot_key_join(b, "x", "yz", 2),
                     spot_key_join(a, "x", "yw", 2) };
    spot_key again = spot_key_join(a, "x", "yz", 2);
    assert_memory_equal(&k[0], &again, sizeof again);
    for (int i = 0; i < LEN(k); i++)
        for (int j = 0; j < i; j++) assert_memory_not_equal(&k[i], &k[j], sizeof k[0]);
}

TEST_IN_FOLDER(files_are_replaced_whole)
{
    spot_ctx c = check_ctx(1);
    unsigned char *bytes;
    size_t n;
    const char *path = in_root("f");
    CHECK_OK(&c, spot_file_write(&c, path, "first", 5));
    CHECK_OK(&c, spot_file_write(&c, path, "second\0one", 10));
    CHECK_OK(&c, spot_file_read(&c, path, &bytes, &n, 10));
    assert_int_equal(n, 10);
    assert_memory_equal(bytes, "second\0one", 11);           /* and the NUL behind it */
    free(bytes);
    CHECK_FAILS(&c, spot_file_read(&c, path, &bytes, &n, 9), SPOT_INPUT, "file.too_large: 10");
    CHECK_FAILS(&c, spot_file_read(&c, root, &bytes, &n, 9999), SPOT_IO, "file.failed: directory");
    assert_int_equal(entries(root), 1);                       /* no temp file stays */
}

/* A limit on file sizes is the full disk that a test can have. */
TEST_IN_FOLDER(a_failed_write_leaves_the_old_file)
{
    spot_ctx c = check_ctx(1);
    struct rlimit old, small = { 1000, RLIM_INFINITY };
    static char big[5000];
    unsigned char *bytes;
    size_t n;
    const char *path = in_root("f");
    CHECK_OK(&c, spot_file_write(&c, path, "old", 3));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    spot_status s = spot_file_write(&c, path, big, sizeof big);
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK_FAILS(&c, s, SPOT_IO, check_text("file.failed: %s", path));
    assert_int_equal(entries(root), 1);
    CHECK_OK(&c, spot_file_read(&c, path, &bytes, &n, 100));
    assert_string_equal((char *)bytes, "old");
    free(bytes);
}

TEST_IN_FOLDER(bad_places_are_named)
{
    spot_ctx c = check_ctx(1);
    spot_store s;
    char path[160];
    snprintf(path, sizeof path, "%s/none/f", root);
    CHECK_FAILS(&c, spot_file_write(&c, path, "x", 1), SPOT_IO, "file.failed: none/f");
    snprintf(path, sizeof path, "%s/f", root);
    CHECK_OK(&c, spot_file_write(&c, path, "x", 1));
    snprintf(path, sizeof path, "%s/f/run", root);
    CHECK_FAILS(&c, spot_store_open(&c, &s, path), SPOT_IO, "folder.not_made");
    CHECK_FAILS(&c, spot_store_open(&c, &s, ""), SPOT_USAGE, "run.name");
    snprintf(path, sizeof path, "%s/deep/er/run", root);
    CHECK_OK(&c, spot_store_open(&c, &s, path));
    CHECK_OK(&c, spot_store_open(&c, &s, path));             /* again is fine */
}

static void shell(const char *command)
{
    char line[600];
    snprintf(line, sizeof line, "cd %s && %s", root, command);
    if (system(line)) fail_msg("%s", line);
}

/* Temp files of this program alone, an hour old, in the folders of a run alone, and behind no link. */
TEST_IN_FOLDER(old_temp_files_go)
{
    spot_ctx c = check_ctx(1);
    spot_store s;
    CHECK_OK(&c, spot_store_open(&c, &s, root));
    shell("mkdir segments/000 segments/mine cache/3f other other/000");
    shell("touch segments/new.json.n1-7-0.tmp && touch -d '2 hours ago' thesis.tmp config.yaml.n1-7-0.tmp a-1-2.tmp"
            " .n1-2-3.tmp segments/c.n1.org-7-12.tmp segments/d.json segments/n1-7-0.tmp segments/d.n1-7.tmp"
            " segments/d.n1-7-x.tmp segments/000/c.json.n1-7-0.tmp segments/000/b.tmp segments/mine/c.json.n1-7-0.tmp"
            " cache/3f/v.view.n-1-2.tmp other/x.n1-7-0.tmp other/000/x.n1-7-0.tmp && ln -s ../other/000 segments/001"
            " && mkdir logs/l.n1-7-0.tmp");
    shell("find . ! -name before | LC_ALL=C sort > before");
    CHECK_OK(&c, spot_store_open_to_read(&c, &s, root));
    shell("find . ! -name before | LC_ALL=C sort | diff - before");           /* who reads removes nothing */
    CHECK_OK(&c, spot_store_open(&c, &s, root));
    shell("find . ! -name before | LC_ALL=C sort | comm -13 - before > gone; printf './%s\\n' cache/3f/v.view.n-1-2.tmp"
            " config.yaml.n1-7-0.tmp segments/000/c.json.n1-7-0.tmp segments/c.n1.org-7-12.tmp | diff gone -");
}

/* The same in a world, whose folders have names of their own. */
TEST_IN_FOLDER(old_temp_files_of_a_world_go)
{
    static const spot_setting none[] = { SPOT_END };
    spot_ctx c = check_ctx(1);
    char dir[600];

    snprintf(dir, sizeof dir, "%s/zoo", root);
    shell("mkdir -p zoo/images/bird zoo/models outside && ln -s ../outside zoo/linked && cd zoo && touch images/bird/1.png"
          " models/new.n1-7-0.tmp && touch -d '2 hours ago' a.csv.n1-7-0.tmp images/bird/2.png.n1-7-12.tmp models/m.n-1-2.tmp"
          " images/thesis.tmp images/bird/n-1-2.tmp outside ../outside/x.n1-7-0.tmp");
    CHECK_OK(&c, spot_world_claim(&c, dir, "zoo.yaml", "zoo", none, &c));
    shell("find zoo outside -type f | LC_ALL=C sort > after; printf '%s\n' outside/x.n1-7-0.tmp zoo/images/bird/1.png"
          " zoo/images/bird/n-1-2.tmp zoo/images/thesis.tmp zoo/models/new.n1-7-0.tmp zoo/outside zoo/zoo.yaml | diff after -");
}

/* A stranger's run may be full of links that lead out of it. */
TEST_IN_FOLDER(links_are_not_followed_out_of_a_run)
{
    static const char *const part[] = { "cache", "segments", "pictures", "logs" };
    spot_ctx c = check_ctx(1);
    spot_key key = spot_key_of("", 0);                       /* 99aa... */
    spot_store s;
    char command[100], path[128];
    shell("mkdir elsewhere");
    for (int i = 0; i < LEN(part); i++) {
        snprintf(command, sizeof command, "ln -s elsewhere %s", part[i]);
        shell(command);
        CHECK_FAILS(&c, spot_store_open(&c, &s, root), SPOT_INPUT, "run.link");
        snprintf(command, sizeof command, "rm %s", part[i]);
        shell(command);
    }
    CHECK_OK(&c, spot_store_open(&c, &s, root));
    shell("ln -s ../elsewhere cache/99; ln -s ../elsewhere segments/000");
    CHECK_FAILS(&c, spot_store_put(&c, &s, key, "view", "x", 1), SPOT_INPUT, "run.link: cache/99");
    snprintf(path, sizeof path, "%s/segments/000/ec-000001.json", root);
    CHECK_FAILS(&c, spot_folder_of(&c, path), SPOT_INPUT, "run.link: segments/000");
    shell("rmdir elsewhere");
}

/* Shards in containers may have one process id; what another process with this one's writes is left alone. */
TEST_IN_FOLDER(pictures_of_a_world_have_temp_files_of_their_own)
{
    static const uint8_t rgb[3 * 4 * 4];
    spot_ctx c = check_ctx(1);
    char path[128], other[160];

    snprintf(path, sizeof path, "%s/0.png", root);
    snprintf(other, sizeof other, "%s.%ld.tmp", path, (long)getpid());
    CHECK_OK(&c, spot_file_write(&c, other, "half a picture", 14));
    CHECK_OK(&c, spot_world_picture(&c, path, rgb, 4));
    assert_true(!access(path, F_OK) && !access(other, F_OK));
}

static bool put_x(FILE *f, const void *what) { (void)what; return fputs("x", f) >= 0; }

/* Devices and pipes stay what they are. */
TEST_IN_FOLDER(a_device_is_no_file)
{
    spot_ctx c = check_ctx(1);
    unsigned char *bytes;
    char path[128], byte = 0;
    struct stat st;
    int fd, out;
    size_t n;
    snprintf(path, sizeof path, "%s/pipe", root);
    assert_int_equal(mkfifo(path, 0600), 0);
    CHECK_FAILS(&c, spot_file_read(&c, path, &bytes, &n, 10), SPOT_INPUT, "file.unread: pipe");
    assert_null(spot_file_stream(&c, path));
    CHECK_FAILS(&c, spot_file_write(&c, path, "x", 1), SPOT_IO, "file.failed: pipe");       /* nobody reads it */
    fd = open(path, O_RDONLY | O_NONBLOCK);
    CHECK_OK(&c, spot_file_write(&c, path, "x", 1));
    CHECK_OK(&c, spot_file_fill(&c, path, put_x, NULL));
    for (int i = 0; i < 2; i++) assert_int_equal(read(fd, &byte, 1), 1);
    assert_int_equal(byte, 'x');
    close(fd);
    CHECK_OK(&c, spot_file_write(&c, "/dev/null", "x", 1));
    CHECK_FAILS(&c, spot_file_write(&c, "/dev/full", "x", 1), SPOT_IO, "file.failed: No space left");
    CHECK_FAILS(&c, spot_file_read(&c, "/dev/zero", &bytes, &n, 10), SPOT_INPUT, "file.unread: not a file");
    assert_true(!stat("/dev/null", &st) && S_ISCHR(st.st_mode) && !lstat(path, &st) && S_ISFIFO(st.st_mode));

    /* the program's own output, behind what it has said already */
    snprintf(path, sizeof path, "%s/said", root);
    fflush(stdout);
    out = dup(1);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "so ", 3), 3);
    dup2(fd, 1);
    spot_status s = spot_file_write(&c, "/dev/stdout", "far", 3);
    dup2(out, 1);
    close(out), close(fd);
    CHECK_OK(&c, s);
    assert_true(!lstat("/dev/stdout", &st) && S_ISLNK(st.st_mode));
    CHECK_OK(&c, spot_file_read(&c, path, &bytes, &n, 10));
    assert_string_equal((char *)bytes, "so far");
    free(bytes);
    assert_int_equal(entries(root), 2);
}

TEST_IN_FOLDER(a_file_gets_its_folder)
{
    spot_ctx c = check_ctx(1);
    char path[128];
    snprintf(path, sizeof path, "%s/new/er/f", root);
    CHECK_OK(&c, spot_folder_of(&c, path));
    CHECK_OK(&c, spot_folder_of(&c, path));
    CHECK_OK(&c, spot_file_write(&c, path, "x", 1));
    strcat(path, "/f");
    CHECK_OK(&c, spot_folder_of(&c, path));                  /* something is there: the write will say what */
    CHECK_OK(&c, spot_folder_of(&c, "here"));
}

static void value_file(char *path, size_t size, const char *text)
{
    snprintf(path, size, "%s/cache/%.2s/%s.points", root, text, text);
}

/* Every single flipped bit and every truncation is noticed, and counts as absent. */
static void check_damage(bool brief)
{
    spot_ctx c = check_ctx(1);
    spot_store s;
    spot_key k = spot_key_of("k", 1);
    char text[33], path[160];
    unsigned char *bytes, *file;
    size_t n, len;
    bool found;
    CHECK_OK(&c, (brief ? spot_store_open_cache : spot_store_open)(&c, &s, root));
    assert_true(s.brief == brief);
    CHECK_OK(&c, spot_store_get(&c, &s, k, "points", &bytes, &n, &found));
    assert_false(found);
    CHECK_OK(&c, spot_store_put(&c, &s, k, "points", "value", 5));
    CHECK_OK(&c, spot_store_get(&c, &s, k, "points", &bytes, &n, &found));
    assert_true(found);
    assert_int_equal(n, 5);
    assert_memory_equal(bytes, "value", 5);
    free(bytes);
    CHECK_OK(&c, spot_store_get(&c, &s, k, "model", &bytes, &n, &found));
    assert_false(found);
    spot_key_text(text, k);
    value_file(path, sizeof path, text);
    CHECK_OK(&c, spot_file_read(&c, path, &file, &len, 1000));
    for (size_t i = 0; i < 8 * len; i++) {
        file[i / 8] ^= (unsigned char)(1 << i % 8);
        put_bytes(path, file, len);
        CHECK_OK(&c, spot_store_get(&c, &s, k, "points", &bytes, &n, &found));
        assert_false(found);
        file[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    for (size_t i = 0; i < len; i++) {
        put_bytes(path, file, i);
        CHECK_OK(&c, spot_store_get(&c, &s, k, "points", &bytes, &n, &found));
        assert_false(found);
    }
    free(file);
}

TEST_IN_FOLDER(damaged_values_are_absent) { check_damage(false); }

TEST_IN_FOLDER(damaged_values_of_a_brief_store_are_absent) { check_damage(true); }

typedef struct { int i; uint64_t u; bool b; double r[4]; char t[16]; } sample;

static void describe(spot_json *j, sample *v)
{
    spot_json_object(j, "all");
    spot_json_int(j, "i", &v->i);
    spot_json_u64(j, "u", &v->u);
    spot_json_bool(j, "b", &v->b);
    int n = spot_json_array(j, "r", 4, 4);
    for (int k = 0; k < n; k++) spot_json_real(j, NULL, &v->r[k]);
    spot_json_end(j);
    spot_json_text(j, "t", v->t, sizeof v->t);
    spot_json_end(j);
}

TEST(json_comes_back)
{
    sample in = { -7, ~0ull, true, { 0.1, -1e-300, NAN, 3 }, "a \"b\"\n" }, out = { 0 };
    spot_json w = { .gen = yajl_gen_alloc(NULL) }, r = { .depth = 1 }, bad = { .depth = 1 };
    const unsigned char *text;
    size_t n;
    spot_json_object(&w, NULL);
    describe(&w, &in);
    spot_json_end(&w);
    yajl_gen_get_buf(w.gen, &text, &n);
    r.at[0] = yajl_tree_parse((const char *)text, NULL, 0);
    describe(&r, &out);
    assert_null(r.wrong);
    assert_int_equal(out.i, in.i);
    assert_true(out.u == in.u && out.b);
    assert_true(out.r[0] == in.r[0] && out.r[1] == in.r[1] && isnan(out.r[2]) && out.r[3] == 3);
    assert_string_equal(out.t, in.t);
    yajl_tree_free(r.at[0]);
    yajl_gen_free(w.gen);
    bad.at[0] = yajl_tree_parse("{\"all\":{\"i\":1,\"u\":-1,\"b\":3}}", NULL, 0);
    describe(&bad, &out);
    assert_string_equal(bad.wrong, "u");
    yajl_tree_free(bad.at[0]);
}

/* Whole under its checksum, but with numbers that nobody could go by: as good as absent, for each kind of value. */
TEST_IN_FOLDER(impossible_values_are_absent)
{
    static const struct { int n, d; double objective; float at[4]; } points = { 2, 2, 1, { 1, 2, 3, 4 } },
        negative = { -1, -1, 1, { 1 } };
    static spot_learning good = { .epochs = 3, .learned = true, .attacked = NAN }, bad;
    static const int seen[] = { -1, 0, 0, 0 }, counts[] = { 0, 0, 0, 9 }, model[] = { 16, 1, 0, 0, 1, 0, 0 };
    const struct { const char *kind; spot_pack_fn *pack; const void *bytes; size_t n; bool found; } cases[] = {
        { "points", spot_pack_points, &points, sizeof points, true },
        { "points", spot_pack_points, &negative, 20, false },
        { "view", spot_pack_seen, seen, sizeof seen, false },
        { "view", spot_pack_seen, counts, sizeof counts, false },
        { "model", spot_pack_model, model, sizeof model, false },
    };
    union { spot_points points; spot_seen seen; spot_model model; } value;
    spot_key k = spot_key_of("value", 5);
    spot_ctx c = check_ctx(1);
    spot_store s;
    spot_arena a;
    bool found;
    CHECK_OK(&c, spot_store_open(&c, &s, root));
    CHECK_OK(&c, spot_arena_open(&c, &a, 1 << 16));
    for (int i = 0; i < LEN(cases); i++) {
        CHECK_OK(&c, spot_store_put(&c, &s, k, cases[i].kind, cases[i].bytes, cases[i].n));
        CHECK_OK(&c, spot_recall(&c, &a, &s, k, cases[i].kind, cases[i].pack, &value, &found));
        assert_int_equal(found, cases[i].found);
    }
    for (int epochs = SPOT_MAX_EPOCHS; epochs < SPOT_MAX_EPOCHS + 2; epochs++) {
        good.epochs = epochs;
        CHECK_OK(&c, spot_keep(&c, &s, k, "lesson", spot_pack_learning, &good));
        CHECK_OK(&c, spot_recall(&c, &a, &s, k, "lesson", spot_pack_learning, &bad, &found));
        assert_int_equal(found, epochs == SPOT_MAX_EPOCHS);
    }
    spot_arena_close(&a);
}
