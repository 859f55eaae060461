/* test_calls_pictures.c - what pictures cost on their way through `embed` and `shifts`: calls of the CUDA runtime, and bytes
 * between host and device, against calls_*_budget.txt.
 * ctest: heavy */
#define _GNU_SOURCE   /* setenv */
#include "call_budget.h"
#include "check_net.h"
#include "shifts/shifts_config.h"
#include "spotter/encoder.h"

enum { SIDE = 32, SQUARE = 3 * SIDE * SIDE, OUTPUTS = 3, DIM = 128, N = 7, CALLS = 3, EACH = 5 };

/* Embeds N pictures of CALLS calls. */
static void embed(spot_ctx *c, const char *model)
{
    float feature[N * DIM], logit[N * OUTPUTS];
    spot_encoder_options o = spot_encoder_defaults();
    spot_encoder *e;
    char *path[N];

    for (int i = 0; i < N; i++) put_picture(path[i] = (char *)(uintptr_t)in_root("%d.png", i), i);
    o.resize = 40, o.crop = SIDE;
    calls_of(c)->reset();
    CHECK_OK(c, spot_encoder_open(c, &e, model, &o));
    for (int k = 0; k < CALLS; k++)
        CHECK_OK(c, spot_encode_pictures(c, e, &(spot_encoder_pictures){ .path = path, .n = N, .feature = feature,
                                         .logit = spot_encoder_about(e)->outputs ? logit : NULL }));
    spot_encoder_close(c, e);
}

/* A network goes in once, by one copy. A picture is its bytes in and its row out; a call is one recording. */
TEST_IN_FOLDER(pictures_through_a_resnet)
{
    const char *net = put_net(OUTPUTS);
    const spot_emulator_calls *calls;
    spot_ctx c;

    open_cuda(&c, 0);
    calls = calls_of(&c);
    embed(&c, net);
    assert_int_equal(calls->count("encode", "bytes_in"), CALLS * N * SQUARE);
    assert_int_equal(calls->count("encode", "copies_in"), CALLS);
    assert_int_equal(calls->count("encode", "bytes_out"), CALLS * N * (DIM + OUTPUTS) * (long long)sizeof(float));
    assert_int_equal(calls->count("encode", "takes"), 0);
    assert_int_equal(calls->count("encode", "recordings"), 1);
    assert_int_equal(calls->count("encode", "replays"), CALLS - 1);
    assert_int_equal(calls->count("encode/open-network", "copies_in"), 2);
    stays_within(&c, "emulator/calls_embed_budget.txt");
    spot_device_close(&c);
}

TEST_IN_FOLDER(pictures_through_clip)
{
    const long long squares = CALLS * N * 3 * CLIP_SIDE * CLIP_SIDE;
    const char *model = put_model();
    const spot_emulator_calls *calls;
    spot_ctx c;

    open_cuda(&c, 0);
    calls = calls_of(&c);
    embed(&c, model);
    assert_in_range(calls->count("encode", "bytes_in"), squares, squares + CALLS * 64);        /* and the constants of pixels */
    assert_int_equal(calls->count("encode", "bytes_out"), CALLS * N * CLIP_DIM * (long long)sizeof(float));
    assert_int_equal(calls->count("encode", "takes"), 0);
    stays_within(&c, "emulator/calls_clip_budget.txt");
    spot_device_close(&c);
}

/* Two models of one shape look at two folders: each of them goes in once, and each picture once for each. */
TEST_IN_FOLDER(pictures_of_shifts)
{
    static const char *const folders[] = { "base/ape", "base/bee", "fog/ape", "fog/bee" };
    const char *net = put_net(OUTPUTS);
    spot_shifts_config *cfg = malloc(sizeof *cfg);
    const spot_shifts_options options = { .place = { .out = in_root("run"), .shards = 1 } };
    const spot_emulator_calls *calls;
    spot_run_report report;
    char text[1200];
    spot_ctx c;

    mkdir(in_root("base"), 0777), mkdir(in_root("fog"), 0777);
    for (int i = 0; i < 4 * EACH; i++) {
        if (i % EACH == 0) mkdir(in_root("%s", folders[i / EACH]), 0777);
        put_picture(in_root("%s/%d.png", folders[i / EACH], i), i);
    }
    put_text(in_root("words.txt"), "bee\nwasp\nape\n");
    snprintf(text, sizeof text, "data: {root: %s, real: \"\"}\nshifts: [{name: fog}]\nevaluation: {draws: 10}\n"
             "models:\n  - {name: net, weights: %s, classes: %s, resize: 40, crop: 32}\n"
             "  - {name: again, weights: %s, classes: %s, resize: 50, crop: 32}\n", root, net, in_root("words.txt"), net,
             in_root("words.txt"));
    open_cuda(&c, 0);
    calls = calls_of(&c);
    CHECK_OK(&c, spot_shifts_parse(&c, cfg, text, strlen(text), "a.yaml"));
    calls->reset();
    CHECK_OK(&c, spot_shifts_run(&c, cfg, &options, &report));
    assert_true(report.planned == 2 && report.done == 2);
    assert_int_equal(calls->count("encode", "bytes_in"), 2 * 4 * EACH * SQUARE);
    assert_int_equal(calls->count("encode", "bytes_out"), 2 * 4 * EACH * (DIM + OUTPUTS) * (long long)sizeof(float));
    assert_int_equal(calls->count("encode/open-network", "copies_in"), 2 * 2);
    stays_within(&c, "emulator/calls_shifts_budget.txt");
    CHECK_CONFIG_FREE(cfg);
    spot_device_close(&c);
}

int main(void) { return run_cuda_tests(); }
