/* test_device.c - opening devices by name; everything here holds with and without a GPU. */
#define _GNU_SOURCE   /* setenv */
#include "checks.h"

#include <stdlib.h>

#include "core/device.h"

static char told[2048];

static void keep_log(void *user, spot_log_level level, const char *text)
{
    (void)user, (void)level;
    snprintf(told, sizeof told, "%s", text);
}

TEST(cpu_is_always_there)
{
    spot_ctx c = { .threads = 1 };
    void *p;
    char back[3];
    CHECK_OK(&c, spot_device_open(&c, "cpu"));
    assert_string_equal(spot_device_name(&c), "cpu");
    CHECK_OK(&c, spot_device_take(&c, &p, 3));
    CHECK_OK(&c, spot_device_copy(&c, p, "ab", 3));
    CHECK_OK(&c, spot_device_copy(&c, back, p, 3));
    assert_string_equal(back, "ab");
    spot_device_give(&c, p);
    spot_device_close(&c);
    assert_string_equal(spot_device_name(&c), "none");
}

TEST(unknown_names_are_refused)
{
    spot_ctx c = { .threads = 1 };
    CHECK_FAILS(&c, spot_device_open(&c, "tpu"), SPOT_USAGE, "device.unknown: \"tpu\"");
    CHECK_FAILS(&c, spot_device_open(&c, ""), SPOT_USAGE, "device.unknown");
    spot_device_close(&c);
}

TEST(absent_plugin_is_a_sentence)
{
    spot_ctx c = { .threads = 1, .on_log = keep_log };
    setenv("SPOT_PLUGIN_DIR", "/nowhere", 1);
    CHECK_FAILS(&c, spot_device_open(&c, "cuda"), SPOT_DEVICE, "device.no_cuda: /nowhere/libspotter_cuda.so");
    assert_int_equal(spot_exit_code(SPOT_DEVICE), 5);
    CHECK_OK(&c, spot_device_open(&c, "auto"));
    assert_ptr_equal(c.ops, &spot_ops_cpu);
    assert_non_null(strstr(told, "device: cpu, because /nowhere/"));
    spot_device_close(&c);
    unsetenv("SPOT_PLUGIN_DIR");
}

/* Whatever the machine has: "cuda" works or says why, "auto" always works and says what it took. */
TEST(real_plugin_answers)
{
    spot_ctx c = { .threads = 1, .on_log = keep_log };
    if (spot_device_open(&c, "cuda") == SPOT_OK) assert_memory_equal(spot_device_name(&c), "cuda:", 5);
    else assert_string_equal(spot_failure_id(&c), "device.no_cuda");
    print_message("cuda: %s\n", c.device ? spot_device_name(&c) : spot_message(&c, SPOT_DEVICE));
    spot_device_close(&c);
    spot_forget(&c);
    CHECK_OK(&c, spot_device_open(&c, "auto"));
    assert_non_null(strstr(told, spot_device_name(&c)));
    spot_device_close(&c);
}
