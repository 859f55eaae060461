/* test_cudnn_plans.c - asks cuDNN, without a GPU, for the plans of every convolution of every config in configs/, and of
 * the networks that a user's model may have.
 *
 * cuDNN takes the description of a GPU (h200.json, made from public figures) and then proposes engines and makes plans on any
 * machine. The code that asks is the real one (kernels/net/conv_cudnn*.cu). plans.txt holds the answer for each task: the
 * number of plans that our rules admit, of all proposals; of them those that add bias and ReLU, and those on tensor cores; the
 * least and the most scratch. A task without a plan fails. With the version of cuDNN that plans.txt names, another answer
 * fails, too; with another version it is printed, and so is a task that plans.txt lacks. `build/test_cudnn_plans --write`, run
 * in tests, writes plans.txt anew. */
#define _GNU_SOURCE   /* setenv */
#include <glob.h>
#include <stdlib.h>

#include "checks.h"
#include "check_folder.h"

#include "study/yaml.h"
#include "core/device.h"
#include "core/stem.h"
#include "models/network.h"
#include "net/conv_cudnn.cuh"
#include "spotter/config.h"
#include "spotter/sweep.h"

enum { MOST_SHAPES = 1024, MOST_TEXT = 1 << 18 };

/* The device of the context that counts memory: it has convolutions and nothing else. */
struct spot_conv { spot_conv_shape s; };
static struct spot_conv shape[MOST_SHAPES];
static int shapes;

static spot_status note_shape(spot_ctx *c, spot_conv **plan, const spot_conv_shape *s)
{
    int i = 0;

    while (i < shapes && memcmp(&shape[i].s, s, sizeof *s)) i++;
    if (i == MOST_SHAPES) return spot_fail(c, SPOT_NOMEM, "more than %d shapes", MOST_SHAPES);
    shape[i].s = *s;
    shapes += i == shapes;
    *plan = &shape[i];
    return SPOT_OK;
}

static void   keep_shape(spot_conv *p) { (void)p; }
static size_t no_scratch(const spot_conv *p) { (void)p; return 0; }
static size_t weights_of(const spot_conv *p) { (void)p; return 1; }
static void   no_range(const char *name) { (void)name; }

static const spot_conv_ops noting = {
    .stem = SPOT_STEM, .apart = true, .onto = true, .open = note_shape, .close = keep_shape, .scratch = no_scratch,
    .packed = weights_of
};
static const spot_ops ops = { .name = "h200.json", .conv = &noting };
static const spot_plugin plugin = { .ops = &ops, .range = no_range };
static spot_device described = { .plugin = &plugin, .name = "the GPU of h200.json" };

/* Notes the shapes that a sweep of a config has: training, attacked training if a method wants it, and looking, there at many
 * images and at few; in every precision. */
static void note_config(const char *path)
{
    spot_ctx c = { .ops = &ops, .device = &described, .threads = 1 };
    static spot_config cfg;
    char study[32];

    CHECK_OK(&c, spot_yaml_word(&c, study, sizeof study, path, "study"));
    if (*study) return;                        /* it trains no network */
    CHECK_OK(&c, spot_config_load(&c, &cfg, path));
    if (*cfg.data.coco) cfg.scene.size = cfg.data.size;
    for (int precision = SPOT_FP32; precision <= SPOT_BF16; precision++) {
        spot_bytes needs;
        cfg.model.precision = precision;
        CHECK_OK(&c, spot_model_needs(&c, &needs, &cfg.scene, &cfg.model, 10000, spot_wants_robust(&cfg)));
        CHECK_OK(&c, spot_model_needs(&c, &needs, &cfg.scene, &cfg.model, 100, false));
    }
}

/* The networks that no config names, and that a user's model may have: learning and looking at 224 px. */
static void note_other_networks(void)
{
    spot_ctx c = { .ops = &ops, .device = &described, .threads = 1 };

    for (int arch = SPOT_ARCH_RESNET34; spot_arch_is(arch); arch++)
        for (int precision = SPOT_FP32; precision <= SPOT_BF16; precision++) {
            const spot_net_shape s = { .arch = arch, .width = 64, .outputs = 1, .size = 224, .rows = 256, .lanes = 1,
                                       .precision = (spot_precision)precision };
            spot_arena count = spot_arena_counting();
            spot_net net;
            spot_look look;
            CHECK_OK(&c, spot_net_open(&c, &count, &net, s));
            CHECK_OK(&c, spot_look_open(&c, &count, &look, s));
            spot_net_close(&c, &net);
            spot_look_close(&c, &look);
        }
}

/* CIFAR's ResNet-18, which looks alone. */
static void note_small_pictures(void)
{
    const spot_resnet_form cifar = { { 2, 2, 2, 2 }, 0, true };
    spot_ctx c = { .ops = &ops, .device = &described, .threads = 1 };

    for (int precision = SPOT_FP32; precision <= SPOT_BF16; precision++) {
        const spot_net_shape s = { .arch = spot_arch_of_form(&cifar), .width = 64, .outputs = 10, .size = 32, .rows = 256,
                                   .lanes = 1, .precision = (spot_precision)precision };
        spot_arena count = spot_arena_counting();
        spot_look look;
        CHECK_OK(&c, spot_look_open(&c, &count, &look, s));
        spot_look_close(&c, &look);
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const spot_conv_task *)a)->words, ((const spot_conv_task *)b)->words);
}

/* The tasks of all configs, each once, sorted by their words. */
static int list_tasks(spot_conv_task task[], int most)
{
    glob_t configs;
    int count = 0, kept = 0;

    assert_int_equal(glob("../configs/*.yaml", 0, NULL, &configs), 0);
    for (size_t i = 0; i < configs.gl_pathc; i++) note_config(configs.gl_pathv[i]);
    globfree(&configs);
    note_other_networks();
    note_small_pictures();
    for (int i = 0; i < shapes; i++)
        for (int pass = 0; pass < SPOT_PASSES; pass++)
            if (spot_conv_has_pass(&shape[i].s, pass)) {
                assert_true(count < most);
                task[count++] = spot_conv_task_of(&shape[i].s, pass);
            }
    qsort(task, (size_t)count, sizeof *task, by_name);
    for (int i = 0; i < count; i++)
        if (!kept || strcmp(task[kept - 1].words, task[i].words)) task[kept++] = task[i];
    return kept;
}

typedef struct { int proposed, admitted, fused, tensor_cores; size_t least, most; } answer;

/* Makes the plan of every proposal, as conv_plans.cu does. */
static answer ask(spot_ctx *c, spot_cudnn *lib, const spot_conv_task *t)
{
    static spot_cudnn_choice choice[SPOT_MOST_CHOICES];
    answer a = { .least = SIZE_MAX };

    for (int fallback = 0; fallback < 2 && !a.admitted; fallback++) {
        int count;
        CHECK_OK(c, spot_cudnn_propose(c, lib, t, fallback, choice, &count));
        a.proposed += count;
        for (int i = 0; i < count; i++) {
            spot_cudnn_plan *plan;
            char why[256];
            CHECK_OK(c, spot_cudnn_plan_open(c, lib, &plan, t, &choice[i], why, sizeof why));
            if (!plan) continue;
            a.admitted++;
            a.fused += choice[i].words[0] == 'f';
            a.tensor_cores += spot_cudnn_plan_tensor_cores(plan);
            if (spot_cudnn_plan_scratch(plan) < a.least) a.least = spot_cudnn_plan_scratch(plan);
            if (spot_cudnn_plan_scratch(plan) > a.most) a.most = spot_cudnn_plan_scratch(plan);
            spot_cudnn_plan_close(plan);
        }
    }
    return a;
}

static void read_text(char *text, size_t size, const char *path)
{
    FILE *f = fopen(path, "r");

    text[f ? fread(text, 1, size - 1, f) : 0] = 0;
    if (f) fclose(f);
}

/* The line of `text` that begins with `words` and a colon, without its end; "" where there is none. */
static const char *line_for(const char *text, const char *words)
{
    static char line[512];
    size_t n = strlen(words);

    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        if (!strncmp(text, words, n) && text[n] == ':') {
            snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
            return line;
        }
    return "";
}

static void put_answer(char *line, size_t size, const spot_conv_task *t, answer a)
{
    snprintf(line, size, "%s: %d/%d, fused %d, tensor %d, %.1f-%.1f MB", t->words, a.admitted, a.proposed, a.fused,
             a.tensor_cores, a.admitted ? a.least / 1e6 : 0, a.most / 1e6);
}

static spot_ctx c = { .ops = &ops, .device = &described, .threads = 1 };
static spot_cudnn *lib;
static bool writes;

TEST(every_convolution_of_the_configs_has_a_plan)
{
    static spot_conv_task task[3 * MOST_SHAPES];
    static char golden[MOST_TEXT];
    int tasks = list_tasks(task, LEN(task)), without = 0, differ = 0;
    char heading[128];
    FILE *out = writes ? fopen("cudnn/plans.txt", "w") : NULL;
    snprintf(heading, sizeof heading, "cuDNN %zu on h200.json", spot_cudnn_version(lib));
    read_text(golden, sizeof golden, "cudnn/plans.txt");
    if (out) fprintf(out, "%s: %d tasks\n", heading, tasks);
    for (int i = 0; i < tasks; i++) {
        char now[512];
        const char *was = line_for(golden, task[i].words);
        answer a = ask(&c, lib, &task[i]);
        put_answer(now, sizeof now, &task[i], a);
        if (out) fprintf(out, "%s\n", now);
        if (!a.admitted) print_message("without a plan: %s\n", task[i].words), without++;
        else if (!out && strcmp(was, now)) {
            print_message("plans.txt: %s\n      now: %s\n", *was ? was : "nothing", now);
            differ += *was != 0;
        }
    }
    print_message("%s: %d tasks, %d without a plan, %d not as in plans.txt\n", heading, tasks, without, differ);
    if (out) assert_int_equal(fclose(out), 0);
    assert_int_equal(without, 0);
    if (*line_for(golden, heading)) assert_int_equal(differ, 0);
}

/* The description that cuDNN writes to a file is one that it takes, so a real GPU's can take the place of h200.json. */
TEST_IN_FOLDER(a_description_is_given_back)
{
    static char json[1 << 16];
    char path[512];
    spot_cudnn *again = NULL;
    snprintf(path, sizeof path, "%s/gpu.json", root);
    setenv("SPOT_CUDNN_DESCRIBE", path, 1);
    spot_cudnn_describe(lib, json, sizeof json);
    CHECK_OK(&c, spot_cudnn_open_described(&c, &again, json));
    spot_cudnn_close(again);
    unsetenv("SPOT_CUDNN_DESCRIBE");
    read_text(json, sizeof json, path);
    assert_non_null(strstr(json, "\"multiProcessorCount\""));
    CHECK_OK(&c, spot_cudnn_open_described(&c, &again, json));
    spot_cudnn_close(again);
    CHECK_FAILS(&c, spot_cudnn_open_described(&c, &again, "{\"major\": 9}"), SPOT_DEVICE, "cudnn.refused");
}

int main(int argc, char **argv)
{
    static char json[8192];
    int failed;

    writes = argc > 1 && !strcmp(argv[1], "--write");
    read_text(json, sizeof json, "cudnn/h200.json");
    if (spot_cudnn_open_described(&c, &lib, json)) {
        print_message("skipped: %s\n", c.message);
        return 77;
    }
    failed = run_all_tests();
    spot_cudnn_close(lib);
    return failed;
}
