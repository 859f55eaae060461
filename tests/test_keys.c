/* test_keys.c - what changes a key: the keys of the shipped configs, and every setting of every study by what its row says. */
#define _GNU_SOURCE                    /* open_memstream, scandir, strsep */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "background/background_config.h"
#include "checks.h"
#include "discover/search/discover_config.h"
#include "study/config_table.h"
#include "examine/examine_config.h"
#include "shifts/shifts_config.h"
#include "study/keys.h"

enum { EC = 3 };

static const spot_config_kind *const kinds[] = { &spot_sweep_kind, &spot_background_kind, &spot_examine_kind,
                                                 &spot_shifts_kind };
static const char *const studies[] = { "", "background", "examine", "shifts" };

static const spot_config_kind *kind_of(spot_ctx *c, const char *path)
{
    char word[32];
    int k = 0;

    CHECK_OK(c, spot_yaml_word(c, word, sizeof word, path, "study"));
    while (strcmp(studies[k], word)) k++;
    return kinds[k];
}

/* The hashes of files have fixed values, since the files of shipped configs are not here. */
static spot_identity identity_of(const spot_config *cfg)
{
    spot_identity id = { .init = "init", .encoder = "encoder" };

    if (cfg->data.coco[0]) strcpy(id.data, "data");
    return id;
}

static void put(FILE *f, const char *name, spot_key k)
{
    char text[33];

    spot_key_text(text, k);
    fprintf(f, " %s %s", name, text);
}

static void put_sweep(spot_ctx *c, FILE *f, const spot_config *cfg)
{
    const spot_identity id = identity_of(cfg);
    const spot_key features = { 7, 8 };

    put(f, "model", spot_key_of_model(c, &id, cfg, EC));
    put(f, "base", spot_key_of_base(c, cfg));
    put(f, "robust", spot_key_of_robust(c, &id, cfg, EC));
    put(f, "clip", spot_key_of_clip(c, &id, cfg, EC));
    for (int b = 0; b < cfg->bdms; b++) {
        put(f, "points", spot_key_of_points(features, &cfg->bdm[b]));
        put(f, "found", spot_key_of_found(features, &cfg->bdm[b]));
        put(f, "method", spot_key_of_method(&cfg->bdm[b]));
    }
}

static void put_keys(spot_ctx *c, FILE *f, const spot_config_kind *k, const void *cfg)
{
    if (k == &spot_sweep_kind) put_sweep(c, f, cfg);
    else put(f, "results", spot_config_key(k, cfg));
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* golden/keys.txt was written at numbers 12: a run that exists goes on. SPOT_WORDS=write writes it anew. */
TEST(keys_of_shipped_configs)
{
    spot_ctx c = check_ctx(1);
    struct dirent **file;
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    const int n = scandir("../configs", &file, NULL, by_name);

    for (int i = 0; i < n; free(file[i]), i++) {
        char path[512];
        if (!strstr(file[i]->d_name, ".yaml")) continue;
        snprintf(path, sizeof path, "../configs/%s", file[i]->d_name);
        const spot_config_kind *k = kind_of(&c, path);
        void *cfg = calloc(1, k->size);
        CHECK_OK(&c, spot_yaml_load(&c, k, cfg, path));
        fputs(file[i]->d_name, f);
        put_keys(&c, f, k, cfg);
        fputc('\n', f);
        spot_memory_close(cfg);
        free(cfg);
    }
    fclose(f);
    if (getenv("SPOT_WORDS")) {
        f = fopen("golden/keys.txt", "w");
        assert_int_equal(fwrite(text, 1, size, f), size);
        fclose(f);
    }
    f = fopen("golden/keys.txt", "r");
    assert_non_null(f);
    for (char *rest = text, *line, on_device[32768]; (line = strsep(&rest, "\n")) && *line;)
        if (!fgets(on_device, sizeof on_device, f)
            || strncmp(line, on_device, strlen(line))) fail_msg("the keys are other ones: %s", line);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
    free(text), free(file);
}

/* ---- every setting ---- */

#define METHODS "bdms: [{method: planespot, reduce: pca, dim: 2}, {method: spotlight, reduce: tsne}, {method: domino}]\n"
static const char of_variants[] =
    "ecs: 3\nvariants: [{name: a, scene: {induce: rare}}, {scene: {blindspots: [2, 2]}}]\n" METHODS;
static const char of_pictures[] = "data: {coco: a.json, images: b}\n" METHODS;
static const char *const texts[] = {
    "ecs: 3\n" METHODS,
    "study: background\ndata: {images: a, backgrounds: b}\nencoders: [{name: x, weights: w}, {name: y}]\n"
    "models: [{name: m, weights: w}, {name: n, command: c}]\nvary: [{name: v, suite: {seed: 2}}]\n",
    "study: examine\nobjects: {catalogue: c}\nclasses: [{name: a, words: chair}, {name: b, last: sofa}]\n"
    "factors: [{factor: camera_distance, least: 1, most: 2}]\n"
    "models: [{name: m, weights: w}, {name: n, region: [{factor: camera_distance, least: 1}]}]\n"
    "examiners: [{method: cem}, {method: bo}, {method: random}]\n",
    "study: shifts\ndata: {root: a, real: real}\nencoder: {weights: c, label: clip}\nfilter: {chosen_for: clip}\n"
    "sources: [{name: s}, {name: t}]\nshifts: [{name: night, threshold: 0.2}, {name: rain}]\n"
    "models: [{name: m, predictions: a}, {name: n, weights: b}]\n",
};

static const char of_search[] = "study: discover\ndata: rows\nfeatures: numbers\nclasses: 3\nseeds: [{seed: 1}, {seed: 2}]\n"
    "proof: {parts: 1}\nbdms: [{method: spotlight}, {method: planespot, reduce: tsne}]\n";

/* A sweep's keys by letter: base model, model, robust network, points, findings, whole run. Results of other studies: result;
 * other run; any change at all. A letter stands in `moved` if the key, or the answer, is another. */
static void list_moved(spot_ctx *c, char *moved, const spot_config_kind *k, const void *was, const void *is)
{
    char words[512];
    int n = 0;

    if (k == &spot_sweep_kind) {
        spot_key key[2][6];
        for (int i = 0; i < 2; i++) {
            const spot_config *cfg = i ? is : was;
            const spot_identity id = identity_of(cfg);
            key[i][0] = spot_key_of_base(c, cfg);
            key[i][1] = spot_key_of_model(c, &id, cfg, EC);
            key[i][2] = spot_key_of_robust(c, &id, cfg, EC);
            key[i][3] = spot_key_of_points(key[i][1], &cfg->bdm[0]);
            key[i][4] = spot_key_of_found(key[i][3], &cfg->bdm[0]);
        }
        for (int i = 0; i < 5; i++)
            if (memcmp(&key[0][i], &key[1][i], sizeof key[0][i])) moved[n++] = "bmrpf"[i];
    } else {
        const spot_key a = spot_config_key(k, was), b = spot_config_key(k, is);
        if (memcmp(&a, &b, sizeof a)) moved[n++] = 'k';
    }
    if (spot_config_is_other(words, sizeof words, k, was, is)) moved[n++] = 'c';
    if (spot_config_changes(k, was, is)) moved[n++] = 'a';
    moved[n] = 0;
}

/* Gives a setting another value that its row accepts; false: there is none. */
static bool change(const spot_setting *s, void *value)
{
    const int unit = s->unit ? s->unit : 1;
    double *real = value;
    int *i = value, was = *i;

    switch (s->kind) {
    case SETTING_INT:
    case SETTING_SWITCH: *i += *i + unit <= s->hi ? unit : -unit; break;
    case SETTING_NAME:   *i = s->names[*i + 1] ? *i + 1 : 0; return *i != was;
    case SETTING_SEED:   ++*(uint64_t *)value; break;
    case SETTING_REAL:   *real += *real < s->hi ? (s->hi - *real) / 4 : (s->lo - *real) / 4; break;
    case SETTING_RANGE:  i[i[0] < i[1] ? 0 : 1] += i[0] < i[1] || i[1] < s->hi ? 1 : -1, i[0] -= i[0] > i[1]; break;
    case SETTING_SPAN:   real[1] = real[1] < s->hi ? s->hi : (real[0] + real[1]) / 2; break;
    case SETTING_TEXT:   *(const char **)value = "changed"; break;
    default:             return false;
    }
    return true;
}

/* The letters that a row's word stands for, in the order of list_moved. */
static void expect_moved(char *want, const spot_config_kind *k, unsigned affects)
{
    const unsigned pictures = affects & SPOT_AFFECTS_PICTURES, model = pictures | (affects & SPOT_AFFECTS_MODEL);
    const unsigned points = model | (affects & SPOT_AFFECTS_POINTS);

    *want = 0;
    if (k == &spot_sweep_kind) {
        if (affects & SPOT_AFFECTS_BASE) strcat(want, "b");
        if (model) strcat(want, "m");
        if (model | (affects & SPOT_AFFECTS_ROBUST)) strcat(want, "r");
        if (points) strcat(want, "p");
        if (points | (affects & SPOT_AFFECTS_FINDING)) strcat(want, "f");
    } else if (affects & k->key) strcat(want, "k");
    if (affects & k->run) strcat(want, "c");
    if (affects != SPOT_AFFECTS_EXTENT) strcat(want, "a");
}

typedef struct { spot_ctx *c; const spot_config_kind *k; void *was, *is; int changed; } subject;

/* without: not 0 in entries whose keys list_moved does not ask for, and in those of a list that keys leave out. */
static void change_each(subject *t, const spot_setting *rows, void *group, const char *above, unsigned affects,
                        unsigned without)
{
    for (spot_setting_walk w = spot_settings_walk(rows, group); w.s; spot_settings_next(&w)) {
        const unsigned own = w.affects ? w.affects : affects;
        unsigned skip = without;
        char path[200], want[16], moved[16], kept[sizeof(double) * 2];
        snprintf(path, sizeof path, "%s%s%s", above, *above ? "." : "", w.s->name);
        if (t->k == &spot_sweep_kind && !strcmp(path, "scene") && ((spot_config *)t->is)->variants) continue;   /* seen above */
        if (!spot_setting_applies(w.s, w.group)) continue;
        if (spot_setting_is_idle(w.s, w.group)) skip = 'm';
        if (w.s->kind == SETTING_GROUP) change_each(t, w.s->rows, w.value, path, own, skip);
        if (w.s->kind == SETTING_LIST && own == SPOT_AFFECTS_EXTENT) continue;
        for (int e = 0; w.s->kind == SETTING_LIST && e < spot_setting_entries(w.s, w.group); e++) {
            const bool unasked = t->k == &spot_sweep_kind && (strcmp(path, "bdms") ? e != EC % 2 : e > 0);
            char entry[220];
            snprintf(entry, sizeof entry, "%s[%d]", path, e);
            change_each(t, w.s->rows, spot_setting_entry(w.s, w.value, e), entry, own,
                        skip | (unasked || w.s->grows ? (unsigned)'m' : 0));
        }
        if (w.s->rows || w.s->kind == SETTING_LIST) continue;
        if (!own) fail_msg("%s does not say what it affects", path);
        memcpy(kept, w.value, spot_setting_bytes(w.s));
        if (!strcmp(path, "study") || !change(w.s, w.value)) continue;
        expect_moved(want, t->k, strncmp(path, "variants", 8) ? own : own & ~(unsigned)SPOT_AFFECTS_BASE);
        list_moved(t->c, moved, t->k, t->was, t->is);
        memcpy(w.value, kept, spot_setting_bytes(w.s));
        t->changed++;
        if (skip) {                              /* only the letters of the whole run are asked for */
            const char *run = strpbrk(want, "ca");
            memmove(want, run ? run : "", run ? strlen(run) + 1 : 1);
        }
        if (strcmp(moved, want)) fail_msg("%s moves \"%s\", and its row says \"%s\"", path, moved, want);
    }
}

static void change_all_of(const spot_config_kind *k, const char *text)
{
    spot_ctx c = check_ctx(1);
    subject t = { &c, k, calloc(1, k->size), calloc(1, k->size), 0 };

    CHECK_OK(&c, spot_yaml_parse(&c, k, t.was, text, strlen(text), "a.yaml"));
    CHECK_OK(&c, spot_yaml_parse(&c, k, t.is, text, strlen(text), "a.yaml"));
    change_each(&t, k->rows, t.is, "", 0, 0);
    assert_true(t.changed > 40 && !spot_config_changes(k, t.was, t.is));
    spot_memory_close(t.was), spot_memory_close(t.is);
    free(t.was), free(t.is);
}

TEST(a_setting_changes_what_its_row_says)
{
    for (int i = 0; i < LEN(kinds); i++) change_all_of(kinds[i], texts[i]);
    change_all_of(kinds[0], of_variants);
    change_all_of(kinds[0], of_pictures);
    change_all_of(&spot_discover_kind, of_search);
}

/* Written by hand, and not from the rows: a row that says the wrong thing would agree with itself. */
TEST(settings_of_a_sweep_by_hand)
{
    static const struct { const char *path, *moves; } cases[] = {
        { "seed", "bmrpfca" }, { "ecs", "" }, { "scene.size", "bmrpfca" }, { "scene.per_bucket.test", "mrpfca" },
        { "scene.induce", "mrpfca" },
        { "model.base.images", "bmrpfca" }, { "model.lanes", "bmrpfca" }, { "model.epochs", "mrpfca" }, { "model.init", "ca" },
        { "model.robust.steps", "rca" }, { "model.robust.epochs", "rca" }, { "model.learned_rest", "ca" },
        { "model.learned_outside", "mrpfca" }, { "variants[1].scene.per_bucket.test", "mrpfca" },
        { "variants[1].scene.induce", "mrpfca" }, { "variants[0].scene.induce", "ca" }, { "bdms[0].dim", "pfca" },
        { "bdms[0].reduce", "pfca" }, { "bdms[0].tsne.iterations", "ca" }, { "bdms[0].scvis.compat.kl_decay", "ca" },
        { "bdms[0].mixture.k_max", "fca" }, { "bdms[0].order", "fca" }, { "bdms[0].name", "ca" }, { "bdms[1].top", "ca" },
        { "bdms[0].representation", "ca" }, { "metric.top", "ca" },
    };
    spot_ctx c = check_ctx(1);
    spot_config was, is;
    char moved[16];

    for (int i = 0; i < LEN(cases); i++) {
        char path[100], *rest = path, *word;
        const spot_setting *rows = spot_settings;
        void *group = &is;
        const char *text = strstr(cases[i].path, "variants") ? of_variants : texts[0];
        CHECK_OK(&c, spot_yaml_parse(&c, &spot_sweep_kind, &was, text, strlen(text), "a.yaml"));
        CHECK_OK(&c, spot_yaml_parse(&c, &spot_sweep_kind, &is, text, strlen(text), "a.yaml"));
        strcpy(path, cases[i].path);
        while ((word = strsep(&rest, "."))) {
            char *entry = strchr(word, '[');
            if (entry) *entry++ = 0;
            const spot_setting_walk w = spot_settings_at(rows, group, word);
            assert_non_null(w.s);
            rows = w.s->rows;
            group = entry ? spot_setting_entry(w.s, w.value, atoi(entry)) : w.value;
            if (!rest) assert_true(change(w.s, w.value));
        }
        list_moved(&c, moved, &spot_sweep_kind, &was, &is);
        if (strcmp(moved, cases[i].moves)) fail_msg("%s moves \"%s\", not \"%s\"", cases[i].path, moved, cases[i].moves);
        spot_memory_close(&was.memory), spot_memory_close(&is.memory);
    }
}

TEST(no_settings_are_large)
{
    for (int i = 0; i < LEN(kinds); i++) assert_true(kinds[i]->size <= 16384);
    assert_true(sizeof(spot_bdm_config) <= 16384);
}
