/* test_vit.c - vision transformers by timm's names: what is read and what is refused. With arguments, FILES SIDE DIM OUTPUTS
 * HEADS: features and logits of FILES.rgb by FILES.safetensors against FILES.want (test_vit_torch.sh). ctest: both */
#include "checks.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/safetensors.h"
#include "spotter/encoder.h"
#include "spotter/predictor.h"

enum { WIDTH = 192, PATCH = 4, ACROSS = 3, LINES = 32 };

/* Tensors of one block, all of the same numbers. */
typedef struct { spot_ctx c; spot_tensor t[LINES]; int n; char path[64]; } fixture;

static float numbers[4 * WIDTH * WIDTH];

static void add(fixture *f, const char *name, int rank, int64_t a, int64_t b, int64_t d, int64_t e)
{
    spot_tensor t = { .name = name, .type = SPOT_F32, .rank = rank, .dim = { a, b, d, e }, .data = numbers, .bytes = 4 };

    for (int i = 0; i < rank; i++) t.bytes *= (size_t)t.dim[i];
    f->t[f->n++] = t;
}

static void make(fixture *f)
{
    memset(f, 0, sizeof *f);
    f->c = check_ctx(1);
    for (int i = 0; i < LEN(numbers); i++) numbers[i] = (float)((i * 7919 % 1000) - 500) / 20000;
    snprintf(f->path, sizeof f->path, "/tmp/spot_vit_%ld.safetensors", (long)getpid());
    add(f, "cls_token", 3, 1, 1, WIDTH, 0);
    add(f, "pos_embed", 3, 1, ACROSS * ACROSS + 1, WIDTH, 0);
    add(f, "patch_embed.proj.weight", 4, WIDTH, 3, PATCH, PATCH);
    add(f, "patch_embed.proj.bias", 1, WIDTH, 0, 0, 0);
    for (int i = 0; i < 2; i++) add(f, i ? "blocks.0.norm1.bias" : "blocks.0.norm1.weight", 1, WIDTH, 0, 0, 0);
    for (int i = 0; i < 2; i++) add(f, i ? "blocks.0.norm2.bias" : "blocks.0.norm2.weight", 1, WIDTH, 0, 0, 0);
    for (int i = 0; i < 2; i++) add(f, i ? "norm.bias" : "norm.weight", 1, WIDTH, 0, 0, 0);
    add(f, "blocks.0.attn.qkv.weight", 2, 3 * WIDTH, WIDTH, 0, 0);
    add(f, "blocks.0.attn.qkv.bias", 1, 3 * WIDTH, 0, 0, 0);
    add(f, "blocks.0.attn.proj.weight", 2, WIDTH, WIDTH, 0, 0);
    add(f, "blocks.0.attn.proj.bias", 1, WIDTH, 0, 0, 0);
    add(f, "blocks.0.mlp.fc1.weight", 2, 4 * WIDTH, WIDTH, 0, 0);
    add(f, "blocks.0.mlp.fc1.bias", 1, 4 * WIDTH, 0, 0, 0);
    add(f, "blocks.0.mlp.fc2.weight", 2, WIDTH, 4 * WIDTH, 0, 0);
    add(f, "blocks.0.mlp.fc2.bias", 1, WIDTH, 0, 0, 0);
}

static spot_tensor *find(fixture *f, const char *name)
{
    for (int i = 0; i < f->n; i++)
        if (!strcmp(f->t[i].name, name)) return &f->t[i];
    fail_msg("no %s", name);
    return NULL;
}

static spot_status describe(fixture *f, spot_clip_info *info)
{
    CHECK_OK(&f->c, spot_tensors_save(&f->c, f->path, f->t, f->n));
    return spot_clip_describe(&f->c, info, f->path, &(spot_clip_options){ 0 });
}

TEST(names_and_shapes_tell_all_but_the_heads)
{
    spot_encoder_options o = spot_encoder_defaults();
    spot_clip_info i;
    spot_encoder *e;
    fixture f;
    make(&f);
    CHECK_OK(&f.c, describe(&f, &i));
    assert_true(i.plain && i.has_images && !i.has_texts && i.outputs == 0 && i.registers == 0);
    assert_true(i.dim == WIDTH && i.side == ACROSS * PATCH && i.patch == PATCH && i.image.heads == 3 && i.image.layers == 1);
    CHECK_OK(&f.c, spot_encoder_open(&f.c, &e, f.path, &o));
    assert_true(!strncmp(spot_encoder_about(e)->name, "vit-", 4) && spot_encoder_about(e)->kind == SPOT_ENCODER_VIT);
    spot_encoder_close(&f.c, e);
    o.input = (spot_picture_input){ .mean = "0.5", .scale = 1, .crops = true };
    o.crop = ACROSS * PATCH;
    CHECK_OK(&f.c, spot_encoder_open(&f.c, &e, f.path, &o));
    spot_encoder_close(&f.c, e);
    o.crop = 64;
    CHECK_FAILS(&f.c, spot_encoder_open(&f.c, &e, f.path, &o), SPOT_USAGE, "input.side: 64");
    remove(f.path);
}

TEST(what_is_another_network_is_refused)
{
    spot_clip_info i;
    fixture f;
    make(&f);
    find(&f, "pos_embed")->dim[1] = ACROSS * ACROSS + 2;
    find(&f, "pos_embed")->bytes += WIDTH * 4;
    CHECK_FAILS(&f.c, describe(&f, &i), SPOT_INPUT, "vit.patches: 11");
    make(&f);
    find(&f, "norm.weight")->name = "fc_norm.weight";
    CHECK_FAILS(&f.c, describe(&f, &i), SPOT_INPUT, "clip_file.no_tensor: fc_norm.bias");
    find(&f, "fc_norm.weight")->name = "last.weight";
    CHECK_FAILS(&f.c, describe(&f, &i), SPOT_INPUT, "vit.norm: neither | nor");
    make(&f);
    find(&f, "cls_token")->name = "other_token";
    CHECK_FAILS(&f.c, describe(&f, &i), SPOT_INPUT, "vit.patches: 10 | 0 class tokens | 0 registers");
    make(&f);
    add(&f, "blocks.0.attn.q_norm.weight", 1, 64, 0, 0, 0);
    CHECK_FAILS(&f.c, describe(&f, &i), SPOT_INPUT, "clip_file.other_tensor: blocks.0.attn.q_norm.weight");
    make(&f);
    find(&f, "blocks.0.mlp.fc2.bias")->dim[0] = 96, find(&f, "blocks.0.mlp.fc2.bias")->bytes = 96 * 4;
    CHECK_FAILS(&f.c, describe(&f, &i), SPOT_INPUT, "clip_file.shape: blocks.0.mlp.fc2.bias | (96) | (192)");
    remove(f.path);
}

/* -- against an outside implementation ----------------------------------------------------------------------------- */

static void *read_all(const char *path, const char *end, size_t bytes)
{
    char name[512];
    void *v = malloc(bytes);
    FILE *f;

    snprintf(name, sizeof name, "%s%s", path, end);
    f = fopen(name, "rb");
    if (!f || fread(v, 1, bytes, f) != bytes) fprintf(stderr, "cannot read %s\n", name), exit(1);
    fclose(f);
    return v;
}

static double gap(const float *a, const float *b, size_t n)
{
    double off = 0, most = 1e-30;

    for (size_t i = 0; i < n; i++) {
        off = fmax(off, isfinite(a[i]) ? fabs((double)a[i] - b[i]) : 1e30);
        most = fmax(most, fabs(b[i]));
    }
    return off / most;
}

/* The predictor has the encoder's numbers, to the bit, where there is a head. */
static int compare_predictor(spot_ctx *c, const char *weights, const uint8_t *rgb, int n, int side, const float *feature,
                             const float *logit)
{
    const spot_predictor_options o = { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = weights, .side = side };
    const spot_predictor_info *about;
    spot_predictor *p;
    int differs;

    if (spot_predictor_open(c, &p, &o)) return fprintf(stderr, "%s\n", spot_message(c, SPOT_INPUT)), 1;
    about = spot_predictor_about(p);
    float *embedding = malloc((size_t)n * (size_t)about->dim * sizeof *embedding);
    float *answer = malloc((size_t)n * (size_t)about->outputs * sizeof *answer);
    CHECK_OK(c, spot_predict(c, p, &(spot_prediction){ rgb, n, side, answer, NULL, NULL }));
    differs = memcmp(answer, logit, (size_t)n * (size_t)about->outputs * sizeof *answer);
    CHECK_OK(c, spot_predict(c, p, &(spot_prediction){ rgb, n, side, answer, embedding, NULL }));
    differs = differs || memcmp(embedding, feature, (size_t)n * (size_t)about->dim * sizeof *embedding);
    spot_predictor_close(c, p);
    free(embedding), free(answer);
    if (differs) fprintf(stderr, "%s: the predictor has other numbers than the encoder\n", weights);
    return differs != 0;
}

static int compare(const char *path, size_t side, size_t dim, size_t outputs, int heads)
{
    enum { N = 5 };
    uint8_t *rgb = read_all(path, ".rgb", N * 3 * side * side);
    float *want = read_all(path, ".want", N * (dim + outputs) * sizeof *want), *feature = malloc(N * dim * sizeof *feature);
    float *logit = malloc((N * outputs + 1) * sizeof *logit);
    spot_encoder_options o = spot_encoder_defaults();
    spot_ctx c = check_ctx(2);
    spot_encoder *e;
    char weights[512];
    double off[2];
    int wrong = 0;

    o.clip.image_heads = heads;

    snprintf(weights, sizeof weights, "%s.safetensors", path);
    if (spot_encoder_open(&c, &e, weights, &o) || (size_t)spot_encoder_about(e)->side != side
        || (size_t)spot_encoder_about(e)->dim != dim || (size_t)spot_encoder_about(e)->outputs != outputs
        || spot_encode_pixels(&c, e, feature, outputs ? logit : NULL, rgb, N))
        return fprintf(stderr, "%s: %s\n", path, spot_message(&c, SPOT_INPUT)), 1;
    off[0] = gap(feature, want, N * dim), off[1] = gap(logit, want + N * dim, N * outputs);
    printf("%s: features off by %.1e, logits by %.1e\n", path, off[0], off[1]);
    spot_encoder_close(&c, e);
    if (outputs && dim != 100) wrong = compare_predictor(&c, weights, rgb, N, (int)side, feature, logit);
    free(rgb), free(want), free(feature), free(logit);
    return wrong || !(off[0] <= 1e-4 && off[1] <= 1e-4);
}

int main(int argc, char **argv)
{
    if (argc == 6) return compare(argv[1], (size_t)atoi(argv[2]), (size_t)atoi(argv[3]), (size_t)atoi(argv[4]), atoi(argv[5]));
    return run_all_tests();
}
