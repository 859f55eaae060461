/* test_config.c - configs: what is taken, what is refused and in which words. */
#include "checks.h"

#include <dirent.h>
#include <stdlib.h>
#include <yajl/yajl_tree.h>

#include "base/nearest.h"
#include "bdm/methods.h"
#include "config/config_table.h"
#include "config/yaml.h"
#include "fuzz/fuzz_config.c"
#include "spotter/background.h"
#include "spotter/examine.h"
#include "spotter/rng.h"
#include "spotter/shifts.h"
#include "store/keys.h"

static spot_config cfg, other;

static spot_status parse(spot_ctx *c, spot_config *to, const char *text)
{
    spot_memory_close(&to->memory);
    return spot_config_parse(c, to, text, strlen(text), "a.yaml");
}

TEST(values_land_where_they_belong)
{
    spot_ctx c = check_ctx(1);
    const spot_config plain = spot_config_defaults();
    const spot_bdm_config planespot = spot_bdm_defaults(SPOT_PLANESPOT);
    CHECK_OK(&c, parse(&c, &cfg,
        "seed: 18446744073709551615\necs: 7\n"
        "scene: {size: 64, rollable: [5, 6], per_bucket: {val: 12}, attribute_choice: layer_first, flip: 0.5}\n"
        "model: {width: 32, lr: 2e-3, schedule: one_cycle, init: w.safetensors, keep_best: false}\n"
        "bdms:\n"
        "  - {reduce: tsne, tsne: {perplexity: 12}, norm: released}\n"
        "  - {reduce: scvis, weight: 0.5, scvis: {compat: {kl_decay: true, tsne_ramp: false}}, mixture: {k_max: 9}}\n"
        "metric: {profile: workshop, lambda_p: 0.75}\n"));
    assert_true(cfg.seed == UINT64_MAX && cfg.ecs == 7 && cfg.bdms == 2);
    assert_int_equal(cfg.scene.size, 64);
    assert_int_equal(cfg.scene.rollable[0], 5);
    assert_int_equal(cfg.scene.rollable[1], 6);
    assert_int_equal(cfg.scene.per_bucket[SPOT_VAL], 12);
    assert_int_equal(cfg.scene.per_bucket[SPOT_TRAIN], plain.scene.per_bucket[SPOT_TRAIN]);
    assert_int_equal(cfg.scene.attribute_choice, SPOT_CHOICE_LAYER_FIRST);
    CHECK_NEAR(cfg.scene.flip, 0.5, 0);
    assert_int_equal(cfg.model.width, 32);
    CHECK_NEAR(cfg.model.lr, 2e-3, 0);
    assert_int_equal(cfg.model.schedule, SPOT_ONE_CYCLE);
    assert_string_equal(cfg.model.init, "w.safetensors");
    assert_int_equal(cfg.model.keep_best, 0);
    assert_int_equal(cfg.bdm[0].embed.method, SPOT_REDUCE_TSNE);
    CHECK_NEAR(cfg.bdm[0].embed.tsne.perplexity, 12, 0);
    assert_int_equal(cfg.bdm[0].norm, SPOT_NORM_RELEASED);
    assert_int_equal(cfg.bdm[1].norm, planespot.norm);
    CHECK_NEAR(cfg.bdm[1].embed.tsne.perplexity, planespot.embed.tsne.perplexity, 0);
    assert_int_equal(cfg.bdm[1].embed.method, SPOT_REDUCE_SCVIS);
    assert_int_equal(cfg.bdm[1].embed.scvis.compat.kl_decay, 1);
    assert_int_equal(cfg.bdm[1].embed.scvis.compat.tsne_ramp, 0);
    assert_int_equal(cfg.bdm[1].mixture.k_max, 9);
    assert_int_equal(cfg.metric.profile, SPOT_PROFILE_WORKSHOP);
    CHECK_NEAR(cfg.metric.lambda_r, plain.metric.lambda_r, 0);
}

static const struct { const char *text, *sentence; } refused[] = {
    { "scene:\n  size: 64\n\n  sise: 3\n", "a.yaml line 4: scene has no setting \"sise\"; did you mean \"size\"?" },
    { "seed: 1\nsceen: {}\n", "a.yaml line 2: a config has no setting \"sceen\"; did you mean \"scene\"?" },
    { "seed: 1\nxyzzy: 2\n", "a.yaml line 2: a config has no setting \"xyzzy\"; `spotter help config` lists them all" },
    { "bdms:\n - {}\n - method: planespot\n   mixture: {kmax: 3}\n",
      "a.yaml line 4: bdms[1].mixture has no setting \"kmax\"; did you mean \"k_max\"?" },
    { "seed: 1\necs: 2\nseed: 3\n", "a.yaml line 3: seed is set twice" },
    { "scene:\n  size: big\n", "a.yaml line 2: scene.size is big; it takes an integer from 32 to 1024" },
    { "scene:\n  size: 64.5\n", "a.yaml line 2: scene.size is 64.5; it takes an integer" },
    { "scene:\n  size: 31\n", "it takes an integer from 32 to 1024" },
    { "scene:\n  size: 1025\n", "it takes an integer from 32 to 1024" },
    { "scene: {flip: 1.5}\n", "scene.flip is 1.5; it takes a number from 0 to 1" },
    { "scene: {blindspots: [1, 9]}\n", "scene.blindspots is [1, 9]; it takes" },
    { "scene:\n  size:\n", "a.yaml line 2: scene.size has no value; it takes an integer" },
    { "scene:\n  size: [1, 2]\n", "a.yaml line 2: scene.size takes an integer from 32 to 1024" },
    { "scene: 3\n", "a.yaml line 1: scene takes a group of settings ({size: ...})" },
    { "scene: {rollable: 6}\n", "scene.rollable takes [least, most], integers from 1 to 19" },
    { "scene: {rollable: [6]}\n", "scene.rollable takes [least, most]" },
    { "scene: {rollable: [5, 6, 7]}\n", "scene.rollable takes [least, most]" },
    { "scene: {rollable: [7, 6]}\n", "scene.rollable is [7, 6]; it takes [least, most]" },
    { "scene: {rollable: [a, 6]}\n", "scene.rollable is [a, 6]" },
    { "scene: {size: 64}\nvariants:\n  - {scene: {size: 32}}\n",
      "a.yaml line 2: variants[0].scene.size is 32, and scene.size 64; all ECs have one size" },
    { "variants:\n  - {}\n  - {scene: {jpeg_quality: 75}}\n", "variants[1] changes scene.jpeg_quality, which all ECs have" },
    { "data: {coco: a.json, images: b}\nvariants: [{}]\n", "variants does not go with data" },
    { "model: {learned_band: 0.2}\n", "model.learned_band takes [least, most], numbers from 0 to 1" },
    { "model: {learned_band: [0.5, 0.2]}\n", "model.learned_band is [0.5, 0.2]; it takes [least, most]" },
    { "model: {learned_band: [0.5, 1.2]}\n", "model.learned_band is [0.5, 1.2]; it takes [least, most]" },
    { "model: {width: 40}\n", "model.width is 40; it takes an integer from 16 to 256, a multiple of 16" },
    { "model: {lr: nan}\n", "model.lr is nan; it takes a number" },
    { "model: {lr: .inf}\n", "model.lr is .inf; it takes a number" },
    { "model: {lr: 1e400}\n", "model.lr is 1e400; it takes a number" },
    { "model: {lr: -1}\n", "model.lr is -1; it takes a number" },
    { "model: {lr: 0x1p3}\n", "model.lr is 0x1p3; it takes a number" },
    { "model: {lr: 1e-3x}\n", "model.lr is 1e-3x; it takes a number" },
    { "model: {keep_best: 1}\n", "model.keep_best is 1; it takes true or false" },
    { "model: {optimizer: adm}\n", "model.optimizer is \"adm\"; did you mean \"adam\"?" },
    { "model: {optimizer: lbfgs}\n", "model.optimizer is lbfgs; it takes adam, sgd or rmsprop" },
    { "seed: -1\n", "seed is -1; it takes an integer from 0 to 18446744073709551615" },
    { "seed: 18446744073709551616\n", "seed is 18446744073709551616; it takes" },
    { "ecs: 99999999999999999999\n", "ecs is 99999999999999999999; it takes" },
    { "bdms: []\n", "bdms takes a list of 1 to 128 groups of settings" },
    { "bdms: {method: planespot}\n", "bdms takes a list" },
    { "bdms:\n  - planespot\n", "a.yaml line 2: bdms[0] takes a group of settings ({method: ...})" },
    { "bdms:\n  - {method: domino, gamma: 10}\n  - {method: planespot, gamma: 10}\n",
      "a.yaml line 3: bdms[1].gamma is a setting of domino, not of planespot" },
    { "bdms: [{reduce: none}]\n", "bdms[0]: planespot clusters in at most 31 dimensions and here are 512" },
    { "bdms: [{reduce: pca, dim: 32}]\n", "at most 31 dimensions and here are 32" },
    { "bdms: [{method: george, dim: 33}]\n", "bdms[0]: george clusters in at most 32 dimensions and here are 33" },
    { "bdms: [{method: domino, components: 3}]\n", "bdms[0].components is 3; a start from the confusion matrix has 4 cells" },
    { "bdms: [{method: george, umap: {min_dist: 2}}]\n", "bdms[0].umap: min_dist 2 is above spread 1" },
    { "bdms: [{method: spotlight, hardness: true}]\n", "bdms[0].hardness needs a reducer for what is left" },
    { "bdms: [{method: spotlight, embeddings: clip}]\n", "bdms[0].embeddings is for representation: file" },
    { "bdms: [{method: domino, gamma_hat: -0.5}]\n", "bdms[0].gamma_hat is -0.5; it takes a number from 0, or -1" },
    { "bdms: [{mixture: {k_min: 5, k_max: 4}}]\n", "bdms[0].mixture: k_min 5 is above k_max 4" },
    { "bdms:\n - {reduce: pca}\n - {representation: file}\n", "a.yaml line 3: bdms[1].representation: file needs the folder" },
    { "bdms:\n - {reduce: pca}\n - {reduce: pca, representation: clip}\n",
      "a.yaml line 3: bdms[1].representation: clip needs the file of CLIP, encoder.weights" },
    { "encoder: {weights: a}\nbdms: [{reduce: pca}]\n",
      "a.yaml line 1: encoder is for methods with representation: clip, and there is none" },
    { "encoder: {weights: a, shape: vit-l-14}\nbdms: [{reduce: pca, representation: clip}]\n",
      "encoder.shape is \"vit-l-14\"; did you mean \"vit-b-32\"?" },
    { "encoder: {weights: a}\nbdms: [{reduce: pca, representation: clip, hardness: true}]\n",
      "bdms[0].hardness needs the classifier's own direction, which CLIP has not" },
    { "encoder: {weights: a}\nbdms: [{reduce: none, representation: clip, embeddings: b}]\n",
      "bdms[0].embeddings is for representation: file" },
    { "bdms:\n - {weight: 1}\n - {weight: 2}\n", "a.yaml line 3: bdms[1] and bdms[0] would both be called" },
    { "bdms: [{name: 1234567890123456789012345678901234567890123456789012345678901234567890123456789x}]\n",
      "it takes a text of at most 79 bytes" },
    { "bdms:\n  - {}\n  - {method: spotlight,\n     min_weight: [0.01,\n       0.02, 0.9]}\n",
      "a.yaml line 5: bdms[1].min_weight[2] is 0.9; it takes a number from 1e-06 to 0.5" },
    { "bdms:\n  - reduce:\n    - pca\n    - scvs\n", "a.yaml line 4: bdms[0].reduce[1] is \"scvs\"; did you mean \"scvis\"?" },
    { "bdms: [{tsne: {perplexity: [10,\n [20]]}}]\n", "line 2: bdms[0].tsne.perplexity[1] is no single value" },
    { "bdms: [{weight: [{a: 1}]}]\n", "bdms[0].weight[0] is no single value, as each of a list must be" },
    { "bdms: [{weight: []}]\n", "a.yaml line 1: bdms[0].weight is a list without values" },
    { "bdms: [{mixture: [1, 2]}]\n", "bdms[0].mixture takes a group of settings ({" },
    { "bdms: [{weigth: [1, 2]}]\n", "bdms[0] has no setting \"weigth\"; did you mean \"weight\"?" },
    { "bdms:\n - weight: [1, 2]\n   wieght: 1\n",
      "a.yaml line 3: bdms[0] has no setting \"wieght\"; did you mean \"weight\"?" },
    { "bdms: [{name: [a, b]}]\n", "bdms[0].name takes one text; the methods of a grid are told apart by their settings" },
    { "bdms: [{}, {method: [domino, planespot],\n gamma: [5, 10]}]\n",
      "a.yaml line 2: bdms[1].gamma is a setting of domino, not of planespot" },
    { "bdms:\n - {}\n - {name: w, weight: [1, 2, 1]}\n",
      "a.yaml line 3: bdms[1] has two combinations called \"w weight=1\"; is a value given twice?" },
    { "bdms:\n - {weight: [1, 2]}\n - {reduce: scvis, weight: [2, 3]}\n",
      "a.yaml line 3: bdms[1] and bdms[0] would both be called \"planespot-scvis weight=2\"" },
    { "bdms:\n - {}\n - {dim: [1, 2, 3, 4, 5, 6, 7, 8], top: [1, 2, 3, 4],\n    tsne: {perplexity: [5, 6, 7, 8]}}\n",
      "a.yaml line 3: bdms[1] is a grid of 128 combinations, with 1 methods before it; at most 128 fit" },
    { "bdms: [{dim: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], top: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], weight: [1, 2]}]\n",
      "bdms[0] is a grid of at least 144 combinations, with 0 methods before it" },
    { "bdms: [{scvis: {perplexity: [5, 6]}, mixture: {k_min: [1, 2], k_max: [10, 20]}, umap: {neighbours: [5, 6]}}]\n",
      "bdms[0]: a combination would be called \"planespot-scvis" },
    { "bdms:\n - {}\n - reduce: pca\n   tsne: {perplexity: 12}\n",
      "a.yaml line 4: bdms[1].tsne is for reduce: tsne, and here it is pca; remove it, or set reduce" },
    { "bdms: [{scvis: {compat: {kl_decay: false}}, reduce: [pca,\n tsne]}]\n",
      "bdms[0].scvis is for reduce: scvis, and here" },
    { "bdms: [{method: george, umap: {min_dist: 2}, reduce: tsne}]\n",
      "bdms[0].umap is for reduce: umap, and here it is tsne" },
    { "bdms: [{method: spotlight, dim: 3}]\n",
      "bdms[0].dim is for reduce: pca, tsne, scvis or umap, and here it is none" },
    { "bdms:\n - {reduce: [tsne, umap],\n    tsne: {perplexity: [30, 12]}}\n",
      "a.yaml line 3: bdms[0].tsne.perplexity is a list, and with reduce: umap, which does not read it, methods would" },
    { "bdms: [{method: spotlight, reduce: [none, pca], dim: [2, 3]}]\n", "bdms[0].dim is a list, and with reduce: none" },
    { "model: {init: a.safetensors, base: {images: 9}}\n", "a.yaml line 1: model.init and model.base.images both say" },
    { "seed: &a 1\necs: *a\n", "a.yaml line 2: aliases (*name) are not taken" },
    { "bdms:\n - &a {}\n # between\n - *a\n", "a.yaml line 4: aliases (*name) are not taken" },
    { "seed: &a 1\necs: &a 2\n", "a.yaml line 2: not YAML: found duplicate anchor" },
    { "seed:\n [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "a.yaml line 2: groups are nested too deep" },
    { "scene: {flip: 1, flip: 0}\n", "a.yaml line 1: scene.flip is set twice" },
    { "scene: {[1]: 2}\n", "a.yaml line 1: a setting's name must be a plain word" },
    { "bdms: [{method: islands, share: 0.1}]\n", "bdms[0].method is islands; it takes planespot, " },
    { "seed: 1\n---\nseed: 2\n", "a.yaml line 2: a second document begins" },
    { "scene: {size: 64\nmodel: {}\n", "not YAML: " },
    { "seed: \"1\\0 2\"\n", "a.yaml line 1: a value holds a NUL byte" },
    { "seed: \"\\e[31m\"\n", "seed is ?[31m; it takes" },
    { "", "a.yaml is empty" },
    { "# nothing\n", "a.yaml is empty" },
    { "hello\n", "a.yaml: a config is a group of settings" },
    { "- seed: 1\n", "a.yaml: a config is a group of settings" },
    { "? [a]\n: b\n", "a.yaml line 1: a setting's name must be a plain word" },
    { "\x89PNG\r\n", "a.yaml is not a text file" },
};

/* Variants begin with what scene has, take turns by the EC's number, and come back from a printed config. */
TEST(variants_take_turns)
{
    spot_ctx c = check_ctx(1);
    char *text, words[256];
    CHECK_OK(&c, parse(&c, &cfg,
        "scene: {size: 64, specificity: [4, 5], blindspots: [0, 3]}\n"
        "variants:\n"
        "  - {name: soft, scene: {flip: 0.5}}\n"
        "  - {scene: {induce: rare, rare: 0.05, per_bucket: {train: 9}}}\n"
        "  - {name: plain}\n"
        "model: {learned_band: [0.1, 0.75]}\n"));
    assert_int_equal(cfg.variants, 3);
    assert_true(cfg.model.learned_band[0] == 0.1 && cfg.model.learned_band[1] == 0.75);
    for (uint32_t i = 0; i < 9; i++) {
        const spot_scene_config *s = spot_config_scene(&cfg, i);
        assert_true(s == &cfg.variant[i % 3].scene);
        assert_true(s->size == 64 && s->specificity[1] == 5 && s->blindspots[0] == 0);
        assert_true(s->flip == (i % 3 ? 1 : 0.5) && s->induce == (i % 3 == 1 ? SPOT_RARE : SPOT_FLIP_LABELS));
        assert_int_equal(s->per_bucket[SPOT_TRAIN], i % 3 == 1 ? 9 : 400);
    }
    CHECK_OK(&c, spot_config_print(&c, &cfg, &text));
    CHECK_OK(&c, parse(&c, &other, text));
    if (spot_config_differs(words, sizeof words, &cfg, &other)) fail_msg("%s", words);
    assert_true(other.variant[1].scene.rare == 0.05);
    other.variant[1].scene.rare = 0.06;
    assert_true(spot_config_differs(words, sizeof words, &cfg, &other));
    assert_string_equal(words, "variants[1].scene.rare is 0.05 there and 0.06 here");
    free(text);
}

static yajl_val member(yajl_val top, const char *key) { return yajl_tree_get(top, (const char *[]){ key, NULL }, yajl_t_any); }

/* A config with every setting at the value that the JSON says is the config with none. */
TEST(settings_of_methods_as_json)
{
    spot_ctx c = check_ctx(1);
    char *text, why[200], words[512], config[200];
    CHECK_OK(&c, spot_config_methods(&c, &text));
    yajl_val all = yajl_tree_parse(text, why, sizeof why);
    assert_non_null(all);
    assert_int_equal(all->u.array.len, SPOT_METHODS);
    for (int m = 0; m < SPOT_METHODS; m++) {
        const char *method = YAJL_GET_STRING(member(all->u.array.values[m], "method"));
        yajl_val rows = member(all->u.array.values[m], "settings");
        snprintf(config, sizeof config, "bdms: [{method: %s}]", method);
        CHECK_OK(&c, parse(&c, &other, config));
        assert_true(rows->u.array.len >= 12);
        for (size_t i = 0; i < rows->u.array.len; i++) {
            yajl_val row = rows->u.array.values[i], value = member(row, "default");
            const char *name = YAJL_GET_STRING(member(row, "name")), *said = YAJL_IS_STRING(value) ? YAJL_GET_STRING(value)
                : YAJL_IS_NUMBER(value) ? YAJL_GET_NUMBER(value) : YAJL_IS_TRUE(value) ? "true" : "false";
            assert_true(!value == !!member(row, "settings") && *YAJL_GET_STRING(member(row, "help")));
            if (!value || !strcmp(name, "method")) continue;
            snprintf(config, sizeof config, "bdms: [{method: %s, %s: \"%s\"}]", method, name, said);
            CHECK_OK(&c, parse(&c, &cfg, config));
            if (spot_config_differs(words, sizeof words, &cfg, &other)) fail_msg("%s: %s", config, words);
        }
    }
    yajl_tree_free(all);
    free(text);
}

TEST(refusals_say_where_and_what)
{
    spot_ctx c = check_ctx(1);
    for (int i = 0; i < LEN(refused); i++) CHECK_FAILS(&c, parse(&c, &cfg, refused[i].text), SPOT_USAGE, refused[i].sentence);
    CHECK_FAILS(&c, spot_config_load(&c, &cfg, "/nowhere.yaml"), SPOT_USAGE,
                "cannot read the config /nowhere.yaml: No such file");
    CHECK_FAILS(&c, spot_config_load(&c, &cfg, "/tmp"), SPOT_USAGE, "cannot read the config /tmp: Is a directory");
}

/* The last list varies fastest; what stands beside the lists holds for all. The expanded config is one without lists. */
TEST(lists_stand_for_their_product)
{
    static const char *const name[] = { "plain", "planespot-scvis mixture.tol=0.1", "planespot-scvis mixture.tol=0.3",
                                        "planespot-pca mixture.tol=0.1", "planespot-pca mixture.tol=0.3",
                                        "S min_weight=0.005", "S min_weight=0.01",
                                        "spotlight", "domino" };
    spot_ctx c = check_ctx(1);
    char *text, words[512], label[80];
    CHECK_OK(&c, parse(&c, &cfg,
        "bdms:\n"
        "  - {name: plain, weight: 0.5}\n"
        "  - reduce: [scvis, pca]   # \xc3\xbc\n"
        "    weight: [0.25]\n"
        "    mixture:\n      tol:\n      - 0.1\n      # between\n      - \"0.3\"\n    dim: 3\n"
        "  - {method: spotlight, name: S, min_weight: [0.005, 0.01], kernel: [compact], compat: true}\n"
        "  - {method: [spotlight, domino], reduce: none}\n"));
    assert_int_equal(cfg.bdms, LEN(name));
    for (int i = 0; i < LEN(name) - 1; i++) assert_string_equal(spot_bdm_name(&cfg.bdm[i], label, sizeof label), name[i]);
    for (int i = 1; i < 5; i++) {
        assert_int_equal(cfg.bdm[i].embed.method, i < 3 ? SPOT_REDUCE_SCVIS : SPOT_REDUCE_PCA);
        CHECK_NEAR(cfg.bdm[i].mixture.tol, i % 2 ? 0.1 : 0.3, 0);
        CHECK_NEAR(cfg.bdm[i].weight, 0.25, 0);
        assert_int_equal(cfg.bdm[i].embed.dim, 3);
    }
    for (int i = 5; i < 7; i++) {
        CHECK_NEAR(cfg.bdm[i].spotlight.min_weight, i == 5 ? 0.005 : 0.01, 0);
        assert_int_equal(cfg.bdm[i].spotlight.kernel, SPOT_KERNEL_COMPACT);
        assert_int_equal(cfg.bdm[i].compat, 1);
    }
    assert_int_equal(cfg.bdm[8].method, SPOT_DOMINO);
    assert_int_equal(cfg.bdm[8].domino.components, spot_bdm_defaults(SPOT_DOMINO).domino.components);
    CHECK_OK(&c, spot_config_print(&c, &cfg, &text));
    CHECK_OK(&c, parse(&c, &other, text));
    if (spot_config_differs(words, sizeof words, &cfg, &other)) fail_msg("%s", words);
    free(text);
    CHECK_OK(&c, parse(&c, &cfg, "bdms: [{dim: [1, 2, 3, 4, 5, 6, 7, 8], top: [1, 2, 3, 4], weight: [5, 6, 7, 8]}]"));
    assert_int_equal(cfg.bdms, SPOT_MAX_BDMS);
    CHECK_NEAR(cfg.bdm[1].weight, 6, 0);
    CHECK_NEAR(cfg.bdm[127].embed.dim, 8, 0);
}

/* What some combination reads may be set for all; and a run's own config, which names everything, is read again. */
TEST(settings_of_other_reducers_may_stand_where_they_do_no_harm)
{
    static const char *const text[] = {
        "bdms: [{reduce: [tsne, umap], tsne: {perplexity: 12}, umap: {neighbours: 9}}]",
        "bdms: [{method: spotlight, reduce: [none, pca], dim: 7}]",
        "bdms: [{reduce: pca, tsne: {perplexity: 30}, scvis: {compat: {kl_decay: true}}}]",
        "bdms: [{reduce: tsne, tsne: {perplexity: [10, 20], iterations: [100, 200]}}]",
    };
    spot_ctx c = check_ctx(1);
    for (int i = 0; i < LEN(text); i++) {
        char *printed, words[512];
        CHECK_OK(&c, parse(&c, &cfg, text[i]));
        if (!i) {
            CHECK_NEAR(cfg.bdm[0].embed.tsne.perplexity, 12, 0);
            CHECK_NEAR(cfg.bdm[1].embed.tsne.perplexity, 30, 0);
            assert_int_equal(cfg.bdm[1].embed.umap.neighbours, 9);
        }
        CHECK_OK(&c, spot_config_print(&c, &cfg, &printed));
        CHECK_OK(&c, parse(&c, &other, printed));
        if (spot_config_differs(words, sizeof words, &cfg, &other)) fail_msg("%s", words);
        free(printed);
    }
}

/* Sets every setting of a table to something else than it is. Walks the table, so that a new row is tested unasked. */
static void change_all(const spot_setting *rows, void *group)
{
    for (spot_setting_walk w = spot_settings_walk(rows, group); w.s; spot_settings_next(&w)) {
        const spot_setting *s = w.s;
        int *i = (int *)(void *)w.value;
        double *d = (double *)(void *)w.value;
        switch (s->kind) {
        case SETTING_INT:    *i = *i == (int)s->lo + 16 ? (int)s->lo : (int)s->lo + (s->unit ? s->unit : s->hi > s->lo); break;
        case SETTING_RANGE:  i[0] = (int)s->lo; i[1] = (int)s->hi; break;
        case SETTING_SEED:   *(uint64_t *)(void *)w.value = 0xfedcba9876543210; break;
        case SETTING_SPAN:   d[0] = s->lo + (s->hi - s->lo) / 4; d[1] = s->hi; break;
        case SETTING_REAL:   *d = s->lo + (s->hi - s->lo) / 3; break;
        case SETTING_SWITCH: *i = !*i; break;
        case SETTING_NAME:   *i = s->names[1] ? !*i : 0; break;
        case SETTING_TEXT:   *(const char **)(void *)w.value = "a \"b\": [c] # \\ \x01\t\xc3\xbc"; break;
        case SETTING_LIST:
            for (int e = 0; e < spot_setting_entries(s, w.group); e++) change_all(s->rows, spot_setting_entry(s, w.value, e));
            break;
        default:             change_all(s->rows, w.value); break;
        }
    }
}

TEST(printed_configs_read_back)
{
    spot_ctx c = check_ctx(1);
    char *text, words[512];
    spot_memory_close(&other.memory);
    other = spot_config_defaults();
    CHECK_OK(&c, spot_config_room(&c, &other, 4, 0));
    change_all(spot_settings, &other);
    other.bdm[0].representation = SPOT_BY_FILE;    /* what goes together with embeddings, and what does not */
    other.bdm[0].embed.hardness = 0;
    for (int i = 3; i >= 0; i--) {                 /* each reducer's settings where they are read */
        const spot_embed_config all = other.bdm[0].embed, own = spot_bdm_defaults(other.bdm[0].method).embed;
        if (i == 3) other.bdm[i] = spot_bdm_defaults(SPOT_PLANESPOT);
        else {
            other.bdm[i] = other.bdm[0];
            other.bdm[i].embed.method = SPOT_REDUCE_TSNE + i;
            other.bdm[i].embed.tsne = i == 0 ? all.tsne : own.tsne;
            other.bdm[i].embed.scvis = i == 1 ? all.scvis : own.scvis;
            other.bdm[i].embed.umap = i == 2 ? all.umap : own.umap;
        }
        if (i) other.bdm[i].name = check_text("number %d", i);
    }
    other.bdm[3].embed.hardness = 1;
    other.bdm[1].representation = SPOT_BY_CLIP;    /* which reads the encoder */
    other.bdm[1].embeddings = "";
    for (int k = 0; k < 2; k++) {                  /* one of the two that exclude each other, then the other */
        int images = other.model.base.images;
        if (k) other.model.init = other.data.coco = "";      /* a base model learns scenes, not pictures */
        else other.model.base.images = 0;
        CHECK_OK(&c, spot_config_print(&c, &other, &text));
        CHECK_OK(&c, parse(&c, &cfg, text));
        if (spot_config_differs(words, sizeof words, &other, &cfg)) fail_msg("%s", words);
        assert_int_equal(cfg.ecs, other.ecs);                   /* which may differ */
        other.model.base.images = images;
        free(text);
    }
}

static void mark(const spot_setting *rows, void *group, const char *base, unsigned char *marks)
{
    for (spot_setting_walk w = spot_settings_walk(rows, group); w.s; spot_settings_next(&w)) {
        if (w.s->kind == SETTING_GROUP) mark(w.s->rows, w.value, base, marks);
        for (size_t i = 0; i < spot_setting_bytes(w.s); i++)
            if (marks[w.value - base + (ptrdiff_t)i]++) fail_msg("%s lies where another setting lies", w.s->name);
    }
}

TEST(settings_do_not_overlap)
{
    for (int m = 0; m < SPOT_METHODS; m++) {
        static unsigned char marks[sizeof(spot_config) + sizeof(spot_bdm_config)];      /* room for either */
        spot_bdm_config bdm = spot_bdm_defaults(m);
        spot_config plain = spot_config_defaults();
        memset(marks, 0, sizeof marks);
        mark(spot_settings, &plain, (char *)&plain, marks);
        memset(marks, 0, sizeof marks);
        mark(spot_bdm_settings, &bdm, (char *)&bdm, marks);
    }
}

/* A default that its own row refuses would be refused when a config that names everything is read again. */
TEST(defaults_are_in_range)
{
    spot_ctx c = check_ctx(1);
    for (int m = 0; m < SPOT_METHODS; m++) {
        const spot_bdm_config bdm = spot_bdm_defaults(m);
        const spot_config plain = spot_config_defaults();
        CHECK_OK(&c, spot_settings_check(&c, SPOT_INVALID, spot_settings, &plain, ""));
        CHECK_OK(&c, spot_settings_check(&c, SPOT_INVALID, spot_bdm_settings, &bdm, "bdm"));
    }
}

TEST(words_near_each_other)
{
    const char *const names[] = { "sweep", "plan", "tables", "scene", "bench", NULL };
    assert_string_equal(spot_nearest("swep", names), "sweep");
    assert_string_equal(spot_nearest("sewep", names), "sweep");
    assert_string_equal(spot_nearest("table", names), "tables");
    assert_string_equal(spot_nearest("scence", names), "scene");
    assert_null(spot_nearest("discover", names));
    assert_null(spot_nearest("", names));
}

/* The configs of the repository load; the fuzz corpus and mutations of it do no harm. */
TEST(shipped_configs_and_corpus)
{
    static spot_shifts_config shifts;
    static spot_background_config background;
    static spot_examine_config examine;
    static const char *const folders[] = { "../configs", "fuzz/corpus_config" };
    static unsigned char bytes[8192];
    spot_ctx c = check_ctx(1);
    spot_rng r = spot_rng_at(1, SPOT_RNG_BOOTSTRAP, 0, 0);
    int files = 0;
    for (int k = 0; k < 2; k++) {
        DIR *dir = opendir(folders[k]);
        assert_non_null(dir);
        for (struct dirent *e; (e = readdir(dir));) {
            char path[512];
            if (!strstr(e->d_name, ".yaml")) continue;
            snprintf(path, sizeof path, "%s/%s", folders[k], e->d_name);
            if (k == 0) {
                char study[32];
                CHECK_OK(&c, spot_yaml_word(&c, study, sizeof study, path, "study"));
                spot_memory_close(&cfg.memory);
                spot_memory_close(&background.memory), spot_memory_close(&examine.memory), spot_memory_close(&shifts.memory);
                if (!*study) CHECK_OK(&c, spot_config_load(&c, &cfg, path));
                else if (!strcmp(study, "background")) CHECK_OK(&c, spot_background_load(&c, &background, path));
                else if (!strcmp(study, "examine")) CHECK_OK(&c, spot_examine_load(&c, &examine, path));
                else CHECK_OK(&c, spot_shifts_load(&c, &shifts, path));
            }
            FILE *f = fopen(path, "rb");
            assert_non_null(f);
            size_t n = fread(bytes, 1, sizeof bytes, f);
            fclose(f);
            files++;
            LLVMFuzzerTestOneInput(bytes, n);
            for (int i = 0; i < 300 && n; i++) {
                static const char nasty[] = " \n:-[]{}*&!|>'\"%@`#0a\0\xff";
                bytes[spot_rng_below(&r, (uint32_t)n)] = (unsigned char)nasty[spot_rng_below(&r, 23)];
                LLVMFuzzerTestOneInput(bytes, n);
            }
        }
        closedir(dir);
    }
    assert_true(files >= 10);
}
