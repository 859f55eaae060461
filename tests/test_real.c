/* test_real.c - ECs of real pictures, on annotations made by hand: which pictures a task has, what may be a blindspot, the
 * pools, labels, the gap that says whether it was learned, pixels and their album, a sweep; and what is refused.
 * ctest: threads */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "check_real.h"
#include "worlds/source_draw.h"
#include "store/pixel_cache.h"
#include "study/keys.h"

static int animals(const spot_photos *p, uint32_t picture)
{
    return spot_shows(p, picture, 0) + spot_shows(p, picture, 1) + spot_shows(p, picture, 2);
}

TEST_WITH(tasks_have_the_pictures_that_the_paper_says, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_photos_config cfg;
    spot_photos *p, *again, *other;
    int pictures = 480, seen[480] = { 0 }, total = 0, differs = 0;
    annotate("a", plain, LEN(plain), pictures, true);
    cfg = settings("a");
    p = open_photos(&c, &cfg, 1);
    again = open_photos(&c, &cfg, 1);
    other = open_photos(&c, &cfg, 2);
    for (int k = 0; k < SPOT_SPLITS; k++) {
        const spot_task *task = &p->task[0];
        int shown = 0;
        for (int i = 0; i < task->images[k]; i++) {
            uint32_t at = task->picture[k][i];
            assert_true(animals(p, at) <= 1);                              /* of two there would be two blindspots */
            assert_int_equal(seen[at]++, 0);                               /* each in one split */
            assert_true(!i || task->picture[k][i - 1] < at);
            shown += animals(p, at);
        }
        assert_int_equal(2 * shown, task->images[k]);                      /* balanced */
        assert_true(shown > 0);
        total += task->images[k];
        assert_int_equal(again->task[0].images[k], task->images[k]);
        assert_memory_equal(again->task[0].picture[k], task->picture[k], (size_t)task->images[k] * sizeof(uint32_t));
        differs += other->task[0].images[k] != task->images[k]
                || memcmp(other->task[0].picture[k], task->picture[k], (size_t)task->images[k] * sizeof(uint32_t));
    }
    /* of 16 kinds 7 show one animal (210 pictures), 7 none, 2 two: a random split balances nearly all of the 420 */
    assert_in_range(total, 340, 420);
    assert_int_equal(differs, 3);
    assert_string_equal(p->hash, again->hash);
    spot_photos_close(p);
    spot_photos_close(again);
    spot_photos_close(other);
}

/* COCO's own sizes, from shares alone. */
TEST_WITH(shares_are_those_of_the_paper, set_up, tear_down)
{
    const spot_photos_config cfg = spot_photos_defaults();
    assert_int_equal(lround(cfg.val * 123287), 11829);
    assert_int_equal(lround(cfg.test * 123287), 44584);
}

/* Three blocks of pictures that belong together. */
static const char *in_blocks(int i) { return i < 200 ? "\"train\"" : i < 300 ? "\"test\"" : "\"val\""; }
static const char *turned(int i)    { return i < 200 ? "\"test\"" : i < 300 ? "\"train\"" : "\"val\""; }
static const char *not_known(int i) { return i == 70 ? "\"restval\"" : in_blocks(i); }
static const char *not_there(int i) { return i == 70 ? "" : in_blocks(i); }
static const char *no_word(int i)   { return i == 70 ? "[3, {\"a\": \"train\"}]" : i == 71 ? "\"\"" : in_blocks(i); }

/* A picture's split is the file's, whatever the seed and the shares are. */
TEST_WITH(a_file_says_the_splits, set_up, tear_down)
{
    static const spot_split block[] = { SPOT_TRAIN, SPOT_TRAIN, SPOT_TEST, SPOT_VAL, SPOT_VAL };
    spot_ctx c = check_ctx(1);
    spot_photos_config cfg;
    spot_photos *p, *other;
    split_of = in_blocks;
    annotate("a", plain, LEN(plain), 480, true);
    split_of = NULL;
    cfg = settings("a");
    cfg.splits = SPOT_SPLITS_BY_FILE;
    p = open_photos(&c, &cfg, 1);
    cfg.val = cfg.test = 0;
    other = open_photos(&c, &cfg, 2);
    for (int t = 0; t < p->tasks; t++)
        for (int k = 0; k < SPOT_SPLITS; k++) {
            assert_true(p->task[t].images[k] > 20);
            assert_int_equal(p->task[t].images[k], other->task[t].images[k]);
            for (int i = 0; i < p->task[t].images[k]; i++) assert_int_equal(block[p->task[t].picture[k][i] / 100], k);
        }
    spot_photos_close(p);
    spot_photos_close(other);
}

/* Where the shares decide, nothing depends on what the file says of splits; where the file does, the key depends on it. */
TEST_WITH(splits_of_a_file_are_read_where_they_are_asked_for, set_up, tear_down)
{
    static const char *(*const said[])(int) = { NULL, in_blocks, not_known, not_there, no_word };
    spot_ctx c = check_ctx(1);
    spot_photos_config cfg;
    spot_photos *p, *first = NULL;
    for (int s = 0; s < LEN(said); s++) {
        split_of = said[s];
        annotate("a", plain, LEN(plain), 480, true);
        cfg = settings("a");
        p = open_photos(&c, &cfg, 1);
        if (!first) first = p;
        assert_string_equal(p->hash, first->hash);
        for (int k = 0; k < SPOT_SPLITS; k++) {
            assert_int_equal(p->task[0].images[k], first->task[0].images[k]);
            assert_memory_equal(p->task[0].picture[k], first->task[0].picture[k],
                                (size_t)p->task[0].images[k] * sizeof(uint32_t));
        }
        if (p != first) spot_photos_close(p);
        cfg.splits = SPOT_SPLITS_BY_FILE;
        if (said[s] == in_blocks) {
            p = open_photos(&c, &cfg, 1);
            assert_string_not_equal(p->hash, first->hash);
        } else {
            CHECK_FAILS(&c, spot_photos_open(&c, &p, &cfg, 1), SPOT_INPUT,
                        !said[s] ? "data.split: a-0.png | no \"split\"" : said[s] == not_known
                        ? "data.split: a-70.png | \"restval\"" : "data.split: a-70.png | no \"split\"");
        }
        spot_photos_close(p);
    }
    spot_photos_close(first);
    split_of = NULL;
}

/* Two files that differ in nothing but splits: each split has as many pictures of each kind, so that all are used in both. */
TEST_WITH(another_split_in_the_file_is_another_data_set, set_up, tear_down)
{
    static const char *(*const said[])(int) = { in_blocks, turned };
    static const char *const even[] = { "c", "p" };
    spot_ctx c = check_ctx(1);
    char hash[2][33];
    for (int s = 0; s < LEN(said); s++) {
        spot_photos_config cfg = settings("a");
        spot_photos *p;
        split_of = said[s];
        annotate("a", even, LEN(even), 480, true);
        split_of = NULL;
        cfg.tasks = "animal";
        cfg.splits = SPOT_SPLITS_BY_FILE;
        p = open_photos(&c, &cfg, 1);
        assert_int_equal(p->used, 480);
        snprintf(hash[s], sizeof hash[s], "%s", p->hash);
        spot_photos_close(p);
    }
    assert_string_not_equal(hash[0], hash[1]);
}

TEST_WITH(pictures_against_a_super_category, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_photos_config cfg;
    spot_photos *p;
    annotate("a", plain, LEN(plain), 480, true);
    cfg = settings("a");
    cfg.tasks = "vehicle";
    cfg.against = "animal";
    p = open_photos(&c, &cfg, 1);
    for (int k = 0; k < SPOT_SPLITS; k++)
        for (int i = 0; i < p->task[0].images[k]; i++) {
            uint32_t at = p->task[0].picture[k][i];
            assert_int_equal(animals(p, at) + spot_shows(p, at, 3) + spot_shows(p, at, 4), 1);
        }
    spot_photos_close(p);
}

/* Training pictures of the task with both, and with a alone, counted from the lists. */
static void count_pair(const spot_photos *p, const spot_ec *ec, int a, int b, int *with, int *without)
{
    const spot_task *task = &p->task[ec->task];
    *with = *without = 0;
    for (int i = 0; i < task->images[SPOT_TRAIN]; i++) {
        uint32_t at = task->picture[SPOT_TRAIN][i];
        if (!spot_shows(p, at, a)) continue;
        if (spot_shows(p, at, b)) ++*with;
        else ++*without;
    }
}

TEST_WITH(general_pool, set_up, tear_down)
{
    enum { ECS = 1200 };
    spot_ctx c = check_ctx(1);
    spot_photos_config cfg;
    spot_photos *p;
    int specific = 0, blindspots = 0, with = 0, first[3] = { 0 }, least[2] = { 0 }, seconds[CATEGORIES] = { 0 };
    annotate("a", plain, LEN(plain), 480, true);
    cfg = settings("a");
    cfg.blindspots[1] = 2;
    p = open_photos(&c, &cfg, 1);
    for (uint32_t i = 0; i < ECS; i++) {
        spot_ec ec, same;
        unsigned used = 0;
        CHECK_OK(&c, spot_photos_ec(&c, &ec, p, i));
        CHECK_OK(&c, spot_photos_ec(&c, &same, p, i));
        assert_memory_equal(&ec, &same, sizeof ec);
        assert_int_equal(ec.task, i % 2);
        assert_int_equal(ec.blindspot_count, 1 + i / 2 % 2);
        for (int m = 0; m < ec.blindspot_count; m++) {
            const spot_motif *s = &ec.motif[m];
            int a, b;
            assert_int_equal(strcmp(supers[s->object], p->task[ec.task].name), 0);
            assert_false(used >> s->object & 1);
            used |= 1u << s->object;
            assert_int_equal(ec.blindspot[m].specificity, 1 + (s->other >= 0));
            blindspots++;
            if (s->object < 3 && m == 0) first[s->object]++;
            if (s->other < 0) continue;
            specific++;
            with += s->with;
            seconds[s->other]++;
            assert_false(used >> s->other & 1);
            used |= 1u << s->other;
            assert_int_not_equal(strcmp(supers[s->other], p->task[ec.task].name), 0);
            count_pair(p, &ec, s->object, s->other, &a, &b);
            assert_true(a >= cfg.pair_least && b >= cfg.pair_least);
            if (s->object < 2 && s->other == 5) least[s->object] = a < b ? a : b;
        }
    }
    /* coins of 0.5, six standard errors; cat and dog as often, cow (with car in every picture, so never more-specific) less */
    CHECK_NEAR((double)with / specific, 0.5, 3 / sqrt(specific));
    CHECK_NEAR((double)specific / blindspots, 0.5, 0.12);
    assert_in_range(first[0], 180, 300);
    assert_in_range(first[1], 180, 300);
    assert_true(first[2] < first[1] && seconds[3] + seconds[4] == 0 && seconds[5] > 0 && seconds[6] > 0);
    spot_photos_close(p);

    /* exactly as many as it needs make a person eligible, one fewer does not: fewer cats are without, fewer dogs with */
    cfg.blindspots[1] = 1;
    for (int k = 0; k < 4; k++) {
        int object = k / 2, more = k % 2, found = 0;
        cfg.pair_least = least[object] + more;
        p = open_photos(&c, &cfg, 1);
        for (uint32_t i = 0; i < 400; i += 2) {
            spot_ec ec;
            CHECK_OK(&c, spot_photos_ec(&c, &ec, p, i));
            found += ec.motif[0].object == object && ec.motif[0].other == 5;
        }
        assert_true(more ? !found : found > 10);
        spot_photos_close(p);
    }
}

static int code(const spot_ec *ec)
{
    int all = ec->task;
    for (int m = 0; m < ec->blindspot_count; m++) {
        const spot_motif *s = &ec->motif[m];
        all = 1000 * all + 64 * s->object + 2 * s->other + s->with;
    }
    return all;
}

/* All ECs of the pool are different; past them there is none. Fills `text` with the first few. */
static void walk_pool(const spot_photos_config *cfg, int ecs, char *text, size_t size, int shown)
{
    spot_ctx c = check_ctx(1);
    spot_photos *p = open_photos(&c, cfg, 1);
    int codes[64], n = 0;
    spot_ec ec;
    size_t used = 0;
    char words[128], wanted[64];

    assert_int_equal(spot_photos_pool(p), ecs);
    *text = 0;
    for (; n < ecs; n++) {
        CHECK_OK(&c, spot_photos_ec(&c, &ec, p, (uint32_t)n));
        codes[n] = code(&ec);
        for (int i = 0; i < n; i++) assert_int_not_equal(codes[i], codes[n]);
        for (int m = 0; m < ec.blindspot_count && n < shown; m++) {
            spot_ec_describe(words, sizeof words, &ec, m);
            used += (size_t)snprintf(text + used, size - used, "%s%s", m ? " + " : n ? ", " : "", words);
        }
    }
    snprintf(wanted, sizeof wanted, "pool.small: %d", ecs);
    CHECK_FAILS(&c, spot_photos_ec(&c, &ec, p, (uint32_t)ecs), SPOT_USAGE, wanted);
    spot_photos_close(p);
}

TEST_WITH(conditioned_pools, set_up, tear_down)
{
    spot_photos_config cfg;
    char text[1024];
    annotate("a", plain, LEN(plain), 480, true);
    cfg = settings("a");
    cfg.pool = SPOT_POOL_SINGLES;
    walk_pool(&cfg, 5, text, sizeof text, 5);
    assert_string_equal(text, "cat, car, dog, bus, cow");
    cfg.pool = SPOT_POOL_NUMBER;
    walk_pool(&cfg, 3 + 2 + 3 + 1 + 1, text, sizeof text, 10);
    cfg.each = 2;
    walk_pool(&cfg, 2 + 2 + 2 + 1 + 1, text, sizeof text, 8);
    cfg.induced = "dog,  cow ,bus";
    walk_pool(&cfg, 2 + 1 + 1, text, sizeof text, 4);
    assert_null(strstr(text, "cat"));
    assert_non_null(strstr(text, "dog + cow"));
    cfg.induced = "";
    cfg.pool = SPOT_POOL_SPECIFICITY;
    cfg.each = 20;
    /* less: 3 and 2; more, with and without: cat and dog with person and tree; car with cow, bus with person */
    walk_pool(&cfg, 3 + 2 + 8 + 4, text, sizeof text, 17);
    assert_non_null(strstr(text, "dog without tree"));
    assert_non_null(strstr(text, "bus with person"));
    cfg.each = 3;
    walk_pool(&cfg, 3 + 2 + 3 + 3, text, sizeof text, 11);
}

TEST_WITH(labels_are_flipped_where_they_should_be, set_up, tear_down)
{
    spot_ctx c = check_ctx(2);
    annotate("a", plain, LEN(plain), 480, true);
    for (int flip_val = 0; flip_val < 2; flip_val++) {
        spot_photos_config cfg = settings("a");
        spot_photos *p;
        spot_ec ec;
        cfg.flip_val = flip_val;
        p = open_photos(&c, &cfg, 1);
        CHECK_OK(&c, spot_photos_ec(&c, &ec, p, 2));
        ec.blindspot_count = 2;
        ec.motif[0] = (spot_motif){ 0, 5, false };       /* cat without person */
        ec.motif[1] = (spot_motif){ 1, -1, true };       /* dog */
        ec.task = 0;
        for (int k = 0; k < SPOT_SPLITS; k++) {
            spot_image image[480];
            float target[480];
            uint32_t mask[480];
            int n = p->task[0].images[k], positives = 0, index[480], in = 0;
            spot_sample s = { .ec = &ec, .split = (spot_split)k, .n = n, .image = image, .target = target, .mask = mask };
            ec.images[k] = n;
            CHECK_OK(&c, spot_ec_images(&c, &s));
            for (int i = 0; i < n; i++) {
                uint32_t at = p->task[0].picture[k][i];
                bool cat = spot_shows(p, at, 0) && !spot_shows(p, at, 5), dog = spot_shows(p, at, 1);
                bool wrong = (cat || dog) && (k == SPOT_TRAIN || (k == SPOT_VAL && flip_val));
                assert_int_equal(image[i].label, animals(p, at));
                assert_int_equal(image[i].blindspots, (unsigned)cat | (unsigned)dog << 1);
                assert_int_equal(mask[i], image[i].blindspots);
                assert_int_equal(image[i].train_label, image[i].label ^ wrong);
                CHECK_NEAR(target[i], image[i].train_label, 0);
                positives += image[i].label;
                in += cat || dog;
            }
            assert_true(in > 5);
            assert_int_equal(spot_ec_positives(index, &ec, (spot_split)k), positives);
            for (int i = 0; i < positives; i++) assert_int_equal(image[index[i]].label, 1);
        }
        spot_photos_close(p);
    }
}

TEST_WITH(the_gap_is_twenty_points, set_up, tear_down)
{
    enum { N = 40 };
    float confidence[N];
    uint32_t mask[N];
    spot_view v = { .n = N, .confidence = confidence };
    spot_truth t = { .n = N, .blindspots = 2, .mask = mask };
    spot_model_config cfg = spot_model_defaults();
    spot_learning l = { .blindspots = 2, .outside = 0.25, .learned = true };
    spot_learning_by_view(&l, &v, &t, &cfg);                   /* not asked: nothing changes */
    CHECK_NEAR(l.outside, 0.25, 0);
    cfg.learned_gap = 0.2;
    /* 20 outside with 14 right; 10 in the first blindspot with 5 right; 10 in the second with 5 */
    for (int i = 0; i < N; i++) {
        mask[i] = i < 20 ? 0 : i < 30 ? 1 : 2;
        confidence[i] = i < 14 || (i >= 20 && i < 25) || (i >= 30 && i < 35) ? 0.9f : 0.5f;
    }
    cfg.learned_rest = 1;
    spot_learning_by_view(&l, &v, &t, &cfg);                   /* 0.7 - 0.5: exactly twenty points, though not in binary */
    assert_true(l.learned);
    CHECK_NEAR(l.outside, 0.7, 1e-12);
    CHECK_NEAR(l.inside[0], 0.5, 0);
    assert_true(l.outside_count == 20 && l.inside_count[0] == 10 && l.inside_count[1] == 10);
    cfg.learned_rest = 0;
    spot_learning_by_view(&l, &v, &t, &cfg);                   /* outside of the one lies the other: 19/30 - 1/2 */
    assert_false(l.learned);
    cfg.learned_gap = 0.13;
    spot_learning_by_view(&l, &v, &t, &cfg);
    assert_true(l.learned);
    confidence[31] = confidence[29] = 0.9f;
    for (int i = 30; i < N; i++) mask[i] = 1;                /* none is left in the second: nothing is known of it */
    spot_learning_by_view(&l, &v, &t, &cfg);
    assert_true(!l.learned && isnan(l.inside[1]));
}

/* Pictures of 12 x 8 in squares of 32: bars of 5 rows; or their middle, without. */
TEST_WITH(pixels_and_their_album, set_up, tear_down)
{
    spot_ctx c = check_ctx(2);
    static uint8_t rgb[2][32 * 32 * 3];
    spot_photos_config cfg;
    spot_photos *p;
    spot_image image = { .split = SPOT_TEST, .index = 3 };
    spot_store store;
    spot_ec ec;
    annotate("a", plain, LEN(plain), 96, true);
    cfg = settings("a");
    cfg.pair_least = 1;
    const char *dir = in_root("run");
    CHECK_OK(&c, spot_store_open(&c, &store, dir));
    for (int fit = SPOT_FIT_PAD; fit <= SPOT_FIT_CROP; fit++) {
        int number;
        cfg.fit = fit;
        p = open_photos(&c, &cfg, 1);
        CHECK_OK(&c, spot_photos_ec(&c, &ec, p, 0));
        number = (int)p->task[0].picture[SPOT_TEST][3];
        CHECK_OK(&c, spot_photo_pixels(&c, rgb[0], &image, &ec));
        for (int y = 0; y < 32; y += 31) assert_int_equal(rgb[0][3 * (32 * y + 16)], fit == SPOT_FIT_PAD ? 0 : 250);
        assert_int_equal(rgb[0][3 * (32 * 16 + 16)], 250);
        assert_int_equal(rgb[0][3 * (32 * 16 + 16) + 1], number);           /* the picture of that number */
        CHECK_OK(&c, spot_pixel_cache_open(&c, &store, p));
        CHECK_OK(&c, spot_photo_pixels(&c, rgb[1], &image, &ec));
        assert_memory_equal(rgb[0], rgb[1], sizeof rgb[0]);
        spot_photos_close(p);
    }
    /* a damaged picture is none; an album that is cut is made anew */
    p = open_photos(&c, &cfg, 1);
    shell("cd %s/cache && for f in *.album; do printf x | dd of=$f bs=1 conv=notrunc 2>/dev/null; done", "run");
    CHECK_OK(&c, spot_pixel_cache_open(&c, &store, p));
    CHECK_OK(&c, spot_photos_ec(&c, &ec, p, 0));
    for (int k = 0; k < SPOT_SPLITS; k++)                    /* row 0 is a picture of some split */
        for (uint32_t i = 0; i < (uint32_t)ec.images[k]; i++) {
            spot_image at = { .split = (uint8_t)k, .index = i };
            if (p->row[p->task[ec.task].picture[k][i]]) CHECK_OK(&c, spot_photo_pixels(&c, rgb[0], &at, &ec));
            else CHECK_FAILS(&c, spot_photo_pixels(&c, rgb[0], &at, &ec), SPOT_IO, "pixel_cache.damaged");
        }
    spot_photos_close(p);
    shell("cd %s/cache && for f in *.album; do truncate -s -1 $f; done", "run");
    p = open_photos(&c, &cfg, 1);
    CHECK_OK(&c, spot_photos_ec(&c, &ec, p, 0));
    CHECK_OK(&c, spot_pixel_cache_open(&c, &store, p));
    for (int k = 0; k < SPOT_SPLITS; k++)
        for (uint32_t i = 0; i < (uint32_t)ec.images[k]; i++)
            CHECK_OK(&c, spot_photo_pixels(&c, rgb[0], &(spot_image){ .split = (uint8_t)k, .index = i }, &ec));
    spot_photos_close(p);
}

/* Broken pictures are counted and the first is named, on any number of threads; no album is left. */
TEST_WITH(broken_pictures, set_up, tear_down)
{
    spot_photos_config cfg;
    annotate("a", plain, LEN(plain), 96, true);
    put_bytes("a-0.png", "no picture at all", 17);
    put_bytes("a-4.png", "", 0);
    cfg = settings("a");
    const char *dir = in_root("run");
    for (int threads = 1; threads <= 3; threads += 2) {
        spot_ctx c = check_ctx(threads);
        spot_store store;
        spot_photos *p = open_photos(&c, &cfg, 1);
        CHECK_OK(&c, spot_store_open(&c, &store, dir));
        CHECK_FAILS(&c, spot_pixel_cache_open(&c, &store, p), SPOT_INPUT, "pixel_cache.unreadable: 2 | 81");
        CHECK_FAILS(&c, spot_pixel_cache_open(&c, &store, p), SPOT_INPUT, "pixel_cache.unreadable: a-0.png");
        spot_photos_close(p);
    }
    shell("! ls %s/cache | grep -q album", "run");
}

TEST_WITH(what_is_refused, set_up, tear_down)
{
    static const char *const two_kinds[] = { "c", "d" };
    spot_ctx c = check_ctx(1);
    spot_photos_config cfg;
    spot_photos *p;
    spot_ec ec;
    annotate("a", plain, LEN(plain), 96, true);
    annotate("none", two_kinds, 2, 96, true);
    annotate("gone", plain, LEN(plain), 96, false);
    put_bytes("other.json", "{\"images\":[],\"annotations\":[],\"categories\":[{\"id\":1,\"name\":\"cat\"}]}", 67);
#define REFUSED(status, words, ...) \
    do { \
        cfg = settings("a"); \
        __VA_ARGS__; \
        CHECK_FAILS(&c, spot_photos_open(&c, &p, &cfg, 1), status, words); \
        spot_photos_close(p); \
    } while (0)
    REFUSED(SPOT_IO, "file.unread: nowhere.json", cfg.coco = "/nowhere.json");
    REFUSED(SPOT_USAGE, "data.no_category: \"animal\"", cfg.tasks = "animals");
    REFUSED(SPOT_USAGE, "data.no_category: data.against", cfg.against = "stone");
    REFUSED(SPOT_USAGE, "data.against: animal", cfg.against = "animal");
    REFUSED(SPOT_USAGE, "data.task_twice: animal", cfg.tasks = "animal,animal");
    REFUSED(SPOT_USAGE, "data.tasks: data.tasks", cfg.tasks = " , ");
    REFUSED(SPOT_USAGE, "data.shares", cfg.val = 0.7);
    REFUSED(SPOT_USAGE, "setting.value: data.pair_least | 0 | 1", cfg.pair_least = 0);
    REFUSED(SPOT_USAGE, "data.folders: 2 | 1", cfg.images = "/tmp:/tmp");
    REFUSED(SPOT_USAGE, "induced.category: \"tree\"", cfg.induced = "cat, tree");
    REFUSED(SPOT_INPUT, "data.one_class: 0", cfg = settings("none"); cfg.tasks = "animal");
    REFUSED(SPOT_INPUT, "pictures.missing", cfg = settings("gone"));
    REFUSED(SPOT_INPUT, "pictures.missing", cfg.images = "/tmp/nowhere");
    cfg = settings("a");
    cfg.coco = check_text("%.60s/a.json:%.60s/other.json", root, root);
    CHECK_FAILS(&c, spot_photos_open(&c, &p, &cfg, 1), SPOT_INPUT, "photos.categories: number 1");
    spot_photos_close(p);
    cfg = settings("a");
    cfg.category_least = 1000;
    p = open_photos(&c, &cfg, 1);
    CHECK_FAILS(&c, spot_photos_ec(&c, &ec, p, 0), SPOT_USAGE, "pool.no_blindspot: number 1 | animal");
    spot_photos_close(p);
}

/* The names come from a file that may be a stranger's. */
TEST_WITH(links_lead_out_of_the_folder_where_that_is_asked_for, set_up, tear_down)
{
    enum { PICTURES = 96 };
    spot_ctx c = check_ctx(1);
    spot_photos_config cfg;
    spot_photos *p;

    annotate("a", plain, LEN(plain), PICTURES, true);
    cfg = settings("a");
    cfg.images = check_text("%.60s/links", root);
    assert_int_equal(mkdir(cfg.images, 0700), 0);
    for (int i = 0; i < PICTURES; i++)
        assert_int_equal(symlink(check_text("../a-%d.png", i), check_text("%.60s/links/a-%d.png", root, i)), 0);
    CHECK_FAILS(&c, spot_photos_open(&c, &p, &cfg, 1), SPOT_INPUT, "picture.link_outside");
    spot_photos_close(p);
    cfg.follow_links = true;
    p = open_photos(&c, &cfg, 1);
    spot_photos_close(p);
}

/* A data set in two files with a folder each is the same one. */
TEST_WITH(two_files_go_together, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_photos_config cfg;
    spot_photos *p;
    char path[SPOT_PHOTO_PATH];
    annotate("a", plain, LEN(plain), 96, true);
    annotate("b", plain, LEN(plain), 32, true);
    cfg = settings("a");
    cfg.coco = check_text("%.60s/a.json:%.60s/b.json", root, root);
    cfg.images = check_text("%.60s:%.60s/.", root, root);
    p = open_photos(&c, &cfg, 1);
    assert_int_equal(p->pictures, 128);
    spot_photo_path(p, 95, path);
    assert_non_null(strstr(path, "/a-95.png"));
    spot_photo_path(p, 96, path);
    assert_non_null(strstr(path, "/./b-0.png"));
    for (int k = 0; k < CATEGORIES; k++) assert_int_equal(spot_shows(p, 100, k), spot_shows(p, 4, k));
    spot_photos_close(p);
}

/* The whole way, with a network too small to learn anything: the same bytes for any number of threads, in shards, stopped half
 * way; FDR is not known; another picture in a file gives another key. */
TEST_WITH(a_sweep_on_pictures, set_up, tear_down)
{
    static const char text[] =
        "seed: 5\necs: 4\n"
        "data: {coco: %s/a.json, images: %s, tasks: \"animal, vehicle\", size: 32, pair_least: 3, blindspots: [1, 2],\n"
        "       val: 0.2, test: 0.4}\n"
        "model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3, learned_gap: 0.2}\n"
        "bdms: [{method: planespot, reduce: pca, mixture: {k_max: 4}}]\n"
        "metric: {lambda_p: 0.5, lambda_r: 0.5}\n";
    spot_ctx one = context(1), three = context(3);
    spot_config *cfg = malloc(sizeof *cfg), *again = malloc(sizeof *again);
    spot_sweep_report r;
    char filled[1024], *printed, words[256];
    unsigned char *segment;
    size_t n;
    annotate("a", plain, LEN(plain), 240, true);
    snprintf(filled, sizeof filled, text, root, root);
    CHECK_OK(&one, spot_config_parse(&one, cfg, filled, strlen(filled), "pictures"));
    CHECK_OK(&one, spot_config_print(&one, cfg, &printed));
    assert_null(strstr(printed, "scene:"));
    CHECK_OK(&one, spot_config_parse(&one, again, printed, strlen(printed), "printed"));
    if (spot_config_differs(words, sizeof words, cfg, again)) fail_msg("%s", words);
    free(printed);
    CHECK_OK(&one, sweep(&one, cfg, "one", 0, 1, &r));
    assert_int_equal(r.done, 4);
    CHECK_OK(&three, sweep(&three, cfg, "three", 1, 2, &r));
    CHECK_OK(&three, sweep(&three, cfg, "three", 0, 2, &r));
    assert_int_equal(r.done, 2);
    check_same_segments(&one, "one", "three", 4);
    CHECK_OK(&one, sweep(&one, cfg, "one", 0, 1, &r));
    assert_int_equal(r.already, 4);
    segment = segment_bytes(&one, "one", 1, &n);
    assert_non_null(strstr((char *)segment, "\"layers\":\"vehicle\""));
    assert_non_null(strstr((char *)segment, "\"fdr\":null"));
    free(segment);
    shell("cd %s/.. && printf x >> a-17.png", "one");
    CHECK_OK(&one, sweep(&one, cfg, "one", 0, 1, &r));
    assert_int_equal(r.already, 0);
    cfg->data.pool = SPOT_POOL_SINGLES;
    cfg->ecs = 6;
    CHECK_FAILS(&one, sweep(&one, cfg, "six", 0, 1, &r), SPOT_USAGE, "pool.small: 5");
    CHECK_CONFIG_FREE(cfg);
    CHECK_CONFIG_FREE(again);
    spot_ctx_close(&one);
    spot_ctx_close(&three);
}

TEST_WITH(scene_and_data_exclude_each_other, set_up, tear_down)
{
    static const struct { const char *text, *words; } cases[] = {
        { "data: {coco: a.json}\nscene: {size: 64}\n", "setting.inapplicable: line 2 | scene | data" },
        { "scene: {size: 64}\ndata: {coco: a.json}\n", "setting.inapplicable: line 1 | scene | data" },
        { "data: {size: 64}\n", "setting.inapplicable: line 1 | data.coco" },
        { "data: {coco: a.json}\nmodel: {base: {images: 64}}\n", "model.base_of_scenes" },
        { "data: {coco: a.json, cocoa: b}\n", "setting.unknown: \"coco\"" },
    };
    spot_ctx c = check_ctx(1);
    spot_config *cfg = calloc(1, sizeof *cfg);
    for (int i = 0; i < LEN(cases); i++)
        CHECK_FAILS(&c, spot_config_parse(&c, CHECK_AGAIN(cfg), cases[i].text, strlen(cases[i].text), "a.yaml"), SPOT_USAGE,
                    cases[i].words);
    CHECK_CONFIG_FREE(cfg);
}
