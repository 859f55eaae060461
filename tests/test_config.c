/* test_config.c - configs: what is taken, what is refused and in which words. */
#include "checks.h"

#include <dirent.h>
#include <stdlib.h>
#include <yajl/yajl_tree.h>

#include "base/nearest.h"
#include "bdm/methods.h"
#include "study/config_table.h"
#include "study/yaml.h"
#include "fuzz/fuzz_config.c"
#include "spotter/background.h"
#include "spotter/examine.h"
#include "spotter/rng.h"
#include "spotter/shifts.h"
#include "study/keys.h"

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
    { "scene:\n  size: 64\n\n  sise: 3\n", "setting.unknown: a.yaml | line 4 | scene | \"sise\" | \"size\"" },
    { "seed: 1\nsceen: {}\n", "setting.unknown: a.yaml | line 2 | config | \"sceen\" | \"scene\"" },
    { "seed: 1\nxyzzy: 2\n", "setting.unknown: a.yaml | line 2 | config | \"xyzzy\" | config" },
    { "bdms:\n - {}\n - method: planespot\n   mixture: {kmax: 3}\n",
      "setting.unknown: a.yaml | line 4 | bdms[1].mixture | \"kmax\" | \"k_max\"" },
    { "seed: 1\necs: 2\nseed: 3\n", "setting.twice: a.yaml | line 3 | seed" },
    { "scene:\n  size: big\n", "setting.value: a.yaml | line 2 | scene.size | big | 32 | 1024" },
    { "scene:\n  size: 64.5\n", "setting.value: a.yaml | line 2 | scene.size | 64.5 | integer" },
    { "scene:\n  size: 31\n", "setting.value: 32 | 1024" },
    { "scene:\n  size: 1025\n", "setting.value: 32 | 1024" },
    { "scene: {flip: 1.5}\n", "setting.value: scene.flip | 1.5 | 0 | 1" },
    { "scene: {blindspots: [1, 9]}\n", "setting.value: scene.blindspots | 1 | 9" },
    { "scene:\n  size:\n", "setting.value: a.yaml | line 2 | scene.size | integer" },
    { "scene:\n  size: [1, 2]\n", "setting.shape: a.yaml | line 2 | scene.size | 32 | 1024" },
    { "scene: 3\n", "setting.shape: a.yaml | line 1 | scene | size" },
    { "scene: {rollable: 6}\n", "setting.shape: scene.rollable | [least, most] | 1 | 19" },
    { "scene: {rollable: [6]}\n", "setting.shape: scene.rollable | [least, most]" },
    { "scene: {rollable: [5, 6, 7]}\n", "setting.shape: scene.rollable | [least, most]" },
    { "scene: {rollable: [7, 6]}\n", "setting.value: scene.rollable | 7 | 6 | [least, most]" },
    { "scene: {rollable: [a, 6]}\n", "setting.value: scene.rollable | a | 6" },
    { "scene: {size: 64}\nvariants:\n  - {scene: {size: 32}}\n",
      "variants.size: a.yaml | line 2 | 0 | 32 | size 64" },
    { "variants:\n  - {}\n  - {scene: {jpeg_quality: 75}}\n", "variants.common: 1 | jpeg_quality" },
    { "data: {coco: a.json, images: b}\nvariants: [{}]\n", "setting.inapplicable: variants | data" },
    { "model: {learned_band: 0.2}\n", "setting.shape: model.learned_band | [least, most] | 0 | 1" },
    { "model: {learned_band: [0.5, 0.2]}\n", "setting.value: model.learned_band | 0.5 | 0.2 | [least, most]" },
    { "model: {learned_band: [0.5, 1.2]}\n", "setting.value: model.learned_band | 0.5 | 1.2 | [least, most]" },
    { "model: {width: 40}\n", "setting.value: model.width | 40 | 16 | 256 | 16" },
    { "model: {lr: nan}\n", "setting.value: model.lr | nan | number" },
    { "model: {lr: .inf}\n", "setting.value: model.lr | .inf | number" },
    { "model: {lr: 1e400}\n", "setting.value: model.lr | 1e400 | number" },
    { "model: {lr: -1}\n", "setting.value: model.lr | -1 | number" },
    { "model: {lr: 0x1p3}\n", "setting.value: model.lr | 0x1p3 | number" },
    { "model: {lr: 1e-3x}\n", "setting.value: model.lr | 1e-3x | number" },
    { "model: {keep_best: 1}\n", "setting.value: model.keep_best | 1 | true | false" },
    { "model: {optimizer: adm}\n", "setting.value: model.optimizer | \"adm\" | \"adam\"" },
    { "model: {optimizer: lbfgs}\n", "setting.value: model.optimizer | lbfgs | adam | sgd | rmsprop" },
    { "seed: -1\n", "setting.value: seed | -1 | 0 | 18446744073709551615" },
    { "seed: 18446744073709551616\n", "setting.value: seed | 18446744073709551616" },
    { "ecs: 99999999999999999999\n", "setting.value: ecs | 99999999999999999999" },
    { "bdms: []\n", "setting.shape: bdms | 1 | 128" },
    { "bdms: {method: planespot}\n", "setting.shape: bdms | list" },
    { "bdms:\n  - planespot\n", "setting.shape: a.yaml | line 2 | bdms[0] | method" },
    { "bdms:\n  - {method: domino, gamma: 10}\n  - {method: planespot, gamma: 10}\n",
      "setting.foreign: a.yaml | line 3 | bdms[1].gamma | domino | planespot" },
    { "bdms: [{reduce: none}]\n", "points.dimensions: bdms[0] | 31 | 512" },
    { "bdms: [{reduce: pca, dim: 32}]\n", "points.dimensions: 31 | 32" },
    { "bdms: [{method: george, dim: 33}]\n", "points.dimensions: bdms[0] | 32 | 33" },
    { "bdms: [{method: domino, components: 3}]\n", "bdms.components: bdms[0] | 3" },
    { "bdms: [{method: george, umap: {min_dist: 2}}]\n", "umap.min_dist: bdms[0] | 2 | spread 1" },
    { "bdms: [{method: spotlight, hardness: true}]\n", "hardness.no_reducer: bdms[0]" },
    { "bdms: [{method: spotlight, embeddings: clip}]\n", "grid.foreign: bdms[0].embeddings | representation | file" },
    { "bdms: [{method: domino, gamma_hat: -0.5}]\n", "bdms.gamma_hat: bdms[0] | -0.5" },
    { "bdms: [{mixture: {k_min: 5, k_max: 4}}]\n", "mixture.components: bdms[0] | 5 | 4" },
    { "bdms:\n - {reduce: pca}\n - {representation: file}\n", "bdms.no_embeddings: a.yaml | line 3 | bdms[1]" },
    { "bdms:\n - {reduce: pca}\n - {reduce: pca, representation: clip}\n",
      "bdms.no_encoder: a.yaml | line 3 | bdms[1]" },
    { "encoder: {weights: a}\nbdms: [{reduce: pca}]\n",
      "setting.inapplicable: a.yaml | line 1 | encoder | clip" },
    { "encoder: {weights: a, shape: vit-l-14}\nbdms: [{reduce: pca, representation: clip}]\n",
      "setting.value: encoder.shape | \"vit-l-14\" | \"vit-b-32\"" },
    { "encoder: {weights: a}\nbdms: [{reduce: pca, representation: clip, hardness: true}]\n",
      "hardness.no_head: bdms[0] | CLIP" },
    { "encoder: {weights: a}\nbdms: [{reduce: none, representation: clip, embeddings: b}]\n",
      "grid.foreign: bdms[0].embeddings | representation | file" },
    { "bdms:\n - {weight: 1}\n - {weight: 2}\n", "bdms.name_twice: a.yaml | line 3 | bdms[1] | 0" },
    { "bdms: [{name: 1234567890123456789012345678901234567890123456789012345678901234567890123456789x}]\n",
      "setting.value: 79" },
    { "bdms:\n  - {}\n  - {method: spotlight,\n     min_weight: [0.01,\n       0.02, 0.9]}\n",
      "setting.value: a.yaml | line 5 | bdms[1].min_weight[2] | 0.9 | 1e-06 | 0.5" },
    { "bdms:\n  - reduce:\n    - pca\n    - scvs\n",
     "setting.value: a.yaml | line 4 | bdms[0].reduce[1] | \"scvs\" | \"scvis\"" },
    { "bdms: [{tsne: {perplexity: [10,\n [20]]}}]\n", "grid.value: line 2 | bdms[0] | tsne.perplexity | 1" },
    { "bdms: [{weight: [{a: 1}]}]\n", "grid.value: bdms[0].weight | 0" },
    { "bdms: [{weight: []}]\n", "grid.empty: a.yaml | line 1 | bdms[0] | weight" },
    { "bdms: [{mixture: [1, 2]}]\n", "setting.shape: bdms[0].mixture" },
    { "bdms: [{weigth: [1, 2]}]\n", "setting.unknown: bdms[0] | \"weigth\" | \"weight\"" },
    { "bdms:\n - weight: [1, 2]\n   wieght: 1\n",
      "setting.unknown: a.yaml | line 3 | bdms[0] | \"wieght\" | \"weight\"" },
    { "bdms: [{name: [a, b]}]\n", "grid.name: bdms[0]" },
    { "bdms: [{}, {method: [domino, planespot],\n gamma: [5, 10]}]\n",
      "setting.foreign: a.yaml | line 2 | bdms[1].gamma | domino | planespot" },
    { "bdms:\n - {}\n - {name: w, weight: [1, 2, 1]}\n",
      "bdms.combination_twice: a.yaml | line 3 | bdms[1] | \"w weight=1\"" },
    { "bdms:\n - {weight: [1, 2]}\n - {reduce: scvis, weight: [2, 3]}\n",
      "bdms.name_twice: a.yaml | line 3 | bdms[1] | 0 | \"planespot-scvis weight=2\"" },
    { "bdms:\n - {}\n - {dim: [1, 2, 3, 4, 5, 6, 7, 8], top: [1, 2, 3, 4],\n    tsne: {perplexity: [5, 6, 7, 8]}}\n",
      "grid.size: a.yaml | line 3 | bdms[1] | 128 | 1 | 128" },
    { "bdms: [{dim: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], top: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], weight: [1, 2]}]\n",
      "grid.size: bdms[0] | 144 | 0" },
    { "bdms: [{scvis: {perplexity: [5, 6]}, mixture: {k_min: [1, 2], k_max: [10, 20]}, umap: {neighbours: [5, 6]}}]\n",
      "grid.name_length: bdms[0] | planespot-scvis" },
    { "bdms:\n - {}\n - reduce: pca\n   tsne: {perplexity: 12}\n",
      "grid.foreign: a.yaml | line 4 | bdms[1] | tsne | reduce | tsne | pca | reduce" },
    { "bdms: [{scvis: {compat: {kl_decay: false}}, reduce: [pca,\n tsne]}]\n",
      "grid.foreign: bdms[0].scvis | reduce | scvis" },
    { "bdms: [{method: george, umap: {min_dist: 2}, reduce: tsne}]\n",
      "grid.foreign: bdms[0].umap | reduce | umap | tsne" },
    { "bdms: [{method: spotlight, dim: 3}]\n",
      "grid.foreign: bdms[0].dim | reduce | pca | tsne | scvis | umap | none" },
    { "bdms:\n - {reduce: [tsne, umap],\n    tsne: {perplexity: [30, 12]}}\n",
      "grid.unread_list: a.yaml | line 3 | bdms[0] | tsne.perplexity | reduce | umap" },
    { "bdms: [{method: spotlight, reduce: [none, pca], dim: [2, 3]}]\n", "grid.unread_list: bdms[0].dim | reduce | none" },
    { "model: {init: a.safetensors, base: {images: 9}}\n", "model.two_starts: a.yaml | line 1" },
    { "seed: &a 1\necs: *a\n", "config.alias: a.yaml | line 2" },
    { "bdms:\n - &a {}\n # between\n - *a\n", "config.alias: a.yaml | line 4" },
    { "seed: &a 1\necs: &a 2\n", "config.yaml: a.yaml | line 2 | anchor" },
    { "seed:\n [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "config.nesting: a.yaml | line 2" },
    { "scene: {flip: 1, flip: 0}\n", "setting.twice: a.yaml | line 1 | scene.flip" },
    { "scene: {[1]: 2}\n", "setting.name: a.yaml | line 1" },
    { "bdms: [{method: islands, share: 0.1}]\n", "setting.value: bdms[0].method | islands | planespot," },
    { "seed: 1\n---\nseed: 2\n", "config.documents: a.yaml | line 2" },
    { "scene: {size: 64\nmodel: {}\n", "config.yaml" },
    { "seed: \"1\\0 2\"\n", "config.nul: a.yaml | line 1" },
    { "seed: \"\\e[31m\"\n", "setting.value: seed | ?[31m" },
    { "", "config.empty: a.yaml" },
    { "# nothing\n", "config.empty: a.yaml" },
    { "hello\n", "config.no_group: a.yaml" },
    { "- seed: 1\n", "config.no_group: a.yaml" },
    { "? [a]\n: b\n", "setting.name: a.yaml | line 1" },
    { "\x89PNG\r\n", "config.no_text: a.yaml" },
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
                "config.unread: /nowhere.yaml");
    CHECK_FAILS(&c, spot_config_load(&c, &cfg, "/tmp"), SPOT_USAGE, "config.unread: /tmp");
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

/* A setting that some combination reads may be set for all; and a run's own config, which names everything, is read again. */
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

static void load_study(spot_ctx *c, const char *name, const char *path)
{
    static const spot_study *const studies[] = { &spot_background_study, &spot_examine_study, &spot_shifts_study };
    void *config;
    int k = 0;

    while (k + 1 < LEN(studies) && strcmp(name, studies[k]->name)) k++;
    CHECK_OK(c, spot_study_load(c, studies[k], &config, path));
    spot_study_close(config);
}

/* The configs of the repository load; the fuzz corpus and mutations of it do no harm. */
TEST(shipped_configs_and_corpus)
{
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
                if (!*study) CHECK_OK(&c, spot_config_load(&c, &cfg, path));
                else load_study(&c, study, path);
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
