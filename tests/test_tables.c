/* test_tables.c - segments written by hand: read back, damaged, averaged. */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"
#include "check_folder.h"

#include <math.h>
#include <stdlib.h>

#include "spotter/report.h"
#include "study/keys.h"
#include "store/store.h"
#include "sweep/segment.h"

static spot_config *config(spot_ctx *c)
{
    static const char text[] = "ecs: 3\nbdms: [{reduce: pca}, {reduce: pca, name: heavy, weight: 0.5}]\n";
    spot_config *cfg = malloc(sizeof *cfg);
    assert_non_null(cfg);
    CHECK_OK(c, spot_config_parse(c, cfg, text, sizeof text - 1, "config"));
    return cfg;
}

static void shell(const char *fmt)
{
    char command[512];
    snprintf(command, sizeof command, fmt, root);
    assert_int_equal(system(command), 0);
}

/* Numbers beside DR and FDR. Coherent slices are the precise ones in EC 0 and 1. */
static void fill_beside(spot_score *s, int ec)
{
    for (int k = 0; k < SPOT_BESIDES; k++) s->beside[k] = 0.25 * (ec + 1) / (k + 1);
    s->beside[SPOT_FALSE_ALARMS] = NAN;
    s->hypotheses = 2;
    for (int h = 0; h < 2; h++) {
        s->coherence[h] = 0.1 * (1 + 2 * h + ec);
        s->bp[h][0] = 0.2 * (1 + 2 * h + ec);
        s->bp[h][1] = 0.01;
    }
    if (ec == 1) s->coherence[0] = NAN;
}

static void write_segment(spot_ctx *c, const char *dir, const spot_config *cfg, int index, bool learned, double dr,
                          double fdr)
{
    spot_segment *s = calloc(1, sizeof *s);
    spot_identity id;
    assert_non_null(s);
    CHECK_OK(c, spot_identify(c, &id, cfg, NULL));
    spot_key_text(s->config, id.config);
    s->index = index;
    s->metric = cfg->metric;
    s->blindspots = 2;
    s->specificity[0] = 5;
    s->specificity[1] = 7;
    s->lesson = (spot_learning){ .outside = 0.995, .inside = { 0.01, NAN }, .learned = learned };
    assert_true(spot_segment_methods(s, s->methods = 2));
    for (int b = 0; b < 2; b++) {
        strcpy(s->method[b].name, "m");
        s->method[b].score = (spot_score){ .blindspots = 2, .dr = dr, .fdr = fdr, .covered = { dr > 0, dr == 1 },
                                           .failure = { { 1, 0, 0, 0 }, { .5, .5, 0, 0 } } };
        fill_beside(&s->method[b].score, index);
    }
    CHECK_OK(c, spot_segment_write(c, dir, s));
    spot_segment_free(s);
}

static char *tables(spot_ctx *c, const char *dir, spot_table_format format, bool all, spot_status want)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    spot_status s = spot_tables(c, f, dir, format, all);
    fclose(f);
    assert_int_equal(s, want);
    spot_forget(c);
    return text;
}

static void check_holds(char *text, const char *words)
{
    if (!strstr(text, words)) fail_msg("\"%s\" is not in\n%s", words, text);
}

TEST_IN_FOLDER(tables_average_what_was_learned)
{
    spot_ctx c = check_ctx(1);
    spot_config *cfg = config(&c);
    spot_store store;
    char *yaml, *text, path[160];
    CHECK_OK(&c, spot_store_open(&c, &store, root));
    CHECK_OK(&c, spot_config_print(&c, cfg, &yaml));
    snprintf(path, sizeof path, "%s/config.yaml", root);
    CHECK_OK(&c, spot_file_write(&c, path, yaml, strlen(yaml)));
    free(yaml);
    write_segment(&c, root, cfg, 0, true, 1, 0.25);
    write_segment(&c, root, cfg, 1, true, 0, NAN);
    write_segment(&c, root, cfg, 2, false, 0.5, 0.5);
    /* DR: mean of 1 and 0, s.e. sqrt(0.5 / 2) = 0.5. FDR: 0.25 alone. Failures of EC 1: means of (1,.5), (0,.5). */
    text = tables(&c, root, SPOT_TABLE_CSV, false, SPOT_OK);
    check_holds(text, "\"planespot-pca\",,dr,0.5,0.5,2,1\n");
    check_holds(text, "\"planespot-pca\",,fdr,0.25,,1,2\n");
    check_holds(text, "\"planespot-pca\",,not_returned,0.75,,1,2\n");
    check_holds(text, "\"planespot-pca\",,found,0.25,,1,2\n");
    check_holds(text, "\"planespot-pca\",,spread,0.375,0.125,2,1\n");
    check_holds(text, "\"planespot-pca\",,false_alarms,,,0,3\n");
    check_holds(text, "\"planespot-pca\",,coherence_precision_rank_correlation,1,,3,0\n");
    check_holds(text, "\"heavy\",1,false_share,0.25,,,\n");
    check_holds(text, "\"\",0,specificity_1,7,,,\n");
    check_holds(text, "\"\",0,inside_1,,,,\n");
    free(text);
    text = tables(&c, root, SPOT_TABLE_TEXT, true, SPOT_OK);
    check_holds(text, "3 of 3 ECs are done; of these 0 failed to train and 1 did not learn");
    check_holds(text, "profile tmlr");
    check_holds(text, "Beside DR and FDR: means (s.e.) over the ECs that define them");
    check_holds(text, "slices/blindspot");
    assert_null(strstr(text, "false alarms"));                /* no EC has them */
    check_holds(text, "0.500 (0.289)    3");                  /* sd of 1, 0, 0.5 is 0.5; / sqrt 3 */
    free(text);
    text = tables(&c, root, SPOT_TABLE_JSON, false, SPOT_OK);
    check_holds(text, "\"dcbench_ap\"");
    check_holds(text, "\"coherence_precision_rank_correlation\"");
    free(text);
    free(tables(&c, root, SPOT_TABLE_MD, false, SPOT_OK));
    shell("cd %s && [ $(sqlite3 results.sqlite 'select count(*) from results') = 6 ]");
    shell("cd %s && [ $(sqlite3 results.sqlite 'select sum(value) from beside where quantity = \"spread\"') = 3.0 ]");

    shell("printf x >> %s/segments/000/ec-000002.json");      /* damaged: named, not counted, and the rest is printed */
    text = tables(&c, root, SPOT_TABLE_TEXT, true, SPOT_INPUT);
    check_holds(text, "2 of 3 ECs are done");
    check_holds(text, "1 result segment is damaged");
    free(text);
    CHECK_CONFIG_FREE(cfg);
}

TEST_IN_FOLDER(no_damage_to_a_segment_goes_unseen)
{
    spot_ctx c = check_ctx(1);
    spot_config *cfg = config(&c);
    spot_segment *s = calloc(1, sizeof *s);
    spot_segment_state found;
    spot_store store;
    char why[1300], path[160];
    unsigned char *bytes;
    size_t n;
    assert_non_null(s);
    CHECK_OK(&c, spot_store_open(&c, &store, root));
    write_segment(&c, root, cfg, 0, true, 1, 0.25);
    CHECK_OK(&c, spot_segment_read(&c, root, 0, s, &found, why, sizeof why));
    assert_int_equal(found, SPOT_SEGMENT_WHOLE);
    assert_true(s->method[1].score.fdr == 0.25 && isnan(s->lesson.inside[1]) && s->lesson.outside == 0.995);
    snprintf(path, sizeof path, "%s/segments/000/ec-000000.json", root);
    CHECK_OK(&c, spot_file_read(&c, path, &bytes, &n, 1 << 20));
    for (size_t i = 0; i < n; i += 1 + i % 7) {
        bytes[i] ^= 1;
        put_bytes(path, bytes, n);
        CHECK_OK(&c, spot_segment_read(&c, root, 0, s, &found, why, sizeof why));
        assert_int_equal(found, SPOT_SEGMENT_DAMAGED);
        bytes[i] ^= 1;
        put_bytes(path, bytes, i);
        CHECK_OK(&c, spot_segment_read(&c, root, 0, s, &found, why, sizeof why));
        assert_int_equal(found, SPOT_SEGMENT_DAMAGED);
    }
    CHECK_OK(&c, spot_segment_read(&c, root, 5, s, &found, why, sizeof why));
    assert_int_equal(found, SPOT_SEGMENT_ABSENT);
    free(bytes);
    spot_segment_free(s);
    CHECK_CONFIG_FREE(cfg);
}

/* A folder per thousand ECs; what else lies there is none of ours. */
TEST_IN_FOLDER(segments_are_listed)
{
    static const int at[] = { 0, 7, 999, 1000, 1234567 };
    spot_ctx c = check_ctx(1);
    spot_config *cfg = config(&c);
    int *index, n;
    CHECK_FAILS(&c, spot_segment_list(&c, root, &index, &n), SPOT_IO, "run.unread");
    for (int i = LEN(at) - 1; i >= 0; i--) write_segment(&c, root, cfg, at[i], true, 1, 0);
    shell("cd %s/segments && test -f 000/ec-000999.json -a -f 001/ec-001000.json -a -f 1234/ec-1234567.json &&"
          " touch 000/ec-001001.json 000/ec-7.json 000/ec-000007.json.n1-2-3.tmp 001/x ec-000001.json 000x 2 &&"
          " mkdir 1 1/ec-001001.json 002 x.tmp");
    CHECK_OK(&c, spot_segment_list(&c, root, &index, &n));
    assert_int_equal(n, LEN(at));
    assert_memory_equal(index, at, sizeof at);
    free(index);
    shell("touch %s/segments/003");
    CHECK_FAILS(&c, spot_segment_list(&c, root, &index, &n), SPOT_IO, "folder.unlisted: segments/003");
    free(index);
    CHECK_CONFIG_FREE(cfg);
}
