/* mesh_parser_looks.c - see mesh_parser_looks.h. */
#define _GNU_SOURCE
#include "worlds/mesh_parser_looks.h"

#include <assimp/GltfMaterial.h>
#include <assimp/cimport.h>
#include <assimp/material.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* assimp has made glTF's offset, rotation and scale into a turn around the picture's middle, with v upwards. Here they come
 * back: in glTF v points down, and rotations are against the clock as they are seen. */
static void place_by_transform(spot_picture_place *to, const struct aiUVTransform *t)
{
    const double c = cos(-(double)t->mRotation), s = sin(-(double)t->mRotation), x = t->mScaling.x, y = t->mScaling.y;
    const double right = t->mTranslation.x - 0.5 * x * (1 - c + s), down = 1 - y + 0.5 * y * (s + c - 1) - t->mTranslation.y;

    to->u[0] = c * x, to->u[1] = -s * y, to->u[2] = right + s * y;
    to->v[0] = s * x, to->v[1] = c * y, to->v[2] = 1 - down - c * y;
}

static int32_t number_of_picture(spot_looks *l, const char *name)
{
    uint32_t i = 0;

    if (!*name || strlen(name) >= SPOT_WIRE_NAME) return -1;
    while (i < l->pictures && strcmp(l->picture[i], name)) i++;
    if (i == SPOT_WIRE_PICTURES) return -1;
    if (i == l->pictures) {
        char (*more)[SPOT_WIRE_NAME] = realloc(l->picture, (i + 1) * sizeof *more);
        if (!more) spot_parser_give_up();
        l->picture = more;
        strcpy(l->picture[l->pictures++], name);
    }
    return (int32_t)i;
}

static int32_t picture_of(spot_looks *l, const struct aiMaterial *m, enum aiTextureType type)
{
    struct aiString name;

    return aiGetMaterialString(m, AI_MATKEY_TEXTURE(type, 0), &name) == aiReturn_SUCCESS ? number_of_picture(l, name.data) : -1;
}

static int32_t number_of_texture(spot_looks *l, spot_wire_texture t)
{
    uint32_t i = 0;

    if (t.colour < 0 && t.holes < 0) return -1;
    while (i < l->textures && memcmp(&l->texture[i], &t, sizeof t)) i++;
    if (i == l->textures) l->texture[l->textures++] = t;
    return (int32_t)i;
}

static void number(const struct aiMaterial *m, const char *key, unsigned type, unsigned index, float *v)
{
    ai_real got;

    if (aiGetMaterialFloatArray(m, key, type, index, &got, NULL) == aiReturn_SUCCESS) *v = (float)got;
}

static bool colour(const struct aiMaterial *m, const char *key, unsigned type, unsigned index, float *v)
{
    struct aiColor4D got;

    if (aiGetMaterialColor(m, key, type, index, &got) != aiReturn_SUCCESS) return false;
    v[0] = got.r, v[1] = got.g, v[2] = got.b;
    return true;
}

/* Where the picture lies: its set of coordinates, and how a file of OBJ moves it. */
static void find_place(spot_looks *l, spot_picture_place *to, const struct aiMaterial *m, enum aiTextureType type)
{
    const spot_mtl_places *places = &l->of->places;
    struct aiUVTransform t;
    struct aiString name;
    int set;

    *to = (spot_picture_place){ 0, { 1, 0, 0 }, { 0, 1, 0 }, 0, 0 };
    if (aiGetMaterialInteger(m, AI_MATKEY_UVWSRC(type, 0), &set) == aiReturn_SUCCESS
        && set >= 0 && set < AI_MAX_NUMBER_OF_TEXTURECOORDS) to->set = (unsigned)set;
    if (aiGetMaterialUVTransform(m, AI_MATKEY_UVTRANSFORM(type, 0), &t) == aiReturn_SUCCESS) place_by_transform(to, &t);
    if (aiGetMaterialString(m, AI_MATKEY_NAME, &name) != aiReturn_SUCCESS) return;
    for (size_t i = 0; i < places->count; i++) {
        const spot_mtl_place *p = &places->place[i];
        if (strcmp(p->material, name.data)) continue;
        to->u[0] = p->scale[0], to->u[2] = p->offset[0];
        to->v[1] = p->scale[1], to->v[2] = p->offset[1];
    }
}

/* Whether it has the name that assimp gives to what it makes; that of 3DS is another. */
static bool is_made(const struct aiMaterial *m)
{
    struct aiString name;

    return aiGetMaterialString(m, AI_MATKEY_NAME, &name) == aiReturn_SUCCESS
        && (!strcmp(name.data, AI_DEFAULT_MATERIAL_NAME) || !strcmp(name.data, "%%%DEFAULT"));
}

bool spot_look_is_plain(const struct aiMaterial *m)
{
    struct aiString name;

    return aiGetMaterialString(m, AI_MATKEY_NAME, &name) != aiReturn_SUCCESS || is_made(m);
}

spot_wire_material spot_look_of(spot_looks *l, const struct aiMaterial *m, spot_picture_place *place)
{
    spot_wire_material to = { { 0.6f, 0.6f, 0.6f }, { 0 }, 1, 1, -1 };
    spot_wire_texture t = { -1, -1, SPOT_WIRE_BLEND, 0.5f };
    struct aiString mode;

    if (l->of->white) to.diffuse[0] = to.diffuse[1] = to.diffuse[2] = 1;
    if (l->of->upright && is_made(m)) return to;           /* their parsers do not agree on a grey */
    if (!colour(m, AI_MATKEY_BASE_COLOR, to.diffuse)) colour(m, AI_MATKEY_COLOR_DIFFUSE, to.diffuse);
    colour(m, AI_MATKEY_COLOR_SPECULAR, to.specular);
    to.shininess = 0;
    number(m, AI_MATKEY_SHININESS, &to.shininess);
    if (!(to.shininess >= 1)) memset(to.specular, 0, sizeof to.specular);      /* no highlight, but light from everywhere */
    number(m, AI_MATKEY_OPACITY, &to.opacity);
    t.colour = picture_of(l, m, aiTextureType_BASE_COLOR);
    if (t.colour < 0) t.colour = picture_of(l, m, aiTextureType_DIFFUSE);
    if (l->of->picture) t.colour = number_of_picture(l, l->of->picture);
    t.holes = picture_of(l, m, aiTextureType_OPACITY);
    if (aiGetMaterialString(m, AI_MATKEY_GLTF_ALPHAMODE, &mode) == aiReturn_SUCCESS) {
        t.alpha = !strcmp(mode.data, "MASK") ? SPOT_WIRE_CUT : !strcmp(mode.data, "BLEND") ? SPOT_WIRE_BLEND : SPOT_WIRE_OPAQUE;
        if (t.alpha == SPOT_WIRE_CUT) number(m, AI_MATKEY_GLTF_ALPHACUTOFF, &t.cutoff);
        if (t.alpha == SPOT_WIRE_OPAQUE) to.opacity = 1;
        if (t.alpha == SPOT_WIRE_CUT) t.cutoff = to.opacity > 0 ? t.cutoff / to.opacity : 2, to.opacity = 1;
    }
    to.texture = number_of_texture(l, t);
    find_place(l, place, m, picture_of(l, m, aiTextureType_BASE_COLOR) >= 0 ? aiTextureType_BASE_COLOR
               : t.colour >= 0 ? aiTextureType_DIFFUSE : aiTextureType_OPACITY);
    place->alpha = l->of->upright ? SPOT_WIRE_OPAQUE : t.alpha, place->cutoff = t.cutoff;
    return to;
}

uint32_t spot_looks_show(spot_wire_material *look, uint32_t materials, bool reverses)
{
    uint32_t hidden = 0;

    for (uint32_t i = 0; i < materials; i++) hidden += !(look[i].opacity > 0);
    for (uint32_t i = 0; hidden && i < materials; i++) {
        if (!(look[i].opacity > 0)) look[i].opacity = 1;
        else if (reverses) look[i].opacity = look[i].opacity < 1 ? 1 - look[i].opacity : 1;
    }
    return hidden;
}

void spot_look_put_picture(const spot_looks *l, const char *name)
{
    const unsigned long number = *name == '*' ? strtoul(name + 1, NULL, 10) : l->of->scene->mNumTextures;
    const struct aiTexture *t = number < l->of->scene->mNumTextures ? l->of->scene->mTextures[number] : NULL;

    if (*name == '*') {                                    /* without a height it is a file of mWidth bytes */
        const uint32_t length = t && !t->mHeight ? t->mWidth : 0;
        spot_parser_put(&(spot_wire_picture){ 1, length }, sizeof(spot_wire_picture));
        spot_parser_put(t ? t->pcData : NULL, length);
    } else {
        spot_parser_put(&(spot_wire_picture){ 0, (uint32_t)strlen(name) }, sizeof(spot_wire_picture));
        spot_parser_put(name, strlen(name));
    }
}
