/* paper.c - see paper.h. Tables 9 to 13 of the paper have no standard errors. */
#include "report/table/paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bdm/methods.h"
#include "models/model_settings.h"
#include "spotter/sweep.h"
#include "study/keys.h"

#define NO NAN
#define NOT_THERE { NO, NO, NO, NO }
#define LEN(a) ((int)(sizeof(a) / sizeof *(a)))

/* The settings of section 5. Spotlight's profile `paper` has its authors' defaults, because the paper leaves all but the
 * minimum weight at these; its own profile has a row of its own. Domino's representation there is CLIP. The paper does not say
 * which one; ViT-B/32 is the default of Domino's released code. Features of another encoder, and those from files, whose maker
 * is not known, have rows of their own. */
#define BARLOW    "method=barlow depth=11", "representation=robust"
#define SPOTLIGHT "method=spotlight profile=paper min_weight=0.01", "representation=model"
#define OWN_SPOTLIGHT "method=spotlight profile=spotter min_weight=0.01", "representation=model"
#define DOMINO    "method=domino gamma=10 representation=clip encoder.shape=vit-b-32", ""
#define BY_OTHER  "method=domino gamma=10 representation=clip encoder.shape=other", ""
#define BY_FILE   "method=domino gamma=10 representation=file", ""
#define BY_MODEL  "method=domino gamma=10 representation=model", ""
#define PLANESPOT "method=planespot reduce=scvis dim=2 weight=0.025", "representation=model"

#define SPOTTERS { "Spotlight, Spotter's", OWN_SPOTLIGHT, NOT_THERE, NOT_THERE, true }
#define DOMINOS \
    { "Domino, other encoder", BY_OTHER, NOT_THERE, NOT_THERE, true }, { "Domino, files", BY_FILE, NOT_THERE, NOT_THERE, true }

#define OVERALL(...) \
    { "Barlow",         BARLOW,    { 0.43, 0.03 }, { 0.04, 0.01 }, false }, \
    { "Spotlight",      SPOTLIGHT, { 0.79, 0.09 }, { 0.03, 0.01 }, false }, \
    { "Domino",         DOMINO,    { 0.64, 0.07 }, { 0.04, 0.01 }, false }, \
    { "PlaneSpot",      PLANESPOT, __VA_ARGS__,    { 0.03, 0.01 }, false }, \
    { "Domino-Model",   BY_MODEL,  { 0.80, 0.02 }, { 0.03, 0.01 }, true },        /* of Table 16 */ \
    DOMINOS, SPOTTERS, \
    { "GEORGE",         "method=george", "", NOT_THERE, NOT_THERE, true }, \
    { "Multiaccuracy",  "method=multiaccuracy", "", NOT_THERE, NOT_THERE, true }

/* The workshop's Table 1 has other numbers for PlaneSpot alone. */
static const spot_paper_row overall[] = { OVERALL({ 0.88, 0.02 }) };
static const spot_paper_row workshop_overall[] = { OVERALL({ 0.85, 0.03 }) };

#define REDUCED(how, d) "method=planespot weight=0.025 reduce=" how " dim=" #d, "representation=model"
static const spot_paper_row reducers[] = {
    { "scvis, d = 2",  REDUCED("scvis", 2),  { 0.85, 0.027 }, { 0.045, 0.016 }, false },
    { "scvis, d = 4",  REDUCED("scvis", 4),  { 0.86, 0.021 }, { 0.043, 0.015 }, false },
    { "scvis, d = 8",  REDUCED("scvis", 8),  { 0.66, 0.029 }, { 0.059, 0.017 }, false },
    { "scvis, d = 16", REDUCED("scvis", 16), { 0.53, 0.016 }, { 0.066, 0.016 }, false },
    { "PCA, d = 2",    REDUCED("pca", 2),    { 0.70, 0.026 }, { 0.062, 0.018 }, false },
    { "t-SNE, d = 2",  REDUCED("tsne", 2),   { 0.86, 0.011 }, { 0.040, 0.011 }, false },
    { "UMAP, d = 2",   REDUCED("umap", 2),   NOT_THERE, NOT_THERE, true },
};

#define DEPTH(d, dr, fdr) { "depth " #d, "method=barlow depth=" #d, "representation=robust", { dr, fdr }, NOT_THERE, false }
static const spot_paper_row depths[] = {
    DEPTH(3, 0.07, 0.00), DEPTH(4, 0.14, 0.00), DEPTH(5, 0.19, 0.00),  DEPTH(6, 0.27, 0.12),  DEPTH(7, 0.36, 0.15),
    DEPTH(8, 0.37, 0.09), DEPTH(9, 0.43, 0.11), DEPTH(10, 0.43, 0.08), DEPTH(11, 0.48, 0.07), DEPTH(12, 0.48, 0.07),
};

#define WEIGHED(w, dr, fdr) \
    { "minimum weight " #w, "method=spotlight profile=paper min_weight=" #w, "representation=model", { dr, fdr }, NOT_THERE, \
      false }
#define WEIGHED_OWN(w) \
    { "Spotter's, " #w, "method=spotlight profile=spotter min_weight=" #w, "representation=model", \
      NOT_THERE, NOT_THERE, true }
static const spot_paper_row weights[] = {
    WEIGHED(0.005, 0.49, 0.04), WEIGHED(0.01, 0.88, 0.06), WEIGHED(0.02, 0.88, 0.08), WEIGHED(0.04, 0.48, 0.00),
    WEIGHED_OWN(0.005), WEIGHED_OWN(0.01), WEIGHED_OWN(0.02), WEIGHED_OWN(0.04),
};

#define GAMMA(g, dr, fdr) \
    { "gamma " #g, "method=domino gamma=" #g " encoder.shape=vit-b-32", "representation=clip", { dr, fdr }, NOT_THERE, false }
#define GAMMA_OTHER(g) \
    { "gamma " #g ", other encoder", "method=domino representation=clip encoder.shape=other gamma=" #g, "", NOT_THERE, \
      NOT_THERE, true }
static const spot_paper_row gammas[] = {
    GAMMA(5, 0.48, 0.06), GAMMA(10, 0.72, 0.03), GAMMA(15, 0.70, 0.06), GAMMA(20, 0.60, 0.09),
    GAMMA_OTHER(5), GAMMA_OTHER(10), GAMMA_OTHER(15), GAMMA_OTHER(20),
};

#define CONFIDENCE(w, dr, fdr) \
    { "w " #w, "method=planespot dim=2 weight=" #w, "reduce=scvis representation=model", { dr, fdr }, NOT_THERE, false }
static const spot_paper_row confidences[] = {
    CONFIDENCE(0, 0.57, 0.00), CONFIDENCE(0.025, 0.95, 0.00), CONFIDENCE(0.05, 0.88, 0.00), CONFIDENCE(0.1, 0.87, 0.00),
};

/* Not returned, found, merged, impure. */
static const spot_paper_row failures[] = {
    { "Barlow",        BARLOW,    { 0.02, 0.15, 0.39, 0.44 }, NOT_THERE, false },
    { "Spotlight",     SPOTLIGHT, { 0.13, 0.46, 0.33, 0.04 }, NOT_THERE, false },
    { "Domino",        DOMINO,    { 0.00, 0.38, 0.36, 0.24 }, NOT_THERE, false },
    { "PlaneSpot",     PLANESPOT, { 0.00, 0.00, 0.57, 0.42 }, NOT_THERE, false },
    { "Domino-Model",  BY_MODEL,  NOT_THERE, NOT_THERE, true },
    DOMINOS, SPOTTERS,
    { "GEORGE",        "method=george", "", NOT_THERE, NOT_THERE, true },
    { "Multiaccuracy", "method=multiaccuracy", "", NOT_THERE, NOT_THERE, true },
};

static const spot_paper_row representations[] = {
    { "Spotlight",    SPOTLIGHT, { 0.79, 0.09 }, { 0.03, 0.01 }, false },
    { "Domino",       DOMINO,    { 0.64, 0.07 }, { 0.04, 0.01 }, false },
    { "Domino-Model", BY_MODEL,  { 0.80, 0.02 }, { 0.03, 0.01 }, false },
    DOMINOS, SPOTTERS,
};

/* DR alone: on real pictures the FDR cannot be known. */
#define DR(dr) { dr, NO, NO, NO }
#define REAL(barlow, barlow_se, spotlight, spotlight_se, domino, domino_se, planespot, planespot_se) \
    { "Barlow",       BARLOW,    DR(barlow),    DR(barlow_se), false }, \
    { "Spotlight",    SPOTLIGHT, DR(spotlight), DR(spotlight_se), false }, \
    { "Domino",       DOMINO,    DR(domino),    DR(domino_se), false }, \
    { "PlaneSpot",    PLANESPOT, DR(planespot), DR(planespot_se), false }, \
    { "Domino-Model", BY_MODEL,  NOT_THERE,     NOT_THERE, true }, \
    DOMINOS, SPOTTERS, \
    { "GEORGE",        "method=george", "", NOT_THERE, NOT_THERE, true }, \
    { "Multiaccuracy", "method=multiaccuracy", "", NOT_THERE, NOT_THERE, true }

static const spot_paper_row on_coco[] = { REAL(0.09, 0.03, 0.14, 0.04, 0.38, 0.05, 0.48, 0.05) };
static const spot_paper_row on_openimages[] = { REAL(0.39, 0.05, 0.56, 0.04, 0.57, 0.05, 0.61, 0.05) };

static const spot_paper_row coco_reducers[] = {
    { "scvis, d = 2", REDUCED("scvis", 2), DR(0.48), DR(0.047), false },
    { "PCA, d = 2",   REDUCED("pca", 2),   DR(0.33), DR(0.047), false },
    { "t-SNE, d = 2", REDUCED("tsne", 2),  DR(0.48), DR(0.048), false },
    { "UMAP, d = 2",  REDUCED("umap", 2),  NOT_THERE, NOT_THERE, true },
};

#define EVALUATION 100, "100 ECs of 224 px"
#define TUNING     20, "20 ECs of 224 px, kept for tuning"
#define HELD_OUT   50, "50 ECs of 224 px, held out"
#define GENERAL    65, "65 of the 90 ECs of COCO's general pool, those that learned all of their blindspots"

static const spot_paper_table tables[] = {
#define T(number, quantities, experiment, title, ecs, over, rows) \
    { number, SPOT_RATES_##quantities, SPOT_EXPERIMENT_##experiment, ecs, title, over, rows, LEN(rows) }
#define SPREAD(...) T(__VA_ARGS__)
    SPREAD(2,  BOTH, SYNTHETIC, "Average DR and FDR", EVALUATION, overall),
    SPREAD(4,  DR, COCO, "COCO: average DR", GENERAL, on_coco),
    SPREAD(7,  BOTH, SYNTHETIC, "PlaneSpot on other reductions: average DR and FDR", HELD_OUT, reducers),
    SPREAD(8,  DR, COCO, "COCO: PlaneSpot on other reductions, average DR", GENERAL, coco_reducers),
    SPREAD(9,  BOTH, SYNTHETIC, "Tuning Barlow: the tree's depth", TUNING, depths),
    SPREAD(10, BOTH, SYNTHETIC, "Tuning Spotlight: the minimum weight", TUNING, weights),
    SPREAD(11, BOTH, SYNTHETIC, "Tuning Domino: gamma", TUNING, gammas),
    SPREAD(12, BOTH, SYNTHETIC, "Tuning PlaneSpot: w, the weight of the confidence", TUNING, confidences),
    SPREAD(13, FAILURES, SYNTHETIC, "Why blindspots were missed: shares of their images", EVALUATION, failures),
    SPREAD(15, DR, OPENIMAGES, "OpenImages: average DR", 49, "its pool of 49 ECs", on_openimages),
    SPREAD(16, BOTH, SYNTHETIC, "Representations: average DR and FDR", EVALUATION, representations),
};
static const spot_paper_table workshop =
    SPREAD(1, BOTH, SYNTHETIC, "Average DR and FDR (the workshop's paper)", EVALUATION, workshop_overall);
#undef SPREAD
#undef T

const spot_paper_table *spot_paper_find(int number)
{
    for (int i = 0; i < LEN(tables); i++)
        if (tables[i].number == number) return &tables[i];
    return NULL;
}

/* ---- the experiment of a run ---- */

spot_experiment spot_paper_experiment(const spot_config *cfg)
{
    if (!cfg->data.coco[0]) return SPOT_EXPERIMENT_SYNTHETIC;
    return cfg->data.against[0] ? SPOT_EXPERIMENT_OPENIMAGES : SPOT_EXPERIMENT_COCO;
}

/* The pool of pictures that the paper's averages are over. */
static int averaged_pool(spot_experiment e) { return e == SPOT_EXPERIMENT_COCO ? SPOT_POOL_GENERAL : SPOT_POOL_NUMBER; }

const spot_paper_table *spot_paper_overall(const spot_config *cfg)
{
    static const int number[] = { 2, 4, 15 };
    const spot_experiment e = spot_paper_experiment(cfg);

    if (e != SPOT_EXPERIMENT_SYNTHETIC && cfg->data.pool != averaged_pool(e)) return NULL;
    if (e == SPOT_EXPERIMENT_SYNTHETIC && cfg->metric.profile == SPOT_PROFILE_WORKSHOP) return &workshop;
    return spot_paper_find(number[e]);
}

spot_status spot_paper_fits(spot_ctx *c, const char *dir, const spot_config *cfg, spot_experiment experiment,
                            const char *table)
{
    static const char *const of[] = { "rendered images", "COCO's pictures", "OpenImages' pictures" };
    static const char *const may[] = { "Tables 2, 7, 9 to 13, 16 and appendix B", "Tables 3, 4, 8 and 14", "Table 15" };
    const spot_experiment e = spot_paper_experiment(cfg);

    if (e != experiment)
        return spot_fail(c, SPOT_USAGE, "{paper.setting} %s is about %s; %s is compared with what the paper has of %s: %s",
                         table, of[experiment], dir, of[e], may[e]);
    if (e == SPOT_EXPERIMENT_SYNTHETIC || cfg->data.pool == averaged_pool(e)) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "{paper.pool} %s is about data.pool: %s, and %s has another pool; of COCO's conditioned "
                     "pools are Figures 6 (pool: number) and 7 (pool: specificity)", table,
                     averaged_pool(e) == SPOT_POOL_GENERAL ? "general" : "number", dir);
}

/* Finds the setting that "name=value" names; value gets the text. Moves *word past both. */
static spot_setting_walk parse_setting(const char **word, const spot_bdm_config *cfg, char name[48], char value[48])
{
    int n = 0;

    name[0] = 0;
    if (sscanf(*word, " %47[^= ]=%47[^ ]%n", name, value, &n) != 2) return (spot_setting_walk){ 0 };
    *word += n;
    return spot_settings_at(spot_bdm_settings, cfg, name);
}

/* Whether a setting has the value of a text. */
static bool has_value(const spot_setting_walk *w, const char *text)
{
    union { int i; double d; } v;

    if (w->s->kind != SETTING_INT && w->s->kind != SETTING_REAL && w->s->kind != SETTING_NAME) return false;
    if (!spot_setting_read(w->s, &v, &text)) return false;
    return w->s->kind == SETTING_REAL ? v.d == *(double *)(void *)w->value : v.i == *(int *)(void *)w->value;
}

#define ENCODER "encoder."

/* Whether the config's encoder has the value; true for a method that does not look with it. */
static bool encoder_has(const spot_config *cfg, int b, const char *name, const char *value)
{
    const spot_setting_walk w = spot_settings_at(spot_encoder_settings, &cfg->encoder, name);

    return cfg->bdm[b].representation != SPOT_BY_CLIP || (w.s && has_value(&w, value));
}

bool spot_method_has(const spot_config *cfg, int b, const char *settings)
{
    char name[48], value[48];

    while (*settings) {
        const spot_setting_walk w = parse_setting(&settings, &cfg->bdm[b], name, value);
        if (!strncmp(name, ENCODER, strlen(ENCODER))) {
            if (!encoder_has(cfg, b, name + strlen(ENCODER), value)) return false;
        } else if (!w.s || !has_value(&w, value)) return false;
    }
    return true;
}

/* Words about the encoder set nothing of a method. */
static void set_all(spot_bdm_config *cfg, const char *settings)
{
    char name[48], value[48], *text = value;

    while (*settings) {
        const spot_setting_walk w = parse_setting(&settings, cfg, name, value);
        if (!name[0]) return;
        if (!w.s) continue;
        spot_setting_read(w.s, w.value, (const char *const *)&text);
        if (!strcmp(name, SPOT_BDM_PROFILE)) spot_bdm_preset(cfg);
    }
}

/* No settings: Domino's released code keeps the lengths of CLIP's rows, and the encoder gives unit rows. The paper takes
 * Barlow's features from an external model (section 5.1.1); Barlow's released code has the ResNet-50 imagenet_l2_3_0. */
static const char unit_rows[] = "CLIP's rows=of length 1 (as they are)";
static const char robust_net[] = "its network=a ResNet-18 of each EC (an external ResNet-50, robust on ImageNet)";
static const char other_net[] = "its network=the representation's (an external ResNet-50, robust on ImageNet)";

const char *spot_paper_method_differs(char *text, size_t size, const spot_bdm_config *cfg, const spot_paper_row *row)
{
    spot_bdm_config papers = spot_bdm_defaults(cfg->method);
    const char *also = NULL;
    size_t used;

    set_all(&papers, row->needs);
    set_all(&papers, row->as);
    papers.embeddings = cfg->embeddings;      /* the path does not count as a difference */
    if (papers.representation == SPOT_BY_ROBUST) also = cfg->representation == SPOT_BY_ROBUST ? robust_net : other_net;
    else if (cfg->representation == SPOT_BY_CLIP && papers.representation == SPOT_BY_CLIP) also = unit_rows;
    spot_method_differences(text, also ? size - strlen(also) - 2 : size, &papers, cfg);
    used = strlen(text);
    if (also) snprintf(text + used, size - used, "%s%s", used ? ", " : "", also);
    return text;
}

/* The pictures of section 5.2 and appendix H. Paths are no differences, nor the induced categories, which a run finds. */
static void set_pictures(spot_config *papers, const spot_config *cfg)
{
    spot_photos_config *d = &papers->data;
    const spot_experiment e = spot_paper_experiment(cfg);

    if (e == SPOT_EXPERIMENT_SYNTHETIC) return;
    d->coco = cfg->data.coco;
    d->images = cfg->data.images;
    d->induced = cfg->data.induced;
    d->induced_from = cfg->data.induced_from;
    papers->model.learned_gap = 0.2;
    papers->metric.lambda_p = papers->metric.lambda_r = 0.5;
    d->pool = cfg->data.pool;
    if (e == SPOT_EXPERIMENT_COCO && d->pool == SPOT_POOL_NUMBER) d->each = 10;    /* its 22, 30 and 30 ECs; its text says 20 */
    if (e == SPOT_EXPERIMENT_COCO) return;
    d->tasks = "bird";
    d->against = "animal";
    d->val = 0.1;
    d->test = 0.4;
    d->pool = SPOT_POOL_NUMBER;
    d->category_least = 1000;
    papers->metric.lambda_r = 0.3;
}

/* Not counted as differences: lanes, which change no result; on rendered images the profile, which is that of one of two
 * papers (spot_paper_overall); a file of initial weights, which is taken for ImageNet's; the encoder, whose rows tell whether
 * it is the paper's. The paper has no batch, no learning rate and no epochs: these are of the released demonstration, as is
 * the JPEG of its pictures. It names no precision. PyTorch convolves in TF32 on GPUs that have it unless it is told otherwise,
 * and in fp32 elsewhere: so neither of the two differs. */
void spot_paper_run_differs(char *text, size_t size, const spot_config *cfg)
{
    spot_config own = spot_config_defaults(), *papers = &own;
    spot_model_config *m = &papers->model;

    papers->seed = cfg->seed;
    papers->bdms = cfg->bdms;
    papers->bdm = cfg->bdm;
    papers->scene.jpeg_quality = 75;
    m->init = cfg->model.init[0] ? cfg->model.init : "ImageNet's weights";
    m->batch = 16;
    m->lanes = cfg->model.lanes;
    if (cfg->model.precision == SPOT_TF32) m->precision = SPOT_TF32;
    if (cfg->model.optimizer != SPOT_SGD) m->momentum = cfg->model.momentum;
    if (!cfg->model.base.images) m->base = cfg->model.base;
    if (!spot_wants_robust(cfg)) m->robust = cfg->model.robust;
    if (spot_paper_experiment(cfg) == SPOT_EXPERIMENT_SYNTHETIC) papers->metric.profile = cfg->metric.profile;
    set_pictures(papers, cfg);
    if (!(papers->model.learned_gap > 0) && !(cfg->model.learned_gap > 0)) m->learned_rest = cfg->model.learned_rest;
    papers->encoder = cfg->encoder;
    spot_config_differences(text, size, papers, cfg);
}
