/* background_notes.c - in sentences: the suite of a study of backgrounds, and its settings that are not the paper's. */
#include "background/background_study.h"
#include "spotter/model.h"

enum { NAMED = 4 };            /* models that a sentence names */

/* ---- the suite ---- */

int spot_background_unreal(const spot_background_suite *s)
{
    const size_t blends = (size_t)s->targets * (size_t)s->n;
    int unreal = 0;

    for (size_t i = 0; i < blends; i++) unreal += s->unreal[i];
    return unreal;
}

static void tell_levels(spot_words *w, const spot_background_suite *s)
{
    const size_t blends = (size_t)s->targets * (size_t)s->n;
    int level[256] = { 0 }, levels = 0;

    for (size_t i = 0; i < blends; i++) {
        if (s->keyword[i] < 0) continue;
        level[s->level[i]]++;
        if (s->level[i] >= levels) levels = s->level[i] + 1;
    }
    if (levels < 2) return;
    spot_words_add(w, "Blends by level of their keyword in the ontology: ");
    for (int i = 0; i < levels; i++) spot_words_add(w, "%s%d: %d", i ? ", " : "", i, level[i]);
    spot_words_end(w, ".");
}

static void tell_left_out(spot_words *w, const spot_background_results *r)
{
    const spot_background_suite *s = r->suite;
    int lone = 0;

    if (s->small + s->large + s->empty)
        spot_words_say(w, "%d pictures are left out; empty masks: %d, objects too small: %d, too large: %d",
                       s->small + s->large + s->empty, s->empty, s->small, s->large);
    if (s->with_class)
        spot_words_say(w, "%d backgrounds are left out: they show an object of a class or an excluded keyword", s->with_class);
    if (s->own) spot_words_say(w, "%d times a background was the picture itself and was not taken", s->own);
    for (int i = 0; i < s->classes; i++) lone += r->unit[0].count[SPOT_SET_ORIGINAL][i] == 1;
    if (lone && r->cfg->measure.sets)
        spot_words_say(w, "Classes with one target, and so without a picture of mixed-same: %d", lone);
}

/* Names the models that a reason has; count: with the pictures that their matrices leave out. */
static void tell_which(spot_words *w, const spot_background_results *r, bool (*has)(const spot_background_result *u),
                       const char *reason, bool count)
{
    int n = 0, i = 0;

    for (int u = 0; u < r->units; u++) n += has(&r->unit[u]);
    if (!n) return;
    spot_words_add(w, "%s: ", reason);
    for (int u = 0; u < r->units; u++) {
        if (!has(&r->unit[u])) continue;
        if (!spot_words_next(w, i++, n, NAMED)) break;
        spot_words_add(w, "%s", r->unit[u].name);
        if (count) spot_words_add(w, " %d", r->unit[u].left_out);
    }
    spot_words_end(w, ".");
}

static bool leaves_out(const spot_background_result *u) { return u->left_out > 0; }
static bool is_without_embedding(const spot_background_result *u) { return !u->dim; }

void spot_background_tell_suite(spot_words *w, const spot_background_results *r)
{
    const spot_background_suite *s = r->suite;
    const double blends = (double)s->targets * s->n, realness = r->cfg->suite.realness;
    const int unreal = spot_background_unreal(s);

    spot_words_say(w, "%d objects, each before %d backgrounds chosen by \"%s\" from %d different ones: %.0f blends, which "
                   "every model saw. Semantic distance is by %s", s->targets, s->n,
                   spot_background_choice_name(r->cfg->suite.choice), s->backgrounds, blends, s->encoder);
    if (r->cfg->measure.precision != SPOT_FP32)
        spot_words_say(w, "Networks that Spotter runs itself: %s",
                       spot_precision_name((spot_precision)r->cfg->measure.precision));
    tell_left_out(w, r);
    if (!(realness > 0)) spot_words_say(w, "Realness was not tested");
    else spot_words_say(w, "%d of %.0f blends (%.0f %%) are below the realness of %g: no candidate reached it, and the best "
                        "one was taken", unreal, blends, 100 * unreal / blends, realness);
    tell_levels(w, s);
    tell_which(w, r, leaves_out, "Pictures that the matrices leave out, because their distance is beyond the axes or a number "
               "is missing", true);
    tell_which(w, r, is_without_embedding, "One variance matrix instead of four, for want of embeddings", false);
}

/* ---- settings ---- */

void spot_background_tell_settings(spot_words *w, const spot_background_results *r)
{
    const spot_background_config *cfg = r->cfg;
    const spot_background_measure *m = &cfg->measure;

    if (cfg->suite.choice != SPOT_SUITE_ONTOLOGY)
        spot_words_say(w, "Backgrounds are chosen by \"%s\"; the paper's choice is \"ontology\"",
                       spot_background_choice_name(cfg->suite.choice));
    if (cfg->suite.n != 32) spot_words_say(w, "%d backgrounds for each picture; the paper has 32", cfg->suite.n);
    spot_words_say(w, "Semantic distance is by %s; the paper's is an ensemble of ViT, CLIP, ResNet and VGG",
                   r->suite->encoder);
    if (!(cfg->suite.realness > 0)) spot_words_say(w, "Realness is not tested; the paper tests it with DreamSim");
    else spot_words_say(w, "Realness is 1 - semantic distance, of %g or more; the paper takes DreamSim and names no threshold",
                        cfg->suite.realness);
    if (m->kernel != 32 || m->sigma != 10)
        spot_words_say(w, "The window of the matrices has %d cells, sigma %g; the paper's main setting is 32 and 10",
                       m->kernel, m->sigma);
    if (m->neighbours != 32)
        spot_words_say(w, "A cell without points takes %d nearest ones; the paper 32", m->neighbours);
    spot_words_say(w, "A matrix has %d x %d cells over distances from 0 to %.3g; the paper names neither", m->grid, m->grid,
                   (double)r->suite->range);
    if (m->top != 3) spot_words_say(w, "%d top neurons; the paper has 3", m->top);
    if (m->confidence) spot_words_say(w, "Confidence is that of the true class; the authors' code takes the greatest");
    spot_words_say(w, "%d levels of the Laplacian pyramids; the paper names no number", m->levels);
    if (cfg->data.part < 100) spot_words_say(w, "%d %% of the pictures", cfg->data.part);
}
