/* test_encoded_sweep.c - sweeps whose methods look at the features of a CLIP (representation: clip). (ctest: heavy) */
#define _GNU_SOURCE
#include "check_clip.h"
#include "check_sweep.h"

#include "core/ops.h"
#include "formats/picture.h"
#include "models/encoder_look.h"
#include "spotter/config.h"
#include "spotter/sweep.h"
#include "sweep/encoder_view.h"

/* Two ECs, and two methods that look at the features of the CLIP in root/clip. */
static spot_config *clip_config(spot_ctx *c)
{
    spot_config *cfg = config(c);

    cfg->encoder.weights = check_text("%s", put_model());
    cfg->encoder.shape = SPOT_ENCODER_OTHER;
    cfg->model.base.images = 0;
    cfg->ecs = 2;
    cfg->bdms = 3;
    cfg->bdm[1] = spot_bdm_defaults(SPOT_DOMINO);
    cfg->bdm[1].embed.dim = 4;
    cfg->bdm[1].domino.components = 5;
    cfg->bdm[1].representation = SPOT_BY_CLIP;
    cfg->bdm[2] = cfg->bdm[0];
    cfg->bdm[2].representation = SPOT_BY_CLIP;
    return cfg;
}

typedef struct { spot_arena a; spot_view view; spot_truth truth; } seen;

static spot_status see(spot_ctx *c, seen *s, const spot_config *cfg, const char *name, int index, spot_split split, int look)
{
    char dir[128];
    size_t bytes;
    spot_ec ec;

    snprintf(dir, sizeof dir, "%s/%s", root, name);
    CHECK_OK(c, spot_ec_draw(c, &ec, &cfg->scene, cfg->seed, (uint32_t)index));
    CHECK_OK(c, spot_sweep_view_needs(c, &bytes, cfg, &cfg->scene, spot_ec_positives(NULL, &ec, split), look));
    CHECK_OK(c, spot_arena_open(c, &s->a, bytes));
    return spot_sweep_view(c, &s->a, dir, cfg, &ec, split, look, &s->view, &s->truth);
}

/* The same features picture by picture: drawn, scaled as a file's picture, and encoded in one call. */
static float *by_hand(spot_ctx *c, const spot_config *cfg, int index, spot_split split, const spot_view *v)
{
    const size_t drawn = 3 * (size_t)cfg->scene.size * cfg->scene.size, square = 3 * CLIP_SIDE * CLIP_SIDE;
    float *out = malloc((size_t)v->n * CLIP_DIM * sizeof *out);
    uint8_t *rgb = malloc((size_t)v->n * square), *one = malloc(drawn);
    spot_picture p = { .width = cfg->scene.size, .height = cfg->scene.size, .rgb = one };
    spot_encoder *e;
    spot_image image;
    spot_ec ec;

    CHECK_OK(c, spot_ec_draw(c, &ec, &cfg->scene, cfg->seed, (uint32_t)index));
    CHECK_OK(c, spot_encoder_open_config(c, &e, &cfg->encoder));
    for (int i = 0; i < v->n; i++) {
        CHECK_OK(c, spot_image_picture(c, &image, one, &ec, split, (uint32_t)v->image[i]));
        CHECK_OK(c, spot_picture_fit_by(c, rgb + (size_t)i * square, &p, CLIP_SIDE, CLIP_SIDE, SPOT_BICUBIC));
    }
    CHECK_OK(c, spot_encode_pixels(c, e, out, NULL, rgb, v->n));
    spot_encoder_close(c, e);
    free(p.taps.at), free(rgb), free(one);
    return out;
}

static void check_features(spot_ctx *c, const spot_config *cfg, const char *name, int index, spot_split split)
{
    seen own, clip;
    float *want;

    CHECK_OK(c, see(c, &own, cfg, name, index, split, SPOT_BY_MODEL));
    CHECK_OK(c, see(c, &clip, cfg, name, index, split, SPOT_BY_CLIP));
    assert_true(clip.view.n == own.view.n && clip.view.d == CLIP_DIM && own.view.d == 128 && !clip.view.head);
    assert_memory_equal(clip.view.confidence, own.view.confidence, (size_t)own.view.n * sizeof(float));
    assert_memory_equal(clip.truth.mask, own.truth.mask, (size_t)own.view.n * sizeof *own.truth.mask);
    want = by_hand(c, cfg, index, split, &own.view);
    assert_memory_equal(clip.view.feature, want, (size_t)own.view.n * CLIP_DIM * sizeof(float));
    for (int i = 1; i < 4; i++) assert_memory_not_equal(want, want + i * CLIP_DIM, CLIP_DIM * sizeof(float));
    free(want);
    spot_arena_close(&own.a), spot_arena_close(&clip.a);
}

/* Writes the encoder's features as files, and looks at these. */
static void look_at_files(spot_ctx *c, spot_config *cfg, const char *name)
{
    mkdir(in_root("embeddings"), 0777);
    for (int i = 0; i < cfg->ecs; i++) {
        seen clip;
        CHECK_OK(c, see(c, &clip, cfg, name, i, SPOT_TEST, SPOT_BY_CLIP));
        spot_tensor t = { .name = "embedding", .type = SPOT_F32, .rank = 2, .dim = { clip.view.n, CLIP_DIM },
                          .data = clip.view.feature, .bytes = (size_t)clip.view.n * CLIP_DIM * sizeof(float) };
        CHECK_OK(c, spot_tensors_save(c, in_root("embeddings/ec-%06d.safetensors", i), &t, 1));
        spot_arena_close(&clip.a);
    }
    for (int b = 1; b < cfg->bdms; b++) {
        cfg->bdm[b].representation = SPOT_BY_FILE;
        cfg->bdm[b].embeddings = check_text("%s/embeddings", root);
    }
}

static spot_segment segment_of(spot_ctx *c, const char *name, int ec)
{
    spot_segment s = { 0 };
    spot_segment_state state;
    char why[1300];

    CHECK_OK(c, spot_segment_read(c, in_root("%s", name), ec, &s, &state, why, sizeof why));
    assert_int_equal(state, SPOT_SEGMENT_WHOLE);
    return s;
}

TEST_WITH(methods_look_at_the_encoders_features, set_up, tear_down)
{
    spot_ctx c = context(2), alone = context(1);
    spot_config *cfg = clip_config(&c);
    spot_sweep_report r;

    CHECK_OK(&c, sweep(&c, cfg, "a", 0, 1, &r));
    assert_true(r.done == 2 && !r.failed);
    shell("test $(find %s -name '*.clip' | wc -l) = 2", "a");                /* made once, for both methods */
    for (int i = 0; i < 2; i++) check_features(&c, cfg, "a", i, SPOT_TEST);
    check_features(&c, cfg, "a", 0, SPOT_VAL);
    CHECK_OK(&alone, sweep(&alone, cfg, "b", 0, 1, &r));
    check_same_segments(&c, "a", "b", 2);
    shell("cd %s/cache && for f in */*.clip */*.found; do cmp $f ../../b/cache/$f || exit 1; done", "a");
    CHECK_OK(&c, sweep_with(&c, cfg, "wave", (spot_sweep_options){ .place.shards = 1, .wave = 2, .at_once = 2 }, &r));
    check_same_segments(&c, "a", "wave", 2);

    look_at_files(&c, cfg, "a");                                             /* the methods find the same in the same numbers */
    CHECK_OK(&c, sweep(&c, cfg, "file", 0, 1, &r));
    for (int i = 0; i < 2; i++) {
        spot_segment x = segment_of(&c, "a", i), y = segment_of(&c, "file", i);
        for (int b = 1; b < 3; b++) {
            assert_memory_equal(x.method[b].order, y.method[b].order, sizeof x.method[b].order);
            assert_memory_equal(&x.method[b].score, &y.method[b].score, sizeof x.method[b].score);
            assert_int_equal(strncmp(x.method[b].embedding, "clip-", 5), 0);
        }
        spot_segment_close(&x), spot_segment_close(&y);
    }
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c), spot_ctx_close(&alone);
}

TEST_WITH(an_encoded_sweep_resumes_and_keeps_what_is_asked, set_up, tear_down)
{
    spot_ctx c = context(2);
    spot_config *cfg = clip_config(&c);
    spot_sweep_report r;
    spot_segment x, y;

    cfg->ecs = 1;
    CHECK_OK(&c, sweep(&c, cfg, "a", 0, 1, &r));
    shell("cp -r %s %1$s/../b && cd %1$s/../b && rm -r segments/*", "a");
    CHECK_OK(&c, sweep(&c, cfg, "b", 0, 1, &r));
    check_same_segments(&c, "a", "b", 1);
    shell("cd %s && rm -r segments/* && find . -name '*.clip' -delete", "b");
    CHECK_OK(&c, sweep(&c, cfg, "b", 0, 1, &r));
    check_same_segments(&c, "a", "b", 1);
    shell("cd %s && rm -r segments/* && for f in cache/*/*.clip; do echo damaged >$f; done", "b");
    CHECK_OK(&c, sweep(&c, cfg, "b", 0, 1, &r));
    check_same_segments(&c, "a", "b", 1);
    shell("find %s -name '*.clip' -delete", "b");                            /* a view computes what the cache has not */
    check_features(&c, cfg, "b", 0, SPOT_TEST);
    CHECK_OK(&c, sweep_with(&c, cfg, "a", (spot_sweep_options){ .place.shards = 1, .keep = SPOT_KEEP_VIEWS }, &r));
    shell("test $(find %s -name '*.clip' | wc -l) = 1", "a");
    CHECK_OK(&c, sweep_with(&c, cfg, "a", (spot_sweep_options){ .place.shards = 1, .keep = SPOT_KEEP_RESULTS }, &r));
    assert_true(r.already == 1);
    shell("test -z \"$(find %s/cache -type f ! -name '*.base')\"", "a");

    put_clip(cfg->encoder.weights, 3, 8);                                    /* other weights in the same place are noticed */
    CHECK_OK(&c, sweep(&c, cfg, "b", 0, 1, &r));
    assert_true(r.done == 1 && !r.already);
    x = segment_of(&c, "a", 0), y = segment_of(&c, "b", 0);
    assert_memory_equal(&x.method[0].score, &y.method[0].score, sizeof x.method[0].score);
    assert_memory_not_equal(x.method[1].order, y.method[1].order, sizeof x.method[1].order);
    assert_string_not_equal(x.method[1].embedding, y.method[1].embedding);
    shell("test $(find %s -name '*.clip' | wc -l) = 1 && test $(find %1$s -name '*.view' | wc -l) = 1", "b");
    spot_segment_close(&x), spot_segment_close(&y);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

TEST_WITH(an_encoder_that_is_none_fails_before_anything_starts, set_up, tear_down)
{
    spot_ctx c = context(1);
    spot_config *cfg = clip_config(&c);
    spot_sweep_options all = { .place.shards = 1 };
    spot_sweep_cost cost;
    spot_sweep_report r;
    seen own;

    cfg->encoder.shape = SPOT_ENCODER_VIT_B_32;
    CHECK_FAILS(&c, sweep(&c, cfg, "a", 0, 1, &r), SPOT_INPUT, "encoder.shape: 4 | 16 | 8 | other");
    cfg->encoder.shape = SPOT_ENCODER_OTHER;
    put_clip(cfg->encoder.weights, 2, 7);
    CHECK_FAILS(&c, sweep(&c, cfg, "a", 0, 1, &r), SPOT_INPUT, "encoder.no_picture_tower");
    put_text(cfg->encoder.weights, "something else");
    CHECK_FAILS(&c, sweep(&c, cfg, "a", 0, 1, &r), SPOT_INPUT, "safetensors.header_length: clip/model.safetensors");
    unlink(cfg->encoder.weights);
    CHECK_FAILS(&c, sweep(&c, cfg, "a", 0, 1, &r), SPOT_IO, "file.unopened: clip/model.safetensors");
    CHECK_FAILS(&c, spot_sweep_cost_of(&c, cfg, &all, &cost, false), SPOT_IO, "file.unopened: clip/model.safetensors");
    shell("test ! -e %s", "a");
    put_model();
    cfg->ecs = 1;
    for (int b = 1; b < 3; b++) cfg->bdm[b].representation = SPOT_BY_MODEL;
    cfg->bdm[2].name = "again";
    CHECK_OK(&c, sweep(&c, cfg, "plain", 0, 1, &r));
    CHECK_FAILS(&c, see(&c, &own, cfg, "plain", 0, SPOT_TEST, SPOT_BY_CLIP), SPOT_INPUT, "view.no_encoder");
    spot_arena_close(&own.a);
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

/* A device whose table lacks a kernel of CLIP trains nothing. */
TEST_WITH(a_device_without_clips_kernels_is_refused, set_up, tear_down)
{
    spot_ctx c = context(1);
    spot_ops few = *c.ops;
    spot_config *cfg = clip_config(&c);
    spot_sweep_report r;

    few.attention = NULL;
    c.ops = &few;
    CHECK_FAILS(&c, sweep(&c, cfg, "a", 0, 1, &r), SPOT_UNSUPPORTED, "op.no_kernel: clip");
    shell("test -z \"$(find %s/cache -type f)\"", "a");
    CHECK_CONFIG_FREE(cfg);
    spot_ctx_close(&c);
}

TEST_WITH(the_plan_counts_the_encoder, set_up, tear_down)
{
    spot_ctx c = context(1);
    spot_config *cfg = clip_config(&c), *plain = malloc(sizeof *plain);
    spot_sweep_options all = { .place.shards = 1 };
    spot_sweep_cost with, without;
    spot_encoder *e;
    size_t bytes;

    *plain = *cfg;
    plain->memory = NULL;
    plain->bdm = spot_memory_longer(&plain->memory, cfg->bdm, sizeof *cfg->bdm, cfg->bdms, 0);
    for (int b = 1; b < 3; b++) plain->bdm[b].representation = SPOT_BY_MODEL;
    CHECK_OK(&c, spot_sweep_cost_of(&c, plain, &all, &without, false));
    CHECK_OK(&c, spot_sweep_cost_of(&c, cfg, &all, &with, false));
    CHECK_OK(&c, spot_encoder_open_config(&c, &e, &cfg->encoder));
    bytes = spot_encoder_about(e)->bytes;
    assert_true(bytes > 1 << 20 && with.memory >= without.memory + bytes / 2);
    spot_encoder_close(&c, e);
    CHECK_CONFIG_FREE(cfg), CHECK_CONFIG_FREE(plain);
    spot_ctx_close(&c);
}
