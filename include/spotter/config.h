/* config.h - an experiment as one YAML file: read, checked, completed with defaults, printed whole, hashed.
 *
 * A list in place of one value of a method's setting makes the entry a grid: one method per combination of values.
 * Unknown keys and values of a wrong type are SPOT_USAGE with file, line and what is allowed. */
#ifndef SPOTTER_CONFIG_H
#define SPOTTER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "spotter/arena.h"
#include "spotter/bdm.h"
#include "spotter/encoder.h"
#include "spotter/metric.h"
#include "spotter/model.h"
#include "spotter/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOT_MAX_BDMS 128          /* methods, grids expanded */
#define SPOT_MAX_VARIANTS 64       /* of the scene */

/* A scene that some ECs of a sweep have in place of spot_config.scene. */
typedef struct { const char *name; spot_scene_config scene; } spot_variant;

typedef struct {
    spot_memory *memory;             /* holds texts and lists; spot_memory_close frees it */
    uint64_t seed;
    int      ecs;
    spot_scene_config  scene;
    int      variants;             /* above 0: EC i has the scene of variant i mod variants */
    spot_variant *variant;         /* (variants) */
    spot_photos_config data;       /* data.coco "": scenes are rendered; else data replaces scene */
    spot_model_config  model;
    int                bdms;
    spot_bdm_config   *bdm;        /* (bdms) */
    spot_encoder_config encoder;   /* of methods with representation: clip */
    spot_metric_config metric;
} spot_config;

/* The version of the numbers, part of every key. It is raised when a change of the code changes results. */
#define SPOT_NUMBERS 12

/* Every setting at its default; no method. load and parse begin from it, and give a config without methods one PlaneSpot. They
 * and spot_config_room fill cfg's memory, which spot_memory_close(&cfg.memory) frees, also after a failure. */
spot_config spot_config_defaults(void);

/* Makes room for methods, each the default of PlaneSpot, and for variants of the scene. */
spot_status spot_config_room(spot_ctx *c, spot_config *cfg, int bdms, int variants);

/* The scene of EC number `ec`. */
static inline const spot_scene_config *spot_config_scene(const spot_config *cfg, uint32_t ec)
{
    return cfg->variants ? &cfg->variant[ec % (uint32_t)cfg->variants].scene : &cfg->scene;
}

/* Whether a method looks at the features of the encoder. */
bool spot_wants_clip(const spot_config *cfg);

/* name: the file's, for errors, which say it and the line; "": of settings that are in no file, and errors say neither. */
spot_status spot_config_load(spot_ctx *c, spot_config *cfg, const char *path);
spot_status spot_config_parse(spot_ctx *c, spot_config *cfg, const char *text, size_t len, const char *name);

/* The methods and the first seed, from a config, or from that of a folder of findings. */
spot_status spot_methods_load(spot_ctx *c, spot_config *cfg, const char *path);

/* The resolved config as YAML, every setting named, that loads to the same config. *text is malloc'd; free it. */
spot_status spot_config_print(spot_ctx *c, const spot_config *cfg, char **text);

/* Prints the settings, one line each with type, default, range and meaning. */
void spot_config_document(FILE *f);

/* The settings of the discovery methods as JSON, in the order of SPOT_BDM_METHODS: [{"method", "settings": [{"name", "kind",
 * "help", "takes", "default"}]}]. kind is int, real, switch, name (with its "values"), text, seed, range, span or group; a
 * group has "settings" of its own in place of takes and default. Of a method with profiles "presets" has the default that each
 * other profile sets, where it differs. *text is malloc'd; free it. */
spot_status spot_config_methods(spot_ctx *c, char **text);

/* ---- the source of images ---- */

/* The source of a sweep's images: rendered scenes, or pictures from files.
 *
 * It gives training, inference and reports the images of an EC: how many a split has, their labels, blindspots and pixels.
 * The later stages (training, view, methods, metric) do not depend on the kind of source. */

typedef struct {
    const spot_config *config;     /* must outlive the source */
    spot_scene_config scene;       /* as many images as the largest EC's; pictures: spot_photos_scene (scene.h) */
    spot_photos      *photos;      /* NULL: scenes */
    uint64_t          seed;
} spot_source;

/* Close s also after a failure, and before c: on a GPU pictures lie in its memory (spot_photos_upload). */
spot_status spot_source_open(spot_ctx *c, spot_source *s, const spot_config *cfg);
void        spot_source_close(spot_source *s);

/* EC number `index` of the sweep. */
spot_status spot_source_ec(spot_ctx *c, spot_ec *ec, const spot_source *s, uint32_t index);

/* The greatest spot_ec_items of any EC. */
int spot_source_items(const spot_source *s);

/* Pictures only: the super-category that the task asks about. */
const char *spot_ec_task(const spot_ec *ec);

/* Writes a blindspot in words, "elephant without person" or "square above, no text" (NUL-terminated, cut at size). */
void spot_ec_describe(char *text, size_t size, const spot_ec *ec, int blindspot);

/* Writes an image of the EC as a line of JSON: spot_scene_jsonl, or for a picture its file and every category it shows. */
spot_status spot_ec_jsonl(spot_ctx *c, char *text, size_t size, const spot_image *image, const char *file, const spot_ec *ec);

/* Pixels of n images as input of a network, ImageNet-normalised: x is (n, size, size, channels), 3 channels, or 4 in blocks of
 * 2 x 2 pixels, fp32, or rounded to bf16. Scenes: values as in kernels/image/raster.h; image and x lie on c's device.
 * Pictures on a GPU: after spot_photos_upload. Pictures and JPEG on the CPU: 3 channels of fp32. spare: memory of the device
 * for scenes through JPEG, else NULL. The call takes no memory of its own, so a step can be recorded. */
spot_status spot_ec_input(spot_ctx *c, void *x, int channels, spot_precision precision, const spot_image *image, int n,
                          const spot_ec *ec, void *spare);

/* Bytes of spare for n images of size x size pixels: their bytes before JPEG, and JPEG's planes. */
size_t spot_ec_input_spare(int n, int size);

#ifdef __cplusplus
}
#endif
#endif
