/* test_idle_cores.c - a GPU that computes without its tensor cores is told of, and a precision that changes numbers has a name
 * and a key of its own. */
#include "checks.h"
#include "models/idle_cores.h"
#include "spotter/config.h"

static char said[512];
static int  warned;

static void hear(void *user, spot_log_level level, const char *text)
{
    (void)user;
    warned += level == SPOT_LOG_WARN;
    snprintf(said, sizeof said, "%s", text);
}

/* No call reaches the device: only whether there is one counts. */
static spot_ctx listening(bool gpu)
{
    static int device;

    warned = 0, said[0] = 0;
    return (spot_ctx){ .device = gpu ? &device : NULL, .on_log = hear };
}

TEST(fp32_on_a_gpu_is_told_of)
{
    for (int precision = SPOT_FP32; precision <= SPOT_BF16; precision++)
        for (int gpu = 0; gpu < 2; gpu++) {
            spot_ctx c = listening(gpu);
            spot_warn_of_fp32(&c, precision, "model.precision", "six", "bf16");
            assert_int_equal(warned, gpu && precision == SPOT_FP32);
            if (warned) assert_non_null(strstr(said, "model.precision is fp32, which a GPU computes without its tensor cores"));
            if (warned) assert_non_null(strstr(said, "set model.precision: bf16, or tf32"));
        }
}

TEST(each_kind_of_encoder_says_what_it_can)
{
    static const struct { int kind; const char *words; } of[] = {
        { SPOT_ENCODER_CLIP, "encoder.precision is fp32" }, { SPOT_ENCODER_VIT, "nine times as long as bf16" },
        { SPOT_ENCODER_RESNET, "no other precision here" }, { SPOT_ENCODER_NEUTRAL, NULL }, { SPOT_ENCODER_PROGRAM, NULL },
    };

    for (int i = 0; i < LEN(of); i++) {
        spot_ctx c = listening(true);
        spot_warn_of_encoder(&c, &(spot_encoder_info){ .kind = of[i].kind }, SPOT_FP32, "encoder.precision");
        assert_int_equal(warned, of[i].words != NULL);
        if (of[i].words) assert_non_null(strstr(said, of[i].words));
    }
}

/* Features are kept under the encoder's name. */
TEST(the_name_of_an_encoder_has_its_precision)
{
    spot_encoder_config cfg = { "golden/clip/quick/model.safetensors", "", SPOT_ENCODER_OTHER, SPOT_FP32 };
    char name[SPOT_BF16 + 1][32];
    spot_ctx c = check_ctx(1);

    for (cfg.precision = SPOT_FP32; cfg.precision <= SPOT_BF16; cfg.precision++) {
        spot_encoder_info about;
        CHECK_OK(&c, spot_encoder_describe(&c, &about, &cfg));
        snprintf(name[cfg.precision], sizeof *name, "%s", about.name);
        for (int i = 0; i < cfg.precision; i++) assert_string_not_equal(name[i], name[cfg.precision]);
    }
}

int main(void) { return run_all_tests(); }
