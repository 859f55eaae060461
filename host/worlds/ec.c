/* ec.c - draws an experimental configuration: its layers, rollable attributes and blindspots (paper, A.2 and A.3). */
#include <stdbool.h>
#include <string.h>

#include "image/raster.h"
#include "spotter/rng.h"
#include "spotter/scene.h"
#include "worlds/scene_settings.h"

enum { TRIES = 10000, RESTARTS = 100, MAX_IMAGES = 100000000, MOST_CORRELATED = 3 };

static const spot_setting per_bucket[] = {
#define S(name_, split, default_, help_) \
    { .name = name_, .kind = SETTING_INT, .offset = (split) * sizeof(int), SPOT_IN(1, 1e6), SPOT_DEF(default_), .help = help_ }
    S("train", SPOT_TRAIN, 400, "training images per bucket"),
    S("val",   SPOT_VAL,   50,  "validation images per bucket"),
    S("test",  SPOT_TEST,  50,  "test images per bucket"),
#undef S
    SPOT_END
};

static const char *const induce_names[] = { "flip", "leave_out", "correlate", "rare", "mixed", NULL };

const spot_setting spot_scene_settings[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_scene_config, field, help, __VA_ARGS__)
    S("size",         INT,   size,         "pixels a side; the geometry scales with them (the authors use 224)",
      SPOT_IN(SPOT_MIN_SIZE, SPOT_MAX_SIZE), SPOT_DEF(224), .affects = SPOT_AFFECTS_PICTURES | SPOT_AFFECTS_BASE),
    S("rollable",     RANGE, rollable,     "number of attributes that vary in an EC, presences included",
      SPOT_IN(1, SPOT_MAX_TRIPLETS - 1), SPOT_DEF(6, 8)),
    S("extra_layers", RANGE, extra_layers, "number of object layers besides the square", SPOT_IN(1, SPOT_EXTRAS),
      SPOT_DEF(1, 3)),
    S("blindspots",   RANGE, blindspots,   "number of blindspots in an EC", SPOT_IN(0, SPOT_MAX_BLINDSPOTS), SPOT_DEF(1, 3)),
    S("specificity",  RANGE, specificity,  "number of attributes that define a blindspot", SPOT_IN(1, SPOT_MAX_TRIPLETS),
      SPOT_DEF(5, 7)),
    S("per_bucket",   GROUP, per_bucket,   "images per bucket; a split has this x 2^rollable images", .rows = per_bucket),
    S("attribute_choice", NAME, attribute_choice,
      "how a blindspot's attributes are drawn: uniformly over pairs (the authors' code), or layer first (the paper)",
      SPOT_ONE_OF("pairs", "layer_first"), SPOT_DEF(SPOT_CHOICE_PAIRS)),
    S("square_presence", NAME, square_presence,
      "whether every blindspot has a square: forced (the authors' code), or free (the paper)",
      SPOT_ONE_OF("forced", "free"), SPOT_DEF(SPOT_SQUARE_FORCED)),
    S("text_alternative", NAME, text_alternative, "size of \"small\" text: larger (the authors' code), or smaller (the paper)",
      SPOT_ONE_OF("larger", "smaller"), SPOT_DEF(SPOT_TEXT_LARGER), .affects = SPOT_AFFECTS_PICTURES | SPOT_AFFECTS_BASE),
    S("jpeg_quality", INT,   jpeg_quality, "JPEG quality of the images (75: the authors' files); 0: lossless images",
      SPOT_IN(0, 100), .affects = SPOT_AFFECTS_PICTURES | SPOT_AFFECTS_BASE),
    S("flip",         REAL,  flip,         "chance that a blindspot's label is flipped in train and val", SPOT_IN(0, 1),
      SPOT_DEF(1)),
    S("induce",       NAME,  induce,
      "how a blindspot is planted: its labels are flipped, training leaves it out (appendix B), an attribute correlates with "
      "the label, or it is rare in train and val; mixed: the first by a correlation, the others rare and flipped in turn",
      .names = induce_names, SPOT_DEF(SPOT_FLIP_LABELS),
      .affects = SPOT_AFFECTS_PICTURES, .newer = SPOT_NEWER_THAN_VALUES),
    S("correlation",  REAL,  correlation,  "correlation of an attribute with the label in train and val (induce: correlate, "
      "mixed)", SPOT_IN(0, 1), SPOT_DEF(0.9), .newer = SPOT_NEWER),
    S("rare",         REAL,  rare,
      "share of a blindspot's images that train and val keep (induce: rare, mixed); 0: none, as leave_out", SPOT_IN(0, 1),
      SPOT_DEF(0.1), .newer = SPOT_NEWER),
#undef S
    SPOT_END
};

spot_scene_config spot_scene_defaults(void)
{
    spot_scene_config cfg = { 0 };

    spot_settings_defaults(spot_scene_settings, &cfg);
    return cfg;
}

const char *spot_induce_name(int induce)
{
    return induce >= 0 && induce < SPOT_INDUCE_COUNT ? induce_names[induce] : "unknown";
}

double spot_induce_strength(const spot_scene_config *cfg)
{
    switch (cfg->induce) {
    case SPOT_FLIP_LABELS: return cfg->flip;
    case SPOT_CORRELATE:   return cfg->correlation;
    case SPOT_RARE:        return cfg->rare;
    default:               return 0;
    }
}

/* Whether the layer has the attribute itself. The relative position is computed, not rolled. */
static bool has_attribute(int layer, int attribute)
{
    switch (attribute) {
    case SPOT_PRESENCE:
    case SPOT_SIZE:   return layer != SPOT_BACKGROUND;
    case SPOT_NUMBER: return layer == SPOT_SQUARE;
    default:          return attribute != SPOT_RELATIVE_POSITION;
    }
}

/* A correlation takes an attribute that is not the square's, which has four besides its presence. */
static spot_status check_correlated(spot_ctx *c, const spot_scene_config *s)
{
    int sure = s->rollable[0] - 5 > s->extra_layers[0] ? s->rollable[0] - 5 : s->extra_layers[0];

    if (s->blindspots[1] <= sure) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "{scene.blindspots} scene.blindspots reaches %d, and with induce: correlate each takes an "
                     "attribute that is not the square's, of which an EC is sure to have %d; lower it, or raise "
                     "scene.extra_layers or scene.rollable", s->blindspots[1], sure);
}

/* Checks that the ambiguity constraint can be met. mixed: by all blindspots but the first, each of which has the square and is
 * apart from the first by one attribute. */
static spot_status check_blindspots(spot_ctx *c, const spot_scene_config *s)
{
    const bool mixed = s->induce == SPOT_MIXED;
    int free = s->specificity[0] - (s->square_presence == SPOT_SQUARE_FORCED) - mixed;
    int most = free < 1 ? 1 : free < 4 ? 1 << (free - 1) : SPOT_MAX_BLINDSPOTS;   /* words of `free` bits, two apart */

    if (mixed && s->specificity[0] <= MOST_CORRELATED)
        return spot_fail(c, SPOT_USAGE, "{scene.mixed} scene.specificity starts at %d; with induce: mixed it starts at %d or "
                         "more, since the blindspot of a correlation, of up to %d attributes, is the first",
                         s->specificity[0], MOST_CORRELATED + 1, MOST_CORRELATED);
    if (s->specificity[1] > s->rollable[0] + 1)
        return spot_fail(c, SPOT_USAGE, "{scene.specificity} scene.specificity reaches %d, but %d rollable attributes and the "
                         "relative position can define at most %d; lower it or raise scene.rollable",
                         s->specificity[1], s->rollable[0], s->rollable[0] + 1);
    if (s->blindspots[1] - mixed > most)
        return spot_fail(c, SPOT_USAGE, "{scene.specificity_least} scene.specificity starts at %d, which leaves %d attributes "
                         "to differ in, enough for %d unambiguous blindspot(s) and not for %d; raise it or lower "
                         "scene.blindspots", s->specificity[0], free, most, s->blindspots[1] - mixed);
    return SPOT_OK;
}

/* Checks that every EC of these ranges is possible. */
static spot_status check_attributes(spot_ctx *c, const spot_scene_config *s)
{
    int presences = 1 + s->extra_layers[1];          /* all of them are rollable */
    int available = 7 + 4 * s->extra_layers[0];      /* background 2, square 5, others 4 each */

    if (s->rollable[0] < presences)
        return spot_fail(c, SPOT_USAGE, "{scene.rollable_least} scene.rollable starts at %d, but the presences of %d object "
                         "layers always vary; start at %d or lower scene.extra_layers", s->rollable[0], presences, presences);
    if (s->rollable[1] > available)
        return spot_fail(c, SPOT_USAGE, "{scene.rollable} scene.rollable reaches %d, but with %d extra layer(s) there are only "
                         "%d attributes; lower it or raise scene.extra_layers", s->rollable[1], s->extra_layers[0], available);
    return s->induce == SPOT_CORRELATE ? check_correlated(c, s) : check_blindspots(c, s);
}

spot_status spot_scene_check(spot_ctx *c, const spot_scene_config *s)
{
    SPOT_TRY(spot_settings_check(c, SPOT_USAGE, spot_scene_settings, s, "scene"));
    SPOT_TRY(check_attributes(c, s));
    for (int k = 0; k < SPOT_SPLITS; k++)
        if ((double)s->per_bucket[k] * (1 << s->rollable[1]) > MAX_IMAGES)
            return spot_fail(c, SPOT_USAGE, "scene.per_bucket.%s is %d, which makes %.0f images; at most %d can be had",
                             spot_split_name(k), s->per_bucket[k], (double)s->per_bucket[k] * (1 << s->rollable[1]),
                             MAX_IMAGES);
    return SPOT_OK;
}

/* Draws the layers, then the rollable attributes: all presences, then attributes of random layers that have any left. */
static void draw_dataset(spot_ec *ec, spot_rng *r)
{
    uint32_t order[SPOT_EXTRAS];
    int target;

    ec->extras = spot_rng_between(r, ec->scene.extra_layers[0], ec->scene.extra_layers[1]);
    target = spot_rng_between(r, ec->scene.rollable[0], ec->scene.rollable[1]);
    spot_rng_shuffle(r, order, SPOT_EXTRAS);
    ec->layer[SPOT_BACKGROUND] = ec->layer[SPOT_SQUARE] = 1;
    for (int k = 0; k < ec->extras; k++) {
        ec->extra[k] = (uint8_t)(SPOT_RECTANGLE + order[k]);
        ec->layer[ec->extra[k]] = 1;
    }
    for (int l = SPOT_SQUARE; l < SPOT_LAYERS; l++) ec->rollable[l][SPOT_PRESENCE] = ec->layer[l];
    for (ec->rollable_count = 1 + ec->extras; ec->rollable_count < target; ec->rollable_count++) {
        int open[SPOT_LAYERS][SPOT_ATTRIBUTES], opens[SPOT_LAYERS] = { 0 }, layers[SPOT_LAYERS], n = 0, l;
        for (l = 0; l < SPOT_LAYERS; l++) {
            for (int a = 0; a < SPOT_ATTRIBUTES; a++)
                if (ec->layer[l] && has_attribute(l, a) && !ec->rollable[l][a]) open[l][opens[l]++] = a;
            if (opens[l]) layers[n++] = l;
        }
        l = layers[spot_rng_below(r, (uint32_t)n)];
        ec->rollable[l][open[l][spot_rng_below(r, (uint32_t)opens[l])]] = 1;
    }
}

/* An unfinished blindspot: the value of each attribute, or OUT (not part of it), or ANY (drawn later). */
enum { OUT = -1, ANY = 2 };
typedef struct { int8_t value[SPOT_LAYERS][SPOT_ATTRIBUTES]; } candidate;

/* Whether (layer, attribute) may be added. An object's presence comes before its other attributes. */
static bool may_add(const spot_ec *ec, const candidate *k, int layer, int attribute)
{
    bool meta = layer == SPOT_BACKGROUND && attribute == SPOT_RELATIVE_POSITION;

    if (!meta && !ec->rollable[layer][attribute]) return false;
    if (k->value[layer][attribute] != OUT) return false;
    return attribute == SPOT_PRESENCE || layer == SPOT_BACKGROUND || k->value[layer][SPOT_PRESENCE] != OUT;
}

/* Draws uniformly over all eligible pairs, or over layers and then over the pairs of that layer. An object layer whose presence
 * is out has only that pair, which makes the second rule the paper's. */
static spot_triplet draw_pair(const spot_ec *ec, const candidate *k, spot_rng *r)
{
    spot_triplet pair[SPOT_LAYERS * SPOT_ATTRIBUTES];
    int n = 0, first[SPOT_LAYERS + 1], layers[SPOT_LAYERS], m = 0, l;

    for (l = 0; l < SPOT_LAYERS; l++) {
        first[l] = n;
        for (int a = 0; a < SPOT_ATTRIBUTES; a++)
            if (may_add(ec, k, l, a)) pair[n++] = (spot_triplet){ .layer = (uint8_t)l, .attribute = (uint8_t)a };
        if (n > first[l]) layers[m++] = l;
    }
    first[SPOT_LAYERS] = n;
    if (ec->scene.attribute_choice == SPOT_CHOICE_PAIRS) return pair[spot_rng_below(r, (uint32_t)n)];
    l = layers[spot_rng_below(r, (uint32_t)m)];
    return pair[first[l] + (int)spot_rng_below(r, (uint32_t)(first[l + 1] - first[l]))];
}

static void draw_blindspot(spot_blindspot *b, const spot_ec *ec, int specificity, spot_rng *r)
{
    candidate k;
    int n = 0;

    memset(&k, OUT, sizeof k);
    if (ec->scene.square_presence == SPOT_SQUARE_FORCED) {
        k.value[SPOT_SQUARE][SPOT_PRESENCE] = 1;
        n++;
    }
    for (; n < specificity; n++) {
        spot_triplet t = draw_pair(ec, &k, r);
        k.value[t.layer][t.attribute] = ANY;
        if (t.layer != SPOT_BACKGROUND && t.attribute != SPOT_PRESENCE) k.value[t.layer][SPOT_PRESENCE] = 1;
    }
    /* A relative position needs a square: if the blindspot names one, it must be present. */
    if (k.value[SPOT_BACKGROUND][SPOT_RELATIVE_POSITION] != OUT && k.value[SPOT_SQUARE][SPOT_PRESENCE] != OUT)
        k.value[SPOT_SQUARE][SPOT_PRESENCE] = 1;
    memset(b, 0, sizeof *b);
    b->specificity = specificity;
    for (int l = 0; l < SPOT_LAYERS; l++)
        for (int a = 0; a < SPOT_ATTRIBUTES; a++) {
            int8_t v = k.value[l][a];
            if (v == OUT) continue;
            if (v == ANY) v = (int8_t)spot_rng_below(r, 2);
            b->triplet[b->len++] = (spot_triplet){ (uint8_t)l, (uint8_t)a, v };
        }
}

/* The ambiguity constraint: at least `least` shared attributes with opposite values. */
static bool are_unambiguous(const spot_blindspot *a, const spot_blindspot *b, int least)
{
    int opposite = 0;

    for (int i = 0; i < a->len; i++)
        for (int j = 0; j < b->len; j++) {
            const spot_triplet *s = &a->triplet[i], *t = &b->triplet[j];
            opposite += s->layer == t->layer && s->attribute == t->attribute && s->value != t->value;
        }
    return opposite >= least;
}

/* Methods see positives alone: a blindspot without a square can never be scored. */
static bool has_positives(const spot_blindspot *b)
{
    for (int i = 0; i < b->len; i++)
        if (b->triplet[i].layer == SPOT_SQUARE && b->triplet[i].attribute == SPOT_PRESENCE) return b->triplet[i].value;
    return true;
}

/* Adds a blindspot that has positives and is unambiguous with all others; false after TRIES. That of a mixed correlation has
 * one attribute besides the square and its own object. */
static bool add_blindspot(spot_ec *ec, int specificity, spot_rng *r)
{
    spot_blindspot *b = &ec->blindspot[ec->blindspot_count];

    for (int i = 0; i < TRIES; i++) {
        bool good;
        draw_blindspot(b, ec, specificity, r);
        good = has_positives(b);
        for (int m = 0; m < ec->blindspot_count; m++)
            good = good && are_unambiguous(b, &ec->blindspot[m], m || ec->scene.induce != SPOT_MIXED ? 2 : 1);
        if (good) {
            ec->blindspot_count++;
            return true;
        }
    }
    return false;
}

/* The square and a value of an attribute of another layer, with that layer's presence. */
static spot_blindspot conflict_of(spot_triplet rare)
{
    const spot_triplet square = { SPOT_SQUARE, SPOT_PRESENCE, 1 }, object = { rare.layer, SPOT_PRESENCE, 1 };
    spot_blindspot b = { 0 };

    if (rare.layer == SPOT_BACKGROUND) b.triplet[b.len++] = rare;
    b.triplet[b.len++] = square;
    if (rare.layer != SPOT_BACKGROUND && rare.attribute != SPOT_PRESENCE) b.triplet[b.len++] = object;
    if (rare.layer != SPOT_BACKGROUND) b.triplet[b.len++] = rare;
    b.specificity = b.len;
    return b;
}

/* Draws n attributes and their rare values; the blindspots ascend by specificity. spot_scene_check saw that there are n. */
static void draw_correlated(spot_ec *ec, int n, spot_rng *r)
{
    spot_triplet pair[SPOT_LAYERS * SPOT_ATTRIBUTES];
    uint32_t order[SPOT_LAYERS * SPOT_ATTRIBUTES];
    int pairs = 0;

    for (int l = 0; l < SPOT_LAYERS; l++)
        for (int a = 0; a < SPOT_ATTRIBUTES; a++)
            if (l != SPOT_SQUARE && ec->rollable[l][a])
                pair[pairs++] = (spot_triplet){ .layer = (uint8_t)l, .attribute = (uint8_t)a };
    spot_rng_shuffle(r, order, (uint32_t)pairs);
    for (; ec->blindspot_count < n; ec->blindspot_count++) {
        spot_triplet rare = pair[order[ec->blindspot_count]];
        spot_blindspot b;
        int at = ec->blindspot_count;
        rare.value = (int8_t)spot_rng_below(r, 2);
        b = conflict_of(rare);
        for (; at > 0 && ec->blindspot[at - 1].specificity > b.specificity; at--) ec->blindspot[at] = ec->blindspot[at - 1];
        ec->blindspot[at] = b;
    }
}

spot_status spot_ec_draw(spot_ctx *c, spot_ec *ec, const spot_scene_config *cfg, uint64_t seed, uint32_t index)
{
    spot_rng r = spot_rng_at(seed, SPOT_RNG_EC, index, 0);
    int specificity[SPOT_MAX_BLINDSPOTS], n, correlated;

    SPOT_TRY(spot_scene_check(c, cfg));
    memset(ec, 0, sizeof *ec);
    ec->seed = seed;
    ec->index = index;
    ec->scene = *cfg;
    ec->targets = 1;
    draw_dataset(ec, &r);
    for (int k = 0; k < SPOT_SPLITS; k++) ec->images[k] = cfg->per_bucket[k] << ec->rollable_count;
    n = spot_rng_between(&r, cfg->blindspots[0], cfg->blindspots[1]);
    correlated = cfg->induce == SPOT_CORRELATE ? n : cfg->induce == SPOT_MIXED && n;
    for (int m = correlated; m < n; m++) {        /* inserted in ascending order */
        int s = spot_rng_between(&r, cfg->specificity[0], cfg->specificity[1]), at = m;
        for (; at > correlated && specificity[at - 1] > s; at--) specificity[at] = specificity[at - 1];
        specificity[at] = s;
    }
    for (int restart = 0; restart < RESTARTS; restart++) {
        ec->blindspot_count = 0;
        if (correlated) draw_correlated(ec, correlated, &r);
        while (ec->blindspot_count < n && add_blindspot(ec, specificity[ec->blindspot_count], &r)) {}
        if (ec->blindspot_count == n) return SPOT_OK;
    }
    return spot_fail(c, SPOT_USAGE, "{scene.no_blindspots} EC %u: no %d unambiguous blindspots of %d to %d attributes found "
                     "among %d rollable ones in %d restarts; ask for fewer or raise scene.rollable", index, n,
                     specificity[correlated], specificity[n - 1], ec->rollable_count, RESTARTS);
}

/* No EC of a sweep has this index. */
void spot_ec_base(spot_ec *ec, const spot_scene_config *cfg, uint64_t seed, int train, int val)
{
    memset(ec, 0, sizeof *ec);
    ec->seed = seed;
    ec->index = UINT32_MAX;
    ec->scene = *cfg;
    for (int l = SPOT_RECTANGLE; l < SPOT_LAYERS; l++) ec->extra[ec->extras++] = (uint8_t)l;
    for (int l = 0; l < SPOT_LAYERS; l++) {
        ec->layer[l] = 1;
        for (int a = 0; a < SPOT_ATTRIBUTES; a++)
            if (has_attribute(l, a)) {
                ec->rollable[l][a] = 1;
                ec->rollable_count++;
            }
    }
    ec->images[SPOT_TRAIN] = train;
    ec->images[SPOT_VAL] = val;
    ec->targets = SPOT_BASE_TARGETS;
}
