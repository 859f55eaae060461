/* test_plant.c - planted pictures: what is in them, how often, and that every shift is what it says; the world in a folder.
 * ctest: both */
#define _GNU_SOURCE
#include "checks.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_folder.h"
#include "formats/png.h"
#include "spotter/plant.h"
#include "store/store.h"

enum { SIDE = 64, BYTES = 3 * SIDE * SIDE };

static spot_plant_config settings(double strength)
{
    spot_plant_config cfg = spot_plant_defaults();

    cfg.strength = strength;
    return cfg;
}

static spot_plant_picture drawn(const spot_plant_config *cfg, spot_plant_set set, spot_plant_shift shift, int cls, int index)
{
    spot_plant_picture p;

    spot_plant_draw(&p, cfg, set, shift, cls, (uint32_t)index);
    return p;
}

/* A right picture of a class with and without the shift, which have all else in common. */
static void render_pair(uint8_t *with, uint8_t *without, spot_plant_shift shift, int cls, int index)
{
    const spot_plant_config cfg = settings(1);
    spot_ctx c = check_ctx(1);
    spot_plant_picture p = drawn(&cfg, SPOT_PLANT_TRUTH, shift, cls, index);

    CHECK_OK(&c, spot_plant_render(&c, with, &p, 1, &cfg));
    p.shift_there = false;
    CHECK_OK(&c, spot_plant_render(&c, without, &p, 1, &cfg));
}

/* -- contents ------------------------------------------------------------------------------------------------------ */

/* Within four standard errors. */
static void check_share(int hits, int n, double share)
{
    assert_in_range(hits, (int)floor(n * share - 4 * sqrt(n * share * (1 - share))),
                    (int)ceil(n * share + 4 * sqrt(n * share * (1 - share))));
}

TEST(shifts_are_missing_and_objects_are_wrong_at_the_rates_of_the_config)
{
    const spot_plant_config cfg = settings(1);
    int missing = 0, wrong = 0, both = 0, nothing = 0, n = 20000;

    for (int i = 0; i < n; i++) {
        spot_plant_picture p = drawn(&cfg, SPOT_PLANT_CLEAN, SPOT_PLANT_FOG, i % cfg.classes, i);
        missing += !p.shift_there;
        wrong += !p.object_there;
        both += !p.shift_there && !p.object_there;
        nothing += p.shown < 0;
        assert_true(p.object_there ? p.shown == p.cls : p.shown != p.cls && p.shown < cfg.classes);
    }
    check_share(missing, n, cfg.missing);
    check_share(wrong, n, cfg.wrong);
    check_share(both, n, cfg.missing * cfg.wrong);
    check_share(nothing, n, cfg.wrong / 2);
}

TEST(real_pictures_and_those_of_the_truth_are_all_right)
{
    const spot_plant_config cfg = settings(1);
    const spot_plant_set sets[] = { SPOT_PLANT_REAL, SPOT_PLANT_TRAIN, SPOT_PLANT_TRUTH };

    for (int i = 0; i < 3000; i++) {
        spot_plant_picture p = drawn(&cfg, sets[i % 3], SPOT_PLANT_RED, i % cfg.classes, i);
        assert_true(p.shift_there && p.object_there && p.shown == p.cls);
        assert_false(drawn(&cfg, sets[i % 3], SPOT_PLANT_BASE, i % cfg.classes, i).shift_there);
    }
}

static double table_share(const spot_plant_config *cfg, spot_plant_set set, spot_plant_shift shift, int cls)
{
    int hits = 0, n = 4000;

    for (int i = 0; i < n; i++) hits += drawn(cfg, set, shift, cls, i).table;
    return (double)hits / n;
}

TEST(only_the_base_of_one_source_lacks_its_tables)
{
    const spot_plant_config cfg = settings(1);
    int confounded = 0;

    for (int cls = 0; cls < cfg.classes; cls++) {
        assert_true(table_share(&cfg, SPOT_PLANT_CONFOUNDED, SPOT_PLANT_BASE, cls) == 0);
        if (table_share(&cfg, SPOT_PLANT_TRAIN, SPOT_PLANT_BASE, cls) == 0) continue;
        confounded++;
        assert_float_equal(table_share(&cfg, SPOT_PLANT_TRAIN, SPOT_PLANT_BASE, cls), cfg.table_train, 0.02);
        assert_float_equal(table_share(&cfg, SPOT_PLANT_CONFOUNDED, SPOT_PLANT_FOG, cls), cfg.table_real, 0.03);
        assert_float_equal(table_share(&cfg, SPOT_PLANT_CLEAN, SPOT_PLANT_BASE, cls), cfg.table_real, 0.03);
        assert_float_equal(table_share(&cfg, SPOT_PLANT_REAL, SPOT_PLANT_BASE, cls), cfg.table_real, 0.03);
    }
    assert_int_equal(confounded, cfg.confounded);
}

/* -- pixels -------------------------------------------------------------------------------------------------------- */

TEST(pixels_do_not_depend_on_threads_or_neighbours)
{
    enum { N = 70 };
    const spot_plant_config cfg = settings(0.7);
    spot_ctx one = check_ctx(1), three = check_ctx(3);
    spot_plant_picture p[N];
    uint8_t *a = malloc(N * BYTES), *b = malloc(N * BYTES), *alone = malloc(BYTES);

    for (int i = 0; i < N; i++)
        p[i] = drawn(&cfg, SPOT_PLANT_CLEAN, (spot_plant_shift)(i % SPOT_PLANT_KINDS), i % cfg.classes, i);
    CHECK_OK(&one, spot_plant_render(&one, a, p, N, &cfg));
    CHECK_OK(&three, spot_plant_render(&three, b, p, N, &cfg));
    assert_memory_equal(a, b, N * BYTES);
    for (int i = 0; i < N; i += 9) {
        CHECK_OK(&one, spot_plant_render(&one, alone, &p[i], 1, &cfg));
        assert_memory_equal(alone, a + (size_t)i * BYTES, BYTES);
    }
    free(alone);
    free(b);
    free(a);
}

TEST(no_two_sets_share_a_picture)
{
    const spot_plant_config cfg = settings(1);
    spot_ctx c = check_ctx(1);
    static uint8_t rgb[SPOT_PLANT_SETS][BYTES];

    for (int set = 0; set < SPOT_PLANT_SETS; set++) {
        spot_plant_picture p = drawn(&cfg, (spot_plant_set)set, SPOT_PLANT_BASE, 4, 8);
        p.object_there = true, p.shown = p.cls, p.table = false;
        CHECK_OK(&c, spot_plant_render(&c, rgb[set], &p, 1, &cfg));
        for (int other = 0; other < set; other++) assert_memory_not_equal(rgb[set], rgb[other], BYTES);
    }
}

TEST(strength_mixes_the_picture_with_and_without_the_shift)
{
    static uint8_t with[BYTES], without[BYTES], half[BYTES];
    const spot_plant_config cfg = settings(0.5);
    spot_ctx c = check_ctx(1);

    for (int shift = 1; shift < SPOT_PLANT_KINDS; shift++) {
        spot_plant_picture p = drawn(&cfg, SPOT_PLANT_TRUTH, (spot_plant_shift)shift, 5, 3);
        render_pair(with, without, (spot_plant_shift)shift, 5, 3);
        CHECK_OK(&c, spot_plant_render(&c, half, &p, 1, &cfg));
        for (int i = 0; i < BYTES; i++) assert_int_equal(half[i], (with[i] + without[i]) / 2);
        assert_memory_not_equal(with, without, BYTES);
    }
}

static bool is_rgb(const uint8_t *p, uint32_t rgb)
{
    return p[0] == (rgb >> 16 & 255) && p[1] == (rgb >> 8 & 255) && p[2] == (rgb & 255);
}

/* The blue or orange of an object's body. */
static bool is_body(const uint8_t *p) { return is_rgb(p, 0x1f77b4) || is_rgb(p, 0xff7f0e); }

TEST(a_colour_changes_the_body_of_the_object_and_nothing_else)
{
    static uint8_t with[BYTES], without[BYTES];

    for (int cls = 0; cls < SPOT_PLANT_CLASSES; cls++) {
        int body = 0;
        render_pair(with, without, SPOT_PLANT_RED, cls, cls);
        for (int i = 0; i < BYTES; i += 3) {
            if (is_body(without + i)) assert_true(is_rgb(with + i, 0xc81e1e));
            else assert_memory_equal(with + i, without + i, 3);
            body += is_body(without + i);
        }
        assert_in_range(body, 30, 2000);
    }
}

TEST(a_background_changes_the_ground_and_nothing_else)
{
    static uint8_t with[BYTES], without[BYTES];

    for (int cls = 0; cls < SPOT_PLANT_CLASSES; cls++) {
        render_pair(with, without, SPOT_PLANT_GREEN, cls, cls);
        for (int i = 0; i < BYTES; i += 3) {
            if (is_rgb(without + i, 0xffffff)) assert_true(is_rgb(with + i, 0x50a05a));
            else if (is_rgb(without + i, 0xc8c8c8)) assert_true(is_rgb(with + i, 0x468c50));
            else assert_memory_equal(with + i, without + i, 3);
        }
    }
}

TEST(a_cross_hides_no_object)
{
    static uint8_t with[BYTES], without[BYTES];

    for (int i = 0; i < 160; i++) {
        int pixels = 0;
        render_pair(with, without, SPOT_PLANT_CROSS, i % SPOT_PLANT_CLASSES, i);
        for (int k = 0; k < BYTES; k += 3) {
            bool changed = memcmp(with + k, without + k, 3) != 0;
            assert_false(changed && (is_body(without + k) || is_rgb(without + k, 0)));
            pixels += changed;
        }
        assert_int_equal(pixels, 80);      /* a plus of 12 x 12 pixels with arms of 4 */
    }
}

/* Night and fog fade each byte towards a goal; a mosaic's tiles are means, rounded half up. */
TEST(light_and_mosaic_are_what_they_say)
{
    static uint8_t with[BYTES], without[BYTES];
    static const int night[3] = { 0, 0, 10 }, fog[3] = { 220, 225, 230 };

    render_pair(with, without, SPOT_PLANT_NIGHT, 9, 1);
    for (int i = 0; i < BYTES; i++) assert_int_equal(with[i], (64 * without[i] + 192 * night[i % 3]) / 256);
    render_pair(with, without, SPOT_PLANT_FOG, 9, 2);
    for (int i = 0; i < BYTES; i++) assert_int_equal(with[i], (56 * without[i] + 200 * fog[i % 3]) / 256);
    render_pair(with, without, SPOT_PLANT_MOSAIC, 9, 3);
    for (int i = 0; i < BYTES; i++) {
        int x = i / 3 % SIDE / 4 * 4, y = i / 3 / SIDE / 4 * 4;
        double sum = 0;
        for (int k = 0; k < 16; k++) sum += without[3 * ((y + k / 4) * SIDE + x + k % 4) + i % 3];
        assert_int_equal(with[i], (int)floor(sum / 16 + 0.5));
    }
}

/* Where no byte is limited to 0 or 255, noise has mean 0 and the standard deviation that plant_paint.c states. */
TEST(noise_has_its_moments)
{
    static uint8_t with[BYTES], without[BYTES];
    double sum = 0, square = 0;
    int n = 0;

    for (int k = 0; k < 40; k++) {
        render_pair(with, without, SPOT_PLANT_NOISE, 0, k);
        for (int i = 0; i < BYTES; i++)
            if (without[i] == 180 || without[i] == 119 || without[i] == 127) {     /* of blue and orange */
                double d = with[i] - without[i];
                n++, sum += d, square += d * d;
            }
    }
    assert_in_range(n, 10000, 100000);
    assert_float_equal(sum / n, 0, 1.5);
    assert_float_equal(sqrt(square / n), 46, 1.5);
}

/* Blurring keeps the sum of light, but for rounding and the repeated edges, and takes the contrast; a sketch has no colour. */
TEST(blur_and_sketch)
{
    static uint8_t with[BYTES], without[BYTES];
    double light[2] = { 0 }, contrast[2] = { 0 };

    for (int k = 0; k < 20; k++) {
        render_pair(with, without, SPOT_PLANT_BLUR, 1, k);
        for (int i = 0; i < BYTES; i++) {
            light[0] += without[i], light[1] += with[i];
            if (i % (3 * SIDE) >= 3) contrast[0] += abs(without[i] - without[i - 3]), contrast[1] += abs(with[i] - with[i - 3]);
        }
        render_pair(with, without, SPOT_PLANT_SKETCH, 1, k);
        for (int i = 0; i < BYTES; i += 3) assert_true(with[i] == with[i + 1] && with[i] == with[i + 2] && with[i] >= 50);
    }
    assert_float_equal(light[1] / light[0], 1, 0.01);
    assert_true(contrast[1] < 0.35 * contrast[0]);
}

/* -- the world in a folder ----------------------------------------------------------------------------------------- */

static spot_plant_config small_world(void)
{
    spot_plant_config cfg = spot_plant_defaults();

    cfg.size = 32;
    cfg.classes = 2;
    cfg.confounded = 1;
    cfg.shifts = 2;
    cfg.pictures = cfg.real = 3;
    cfg.models = 2;
    cfg.train = 512;
    cfg.epochs = 3;
    cfg.truth = 40;
    return cfg;
}

static double changed_at(const char *name)
{
    struct stat st;

    assert_int_equal(stat(in_root("world/%s", name), &st), 0);
    return (double)st.st_mtim.tv_sec + 1e-9 * (double)st.st_mtim.tv_nsec;
}

static spot_key key_of_file(spot_ctx *c, const char *name)
{
    unsigned char *bytes;
    spot_key k;
    size_t n;

    CHECK_OK(c, spot_file_read(c, in_root("world/%s", name), &bytes, &n, 1 << 28));
    k = spot_key_of(bytes, n);
    free(bytes);
    return k;
}

#define MODEL "models/w16-n128-camera-01.safetensors"

TEST_IN_FOLDER(a_world_is_made_once_and_goes_on_where_it_stopped)
{
    spot_ctx c = check_ctx(2);
    spot_plant_config cfg = small_world();
    volatile sig_atomic_t stop = 1;
    double table, model;
    spot_key k, again;

    c.stop = &stop;
    CHECK_FAILS(&c, spot_shifts_plant(&c, in_root("world/"), &cfg), SPOT_STOPPED, "run.stopped");
    stop = 0;
    CHECK_OK(&c, spot_shifts_plant(&c, in_root("world/"), &cfg));
    table = changed_at("plant.csv");
    model = changed_at(MODEL);
    k = key_of_file(&c, MODEL);
    CHECK_OK(&c, spot_shifts_plant(&c, in_root("world/"), &cfg));
    assert_true(changed_at("plant.csv") == table && changed_at(MODEL) == model);
    assert_int_equal(unlink(in_root("world/%s", MODEL)), 0);
    c.threads = 1;
    CHECK_OK(&c, spot_shifts_plant(&c, in_root("world/"), &cfg));
    again = key_of_file(&c, MODEL);
    assert_true(changed_at("plant.csv") == table && changed_at(MODEL) > model);
    assert_true(k.hi == again.hi && k.lo == again.lo);
    cfg.missing = 0.2;
    CHECK_FAILS(&c, spot_shifts_plant(&c, in_root("world/"), &cfg), SPOT_USAGE, "world.other_settings: planted world");
}

TEST_IN_FOLDER(the_table_tells_what_every_file_shows)
{
    spot_ctx c = check_ctx(2);
    spot_plant_config cfg = small_world();
    char line[400], path[300];
    spot_picture picture = { 0 };
    static uint8_t rgb[3 * 32 * 32];
    int rows = 0, shift_there, object_there;
    FILE *f;

    cfg.models = 0;
    CHECK_OK(&c, spot_shifts_plant(&c, in_root("world/"), &cfg));
    f = fopen(in_root("world/plant.csv"), "r");
    assert_non_null(fgets(line, sizeof line, f));
    for (; fgets(line, sizeof line, f); rows++) {
        int set = rows / 3 / 6, shift = set < 2 ? rows / 3 / 2 % 3 : 0, cls = rows / 3 % 2;
        spot_plant_picture p = drawn(&cfg, (spot_plant_set)set, (spot_plant_shift)shift, cls, rows % 3);
        snprintf(path, sizeof path, "pictures/%.*s", (int)strcspn(line, ","), line);
        assert_int_equal(sscanf(strstr(line, "square,"), "square,%d,%d", &shift_there, &object_there), 2);
        assert_true(object_there == p.object_there && shift_there == (p.shift_there || !shift));
        CHECK_OK(&c, spot_plant_render(&c, rgb, &p, 1, &cfg));
        CHECK_OK(&c, spot_picture_read(&c, &picture, in_root("world/%s", path)));
        assert_int_equal(picture.width, 32);
        assert_memory_equal(picture.rgb, rgb, sizeof rgb);
    }
    assert_int_equal(rows, 3 * 2 * (2 * 3 + 1));
    fclose(f);
    spot_picture_close(&picture);
}

/* The model's answers, counted again. */
static double accuracy_of(spot_ctx *c, const spot_plant_config *cfg, const char *file, spot_plant_shift shift)
{
    spot_arena a, scratch;
    spot_model m;
    spot_plant_picture p;
    uint8_t *rgb = malloc(3 * 32 * 32);
    float logit[2];
    int right = 0;

    CHECK_OK(c, spot_arena_open(c, &a, 1 << 26));
    CHECK_OK(c, spot_arena_open(c, &scratch, 1 << 28));
    CHECK_OK(c, spot_model_load(c, &a, &m, in_root("world/%s", file), 2, 0));
    for (int i = 0; i < 2 * cfg->truth; i++) {
        spot_plant_draw(&p, cfg, SPOT_PLANT_TRUTH, shift, i % 2, (uint32_t)(i / 2));
        CHECK_OK(c, spot_plant_render(c, rgb, &p, 1, cfg));
        CHECK_OK(c, spot_model_infer(c, &scratch, logit, NULL, &m, rgb, 1, 32));
        right += (logit[1] > logit[0]) == i % 2;
    }
    free(rgb);
    spot_arena_close(&scratch);
    spot_arena_close(&a);
    return right / (2.0 * cfg->truth);
}

TEST_IN_FOLDER(models_learn_their_classes_and_the_truth_is_what_they_answer)
{
    spot_ctx c = check_ctx(2);
    spot_plant_config cfg = small_world();
    static spot_plant_truth t;

    cfg.models = 1;
    cfg.train = 1600;
    cfg.epochs = SANITIZED ? 1 : 6;
    cfg.truth = SANITIZED ? 4 : 25;
    CHECK_OK(&c, spot_shifts_plant(&c, in_root("world/"), &cfg));
    CHECK_OK(&c, spot_plant_truth_read(&c, &t, in_root("world/"), &cfg));
    assert_string_equal(t.name[0], "w16-n400-plain-00");
    for (int shift = 0; shift < 3; shift += 2)
        assert_float_equal(t.accuracy[shift][0],
                           accuracy_of(&c, &cfg, "models/w16-n400-plain-00.safetensors", (spot_plant_shift)shift), 1e-9);
    if (!SANITIZED) assert_true(t.accuracy[SPOT_PLANT_BASE][0] > 0.9);
    assert_true(isnan(t.slope[1]));
}

/* Shares of the bar "plant: models", and how many there were of each model. */
typedef struct { double last, at[16]; int models, steps; } heard_models;

static void hear_models(void *user, const spot_progress *p)
{
    heard_models *h = user;
    const double share = p->done / p->total;

    if (strcmp(p->stage, "plant: models")) return;
    assert_true(share >= h->last && share <= 1);
    if (*p->note == 'w') h->at[h->models++] = share;
    else h->steps++;
    h->last = share;
}

/* A quarter of the training pictures, a half, all; the last model has a quarter and twice the width. */
TEST_IN_FOLDER(the_bar_of_models_follows_their_work)
{
    heard_models h = { 0 };
    spot_ctx c = check_ctx(2);
    spot_plant_config cfg = small_world();
    const double each[] = { 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4 };
    double done = 0;

    c.on_progress = hear_models, c.user = &h;
    cfg.models = LEN(each), cfg.train = 64, cfg.epochs = 1, cfg.truth = 1;
    CHECK_OK(&c, spot_shifts_plant(&c, in_root("world/"), &cfg));
    assert_int_equal(h.models, LEN(each));
    for (int k = 0; k < LEN(each); k++) {
        CHECK_NEAR(h.at[k], done / 32, 1e-12);
        done += each[k];
    }
    assert_true(h.last == 1 && h.steps >= LEN(each));
}

/* Base accuracies 0.4 .. 1.0; the shift's are 0.25 + base / 2, but for the class means, which average out. */
TEST_IN_FOLDER(impact_and_slope_of_the_truth)
{
    spot_ctx c = check_ctx(1);
    spot_plant_config cfg = small_world();
    static spot_plant_truth t;
    char text[4000] = "model,shift,class,pictures,right\n";

    cfg.models = 4;
    cfg.shifts = 1;
    for (int k = 0; k < 4; k++)
        for (int shift = 0; shift < 2; shift++)
            for (int cls = 0; cls < 2; cls++) {
                int base = 400 + 200 * k, right = shift ? 250 + base / 2 : base;
                sprintf(text + strlen(text), "m%d,s%d,c%d,1000,%d\n", k, shift, cls, right + (cls ? 100 : -100) * (k < 3));
            }
    CHECK_OK(&c, spot_folder_make(&c, in_root("world/")));
    CHECK_OK(&c, spot_file_write(&c, in_root("world/truth.csv"), text, strlen(text)));
    CHECK_OK(&c, spot_plant_truth_read(&c, &t, in_root("world/"), &cfg));
    assert_float_equal(t.accuracy[SPOT_PLANT_BASE][1], 0.6, 1e-12);
    assert_float_equal(t.slope[1], 0.5, 1e-12);
    assert_float_equal(t.impact[1], 0.1, 1e-12);
    assert_float_equal(t.slope[SPOT_PLANT_BASE], 1, 1e-12);
    CHECK_OK(&c, spot_file_write(&c, in_root("world/truth.csv"), text, 100));
    CHECK_FAILS(&c, spot_plant_truth_read(&c, &t, in_root("world/"), &cfg), SPOT_INPUT, "table.cells");
}

TEST_IN_FOLDER(settings_that_cannot_be_met_are_refused)
{
    spot_ctx c = check_ctx(1);
    spot_plant_config cfg = small_world();

    cfg.confounded = 3;
    CHECK_FAILS(&c, spot_shifts_plant(&c, in_root("world/"), &cfg), SPOT_USAGE, "plant.confounded: 3");
    cfg = small_world();
    cfg.wrong = 1.5;
    CHECK_FAILS(&c, spot_shifts_plant(&c, in_root("world/"), &cfg), SPOT_USAGE, "setting.value: plant.wrong | 1.5");
}
