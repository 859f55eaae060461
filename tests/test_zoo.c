/* test_zoo.c - the planted zoo: what was planted is in the pictures, a world is made once and goes on where it stopped, and
 * what was planted is learned. Its materials are made here. ctest: both */
#define _GNU_SOURCE
#include "checks.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "background/suite/keywords.h"
#include "background/zoo/zoo_make.h"
#include "check_folder.h"
#include "formats/png.h"
#include "spotter/model.h"
#include "store/store.h"

enum { SIDE = 32, BYTES = 3 * SIDE * SIDE, STAMP = 60 };

/* -- materials ------------------------------------------------------------------------------------------------------ */

/* A disc or a square on its corner, in one colour; `see` 0: the whole is opaque. */
static void write_stamp(const char *folder, const char *name, int disc, const uint8_t colour[3], int see)
{
    static uint8_t rgba[STAMP][STAMP][4];
    char path[600];
    spot_ctx c = check_ctx(1);
    png_image image = { .version = PNG_IMAGE_VERSION, .width = STAMP, .height = STAMP, .format = PNG_FORMAT_RGBA };

    CHECK_OK(&c, spot_folder_make(&c, in_root("%s", folder)));
    for (int y = 0; y < STAMP; y++)
        for (int x = 0; x < STAMP; x++) {
            const double u = fabs(x - 29.5), v = fabs(y - 29.5);
            memcpy(rgba[y][x], colour, 3);
            rgba[y][x][3] = !see || (disc ? hypot(u, v) < 28 : u + v < 28) ? 255 : 0;
        }
    snprintf(path, sizeof path, "%s/%s", in_root("%s", folder), name);
    assert_true(png_image_write_to_file(&image, path, 0, rgba, 0, NULL));
}

static void write_scene(const char *folder, int number)
{
    enum { W = 80, H = 60 };
    static uint8_t rgb[H][W][3];
    spot_ctx c = check_ctx(1);
    unsigned char *png;
    char path[600];
    size_t n;

    CHECK_OK(&c, spot_folder_make(&c, in_root("%s", folder)));
    for (int i = 0; i < H * W * 3; i++) (&rgb[0][0][0])[i] = (uint8_t)(i * 7 * number + i / W);
    CHECK_OK(&c, spot_png_encode(&c, &png, &n, &rgb[0][0][0], W, H));
    snprintf(path, sizeof path, "%s/1.png", in_root("%s", folder));
    CHECK_OK(&c, spot_file_write(&c, path, png, n));
    free(png);
}

static spot_background_zoo tiny_world(void)
{
    static const uint8_t grey[3] = { 220, 200, 180 };       /* only shapes tell classes apart */
    spot_background_zoo cfg = { 0 };

    write_stamp("stamps/animals/mammals/bovines", "a.png", 1, grey, 1);
    write_stamp("stamps/animals/mammals/bovines", "opaque.png", 1, grey, 0);
    write_stamp("stamps/animals/birds", "b.png", 0, grey, 1);
    write_scene("scenes/FallenLeaf/images", 1);
    write_scene("scenes/sea_side/images", 2);
    spot_settings_defaults(spot_zoo_settings, &cfg);
    cfg.stamps = check_text("%s", in_root("stamps"));
    cfg.scenes = check_text("%s", in_root("scenes"));
    cfg.size = SIDE;
    cfg.classes = cfg.families = 2;
    cfg.targets = cfg.backgrounds = 3;
    cfg.models = 2;
    cfg.train = 512;
    cfg.epochs = 3;
    cfg.tested = 60;
    return cfg;
}

static void open_stock(spot_zoo_stock *s, const spot_background_zoo *cfg)
{
    spot_ctx c = check_ctx(1);

    CHECK_OK(&c, spot_zoo_stock_open(&c, s, cfg));
}

/* -- pictures ------------------------------------------------------------------------------------------------------- */

TEST_IN_FOLDER(materials_are_those_with_alpha)
{
    const spot_background_zoo cfg = tiny_world();
    spot_zoo_stock s;

    open_stock(&s, &cfg);
    assert_int_equal(s.stamps[0], 1);
    assert_int_equal(s.stamps[1], 1);
    assert_int_equal(s.scenes, 2);
    assert_string_equal(s.scene_name[0], "fallen leaf");
    assert_string_equal(s.scene_name[1], "sea side");
    assert_true(s.rgb[3 * (SIDE / 2 * SIDE + SIDE / 2)] == 220 && s.alpha[SIDE / 2 * SIDE + SIDE / 2] == 255 && !s.alpha[0]);
    spot_zoo_stock_close(&s);
}

/* An object hides nothing where its mask is 0, and all where it is 255; before black only the object is left. */
TEST_IN_FOLDER(an_object_is_where_its_mask_says)
{
    const spot_background_zoo cfg = tiny_world();
    static uint8_t ground[BYTES], rgb[BYTES], alone[BYTES], mask[BYTES / 3];
    spot_zoo_stock s;
    int empty = 0, full = 0;

    open_stock(&s, &cfg);
    const uint8_t *middle = s.rgb + BYTES * SPOT_ZOO_STAMPS + 3 * (SIDE / 2 * SIDE + SIDE / 2);
    for (uint32_t k = 0; k < 20; k++) {
        spot_rng r = spot_zoo_numbers(&s, SPOT_ZOO_TARGETS, 1, k);
        const spot_zoo_object o = spot_zoo_object_of(&s, 1, 0.5, 0, &r);
        spot_zoo_background(ground, NULL, &s, SPOT_ZOO_TARGETS, o.family, k);
        spot_zoo_compose(rgb, mask, &s, &o, ground);
        spot_zoo_compose(alone, NULL, &s, &o, NULL);
        for (int i = 0; i < BYTES; i++) {
            const int m = mask[i / 3];
            if (!m) assert_true(rgb[i] == ground[i] && !alone[i]);
            if (m == 255) {
                const double colour = fmin(255, o.light * middle[i % 3]);
                assert_true(abs(rgb[i] - alone[i]) <= 1 && fabs(rgb[i] - colour) <= 1);
            }
            empty += !m, full += m == 255;
        }
    }
    assert_true(empty > 20 * BYTES / 4 && full > 20 * BYTES / 20);
    spot_zoo_stock_close(&s);
}

/* Within four standard errors. */
static void check_share(int hits, int n, double share)
{
    assert_in_range(hits, (int)floor(n * share - 4 * sqrt(n * share * (1 - share))),
                    (int)ceil(n * share + 4 * sqrt(n * share * (1 - share))));
}

TEST_IN_FOLDER(the_family_behind_an_object_is_planted)
{
    enum { N = 20000 };
    const spot_background_zoo cfg = tiny_world();
    spot_zoo_stock s;

    open_stock(&s, &cfg);
    for (int step = 0; step <= 4; step++) {
        const double rho = step / 4.0;
        int own = 0, scenes = 0, black = 0;
        for (uint32_t i = 0; i < N; i++) {
            spot_rng r = spot_zoo_numbers(&s, SPOT_ZOO_TRAIN, step, i);
            const spot_zoo_object o = spot_zoo_object_of(&s, 1, rho, 0.3, &r);
            own += o.family == 1, scenes += o.family == cfg.families, black += o.black;
        }
        check_share(own, N, rho + (1 - rho) / (cfg.families + 1));
        check_share(scenes, N, (1 - rho) / (cfg.families + 1));
        check_share(black, N, 0.3);
    }
    spot_zoo_stock_close(&s);
}

TEST_IN_FOLDER(sets_share_no_background)
{
    const spot_background_zoo cfg = tiny_world();
    static uint8_t rgb[SPOT_ZOO_SETS][BYTES];
    spot_zoo_stock s;

    open_stock(&s, &cfg);
    for (int family = 0; family <= cfg.families; family++)
        for (int set = 0; set < SPOT_ZOO_SETS; set++) {
            spot_zoo_background(rgb[set], NULL, &s, (spot_zoo_set)set, family, 1);
            for (int other = 0; other < set; other++) assert_memory_not_equal(rgb[set], rgb[other], BYTES);
        }
    spot_zoo_stock_close(&s);
}

/* -- recipes -------------------------------------------------------------------------------------------------------- */

TEST(recipes_cover_rho_and_every_kind)
{
    const spot_background_zoo cfg = { .models = 20, .train = 600, .epochs = 6 };
    int kinds[SPOT_ZOO_KINDS] = { 0 };
    double before = -1;

    for (int k = 0; k < cfg.models; k++) {
        const spot_zoo_recipe r = spot_zoo_recipe_of(&cfg, k);
        assert_true(r.rho > before && r.rho <= 1);
        before = r.rho;
        kinds[r.kind]++;
        if (r.kind == SPOT_ZOO_FEW) assert_true(r.train == 100 && r.epochs == 36);
        if (r.kind == SPOT_ZOO_SHORT) assert_true(r.train == 600 && r.epochs == 2);
        assert_true((r.wrong > 0) == (r.kind == SPOT_ZOO_MISLABELLED) && (r.black > 0) == (r.kind == SPOT_ZOO_BLACK));
    }
    assert_true(before == 1);
    for (int k = 0; k < SPOT_ZOO_KINDS; k++) assert_int_equal(kinds[k], 4);
}

/* 135 models are the 135 recipes. The models of an option lie anywhere between rho = 0 and 1, and in nine models in a row each
 * pair of loss, optimizer and architecture occurs. */
TEST(paper_recipes_cover_rho_and_every_option)
{
    const spot_background_zoo cfg = { .models = 135, .train = 600, .epochs = 6, .recipes = SPOT_ZOO_RECIPES_PAPER };
    int seen[SPOT_ZOO_LOSSES][SPOT_ZOO_OPTIMIZERS][SPOT_ZOO_ARCHS][SPOT_ZOO_AUGMENTS] = { 0 }, models[4][5] = { 0 };
    double sum[4][5] = { 0 };

    for (int k = 0; k < cfg.models; k++) {
        const spot_zoo_recipe r = spot_zoo_recipe_of(&cfg, k);
        const int option[4] = { r.loss, r.optimizer, r.arch, r.augment };
        const bool foreground = r.augment == SPOT_ZOO_AUGMENT_FOREGROUND;
        seen[option[0]][option[1]][option[2]][option[3]]++;
        CHECK_NEAR(r.rho, foreground ? 0 : k / 134.0, 1e-12);
        assert_true(r.black == foreground && !r.wrong && r.train == 600 && r.epochs == 6 && !r.kind);
        for (int i = 0; i < 4; i++) models[i][option[i]]++, sum[i][option[i]] += k / 134.0;
    }
    for (int i = 0; i < (int)(sizeof seen / sizeof(int)); i++) assert_int_equal((&seen[0][0][0][0])[i], 1);
    for (int i = 0; i < 4; i++)
        for (int v = 0; v < (i < 3 ? 3 : 5); v++) {
            assert_int_equal(models[i][v], i < 3 ? 45 : 27);
            CHECK_NEAR(sum[i][v] / models[i][v], 0.5, 0.02);
        }
    for (int first = 0; first < cfg.models; first += 9) {
        int pairs[3][9] = { 0 };
        for (int k = first; k < first + 9; k++) {
            const spot_zoo_recipe r = spot_zoo_recipe_of(&cfg, k);
            pairs[0][3 * r.loss + r.optimizer]++, pairs[1][3 * r.loss + r.arch]++, pairs[2][3 * r.optimizer + r.arch]++;
        }
        for (int i = 0; i < 27; i++) assert_int_equal((&pairs[0][0])[i], 1);
    }
    assert_string_equal(spot_zoo_recipe_of(&cfg, 13).name, "triplet-rmsprop-scale-resnet34-rho010-13");
}

/* -- augmentation --------------------------------------------------------------------------------------------------- */

/* A turn by a right angle moves every pixel to the place of another. */
TEST_IN_FOLDER(a_change_moves_object_and_background)
{
    const spot_background_zoo cfg = tiny_world();
    const spot_zoo_change none = { .cosine = 1, .zoom = 1, .light = 1 },
                          right = { .sine = 1, .zoom = 1, .light = 1, .moves = true },
                          dark = { .cosine = 1, .zoom = 1, .light = 0.5f },
                          near = { .cosine = 1, .zoom = 1.25f, .light = 1, .moves = true };
    static uint8_t ground[BYTES], plain[BYTES], rgb[BYTES];
    spot_zoo_stock s;
    int lit[2] = { 0 };

    open_stock(&s, &cfg);
    spot_rng r = spot_zoo_numbers(&s, SPOT_ZOO_TARGETS, 1, 3);
    spot_zoo_object o = spot_zoo_object_of(&s, 1, 0.5, 0, &r);
    o.x = 0.45f, o.y = 0.55f, o.scale = 0.6f;
    spot_zoo_background(ground, NULL, &s, SPOT_ZOO_TARGETS, 1, 0);
    spot_zoo_compose(plain, NULL, &s, &o, ground);
    spot_zoo_compose_changed(rgb, &s, &o, ground, &none);
    assert_memory_equal(rgb, plain, BYTES);
    spot_zoo_compose_changed(rgb, &s, &o, ground, &right);
    for (int i = 0; i < BYTES; i++) {
        const int x = i / 3 % SIDE, y = i / 3 / SIDE;
        assert_in_range(rgb[3 * (x * SIDE + SIDE - 1 - y) + i % 3] + 1, plain[i], plain[i] + 2);
    }
    spot_zoo_compose_changed(rgb, &s, &o, ground, &dark);
    for (int i = 0; i < BYTES; i++) assert_int_equal(rgb[i], (plain[i] + 1) / 2);
    spot_zoo_compose_changed(plain, &s, &o, NULL, &none);
    spot_zoo_compose_changed(rgb, &s, &o, NULL, &near);
    for (int i = 0; i < BYTES; i++) lit[0] += plain[i] > 0, lit[1] += rgb[i] > 0;
    CHECK_NEAR((double)lit[1] / lit[0], 1.25 * 1.25, 0.08);
    spot_zoo_stock_close(&s);
}

/* Each augmentation changes its own thing, by as much as zoo_make.h says; the background stays a picture at its border. */
TEST_IN_FOLDER(changes_are_those_of_their_augmentation)
{
    static const spot_zoo_augment all[] = { SPOT_ZOO_AUGMENT_NONE, SPOT_ZOO_AUGMENT_ROTATE, SPOT_ZOO_AUGMENT_BRIGHTNESS,
                                            SPOT_ZOO_AUGMENT_SCALE, SPOT_ZOO_AUGMENT_FOREGROUND };
    const spot_background_zoo cfg = tiny_world();
    static uint8_t rgb[BYTES], ground[BYTES];
    spot_zoo_stock s;

    open_stock(&s, &cfg);
    memset(ground, 100, sizeof ground);
    for (int a = 0; a < (int)(sizeof all / sizeof *all); a++) {
        double most[3] = { 0 };
        for (uint32_t i = 0; i < 400; i++) {
            spot_rng r = spot_zoo_numbers(&s, SPOT_ZOO_TRAIN, 0, 1u << 20 | i);
            const spot_zoo_change c = spot_zoo_change_of(all[a], &r);
            const double by[3] = { fabs(atan2(c.sine, c.cosine)), fabs(c.light - 1), fabs(c.zoom - 1) };
            const spot_zoo_object away = { .scale = 0.01f, .x = 9, .y = 9, .cosine = 1, .light = 1 };
            for (int k = 0; k < 3; k++) most[k] = fmax(most[k], by[k]);
            spot_zoo_compose_changed(rgb, &s, &away, ground, &c);
            for (int k = 1; k < BYTES; k++) assert_int_equal(rgb[k], rgb[0]);
        }
        for (int k = 0; k < 3; k++) {
            static const double bound[3] = { 0.5235988, 0.5, 0.3 };
            if (a == k + 1) assert_true(most[k] > 0.97 * bound[k] && most[k] < 1.0001 * bound[k]);
            else            assert_true(most[k] == 0);
        }
    }
    spot_zoo_stock_close(&s);
}

/* -- the world in a folder ------------------------------------------------------------------------------------------ */

#define MODEL "models/plain-rho100-01.safetensors"

static double changed_at(const char *name)
{
    struct stat st;

    assert_int_equal(stat(in_root("%s", name), &st), 0);
    return (double)st.st_mtim.tv_sec + 1e-9 * (double)st.st_mtim.tv_nsec;
}

static spot_key key_of_file(spot_ctx *c, const char *world, const char *name)
{
    char path[100];
    unsigned char *bytes;
    spot_key k;
    size_t n;

    snprintf(path, sizeof path, "%s/%s", world, name);
    CHECK_OK(c, spot_file_read(c, in_root("%s", path), &bytes, &n, 1 << 28));
    k = spot_key_of(bytes, n);
    free(bytes);
    return k;
}

TEST_IN_FOLDER(a_world_goes_on_where_it_stopped_and_does_not_depend_on_threads)
{
    static const char *const file[] = { "truth.csv", "images.csv", "backgrounds.csv", MODEL, "images/bird/00002.png",
                                        "masks/bird/00002.png", "backgrounds/scenes/00001.png", "classes.txt" };
    spot_background_zoo cfg = tiny_world();
    spot_ctx one = check_ctx(1), two = check_ctx(2);
    volatile sig_atomic_t stop = 1;
    char path[600];

    cfg.train = 64, cfg.epochs = 1, cfg.tested = 10;
    CHECK_OK(&one, spot_zoo_make(&one, in_root("a"), &cfg));
    two.stop = &stop;
    CHECK_FAILS(&two, spot_zoo_make(&two, in_root("b"), &cfg), SPOT_STOPPED, "run.stopped");
    stop = 0;
    CHECK_OK(&two, spot_zoo_make(&two, in_root("b"), &cfg));
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        const spot_key a = key_of_file(&one, "a", file[i]), b = key_of_file(&one, "b", file[i]);
        assert_memory_equal(&a, &b, sizeof a);
    }

    const double model = changed_at("b/" MODEL), images = changed_at("b/images.csv");
    const spot_key before = key_of_file(&one, "b", "truth.csv");
    unlink(in_root("b/truth.csv"));
    unlink(in_root("b/models/plain-rho000-00.safetensors"));
    CHECK_OK(&two, spot_zoo_make(&two, in_root("b"), &cfg));
    assert_true(changed_at("b/" MODEL) == model && changed_at("b/images.csv") == images);
    const spot_key after = key_of_file(&one, "b", "truth.csv");
    assert_memory_equal(&before, &after, sizeof before);

    cfg.natural = 0.5;
    snprintf(path, sizeof path, "%s", in_root("a"));
    CHECK_FAILS(&one, spot_zoo_make(&one, path, &cfg), SPOT_USAGE, "world.other_settings: planted zoo");
}

TEST_IN_FOLDER(what_is_planted_is_learned)
{
    const spot_background_zoo cfg = tiny_world();
    spot_ctx c = check_ctx(1);
    spot_zoo_truth t[2];

    CHECK_OK(&c, spot_zoo_make(&c, in_root("world"), &cfg));
    CHECK_OK(&c, spot_zoo_truth_read(&c, t, in_root("world"), &cfg));
    assert_true(t[1].reliance > t[0].reliance + 0.2 && t[1].follows > t[0].follows + 0.2);
    assert_true(t[0].tested == 120 && t[1].recipe.rho == 1);
}

static int holds_text(const char *name, const char *part)
{
    spot_ctx c = check_ctx(1);
    unsigned char *bytes;
    size_t n;

    CHECK_OK(&c, spot_file_read(&c, in_root("%s", name), &bytes, &n, 1 << 20));
    const int found = memmem(bytes, n, part, strlen(part)) != NULL;
    free(bytes);
    return found;
}

static int arch_of_file(spot_ctx *c, const char *name)
{
    spot_arena a = spot_arena_counting();
    spot_model m;
    char path[600];

    snprintf(path, sizeof path, "%s/a/%s", root, name);
    CHECK_OK(c, spot_model_load(c, &a, &m, path, 0, 0));
    return m.arch;
}

/* A training that diverges as often as it is told to. */
typedef struct { int diverges, tries; double rate; } restless;

static spot_status train_restless(spot_ctx *c, void *user, double rate)
{
    restless *r = user;

    r->rate = rate;
    return r->tries++ < r->diverges ? spot_fail(c, SPOT_NUMERIC, "{training.diverged} at %g", rate) : SPOT_OK;
}

TEST(a_training_that_diverges_is_done_again_at_half_the_rate)
{
    spot_ctx c = check_ctx(1);
    restless r = { 0 };
    int halvings = 7;

    CHECK_OK(&c, spot_zoo_steady(&c, &halvings, 0.8, "m", train_restless, &r));
    assert_true(!halvings && r.tries == 1 && r.rate == 0.8);
    r = (restless){ .diverges = 2 };
    CHECK_OK(&c, spot_zoo_steady(&c, &halvings, 0.8, "m", train_restless, &r));
    assert_true(halvings == 2 && r.tries == 3 && r.rate == 0.2);
    r = (restless){ .diverges = 9 };
    CHECK_FAILS(&c, spot_zoo_steady(&c, &halvings, 0.8, "m", train_restless, &r), SPOT_NUMERIC, "training.diverged: 0.1");
    assert_true(r.tries == 4 && r.rate == 0.1);
}

/* Three models have all losses, optimizers and architectures. The settings of plain worlds are written as before there were
 * others. */
TEST_IN_FOLDER(a_world_of_the_papers_recipes)
{
    spot_background_zoo cfg = tiny_world();
    spot_ctx one = check_ctx(1), two = check_ctx(2);
    spot_zoo_truth t[3];
    char path[200];
    int archs = 0;

    cfg.train = 64, cfg.epochs = 1, cfg.tested = 10;
    CHECK_OK(&one, spot_zoo_make(&one, in_root("plain"), &cfg));
    assert_true(!holds_text("plain/zoo.yaml", "recipes") && !holds_text("plain/truth.csv", "optimizer"));
    cfg.recipes = SPOT_ZOO_RECIPES_PAPER, cfg.models = 3;
    snprintf(path, sizeof path, "%s", in_root("small"));
    CHECK_FAILS(&one, spot_zoo_make(&one, path, &cfg), SPOT_USAGE, "zoo.size: 32");
    cfg.size = 64;
    snprintf(path, sizeof path, "%s", in_root("plain"));
    CHECK_FAILS(&one, spot_zoo_make(&one, path, &cfg), SPOT_USAGE, "world.other_settings");
    CHECK_OK(&one, spot_zoo_make(&one, in_root("a"), &cfg));
    CHECK_OK(&two, spot_zoo_make(&two, in_root("b"), &cfg));
    CHECK_OK(&two, spot_zoo_truth_read(&two, t, in_root("b"), &cfg));
    assert_true(holds_text("a/zoo.yaml", "recipes: paper\n"));
    assert_true(holds_text("a/truth.csv", "model,kind,rho,train,epochs,wrong,black,loss,optimizer,augmentation,architecture,"
                           "rate,tested,"));
    assert_true(holds_text("a/truth.csv", "triplet-sgd-rotate-resnet34-rho050-01,plain,0.5,64,1,0,0,triplet,sgd,rotate,"
                           "resnet34,0.05,20,"));
    CHECK_OK(&one, spot_file_write(&one, in_root("a/models/triplet-sgd-rotate-resnet34-rho050-01.halved"), "1\n", 2));
    unlink(in_root("a/truth.csv"));
    CHECK_OK(&one, spot_zoo_make(&one, in_root("a"), &cfg));
    assert_true(holds_text("a/truth.csv", "rotate,resnet34,0.025,20,"));
    unlink(in_root("a/truth.csv"));
    unlink(in_root("a/models/triplet-sgd-rotate-resnet34-rho050-01.safetensors"));
    CHECK_OK(&one, spot_zoo_make(&one, in_root("a"), &cfg));
    assert_true(holds_text("a/truth.csv", "rotate,resnet34,0.05,20,"));       /* of the training that was done now */
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "models/%.47s.safetensors", t[k].recipe.name);
        const spot_key a = key_of_file(&one, "a", path), b = key_of_file(&one, "b", path);
        assert_memory_equal(&a, &b, sizeof a);
        assert_int_equal(arch_of_file(&one, path), t[k].recipe.arch);
        archs |= 1 << t[k].recipe.arch;
    }
    assert_int_equal(archs, 1 << SPOT_ARCH_RESNET18 | 1 << SPOT_ARCH_RESNET34 | 1 << SPOT_ARCH_ALEXNET);
}

/* A plan knows the architectures: a world of the paper's recipes takes other multiplications and other memory than a plain
 * one. */
TEST_IN_FOLDER(a_plan_knows_the_architectures)
{
    spot_background_config *cfg = calloc(1, sizeof *cfg);
    spot_background_cost plain, paper, together;
    size_t needs[3];
    spot_ctx one = check_ctx(1), two = check_ctx(2);

    spot_background_defaults(cfg);
    cfg->zoo = tiny_world();
    cfg->zoo.size = 64, cfg->zoo.models = 9;
    CHECK_OK(&one, spot_background_cost_of(&one, cfg, &plain));
    CHECK_OK(&one, spot_zoo_models_needs(&one, &needs[0], &cfg->zoo));
    cfg->zoo.recipes = SPOT_ZOO_RECIPES_PAPER;
    CHECK_OK(&one, spot_background_cost_of(&one, cfg, &paper));
    CHECK_OK(&one, spot_zoo_models_needs(&one, &needs[1], &cfg->zoo));
    CHECK_OK(&two, spot_zoo_models_needs(&two, &needs[2], &cfg->zoo));
    assert_true(needs[1] > needs[0] && needs[2] > needs[1]);       /* larger networks; two models at once */
    /* nine models have each architecture with each loss once, and FGSM counts five for three */
    const double r18 = spot_model_multiplications(SPOT_ARCH_RESNET18, 16, 2, 64), images = 512 * 3,
                 all = r18 + spot_model_multiplications(SPOT_ARCH_RESNET34, 16, 2, 64)
                     + spot_model_multiplications(SPOT_ARCH_ALEXNET, 16, 2, 64);
    assert_true(plain.trained == 9 * images && plain.multiplied == 9 * images * 3 * r18);
    assert_true(paper.trained == 9 * images && paper.multiplied == images * (3 + 3 + 5) * all);
    /* the whole process counts here, and a sanitizer's memory comes and goes */
    assert_true(SANITIZED || (paper.world > plain.world && paper.memory > plain.memory));
    CHECK_OK(&two, spot_background_cost_of(&two, cfg, &together));
    assert_true(SANITIZED || together.world > paper.world);        /* two models at once */
    CHECK_CONFIG_FREE(cfg);
}

TEST_IN_FOLDER(a_config_gets_the_world)
{
    spot_background_config *cfg = calloc(1, sizeof *cfg);
    char *const target[] = { "bird/00000.png", "cattle/00002.png" }, *const back[] = { "meadow/00001.png", "scenes/00000.png" };
    spot_keyword_list images, grounds;
    spot_keywords words = { 0 };
    spot_ctx c = check_ctx(2);
    char path[600];

    spot_background_defaults(cfg);
    cfg->zoo = tiny_world();
    cfg->zoo.train = 32, cfg->zoo.epochs = 1, cfg->zoo.tested = 2;
    for (int pass = 0; pass < 2; pass++) {
        CHECK_OK(&c, spot_background_planted(&c, cfg, root));
        assert_int_equal(cfg->models, 2);
        assert_true(cfg->model[0].reliance == 0 && cfg->model[1].reliance == 1 && cfg->data.size == SIDE);
    }
    snprintf(path, sizeof path, "%s/bird/00000.png", cfg->data.masks);
    assert_int_equal(access(path, R_OK) || access(cfg->model[1].weights, R_OK) || access(cfg->model[1].classes, R_OK), 0);
    images = (spot_keyword_list){ cfg->ontology.images, target, 2 };
    grounds = (spot_keyword_list){ cfg->ontology.backgrounds, back, 2 };
    CHECK_OK(&c, spot_keywords_read(&c, &words, &images, &grounds));
    assert_int_equal(words.others, 4 + 7);
    assert_true(words.words >= 8);
    spot_keywords_close(&words);
    CHECK_CONFIG_FREE(cfg);
}

TEST_IN_FOLDER(missing_materials_and_wrong_settings_are_one_sentence)
{
    spot_background_zoo cfg = tiny_world();
    spot_ctx c = check_ctx(1);
    char path[600];

    snprintf(path, sizeof path, "%s", in_root("world"));
    cfg.classes = 3;
    CHECK_FAILS(&c, spot_zoo_make(&c, path, &cfg), SPOT_USAGE, "zoo.families");
    cfg.families = 3;
    CHECK_FAILS(&c, spot_zoo_make(&c, path, &cfg), SPOT_INPUT, "stock.missing: fish");
    cfg = tiny_world();
    snprintf(path, sizeof path, "%s", in_root("other"));
    cfg.scenes = check_text("%s", in_root("nowhere"));
    CHECK_FAILS(&c, spot_zoo_make(&c, path, &cfg), SPOT_INPUT, "stock.missing");
    cfg.size = 33;
    CHECK_FAILS(&c, spot_zoo_make(&c, path, &cfg), SPOT_USAGE, "setting.value: zoo.size");
}

/* -- rank correlations ---------------------------------------------------------------------------------------------- */

/* 12 models with these numbers; spearmanr and 20,000 draws of scipy 1.10 and numpy say the rest. */
TEST_IN_FOLDER(ranks_are_scipys)
{
    enum { N = 12 };
    static const double gap[N] = { .05, .10, .02, .30, .30, .28, .45, .41, .60, .55, .70, .70 },
                        learned[N] = { .1, .0, .05, .2, .2, .4, .35, .5, .6, .5, .7, .9 };
    spot_background_config *cfg = calloc(1, sizeof *cfg);
    static spot_background_result unit[N];
    static spot_background_summary summary[N];
    spot_background_results r = { .cfg = cfg, .units = N, .unit = unit, .summary = summary };
    spot_zoo_rank rank[SPOT_ZOO_RANKS];
    spot_ctx c = check_ctx(1);
    char text[2000];
    int n, at = sprintf(text, "model,tested,same,random,alone,follows,reliance\n");

    cfg->zoo = (spot_background_zoo){ .seed = 1, .models = N, .train = 600, .epochs = 6 };
    for (int k = 0; k < N; k++) {                          /* in the study the models stand in another order */
        const spot_zoo_recipe recipe = spot_zoo_recipe_of(&cfg->zoo, k);
        const int u = (k + 5) % N;
        at += sprintf(text + at, "%s,100,0.9,0.5,0.5,0.1,%g\n", recipe.name, learned[k]);
        snprintf(unit[u].name, sizeof unit[u].name, "%s", recipe.name);
        summary[u].gap.value = gap[k];
        summary[u].turned.value = NAN;
        summary[u].steady.value = 0.5;
    }
    CHECK_OK(&c, spot_folder_make(&c, in_root("zoo")));
    CHECK_OK(&c, spot_file_write(&c, in_root("zoo/truth.csv"), text, (size_t)at));
    CHECK_OK(&c, spot_zoo_ranks(&c, rank, &n, &r, root));
    assert_int_equal(n, 5);                                /* neither `turned` nor matrices */
    assert_string_equal(rank[3].name, "BG-gap");
    CHECK_NEAR(rank[3].planted.value, 0.9403566658021552, 1e-12);
    CHECK_NEAR(rank[3].planted.low, 0.74637681, 0.03);
    CHECK_NEAR(rank[3].planted.high, 0.98918887, 0.01);
    CHECK_NEAR(rank[3].learned.value, 0.9154929577464787, 1e-12);
    assert_true(isnan(rank[1].planted.value) && isnan(rank[1].planted.low));       /* all equal */
    CHECK_NEAR(rank[4].learned.value, 1, 1e-12);
    CHECK_CONFIG_FREE(cfg);
}
