/* test_cuda_memory.c - memory that an arena hands out again, a GPU that the plugin has no kernels for, and the plugin that
 * stays loaded. */
#define _GNU_SOURCE   /* setenv */
#include <dlfcn.h>
#include <string.h>

#include "check_cuda.h"
#include "spotter/arena.h"

enum { N = 100 };

/* A number that lies in memory which was written, given back to its arena and taken again. */
static void take_twice(spot_ctx *c, unsigned char back[N])
{
    unsigned char own[N], *p;
    spot_arena a;

    memset(own, 5, sizeof own);
    CHECK_OK(c, spot_arena_open_device(c, &a, 1024));
    CHECK_OK(c, SPOT_TAKE(c, &a, p, N));
    CHECK_OK(c, spot_device_copy(c, p, own, N));
    a.used = 0;
    CHECK_OK(c, SPOT_TAKE(c, &a, p, N));
    CHECK_OK(c, spot_device_copy(c, back, p, N));
    spot_arena_close(&a);
}

TEST(what_an_arena_hands_out_again_is_poisoned)
{
    const char *set = getenv("SPOT_CUDA_POISON");
    unsigned char back[N];
    spot_ctx c;

    for (int poisoned = 0; poisoned < 2; poisoned++) {
        if (poisoned) setenv("SPOT_CUDA_POISON", "1", 1);
        else          unsetenv("SPOT_CUDA_POISON");
        open_cuda(&c, 0);
        take_twice(&c, back);
        spot_device_close(&c);
        for (int i = 0; i < N; i++) assert_int_equal(back[i], poisoned ? 0xff : 5);
    }
    if (!set) unsetenv("SPOT_CUDA_POISON");
}

/* A warp's load of 128 bytes and the libraries' best algorithms ask for it, whatever was taken before. */
TEST(pieces_on_a_device_begin_where_those_of_cuda_do)
{
    static const size_t bytes[] = { 1, 63, 64, 100, 255, 256, 257, 4 };
    spot_arena count = spot_arena_counting(), a;
    char *p;
    spot_ctx c;

    open_cuda(&c, 0);
    for (int i = 0; i < LEN(bytes); i++) CHECK_OK(&c, SPOT_TAKE(&c, &count, p, bytes[i]));
    CHECK_OK(&c, spot_arena_open_device(&c, &a, count.peak));
    for (int i = 0; i < LEN(bytes); i++) {
        CHECK_OK(&c, SPOT_TAKE(&c, &a, p, bytes[i]));
        assert_int_equal((uintptr_t)p % SPOT_ALIGN, 0);
    }
    CHECK_FAILS(&c, SPOT_TAKE(&c, &a, p, 1), SPOT_NOMEM, "arena.full");
    spot_arena_close(&a);
    spot_device_close(&c);
}

TEST(a_gpu_without_kernels_is_named)
{
    static const struct { const char *capability; bool able; } of[] = { { "7.5", false }, { "8.0", true }, { "8.6", true },
                                                                       { "9.0", true }, { "12.0", true } };

    for (int i = 0; i < LEN(of) && getenv("SPOT_EMULATOR"); i++) {
        spot_ctx c = { .threads = 1 };
        setenv("SPOT_EMULATOR_CAPABILITY", of[i].capability, 1);
        if (of[i].able) CHECK_OK(&c, spot_device_open(&c, "cuda"));
        else CHECK_FAILS(&c, spot_device_open(&c, "cuda"), SPOT_DEVICE, "device.no_cuda: capability 7.5 | 8.0 and later");
        spot_device_close(&c);
        CHECK_OK(&c, spot_device_open(&c, "auto"));
        spot_device_close(&c);
    }
    unsetenv("SPOT_EMULATOR_CAPABILITY");
}

/* The program's own, in the place of the library's: it counts. */
static int closed;

int dlclose(void *handle)
{
    int (*real)(void *);
    void *const found = dlsym(RTLD_NEXT, "dlclose");

    closed++;
    memcpy(&real, &found, sizeof real);
    return real(handle);
}

/* CUDA's runtime is linked into the plugin: without it, what the runtime does at the program's end would be gone. */
TEST(the_plugin_stays_loaded)
{
    spot_ctx c;

    open_cuda(&c, 0);
    closed = 0;
    spot_device_close(&c);
    assert_int_equal(closed, 0);
}

int main(void) { return run_cuda_tests(); }
