/* test_base.c - status, plain and quoted text, addressed random numbers. */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"

#include <math.h>
#include <stdlib.h>

#include "base/same_id.h"
#include "base/quote.h"
#include "base/text.h"
#include "core/philox.h"

TEST(first_failure_wins)
{
    spot_ctx c = check_ctx(1);
    assert_int_equal(spot_fail(&c, SPOT_IO, "cannot read %s", "a"), SPOT_IO);
    assert_int_equal(spot_fail(&c, SPOT_NOMEM, "consequence"), SPOT_NOMEM);
    assert_string_equal(spot_message(&c, SPOT_IO), "cannot read a");
    assert_int_equal(spot_exit_code(SPOT_STOPPED), 75);
    spot_forget(&c);
    assert_string_equal(spot_message(&c, SPOT_NOMEM), "out of memory");
}

/* Neither escape sequences nor line feeds nor the controls of Latin-1; letters stay. */
TEST(foreign_text_is_printed_plainly)
{
    char text[] = "a\033[31m\n\t\177 \302\233m Z\303\274rich \342\202\254 \302\251";
    assert_string_equal(spot_plain(text), "a?[31m??? ??m Z\303\274rich \342\202\254 \302\251");
}

TEST(words_are_quoted_for_a_shell)
{
    static const struct { const char *word, *quoted; } cases[] = {
        { "runs/mini-2.yaml", "runs/mini-2.yaml" }, { "", "''" }, { "a b", "'a b'" }, { "it's", "'it'\\''s'" },
        { "$(x)`y`", "'$(x)`y`'" }, { "-v", "'./-v'" }, { "~/x", "'~/x'" }, { "\303\274", "'\303\274'" },
    };
    char longest[1025];
    spot_quoted text;
    for (int i = 0; i < LEN(cases); i++) assert_string_equal(spot_quote(text, cases[i].word), cases[i].quoted);
    memset(longest, '\'', 1024);
    longest[1024] = 0;
    assert_int_equal(strlen(spot_quote(text, longest)), 4 * 1024 + 2);
}

/* Random123's published known answers for philox4x32-10. */
TEST(philox_known_answers)
{
    uint32_t zero[4] = { 0 }, out[4], ones[4] = { ~0u, ~0u, ~0u, ~0u };
    spot_philox(out, zero, 0);
    assert_int_equal(out[0], 0x6627e8d5); assert_int_equal(out[1], 0xe169c58d);
    assert_int_equal(out[2], 0xbc57ac4c); assert_int_equal(out[3], 0x9b00dbd8);
    spot_philox(out, ones, ~0ull);
    assert_int_equal(out[0], 0x408f276d); assert_int_equal(out[1], 0x41c83b0e);
    assert_int_equal(out[2], 0xa20bc7c6); assert_int_equal(out[3], 0x6d5451fd);
    spot_philox(out, (const uint32_t[]){ 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }, 0x299f31d0a4093822);
    assert_int_equal(out[0], 0xd16cfe09); assert_int_equal(out[1], 0x94fdcceb);
    assert_int_equal(out[2], 0x5001e420); assert_int_equal(out[3], 0x24126ea1);
}

/* Words, uniform and normal numbers, by libm from the words of the block itself. Ours are good to an ulp. */
TEST(transforms_follow_from_the_words)
{
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t word[4], counter[] = { 0, i, 2, SPOT_RNG_INIT };
        spot_rng a = spot_rng_at(5, SPOT_RNG_INIT, 2, i), b = a, c = a;
        double u[4], ulp = 0x1p-52;
        spot_philox(word, counter, 5);
        for (int k = 0; k < 4; k++) {
            u[k] = (word[k] + 0.5) / 4294967296.0;
            assert_int_equal(spot_rng_u32(&a), word[k]);
            assert_true(spot_rng_uniform(&b) == u[k]);
            CHECK_NEAR(spot_philox_log(u[k]), log(u[k]), ulp * fabs(log(u[k])));
            CHECK_NEAR(spot_philox_cos(u[k]), cos(6.283185307179586 * u[k]), 6 * ulp);   /* its argument is rounded, too */
        }
        for (int k = 0; k < 4; k += 2)
            CHECK_NEAR(spot_rng_normal(&c), sqrt(-2 * log(u[k])) * cos(6.283185307179586 * u[k + 1]), 40 * ulp);
    }
    for (int k = 0; k < 8; k++) {
        const double half = sqrt(0.5), want[] = { 1, half, 0, -half, -1, -half, 0, half };
        CHECK_NEAR(spot_philox_cos(k / 8.0), want[k], 0x1p-53);
    }
}

TEST(draws_are_fair_and_addressed)
{
    spot_rng a = spot_rng_at(7, SPOT_RNG_EC, 3, 11), b = spot_rng_at(7, SPOT_RNG_EC, 3, 12);
    int count[6] = { 0 };
    double sum = 0, square = 0;
    uint32_t order[100], seen = 0;
    assert_int_not_equal(spot_rng_u32(&a), spot_rng_u32(&b));
    for (int i = 0; i < 60000; i++) count[spot_rng_below(&a, 6)]++;
    for (int i = 0; i < 6; i++) assert_in_range(count[i], 9600, 10400);   /* 4 sigma is 365 */
    for (int i = 0; i < 100000; i++) { double z = spot_rng_normal(&a); sum += z; square += z * z; }
    CHECK_NEAR(sum / 1e5, 0, 0.013);
    CHECK_NEAR(square / 1e5, 1, 0.018);
    spot_rng_shuffle(&a, order, 100);
    for (int i = 0; i < 100; i++) seen += order[i];
    assert_int_equal(seen, 4950);
    for (int i = 0; i < 1000; i++) assert_in_range(spot_rng_between(&b, -1, 1) + 1, 0, 2);
}

TEST(utf8_is_checked)
{
    static const struct { const char *text; size_t good; } cases[] = {
        { "", 0 }, { "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10 }, { "a\x80", 1 }, { "\xc3", 0 }, { "\xc0\xaf", 0 },
        { "\xe0\x9f\xbf", 0 }, { "\xed\xa0\x80", 0 }, { "\xf0\x8f\xbf\xbf", 0 }, { "\xf4\x90\x80\x80", 0 },
        { "\xf4\x8f\xbf\xbf", 4 }, { "ab\xe2\x82", 2 }, { "\xff", 0 }
    };
    spot_text t = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(spot_utf8(cases[i].text, strlen(cases[i].text)), cases[i].good);
    spot_text_utf8(&t, "a\xff\xc3\xa9\xe2\x82");
    spot_text_adds(&t, "|");
    spot_text_visible(&t, "a\xff\n\x7f\xc3\xa9");
    spot_text_add(&t, "", 1);
    assert_string_equal(t.bytes, "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd|a\\xff\\x0a\\x7f\xc3\xa9");
    assert_int_equal(t.status, SPOT_OK);
    spot_text_free(&t);
}

TEST(columns_hold_whole_letters)
{
    static const struct { const char *text, *column; } cases[] = {
        { "ab", "ab    " }, { "abcd", "abcd  " }, { "abcdef", "abcd  " }, { "\xc3\xa9\xc3\xa9\xe2\x82\xac\xc3\xa9\xc3\xa9",
          "\xc3\xa9\xc3\xa9\xe2\x82\xac\xc3\xa9  " }, { "a\n\xff", "a??   " }, { "", "      " }
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spot_text t = { 0 };
        FILE *f = spot_text_stream(&t);
        spot_text_column(f, cases[i].text, 4);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(t.used, strlen(cases[i].column));
        assert_memory_equal(t.bytes, cases[i].column, t.used);
        spot_text_free(&t);
    }
}

TEST(few_digits_come_back)
{
    const double v[] = { 0, 30, 0.1, 1.0 / 3, 1e-300, 123456789012345680.0, 5e-324, 1e100, -2.5 };
    char text[32];
    assert_string_equal(spot_digits(text, 30, 1), "3e+01");
    assert_string_equal(spot_digits(text, 30, 15), "30");
    assert_string_equal(spot_digits(text, 0.1, 15), "0.1");
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        for (int least = 1; least <= 17; least += 2) assert_true(strtod(spot_digits(text, v[i], least), NULL) == v[i]);
}

/* A spreadsheet must not run what a class or a file is called. */
TEST(csv_cells_hold_no_formulas)
{
    static const struct { const char *text, *cell, *quoted; } cases[] = {
        { "", "", "\"\"" }, { "cat", "cat", "\"cat\"" }, { "a,b", "\"a,b\"", "\"a,b\"" },
        { "a\"b", "\"a\"\"b\"", "\"a\"\"b\"" },
        { " a", "\" a\"", "\" a\"" }, { "=cmd|'/C calc'!A0", "'=cmd|'/C calc'!A0", "\"'=cmd|'/C calc'!A0\"" },
        { "=1,2", "\"'=1,2\"", "\"'=1,2\"" }, { "@SUM(A1)", "'@SUM(A1)", "\"'@SUM(A1)\"" }, { "\t=1", "'\t=1", "\"'\t=1\"" },
        { "-5", "-5", "\"-5\"" }, { "+1.5e3", "+1.5e3", "\"+1.5e3\"" },
        { "-2+3", "'-2+3", "\"'-2+3\"" }, { "-", "'-", "\"'-\"" },
        { "a=b", "a=b", "\"a=b\"" }
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;
        size_t n;
        FILE *f = open_memstream(&text, &n);
        assert_non_null(f);
        spot_csv_field(f, cases[i].text);
        fputc('\n', f);
        spot_csv_quoted(f, cases[i].text);
        fclose(f);
        assert_int_equal(n, strlen(cases[i].cell) + 1 + strlen(cases[i].quoted));
        assert_memory_equal(text, cases[i].cell, strlen(cases[i].cell));
        assert_string_equal(text + strlen(cases[i].cell) + 1, cases[i].quoted);
        free(text);
    }
}

/* Normal forms as Python's unicodedata has them: an accent, a ring, a syllable, two marks, a letter that form C takes apart. */
TEST(ids_that_mean_the_same)
{
    static const struct { const char *id, *c, *d; bool plain; } cases[] = {
        { "a.jpg", "a.jpg", "a.jpg", true }, { "./x/a.jpg", "x/a.jpg", "x/a.jpg", false }, { " a b\t", "a b", "a b", false },
        { "././a", "a", "a", false }, { "a/./b", "a/./b", "a/./b", true }, { "", "", "", true }, { " ", "", "", false },
        { "\xc3\xa9", "\xc3\xa9", "e\xcc\x81", false }, { "e\xcc\x81 ", "\xc3\xa9", "e\xcc\x81", false },
        { "A\xcc\x8a", "\xc3\x85", "A\xcc\x8a", false },
        { "\xed\x95\x9c", "\xed\x95\x9c", "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", false },
        { "\xe1\xb9\xa9", "\xe1\xb9\xa9", "s\xcc\xa3\xcc\x87", false },
        { "\xe0\xa5\x98", "\xe0\xa4\x95\xe0\xa4\xbc", "\xe0\xa4\x95\xe0\xa4\xbc", false }, { "\xff", "\xff", "\xff", false },
    };
    char *ids[] = { "b", "e\xcc\x81", "./b ", "a" };
    spot_ctx c = check_ctx(1);
    spot_plain_ids p;
    spot_text t = { 0 };
    int first, end;

    for (int i = 0; i < LEN(cases); i++) {
        assert_int_equal(spot_id_is_plain(cases[i].id), cases[i].plain);
        spot_id_plain(&t, cases[i].id, SPOT_FORM_C);
        assert_string_equal(t.bytes, cases[i].c);
        spot_id_plain(&t, cases[i].id, SPOT_FORM_D);
        assert_string_equal(t.bytes, cases[i].d);
    }
    spot_text_free(&t);
    CHECK_OK(&c, spot_plain_ids_open(&c, &p, ids, 4));
    CHECK_OK(&c, spot_plain_ids_find(&c, &p, "\xc3\xa9", &first, &end));
    assert_true(end == first + 1 && p.order[first] == 1);
    CHECK_OK(&c, spot_plain_ids_find(&c, &p, "b", &first, &end));
    assert_true(end == first + 2 && p.order[first] == 0 && p.order[first + 1] == 2);
    CHECK_OK(&c, spot_plain_ids_find(&c, &p, "c", &first, &end));
    assert_int_equal(first, end);
    spot_plain_ids_close(&p);
}
