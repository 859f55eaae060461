/* check_findings.h - findings made by hand: classes as clouds of points with pockets in which the model fails, found (more or
 * less) by two methods under one or two seeds. For tests of the report. */
#ifndef SPOTTER_TESTS_CHECK_FINDINGS_H
#define SPOTTER_TESTS_CHECK_FINDINGS_H

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "checks.h"
#include "formats/png.h"
#include "spotter/discover.h"
#include "spotter/rng.h"

typedef struct {
    spot_subject s;
    spot_findings f;
    spot_discover_options o;
    spot_bdm_config bdm[2];
    uint64_t seed[2];
    float *points;                 /* (n, 2) */
    int *pocket;                   /* (n): in which of its class's pockets a row is, -1 none */
    spot_proof *proof;             /* fake_prove: of all slices; their pieces */
    spot_piece *piece;
    spot_proof_options tests;
} fake_findings;

enum { FAKE_POCKETS = 4 };

static inline char *fake_text(const char *fmt, int i)
{
    char text[256];
    snprintf(text, sizeof text, fmt, i);
    return strdup(text);
}

/* Row i is of class i % classes; each fifth row of a class lies in one of its pockets and is mostly wrong. */
static inline void fake_rows(fake_findings *k, int n, int classes, uint64_t seed)
{
    spot_subject *s = &k->s;
    *s = (spot_subject){ .n = n, .d = 2, .classes = classes };
    s->target = malloc((size_t)n * sizeof(int));
    s->prob = malloc((size_t)n * (size_t)classes * sizeof(float));
    s->confidence = malloc((size_t)n * sizeof(float));
    s->id = malloc((size_t)n * sizeof *s->id);
    s->class_name = malloc((size_t)classes * sizeof *s->class_name);
    s->feature = k->points = malloc((size_t)n * 2 * sizeof(float));
    k->pocket = malloc((size_t)n * sizeof(int));
    for (int i = 0; i < classes; i++) s->class_name[i] = fake_text("class %d", i);
    for (int i = 0; i < n; i++) {
        spot_rng r = spot_rng_at(seed, SPOT_RNG_PCA, 7, (uint32_t)i);
        int cls = i % classes, other = (cls + (classes > 2 && i / classes % 4 == 1 ? 2 : 1)) % classes;
        int pocket = spot_rng_below(&r, 5) ? -1 : (int)spot_rng_below(&r, FAKE_POCKETS);
        double angle = 2.4 * (pocket + 1) + cls, far = pocket < 0 ? 0 : 5 + pocket;
        double width = pocket < 0 ? 2.6 : 0.5 + 0.1 * pocket, wrong = pocket < 0 ? 0.04 : 0.9 - 0.15 * pocket;
        float p = (float)(spot_rng_uniform(&r) < wrong ? 0.45 * spot_rng_uniform(&r) : 1 - 0.4 * spot_rng_uniform(&r));
        k->pocket[i] = pocket;
        k->points[2 * i] = (float)(far * cos(angle) + width * spot_rng_normal(&r));
        k->points[2 * i + 1] = (float)(far * sin(angle) + width * spot_rng_normal(&r));
        s->target[i] = cls;
        s->confidence[i] = p;
        for (int j = 0; j < classes; j++)
            s->prob[i * classes + j] = j == cls ? p : j == other ? (float)(1 - p) : 0;
        s->id[i] = fake_text("images/img_%06d.png", i);
    }
    snprintf(s->source, sizeof s->source, "embeddings.npy, labels.npy and probs.npy: %d rows of %d classes", n, classes);
}

/* Method 0 finds the pockets; method 1 cuts each where x is less than its middle, and adds a slice of few errors. */
static inline void fake_slice(fake_findings *k, spot_finding *f, int rank, double score)
{
    spot_slice *s = &f->slice[f->slices];
    *s = (spot_slice){ .score = score, .row = malloc((size_t)f->n * sizeof(int)) };
    for (int j = 0; j < f->n; j++) {
        int i = f->row[j];
        bool in = k->pocket[i] == rank;
        if (f->bdm == 1) in = in && (i / k->s.classes) % 3;
        if (rank == FAKE_POCKETS) in = k->pocket[i] < 0 && k->points[2 * i] > 2;
        if (in) {
            s->row[s->size++] = i;
            s->wrong += spot_subject_wrong(&k->s, i, f->cls);
            s->mean_confidence += k->s.confidence[i];
        }
    }
    if (!s->size) { free(s->row); return; }
    s->mean_confidence /= s->size;
    s->error_rate = (double)s->wrong / s->size;
    s->share = f->wrong ? (double)s->wrong / f->wrong : 0;
    for (int j = 0; j < f->n && s->neighbours < 6; j += 3)
        if (!spot_subject_wrong(&k->s, f->row[j], f->cls)) s->neighbour[s->neighbours++] = f->row[j];
    f->slices++;
}

static inline void fake_finding(fake_findings *k, spot_finding *f, int cls, int bdm, uint64_t seed)
{
    *f = (spot_finding){ .bdm = bdm, .cls = cls, .seed = seed, .row = malloc((size_t)k->s.n * sizeof(int)) };
    for (int i = 0; i < k->s.n; i++)
        if (k->s.target[i] == cls) {
            f->row[f->n++] = i;
            f->wrong += spot_subject_wrong(&k->s, i, cls);
        }
    f->points = (spot_points){ .n = f->n, .d = 2, .at = malloc((size_t)f->n * 2 * sizeof(float)) };
    for (int j = 0; j < f->n; j++) memcpy(f->points.at + 2 * j, k->points + 2 * f->row[j], 2 * sizeof(float));
    for (int rank = 0; rank < FAKE_POCKETS + bdm; rank++) fake_slice(k, f, rank, 10 - rank);
}

static inline void fake_open(fake_findings *k, int n, int classes, int seeds, uint64_t seed)
{
    *k = (fake_findings){ .seed = { 0, 1 } };
    fake_rows(k, n, classes, seed);
    if (classes == 1) free(k->s.prob), k->s.prob = NULL;      /* of one class only its own probability is known */
    k->bdm[0] = spot_bdm_defaults(SPOT_PLANESPOT);
    k->bdm[1] = spot_bdm_defaults(SPOT_DOMINO);
    k->o = (spot_discover_options){ .bdm = k->bdm, .bdms = 2, .seed = k->seed, .seeds = seeds, .cls = SPOT_EACH_CLASS,
                                    .least = 20, .neighbours = 6 };
    k->f.finding = calloc((size_t)(classes * 2 * seeds), sizeof *k->f.finding);
    for (int cls = 0; cls < classes; cls++)
        for (int b = 0; b < 2; b++)
            for (int j = 0; j < seeds; j++) fake_finding(k, &k->f.finding[k->f.count++], cls, b, k->seed[j]);
}

/* ---- proofs: one merged finding for each class, with numbers that hang together and claims made by hand ---- */

/* The rows of odd place judge. The first two slices of a class are confirmed, the third is suggested, the fourth may be chance;
 * the last, with few errors, is fine. The second one of class 2 says no more than its predicted classes do. */
static inline void fake_proof(fake_findings *k, spot_proof *v, spot_piece *e, const spot_finding *f,
                              const spot_slice *s, int rank)
{
    static const double p[] = { 1e-6, 0.0004, 0.12, 0.6, 1 };
    int judged = 0, wrong = 0;
    uint8_t *origin = malloc((size_t)s->size);

    *v = (spot_proof){ .claim = rank < 2 ? SPOT_CLAIM_CONFIRMED : rank < 3 ? SPOT_CLAIM_SUGGESTED : SPOT_CLAIM_CHANCE,
                       .p = p[rank], .cell = rank ? 0.05 : NAN, .predicted = (f->cls + 1) % k->s.classes,
                       .predicted_share = 1, .pieces = 2, .piece = e, .tests = 30, .origin = origin,
                       .groups = rank ? 0 : 3 };
    for (int i = 0; i < s->size; i++) origin[i] = s->row[i] / k->s.classes % 2 ? SPOT_ORIGIN_JUDGED : SPOT_ORIGIN_FOUND;
    for (int i = 0; i < s->size; i++)
        if (s->row[i] / k->s.classes % 2) v->judged++, v->wrong += spot_subject_wrong(&k->s, s->row[i], f->cls);
    for (int i = 0; i < f->n; i++)
        if (f->row[i] / k->s.classes % 2) judged++, wrong += spot_subject_wrong(&k->s, f->row[i], f->cls);
    v->class_rate = judged ? (double)wrong / judged : NAN;
    v->excess.value = v->judged ? (double)v->wrong / v->judged - v->class_rate : NAN;
    if (rank == FAKE_POCKETS) v->excess.value = -fabs(v->excess.value);
    v->excess.low = v->excess.value - 0.1;
    v->excess.high = v->excess.value + 0.1;
    v->shrunk = 0.7 * v->excess.value;
    if (f->cls == 2 && rank == 1) v->cell = (double)v->wrong / v->judged;
    for (int b = 0; b < 2; b++)
        e[b] = (spot_piece){ .bdm = b, .part = b, .rank = rank + 1, .found = s->size - v->judged,
                             .found_wrong = s->wrong - v->wrong,
                             .judged = v->judged, .wrong = v->wrong, .base = v->judged * v->class_rate,
                             .p = p[rank] / (b ? 4 : 30), .corrected = b ? fmin(1, 4 * p[rank]) : p[rank] };
}

/* Keeps of each class the finding of method 1, which has the slice with few errors, and proves its slices. */
static inline void fake_prove(fake_findings *k)
{
    const int most = k->f.count * (FAKE_POCKETS + 1);
    int kept = 0, used = 0;

    k->proof = calloc((size_t)most, sizeof *k->proof);
    k->piece = calloc((size_t)most * 2, sizeof *k->piece);
    k->tests = (spot_proof_options){ .parts = 2, .holdout = 0.5, .neighbours = 5, .chance = 19, .level = 0.05, .same = 0.5 };
    k->o.proof = &k->tests;
    for (int i = 0; i < k->f.count; i++) {
        spot_finding *f = &k->f.finding[i];
        if (f->bdm != 1 || f->seed) {
            for (int j = 0; j < f->slices; j++) free(f->slice[j].row);
            free(f->row);
            free(f->points.at);
            continue;
        }
        f->merged = true;
        for (int j = 0; j < f->slices; j++, used++) {
            fake_proof(k, &k->proof[used], &k->piece[2 * used], f, &f->slice[j], (int)(10 - f->slice[j].score));
            f->slice[j].proof = &k->proof[used];
        }
        k->f.finding[kept++] = *f;
    }
    k->f.count = kept;
}

/* The class has too few rows, it is said, and no findings. */
static inline void fake_leave_out(fake_findings *k, int cls)
{
    static int left[1];
    int kept = 0;

    left[0] = cls;
    for (int i = 0; i < k->f.count; i++) {
        spot_finding *f = &k->f.finding[i];
        if (f->cls != cls) { k->f.finding[kept++] = *f; continue; }
        for (int j = 0; j < f->slices; j++) free(f->slice[j].row);
        free(f->row);
        free(f->points.at);
    }
    k->f.count = kept;
    k->f.left_out = 1, k->f.left_class = left;
}

/* Behind fake_prove: a finding on all rows, whose slice has the rows outside of pockets that are taken for class 0: a cell of
 * the confusion matrix in several classes. */
static inline void fake_across(fake_findings *k)
{
    static spot_proof proof;
    spot_finding *f = &k->f.finding[k->f.count++];
    spot_slice *s = f->slice;

    *f = (spot_finding){ .cls = SPOT_ALL_CLASSES, .merged = true, .slices = 1 };
    f->row = malloc((size_t)k->s.n * sizeof(int));
    *s = (spot_slice){ .row = malloc((size_t)k->s.n * sizeof(int)), .proof = &proof };
    for (int i = 0; i < k->s.n; i++) {
        const bool wrong = spot_subject_wrong(&k->s, i, k->s.target[i]);
        f->row[f->n++] = i;
        f->wrong += wrong;
        if (wrong && k->pocket[i] < 0 && spot_subject_predicted(&k->s, i) == 0) s->row[s->size++] = i;
    }
    s->wrong = s->size, s->error_rate = 1, s->share = (double)s->wrong / f->wrong;
    proof = (spot_proof){ .claim = SPOT_CLAIM_CONFIRMED, .p = 0.001, .judged = s->size, .wrong = s->size, .class_rate = 0.2,
                          .excess = { 0.8, 0.7, 0.9 }, .shrunk = 0.6, .cell = NAN, .predicted = 0, .predicted_share = 1,
                          .pieces = 1, .piece = k->piece, .tests = 30, .origin = malloc((size_t)s->size) };
    memset(proof.origin, SPOT_ORIGIN_JUDGED, (size_t)s->size);
}

/* Attributes of which the number of a row tells whether it has them: it is even; it ends in 0 to 4, of two names. */
static inline void fake_attributes(fake_findings *k)
{
    enum { ITEMS = 3, MOST = 1024 };
    static char *name[ITEMS] = { "even=yes", "last=low (<= 4)", "</script><b>last</b>" };
    static int column[ITEMS] = { 0, 1, 2 };
    static double range[ITEMS][2] = { { NAN, NAN }, { -1, 4 }, { NAN, NAN } };
    static uint64_t bit[ITEMS * MOST / 64];
    static spot_attributes a;

    a = (spot_attributes){ k->s.n, ITEMS, ((size_t)k->s.n + 63) / 64, name, column, range, bit };
    memset(bit, 0, sizeof bit);
    for (int i = 0; i < k->s.n && i < MOST; i++)
        for (int j = 0; j < ITEMS; j++)
            if (j ? i % 10 < 5 : i % 2 == 0) bit[(size_t)j * a.words + (size_t)i / 64] |= (uint64_t)1 << i % 64;
    k->o.attributes = &a;
}

/* Names that are one but for a capital letter; with &; of a value, not a third, that has a bracket; of a class. */
static inline void fake_names(fake_findings *k)
{
    static char *name[] = { "colour=Grey", "last=low (<= 4)", "colour=grey", "black & white", "kind=old (worn)", "class 1" };
    static int column[] = { 0, 1, 0, 2, 3, 4 };
    static double range[][2] = { { NAN, NAN }, { -1, 4 }, { NAN, NAN }, { NAN, NAN }, { NAN, NAN }, { NAN, NAN } };
    static uint64_t bit[6 * 1024 / 64];
    static spot_attributes a;
    const size_t words = k->o.attributes->words;

    for (int i = 0; i < 6; i++)
        memcpy(bit + (size_t)i * words, k->o.attributes->bit + (size_t)(i % 3) * words, words * sizeof *bit);
    a = *k->o.attributes;
    a.items = 6, a.name = name, a.column = column, a.range = range, a.bit = bit;
    k->o.attributes = &a;
}

/* The labels of the first two wrong rows of the first slice may be wrong. */
static inline void fake_suspects(fake_findings *k)
{
    static int row[2], cls[2];
    const spot_finding *f = k->f.finding;

    k->f.suspects = (spot_suspects){ .known = true, .row = row, .cls = cls };
    for (int i = 0; i < f->slice->size && k->f.suspects.count < 2; i++) {
        if (!spot_subject_wrong(&k->s, f->slice->row[i], f->cls)) continue;
        row[k->f.suspects.count] = f->slice->row[i];
        cls[k->f.suspects.count++] = (f->cls + 2) % k->s.classes;
    }
}

/* In the first slice the second row has the path of the first one's picture, and the third a file with the same bytes. */
static inline void fake_twins(spot_ctx *c, fake_findings *k)
{
    const spot_slice *s = k->f.finding[0].slice;
    unsigned char *png;
    size_t n;

    free(k->s.image[s->row[1]]);
    k->s.image[s->row[1]] = strdup(k->s.image[s->row[0]]);
    CHECK_OK(c, spot_file_read(c, k->s.image[s->row[0]], &png, &n, 1 << 20));
    CHECK_OK(c, spot_file_write(c, k->s.image[s->row[2]], png, n));
    free(png);
}

/* Ids and classes that try to become markup, to end a script or a line, or are no UTF-8. */
static const char *const fake_nasty[] = {
    "</script><script>window.hacked = 1</script>", "<img src=x onerror=\"window.hacked = 2\">", "a\nb\rc\td",
    "\xff\xfe\xc0\x80", "\"quotes\" and 'these', \\back", "<!-- <script>", "\xe2\x80\xae" "drawkcab",
    "&amp; {{what}} {{page.css}}", "\xed\xa0\x80\xf4\x90\x80\x80", "=1+1", "",
};
enum { FAKE_NASTY = sizeof fake_nasty / sizeof *fake_nasty };

/* The first slice of all gets all of them as words; the slice behind it a conjunction of three, which chance may have made. */
static inline void fake_descriptions(fake_findings *k)
{
    static spot_word word[FAKE_NASTY];
    static spot_conjunction both;
    spot_slice *s = k->f.finding[0].slice;

    for (int i = 0; i < FAKE_NASTY; i++)
        word[i] = (spot_word){ (char *)(uintptr_t)fake_nasty[i], 1.0 / (i + 3), i ? 0.75 : NAN, i < 2 ? 0.001 : 0.5 };
    both = (spot_conjunction){ .items = 3, .item = { -1, -1, -1 }, .held_out = { 50, 7, 0, 0, 0, NAN, 0, 0, NAN, -0.5, 1 },
                               .all = { 100, 13, 4, 3, 2, 0.75, 3 / 13.0, 6 / 17.0, 75 / 13.0, 2.5, 1e-7 } };
    for (int i = 0; i < 3; i++) both.name[i] = word[i].phrase;
    s[0].words = FAKE_NASTY;
    s[0].word = word;
    s[1].conjunction = &both;
}

static inline void fake_hostile(fake_findings *k)
{
    fake_descriptions(k);
    for (int i = 0; i < FAKE_NASTY; i++) {
        int row = 3 * i;
        free(k->s.id[row]);
        k->s.id[row] = strdup(fake_nasty[i]);
    }
    free(k->s.class_name[1]);
    k->s.class_name[1] = strdup("</script><b>bold\xff</b>");
    snprintf(k->s.source, sizeof k->s.source, "</title><script>window.hacked = 3</script> & \"co\"");
}

/* The colour of row i's picture: a page that shows another row's is found out. */
static inline void fake_colour(uint8_t rgb[3], int i)
{
    rgb[0] = (uint8_t)(28 + i * 37 % 200);
    rgb[1] = (uint8_t)(28 + i * 91 % 200);
    rgb[2] = (uint8_t)(28 + i * 53 % 200);
}

/* A picture of one colour for each row, some wide and some high; none for row 7, no file for row 5, no PNG for row 11. */
static inline void fake_pictures(spot_ctx *c, fake_findings *k, const char *folder)
{
    static uint8_t rgb[96 * 96 * 3];

    k->s.image = calloc((size_t)k->s.n, sizeof *k->s.image);
    for (int i = 0; i < k->s.n; i++) {
        int width = i % 3 == 1 ? 32 : 96, height = i % 3 == 2 ? 40 : 96;
        char path[256];
        unsigned char *png;
        size_t bytes;
        snprintf(path, sizeof path, "%s/%d.png", folder, i);
        if (i != 7) k->s.image[i] = strdup(path);
        if (i == 5 || i == 7) continue;
        for (int p = 0; p < width * height; p++) fake_colour(rgb + 3 * p, i);
        CHECK_OK(c, spot_png_encode(c, &png, &bytes, rgb, width, height));
        CHECK_OK(c, spot_file_write(c, path, png, i == 11 ? 20 : bytes));
        free(png);
    }
}

static inline void fake_close(fake_findings *k)
{
    for (int i = 0; i < k->f.count; i++) {
        for (int j = 0; j < k->f.finding[i].slices; j++) {
            if (k->proof) free(k->f.finding[i].slice[j].proof->origin);
            free(k->f.finding[i].slice[j].row);
        }
        free(k->f.finding[i].row);
        free(k->f.finding[i].points.at);
    }
    for (int i = 0; i < k->s.n; i++) {
        free(k->s.id[i]);
        if (k->s.image) free(k->s.image[i]);
    }
    for (int i = 0; i < k->s.classes; i++) free(k->s.class_name[i]);
    free(k->s.image);
    free(k->s.id);
    free(k->s.class_name);
    free(k->s.target);
    free(k->s.prob);
    free(k->s.confidence);
    free(k->points);
    free(k->pocket);
    free(k->f.finding);
    free(k->proof);
    free(k->piece);
}

#endif
