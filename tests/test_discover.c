/* spot_discover: planted slices are found, who is left out and why, failures stay alone, bytes are equal, files are whole.
 * ctest: threads, ctest: long */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <yajl/yajl_tree.h>

#include "base/file.h"
#include "check_folder.h"
#include "discover/search/search.h"
#include "spotter/discover.h"
#include "spotter/rng.h"

enum { N = 900, D = 12, CLASSES = 4, CLUSTERS = 6, PLANTED = 2, FEW = 10 };

/* Classes 0 and 1: six clusters around a hexagon in a plane of 12 dimensions; cluster 2 is wrong, all else right but for a row
 * here and there. Class 2: always right. Class 3: FEW rows. */
typedef struct {
    float feature[N][D], confidence[N];
    int target[N], cluster[N];
    char *name[CLASSES], *id[N], text[N][16];
    spot_subject s;
} subject;

static void make_subject(subject *x)
{
    static char *const names[CLASSES] = { "cat", "dog, \"big\"", "bird", "newt" };
    spot_rng r = spot_rng_at(7, SPOT_RNG_BOOTSTRAP, 0, 0);

    memset(x, 0, sizeof *x);
    for (int i = 0; i < N; i++) {
        int k = x->cluster[i] = (i / 3) % CLUSTERS;
        bool wrong;
        x->target[i] = i < FEW ? 3 : i % 3;
        wrong = x->target[i] != 2 && (k == PLANTED ? i % 10 != 1 : i % 50 == 0);
        for (int j = 0; j < D; j++) x->feature[i][j] = 0.3f * (float)spot_rng_normal(&r);
        x->feature[i][0] += 6 * (float)cos(k * 1.0472);
        x->feature[i][1] += 6 * (float)sin(k * 1.0472);
        x->confidence[i] = (float)((wrong ? 0.05 : 0.75) + 0.2 * spot_rng_uniform(&r));
        snprintf(x->text[i], sizeof x->text[i], "img%03d.png", i);
        x->id[i] = x->text[i];
    }
    memcpy(x->name, names, sizeof x->name);
    x->s = (spot_subject){ .n = N, .d = D, .classes = CLASSES, .feature = x->feature[0], .target = x->target,
                           .confidence = x->confidence, .class_name = x->name, .id = x->id, .source = "a test" };
}

static spot_bdm_config planespot(int reduce)
{
    spot_bdm_config cfg = spot_bdm_defaults(SPOT_PLANESPOT);

    cfg.embed.method = reduce;
    cfg.embed.tsne.iterations = 300;
    cfg.mixture.k_max = 10;
    return cfg;
}

static const uint64_t seeds[] = { 3, 4 };

static spot_discover_options options(const spot_bdm_config *bdm, int bdms)
{
    spot_discover_options o = spot_discover_defaults();

    o.bdm = bdm;
    o.bdms = bdms;
    o.seed = seeds;
    return o;
}

/* Without a choice of methods: those that `spotter discover` and `check` take. */
TEST(default_methods)
{
    const spot_discover_options o = spot_discover_defaults();
    spot_bdm_config named[2];
    spot_ctx c = check_ctx(2);
    static subject x;
    spot_findings f;
    int found = 0;

    make_subject(&x);
    assert_int_equal(o.bdms, 2);
    memcpy(named, o.bdm, sizeof named);
    assert_int_equal(named[0].method, SPOT_JOINSPOT);
    assert_int_equal(named[1].method, SPOT_WARD);
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    assert_int_equal(f.count, 4);                              /* of two classes */
    for (int i = 0; i < f.count; i++) found += f.finding[i].slices > 0;
    assert_int_equal(found, 4);
    spot_findings_close(&f);
}

TEST(finds_what_was_planted)
{
    const spot_bdm_config bdm[] = { planespot(SPOT_REDUCE_TSNE), planespot(SPOT_REDUCE_PCA) };
    spot_discover_options o = options(bdm, 2);
    spot_ctx c = check_ctx(2);
    static subject x;
    spot_findings f;

    make_subject(&x);
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    assert_int_equal(f.count, 4);
    for (int i = 0; i < f.count; i++) {
        const spot_finding *g = &f.finding[i];
        const spot_slice *top = &g->slice[0];
        int both = 0, planted = 0, wrong = 0;
        assert_int_equal(g->status, SPOT_OK);
        assert_int_equal(g->cls, i / 2);
        assert_int_equal(g->bdm, i % 2);
        for (int r = 0; r < N; r++) planted += x.target[r] == g->cls && x.cluster[r] == PLANTED;
        for (int r = 0; r < top->size; r++) {
            both += x.target[top->row[r]] == g->cls && x.cluster[top->row[r]] == PLANTED;
            wrong += x.confidence[top->row[r]] < 0.5f;
            if (r) assert_true(top->row[r] > top->row[r - 1]);
        }
        if (both < 0.8 * planted || both < 0.8 * top->size)
            fail_msg("finding %d: %d rows planted, %d found, %d of them right", i, planted, top->size, both);
        assert_int_equal(top->wrong, wrong);
        CHECK_NEAR(top->error_rate, (double)wrong / top->size, 1e-12);
        CHECK_NEAR(top->share, (double)wrong / g->wrong, 1e-12);
    }
    spot_findings_close(&f);
}

/* Class 2 is always right, class 3 has ten rows: they are named, and have no place in the map. */
TEST(leaves_out_and_says_whom)
{
    const spot_bdm_config bdm = planespot(SPOT_REDUCE_NONE);
    spot_discover_options o = options(&bdm, 1);
    spot_ctx c = check_ctx(2);
    static subject x;
    spot_findings f;

    make_subject(&x);
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    assert_int_equal(f.left_out, 2);
    assert_int_equal(f.left_class[0], 2);
    assert_int_equal(f.left_class[1], 3);
    for (int i = 0; i < N; i++)                     /* a map by PCA, since PlaneSpot was given none */
        for (int k = 0; k < 2; k++) assert_int_equal(isnan(f.map[2 * i + k]) != 0, x.target[i] >= 2);
    assert_null(f.finding[0].points.at);
    spot_findings_close(&f);
    o.cls = 2;
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    assert_int_equal(f.count, 1);
    assert_int_equal(f.finding->slices + f.finding->wrong + f.left_out, 0);
    spot_findings_close(&f);
    o.cls = 3;
    CHECK_FAILS(&c, spot_discover(&c, &f, &x.s, &o), SPOT_INPUT, "discover.few_rows: class \"newt\" | 10 | 20");
    spot_findings_close(&f);
    o.cls = 9;
    CHECK_FAILS(&c, spot_discover(&c, &f, &x.s, &o), SPOT_USAGE, "class.number: class 9");
}

/* A classifier that has nothing wrong has no slices, also in classes of a few rows; one that has wrong rows in such classes
 * alone has none either; one that has everything wrong has none that is judged. */
TEST(nothing_wrong_and_nothing_right_are_results)
{
    const spot_proof_options proof = spot_proof_defaults();
    const spot_bdm_config bdm = planespot(SPOT_REDUCE_NONE);
    spot_discover_options o = options(&bdm, 1);
    spot_ctx c = check_ctx(2);
    char note[SPOT_FINDINGS_NOTE], expected[SPOT_FINDINGS_NOTE];
    static subject x;
    spot_findings f;

    make_subject(&x);
    for (int kind = 0; kind < 6; kind++) {
        const int wrong = kind / 2;                    /* nothing, the small class, everything */
        for (int i = 0; i < N; i++) x.confidence[i] = wrong == 2 || (wrong == 1 && x.target[i] == 3) ? 0.1f : 0.9f;
        o.proof = kind % 2 ? &proof : NULL;
        CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
        assert_int_equal(f.count, wrong ? 3 + (kind == 5) : 4);       /* with a proof also all rows */
        assert_int_equal(f.left_out, wrong ? 1 : 0);
        for (int i = 0; i < f.count && kind != 4; i++) assert_int_equal(f.finding[i].slices, 0);
        assert_false(isnan(f.map[0]) && isnan(f.map[2 * (N - 1)]));
        spot_findings_note(note, &f, &x.s);
        snprintf(expected, sizeof expected, wrong == 0 ? "nothing is wrong: %d of %d right" : wrong == 1 ?
                 "nothing was searched: the wrong ones, 10 of %d, are in classes with too few rows" :
                 "nothing is right: all %d are wrong, and no group fails more often than the rest", N, N);
        assert_string_equal(note, expected);
        spot_findings_close(&f);
    }
    o.least = N + 1;
    CHECK_FAILS(&c, spot_discover(&c, &f, &x.s, &o), SPOT_INPUT, "discover.few_rows: 4 | ");
    spot_findings_close(&f);
}

static void assert_same(const spot_finding *a, const spot_finding *b)
{
    assert_int_equal(a->slices, b->slices);
    assert_int_equal(a->n, b->n);
    for (int k = 0; k < a->slices; k++) {
        assert_int_equal(a->slice[k].size, b->slice[k].size);
        assert_memory_equal(a->slice[k].row, b->slice[k].row, (size_t)a->slice[k].size * sizeof(int));
        assert_true(a->slice[k].score == b->slice[k].score);
        assert_int_equal(a->slice[k].neighbours, b->slice[k].neighbours);
        assert_memory_equal(a->slice[k].neighbour, b->slice[k].neighbour, (size_t)a->slice[k].neighbours * sizeof(int));
    }
}

/* 200 components on classes of 297 rows and fewer: a class of 30 rows fails, and the other two are as they are without it. */
static size_t bytes_of_fits(subject *x)
{
    const spot_bdm_config bdm = spot_bdm_defaults(SPOT_WARD);
    spot_discover_options o = options(&bdm, 1);
    spot_proof_options proof = spot_proof_defaults();
    spot_ctx c = check_ctx(1);
    spot_candidate *list = NULL;
    int count, left_out;
    size_t findings[2];

    o.proof = &proof;
    CHECK_OK(&c, spot_candidates(&c, &x->s, &o, &list, &count, &left_out));
    for (int fit = 0; fit < 2; fit++) {
        spot_bytes all;
        o.fit = fit;
        findings[fit] = spot_findings_bytes(&x->s, &o, list, count);
        CHECK_OK(&c, spot_discover_cost(&c, &x->s, &o, &all, NULL));
        assert_true(all.host >= spot_subject_bytes(&x->s) + findings[fit]);
    }
    free(list);
    return findings[1] - findings[0];
}

/* Fits that are kept after a proof have the features of all rows, those of classes that are left out, too. */
TEST(stated_memory_counts_rows_that_are_left_out)
{
    static subject x;
    size_t all;
    int n = 0;

    make_subject(&x);
    all = bytes_of_fits(&x);
    for (int i = 0; i < N; i++) {
        if (x.target[i] > 1) continue;
        memmove(x.feature[n], x.feature[i], sizeof x.feature[n]);
        x.confidence[n] = x.confidence[i];
        x.target[n++] = x.target[i];
    }
    x.s.n = n;
    assert_true(n < 2 * N / 3 + 1 && all >= bytes_of_fits(&x) + (size_t)(N - n) * D * sizeof(float));
}

TEST(failures_stay_alone)
{
    spot_bdm_config bdm[2] = { planespot(SPOT_REDUCE_PCA), planespot(SPOT_REDUCE_PCA) };
    spot_discover_options o = options(bdm, 2);
    spot_ctx c = check_ctx(2);
    static subject x, y;
    spot_findings f, g;

    make_subject(&x);
    make_subject(&y);
    for (int i = 0, moved = 0; i < N && moved < 25; i++)
        if (x.target[i] == 2) {
            x.target[i] = 3;
            x.confidence[i] = 0.1f;
            moved++;
        }
    bdm[0].mixture.k_min = bdm[0].mixture.k_max = 40;
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    CHECK_OK(&c, spot_discover(&c, &g, &y.s, &o));
    assert_int_equal(f.count, 6);
    assert_int_equal(f.finding[4].status, SPOT_INPUT);
    assert_non_null(strstr(f.finding[4].message, "class \"newt\": 35 "));
    assert_non_null(strstr(f.finding[4].message, " 40 "));
    assert_int_equal(f.finding[4].slices, 0);
    assert_int_equal(f.finding[5].status, SPOT_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(f.finding[i].status, SPOT_OK);
        assert_same(&f.finding[i], &g.finding[i]);
    }
    spot_findings_close(&f);
    spot_findings_close(&g);
    o.cls = 3;
    o.bdms = 1;
    CHECK_FAILS(&c, spot_discover(&c, &f, &x.s, &o), SPOT_INPUT, "finding.failed: 35");
    spot_findings_close(&f);
}

TEST(maps_are_shared)
{
    spot_bdm_config bdm[] = { planespot(SPOT_REDUCE_TSNE), planespot(SPOT_REDUCE_TSNE), planespot(SPOT_REDUCE_PCA) };
    spot_discover_options o = options(bdm, 3);
    spot_ctx c = check_ctx(2);
    static subject x;
    spot_findings f;

    make_subject(&x);
    bdm[1].weight = 1;
    o.seeds = 2;
    o.cls = 1;
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    assert_int_equal(f.count, 6);
    for (int i = 0; i < 6; i++) assert_int_equal(f.finding[i].seed, seeds[i % 2]);
    assert_ptr_equal(f.finding[0].points.at, f.finding[2].points.at);
    assert_ptr_equal(f.finding[1].points.at, f.finding[3].points.at);
    assert_ptr_not_equal(f.finding[0].points.at, f.finding[1].points.at);
    assert_ptr_equal(f.finding[4].points.at, f.finding[5].points.at);     /* PCA draws nothing at random */
    spot_findings_close(&f);
}

/* Beside a search that looks at every row. */
TEST(neighbours_are_the_nearest_correct)
{
    const spot_bdm_config bdm = planespot(SPOT_REDUCE_PCA);
    spot_discover_options o = options(&bdm, 1);
    spot_ctx c = check_ctx(2);
    static subject x;
    spot_findings f;

    make_subject(&x);
    o.neighbours = 5;
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    for (int i = 0; i < f.count; i++)
        for (int k = 0; k < f.finding[i].slices; k++) {
            const spot_slice *s = &f.finding[i].slice[k];
            double mean[D] = { 0 }, farthest = 0;
            int nearer = 0;
            assert_int_equal(s->neighbours, 5);
            for (int r = 0; r < s->size; r++)
                for (int j = 0; j < D; j++) mean[j] += x.feature[s->row[r]][j] / (double)s->size;
            for (int r = 0; r < N; r++) {
                double far = 0;
                bool named = false;
                if (x.target[r] != f.finding[i].cls) continue;
                for (int j = 0; j < D; j++) far += (x.feature[r][j] - mean[j]) * (x.feature[r][j] - mean[j]);
                for (int e = 0; e < 5; e++) named |= s->neighbour[e] == r;
                if (named) {
                    assert_true(x.confidence[r] > 0.5f);
                    farthest = fmax(far, farthest);
                }
            }
            for (int r = 0; r < N; r++) {
                double far = 0;
                if (x.target[r] != f.finding[i].cls || x.confidence[r] < 0.5f) continue;
                for (int j = 0; j < D; j++) far += (x.feature[r][j] - mean[j]) * (x.feature[r][j] - mean[j]);
                nearer += far <= farthest;
            }
            assert_int_equal(nearer, 5);
        }
    spot_findings_close(&f);
}

static char *read_file(spot_ctx *c, const char *dir, const char *name, size_t *n)
{
    unsigned char *bytes;
    char path[512];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    CHECK_OK(c, spot_file_read(c, path, &bytes, n, 1 << 26));
    return (char *)bytes;
}

/* One thread and all classes at once; two threads and so little memory that classes go one by one; and from the cache. */
TEST_IN_FOLDER(bytes_are_equal)
{
    static const char *const files[] = { "slices.csv", "slices.json", "map.npy", "config.yaml", "fit.safetensors" };
    const spot_bdm_config bdm[] = { planespot(SPOT_REDUCE_TSNE), spot_bdm_defaults(SPOT_SPOTLIGHT) };
    spot_discover_options o = options(bdm, 2);
    char dir[3][128], cache[128];
    spot_bytes both, each;
    static subject x;
    spot_findings f;

    make_subject(&x);
    snprintf(cache, sizeof cache, "%s/kept", root);
    o.fit = true;
    for (int way = 0; way < 3; way++) {
        spot_ctx c = check_ctx(way ? 2 : 1);
        snprintf(dir[way], sizeof dir[way], "%s/found %d/here", root, way);
        o.memory = 0;
        CHECK_OK(&c, spot_discover_cost(&c, &x.s, &o, &both, NULL));
        o.memory = way ? both.host - 1 : 0;
        CHECK_OK(&c, spot_discover_cost(&c, &x.s, &o, &each, NULL));
        if (way) assert_true(each.host < both.host);
        o.cache = way ? cache : NULL;
        CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
        CHECK_OK(&c, spot_findings_write(&c, dir[way], &f, &x.s, &o));
        spot_findings_close(&f);
        for (int k = 0; way && k < LEN(files); k++) {
            size_t n, m;
            char *a = read_file(&c, dir[0], files[k], &n), *b = read_file(&c, dir[way], files[k], &m);
            assert_int_equal(n, m);
            assert_memory_equal(a, b, n);
            free(a);
            free(b);
        }
    }
    o.memory = 100000;
    spot_ctx c = check_ctx(2);
    CHECK_FAILS(&c, spot_discover_cost(&c, &x.s, &o, &both, NULL), SPOT_NOMEM, "discover.memory");
    CHECK_FAILS(&c, spot_discover(&c, &f, &x.s, &o), SPOT_NOMEM, "discover.memory: class");
    spot_findings_close(&f);
}

/* ---- asked to stop ---- */

static volatile sig_atomic_t stop;
static int steps;

static void stop_late(void *user, const spot_progress *p)
{
    (void)user;
    steps++;
    if (p->done / p->total > 0.6) stop = 1;
}

static void count_steps(void *user, const spot_progress *p)
{
    (void)user;
    (void)p;
    steps++;
}

TEST_IN_FOLDER(goes_on_where_it_stopped)
{
    const spot_bdm_config bdm[] = { planespot(SPOT_REDUCE_TSNE), planespot(SPOT_REDUCE_UMAP) };
    spot_discover_options o = options(bdm, 2);
    spot_ctx c = check_ctx(2);
    static subject x;
    spot_findings f;
    int whole, rest;

    make_subject(&x);
    const char *cache = in_root("kept");
    c.on_progress = count_steps;
    steps = 0;
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    spot_findings_close(&f);
    whole = steps;
    o.cache = cache;
    c.stop = &stop;
    c.on_progress = stop_late;
    assert_int_equal(spot_discover(&c, &f, &x.s, &o), SPOT_STOPPED);
    spot_findings_close(&f);
    spot_forget(&c);
    stop = 0;
    steps = 0;
    c.on_progress = count_steps;
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    rest = steps;
    assert_true(rest < whole);
    steps = 0;
    spot_findings_close(&f);
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    assert_int_equal(steps, 0);
    assert_int_equal(f.count, 4);
    spot_findings_close(&f);
}

/* ---- files ---- */

static yajl_val at(yajl_val v, const char *key)
{
    const char *path[] = { key, NULL };

    v = yajl_tree_get(v, path, yajl_t_any);
    assert_non_null(v);
    return v;
}

/* Ids with quotes, commas, line breaks, controls and bytes that are no UTF-8. */
TEST_IN_FOLDER(files_hold_odd_names)
{
    static char *const odd[] = { "a,b", "say \"hi\"", "two\nlines", "tab\tand\x01", "caf\xc3\xa9", "latin\xe9!", "</script>",
                                 "", "half \xed\xa0\x80", " blank " };
    const spot_bdm_config bdm = planespot(SPOT_REDUCE_PCA);
    spot_discover_options o = options(&bdm, 1);
    spot_ctx c = check_ctx(2);
    static subject x;
    spot_findings f;
    char error[256], *text;
    yajl_val all, findings, slice;
    size_t n;

    make_subject(&x);
    for (int i = 0; i < N; i++) x.id[i] = odd[i % LEN(odd)];
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    CHECK_OK(&c, spot_findings_write(&c, root, &f, &x.s, &o));
    text = read_file(&c, root, "slices.json", &n);
    for (size_t i = 0; i < n; i++) assert_true((unsigned char)text[i] >= ' ' || text[i] == '\n');
    all = yajl_tree_parse(text, error, sizeof error);         /* refuses what is no UTF-8 */
    assert_non_null(all);
    assert_int_equal(at(all, "schema")->u.number.i, 1);
    assert_int_equal(at(at(all, "subject"), "rows")->u.number.i, N);
    assert_int_equal(at(all, "left_out")->u.array.len, 2);
    assert_string_equal(at(at(all, "left_out")->u.array.values[1], "why")->u.string, "fewer than 20 rows");
    findings = at(all, "findings");
    assert_int_equal(findings->u.array.len, 2);
    assert_string_equal(at(findings->u.array.values[1], "class")->u.string, "dog, \"big\"");
    slice = at(findings->u.array.values[0], "slices")->u.array.values[0];
    assert_int_equal(at(slice, "size")->u.number.i, f.finding[0].slice[0].size);
    CHECK_NEAR(at(slice, "error_rate")->u.number.d, f.finding[0].slice[0].error_rate, 0);
    for (int k = 0; k < 8; k++) {
        yajl_val near = at(slice, "nearest_correct")->u.array.values[k];
        const char *id = odd[at(near, "row")->u.number.i % LEN(odd)];
        if (id == odd[5]) assert_string_equal(at(near, "id")->u.string, "latin\xef\xbf\xbd!");
        else if (id != odd[8]) assert_string_equal(at(near, "id")->u.string, id);
    }
    yajl_tree_free(all);
    free(text);
    text = read_file(&c, root, "slices.csv", &n);
    assert_memory_equal(text, "id,class,method,seed,rank,score,number,entry\n", 45);
    assert_non_null(strstr(text, "\n\"a,b\",cat,planespot-pca,3,1,"));
    assert_non_null(strstr(text, "\n\"say \"\"hi\"\"\",\"dog, \"\"big\"\"\",planespot-pca,3,"));
    assert_non_null(strstr(text, "\n\"two\nlines\",cat,"));
    assert_non_null(strstr(text, "\nlatin\xe9!,cat,"));
    assert_non_null(strstr(text, "\n\" blank \",cat,"));
    free(text);
    spot_findings_close(&f);
}

/* Rows of several classes: a row counts for each that it has. */
TEST(rows_of_several_classes)
{
    static uint8_t has[N][CLASSES];
    static float prob[N][CLASSES];
    const spot_bdm_config bdm = planespot(SPOT_REDUCE_PCA);
    spot_discover_options o = options(&bdm, 1);
    spot_ctx c = check_ctx(2);
    static subject x;
    spot_findings f;

    make_subject(&x);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < CLASSES; k++) {
            has[i][k] = k == 0 || k == x.target[i];
            prob[i][k] = x.confidence[i];
        }
    x.s.target = NULL;
    x.s.confidence = NULL;
    x.s.has = has[0];
    x.s.prob = prob[0];
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    assert_int_equal(f.count, 2);
    assert_int_equal(f.finding[0].n, N);
    assert_int_equal(f.left_out, 2);
    spot_findings_close(&f);
    o.cls = SPOT_ALL_CLASSES;
    CHECK_FAILS(&c, spot_discover(&c, &f, &x.s, &o), SPOT_USAGE, "discover.several_classes");
}

static void count_guessing(void *user, spot_log_level level, const char *text)
{
    *(int *)user += level == SPOT_LOG_WARN && strstr(text, "which guessing among 2 classes explains");
}

/* A classifier that guesses is told, once; one that is right, one of several classes known by the label's probability alone,
 * and one without classes are not. */
TEST(guessing_is_told)
{
    const spot_bdm_config bdm = planespot(SPOT_REDUCE_PCA);
    spot_discover_options o = options(&bdm, 1);
    spot_proof_options proof = spot_proof_defaults();
    spot_ctx c = check_ctx(2);
    static subject x;
    spot_findings f;
    int told = 0;

    make_subject(&x);
    c.on_log = count_guessing;
    c.user = &told;
    for (int i = 0; i < N; i++) x.target[i] %= 2;
    x.s.classes = 2;
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    spot_findings_close(&f);
    assert_int_equal(told, 0);
    for (int i = 0; i < N; i++) x.confidence[i] = i % 20 < 10 ? 0.3f : 0.8f;
    x.s.classes = 4;
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    spot_findings_close(&f);
    assert_int_equal(told, 0);
    x.s.classes = 2;
    o.proof = &proof;
    CHECK_OK(&c, spot_discover(&c, &f, &x.s, &o));
    spot_findings_close(&f);
    assert_int_equal(told, 1);
}

/* Features that are the answer decide it, and so does nothing of the class; noise decides nothing; of rows that are there twice
 * the copy tells the answer, unless both are one group. */
TEST(features_that_decide_the_answer)
{
    enum { ROWS = 600, WIDE = 4 };
    static float feature[ROWS][WIDE], confidence[ROWS];
    static int target[ROWS], predicted[ROWS], group[ROWS];
    spot_subject s = { .n = ROWS, .d = WIDE, .classes = 3, .feature = feature[0], .target = target, .confidence = confidence,
                       .predicted = predicted };
    spot_rng r = spot_rng_at(11, SPOT_RNG_BOOTSTRAP, 0, 0);
    char note[SPOT_FINDINGS_NOTE];
    spot_ctx c = check_ctx(2);
    spot_decided d;

    for (int i = 0; i < ROWS; i++) {
        target[i] = i % 3, group[i] = i / 6;
        predicted[i] = spot_rng_uniform(&r) < 0.3 ? (target[i] + 1) % 3 : target[i];
        for (int j = 0; j < WIDE; j++) feature[i][j] = (float)spot_rng_normal(&r) + (j < 3 ? 9 * (predicted[i] == j) : 0);
    }
    CHECK_OK(&c, spot_features_decide(&c, &d, &s));
    assert_true(d.decide && d.wrong > 0.99 && d.same > 0.99 && fabs(d.expected - 0.58) < 0.05 && d.rows == ROWS);
    assert_non_null(strstr(spot_features_note(note, &d), "--embed neutral"));
    for (int i = 0; i < ROWS; i++) for (int j = 0; j < WIDE; j++) feature[i][j] = (float)spot_rng_normal(&r);
    CHECK_OK(&c, spot_features_decide(&c, &d, &s));
    assert_true(!d.decide && fabs(d.wrong - 0.5) < 0.06 && d.same < 0.4);
    assert_null(strchr(spot_features_note(note, &d), '\n'));
    for (int i = 3; i < ROWS; i += 6)
        for (int k = i; k < i + 3; k++) memcpy(feature[k], feature[k - 3], sizeof *feature), predicted[k] = predicted[k - 3];
    CHECK_OK(&c, spot_features_decide(&c, &d, &s));
    assert_true(d.wrong > 0.55);
    s.group = group, s.groups = ROWS / 6;
    CHECK_OK(&c, spot_features_decide(&c, &d, &s));
    assert_true(fabs(d.wrong - 0.5) < 0.1);
    s.target = NULL;
    CHECK_OK(&c, spot_features_decide(&c, &d, &s));
    assert_true(!d.rows && !*spot_features_note(note, &d));
}

TEST(wrong_arguments)
{
    spot_bdm_config bdm = planespot(SPOT_REDUCE_PCA);
    spot_discover_options o = options(&bdm, 1);
    spot_ctx c = check_ctx(2);
    static subject x;
    spot_findings f;

    make_subject(&x);
    o.neighbours = 9;
    CHECK_FAILS(&c, spot_discover(&c, &f, &x.s, &o), SPOT_INVALID, "discover.least: 9");
    o.neighbours = 0;
    o.bdms = 0;
    CHECK_FAILS(&c, spot_discover(&c, &f, &x.s, &o), SPOT_INVALID, "discover.methods: 0");
    o.bdms = 1;
    bdm.representation = SPOT_BY_FILE;
    CHECK_FAILS(&c, spot_discover(&c, &f, &x.s, &o), SPOT_USAGE, "discover.representation: file");
    bdm.representation = SPOT_BY_MODEL;
    x.feature[17][5] = NAN;
    CHECK_FAILS(&c, spot_discover(&c, &f, &x.s, &o), SPOT_INPUT, "features.value: row 17");
    x.feature[17][5] = 0;
    x.confidence[3] = 1.5f;
    CHECK_FAILS(&c, spot_discover(&c, &f, &x.s, &o), SPOT_INPUT, "probability.value: row 3");
}
