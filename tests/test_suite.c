/* test_suite.c - the backgrounds of targets: all five choices but CLIP's, realness, keywords that exclude. */
#define _GNU_SOURCE
#include "check_background.h"

#include "background/suite.h"

/* A suite made in memory: the run directory is `root`/run. */
typedef struct {
    spot_background_config *cfg;
    spot_background_inputs in;
    spot_suite_encoders e;
    spot_background_suite s;
    spot_store store;
} made;

static spot_status make(spot_ctx *c, made *m, spot_background_config *cfg)
{
    *m = (made){ .cfg = cfg };
    CHECK_OK(c, spot_background_inputs_open(c, &m->in, cfg));
    CHECK_OK(c, spot_suite_encoders_open(c, &m->e, cfg));
    CHECK_OK(c, spot_store_open(c, &m->store, in_world("run")));
    CHECK_OK(c, spot_background_hash(c, &m->in, NULL));
    CHECK_OK(c, spot_background_squares(c, &m->in, 1 << 20, 64, 64));
    return spot_suite_open(c, &m->s, &m->in, &m->e, &m->store);
}

static void unmake(spot_ctx *c, made *m)
{
    spot_suite_close(&m->s);
    spot_suite_encoders_close(c, &m->e);
    spot_background_inputs_close(&m->in);
}

static const char *chosen(const made *m, int t, int j) { return m->s.background[m->s.chosen[t * m->s.n + j]]; }

/* No background twice for one target; the same again from the file. */
static void check_suite(spot_ctx *c, made *m)
{
    made again;

    for (int t = 0; t < m->s.targets; t++)
        for (int j = 0; j < m->s.n; j++) {
            assert_true(m->s.distance[t * m->s.n + j] >= 0 && m->s.distance[t * m->s.n + j] <= m->s.range);
            for (int k = 0; k < j; k++) assert_true(m->s.chosen[t * m->s.n + j] != m->s.chosen[t * m->s.n + k]);
        }
    CHECK_OK(c, make(c, &again, m->cfg));
    assert_string_equal(again.s.key, m->s.key);
    assert_memory_equal(again.s.chosen, m->s.chosen, (size_t)m->s.targets * (size_t)m->s.n * sizeof(int));
    assert_true(again.s.range == m->s.range && again.s.words == m->s.words && again.s.own == m->s.own);
    unmake(c, &again);
}

TEST_IN_FOLDER(random_backgrounds_follow_the_seed)
{
    spot_ctx c = check_ctx(1), two = check_ctx(2);
    spot_background_config *cfg = world_config(5);
    made a, b;
    char key[33];

    make_world(4, 12);
    CHECK_OK(&c, make(&c, &a, cfg));
    check_suite(&c, &a);
    strcpy(key, a.s.key);
    cfg->suite.seed = 2;
    CHECK_OK(&two, make(&two, &b, cfg));
    assert_true(strcmp(key, b.s.key) && memcmp(a.s.chosen, b.s.chosen, 40 * sizeof(int)));
    unmake(&c, &a), unmake(&two, &b);
    /* a part has the same backgrounds for its targets */
    cfg->suite.seed = 1, cfg->data.part = 50;
    CHECK_OK(&c, make(&c, &b, cfg));
    cfg->data.part = 100;
    CHECK_OK(&c, make(&c, &a, cfg));
    assert_true(b.s.targets == 4 && a.s.targets == 8);
    for (int t = 0; t < 4; t++)
        for (int u = 0; u < 8; u++)
            for (int j = 0; j < 5 && !strcmp(a.s.target[u], b.s.target[t]); j++)
                assert_string_equal(chosen(&a, u, j), chosen(&b, t, j));
    unmake(&c, &a), unmake(&c, &b);
    free(cfg);
}

/* By brute force over rows that are encoded here. */
TEST_IN_FOLDER(nearest_and_interval)
{
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(4);
    made m;

    make_world(2, 12);
    cfg->suite.choice = SPOT_SUITE_NEAREST;
    for (int interval = 0; interval < 2; interval++) {
        cfg->suite.choice = interval ? SPOT_SUITE_INTERVAL : SPOT_SUITE_NEAREST;
        CHECK_OK(&c, make(&c, &m, cfg));
        check_suite(&c, &m);
        float *row = malloc(16 * (size_t)m.e.dim * sizeof *row), far[12], least = 9, most = -9;
        for (int t = 0; t < m.s.targets; t++, least = 9, most = -9) {
            const int number = m.s.target_number[t];
            CHECK_OK(&c, spot_squares_need(&c, &m.in.picture, &number, 1));
            CHECK_OK(&c, spot_suite_encode(&c, &m.e, row, spot_square_rgb(&m.in.picture, number), 1));
            for (int b = 0; b < 12; b++) {
                CHECK_OK(&c, spot_squares_need(&c, &m.in.background, &b, 1));
                CHECK_OK(&c, spot_suite_encode(&c, &m.e, row + m.e.dim, spot_square_rgb(&m.in.background, b), 1));
                far[b] = spot_suite_distance(&m.e, row, row + m.e.dim);
                least = far[b] < least ? far[b] : least, most = far[b] > most ? far[b] : most;
            }
            int in_bin[4] = { 0 }, bins = 0;
            for (int b = 0; b < 12; b++) {
                const int bin = (int)((far[b] - least) / (most - least) * 4);
                bins |= 1 << (bin < 4 ? bin : 3);
            }
            for (int j = 0; j < 4; j++) {
                const int b = m.s.background_number[m.s.chosen[4 * t + j]];
                int nearer = 0;
                for (int k = 0; k < 12; k++) nearer += far[k] < far[b];
                if (!interval) assert_int_equal(nearer, j);
                const int bin = (int)((far[b] - least) / (most - least) * 4);
                in_bin[bin < 4 ? bin : 3]++;
            }
            for (int k = 0; k < 4 && interval; k++) assert_true(bins >> k & 1 ? in_bin[k] >= 1 : in_bin[k] == 0);
        }
        free(row);
        unmake(&c, &m);
    }
    free(cfg);
}

/* Blends below the threshold are marked, and only where no candidate passed. */
TEST_IN_FOLDER(realness)
{
    spot_ctx c = check_ctx(2);
    spot_background_config *cfg = world_config(3);
    made m;
    int unreal = 0;

    make_world(3, 12);
    cfg->suite.tries = 12, cfg->suite.realness = 0.9;
    CHECK_OK(&c, make(&c, &m, cfg));
    check_suite(&c, &m);
    for (int i = 0; i < m.s.targets * m.s.n; i++) {
        assert_int_equal(m.s.unreal[i], 1 - m.s.distance[i] < 0.9);
        unreal += m.s.unreal[i];
    }
    assert_true(unreal < m.s.targets * m.s.n);         /* half of the backgrounds are as bright as the target's own */
    unmake(&c, &m);
    cfg->suite.realness = 1;                           /* nothing passes: the best of all that were tried */
    CHECK_OK(&c, make(&c, &m, cfg));
    check_suite(&c, &m);
    for (int i = 0; i < m.s.targets * m.s.n; i++) assert_int_equal(m.s.unreal[i], 1);
    unmake(&c, &m);
    free(cfg);
}

static void write_keywords(bool full)
{
    char text[2048] = "path,keywords\n";

    for (int i = 0; i < 6; i++)
        sprintf(text + strlen(text), "%c/%d.png,%s\n", 'a' + i / 3, i % 3, i / 3 ? "night; snow" : i ? "sky" : "sky; grass");
    write_file("images.csv", text);
    strcpy(text, "path,keywords\n");
    for (int i = 0; i < 12; i++)
        sprintf(text + strlen(text), "%s%d.png,%s%s\n", i % 2 ? "dark" : "bright", i / 2, i % 2 ? "night" : "sky",
                i == 4 ? "; grass" : i == 6 ? "; A" : i == 8 && full ? "; dog" : "");
    write_file("backgrounds.csv", text);
}

/* One for each keyword, in turn; a class's name and an excluded word keep a background out. */
TEST_IN_FOLDER(ontology_and_exclusions)
{
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(4);
    made m;

    make_world(3, 12);
    write_keywords(true);
    strcpy(cfg->ontology.images, in_world("images.csv"));
    strcpy(cfg->ontology.backgrounds, in_world("backgrounds.csv"));
    strcpy(cfg->ontology.excluded, "dog");
    cfg->ontology.support = 0, cfg->ontology.confidence = 0;
    cfg->suite.choice = SPOT_SUITE_ONTOLOGY;
    CHECK_OK(&c, make(&c, &m, cfg));
    check_suite(&c, &m);
    assert_int_equal(m.s.with_class, 2);
    for (int t = 0; t < m.s.targets; t++)
        for (int j = 0; j < 4; j++) {
            const int word = m.s.keyword[4 * t + j];
            const char *back = chosen(&m, t, j);
            assert_true(strcmp(back, "bright3.png") && strcmp(back, "bright4.png"));
            if (word < 0) continue;
            if (!strcmp(m.s.word[word], "night")) assert_non_null(strstr(back, "dark"));
            if (!strcmp(m.s.word[word], "sky")) assert_non_null(strstr(back, "bright"));
            if (!strcmp(m.s.word[word], "grass")) assert_string_equal(back, "bright2.png");
            if (t < 3) assert_true(strcmp(m.s.word[word], "night"));           /* night is in no picture with sky */
        }
    /* a/0.png shows sky and grass; the others of "a" reach grass through sky */
    for (int t = 0; t < 3; t++) {
        bool grass = false;
        for (int j = 0; j < 4; j++)
            if (m.s.keyword[4 * t + j] >= 0 && !strcmp(m.s.word[m.s.keyword[4 * t + j]], "grass")) {
                grass = true;
                assert_int_equal(m.s.level[4 * t + j], t ? 1 : 0);
            }
        assert_true(grass);
    }
    unmake(&c, &m);
    cfg->suite.n = 11;
    CHECK_FAILS(&c, make(&c, &m, cfg), SPOT_INPUT, "and 10 are left of 12 in ");
    unmake(&c, &m);
    free(cfg);
}
