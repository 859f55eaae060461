/* test_describe.c - the phrases of groups against direct sums and all groups there are. tests/test_describe.sh compares with
 * numpy. */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "noise.h"
#include "spotter/describe.h"

typedef struct {
    float *feature, *text;
    char **phrase;
    int   *row[3];
    spot_group group[3];
    spot_words_problem p;
} wordy;

enum { N = 90, D = 24, PHRASES = 300, KEPT = 4 };

/* Group 0 is moved towards phrase 7, group 1 is the whole class, group 2 has 60 rows moved towards phrase 11. */
static void open_wordy(wordy *w)
{
    *w = (wordy){ .feature = normals(N * D, 1, 1), .text = normals(PHRASES * D, 1, 2) };
    w->phrase = malloc(PHRASES * sizeof *w->phrase);
    for (int i = 0; i < PHRASES; i++) {
        w->phrase[i] = malloc(24);
        snprintf(w->phrase[i], 24, "phrase %d", i);
    }
    for (int g = 0; g < 3; g++) {
        static const int size[] = { 12, N, 60 }, step[] = { 7, 1, 1 }, toward[] = { 7, 0, 11 };
        w->row[g] = malloc((size_t)size[g] * sizeof(int));
        w->group[g] = (spot_group){ w->row[g], size[g] };
        for (int i = 0; i < size[g]; i++) {
            w->row[g][i] = i * step[g];
            for (int k = 0; g != 1 && k < D; k++) w->feature[i * step[g] * D + k] += 0.7f * w->text[toward[g] * D + k];
        }
    }
    w->p = (spot_words_problem){ .n = N, .d = D, .feature = w->feature, .phrases = PHRASES, .text = w->text,
                                 .phrase = w->phrase, .groups = 3, .group = w->group, .most = KEPT, .rounds = 199,
                                 .seed = { 5, 2 } };
}

static void close_wordy(wordy *w)
{
    for (int i = 0; i < PHRASES; i++) free(w->phrase[i]);
    for (int g = 0; g < 3; g++) free(w->row[g]);
    free(w->phrase);
    free(w->feature);
    free(w->text);
}

static double length_of(const float *x)
{
    double sum = 0;

    for (int k = 0; k < D; k++) sum += (double)x[k] * x[k];
    return sqrt(sum);
}

static double cosine(const wordy *w, int row, int phrase)
{
    const float *x = w->feature + row * D, *t = w->text + phrase * D;
    double sum = 0;

    for (int k = 0; k < D; k++) sum += (double)x[k] * t[k];
    return sum / length_of(x) / length_of(t);
}

/* The mean similarity of the group's rows minus that of all rows: the same number as t . (mean - mean). */
static double plain_score(const wordy *w, int g, int phrase)
{
    double group = 0, all = 0;

    for (int i = 0; i < w->group[g].n; i++) group += cosine(w, w->row[g][i], phrase) / w->group[g].n;
    for (int i = 0; i < N; i++) all += cosine(w, i, phrase) / N;
    return group - all;
}

static double plain_auc(const wordy *w, int g, int phrase)
{
    bool in[N] = { false };
    double sum = 0;

    for (int i = 0; i < w->group[g].n; i++) in[w->row[g][i]] = true;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            if (in[i] && !in[k]) sum += cosine(w, i, phrase) > cosine(w, k, phrase);
    return sum / w->group[g].n / (N - w->group[g].n);
}

static int number_of(const spot_word *word) { return atoi(word->phrase + 7); }

TEST(words_have_the_greatest_scores_and_their_auc)
{
    spot_ctx c = check_ctx(2);
    spot_word word[3 * KEPT];
    wordy w;
    int kept[3];

    open_wordy(&w);
    CHECK_OK(&c, spot_words_find(&c, word, kept, &w.p));
    for (int g = 0; g < 3; g++) {
        assert_int_equal(kept[g], KEPT);
        for (int k = 0; k < KEPT; k++) {
            const spot_word *now = &word[g * KEPT + k];
            int better = 0;
            CHECK_NEAR(now->score, plain_score(&w, g, number_of(now)), 1e-6);
            if (g == 1) {
                assert_true(isnan(now->auc));
                CHECK_NEAR(now->p, 1, 0);          /* the class does not differ from itself */
                continue;
            }
            CHECK_NEAR(now->auc, plain_auc(&w, g, number_of(now)), 1e-9);
            for (int i = 0; i < PHRASES; i++) better += plain_score(&w, g, i) > now->score + 1e-6;
            assert_int_equal(better, k);
        }
    }
    assert_int_equal(number_of(&word[0]), 7);
    assert_int_equal(number_of(&word[2 * KEPT]), 11);
    CHECK_NEAR(word[0].p, 1 / 200.0, 1e-12);
    CHECK_NEAR(word[2 * KEPT].p, 1 / 200.0, 1e-12);
    close_wordy(&w);
}

TEST(words_do_not_depend_on_threads)
{
    spot_word one[3 * KEPT], many[3 * KEPT];
    int kept[3];
    wordy w;

    open_wordy(&w);
    for (int threads = 1; threads <= 5; threads += 4) {
        spot_ctx c = check_ctx(threads);
        CHECK_OK(&c, spot_words_find(&c, threads == 1 ? one : many, kept, &w.p));
    }
    assert_memory_equal(one, many, sizeof one);
    close_wordy(&w);
}

/* The first of several wrong rows or phrases is named, by whatever thread it was found. */
TEST(the_first_wrong_row_is_named)
{
    spot_word word[3 * KEPT];
    int kept[3];
    wordy w;

    open_wordy(&w);
    for (int threads = 1; threads <= 5; threads += 4) {
        spot_ctx c = check_ctx(threads);
        float *const row = w.text + 7 * D, *const last = w.text + (PHRASES - 1) * D;
        memset(row, 0, D * sizeof *row), memset(last, 0, D * sizeof *last);
        CHECK_FAILS(&c, spot_words_find(&c, word, kept, &w.p), SPOT_INPUT, "describe.phrase: phrase 7");
    }
    w.feature[3 * D] = NAN;
    w.feature[80 * D] = NAN;
    for (int threads = 1; threads <= 5; threads += 4) {
        spot_ctx c = check_ctx(threads);
        CHECK_FAILS(&c, spot_words_find(&c, word, kept, &w.p), SPOT_INPUT, "describe.row: row 3");
    }
    close_wordy(&w);
}

/* All 210 groups of 4 of 10 rows, against the rate at which random ones reach a score; and the same for 6 of 10, which is
 * computed from the rest. */
TEST(p_is_the_share_of_all_groups)
{
    enum { ROWS = 10, TEXTS = 6, RANDOM = 4999 };
    float *x = normals(ROWS * D, 1, 3), *t = normals(TEXTS * D, 1, 4);
    char *name[TEXTS] = { "a", "b", "c", "d", "e", "f" };
    static const int four[] = { 0, 3, 4, 8 }, six[] = { 1, 2, 5, 6, 7, 9 };
    const spot_group group[] = { { four, 4 }, { six, 6 } };
    wordy w = { .feature = x, .text = t };
    spot_ctx c = check_ctx(1);
    spot_words_problem p = { .n = ROWS, .d = D, .feature = x, .phrases = TEXTS, .text = t, .phrase = name, .groups = 2,
                             .group = group, .most = 1, .rounds = RANDOM };
    spot_word word[2];
    int kept[2];

    CHECK_OK(&c, spot_words_find(&c, word, kept, &p));
    for (int g = 0; g < 2; g++) {
        int reach = 0, groups = 0;
        for (int set = 0; set < 1 << ROWS; set++) {
            double best = -1;
            if (__builtin_popcount((unsigned)set) != group[g].n) continue;
            for (int k = 0; k < TEXTS; k++) {
                double score = 0;
                for (int i = 0; i < ROWS; i++)
                    score += cosine(&w, i, k) * ((set >> i & 1 ? 1.0 / group[g].n : 0) - 1.0 / ROWS);
                best = fmax(best, score);
            }
            groups++;
            reach += best >= word[g].score - 1e-6;
        }
        double truth = (double)reach / groups, deviation = sqrt(truth * (1 - truth) / RANDOM);
        CHECK_NEAR(word[g].p, truth, 4 * deviation + 1.0 / RANDOM);
        assert_true(truth > 0.02 && truth < 0.98);
    }
    free(x);
    free(t);
}

TEST(equal_words_come_in_the_list_s_order)
{
    float x[] = { 1, 0, 0, 1, 1, 1 }, t[] = { 1, 0, 2, 0, 0, 1, 3, 0 };
    char *name[] = { "one", "two", "up", "three" };
    static const int row[] = { 0 };
    const spot_group group[] = { { row, 1 }, { row, 0 } };
    spot_words_problem p = { .n = 3, .d = 2, .feature = x, .phrases = 4, .text = t, .phrase = name, .groups = 2, .group = group,
                             .most = 3 };
    spot_ctx c = check_ctx(1);
    spot_word word[6];
    int kept[2];

    CHECK_OK(&c, spot_words_find(&c, word, kept, &p));
    assert_string_equal(word[0].phrase, "one");
    assert_string_equal(word[1].phrase, "two");
    assert_string_equal(word[2].phrase, "three");
    assert_true(isnan(word[0].p));                 /* without rounds nothing is known */
    assert_int_equal(kept[1], 0);
    t[2] = 0;
    CHECK_FAILS(&c, spot_words_find(&c, word, kept, &p), SPOT_INPUT, "describe.phrase: phrase 1 | \"two\"");
    x[1] = NAN;
    CHECK_FAILS(&c, spot_words_find(&c, word, kept, &p), SPOT_INPUT, "describe.row: row 0");
    p.most = 0;
    CHECK_FAILS(&c, spot_words_find(&c, word, kept, &p), SPOT_INVALID, "describe.sizes: 0");
}
