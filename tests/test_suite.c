/* test_suite.c - the backgrounds of targets: all five choices, realness, keywords that exclude; squares that are decoded ahead.
 * ctest: threads */
#define _GNU_SOURCE
#include "check_background.h"

#include "background/suite/squares_ahead.h"
#include "background/suite/suite.h"
#include "heard.h"

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
    return spot_suite_open(c, &m->s, &m->in, &m->e, &(spot_suite_place){ m->store.dir, "", &m->store });
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
    CHECK_CONFIG_FREE(cfg);
}

/* Brute force over rows that are encoded here. */
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
    CHECK_CONFIG_FREE(cfg);
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
    CHECK_CONFIG_FREE(cfg);
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
    cfg->ontology.images = check_text("%s", in_world("images.csv"));
    cfg->ontology.backgrounds = check_text("%s", in_world("backgrounds.csv"));
    cfg->ontology.excluded = "dog";
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
    CHECK_FAILS(&c, make(&c, &m, cfg), SPOT_INPUT, "suite.few_backgrounds: 10 | 12");
    unmake(&c, &m);
    CHECK_CONFIG_FREE(cfg);
}

/* ---- CLIP ---- */

enum { WORDS = 6, TOP = 2 };

/* (n, dim) rows of pictures 0 .. n - 1 of q. */
static float *rows_of(spot_ctx *c, made *m, spot_square_cache *q, const int *number, int n)
{
    float *row = malloc((size_t)n * (size_t)m->e.dim * sizeof *row);

    for (int i = 0; i < n; i++) {
        CHECK_OK(c, spot_squares_need(c, q, &number[i], 1));
        CHECK_OK(c, spot_suite_encode(c, &m->e, row + (size_t)i * (size_t)m->e.dim, spot_square_rgb(q, number[i]), 1));
    }
    return row;
}

/* How many words are more similar to the row than word w. */
static int rank_of(const float *row, const float *text, int w, int dim)
{
    float score[WORDS] = { 0 };
    int before = 0;

    for (int k = 0; k < WORDS; k++)
        for (int d = 0; d < dim; d++) score[k] += row[d] * text[k * dim + d];
    for (int k = 0; k < WORDS; k++) before += score[k] > score[w];
    return before;
}

/* Words by the tiny CLIP: each place has one of the N nearest words of its target, and a background with that word. The class
 * "A" is a word, so that backgrounds with it are left out. */
TEST_IN_FOLDER(words_by_clip)
{
    static const char *const word[WORDS] = { "a", "a white background", "black", "grey background", "no circle",
                                             "two squares" };
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(3);
    int back[12], seen = 0;
    made m;

    make_world(2, 12);
    write_file("words.txt", "A\na white background\nblack\nGrey_background\nno circle\ntwo squares\nblack\n");
    cfg->ontology.words = check_text("%s", in_world("words.txt"));
    cfg->encoder[0].weights = "../tools/tiny_clip/model.safetensors";
    cfg->encoders = 1, cfg->encoder[0].weight = 1, cfg->ontology.top = TOP, cfg->suite.choice = SPOT_SUITE_CLIP;
    CHECK_OK(&c, make(&c, &m, cfg));
    check_suite(&c, &m);
    assert_int_equal(m.s.words, WORDS);
    for (int k = 0; k < WORDS; k++) assert_string_equal(m.s.word[k], word[k]);
    for (int b = 0; b < 12; b++) back[b] = b;
    float *text = malloc(WORDS * (size_t)m.e.dim * sizeof *text), *target, *ground;
    CHECK_OK(&c, spot_encode_texts(&c, m.e.net[0], text, word, WORDS));
    target = rows_of(&c, &m, &m.in.picture, m.s.target_number, m.s.targets);
    ground = rows_of(&c, &m, &m.in.background, back, 12);
    for (int b = 0, with = 0; b < 12; b++) {
        with += rank_of(ground + b * m.e.dim, text, 0, m.e.dim) < TOP;
        if (b == 11) assert_int_equal(m.s.with_class, with);
    }
    for (int i = 0; i < m.s.targets * 3; i++) {
        const float *own = ground + m.s.background_number[m.s.chosen[i]] * m.e.dim;
        const int w = m.s.keyword[i];
        assert_true(rank_of(own, text, 0, m.e.dim) >= TOP);
        if (w < 0) continue;
        seen++;
        assert_true(w != 0 && rank_of(target + i / 3 * m.e.dim, text, w, m.e.dim) < 3 && rank_of(own, text, w, m.e.dim) < TOP);
    }
    assert_true(seen > 0);
    free(text), free(target), free(ground);
    unmake(&c, &m);
    CHECK_CONFIG_FREE(cfg);
}

/* Keywords that leave no background out are told. */
TEST_IN_FOLDER(keywords_that_exclude_nothing)
{
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(4);
    made m;

    make_world(3, 12);
    write_keywords(true);
    cfg->ontology.backgrounds = check_text("%s", in_world("backgrounds.csv"));
    cfg->ontology.excluded = "dog; zebra ;";
    c.on_log = hear;
    CHECK_OK(&c, make(&c, &m, cfg));
    unmake(&c, &m);
    assert_non_null(strstr(heard, "ontology.excluded has \"zebra \", and no picture or background has that keyword"));
    assert_null(strstr(heard, "\"dog\""));
    assert_null(strstr(heard, "is the name of a class"));
    heard[0] = 0;
    char text[1000] = "path,keywords\n";
    for (int k = 0; k < 12; k++) sprintf(text + strlen(text), "%s%d.png,sky\n", k % 2 ? "dark" : "bright", k / 2);
    write_file("backgrounds.csv", text);
    cfg->ontology.excluded = "";
    CHECK_OK(&c, make(&c, &m, cfg));
    unmake(&c, &m);
    assert_non_null(strstr(heard, "none of the 1 keywords is the name of a class (a, ...)"));
    CHECK_CONFIG_FREE(cfg);
}

/* A COCO file may be a stranger's: its names stay in the folder, and links lead out of it where that is asked for. */
TEST_IN_FOLDER(names_of_a_list_stay_in_their_folder)
{
    static const char coco[] = "{\"images\": [{\"id\": 1, \"file_name\": \"%s\"}], \"categories\": [{\"id\": 5, \"name\": "
                               "\"dog\"}], \"annotations\": [{\"image_id\": 1, \"category_id\": 5, \"area\": 4, "
                               "\"segmentation\": [[1, 1, 3, 1, 3, 3, 1, 3]]}]}";
    spot_ctx c = check_ctx(1);
    spot_background_config *cfg = world_config(3);
    spot_background_inputs in;

    make_world(3, 8);
    cfg->data.masks = "";
    cfg->data.coco = check_text("%s", in_world("coco.json"));
    write_file("coco.json", check_text(coco, "a/../../backgrounds/dark0.png"));
    CHECK_FAILS(&c, spot_background_inputs_open(&c, &in, cfg), SPOT_INPUT, "picture.outside: row 0");
    spot_background_inputs_close(&in);
    assert_int_equal(symlink("../backgrounds/dark0.png", in_world("images/link.png")), 0);
    write_file("coco.json", check_text(coco, "link.png"));
    CHECK_FAILS(&c, spot_background_inputs_open(&c, &in, cfg), SPOT_INPUT, "picture.link_outside");
    spot_background_inputs_close(&in);
    cfg->data.follow_links = true;
    CHECK_OK(&c, spot_background_inputs_open(&c, &in, cfg));
    spot_background_inputs_close(&in);
    cfg->data.follow_links = false;
    write_file("coco.json", check_text(coco, "a/0.png"));
    CHECK_OK(&c, spot_background_inputs_open(&c, &in, cfg));
    spot_background_inputs_close(&in);
    CHECK_CONFIG_FREE(cfg);
}

/* A thread decodes what is needed next. A picture that cannot be read is named when it is needed, not before. */
TEST_IN_FOLDER(squares_are_decoded_ahead)
{
    enum { NEEDED = 5 };
    static const int picture[NEEDED] = { 3, 0, 3, 5, 1 }, back[NEEDED] = { 2, 6, 2, 0, 4 };
    spot_ctx c = check_ctx(2);
    spot_background_config *cfg = world_config(3);
    spot_background_inputs in;
    spot_squares_ahead a = { 0 };
    uint8_t square[3 * SIDE * SIDE];

    make_world(3, 8);
    write_file("backgrounds/bright1.png", "no picture");
    CHECK_OK(&c, spot_background_inputs_open(&c, &in, cfg));
    CHECK_OK(&c, spot_background_squares(&c, &in, 0, 6, 6));
    spot_square_cache *const cache[] = { &in.picture, &in.background };
    for (int broken = 0; broken < 2; broken++) {
        int wanted[NEEDED];
        memcpy(wanted, back, sizeof wanted);
        for (int i = 0; i < NEEDED; i++) wanted[i] = (wanted[i] + broken) % 8;
        spot_squares_ahead_start(&c, &a, cache, (const int *const[]){ picture, wanted }, (const int[]){ NEEDED, NEEDED });
        spot_squares_ahead_join(&a);
        assert_string_equal(spot_message(&c, SPOT_OK), spot_message(&(spot_ctx){ 0 }, SPOT_OK));
        for (int i = 0; i < NEEDED; i++) assert_true(in.picture.slot[picture[i]] >= 0);
        if (!broken) for (int i = 0; i < NEEDED; i++) assert_true(in.background.slot[wanted[i]] >= 0);
        else CHECK_FAILS(&c, spot_squares_need(&c, &in.background, wanted, NEEDED), SPOT_INPUT, "picture.format: bright1.png");
    }
    CHECK_OK(&c, spot_squares_need(&c, &in.background, &back[3], 1));
    memcpy(square, spot_square_rgb(&in.background, back[3]), sizeof square);
    paint_background(square, true, 0);
    assert_memory_equal(square, spot_square_rgb(&in.background, back[3]), sizeof square);
    spot_squares_ahead_join(&a);                       /* nothing is under way */
    spot_background_inputs_close(&in);
    CHECK_CONFIG_FREE(cfg);
}
