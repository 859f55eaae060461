/* check_clip.h - a small CLIP with numbers from a hash as weights, a vocabulary and pictures, in a folder of the test's own. */
#ifndef SPOTTER_TESTS_CHECK_CLIP_H
#define SPOTTER_TESTS_CHECK_CLIP_H

#include "checks.h"
#include "check_folder.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "formats/safetensors.h"

/* 3 merges beside the bytes: "c a", "ca t</w>", "d o". */
enum { CLIP_WIDTH = 16, CLIP_DIM = 8, CLIP_SIDE = 16, CLIP_PATCH = 4, CLIP_CONTEXT = 12, CLIP_WORDS = 512 + 3 + 2 };

#define CLIP_VOCABULARY "#version: 0.2\nc a\nca t</w>\nd o\n"
#define CLIP_CONFIG "{\"model_type\":\"clip\",\"text_config\":{\"num_attention_heads\":2,\"eos_token_id\":2}," \
                    "\"vision_config\":{\"num_attention_heads\":2}}"

static double number_at(uint32_t k)
{
    k = (k ^ k >> 15) * 2246822519u;
    k = (k ^ k >> 13) * 3266489917u;
    return (k ^ k >> 16) * 0x1p-32;
}

/* A tower's tensors are added one by one. */
typedef struct { spot_tensor tensor[64]; char name[64][96]; float *owned[64]; int n; uint32_t seed; } clip_maker;

static void add_weight(clip_maker *m, const char *name, double spread, double centre, int rank, ...)
{
    spot_tensor *t = &m->tensor[m->n];
    size_t count = 1;
    va_list args;

    assert_true(m->n < LEN(m->tensor));
    snprintf(m->name[m->n], sizeof *m->name, "%s", name);
    *t = (spot_tensor){ .name = m->name[m->n], .type = SPOT_F32, .rank = rank };
    va_start(args, rank);
    for (int i = 0; i < rank; i++) count *= (size_t)(t->dim[i] = va_arg(args, int));
    va_end(args);
    t->bytes = count * sizeof(float);
    t->data = m->owned[m->n] = malloc(t->bytes);
    for (size_t i = 0; i < count; i++)
        m->owned[m->n][i] = (float)(centre + spread * (2 * number_at(m->seed++ * 2654435761u) - 1));
    m->n++;
}

static void add_pair(clip_maker *m, const char *tower, const char *name, int out, int in)
{
    char text[256];

    snprintf(text, sizeof text, "%s%s.weight", tower, name);
    if (in) add_weight(m, text, 0.5, 0, 2, out, in);
    else add_weight(m, text, 0.2, 1, 1, out);
    snprintf(text, sizeof text, "%s%s.bias", tower, name);
    add_weight(m, text, 0.1, 0, 1, out);
}

static void add_block(clip_maker *m, const char *tower)
{
    static const char *const part[] = { "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj" };
    char name[96];

    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "encoder.layers.0.%s", i < 4 ? part[i] : i == 4 ? "layer_norm1" : "layer_norm2");
        add_pair(m, tower, name, CLIP_WIDTH, i < 4 ? CLIP_WIDTH : 0);
    }
    add_pair(m, tower, "encoder.layers.0.mlp.fc1", 4 * CLIP_WIDTH, CLIP_WIDTH);
    add_pair(m, tower, "encoder.layers.0.mlp.fc2", CLIP_WIDTH, 4 * CLIP_WIDTH);
}

/* Hugging Face's names. towers: 1 pictures, 2 texts, 3 both. */
static void put_clip(const char *path, int towers, uint32_t seed)
{
    const int across = CLIP_SIDE / CLIP_PATCH;
    clip_maker *m = calloc(1, sizeof *m);
    spot_ctx c = check_ctx(1);

    m->seed = seed;
    if (towers & 1) {
        add_weight(m, "vision_model.embeddings.class_embedding", 1, 0, 1, CLIP_WIDTH);
        add_weight(m, "vision_model.embeddings.patch_embedding.weight", 0.5, 0, 4, CLIP_WIDTH, 3, CLIP_PATCH, CLIP_PATCH);
        add_weight(m, "vision_model.embeddings.position_embedding.weight", 1, 0, 2, across * across + 1, CLIP_WIDTH);
        add_pair(m, "vision_model.", "pre_layrnorm", CLIP_WIDTH, 0);
        add_block(m, "vision_model.");
        add_pair(m, "vision_model.", "post_layernorm", CLIP_WIDTH, 0);
        add_weight(m, "visual_projection.weight", 1, 0, 2, CLIP_DIM, CLIP_WIDTH);
    }
    if (towers & 2) {
        add_weight(m, "text_model.embeddings.token_embedding.weight", 1, 0, 2, CLIP_WORDS, CLIP_WIDTH);
        add_weight(m, "text_model.embeddings.position_embedding.weight", 1, 0, 2, CLIP_CONTEXT, CLIP_WIDTH);
        add_block(m, "text_model.");
        add_pair(m, "text_model.", "final_layer_norm", CLIP_WIDTH, 0);
        add_weight(m, "text_projection.weight", 1, 0, 2, CLIP_DIM, CLIP_WIDTH);
    }
    add_weight(m, "logit_scale", 0, 2.6592, 0);
    CHECK_OK(&c, spot_tensors_save(&c, path, m->tensor, m->n));
    for (int i = 0; i < m->n; i++) free(m->owned[i]);
    free(m);
}

/* root/clip with model.safetensors, config.json and a vocabulary. Returns the model's path. */
static const char *put_model(void)
{
    mkdir(in_root("clip"), 0777);
    put_clip(in_root("clip/model.safetensors"), 3, 7);
    put_text(in_root("clip/config.json"), CLIP_CONFIG);
    put_text(in_root("clip/merges.txt"), CLIP_VOCABULARY);
    return in_root("clip/model.safetensors");
}

/* A picture of its own for each seed, between 20 and 59 pixels a side. */
static inline void put_picture(const char *path, int seed)
{
    png_image p = { .version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB, .width = 20 + (unsigned)seed * 7 % 40,
                    .height = 20 + (unsigned)seed * 11 % 40 };
    uint8_t *rgb = malloc(3 * (size_t)p.width * p.height);

    for (size_t i = 0; i < 3 * (size_t)p.width * p.height; i++)
        rgb[i] = (uint8_t)(255 * number_at((uint32_t)seed * 7919u + (uint32_t)(i / (24 + (unsigned)seed % 30)) * 3 + i % 3));
    assert_true(png_image_write_to_file(&p, path, 0, rgb, 0, NULL));
    free(rgb);
}

#endif
