/* bench_proof.c - a proof's correction for its number of tests: the errors of the judging rows drawn again 9,999 times, all
 * tests in each draw. bench/peers/proof_numpy.py times numpy and SciPy on the same rows, errors and tests. */
#include "bench.h"

#include <stdlib.h>

#include "discover/proof/proof_draws.h"

typedef struct {
    spot_subject s;
    spot_proving j;
    int rows, tests;                   /* of a class */
    int *row, *member;                 /* (rows) of the subject, alike in all classes; (classes, rows), part after part */
    uint8_t *wrong;                    /* (classes, rows) */
    uint64_t *judged;                  /* (classes, tests, words) */
    spot_stratum *tally;               /* (classes, 2) */
} proof_state;

/* proof_numpy.py has the same. */
static uint32_t hash(uint32_t a, uint32_t b)
{
    uint32_t h = a * 2654435761u + b * 2246822519u;

    h = (h ^ h >> 15) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    return (h ^ h >> 16) >> 16;
}

static bool has_below(uint32_t a, uint32_t b, int percent) { return hash(a, b) * 100 < (uint32_t)percent << 16; }

static void fill_class(proof_state *b, int k)
{
    spot_proved *own = &b->j.cls[k];
    const size_t words = (size_t)(b->rows + 63) / 64;

    *own = (spot_proved){ .cls = k, .n = b->rows, .strata = 1, .row = b->row, .words = words,
                          .is_wrong = b->wrong + (size_t)k * (size_t)b->rows,
                          .tally = { b->tally + 2 * k, b->tally + 2 * k + 1 } };
    own->member[0] = b->member + (size_t)k * (size_t)b->rows;
    own->member[1] = own->member[0] + (b->rows + 1) / 2;
    for (int i = 0; i < b->rows; i++) {
        spot_stratum *part = own->tally[i % 2];
        own->is_wrong[i] = has_below((uint32_t)(k * b->rows + i), 1, 10);
        own->member[i % 2][own->members[i % 2]++] = i;
        part->rows++;
        part->group += own->is_wrong[i];
    }
}

/* Slice t of class k has 2 to 21 of 100 rows of its judging part; in each tenth, half of the wrong ones beside. */
static void fill_slice(proof_state *b, int k, int t)
{
    const spot_proved *own = &b->j.cls[k];
    const int number = k * b->tests + t, judging = number % 2;
    spot_judged *g = &b->j.piece[number];

    *g = (spot_judged){ .class_place = k, .slice = -1, .said.part = 1 - judging };
    g->judged = b->judged + (size_t)number * own->words;
    for (int e = 0; e < own->members[judging]; e++) {
        const int i = own->member[judging][e];
        const uint32_t at = (uint32_t)(k * b->rows + i), of = (uint32_t)(number + 2);
        if (!has_below(at, of, 2 + number % 20)
            && !(number % 10 == 0 && own->is_wrong[i] && has_below(at, of + 100000, 50))) continue;
        g->judged[i / 64] |= (uint64_t)1 << i % 64;
        g->said.judged++;
        g->said.wrong += own->is_wrong[i];
    }
}

/* size: classes, rows of each, tests of each. */
static spot_status open_state(spot_ctx *c, void **out, const int *size, spot_bench_work *work)
{
    proof_state *b = *out = calloc(1, sizeof *b);
    const size_t classes = (size_t)size[0], rows = (size_t)size[1], tests = classes * (size_t)size[2];

    if (!b) return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    b->rows = size[1], b->tests = size[2];
    b->j = (spot_proving){ .c = c, .s = &b->s, .classes = size[0], .pieces = (int)tests,
                           .cls = calloc(classes, sizeof *b->j.cls), .piece = calloc(tests, sizeof *b->j.piece) };
    b->row = malloc(rows * sizeof *b->row);
    b->member = malloc(classes * rows * sizeof *b->member);
    b->wrong = malloc(classes * rows);
    b->judged = calloc(tests * ((rows + 63) / 64), sizeof *b->judged);
    b->tally = calloc(2 * classes, sizeof *b->tally);
    if (!b->j.cls || !b->j.piece || !b->row || !b->member || !b->wrong || !b->judged || !b->tally)
        return spot_fail(c, SPOT_NOMEM, "no memory for a bench");
    for (int i = 0; i < size[1]; i++) b->row[i] = i;
    for (int k = 0; k < size[0]; k++) {
        fill_class(b, k);
        for (int t = 0; t < size[2]; t++) fill_slice(b, k, t);
    }
    work->items = SPOT_PROOF_DRAWS * (double)tests;
    return SPOT_OK;
}

static spot_status run(spot_ctx *c, void *p)
{
    (void)c;
    return spot_proof_correct(&((proof_state *)p)->j);
}

/* One of ten slices has more errors than its class, far beyond chance; of the others 1 of 20 is confirmed at most. */
static spot_status check(spot_ctx *c, void *p)
{
    proof_state *b = p;
    int planted = 0, found = 0, others = 0;

    SPOT_TRY(run(c, p));
    for (int i = 0; i < b->j.pieces; i++) {
        const double corrected = b->j.piece[i].said.corrected;
        if (!(corrected >= 0 && corrected <= 1)) return spot_fail(c, SPOT_CHECK, "corrected p of test %d: %g", i, corrected);
        planted += i % 10 == 0;
        found += i % 10 == 0 && corrected <= 0.05;
        others += i % 10 != 0 && corrected <= 0.05;
    }
    spot_log(c, SPOT_LOG_INFO, "%d of %d planted slices and %d others have a corrected p up to 0.05", found, planted, others);
    return found == planted && others <= b->j.pieces / 20
               ? SPOT_OK : spot_fail(c, SPOT_CHECK, "%d of %d planted slices and %d others", found, planted, others);
}

static void close_state(spot_ctx *c, void *p)
{
    proof_state *b = p;

    (void)c;
    if (b) {
        free(b->j.cls), free(b->j.piece), free(b->row), free(b->member), free(b->wrong), free(b->judged), free(b->tally);
    }
    free(b);
}

static const spot_bench_kind kind = { open_state, check, run, close_state };

const spot_bench_row spot_bench_proof[] = {
    { "proof", "9,999 draws, 600 tests, 100,000 rows in 10 classes", "tests", SPOT_ON_CPU, &kind, { 10, 10000, 60 },
      { 2, 1000, 20 } },
    { "proof", "9,999 draws, 600 tests, 100,000 rows in one class", "tests", SPOT_ON_CPU, &kind, { 1, 100000, 600 },
      { 1, 2000, 20 } },
    { 0 },
};
