/* discover_config.c - see discover_config.h. */
#include "discover/search/discover_config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bdm/methods.h"
#include "discover/subject/subject_memory.h"
#include "study/config_read.h"

enum { MOST_SEEDS = 4096 };

/* ---- the table ---- */

static bool has_proof(const void *config) { return ((const spot_discover_config *)config)->proves; }

static const spot_setting proof_rows[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_proof_options, field, help, __VA_ARGS__)
    S("parts",      INT,  parts,      "parts of the rows that find slices", SPOT_IN(1, 2), SPOT_DEF(2)),
    S("holdout",    REAL, holdout,    "share of each class's rows that only judge, with one part", SPOT_IN(0, 1),
      SPOT_DEF(0.5)),
    S("neighbours", INT,  neighbours, "rows that vote on a membership", SPOT_IN(1, INT_MAX), SPOT_DEF(5)),
    S("chance",     INT,  chance,     "searches in errors without structure", SPOT_IN(0, INT_MAX)),
    S("level",      REAL, level,      "significance level of the whole family of tests", SPOT_IN(0, 1), SPOT_DEF(0.05),
      .affects = SPOT_AFFECTS_JUDGING),
    S("same",       REAL, same,       "Jaccard index from which slices are merged", SPOT_IN(0, 1), SPOT_DEF(0.5),
      .affects = SPOT_AFFECTS_JUDGING),
    S("seed",       SEED, seed,       "seed of the parts and of errors without structure", SPOT_DEF(0)),
#undef S
    SPOT_END
};

static const spot_setting seed_rows[] = { SPOT_ROW("seed", SEED, spot_discover_seed, seed, "seed of a search", SPOT_DEF(0)),
                                         SPOT_END };

static const spot_setting rows[] = {
#define S(name, kind, field, help, ...) SPOT_ROW(name, kind, spot_discover_config, field, help, __VA_ARGS__)
#define LIST(name, field, number, most, table, help) \
    S(name, LIST, field, help, SPOT_IN(0, most), .rows = table, .size = sizeof(*((spot_discover_config *)0)->field), \
      .count = offsetof(spot_discover_config, number), .affects = SPOT_AFFECTS_FINDING)
    S("study",    NAME, study,    "kind of experiment", SPOT_ONE_OF("discover"), .affects = SPOT_AFFECTS_PICTURES),
    S("data",     TEXT, data,     "hash of labels, confidences, names and groups", .hi = 33, .affects = SPOT_AFFECTS_PICTURES),
    S("features", TEXT, features, "hash of features, probabilities and attributes", .hi = 33,
      .affects = SPOT_AFFECTS_VIEW),
    S("classes",  INT,  classes,  "classes that are searched", SPOT_IN(0, INT_MAX), .affects = SPOT_AFFECTS_EXTENT),
    S("class",    INT,  cls,      "number of the only class; -1: all rows at once; -2: each class; -3: both",
      SPOT_IN(SPOT_EACH_AND_ALL, INT_MAX), SPOT_DEF(SPOT_EACH_AND_ALL), .affects = SPOT_AFFECTS_FINDING),
    S("least",    INT,  least,    "rows that a class must have", SPOT_IN(1, INT_MAX), SPOT_DEF(20),
      .affects = SPOT_AFFECTS_FINDING),
    LIST("seeds", seed, seeds, MOST_SEEDS, seed_rows, "seeds; each method runs once with each"),
    S("prove",    SWITCH, proves, "slices are judged on rows that the search has not seen", SPOT_SWITCH, SPOT_DEF(1),
      .affects = SPOT_AFFECTS_FINDING),
    S("proof",    GROUP, proof,   "test of the slices", .rows = proof_rows, .when = has_proof,
      .otherwise = "needs prove: true", .affects = SPOT_AFFECTS_FINDING),
    LIST("bdms", bdm, bdms, SPOT_MAX_BDMS, spot_bdm_settings, "blindspot discovery methods"),
#undef LIST
#undef S
    SPOT_END
};

static spot_status fill_entry(spot_reading *r, void *list, int *filled, const yaml_node_t *mapping, int entry, const char *at)
{
    if (strncmp(at, "seeds", 5)) return spot_entry_fill(r, list, filled, mapping, entry, at);
    return spot_config_fill(r, seed_rows, (spot_discover_seed *)list + (*filled)++, mapping, at);
}

const spot_config_kind spot_discover_kind = {
    .rows = rows, .size = sizeof(spot_discover_config), .fill_entry = fill_entry, .run = SPOT_AFFECTS_PICTURES,
    .used = true,
    .key = SPOT_AFFECTS_ALL & ~(SPOT_AFFECTS_PATH | SPOT_AFFECTS_JUDGING | SPOT_AFFECTS_PRESENTATION | SPOT_AFFECTS_EXTENT),
    .example = "config.yaml of a folder of findings", .help = "spotter discover --help-all",
};

/* ---- whose rows they are ---- */

static spot_key join(spot_key k, const char *what, const void *array, size_t bytes)
{
    return array ? spot_key_join(k, what, array, bytes) : k;
}

static const char *data_hash(char text[33], const spot_subject *s)
{
    const size_t n = (size_t)s->n, all = n * (size_t)s->classes;
    const int sizes[] = { s->n, s->d, s->classes };
    spot_key k = join(spot_key_of(sizes, sizeof sizes), "encoder", s->encoder, strlen(s->encoder));

    for (int i = 0; i < s->classes && s->class_name; i++) k = join(k, "class", s->class_name[i], strlen(s->class_name[i]));
    k = join(k, "target", s->target, n * sizeof *s->target);
    k = join(k, "has", s->has, all);
    k = join(k, "confidence", s->confidence, n * sizeof *s->confidence);
    if (spot_subject_is_grouped(s)) k = join(k, "group", s->group, n * sizeof *s->group);
    spot_key_text(text, k);
    return text;
}

/* Joins which rows are wrong: more than their confidences may say it. */
static spot_key join_wrong(spot_key k, const spot_subject *s)
{
    uint8_t wrong[4096];

    for (int first = 0; first < s->n && s->target; first += (int)sizeof wrong) {
        const int n = s->n - first < (int)sizeof wrong ? s->n - first : (int)sizeof wrong;
        for (int i = 0; i < n; i++) wrong[i] = spot_subject_wrong(s, first + i, s->target[first + i]);
        k = spot_key_join(k, "wrong", wrong, (size_t)n);
    }
    return k;
}

/* All probabilities count where rows have several classes, and for a proof's errors without structure. */
static const char *features_hash(char text[33], const spot_subject *s, const spot_discover_options *o)
{
    const spot_attributes *a = o->attributes;
    const size_t n = (size_t)s->n, d = (size_t)s->d, classes = (size_t)s->classes;
    spot_key k = join(spot_key_of("features", 8), "feature", s->feature, n * d * sizeof *s->feature);

    if (!s->target || o->proof) k = join(k, "prob", s->prob, n * classes * sizeof *s->prob);
    k = join_wrong(k, s);
    k = join(k, "head", s->head, classes * d * sizeof *s->head);
    for (int i = 0; a && i < a->items; i++) k = join(k, "item", a->name[i], strlen(a->name[i]));
    if (a) k = join(k, "attributes", a->bit, (size_t)a->items * a->words * sizeof *a->bit);
    spot_key_text(text, k);
    return text;
}

static spot_status take_options(spot_ctx *c, spot_discover_config *cfg, const spot_discover_options *o)
{
    cfg->cls = o->cls == SPOT_EACH_AND_ALL && !o->proof ? SPOT_EACH_CLASS : o->cls;    /* without a proof they are the same */
    cfg->least = o->least;
    cfg->proves = o->proof != NULL;
    if (o->proof) cfg->proof = *o->proof;
    cfg->bdms = o->bdms < SPOT_MAX_BDMS ? o->bdms : SPOT_MAX_BDMS;
    cfg->seeds = o->seeds < MOST_SEEDS ? o->seeds : MOST_SEEDS;
    cfg->bdm = spot_memory_take(&cfg->memory, (size_t)cfg->bdms * sizeof *cfg->bdm);
    cfg->seed = spot_memory_take(&cfg->memory, (size_t)cfg->seeds * sizeof *cfg->seed);
    if (!cfg->bdm || !cfg->seed) return spot_fail(c, SPOT_NOMEM, "no memory for %d methods of a config", o->bdms);
    memcpy(cfg->bdm, o->bdm, (size_t)cfg->bdms * sizeof *cfg->bdm);
    for (int i = 0; i < cfg->seeds; i++) cfg->seed[i].seed = o->seed[i];
    return SPOT_OK;
}

spot_status spot_discover_config_of(spot_ctx *c, spot_discover_config *cfg, const spot_subject *s,
                                    const spot_discover_options *o, int classes)
{
    char hash[33];

    spot_config_reset(&spot_discover_kind, cfg);
    cfg->classes = classes;
    cfg->data = spot_memory_text(&cfg->memory, data_hash(hash, s));
    cfg->features = spot_memory_text(&cfg->memory, o ? features_hash(hash, s, o) : "");
    if (!cfg->data || !cfg->features) return spot_fail(c, SPOT_NOMEM, "no memory for a config");
    return o ? take_options(c, cfg, o) : SPOT_OK;
}

/* ---- for other searches ---- */

spot_status spot_methods_load(spot_ctx *c, spot_config *cfg, const char *path)
{
    spot_discover_config found;
    char *text, study[64];
    size_t n;
    spot_status s = spot_yaml_text(c, &text, &n, path);

    if (s == SPOT_OK) s = spot_yaml_word_of(c, study, sizeof study, text, n, path, "study");
    if (s == SPOT_OK && strcmp(study, "discover")) s = spot_config_parse(c, cfg, text, n, path);
    else if (s == SPOT_OK) {
        s = spot_yaml_parse(c, &spot_discover_kind, &found, text, n, path);
        *cfg = spot_config_defaults();
        cfg->memory = found.memory;
        cfg->bdm = found.bdm, cfg->bdms = found.bdms;
        cfg->seed = found.seeds ? found.seed->seed : 0;
    }
    free(text);
    return s;
}
