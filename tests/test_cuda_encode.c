/* test_cuda_encode.c - pictures through a network that stays open on CUDA, against the CPU: blocks that are not whole, calls
 * that are recorded, pictures that are decoded while the device works.
 * ctest: heavy */
#define _GNU_SOURCE   /* setenv */
#include "check_cuda.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "background/suite/suite_encoders.h"
#include "check_net.h"
#include "discover/describe/look_pictures.h"
#include "heard.h"
#include "spotter/claim.h"
#include "spotter/encoder.h"
#include "worlds/picture_batches.h"

enum { SIDE = 32, EACH = 3 * SIDE * SIDE, OUTPUTS = 3, DIM = 128, PICTURES = 7 };

static spot_encoder *open_net(spot_ctx *c, const char *path)
{
    spot_encoder_options o = spot_encoder_defaults();
    spot_encoder *e;

    o.resize = 40, o.crop = SIDE;
    CHECK_OK(c, spot_encoder_open(c, &e, path, &o));
    return e;
}

static void compare(const float *got, const float *want, int n)
{
    double off = 0, most = 0;

    for (int i = 0; i < n; i++) off = fmax(off, fabs((double)got[i] - want[i])), most = fmax(most, fabs((double)want[i]));
    CHECK_NEAR(off / most, 0, 1e-5);
}

/* Calls of a size and of fewer pictures use one opening, and a picture's row has the same bits alone, in company, and in a
 * recorded call. */
TEST_IN_FOLDER(calls_of_any_size_use_one_network)
{
    static const int size[] = { 5, 1, 3 };
    static uint8_t rgb[5 * EACH];
    float want[5 * DIM], logit[5 * OUTPUTS], feature[5 * DIM], first[5 * DIM], first_logit[5 * OUTPUTS];
    spot_ctx cpu = check_ctx(1), c;
    const char *net = put_net(OUTPUTS);
    spot_encoder *e = open_net(&cpu, net);

    for (int i = 0; i < 5 * EACH; i++) rgb[i] = (uint8_t)(256 * unit(50, (size_t)i));
    CHECK_OK(&cpu, spot_encode_pixels(&cpu, e, want, logit, rgb, 5));
    spot_encoder_close(&cpu, e);
    open_cuda(&c, 0);
    e = open_net(&c, net);
    for (int k = 0; k < LEN(size); k++) {
        note_takes(&c);
        CHECK_OK(&c, spot_encode_pixels(&c, e, feature, logit, rgb, size[k]));
        assert_true(k ? !noted : noted > 0);
        if (!k) memcpy(first, feature, sizeof first), memcpy(first_logit, logit, sizeof logit);
        assert_memory_equal(first, feature, (size_t)size[k] * DIM * sizeof *feature);
        assert_memory_equal(first_logit, logit, (size_t)size[k] * OUTPUTS * sizeof *logit);
    }
    spot_encoder_close(&c, e);
    spot_device_close(&c);
    compare(first, want, 5 * DIM);
}

typedef struct { float feature[PICTURES * DIM]; uint8_t unreadable[PICTURES]; int dim, skipped; char why[600]; } encoded;

static void encode(spot_ctx *c, encoded *to, const char *net, char *const *path)
{
    spot_encoder *e = open_net(c, net);
    spot_encoder_pictures p = { .path = path, .n = PICTURES, .feature = to->feature, .unreadable = to->unreadable,
                                .skipped = &to->skipped };

    to->skipped = 0, to->dim = spot_encoder_about(e)->dim;
    CHECK_OK(c, spot_encode_pictures(c, e, &p));
    p.unreadable = NULL;
    assert_int_equal(spot_encode_pictures(c, e, &p), SPOT_INPUT);
    snprintf(to->why, sizeof to->why, "%s", spot_message(c, SPOT_INPUT));
    spot_forget(c);
    p.unreadable = to->unreadable;
    CHECK_OK(c, spot_encode_pictures(c, e, &p));
    spot_encoder_close(c, e);
}

static void compare_encoder(const char *model, char *const *path)
{
    static encoded want, got;
    spot_ctx cpu = check_ctx(2), c;

    encode(&cpu, &want, model, path);
    open_cuda(&c, 0);
    encode(&c, &got, model, path);
    spot_device_close(&c);
    assert_memory_equal(got.unreadable, want.unreadable, sizeof got.unreadable);
    assert_int_equal(got.skipped, want.skipped);
    assert_string_equal(got.why, want.why);
    compare(got.feature, want.feature, PICTURES * got.dim);
}

/* Pictures that cannot be read are left out, or named, as on the CPU. */
TEST_IN_FOLDER(unreadable_pictures_are_those_of_the_cpu)
{
    char *path[PICTURES];

    for (int i = 0; i < PICTURES; i++) {
        path[i] = (char *)(uintptr_t)in_root("%d.png", i);
        if (i % 4 == 3) put_bytes(path[i], "no picture", 10);
        else put_picture(path[i], i);
    }
    compare_encoder(put_net(OUTPUTS), path);
    compare_encoder(put_model(), path);
}

/* -- decoding ahead ----------------------------------------------------------------------------------------------- */

enum { BATCH = 3 };
typedef struct { int watch, seen, batches; } watcher;

/* Whether the watched file was read, within ten seconds. */
static bool was_read(const watcher *w)
{
    struct pollfd p = { .fd = w->watch, .events = POLLIN };

    return poll(&p, 1, 10000) == 1;
}

static spot_status take_watched(spot_ctx *c, void *user, const spot_picture_batch *b)
{
    watcher *w = user;

    (void)c;
    for (int i = 0; i < b->n; i++) assert_int_equal(b->picture[i], w->seen++);
    if (!w->batches++) assert_true(was_read(w));
    return SPOT_OK;
}

/* The last picture of the second batch is read before the first batch is done with. */
TEST_IN_FOLDER(the_next_batch_is_decoded_while_the_device_works)
{
    char *path[PICTURES];
    watcher w = { .watch = inotify_init() };
    spot_ctx c;

    assert_true(w.watch >= 0);
    for (int i = 0; i < PICTURES; i++) put_picture(path[i] = (char *)(uintptr_t)in_root("%d.png", i), i);
    assert_true(inotify_add_watch(w.watch, path[2 * BATCH - 1], IN_CLOSE_NOWRITE) >= 0);
    open_cuda(&c, 0);
    CHECK_OK(&c, spot_picture_batches_run(&c, &(spot_picture_batches){ .path = path, .n = PICTURES, .batch = BATCH,
             .resize = 40, .crop = SIDE, .filter = SPOT_BILINEAR, .take = take_watched, .user = &w }));
    assert_int_equal(w.seen, PICTURES);
    assert_int_equal(w.batches, 3);
    spot_device_close(&c);
    close(w.watch);
}

/* -- cores that idle ---------------------------------------------------------------------------------------------- */

static spot_ctx hearing_device(void)
{
    spot_ctx c;

    open_cuda(&c, 0);
    c.on_log = hear, heard[0] = 0;
    return c;
}

static void expect_idle(spot_ctx *c, const char *words, bool said_it)
{
    if ((strstr(heard, words) != NULL) != said_it) fail_msg("\"%s\" is %s in: %s", words, said_it ? "not" : "there", heard);
    spot_device_close(c);
}

/* discover --model */
TEST_IN_FOLDER(a_network_of_discover_says_that_cores_idle)
{
    spot_subject_files files = { .images = in_root("p"), .model = put_net(2), .resize = 40, .crop = SIDE };
    spot_ctx c = hearing_device();
    spot_subject s = { 0 };

    put_picture(put_text(in_root("p/no/0.png"), ""), 0);
    put_picture(put_text(in_root("p/yes/1.png"), ""), 1);
    CHECK_OK(&c, spot_subject_look(&c, &s, &files));
    spot_subject_close(&s);
    expect_idle(&c, "networks of --model compute in fp32", true);
}

/* gather --model; the measure of a caller's own function has no such cores. */
static spot_status answer(spot_ctx *c, void *user, const spot_prediction *p)
{
    (void)c, (void)user;
    for (int i = 0; i < p->n * OUTPUTS; i++) p->logit[i] = (float)i;
    return SPOT_OK;
}

TEST_IN_FOLDER(a_network_of_gather_says_that_cores_idle)
{
    const spot_predictor_options kind[] = {
        { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = put_net(OUTPUTS), .side = SIDE },
        { .kind = SPOT_PREDICTOR_FUNCTION, .function = answer, .outputs = OUTPUTS, .side = SIDE },
    };
    char name[] = "0.png";
    spot_new_picture row = { .picture = name, .wrong = -1 };
    spot_new_pictures p = { 1, &row };

    put_picture(in_root("0.png"), 0);
    for (int k = 0; k < LEN(kind); k++) {
        const spot_measure_options o = { .model = &kind[k], .name = "net", .folder = root, .label = 1 };
        spot_ctx c = hearing_device();
        CHECK_OK(&c, spot_measure(&c, &p, &o));
        expect_idle(&c, "networks of --model compute in fp32", k == 0);
    }
}

/* background: an encoder of distances */
TEST_IN_FOLDER(an_encoder_of_backgrounds_says_that_cores_idle)
{
    for (int k = 0; k < 2; k++) {
        spot_background_encoder from = { "net", k ? put_model() : put_net(OUTPUTS), "", 1 };
        spot_background_config cfg = { .encoders = 1, .encoder = &from, .data.size = SIDE };
        spot_ctx c = hearing_device();
        spot_suite_encoders e;
        CHECK_OK(&c, spot_suite_encoders_open(&c, &e, &cfg));
        spot_suite_encoders_close(&c, &e);
        expect_idle(&c, k ? "CLIP and vision transformers as encoders of this study compute in fp32"
                          : "a ResNet and AlexNet as an encoder compute in fp32", true);
    }
}

int main(void) { return run_cuda_tests(); }
