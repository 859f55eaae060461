/* test_weights.c - networks from files as their users have them: prefixes, heads, types, forms, and what is refused. */
#include "checks.h"

#include <stdlib.h>
#include <unistd.h>

#include "models/network.h"

enum { WIDTH = 16, OUTPUTS = 3 };

/* A small network's tensors, which a test renames and changes, and the file that it writes of them. */
typedef struct {
    spot_ctx     c;
    spot_arena   a;
    spot_model   m, back;
    spot_tensors all;
    spot_tensor  kept[SPOT_MAX_TENSORS];
    char         name[SPOT_MAX_TENSORS][160], path[64];
    int          n;
} fixture;

static void make(fixture *f, int arch)
{
    memset(f, 0, sizeof *f);
    f->c = check_ctx(1);
    snprintf(f->path, sizeof f->path, "/tmp/spot_weights_%ld.safetensors", (long)getpid());
    CHECK_OK(&f->c, spot_arena_open(&f->c, &f->a, 64 << 20));
    CHECK_OK(&f->c, spot_model_init(&f->c, &f->a, &f->m, arch, WIDTH, OUTPUTS, 3, 0));
    CHECK_OK(&f->c, spot_model_save(&f->c, f->path, &f->m));
    CHECK_OK(&f->c, spot_tensors_open(&f->c, &f->all, f->path));
    for (int i = 0; i < f->all.count; i++) f->kept[f->n++] = f->all.tensor[i];
}

/* Writes the kept tensors, and reads the file as a user does. */
static spot_status load(fixture *f, int outputs)
{
    CHECK_OK(&f->c, spot_tensors_save(&f->c, f->path, f->kept, f->n));
    return spot_model_load(&f->c, &f->a, &f->back, f->path, outputs, 1);
}

static void clear(fixture *f)
{
    remove(f->path);
    spot_tensors_close(&f->all);
    spot_arena_close(&f->a);
}

static spot_tensor *find(fixture *f, const char *name)
{
    for (int i = 0; i < f->n; i++)
        if (!strcmp(f->kept[i].name, name)) return &f->kept[i];
    fail_msg("no %s", name);
    return NULL;
}

static void drop(fixture *f, const char *name) { *find(f, name) = f->kept[f->n - 1], f->n--; }

/* Puts `body` before every name, and in place of "fc" in the head's names `head`. */
static void rename_all(fixture *f, const char *body, const char *head)
{
    for (int i = 0; i < f->n; i++) {
        const char *name = f->kept[i].name;
        if (strncmp(name, "fc.", 3)) snprintf(f->name[i], sizeof f->name[i], "%s%s", body, name);
        else                         snprintf(f->name[i], sizeof f->name[i], "%s%s", head, name + 2);
        f->kept[i].name = f->name[i];
    }
}

TEST(names_begin_and_end_as_users_have_them)
{
    static const char *const cases[][2] = {
        { "module.", "module.fc" },       { "_orig_mod.", "_orig_mod.fc" },    { "module._orig_mod.", "module._orig_mod.fc" },
        { "model.", "model.fc.1" },       { "backbone.", "head" },             { "model.backbone.", "model.head" },
        { "net.", "net.head.fc" },        { "", "classifier" },                { "encoder.net.", "encoder.linear" },
        { "", "fc.3" },                   { "", "head.0" },                    { "a.b.c.", "last_linear" },
    };
    for (int i = 0; i < LEN(cases); i++) {
        fixture f;
        make(&f, SPOT_ARCH_RESNET18);
        rename_all(&f, cases[i][0], cases[i][1]);
        CHECK_OK(&f.c, load(&f, 0));
        assert_true(f.back.arch == SPOT_ARCH_RESNET18 && f.back.width == WIDTH && f.back.outputs == OUTPUTS);
        assert_memory_equal(f.back.value, f.m.value, f.m.floats * sizeof(float));
        clear(&f);
    }
}

TEST(a_head_may_be_missing_where_features_are_wanted)
{
    fixture f;
    make(&f, SPOT_ARCH_RESNET34);
    drop(&f, "fc.weight");
    drop(&f, "fc.bias");
    CHECK_FAILS(&f.c, load(&f, 0), SPOT_INPUT, "weights.no_head: 128 | ResNet-34");
    CHECK_OK(&f.c, load(&f, -1));
    assert_int_equal(f.back.outputs, 0);
    assert_memory_equal(f.back.value, f.m.value, f.back.floats * sizeof(float));
    CHECK_OK(&f.c, load(&f, 7));                       /* a training begins with a new one */
    assert_int_equal(f.back.outputs, 7);
    clear(&f);
}

TEST(a_network_without_a_head_has_features)
{
    fixture f;
    float want[WIDTH * 8], got[WIDTH * 8], logit[OUTPUTS];
    static uint8_t rgb[3 * 32 * 32];
    spot_arena scratch;
    for (size_t i = 0; i < sizeof rgb; i++) rgb[i] = (uint8_t)(i * 37 % 251);
    make(&f, SPOT_ARCH_RESNET18);
    drop(&f, "fc.weight");
    drop(&f, "fc.bias");
    CHECK_OK(&f.c, load(&f, -1));
    CHECK_OK(&f.c, spot_arena_open(&f.c, &scratch, 256 << 20));
    CHECK_OK(&f.c, spot_model_infer(&f.c, &scratch, logit, want, &f.m, rgb, 1, 32));
    CHECK_OK(&f.c, spot_model_infer(&f.c, &scratch, NULL, got, &f.back, rgb, 1, 32));
    assert_memory_equal(got, want, sizeof want);
    spot_arena_close(&scratch);
    clear(&f);
}

TEST(a_head_without_a_bias_has_one_of_zeros)
{
    fixture f;
    make(&f, SPOT_ARCH_RESNET18);
    drop(&f, "fc.bias");
    CHECK_OK(&f.c, load(&f, 0));
    for (int i = 0; i < OUTPUTS; i++) assert_true(f.back.value[f.back.floats - OUTPUTS + (size_t)i] == 0);
    clear(&f);
}

/* Every form that a number can have reads back as itself. */
TEST(forms_read_back)
{
    static const spot_resnet_form cases[] = {
        { { 3, 4, 6, 3 }, 1, false }, { { 3, 4, 23, 3 }, 1, false }, { { 3, 8, 36, 3 }, 1, false }, { { 2, 2, 2, 2 }, 0, true },
        { { 3, 3, 3 }, 0, true },     { { 1, 2, 1, 1 }, 2, false },  { { 1 }, 1, true },
        { { 2, 2, 2, 2 }, 0, false },
    };
    for (int i = 0; i < LEN(cases); i++) {
        const int arch = spot_arch_of_form(&cases[i]);
        const spot_resnet_form form = spot_form_of_arch(arch);
        fixture f;
        assert_true(spot_arch_is(arch));
        assert_memory_equal(form.count, cases[i].count, sizeof form.count);
        assert_true(form.bottleneck == cases[i].bottleneck && form.small_stem == cases[i].small_stem);
        make(&f, arch);
        CHECK_OK(&f.c, load(&f, 0));
        assert_true(f.back.arch == arch && f.back.floats == f.m.floats);
        assert_memory_equal(f.back.value, f.m.value, f.m.floats * sizeof(float));
        clear(&f);
    }
    assert_false(spot_arch_is(3));
    assert_false(spot_arch_is(-1));
    assert_int_equal(spot_arch_of_form(&(spot_resnet_form){ { 2, 0, 2, 2 }, 0, false }), -1);
    assert_int_equal(spot_arch_of_form(&(spot_resnet_form){ { 60, 60, 60, 60 }, 0, false }), -1);
    assert_string_equal(spot_arch_name(spot_arch_of_form(&cases[0])), "ResNet-50");
    assert_int_equal(spot_model_tensors(spot_arch_of_form(&cases[1])), 6 * 104 + 2);
    assert_int_equal(spot_model_features(spot_arch_of_form(&cases[2]), 64), 2048);
}

/* Multiply-adds that torchvision's documentation has: 4.09, 7.80 and 11.51 thousand millions. */
TEST(multiplications_of_deep_networks)
{
    static const struct { spot_resnet_form form; double billions; } cases[] = {
        { { { 3, 4, 6, 3 }, 1, false }, 4.09 },
        { { { 3, 4, 23, 3 }, 1, false }, 7.80 },
        { { { 3, 8, 36, 3 }, 1, false }, 11.51 },
    };
    for (int i = 0; i < LEN(cases); i++)
        CHECK_NEAR(spot_model_multiplications(spot_arch_of_form(&cases[i].form), 64, 1000, 224) / 1e9, cases[i].billions, 0.01);
}

TEST(what_is_wrong_is_named_with_both_shapes)
{
    static float variance[WIDTH], deep[128 * 128];
    fixture f;
    spot_tensor *t;
    make(&f, SPOT_ARCH_RESNET18);
    t = find(&f, "layer2.0.conv1.weight");
    t->dim[2] = 1, t->dim[3] = 9;
    CHECK_FAILS(&f.c, load(&f, 0), SPOT_INPUT, "weights.shape: layer2.0.conv1.weight | (32, 16, 1, 9) | (32, 16, 3, 3)");
    t->dim[2] = 3, t->dim[3] = 3;
    t = find(&f, "layer1.0.bn2.running_var");
    for (int i = 0; i < WIDTH; i++) variance[i] = 1;
    t->data = variance;
    CHECK_OK(&f.c, load(&f, 0));
    variance[5] = -0.25f;
    CHECK_FAILS(&f.c, load(&f, 0), SPOT_INPUT, "weights.variance: layer1.0.bn2.running_var | -0.25 | 5");
    variance[5] = (float)atof("nan");
    CHECK_FAILS(&f.c, load(&f, 0), SPOT_INPUT, "weights.value: layer1.0.bn2.running_var");
    t->type = SPOT_I32;
    CHECK_FAILS(&f.c, load(&f, 0), SPOT_INPUT, "weights.type: layer1.0.bn2.running_var | I32");
    t->type = SPOT_F32, variance[5] = 0;
    f.kept[f.n++] = spot_tensor_of("layer1.0.se.weight", SPOT_F32, WIDTH, 0, variance);
    CHECK_FAILS(&f.c, load(&f, 0), SPOT_INPUT, "weights.other_tensor: layer1.0.se.weight");
    f.kept[f.n - 1] = spot_tensor_of("fc.3.weight", SPOT_F32, 128, 128, deep);
    CHECK_FAILS(&f.c, load(&f, 0), SPOT_INPUT, "weights.heads: fc.3.weight | fc.weight");
    find(&f, "fc.weight")->dim[1] = 120, f.n--;
    find(&f, "fc.weight")->bytes = OUTPUTS * 120 * sizeof(float);
    CHECK_FAILS(&f.c, load(&f, 0), SPOT_INPUT, "weights.shape: fc.weight | (3, 120) | (OUTPUTS, 128)");
    clear(&f);
}

TEST(two_networks_in_a_file_are_refused)
{
    fixture f;
    make(&f, SPOT_ARCH_RESNET18);
    f.kept[f.n] = *find(&f, "conv1.weight"), f.kept[f.n++].name = "ema.conv1.weight";
    f.kept[f.n] = *find(&f, "layer1.0.conv1.weight"), f.kept[f.n++].name = "ema.layer1.0.conv1.weight";
    CHECK_FAILS(&f.c, load(&f, 0), SPOT_INPUT, "weights.several: ema.");
    clear(&f);
}

/* Puts v into all numbers of a tensor of the model. */
static void set(spot_model *m, const char *name, float v)
{
    static spot_model_tensor table[SPOT_MAX_TENSORS];

    spot_model_layout(table, m->arch, m->width, m->outputs);
    for (int t = 0; t < spot_model_tensors(m->arch); t++)
        for (size_t i = 0; i < (strcmp(table[t].name, name) ? 0 : table[t].count); i++) m->value[table[t].offset + i] = v;
}

/* Numbers grow by 1e5 and more a layer, until a sum is infinite; behind it a ReLU makes 0 of a NaN. */
TEST(the_first_layer_that_is_not_finite_is_named)
{
    static const char *const norms[] = { "bn1.weight", "layer1.0.bn1.weight", "layer1.0.bn2.weight", "layer1.1.bn1.weight",
                                         "layer1.1.bn2.weight", "layer2.0.bn1.weight", "layer2.0.bn2.weight" };
    float feature[WIDTH * 8], logit[OUTPUTS];
    static uint8_t rgb[3 * 32 * 32];
    spot_arena scratch;
    fixture f;
    for (size_t i = 0; i < sizeof rgb; i++) rgb[i] = (uint8_t)(i * 37 % 251);
    make(&f, SPOT_ARCH_RESNET18);
    CHECK_OK(&f.c, spot_arena_open(&f.c, &scratch, 256 << 20));
    for (int i = 0; i < LEN(norms); i++) set(&f.m, norms[i], 3e5f);
    CHECK_FAILS(&f.c, spot_model_infer(&f.c, &scratch, logit, feature, &f.m, rgb, 1, 32), SPOT_NUMERIC,
                "network.activation: layer2.0.conv1");
    set(&f.m, "layer1.0.bn1.weight", 1e20f);
    CHECK_FAILS(&f.c, spot_model_infer(&f.c, &scratch, logit, feature, &f.m, rgb, 1, 32), SPOT_NUMERIC,
                "network.folded: layer1.0.conv1");
    spot_arena_close(&scratch);
    clear(&f);
}

TEST(other_forms_do_not_train)
{
    const spot_resnet_form form = { { 1, 1, 1, 1 }, 1, false };
    spot_arena count = spot_arena_counting();
    spot_ctx c = check_ctx(1);
    spot_net net;
    const spot_net_shape s = { .arch = spot_arch_of_form(&form), .width = 16, .outputs = 1, .size = 32, .rows = 2, .lanes = 1 };
    CHECK_FAILS(&c, spot_net_open(&c, &count, &net, s), SPOT_UNSUPPORTED, "network.no_training");
    spot_net_close(&c, &net);
}

int main(void) { return run_all_tests(); }
