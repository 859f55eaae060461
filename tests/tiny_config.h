/* tiny_config.h - the settings of a sweep of seconds: two methods, one of them by a name of its own. */
#ifndef SPOTTER_TESTS_TINY_CONFIG_H
#define SPOTTER_TESTS_TINY_CONFIG_H

#define TINY_CONFIG(ecs)                                                                                          \
    "seed: 5\n"                                                                                                   \
    "ecs: " #ecs "\n"                                                                                             \
    "scene: {size: 32, rollable: [4, 4], extra_layers: [1, 1], blindspots: [1, 2], specificity: [3, 3],\n"        \
    "        per_bucket: {train: 6, val: 6, test: 12}}\n"                                                         \
    "model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3, base: {images: 64, epochs: 1}}\n"                       \
    "bdms:\n"                                                                                                     \
    "  - {method: planespot, reduce: pca, mixture: {k_max: 4}}\n"                                                 \
    "  - {method: planespot, name: heavy, reduce: pca, weight: 0.5, mixture: {k_max: 4}}\n"

#endif
