/* test_merge.c - many run directories into one: the same bytes however a sweep was cut, and nothing lost.
 *
 *     test_merge 10000       sweeps (without a model), merges, plans and prints 10,000 ECs, and says what each took */
#define _POSIX_C_SOURCE 200809L
#include "check_shards.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "base/ranges.h"
#include "spotter/report.h"
#include "spotter/work.h"
#include "spotter/sweep.h"
#include "stub_model.h"

static char root[64];

/* In $TMPDIR, or where memory is a disk: what is seen here is which bytes there are, not how they got to the disk. */
static int set_up(void **state)
{
    const char *at[] = { getenv("TMPDIR"), "/dev/shm", "/tmp" };
    (void)state;
    for (int i = 0; i < LEN(at); i++) {
        if (!at[i]) continue;
        snprintf(root, sizeof root, "%s/spot_test_XXXXXX", at[i]);
        if (mkdtemp(root)) return 0;
    }
    return -1;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

/* ---- directories ---- */

enum { ECS = 2003 };               /* of the config; 17 of them are there, in three folders */
static const int present[] = { 0, 1, 2, 3, 10, 11, 12, 998, 999, 1000, 1001, 1500, 1998, 1999, 2000, 2001, 2002 };

static const char *in(const char *name)
{
    static char text[64][320];
    static int next;
    char *t = text[next++ % 64];
    snprintf(t, sizeof text[0], "%s/%s", root, name);
    return t;
}

/* A command of the shell in `root`. */
static void shell(const char *command)
{
    char text[1200];
    snprintf(text, sizeof text, "cd %s && %s", root, command);
    if (system(text)) fail_msg("%s", text);
}

static const char *path_of(const char *dir, int ec)
{
    static char text[4][400];
    static int next;
    char *t = text[next++ % 4];
    spot_segment_path(t, sizeof text[0], in(dir), ec);
    return t;
}

/* Copies an EC, and a picture of it. */
static void give(spot_ctx *c, const char *to, const char *from, int ec)
{
    unsigned char *bytes;
    size_t n;
    char picture[256];
    CHECK_OK(c, spot_file_read(c, path_of(from, ec), &bytes, &n, 1 << 20));
    CHECK_OK(c, spot_folder_of(c, path_of(to, ec)));
    CHECK_OK(c, spot_file_write(c, path_of(to, ec), bytes, n));
    spot_method_picture_path(picture, sizeof picture, in(to), ec, 0, "planespot-pca");
    CHECK_OK(c, spot_folder_of(c, picture));
    CHECK_OK(c, spot_file_write(c, picture, bytes, 40));
    free(bytes);
}

static void put(spot_ctx *c, const spot_config *cfg, const char *dir, int ec, int variant)
{
    spot_segment *s = calloc(1, sizeof *s);
    assert_non_null(s);
    shards_fill(c, s, cfg, ec, variant % 10);
    if (variant >= 10) s->method[1].status = SPOT_NUMERIC;       /* the loss left the finite numbers, say */
    CHECK_OK(c, spot_segment_write(c, in(dir), s));
    spot_segment_free(s);
}

static spot_status merge(spot_ctx *c, const char *const *names, int n, const char *out, spot_merge_report *r)
{
    const spot_merge_options o = { .pictures = true, .partial = true };
    const char *dirs[32];
    char text[32][320];
    spot_status s;
    for (int i = 0; i < n; i++) dirs[i] = strcpy(text[i], in(names[i]));
    s = spot_merge(c, dirs, n, in(out), &o, r);
    free(r->ec);
    r->ec = NULL;
    return s;
}

static void merge_whole(spot_ctx *c, const char *const *names, int n, const char *out)
{
    spot_merge_report r;
    CHECK_OK(c, merge(c, names, n, out, &r));
    assert_true(r.ecs == ECS && r.merged == LEN(present) && r.missing == ECS - LEN(present) && !r.damaged && !r.conflicts);
}

/* The same files with the same bytes, pictures too; and nothing that is left over. */
static void check_same(const char *a, const char *b)
{
    char text[512];
    snprintf(text, sizeof text, "diff -r %s %s && [ -z \"$(find . -name '*.tmp')\" ]", a, b);
    shell(text);
}

/* "whole": all ECs from one process, and what a merge makes of that alone. */
static spot_config *whole(spot_ctx *c)
{
    spot_config *cfg = shards_config(c, ECS);
    shards_begin(c, in("source"), cfg);
    for (int i = 0; i < LEN(present); i++) put(c, cfg, "source", present[i], 0);
    shards_begin(c, in("whole"), cfg);
    for (int i = 0; i < LEN(present); i++) give(c, "whole", "source", present[i]);
    merge_whole(c, (const char *[]){ "whole" }, 1, "whole");
    return cfg;
}

/* ---- however it is cut ---- */

/* Shard of EC number i of those that are there, for the ways in which a sweep is cut. */
static int by_range(int i, int shards)  { return i * shards / LEN(present); }
static int by_stride(int i, int shards) { return i % shards; }
static int by_chance(int i, int shards) { return (int)(2654435761u * (unsigned)(i + 7) >> 16) % shards; }

static void cut(spot_ctx *c, const spot_config *cfg, int (*way)(int, int), int shards, char name[][16])
{
    for (int s = 0; s < shards; s++) {
        snprintf(name[s], 16, "s%d", s);
        shards_begin(c, in(name[s]), cfg);
        for (int i = 0; i < LEN(present); i++)
            if (way(i, shards) == s) give(c, name[s], "whole", present[i]);
    }
}

TEST_WITH(any_cut_makes_the_same_run, set_up, tear_down)
{
    static int (*const ways[])(int, int) = { by_range, by_stride, by_chance };
    static const int shards[] = { 1, 2, 4, 16 };
    spot_ctx c = check_ctx(1);
    spot_config *cfg = whole(&c);
    char name[16][16];
    const char *names[16];
    for (int w = 0; w < LEN(ways); w++)
        for (int k = 0; k < LEN(shards); k++) {
            cut(&c, cfg, ways[w], shards[k], name);
            for (int s = 0; s < shards[k]; s++) names[s] = name[shards[k] - 1 - s];
            merge_whole(&c, names, shards[k], "out");
            check_same("out", "whole");
            merge_whole(&c, names, shards[k], "out");            /* twice is once */
            check_same("out", "whole");
            shell("rm -r out s*[0-9]");
        }
    CHECK_CONFIG_FREE(cfg);
}

/* Four cuts that overlap, one of which stopped in the middle of it all, in every order and every grouping. */
TEST_WITH(any_order_makes_the_same_run, set_up, tear_down)
{
    static const char *const names[] = { "s0", "s1", "s2", "s3" };
    spot_ctx c = check_ctx(1);
    spot_config *cfg = whole(&c);
    char name[16][16], text[64];
    spot_merge_report r;
    cut(&c, cfg, by_stride, 4, name);
    for (int i = 0; i < LEN(present); i += 3) give(&c, "s2", "whole", present[i]);
    for (int order = 0; order < 24; order++) {
        int left[] = { 0, 1, 2, 3 }, k = order;
        const char *in_order[4];
        for (int i = 0; i < 4; i++) {                            /* the order's digits in base 4, 3, 2, 1 */
            int at = k % (4 - i);
            in_order[i] = names[left[at]];
            for (k /= 4 - i; at < 3 - i; at++) left[at] = left[at + 1];
        }
        merge_whole(&c, in_order, 4, "out");
        check_same("out", "whole");
        for (int first = 2; first < 4; first++) {                /* (the first ones) + the rest, and the rest + them */
            CHECK_OK(&c, merge(&c, in_order, first, "some", &r));
            CHECK_OK(&c, merge(&c, &in_order[first - 1], 5 - first, "rest", &r));
            merge_whole(&c, (const char *[]){ "some", "rest" }, 2, "out1");
            merge_whole(&c, (const char *[]){ "rest", "some", "rest" }, 3, "out2");
            check_same("out1", "whole");
            check_same("out2", "whole");
            shell("rm -r some rest out1 out2");
        }
        snprintf(text, sizeof text, "rm -r out && cp -r %s into", in_order[0]);
        shell(text);
        for (int i = 1; i < 4; i++) CHECK_OK(&c, merge(&c, &in_order[i], 1, "into", &r));      /* one by one, in place */
        check_same("into", "whole");
        shell("rm -r into");
    }
    CHECK_CONFIG_FREE(cfg);
}

/* One of two segments that differ is taken whoever is named first: fewer failures, then lesser bytes. */
TEST_WITH(a_conflict_has_one_end, set_up, tear_down)
{
    static const char *const names[] = { "a", "b", "c" };
    static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    spot_ctx c = check_ctx(1);
    spot_config *cfg = shards_config(&c, 3);
    spot_merge_report r;
    unsigned char *bytes[2];
    size_t n;
    for (int k = 0; k < 3; k++) {
        shards_begin(&c, in(names[k]), cfg);
        put(&c, cfg, names[k], 0, k == 2 ? 2 : 1);               /* 1, 1, 2 */
        put(&c, cfg, names[k], 1, k == 1 ? 3 : 13);              /* only b's did not fail */
        put(&c, cfg, names[k], 2, 4);
    }
    for (int k = 0; k < 2; k++) CHECK_OK(&c, spot_file_read(&c, path_of(k ? "c" : "a", 0), &bytes[k], &n, 1 << 20));
    for (int k = 0; k < 6; k++) {
        const char *out = k ? "out" : "first", *in_order[3];
        for (int i = 0; i < 3; i++) in_order[i] = names[orders[k][i]];
        CHECK_FAILS(&c, merge(&c, in_order, 3, out, &r), SPOT_INPUT, "merge.not_whole: 3 | ECs 0 | 0 | 2");
        assert_true(r.merged == 3 && r.conflicts == 2);
        assert_int_equal(r.duplicates, 2 + (strcmp((char *)bytes[0], (char *)bytes[1]) < 0));
        if (k) check_same("out", "first");
        CHECK_OK(&c, merge(&c, (const char *[]){ out }, 1, out, &r));               /* it is at an end */
        merge(&c, (const char *[]){ "first", "b", "first" }, 3, "first", &r);
        spot_forget(&c);
        if (k) check_same("out", "first");
        if (k) shell("rm -r out");
    }
    shell("cmp first/segments/000/ec-000001.json b/segments/000/ec-000001.json");
    shell(strcmp((char *)bytes[0], (char *)bytes[1]) < 0
              ? "cmp first/segments/000/ec-000000.json a/segments/000/ec-000000.json"
              : "cmp first/segments/000/ec-000000.json c/segments/000/ec-000000.json");
    free(bytes[0]);
    free(bytes[1]);
    CHECK_CONFIG_FREE(cfg);
}

/* A run that grew: the longest config counts. */
TEST_WITH(a_run_may_grow, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_config *cfg = shards_config(&c, 3), *more = shards_config(&c, 5);
    spot_merge_report r;
    shards_begin(&c, in("a"), cfg);
    shards_begin(&c, in("b"), more);
    for (int i = 0; i < 5; i++) put(&c, more, i < 3 ? "a" : "b", i, 0);
    CHECK_OK(&c, merge(&c, (const char *[]){ "a", "b" }, 2, "ab", &r));
    assert_true(r.ecs == 5 && r.merged == 5);
    CHECK_OK(&c, merge(&c, (const char *[]){ "b", "a" }, 2, "ba", &r));
    check_same("ab", "ba");
    CHECK_OK(&c, merge(&c, (const char *[]){ "b" }, 1, "a", &r));
    check_same("ab", "a");
    shell("cmp ab/config.yaml b/config.yaml");
    CHECK_CONFIG_FREE(cfg);
    CHECK_CONFIG_FREE(more);
}

/* ---- what is not as it should be ---- */

TEST_WITH(what_is_wrong_is_counted, set_up, tear_down)
{
    const spot_merge_options o = { .partial = false };
    spot_ctx c = check_ctx(1);
    spot_config *cfg = shards_config(&c, 8);
    const char *dirs[] = { in("a"), in("b") };
    spot_merge_report r;
    shards_begin(&c, in("a"), cfg);
    shards_begin(&c, in("b"), cfg);
    for (int i = 0; i < 6; i++) put(&c, cfg, "a", i, 0);
    for (int i = 0; i < 3; i++) put(&c, cfg, "b", i, 0);
    cfg->seed++;
    put(&c, cfg, "b", 4, 0);                                     /* of another config */
    put(&c, cfg, "b", 6, 0);
    cfg->seed--;
    shell("cd a/segments/000 && truncate -s -1 ec-000000.json && printf x >> ec-000003.json && : > ec-000005.json &&"
          " cp ec-000004.json ec-000001.json && mkfifo ec-000007.json &&"
          " cd ../../../b/segments/000 && printf '{' > ec-000002.json && mkdir ec-000007.json &&"
          " touch ec-000004.json.n1-7-0.tmp ec-4.json x && mkdir ../001 ../y");
    CHECK_FAILS(&c, spot_merge(&c, dirs, 2, in("out"), &o, &r), SPOT_INPUT, "merge.not_whole: 8 | ECs 1 | 3 | 0");
    assert_true(r.merged == 4 && r.foreign == 2 && r.duplicates == 0);
    for (int i = 0; i < 8; i++) {
        static const int want[] = { 3, 3, 3, 2, 9, 2, 8, 2 };    /* merged 1, damaged 2, foreign 8 */
        if (r.ec[i] != want[i]) fail_msg("EC %d: %d, not %d", i, r.ec[i], want[i]);
    }
    free(r.ec);
    shell("test $(find out -name 'ec-*' | wc -l) = 4");

    /* in place: nothing is taken away, and what can be mended is */
    assert_int_equal(spot_merge(&c, dirs, 1, in("b"), &o, &r), SPOT_INPUT);
    spot_forget(&c);
    assert_true(r.merged == 4 && r.foreign == 2 && r.missing == 1 && r.damaged == 3);
    free(r.ec);
    shell("for i in 0 1 2 4; do cmp out/segments/000/ec-00000$i.json b/segments/000/ec-00000$i.json || exit 1; done &&"
          " test -f b/segments/000/ec-000006.json -a -f b/segments/000/x && cmp out/results.sqlite b/results.sqlite");
    CHECK_CONFIG_FREE(cfg);
}

/* A checksum that is right does not make a segment: words that tables cannot read and texts that move a cursor are damage. */
TEST_WITH(a_segment_of_strangers_is_damaged, set_up, tear_down)
{
    const spot_merge_options o = { .partial = false };
    spot_ctx c = check_ctx(1);
    spot_config *cfg = shards_config(&c, 2);
    spot_segment *s = calloc(1, sizeof *s);
    const char *dir = in("a");
    spot_merge_report r;
    assert_non_null(s);
    shards_begin(&c, dir, cfg);
    shards_fill(&c, s, cfg, 0, 0);
    snprintf(s->blindspot[0], sizeof s->blindspot[0], "sqare");
    CHECK_OK(&c, spot_segment_write(&c, dir, s));
    shards_fill(&c, s, cfg, 1, 0);
    snprintf(s->device, sizeof s->device, "cpu\033[31m");
    CHECK_OK(&c, spot_segment_write(&c, dir, s));
    CHECK_FAILS(&c, spot_merge(&c, &dir, 1, dir, &o, &r), SPOT_INPUT, "merge.not_whole: 2 | ECs 0 | 2");
    free(r.ec);
    spot_segment_free(s);
    CHECK_CONFIG_FREE(cfg);
}

/* Whatever is no run is refused before anything is made; what is empty counts as empty. */
TEST_WITH(places_are_looked_at_first, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_config *cfg = shards_config(&c, 2), *other = shards_config(&c, 2);
    spot_merge_report r;
    shards_begin(&c, in("a"), cfg);
    put(&c, cfg, "a", 0, 0);
    put(&c, cfg, "a", 1, 0);
    other->metric.lambda_p = 0.7;
    shards_begin(&c, in("other"), other);
    shell("mkdir empty rooms rooms/segments rooms/logs home headless headless/segments &&"
          " cp -r a/segments/000 headless/segments && touch home/letter file");
#define REFUSED(dir, status, words) CHECK_FAILS(&c, merge(&c, (const char *[]){ "a", dir }, 2, "out", &r), status, words)
    REFUSED("nowhere", SPOT_IO, "merge.unread: nowhere");
    REFUSED("file", SPOT_INPUT, "run.missing: file");
    REFUSED("home", SPOT_INPUT, "run.missing: home");
    REFUSED("headless", SPOT_INPUT, "merge.no_config: headless");
    REFUSED("other", SPOT_USAGE, "merge.other_config: metric.lambda_p | 0.8 | 0.7");
    CHECK_FAILS(&c, merge(&c, (const char *[]){ "a" }, 1, "other", &r), SPOT_USAGE, "merge.other_config");
    CHECK_FAILS(&c, merge(&c, (const char *[]){ "empty", "rooms" }, 2, "out", &r), SPOT_INPUT, "merge.nothing");
    CHECK_FAILS(&c, merge(&c, (const char *[]){ "a" }, 1, "file", &r), SPOT_IO, "folder.not_made: name");
    shell("printf 'ecs: two' > rooms/config.yaml");
    REFUSED("rooms", SPOT_USAGE, "setting.value: rooms/config.yaml");
    shell("rm rooms/config.yaml && ! test -e out && ! test -e empty/segments");

    CHECK_OK(&c, merge(&c, (const char *[]){ "empty", "a", "rooms" }, 3, "out", &r));
    assert_int_equal(r.merged, 2);
    CHECK_OK(&c, merge(&c, (const char *[]){ "a" }, 1, "empty", &r));
    check_same("out", "empty");
    CHECK_CONFIG_FREE(cfg);
    CHECK_CONFIG_FREE(other);
}

/* In a source, around it, onto it, by another name: sources are only read. */
TEST_WITH(out_may_lie_anywhere, set_up, tear_down)
{
    static const char snapshot[] = "find a b -not -path '*/under*' -newer stamp | grep . && exit 1; exit 0";
    spot_ctx c = check_ctx(1);
    spot_config *cfg = whole(&c);
    spot_merge_report r;
    char name[16][16];
    cut(&c, cfg, by_chance, 2, name);
    shell("mkdir around && mv s0 a && mv s1 b && ln -s a link && sleep 0.02 && touch stamp");
    CHECK_OK(&c, merge(&c, (const char *[]){ "a", "b", "./a", "link", "a/../b/" }, 5, "out", &r));
    assert_true(r.merged == LEN(present) && !r.duplicates);
    check_same("out", "whole");
    shell(snapshot);                                             /* and links to a's pictures change nothing of them */
    merge_whole(&c, (const char *[]){ "a", "b" }, 2, "a/under");
    check_same("a/under", "whole");
    merge_whole(&c, (const char *[]){ "a", "b" }, 2, "a/segments/000/under");
    check_same("a/segments/000/under", "whole");
    merge_whole(&c, (const char *[]){ "a", "b" }, 2, "b/cache/under");
    check_same("b/cache/under", "whole");
    shell("rm -r a/segments/000/under b/cache/under a/under && cp -r a b around");
    merge_whole(&c, (const char *[]){ "around/a", "around/b" }, 2, "around");
    shell("rm -r around/a around/b");
    check_same("around", "whole");
    merge_whole(&c, (const char *[]){ "link", "b" }, 2, "link");
    check_same("a", "whole");
    CHECK_CONFIG_FREE(cfg);
}

/* ---- pictures and the cache ---- */

TEST_WITH(pictures_and_values_follow, set_up, tear_down)
{
    spot_merge_options o = { .partial = true };
    spot_ctx c = check_ctx(1);
    spot_config *cfg = shards_config(&c, 2);
    const char *dirs[] = { in("a"), in("b") };
    const spot_key key[] = { spot_key_of("x", 1), spot_key_of("y", 1) };
    spot_store store;
    unsigned char *bytes;
    spot_merge_report r;
    bool found;
    size_t n;
    for (int k = 0; k < 2; k++) {
        shards_begin(&c, dirs[k], cfg);
        put(&c, cfg, k ? "b" : "a", 0, k);
        put(&c, cfg, k ? "b" : "a", 1, 0);
        CHECK_OK(&c, spot_store_open(&c, &store, dirs[k]));
        CHECK_OK(&c, spot_store_put(&c, &store, key[k], "view", k ? "yes" : "yep", 4));
    }
    shell("for i in a b; do mkdir $i/pictures/000; echo $i > $i/pictures/000/ec-000000-0-planespot-pca.png; done &&"
          " echo b > b/pictures/000/ec-000001-3-barlow.png && echo > a/base.safetensors && touch a/cache/x.tmp &&"
          " for i in a/cache/*/*.view; do touch $i.n1-7-0.tmp; done");
    spot_merge(&c, dirs, 2, in("bare"), &o, &r);
    free(r.ec);
    shell("! find bare/pictures bare/cache -type f | grep . && ! test -e bare/base.safetensors");
    o.pictures = o.cache = true;
    spot_merge(&c, dirs, 2, in("full"), &o, &r);
    free(r.ec);
    assert_int_equal(r.conflicts, 1);
    shell("cmp a/base.safetensors full/base.safetensors && ! find full -name '*.tmp' | grep . &&"
          " cmp b/pictures/000/ec-000001-3-barlow.png full/pictures/000/ec-000001-3-barlow.png");
    /* a picture goes with its segment, also when out had the other one */
    shell("cp -r a a2; cp -r b b2");
    for (int k = 0; k < 2; k++) {
        spot_merge(&c, dirs, 2, in(k ? "b2" : "a2"), &o, &r);
        free(r.ec);
    }
    shell("for i in full a2 b2; do for from in a b; do ec=000/ec-000000;"
          " if cmp -s $i/segments/$ec.json $from/segments/$ec.json;"
          " then cmp $i/pictures/$ec-0-planespot-pca.png $from/pictures/$ec-0-planespot-pca.png || exit 1; fi; done; done");
    spot_forget(&c);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            CHECK_OK(&c, spot_store_open(&c, &store, in(i ? i == 1 ? "a2" : "b2" : "full")));
            CHECK_OK(&c, spot_store_get(&c, &store, key[k], "view", &bytes, &n, &found));
            assert_true(found && !strcmp((char *)bytes, k ? "yes" : "yep"));
            free(bytes);
        }
    CHECK_CONFIG_FREE(cfg);
}

static int warned;

static void count_warnings(void *user, spot_log_level level, const char *text)
{
    (void)user;
    warned += level == SPOT_LOG_WARN && strstr(text, "convolved otherwise") != NULL;
}

/* The first directory decides how a run on GPUs convolves, and one with other plans is named. */
TEST_WITH(plans_follow, set_up, tear_down)
{
    const spot_merge_options o = { .partial = true };
    spot_ctx c = check_ctx(1);
    spot_config *cfg = shards_config(&c, 2);
    const char *dirs[] = { in("a"), in("b") };
    spot_merge_report r;

    c.on_log = count_warnings;
    for (int k = 0; k < 2; k++) {
        shards_begin(&c, dirs[k], cfg);
        put(&c, cfg, k ? "b" : "a", k, k);
    }
    CHECK_OK(&c, spot_merge(&c, dirs, 2, in("none"), &o, &r));
    free(r.ec);
    shell("! test -e none/plans && for i in a b; do mkdir -p $i/plans/GPU; done &&"
          " printf 'one\\nplain 4\\ndigest 1\\nof a\\n' > a/plans/GPU/one.plan &&"
          " printf 'one\\nplain 4\\ndigest 1\\nof b\\n' > b/plans/GPU/one.plan &&"
          " printf 'two\\nplain 4\\ndigest 1\\nof b\\n' > b/plans/GPU/two.plan &&"
          " touch secret a/plans/GPU/.search b/plans/GPU/two.plan.n1-7-0.tmp b/plans/GPU/notes &&"
          " ln -s ../../../secret b/plans/GPU/three.plan && mkdir out.side && touch out.side/four.plan &&"
          " ln -s ../../out.side b/plans/linked");
    CHECK_OK(&c, spot_merge(&c, dirs, 2, in("all"), &o, &r));
    free(r.ec);
    shell("ls -A all/plans all/plans/GPU > listed && printf 'all/plans:\\nGPU\\n\\nall/plans/GPU:\\none.plan\\ntwo.plan\\n' |"
          " cmp - listed && cmp a/plans/GPU/one.plan all/plans/GPU/one.plan && cmp b/plans/GPU/two.plan all/plans/GPU/two.plan");
    assert_int_equal(warned, 0);
    shell("sed 's/plain 4/plain 5/' a/plans/GPU/one.plan > b/plans/GPU/one.plan");
    CHECK_OK(&c, spot_merge(&c, dirs, 2, in("all"), &o, &r));
    free(r.ec);
    assert_int_equal(warned, 1);
    shell("cmp a/plans/GPU/one.plan all/plans/GPU/one.plan && rm -r all/plans && ln -s ../out.side all/plans");
    CHECK_FAILS(&c, spot_merge(&c, dirs, 2, in("all"), &o, &r), SPOT_INPUT, "run.link: all/plans");
    free(r.ec);
    shell("test $(ls out.side) = four.plan");
    CHECK_CONFIG_FREE(cfg);
}

/* Between file systems links become copies. */
TEST_WITH(files_are_copied_where_links_cannot_be, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_config *cfg = shards_config(&c, 1);
    const spot_merge_options o = { .pictures = true, .cache = true };
    char far[] = "/tmp/spot_far_XXXXXX", command[256];
    struct stat here, there_;
    const char *dir = in("a");
    spot_merge_report r;
    assert_non_null(mkdtemp(far));
    shards_begin(&c, dir, cfg);
    put(&c, cfg, "a", 0, 0);
    shell("mkdir a/pictures/000 && head -c 3000000 /dev/urandom > a/pictures/000/ec-000000-0-planespot-pca.png");
    CHECK_OK(&c, spot_merge(&c, &dir, 1, far, &o, &r));
    free(r.ec);
    snprintf(command, sizeof command, "cmp a/pictures/000/ec-000000-0-planespot-pca.png "
             "%s/pictures/000/ec-000000-0-planespot-pca.png && rm -r %s", far, far);
    assert_true(!stat(root, &here) && !stat(far, &there_));
    shell(command);
    if (here.st_dev == there_.st_dev) skip();
    CHECK_CONFIG_FREE(cfg);
}

/* ---- ends in the middle ---- */

static volatile sig_atomic_t stop;
static int asked;

static void stop_soon(void *user, spot_log_level level, const char *text)
{
    (void)user, (void)level;
    stop = strstr(text, "differs") != NULL && ++asked == 2;      /* the two conflicts, in the second folder */
}

TEST_WITH(a_stopped_merge_goes_on, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_config *cfg = whole(&c);
    spot_merge_report r;
    shards_begin(&c, in("a"), cfg);
    for (int i = 0; i < LEN(present); i++) put(&c, cfg, "a", present[i], present[i] == 12 || present[i] == 1500);
    merge(&c, (const char *[]){ "a", "whole" }, 2, "once", &r);
    spot_forget(&c);
    c.stop = &stop;
    c.on_log = stop_soon;
    assert_int_equal(merge(&c, (const char *[]){ "a", "whole" }, 2, "out", &r), SPOT_STOPPED);
    spot_forget(&c);
    shell("test $(find out -name 'ec-*.json' | wc -l) = 9 && ! find out -name '*.tmp' | grep .");     /* the first folder */
    c = check_ctx(1);
    merge(&c, (const char *[]){ "whole", "a" }, 2, "out", &r);
    assert_int_equal(r.conflicts, 2);
    spot_forget(&c);
    check_same("out", "once");
    CHECK_CONFIG_FREE(cfg);
}

TEST(ranges_are_words)
{
    static const int number[] = { 0, 2, 3, 12, 13, 14, 40 };
    char text[64];
    assert_string_equal(spot_ranges(text, sizeof text, number, LEN(number)), "0, 2-3, 12-14, 40");
    assert_string_equal(spot_ranges(text, sizeof text, number, 0), "");
    assert_string_equal(spot_ranges(text, 18, number, LEN(number)), "0, 2-3, ...");
    assert_string_equal(spot_ranges(text, 19, number, LEN(number)), "0, 2-3, 12-14, 40");
    assert_string_equal(spot_ranges(text, 5, number, LEN(number)), "...");
}

/* ---- how long it takes ---- */

static double begun, used;

static void say(const char *what)
{
    struct rusage u;
    double cpu;
    getrusage(RUSAGE_SELF, &u);
    cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    printf("%-28s %7.2f s, %6.2f s of a core, %4ld MB at most so far\n", what, spot_clock() - begun, cpu - used,
           u.ru_maxrss / 1024);
    fflush(stdout);
    begun = spot_clock();
    used = cpu;
}

/* ECs that cost nothing, 16 processes of which wrote a directory each. */
static int scale(int ecs)
{
    enum { SHARDS = 16 };
    const spot_merge_options o = { .pictures = true };
    spot_ctx c = check_ctx(2);
    spot_config *cfg = shards_config(&c, ecs);
    spot_sweep_options sweep = { .place.shards = 1 };
    const char *dirs[SHARDS];
    spot_sweep_report done;
    spot_merge_report r;
    stub_on = true;
    set_up(NULL);
    begun = spot_clock();
    for (int i = 0; i < SHARDS; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        dirs[i] = in(name);
        const spot_sweep_options part = { .place = { .out = dirs[i], .shard = i, .shards = SHARDS } };
        CHECK_OK(&c, spot_sweep_run(&c, cfg, &part, &done));
    }
    say("swept, without a model");
    sweep.place.out = in("out");
    CHECK_OK(&c, spot_merge(&c, dirs, SHARDS, sweep.place.out, &o, &r));
    say("merged");
    free(r.ec);
    CHECK_OK(&c, spot_merge(&c, dirs, SHARDS, sweep.place.out, &o, &r));
    say("merged again");
    printf("%d of %d, %d duplicates\n", r.merged, r.ecs, r.duplicates);
    free(r.ec);
    CHECK_OK(&c, spot_sweep_run(&c, cfg, &sweep, &done));
    say("planned: nothing to do");
    FILE *f = fopen("/dev/null", "w");
    CHECK_OK(&c, spot_tables(&c, f, sweep.place.out, SPOT_TABLE_TEXT, false));
    fclose(f);
    say("tables");
    CHECK_CONFIG_FREE(cfg);
    return tear_down(NULL);
}

int main(int argc, char **argv)
{
    if (argc > 1) return scale(atoi(argv[1]));
    return run_all_tests();
}
