/* checks.h - what every test needs: cmocka, a context, and assertions that print the library's sentence. */
#ifndef SPOTTER_TESTS_CHECK_H
#define SPOTTER_TESTS_CHECK_H

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "spotter/arena.h"
#include "spotter/ctx.h"
#include "core/ops.h"

#define LEN(a) ((int)(sizeof(a) / sizeof *(a)))

/* Under a sanitizer a loop takes ten to forty times as long and is there for where it reads and writes: long runs are cut short
 * then, and how well they end is seen in the Release build. */
#if defined(__has_feature)
#define CHECK_HAS(feature) __has_feature(feature)              /* clang */
#else
#define CHECK_HAS(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || CHECK_HAS(address_sanitizer) || CHECK_HAS(thread_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* A CPU context that does not need spot_ctx_open, so that a test of one folder links that folder's ops alone. */
static inline spot_ctx check_ctx(int threads)
{
    return (spot_ctx){ .ops = &spot_ops_cpu, .threads = threads };
}

/* A text for a config, which holds no copy. All of them are kept until the program ends. */
__attribute__((format(printf, 1, 2))) static inline const char *check_text(const char *fmt, ...)
{
    static spot_memory *kept;
    char text[2048];
    va_list args;

    va_start(args, fmt);
    assert_true(vsnprintf(text, sizeof text, fmt, args) < (int)sizeof text);
    va_end(args);
    return spot_memory_text(&kept, text);
}

/* A config that was read before, to be read again. */
#define CHECK_AGAIN(cfg) (spot_memory_close(&(cfg)->memory), (cfg))

/* Ends a config of any study that lies in allocated memory. */
#define CHECK_CONFIG_FREE(cfg) (spot_memory_close(&(cfg)->memory), free(cfg))

/* TEST(name) { ... } is one test of the program, in which `state` is cmocka's; TEST_WITH gives it a fixture. Tests run in the
 * order of the file, as its constructors do. */
typedef struct { struct CMUnitTest test[128]; int count; } test_list;
extern test_list check_tests;      /* run_tests.c has it, and a main() for files without their own */

static inline void add_test(test_list *list, struct CMUnitTest test)
{
    assert_true(list->count < LEN(list->test));
    list->test[list->count++] = test;
}

#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, set_up, tear_down) CHECK_TEST(check_tests, name, set_up, tear_down)
#define CHECK_TEST(list, name, set_up, tear_down)                                                \
    static void name(void **state);                                                              \
    __attribute__((constructor)) static void add_##name(void)                                    \
    {                                                                                            \
        add_test(&(list), (struct CMUnitTest){ #name, name, set_up, tear_down, NULL });          \
    }                                                                                            \
    static void name(__attribute__((unused)) void **state)

/* main() of a test, with a fixture of all of them. */
static inline int run_all_tests_in(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    return _cmocka_run_group_tests("tests", check_tests.test, (size_t)check_tests.count, set_up, tear_down);
}

static inline int run_all_tests(void) { return run_all_tests_in(NULL, NULL); }

#define CHECK_OK(c, call)                                                                  \
    do {                                                                                   \
        spot_status check_s_ = (call);                                                     \
        if (check_s_ != SPOT_OK)                                                           \
            fail_msg("%s: %s: %s", #call, spot_status_name(check_s_), spot_message((c), check_s_)); \
    } while (0)

/* Where the text has the n bytes of word, not amid a longer word or number; NULL: nowhere. */
static inline const char *check_word(const char *text, const char *word, size_t n)
{
    for (const char *at = text; (at = strchr(at, word[0])); at++)
        if (!strncmp(at, word, n) && !(at > text && isalnum(at[-1]) && isalnum(word[0])) &&
            !(isalnum(word[n - 1]) && isalnum(at[n]))) return at;
    return NULL;
}

/* A call failed with this status and failure: "ID" or "ID: DATUM | DATUM". The id is exact. The sentence has the data (names,
 * numbers) in this order. */
static inline void check_failed(spot_ctx *c, const char *call, spot_status got, spot_status want, const char *failure)
{
    const char *sentence = spot_message(c, got), *at = sentence, *data = failure + strcspn(failure, ":");

    if (got != want) fail_msg("%s: got %s, wanted %s", call, spot_status_name(got), spot_status_name(want));
    if (strncmp(spot_failure_id(c), failure, (size_t)(data - failure)) || spot_failure_id(c)[data - failure])
        fail_msg("%s: the failure is \"%s\", not \"%s\": %s", call, spot_failure_id(c), failure, sentence);
    for (size_t n; *data; data += n) {
        data += strspn(data, ":| ");
        n = strstr(data, " | ") ? (size_t)(strstr(data, " | ") - data) : strlen(data);
        at = check_word(at, data, n);
        if (!at) fail_msg("%s: the sentence lacks \"%.*s\": %s", call, (int)n, data, sentence);
        at += n;
    }
    spot_forget(c);
}

#define CHECK_FAILS(c, call, want, failure)                             \
    do {                                                                \
        spot_ctx *check_c_ = (c);                                       \
        spot_status check_s_ = (call);                                  \
        check_failed(check_c_, #call, check_s_, want, failure);         \
    } while (0)

/* NaN fails. */
#define CHECK_NEAR(a, b, tolerance)                                                          \
    do {                                                                                     \
        double check_a_ = (a), check_b_ = (b), check_t_ = (tolerance);                       \
        if (!(check_a_ - check_b_ <= check_t_ && check_b_ - check_a_ <= check_t_))           \
            fail_msg("%s = %.17g, %s = %.17g, tolerance %g", #a, check_a_, #b, check_b_, check_t_); \
    } while (0)

#endif
