/* test_figures.c - results by factor against counts by hand, the paper's tables beside a run's, figures as files. */
#define _POSIX_C_SOURCE 200809L
#include "check_results.h"

#include <cairo.h>
#include <limits.h>

#include "report/table/factors.h"
#include "report/figure/figure.h"
#include "report/table/paper.h"

static spot_config cfg, other;
static char dir[96];

static spot_results *made(spot_ctx *c, const char *yaml)
{
    spot_results *r;
    CHECK_OK(c, spot_config_parse(c, CHECK_AGAIN(&cfg), yaml, strlen(yaml), "config"));
    if (yaml == paper_like) {                                   /* from weights, as the paper's */
        cfg.model.init = check_text("%s/weights", root);
        CHECK_OK(c, spot_file_write(c, cfg.model.init, "w", 1));
    }
    snprintf(dir, sizeof dir, "%s/run", root);
    fake_run(c, dir, &cfg);
    CHECK_OK(c, spot_results_read(c, &r, dir, false));
    return r;
}

TEST(words_of_a_blindspot_read_back)
{
    char text[512];
    spot_blindspot b = { .len = 0 }, back;
    unsigned features;
    for (int layer = 0; layer < SPOT_LAYERS; layer++)
        for (int k = 0; k < SPOT_ATTRIBUTES; k++)
            for (int v = 0; v < 2; v++) {
                bool background = layer == SPOT_BACKGROUND;
                if (background ? k < SPOT_COLOR || k == SPOT_NUMBER : k == SPOT_RELATIVE_POSITION) continue;
                if (k == SPOT_NUMBER && layer != SPOT_SQUARE) continue;
                if (b.len == SPOT_MAX_TRIPLETS) b.len = 0;
                b.triplet[b.len++] = (spot_triplet){ (uint8_t)layer, (uint8_t)k, (int8_t)v };
                spot_blindspot_describe(text, sizeof text, &b);
                assert_true(spot_blindspot_read(&back, text));
                assert_int_equal(back.len, b.len);
                assert_memory_equal(back.triplet, b.triplet, (size_t)b.len * sizeof *b.triplet);
            }
    assert_false(spot_blindspot_read(&back, "square, a dog"));
    assert_false(spot_blindspot_read(&back, "squar"));
    assert_true(spot_features_read(&features, "square above, square, no circle, text striped, text"));
    assert_int_equal(features, 1u << SPOT_FEATURE_RELATIVE_POSITION | 1u << SPOT_FEATURE_PRESENCE | 1u << SPOT_FEATURE_TEXTURE |
                               1u << (SPOT_FEATURE_PRESENCE + 2));
}

TEST_WITH(factors_count_what_they_say, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_results *r = made(&c, paper_like);
    spot_factor_row row;
    int rows = 0, planted = 0;
    for (int i = 0; spot_factor_next(r, &i, &row); rows++) {
        planted += spot_factor_is_of_planting(&row);
        spot_estimate e = spot_factor(r, 3, row.rate, row.level);
        double sum = 0;
        int n = 0;
        for (int k = 0; k < r->ecs; k++) {                     /* once more, the long way */
            const spot_rates *s = &r->method[3].rates[k];
            if (k == 7 || k == 9) continue;
            if (row.rate != SPOT_RATE_COVERED) {
                if (row.level.blindspots > 0 && r->ec[k].blindspots != row.level.blindspots) continue;
                if (row.level.induce && (r->ec[k].index % 5 ? SPOT_FLIP_LABELS : SPOT_RARE) != row.level.induce - 1) continue;
                if (row.level.complexity && (r->ec[k].index % 4 ? 1 : 2) != row.level.complexity) continue;
                if (row.rate == SPOT_RATE_FDR && s->dr == 0) continue;
                sum += row.rate == SPOT_RATE_DR ? s->dr : s->fdr;
                n++;
                continue;
            }
            for (int m = 0; m < r->ec[k].blindspots; m++) {
                bool with = row.level.feature >= 0 && (r->ec[k].features[m] & 1u << row.level.feature);
                if (row.level.feature >= 0 && with != row.level.has) continue;
                if (row.level.specificity > 0 && r->ec[k].specificity[m] != row.level.specificity) continue;
                if (row.level.severity) {                      /* [0.6, 0.8), [0.8, 1] */
                    int wrong = 30 - (r->ec[k].index + m) % 13;
                    if ((wrong < 24 ? 4 : 5) != row.level.severity) continue;
                }
                sum += s->covered[m];
                n++;
            }
        }
        assert_int_equal(e.n, n);
        CHECK_NEAR(e.mean, sum / n, 1e-12);
        assert_true(e.low <= e.mean && e.mean <= e.high && e.low >= 0 && e.high <= 1);
    }
    assert_true(rows > 3 + 3 + 3 + 2 * 4);
    assert_int_equal(planted, 2 * 2 + 2 * 2 + 2);             /* of each factor two levels */
    spot_results_free(r);
}

/* A kind of feature that defines no blindspot has no row "without" it either: it would repeat the mean of all. */
TEST(features_without_blindspots_have_no_rows)
{
    spot_results_ec ec = { .blindspots = 2, .counted = true, .rendered = true, .features = { 1u << SPOT_FEATURE_SIZE } };
    spot_results *r = calloc(1, sizeof *r);
    spot_factor_row row;
    int rows = 0;

    assert_non_null(r);
    r->cfg.data.coco = "";
    r->ecs = 1;
    r->ec = &ec;
    for (int i = 0; spot_factor_next(r, &i, &row);) rows += row.level.feature == SPOT_FEATURE_SIZE;
    assert_int_equal(rows, 2);
    for (int i = 0; spot_factor_next(r, &i, &row);) assert_true(row.level.feature < 0 || row.level.feature == SPOT_FEATURE_SIZE);
    free(r);
}

/* Wilson's interval for 8 of 10 is 0.4902 to 0.9433 (Wilson 1927; Brown, Cai & DasGupta 2001 print 0.49, 0.94). */
TEST(intervals_are_wilsons)
{
    bool scored[10];
    spot_rates rates[10] = { { 0 } };
    spot_results_ec ec[10] = { { 0 } };
    spot_results *r = calloc(1, sizeof *r);
    spot_estimate e;
    assert_non_null(r);
    r->ecs = 10;
    r->methods = 1;
    r->ec = ec;
    r->method[0].rates = rates;
    r->method[0].scored = scored;
    for (int i = 0; i < 10; i++) {
        ec[i] = (spot_results_ec){ .blindspots = 1, .specificity = { 5 }, .counted = true };
        rates[i] = (spot_rates){ .dr = i < 8, .fdr = i < 8 ? 0 : NAN, .covered = { i < 8 } };
        scored[i] = true;
    }
    e = spot_factor(r, 0, SPOT_RATE_COVERED, SPOT_EVERY);
    CHECK_NEAR(e.mean, 0.8, 1e-15);
    CHECK_NEAR(e.low, 0.49016, 1e-5);
    CHECK_NEAR(e.high, 0.94332, 1e-5);
    e = spot_factor(r, 0, SPOT_RATE_DR, SPOT_EVERY);           /* s.e. sqrt(10 x 0.16 / 9 / 10) */
    CHECK_NEAR(e.se, 0.1333333, 1e-6);
    CHECK_NEAR(e.low, 0.8 - 1.96 * 0.1333333, 1e-5);
    CHECK_NEAR(e.high, 1, 0);
    assert_int_equal(spot_factor(r, 0, SPOT_RATE_FDR, SPOT_EVERY).n, 8);
    assert_int_equal(spot_factor(r, 0, SPOT_RATE_DR, (spot_level){ 2, -1, -1, -1, 0, 0, 0 }).n, 0);
    free(r);
}

static char *paper(spot_ctx *c, int number, spot_table_format format)
{
    const char *const dirs[] = { dir };
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    CHECK_OK(c, spot_tables_paper(c, f, dirs, 1, number, format, false));
    fclose(f);
    return text;
}

static void holds(char *text, const char *words)
{
    if (!strstr(text, words)) fail_msg("\"%s\" is not in\n%s", words, text);
}

TEST_WITH(rows_are_found_by_settings, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_results *r = made(&c, "ecs: 20\nbdms:\n"
        " - {method: spotlight, name: a, profile: paper, min_weight: [0.005, 0.01]}\n"
        " - {method: domino, name: b, gamma: 10, representation: model}\n"
        " - {method: barlow, name: depths, depth: [3, 11], representation: model}\n"
        " - {method: planespot, name: c, reduce: scvis}\n"
        " - {method: planespot, name: d, reduce: [tsne, pca], weight: [0.025, 0.1]}\n");
    char *text;
    text = paper(&c, 2, SPOT_TABLE_TEXT);
    holds(text, "18 of 20 ECs counted; left out: 1 did not learn their blindspots, 1\n  failed to train\n");
    holds(text, "profile tmlr");
    holds(text, r->config);
    holds(text, "\nSpotlight     a min_weight=0.01  ");
    holds(text, "\nDomino        not measured    ");
    holds(text, "\nDomino-Model  b   ");
    holds(text, "\nPlaneSpot     c   ");
    holds(text, "0.88 (0.03)");
    holds(text, "no method of the run is Domino, which needs method=domino gamma=10 representation=clip");
    holds(text, "settings that are not the paper's; in brackets its own, or the default where it names none:\n");
    holds(text, "\ndepths depth=11: representation=model (robust), its network=");
    holds(text, "\nc: dr is 0.398 here and 0.88 in the paper, more than two standard errors apart (one");
    if (strstr(text, "min_weight=0.01: dr is")) fail_msg("0.787 and 0.79 are near each other:\n%s", text);
    if (strstr(text, "min_weight=0.005")) fail_msg("another setting is in\n%s", text);
    free(text);
    text = paper(&c, 10, SPOT_TABLE_MD);
    holds(text, "| minimum weight 0.005 | a min_weight=0.005 |");
    holds(text, "| minimum weight 0.02  | not measured ");
    free(text);
    text = paper(&c, 7, SPOT_TABLE_CSV);
    holds(text, "\n7,\"t-SNE, d = 2\",\"d reduce=tsne weight=0.025\",\"");
    holds(text, "\n7,\"scvis, d = 16\",\"\",\"\",,,dr,,,,,0.53,0.066,,\"\",\"\"\n");
    free(text);
    text = paper(&c, 13, SPOT_TABLE_JSON);
    holds(text, "\"paper\": 0.57");
    holds(text, "\"not_returned\": {");
    free(text);
    text = paper(&c, 9, SPOT_TABLE_TEXT);
    holds(text, " here and 0.00 in the paper");                /* the paper's decimals */
    free(text);
    text = paper(&c, 11, SPOT_TABLE_TEXT);
    holds(text, "\nb: representation=model (clip)\n");
    free(text);
    for (int i = 10; i < 13; i++) free(paper(&c, i, SPOT_TABLE_TEXT));
    free(paper(&c, 16, SPOT_TABLE_TEXT));
    CHECK_FAILS(&c, spot_tables_paper(&c, stdout, (const char *const[]){ dir }, 1, 5, SPOT_TABLE_TEXT, false), SPOT_USAGE,
                "tables.unknown: Table 5");
    spot_results_free(r);
}

/* The rows of Domino by the source of its features: the paper's by ViT-B/32 only; another encoder and files never. */
TEST(dominos_rows_go_by_the_encoder)
{
    static const struct { const char *yaml; bool papers, other, files, model, gamma; } of[] = {
        { "encoder: {weights: w}\nbdms: [{method: domino, gamma: 10, representation: clip}]\n",
          true, false, false, false, true },
        { "encoder: {weights: w, shape: other}\nbdms: [{method: domino, gamma: 10, representation: clip}]\n",
          false, true, false, false, false },
        { "bdms: [{method: domino, gamma: 10, representation: file, embeddings: f}]\n", false, false, true, false, true },
        { "bdms: [{method: domino, gamma: 10}]\n", false, false, false, true, true },
        { "encoder: {weights: w, shape: other}\nbdms: [{method: domino, gamma: 10}, {reduce: pca, representation: clip}]\n",
          false, false, false, true, true },
    };
    static const int tables[] = { 2, 13, 16 };
    spot_ctx c = check_ctx(1);
    for (int i = 0; i < LEN(of); i++) {
        CHECK_OK(&c, spot_config_parse(&c, CHECK_AGAIN(&cfg), of[i].yaml, strlen(of[i].yaml), "config"));
        for (int t = 0; t < LEN(tables); t++) {
            const spot_paper_table *p = spot_paper_find(tables[t]);
            for (int k = 0; k < p->rows; k++) {
                const char *name = p->row[k].name;
                bool want = !strcmp(name, "Domino") ? of[i].papers : !strcmp(name, "Domino, other encoder") ? of[i].other
                          : !strcmp(name, "Domino, files") ? of[i].files : !strcmp(name, "Domino-Model") && of[i].model;
                if (spot_method_has(&cfg, 0, p->row[k].needs) != want) fail_msg("config %d, Table %d: %s", i, p->number, name);
            }
        }
        const spot_paper_table *p = spot_paper_find(11);
        for (int k = 0; k < p->rows; k++) {
            bool other_row = strstr(p->row[k].name, "other encoder"), ten = strstr(p->row[k].name, "gamma 10");
            if (spot_method_has(&cfg, 0, p->row[k].needs) != (ten && (other_row ? of[i].other : of[i].gamma)))
                fail_msg("config %d, Table 11: %s", i, p->row[k].name);
        }
    }
}

/* No setting tells that CLIP's rows have length 1 here. */
TEST(the_length_of_clips_rows_is_a_difference)
{
    static const char unit[] = "CLIP's rows=of length 1 (as they are)";
    static const struct { const char *yaml, *row, *differs; } of[] = {
        { "encoder: {weights: w}\nbdms: [{method: domino, gamma: 10, representation: clip}]\n", "Domino", unit },
        { "encoder: {weights: w, shape: other}\nbdms: [{method: domino, gamma: 10, representation: clip}]\n",
          "Domino, other encoder", unit },
        { "bdms: [{method: domino, gamma: 10}]\n", "Domino-Model", "" },
        { "encoder: {weights: w}\nbdms: [{method: spotlight, profile: paper, min_weight: 0.01, representation: clip}]\n",
          "Spotlight", "representation=clip (model)" },
    };
    const spot_paper_table *p = spot_paper_find(2);
    spot_ctx c = check_ctx(1);
    char text[128];
    for (int i = 0; i < LEN(of); i++) {
        CHECK_OK(&c, spot_config_parse(&c, CHECK_AGAIN(&cfg), of[i].yaml, strlen(of[i].yaml), "config"));
        for (int k = 0; k < p->rows; k++)
            if (!strcmp(p->row[k].name, of[i].row))
                assert_string_equal(spot_paper_method_differs(text, sizeof text, &cfg.bdm[0], &p->row[k]), of[i].differs);
    }
    cfg.bdm[0] = spot_bdm_defaults(SPOT_DOMINO);
    cfg.bdm[0].representation = SPOT_BY_CLIP;
    cfg.bdm[0].top = 3, cfg.bdm[0].domino.components = 7, cfg.bdm[0].domino.gamma = 2, cfg.bdm[0].embed.dim = 5;
    spot_paper_method_differs(text, 100, &cfg.bdm[0], &p->row[2]);
    assert_string_equal(text + strlen(text) - strlen(unit), unit);
    assert_non_null(strstr(text, "more, CLIP"));
}

TEST_WITH(runs_of_the_same_ecs_are_joined, set_up, tear_down)
{
    static const char *const yaml[] = { "ecs: 20\nbdms: [{method: spotlight, profile: paper}]\n",
                                        "ecs: 20\nmodel: {robust: {steps: 9}}\n"
                                        "bdms: [{method: barlow}, {method: spotlight, profile: paper}]\n",
                                        "ecs: 20\nseed: 2\nbdms: [{method: barlow}]\n" };
    spot_ctx c = check_ctx(1);
    char path[3][96], *text;
    const char *dirs[] = { path[0], path[1], path[2] };
    size_t n;
    FILE *f;
    for (int i = 0; i < 3; i++) {
        CHECK_OK(&c, spot_config_parse(&c, CHECK_AGAIN(&other), yaml[i], strlen(yaml[i]), "config"));
        snprintf(path[i], sizeof path[i], "%s/%d", root, i);
        fake_run(&c, path[i], &other);
    }
    f = open_memstream(&text, &n);
    CHECK_OK(&c, spot_tables_paper(&c, f, dirs, 2, 2, SPOT_TABLE_CSV, false));
    CHECK_FAILS(&c, spot_tables_paper(&c, f, dirs, 3, 2, SPOT_TABLE_CSV, false), SPOT_USAGE,
                "tables.other_config: seed | 1 | 2");
    fclose(f);
    holds(text, "\"Barlow\",\"barlow\"");
    n = 0;
    for (const char *p = text; (p = strstr(p, "\"Spotlight\",\"spotlight-paper\"")); p++) n++;
    assert_int_equal(n, 2);                                     /* its DR and its FDR, of one of the two runs */
    free(text);
}

static const char unlike[] =
    "ecs: 20\nscene: {size: 64, specificity: [4, 5]}\nmodel: {lr: 0.001, batch: 99, momentum: 0.1, robust: {steps: 9}}\nbdms:\n"
    " - {method: spotlight, name: s, min_weight: 0.01, lr: 0.1, steps: 500}\n"
    " - {method: domino, name: d, gamma: 10, representation: model, components: 5}\n"
    " - {method: planespot, name: p, reduce: scvis}\n"
    " - {method: george, name: g, reduce: tsne}\nmetric: {lambda_r: 0.7}\n";

/* A row is the paper's by what it needs: whatever else is not as there is named, of the method and of the run. */
TEST_WITH(what_is_not_the_papers_is_named, set_up, tear_down)
{
    static const char run[] = "scene.size=64 (224), scene.specificity=[4, 5] ([5, 7]), scene.jpeg_quality=0 (75), "
                              "model.batch=99 (16), model.lr=0.001 (0.0001), model.init=";
    static const spot_table_format formats[] = { SPOT_TABLE_MD, SPOT_TABLE_CSV, SPOT_TABLE_JSON };
    spot_ctx c = check_ctx(1);
    spot_results *r = made(&c, unlike);
    char *text;
    for (int i = 0; i < LEN(formats); i++) {
        text = paper(&c, 2, formats[i]);
        holds(text, run);
        holds(text, "metric.lambda_r=0.7 (0.8)");
        holds(text, "steps=500 (1000), lr=0.1 (0.005)");
        holds(text, "components=5 (25)");
        holds(text, "reduce=tsne (umap)");
        if (strstr(text, "neighbours")) fail_msg("UMAP is no part of t-SNE:\n%s", text);
        free(text);
    }
    spot_results_free(r);
    r = made(&c, paper_like);
    text = paper(&c, 2, SPOT_TABLE_TEXT);
    holds(text, "it names none:\nbarlow: its network=");         /* and nothing else differs */
    if (strstr(text, "scene.") || strstr(text, "model."))
        fail_msg("nothing else differs, but\n%s", text);
    free(text);
    spot_results_free(r);
}

/* A standard error of 2e-5 is not told as 0.000, nor what is so far apart as 0.500. */
TEST_WITH(a_note_has_the_digits_it_needs, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_results *r = made(&c, "ecs: 20\nbdms: [{method: spotlight, name: s, profile: paper, min_weight: 0.01}]\n");
    spot_segment *s = calloc(1, sizeof *s);
    spot_segment_state found;
    char why[1300], *text;
    assert_non_null(s);
    for (int i = 0; i < 20; i++) {
        CHECK_OK(&c, spot_segment_read(&c, dir, i, s, &found, why, sizeof why));
        s->method[0].score.dr = 1;
        s->method[0].score.fdr = 0.5 + 1e-4 * (i % 3);
        CHECK_OK(&c, spot_segment_write(&c, dir, s));
    }
    text = paper(&c, 10, SPOT_TABLE_MD);
    holds(text, "- s: fdr is 0.50010 here and 0.06 in the paper, more than two standard errors apart (one is 0.00002, "
                "of ours alone");
    free(text);
    spot_segment_free(s);
    spot_results_free(r);
}

/* Characters of the widest line; of a table's rows, which must all be as wide as their head. */
static int widest(const char *text, int *ragged)
{
    int most = 0, above = 0;
    *ragged = 0;
    for (const char *end; *text; text = end + 1) {
        int n = 0;
        end = strchr(text, '\n');
        for (const char *p = text; p < end; p++) n += (*p & 0xc0) != 0x80;
        *ragged += above && n && n != above;
        above = n;
        most = n > most ? n : most;
    }
    return most;
}

/* A name of many characters, one of umlauts, one with a bar. */
static const char named[] =
    "ecs: 20\nscene: {size: 64}\nbdms:\n"
    " - {method: spotlight, name: \"spotlight as our colleagues of the other house would like it\",\n"
    "    min_weight: [0.01, 0.02]}\n"
    " - {method: barlow, name: \"Bärlöw äöü\"}\n"
    " - {method: planespot, name: \"a|b\", reduce: scvis}\n"
    " - {method: george}\n - {method: multiaccuracy}\n";

TEST_WITH(tables_fit_a_terminal, set_up, tear_down)
{
    static const int numbers[] = { 2, 7, 9, 10, 11, 12, 13, 16, SPOT_APPENDIX_B };
    spot_ctx c = check_ctx(1);
    spot_results *r = made(&c, named);
    const char *const dirs[] = { dir, dir };
    char *text, *table;
    int ragged, bars = 0;
    size_t n;
    FILE *f;
    for (int i = 0; i <= LEN(numbers); i++) {
        f = open_memstream(&text, &n);
        if (i == LEN(numbers)) CHECK_OK(&c, spot_tables(&c, f, dir, SPOT_TABLE_TEXT, false));
        else CHECK_OK(&c, spot_tables_paper(&c, f, dirs, 1 + i % 2, numbers[i], SPOT_TABLE_TEXT, false));
        fclose(f);
        if (widest(text, &ragged) > 100) fail_msg("more than 100 columns:\n%s", text);
        free(text);
    }
    text = paper(&c, 2, SPOT_TABLE_TEXT);
    holds(text, "\nspotlight as our co…e it min_weight=0.01 is spotlight as our colleagues of the other house");
    table = strstr(text, "\npaper's row");
    strstr(table, "\n\n")[1] = 0;
    widest(table + 1, &ragged);
    assert_int_equal(ragged, 0);
    free(text);
    text = paper(&c, 2, SPOT_TABLE_MD);
    holds(text, "| a\\|b ");
    holds(text, "| spotlight as our colleagues of the other house would like it min_weight=0.01 |");
    table = strstr(text, "| paper's row");
    for (const char *p = table; *p && *p != '\n'; p++) bars += *p == '|';
    for (; *table == '|'; table = strchr(table, '\n') + 1) {
        int here = 0;
        for (const char *p = table; *p != '\n'; p++) here += *p == '|' && p[-1] != '\\';
        assert_int_equal(here, bars);
    }
    free(text);
    spot_results_free(r);
}

TEST_WITH(nothing_done_is_said, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_results *r = made(&c, paper_like);
    spot_figures_options o = { .which = 1u << 3, .png = true, .out = root };
    char command[160], *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    spot_results_free(r);
    snprintf(command, sizeof command, "rm %s/segments/*/*.json", dir);
    assert_int_equal(system(command), 0);
    CHECK_OK(&c, spot_tables(&c, f, dir, SPOT_TABLE_TEXT, false));
    fclose(f);
    holds(text, "0 of 100 ECs are done");
    holds(text, "nothing is done yet; `spotter sweep ");
    if (strstr(text, "numbers 0") || strstr(text, "Means")) fail_msg("of nothing there are no means:\n%s", text);
    free(text);
    text = paper(&c, 2, SPOT_TABLE_TEXT);
    holds(text, "nothing is done yet; `spotter sweep ");
    free(text);
    CHECK_FAILS(&c, spot_figures(&c, dir, &o), SPOT_INPUT, "figures.nothing: spotter sweep");
}

static unsigned char *file(spot_ctx *c, const char *name, size_t *n)
{
    unsigned char *bytes;
    char path[160];
    snprintf(path, sizeof path, "%s/figures/%s", root, name);
    CHECK_OK(c, spot_file_read(c, path, &bytes, n, 1 << 24));
    return bytes;
}

/* Colours that are not grey, in a PNG of the folder. */
static int coloured(const char *name)
{
    char path[160];
    cairo_surface_t *s;
    int n = 0;
    snprintf(path, sizeof path, "%s/figures/%s", root, name);
    s = cairo_image_surface_create_from_png(path);
    assert_int_equal(cairo_surface_status(s), CAIRO_STATUS_SUCCESS);
    for (int y = 0; y < cairo_image_surface_get_height(s); y++) {
        const unsigned char *line = cairo_image_surface_get_data(s) + (size_t)y * (size_t)cairo_image_surface_get_stride(s);
        for (int x = 0; x < cairo_image_surface_get_width(s); x++) n += abs(line[4 * x] - line[4 * x + 2]) > 60;
    }
    cairo_surface_destroy(s);
    return n;
}

TEST_WITH(figures_are_drawn_and_told, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_results *r = made(&c, paper_like);
    spot_figures_options o = { .which = 7u << 2, .png = true, .svg = true };
    static const char *const wrong[] = { "nobody" };
    char folder[96], want[256], *text;
    unsigned char *bytes, *again;
    spot_estimate e;
    size_t n, m;
    snprintf(folder, sizeof folder, "%s/figures", root);
    o.out = folder;
    o.csv = open_memstream(&text, &n);
    CHECK_OK(&c, spot_figures(&c, dir, &o));
    fclose(o.csv);
    o.csv = NULL;
    for (int i = 2; i <= 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "figure_%d.png", i);
        assert_true(coloured(name) > 500);
        snprintf(name, sizeof name, "figure_%d.svg", i);
        bytes = file(&c, name, &m);
        assert_non_null(strstr((char *)bytes, "<svg"));
        assert_non_null(strstr((char *)bytes, "</svg>"));
        free(bytes);
    }
    e = spot_factor(r, 0, SPOT_RATE_DR, (spot_level){ 2, -1, -1, -1, 0, 0, 0 });
    assert_int_equal(e.n + e.left_out, 33);                     /* ECs of two blindspots */
    snprintf(want, sizeof want, "3,\"%s\",%s,tmlr,Discovery rate (DR),\"barlow\",2,run,%.9g,%.9g,%.9g,%.9g,%d,%d,"
             "\"its network=", dir, r->config, e.mean, e.low, e.high, e.se, e.n, e.left_out);
    holds(text, want);
    holds(text, "\"barlow\",all,paper,0.43,");
    holds(text, "\"planespot-scvis\",all,paper,0.88,0.8212,0.9388,0.03,100,,\"\",\"\"\n");
    holds(text, "\n2,");
    holds(text, "\n4,");
    free(text);
    bytes = file(&c, "figure_3.png", &n);                       /* the same picture every time */
    CHECK_OK(&c, spot_figures(&c, dir, &o));
    again = file(&c, "figure_3.png", &m);
    assert_true(n == m && !memcmp(bytes, again, n));
    free(bytes);
    free(again);
    o.method = wrong;
    o.methods = 1;
    CHECK_FAILS(&c, spot_figures(&c, dir, &o), SPOT_USAGE, "figures.no_method: \"nobody\"");
    spot_results_free(r);
}

/* The figure itself, before it is drawn: captions and counts are no text in a picture. */
TEST_WITH(figures_say_what_failed_and_over_how_many, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_results *r = made(&c, unlike);
    const spot_figures_options o = { .which = 1u << 3 };
    spot_figure *f = calloc(1, sizeof *f);
    const spot_chart_panel *p;
    char want[64], picture[2][96];
    unsigned char *bytes, *other_bytes;
    int least = INT_MAX, most = 0;
    size_t n, m;
    assert_non_null(f);
    *f = (spot_figure){ .c = &c, .o = &o, .r = r };
    CHECK_OK(&c, spot_figure_compose(f, 3));
    holds(f->chart.caption, "\nSettings that are not the paper's; in brackets its own, or the default where it names none:\n"
                            "the run: scene.size=64 (224), ");
    holds(f->chart.caption, "\ns: steps=500 (1000), lr=0.1 (0.005)\nd: components=5 (25)\n");
    for (int b = 0; b < 4; b++) {
        int k = spot_factor(r, b, SPOT_RATE_FDR, SPOT_EVERY).n;
        least = k < least ? k : least;
        most = k > most ? k : most;
    }
    assert_true(least < most);
    p = &f->chart.panel[1];
    snprintf(want, sizeof want, "%d–%d ECs", least, most);
    assert_string_equal(p->level[p->levels - 2].count, want);   /* all; behind it the paper's */
    p = &f->chart.panel[0];
    assert_string_equal(p->level[p->levels - 2].count, "18 ECs");
    assert_string_equal(f->chart.name[0], "s");

    for (int i = 0; i < 20; i++) fake_failure(&c, dir, i, 0, "no luck");
    fake_failure(&c, dir, 4, 1, "singular");
    spot_results_free(r);
    CHECK_OK(&c, spot_results_read(&c, &r, dir, false));
    f->r = r;
    CHECK_OK(&c, spot_figure_compose(f, 3));
    assert_string_equal(f->chart.name[0], "s (failed)");
    assert_string_equal(f->chart.name[1], "d (failed in 1 EC)");
    holds(f->chart.caption, "\ns failed in 18 of the 18 ECs counted; EC 0: no luck");
    holds(f->chart.caption, "\nd failed in 1 of the 18 ECs counted; EC 4: singular");
    assert_string_equal(f->chart.panel[0].level[f->chart.panel[0].levels - 2].count, "17–18 ECs");

    for (int b = 1; b < 4; b++)
        for (int i = 0; i < 20; i++) fake_failure(&c, dir, i, b, "no luck");
    spot_results_free(r);
    CHECK_OK(&c, spot_results_read(&c, &r, dir, false));
    f->r = r;
    CHECK_OK(&c, spot_figure_compose(f, 3));
    assert_string_equal(f->chart.panel[0].empty, "every method failed");
    for (int k = 0; k < 2; k++) {                               /* and that is seen */
        snprintf(picture[k], sizeof picture[k], "%s/%d.png", root, k);
        CHECK_OK(&c, spot_chart_write(&c, picture[k], &f->chart));
        f->chart.panel[0].empty[0] = 0;
    }
    CHECK_OK(&c, spot_file_read(&c, picture[0], &bytes, &n, 1 << 24));
    CHECK_OK(&c, spot_file_read(&c, picture[1], &other_bytes, &m, 1 << 24));
    assert_true(n != m || memcmp(bytes, other_bytes, n));
    free(bytes);
    free(other_bytes);
    free(f);
    spot_results_free(r);
}

TEST_WITH(many_methods_need_a_choice, set_up, tear_down)
{
    spot_ctx c = check_ctx(1);
    spot_results *r = made(&c, "ecs: 20\nbdms: [{method: planespot, reduce: pca, weight: [1, 2, 3, 4, 5, 6, 7, 8, 9]}]\n");
    const char *two[] = { "planespot-pca weight=3", "planespot-pca weight=9" };
    spot_figures_options o = { .which = 1u << 3, .png = true, .out = root };
    CHECK_FAILS(&c, spot_figures(&c, dir, &o), SPOT_USAGE, "figures.methods: 9 | 8");
    o.method = two;
    o.methods = 2;
    CHECK_OK(&c, spot_figures(&c, dir, &o));
    spot_results_free(r);
}

/* Which shipped config fills which table: every row of the paper's but CLIP's, whose weights a user must bring. The small
 * configs have Spotlight with Spotter's settings only. */
TEST(shipped_configs_hold_the_papers_rows)
{
    static const struct { const char *config; int table; const char *no; } of[] = {
        { "paper_synthetic", 2, "" }, { "paper_synthetic", 13, "" }, { "paper_synthetic", 16, "" },
        { "ablation_representation", 16, "" }, { "ablation_reducers", 7, "" }, { "tuning", 9, "" }, { "tuning", 10, "" },
        { "tuning", 11, "" }, { "tuning", 12, "" }, { "mini_synthetic", 2, "profile=paper" },
        { "mini_tuning", 9, "" }, { "mini_tuning", 10, "profile=paper" }, { "mini_tuning", 11, "" }, { "mini_tuning", 12, "" },
        { "coco", 4, "" }, { "coco_reducers", 8, "" }, { "openimages", 15, "" }, { "paper_settings", 2, "method=barlow" },
    };
    spot_ctx c = check_ctx(1);
    char path[128], differs[SPOT_DIFFERS];
    for (int i = 0; i < LEN(of); i++) {
        const spot_paper_table *t = spot_paper_find(of[i].table);
        snprintf(path, sizeof path, "../configs/%s.yaml", of[i].config);
        CHECK_OK(&c, spot_config_load(&c, CHECK_AGAIN(&cfg), path));
        assert_int_equal(spot_paper_experiment(&cfg), t->experiment);
        spot_paper_run_differs(differs, sizeof differs, &cfg);
        if (!strcmp(of[i].config, "paper_settings")) assert_string_equal(differs, "");
        else if (t->experiment != SPOT_EXPERIMENT_SYNTHETIC)
            assert_string_equal(differs, "model.batch=64 (16), model.precision=bf16 (fp32)");
        else if (!strstr(differs, "model.base.images=51200 (0)")) fail_msg("%s starts from a base model: %s", path, differs);
        for (int k = 0; k < t->rows; k++) {
            bool found = t->row[k].extra || strstr(t->row[k].needs, "representation=clip")
                         || (*of[i].no && strstr(t->row[k].needs, of[i].no));
            for (int b = 0; b < cfg.bdms && !found; b++) found = spot_method_has(&cfg, b, t->row[k].needs);
            if (!found) fail_msg("%s has no method for the row \"%s\" of Table %d", path, t->row[k].name, t->number);
        }
    }
}

/* The configs of appendix B and of COCO's pools are what their pages say. */
TEST(shipped_configs_plant_and_pool)
{
    static const struct { const char *config; int induce; double flip; } ways[] = {
        { "half", SPOT_FLIP_LABELS, 0.5 }, { "third", SPOT_FLIP_LABELS, 0.3 }, { "out", SPOT_LEAVE_OUT, 1 },
        { "flip", SPOT_FLIP_LABELS, 1 },
    };
    static spot_ec first[50];
    static const struct { const char *config; int pool, ecs, each; } pools[] = {
        { "coco_singles", SPOT_POOL_SINGLES, 24, 20 }, { "coco_number", SPOT_POOL_NUMBER, 82, 10 },
        { "coco_specificity", SPOT_POOL_SPECIFICITY, 82, 20 },
    };
    spot_ctx c = check_ctx(1);
    char path[128];
    for (int w = 0; w < LEN(ways); w++) {
        snprintf(path, sizeof path, "../configs/appendix_b_%s.yaml", ways[w].config);
        CHECK_OK(&c, spot_config_load(&c, CHECK_AGAIN(&cfg), path));
        assert_int_equal(cfg.ecs, LEN(first));
        assert_int_equal(cfg.variants, 0);
        assert_int_equal(cfg.scene.induce, ways[w].induce);
        CHECK_NEAR(cfg.scene.flip, ways[w].flip, 0);
        CHECK_NEAR(cfg.scene.size, 64, 0);
        CHECK_NEAR(cfg.model.learned_gap, 0.2, 0);
        for (int i = 0; i < cfg.ecs; i++) {                  /* the same blindspots in the same scenes */
            spot_ec ec;
            CHECK_OK(&c, spot_ec_draw(&c, &ec, &cfg.scene, cfg.seed, (uint32_t)i));
            ec.scene = (spot_scene_config){ 0 };
            if (!w) first[i] = ec;
            assert_memory_equal(&ec, &first[i], sizeof ec);
        }
    }
    for (int i = 0; i < LEN(pools); i++) {
        snprintf(path, sizeof path, "../configs/%s.yaml", pools[i].config);
        CHECK_OK(&c, spot_config_load(&c, CHECK_AGAIN(&cfg), path));
        assert_int_equal(cfg.data.pool, pools[i].pool);
        assert_int_equal(cfg.ecs, pools[i].ecs);
        assert_int_equal(cfg.data.each, pools[i].each);
        assert_string_equal(cfg.data.induced_from, i ? "runs/coco_singles" : "");
    }
}
