/* check_results.h - a run directory written by hand: ECs of 1 to 3 blindspots of 5 to 7 features, and for each method a chance
 * to cover a blindspot that falls with both. For tests of what tables print and figures draw. */
#ifndef SPOTTER_TESTS_CHECK_RESULTS_H
#define SPOTTER_TESTS_CHECK_RESULTS_H

#include "checks.h"
#include "check_folder.h"

#include <math.h>
#include <stdlib.h>

#include "spotter/rng.h"
#include "study/keys.h"
#include "store/store.h"
#include "sweep/segment.h"

static const char paper_like[] =
    "seed: 1\necs: 100\nscene: {jpeg_quality: 75}\nmodel: {batch: 16}\n"
    "bdms:\n"
    "  - {method: barlow}\n"
    "  - {method: spotlight, profile: paper, min_weight: [0.01, 0.02]}\n"
    "  - {method: domino}\n"
    "  - {method: planespot, reduce: [scvis, pca, tsne]}\n";

static inline void fake_blindspot(spot_segment *s, int m, spot_rng *r)
{
    static const char *const words[] = { "square", "square above", "circle", "circle striped", "rectangle", "text orange",
                                         "background grey", "two squares", "square small" };
    char *text = s->blindspot[m];
    s->specificity[m] = 5 + (int)spot_rng_below(r, 3);
    for (int k = 0, from = (int)spot_rng_below(r, 3); k < s->specificity[m]; k++) {
        strcat(text, k ? ", " : "");
        strcat(text, words[(from + k) % LEN(words)]);
    }
}

static inline void fake_outcome(spot_outcome *o, const spot_segment *s, int b, spot_rng *r)
{
    spot_score *k = &o->score;
    int covered = 0;
    k->blindspots = s->blindspots;
    for (int i = 0; i < SPOT_BESIDES; i++) k->beside[i] = NAN;      /* as in the segments of older builds */
    for (int m = 0; m < s->blindspots; m++) {
        double chance = 1.15 - 0.1 * b - 0.08 * s->blindspots - 0.06 * (s->specificity[m] - 5);
        covered += k->covered[m] = spot_rng_below(r, 1000) < 1000 * chance;
        for (int f = 0; f < SPOT_FAILURES; f++) k->failure[m][f] = k->covered[m] ? NAN : f == 2 ? 0.7 : 0.1;
    }
    k->dr = (double)covered / s->blindspots;
    k->fdr = covered ? 0.02 * s->blindspots * (double)spot_rng_below(r, 3) : NAN;
}

/* cfg's ECs into dir; EC 7 did not learn its blindspots, the training of EC 9 failed. */
static inline void fake_run(spot_ctx *c, const char *dir, const spot_config *cfg)
{
    spot_segment *s = calloc(1, sizeof *s);
    spot_identity id;
    spot_store store;
    char path[256], *yaml;
    assert_non_null(s);
    CHECK_OK(c, spot_store_open(c, &store, dir));
    CHECK_OK(c, spot_config_print(c, cfg, &yaml));
    snprintf(path, sizeof path, "%s/config.yaml", dir);
    CHECK_OK(c, spot_file_write(c, path, yaml, strlen(yaml)));
    free(yaml);
    CHECK_OK(c, spot_identify(c, &id, cfg, NULL));
    for (int i = 0; i < cfg->ecs; i++) {
        spot_rng r = spot_rng_at(3, SPOT_RNG_BOOTSTRAP, (uint32_t)i, 0);
        spot_segment_close(s);
        memset(s, 0, sizeof *s);
        spot_key_text(s->config, id.config);
        s->index = i;
        s->numbers = SPOT_NUMBERS;
        s->metric = cfg->metric;
        s->status = i == 9 ? SPOT_NUMERIC : SPOT_OK;
        s->blindspots = 1 + i % 3;
        snprintf(s->rollable, sizeof s->rollable, "square.presence%s", i % 4 ? "" : " circle.size");    /* a scene's */
        snprintf(s->induce, sizeof s->induce, "%s", i % 5 ? "flip" : "rare");
        s->strength = i % 5 ? 1 : 0.1;
        s->severity = (spot_severity){ .blindspots = s->blindspots, .outside = { 200, 3 } };
        for (int m = 0; m < s->blindspots; m++) s->severity.inside[m] = (spot_errors){ 30, 30 - (i + m) % 13 };
        s->lesson = (spot_learning){ .outside = 0.995, .learned = i != 7 };
        assert_true(spot_segment_methods(s, s->methods = cfg->bdms));
        for (int m = 0; m < s->blindspots; m++) fake_blindspot(s, m, &r);
        for (int b = 0; b < s->methods; b++) {
            spot_bdm_name(&cfg->bdm[b], s->method[b].name, sizeof s->method[b].name);
            s->method[b].status = s->status;
            fake_outcome(&s->method[b], s, b, &r);
        }
        CHECK_OK(c, spot_segment_write(c, dir, s));
    }
    spot_segment_free(s);
}

/* Method b of an EC of such a run failed. */
static inline void fake_failure(spot_ctx *c, const char *dir, int ec, int b, const char *message)
{
    spot_segment *s = calloc(1, sizeof *s);
    spot_segment_state state;
    char why[1300];
    assert_non_null(s);
    CHECK_OK(c, spot_segment_read(c, dir, ec, s, &state, why, sizeof why));
    assert_int_equal(state, SPOT_SEGMENT_WHOLE);
    s->method[b].status = SPOT_NUMERIC;
    snprintf(s->method[b].message, sizeof s->method[b].message, "%s", message);
    CHECK_OK(c, spot_segment_write(c, dir, s));
    spot_segment_free(s);
}

#endif
