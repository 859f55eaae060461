/* mesh_parser.c - the program spotter-mesh: a model file -> triangles, by assimp, whose parsers are not made for hostile files.
 *
 * It gives up memory, time and files before it reads a byte of a model: limits by setrlimit, and a filter of system calls that
 * leaves it little more than reading, writing and memory. Files come from the reader by the pipe (mesh_wire.h). It is a program
 * of its own and uses nothing of the library. */
#define _GNU_SOURCE
#include <assimp/GltfMaterial.h>
#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/material.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worlds/mesh_wire.h"

enum { DEEPEST = 512 };

/* -- pipes ---------------------------------------------------------------------------------------------------------------- */

/* The reader is gone, or there is no memory: nobody waits for an answer. */
static void give_up(void) { _exit(1); }

static void take(void *out, size_t n)
{
    if (n && fread(out, 1, n, stdin) != n) give_up();
}

static void put(const void *bytes, size_t n)
{
    if (n && fwrite(bytes, 1, n, stdout) != n) give_up();
}

static void flush(void)
{
    if (fflush(stdout)) give_up();
}

static void put_frame(uint32_t kind, const void *bytes, size_t n)
{
    put(&(spot_wire_frame){ kind, (uint32_t)n }, sizeof(spot_wire_frame));
    put(bytes, n);
}

static void fail(const char *sentence)
{
    put_frame(SPOT_WIRE_FAIL, sentence, strnlen(sentence, SPOT_WIRE_SENTENCE));
    flush();
    _exit(0);
}

/* -- files ---------------------------------------------------------------------------------------------------------------- */

/* Files stay in memory: assimp opens the model several times. */
typedef struct stored { struct stored *next; char *name, *bytes; size_t size; bool found; } stored;
static stored *files;

typedef struct { const stored *of; size_t at; } place;

static stored *ask_for(const char *name)
{
    stored *f = calloc(1, sizeof *f);
    uint64_t size;

    if (!f || !(f->name = strdup(name))) give_up();
    put_frame(SPOT_WIRE_OPEN, name, strlen(name));
    flush();
    take(&size, sizeof size);
    f->found = size != SPOT_WIRE_NO_FILE;
    f->size = f->found ? (size_t)size : 0;
    f->bytes = malloc(f->size + 1);
    if (!f->bytes) {
        fprintf(stderr, "no memory for the %zu bytes of %.100s\n", f->size, name);
        give_up();
    }
    take(f->bytes, f->size);
    f->next = files;
    return files = f;
}

static size_t read_file(struct aiFile *file, char *out, size_t size, size_t count)
{
    place *p = (place *)(void *)file->UserData;
    const size_t left = size ? (p->of->size - p->at) / size : 0, n = count < left ? count : left;

    memcpy(out, p->of->bytes + p->at, n * size);
    p->at += n * size;
    return n;
}

static size_t write_file(struct aiFile *file, const char *bytes, size_t size, size_t count)
{
    (void)file, (void)bytes, (void)size, (void)count;
    return 0;
}

static size_t tell(struct aiFile *file) { return ((place *)(void *)file->UserData)->at; }
static size_t size_of(struct aiFile *file) { return ((place *)(void *)file->UserData)->of->size; }
static void   flush_file(struct aiFile *file) { (void)file; }

static enum aiReturn seek(struct aiFile *file, size_t to, enum aiOrigin from)
{
    place *p = (place *)(void *)file->UserData;
    const size_t base = from == aiOrigin_SET ? 0 : from == aiOrigin_CUR ? p->at : p->of->size, at = base + to;

    if (at > p->of->size) return aiReturn_FAILURE;         /* also a sum that has wrapped below 0 */
    p->at = at;
    return aiReturn_SUCCESS;
}

static struct aiFile *open_file(struct aiFileIO *io, const char *name, const char *mode)
{
    const stored *f = files;
    struct aiFile *file;
    place *p;

    (void)io;
    while (*name == '.' && name[1] == '/') name += 2;
    if (strchr(mode, 'w') || !*name || strlen(name) > SPOT_WIRE_NAME) return NULL;
    while (f && strcmp(f->name, name)) f = f->next;
    if (!f) f = ask_for(name);
    if (!f->found) return NULL;
    file = calloc(1, sizeof *file);
    p = calloc(1, sizeof *p);
    if (!file || !p) give_up();
    p->of = f;
    *file = (struct aiFile){ read_file, write_file, tell, size_of, seek, flush_file, (aiUserData)(void *)p };
    return file;
}

static void close_file(struct aiFileIO *io, struct aiFile *file)
{
    (void)io;
    free(file->UserData);
    free(file);
}

/* -- materials ------------------------------------------------------------------------------------------------------------ */

typedef struct {
    const struct aiScene *scene;
    spot_wire_texture  *texture;           /* (2 a material) */
    char              (*picture)[SPOT_WIRE_NAME];          /* names; those of embedded ones begin with '*' */
    uint32_t textures, pictures;
} looks;

static int32_t number_of_picture(looks *l, const char *name)
{
    uint32_t i = 0;

    if (!*name || strlen(name) >= SPOT_WIRE_NAME) return -1;
    while (i < l->pictures && strcmp(l->picture[i], name)) i++;
    if (i == SPOT_WIRE_PICTURES) return -1;
    if (i == l->pictures) {
        char (*more)[SPOT_WIRE_NAME] = realloc(l->picture, (i + 1) * sizeof *more);
        if (!more) give_up();
        l->picture = more;
        strcpy(l->picture[l->pictures++], name);
    }
    return (int32_t)i;
}

static int32_t picture_of(looks *l, const struct aiMaterial *m, enum aiTextureType type)
{
    struct aiString name;

    return aiGetMaterialString(m, AI_MATKEY_TEXTURE(type, 0), &name) == aiReturn_SUCCESS ? number_of_picture(l, name.data) : -1;
}

static int32_t number_of_texture(looks *l, spot_wire_texture t)
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

static spot_wire_material look_of(looks *l, const struct aiMaterial *m)
{
    spot_wire_material to = { { 0.6f, 0.6f, 0.6f }, { 0 }, 1, 1, -1 };
    spot_wire_texture t = { -1, -1, SPOT_WIRE_BLEND, 0.5f };
    struct aiString mode;

    if (!colour(m, AI_MATKEY_BASE_COLOR, to.diffuse)) colour(m, AI_MATKEY_COLOR_DIFFUSE, to.diffuse);
    colour(m, AI_MATKEY_COLOR_SPECULAR, to.specular);
    to.shininess = 0;
    number(m, AI_MATKEY_SHININESS, &to.shininess);
    if (!(to.shininess >= 1)) memset(to.specular, 0, sizeof to.specular);      /* no highlight, but light from everywhere */
    number(m, AI_MATKEY_OPACITY, &to.opacity);
    t.colour = picture_of(l, m, aiTextureType_BASE_COLOR);
    if (t.colour < 0) t.colour = picture_of(l, m, aiTextureType_DIFFUSE);
    t.holes = picture_of(l, m, aiTextureType_OPACITY);
    if (aiGetMaterialString(m, AI_MATKEY_GLTF_ALPHAMODE, &mode) == aiReturn_SUCCESS) {
        t.alpha = !strcmp(mode.data, "MASK") ? SPOT_WIRE_CUT : !strcmp(mode.data, "BLEND") ? SPOT_WIRE_BLEND : SPOT_WIRE_OPAQUE;
        if (t.alpha == SPOT_WIRE_CUT) number(m, AI_MATKEY_GLTF_ALPHACUTOFF, &t.cutoff);
        if (t.alpha == SPOT_WIRE_OPAQUE) to.opacity = 1;
        if (t.alpha == SPOT_WIRE_CUT) t.cutoff = to.opacity > 0 ? t.cutoff / to.opacity : 2, to.opacity = 1;
    }
    to.texture = number_of_texture(l, t);
    return to;
}

static void put_picture(const looks *l, const char *name)
{
    const unsigned long number = *name == '*' ? strtoul(name + 1, NULL, 10) : l->scene->mNumTextures;
    const struct aiTexture *t = number < l->scene->mNumTextures ? l->scene->mTextures[number] : NULL;

    if (*name == '*') {                                    /* without a height it is a file of mWidth bytes */
        const uint32_t length = t && !t->mHeight ? t->mWidth : 0;
        put(&(spot_wire_picture){ 1, length }, sizeof(spot_wire_picture));
        put(t ? t->pcData : NULL, length);
    } else {
        put(&(spot_wire_picture){ 0, (uint32_t)strlen(name) }, sizeof(spot_wire_picture));
        put(name, strlen(name));
    }
}

/* -- triangles ------------------------------------------------------------------------------------------------------------ */

enum { COUNT, PLACES, NORMALS, COORDINATES, MATERIALS };

/* A walk over the scene's nodes: counts, or writes one of the arrays. */
typedef struct {
    const struct aiScene *scene;
    int what;
    uint64_t triangles, most;
    bool normals, coordinates;
} walk;

static void put_place(const struct aiMatrix4x4 *m, struct aiVector3D v)
{
    const float to[3] = { m->a1 * v.x + m->a2 * v.y + m->a3 * v.z + m->a4, m->b1 * v.x + m->b2 * v.y + m->b3 * v.z + m->b4,
                          m->c1 * v.x + m->c2 * v.y + m->c3 * v.z + m->c4 };

    put(to, sizeof to);
}

/* Writes a normal turned by the cofactors: the inverse transposed times the determinant, whose sign is taken out. */
static void put_normal(const struct aiMatrix4x4 *m, struct aiVector3D v)
{
    const double r[3][3] = { { m->a1, m->a2, m->a3 }, { m->b1, m->b2, m->b3 }, { m->c1, m->c2, m->c3 } };
    const double x[3] = { v.x, v.y, v.z };
    double f[3][3], sign, n[3], length;
    float to[3];

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            f[i][j] = r[a][c] * r[b][d] - r[a][d] * r[b][c];
        }
    sign = r[0][0] * f[0][0] + r[0][1] * f[0][1] + r[0][2] * f[0][2] < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++) n[i] = sign * (f[i][0] * x[0] + f[i][1] * x[1] + f[i][2] * x[2]);
    length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 3; i++) to[i] = length > 0 ? (float)(n[i] / length) : 0;
    put(to, sizeof to);
}

static void put_corner(const walk *w, const struct aiMatrix4x4 *m, const struct aiMesh *mesh, unsigned v)
{
    static const float none[3] = { 0 };

    if (w->what == PLACES) put_place(m, mesh->mVertices[v]);
    if (w->what == NORMALS && mesh->mNormals) put_normal(m, mesh->mNormals[v]);
    if (w->what == NORMALS && !mesh->mNormals) put(none, sizeof none);
    if (w->what == COORDINATES && mesh->mTextureCoords[0]) put(&mesh->mTextureCoords[0][v], 2 * sizeof(float));
    if (w->what == COORDINATES && !mesh->mTextureCoords[0]) put(none, 2 * sizeof(float));
}

static void walk_mesh(walk *w, const struct aiMatrix4x4 *m, const struct aiMesh *mesh)
{
    const int32_t material = (int32_t)mesh->mMaterialIndex;

    w->normals = w->normals || mesh->mNormals;
    w->coordinates = w->coordinates || mesh->mTextureCoords[0];
    for (unsigned i = 0; i < mesh->mNumFaces; i++) {
        const struct aiFace *f = &mesh->mFaces[i];
        if (f->mNumIndices != 3) continue;                 /* points and lines */
        w->triangles++;
        for (int e = 0; w->what == MATERIALS ? e < 1 : e < 3; e++) {
            if (f->mIndices[e] >= mesh->mNumVertices) fail("a face has a corner that is not there");
            if (w->what == MATERIALS) put(&material, sizeof material);
            else if (w->what != COUNT) put_corner(w, m, mesh, f->mIndices[e]);
        }
    }
}

/* One mesh may hang on many nodes: the count stops where it is too large. */
static void walk_node(walk *w, const struct aiNode *node, struct aiMatrix4x4 m, int depth)
{
    struct aiMatrix4x4 mine = m;

    if (depth > DEEPEST) fail("its nodes lie deeper than 512 in each other");
    aiMultiplyMatrix4(&mine, &node->mTransformation);
    for (unsigned i = 0; i < node->mNumMeshes && w->triangles <= w->most; i++)
        walk_mesh(w, &mine, w->scene->mMeshes[node->mMeshes[i]]);
    for (unsigned i = 0; i < node->mNumChildren && w->triangles <= w->most; i++)
        walk_node(w, node->mChildren[i], mine, depth + 1);
}

static walk walk_scene(const struct aiScene *scene, int what, uint64_t most)
{
    walk w = { .scene = scene, .what = what, .most = most };
    struct aiMatrix4x4 m;

    aiIdentityMatrix4(&m);
    walk_node(&w, scene->mRootNode, m, 0);
    return w;
}

static uint32_t count_polygons(const struct aiScene *scene)
{
    uint32_t n = 0;

    for (unsigned i = 0; i < scene->mNumMeshes; i++)
        for (unsigned j = 0; j < scene->mMeshes[i]->mNumFaces; j++) n += scene->mMeshes[i]->mFaces[j].mNumIndices > 3;
    return n;
}

/* -- the whole ------------------------------------------------------------------------------------------------------------ */

static void put_scene(const struct aiScene *scene, uint32_t polygons, const spot_wire_start *start)
{
    const uint32_t materials = scene->mNumMaterials < start->materials ? scene->mNumMaterials : start->materials;
    spot_wire_material *look = calloc(materials + 1, sizeof *look);
    looks l = { .scene = scene, .texture = calloc(materials + 1, sizeof *l.texture) };
    const walk w = walk_scene(scene, COUNT, start->triangles);
    char text[128];

    if (!look || !l.texture) give_up();
    if (w.triangles > start->triangles) {
        snprintf(text, sizeof text, "it has more than %u triangles: reduce it with a modelling program", start->triangles);
        fail(text);
    }
    for (uint32_t i = 0; i < materials; i++) look[i] = look_of(&l, scene->mMaterials[i]);
    put(&(spot_wire_frame){ SPOT_WIRE_MESH, sizeof(spot_wire_mesh) }, sizeof(spot_wire_frame));
    put(&(spot_wire_mesh){ (uint32_t)w.triangles, w.normals, w.coordinates, polygons, materials, l.textures, l.pictures },
        sizeof(spot_wire_mesh));
    walk_scene(scene, PLACES, start->triangles);
    if (w.normals) walk_scene(scene, NORMALS, start->triangles);
    if (w.coordinates) walk_scene(scene, COORDINATES, start->triangles);
    walk_scene(scene, MATERIALS, start->triangles);
    put(look, materials * sizeof *look);
    put(l.texture, l.textures * sizeof *l.texture);
    for (uint32_t i = 0; i < l.pictures; i++) put_picture(&l, l.picture[i]);
}

static void read_model(const char *name, const spot_wire_start *start)
{
    struct aiFileIO io = { open_file, close_file, NULL };
    const struct aiScene *scene = aiImportFileEx(name, 0, &io);
    const uint32_t polygons = scene ? count_polygons(scene) : 0;

    if (!scene) fail(aiGetErrorString());
    scene = aiApplyPostProcessing(scene, aiProcess_Triangulate);
    if (!scene) fail(aiGetErrorString());
    put_scene(scene, polygons, start);
    flush();
}

static void limit(int what, rlim_t most)
{
    if (setrlimit((__rlimit_resource_t)what, &(struct rlimit){ most, most })) {
        fprintf(stderr, "cannot limit itself: %s\n", strerror(errno));
        give_up();
    }
}

/* Calls that are not in the list fail with EPERM. Where the kernel has no filters the limits alone hold. */
static void filter_calls(void)
{
    static const int allowed[] = {
        SYS_read, SYS_write, SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_futex, SYS_exit,
        SYS_exit_group, SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_getpid, SYS_gettid, SYS_tgkill,
        SYS_clock_gettime, SYS_getrandom, SYS_fstat, SYS_newfstatat, SYS_lseek, SYS_sched_yield, SYS_sigaltstack,
    };
    enum { CALLS = sizeof allowed / sizeof *allowed };
    struct sock_filter f[CALLS + 5];
    struct sock_fprog program = { CALLS + 5, f };
#if defined(__x86_64__)
    const uint32_t machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    const uint32_t machine = AUDIT_ARCH_AARCH64;
#else
    return;
#endif
    f[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    f[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 0, CALLS + 1);
    f[2] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < CALLS; i++)
        f[3 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i], (uint8_t)(CALLS - i), 0);
    f[CALLS + 3] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    f[CALLS + 4] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
    char name[SPOT_WIRE_NAME + 1];
    spot_wire_start start;

    if (isatty(0)) {
        fputs("spotter-mesh is started by Spotter, which tells it by a pipe what to read\n", stderr);
        return 2;
    }
    take(&start, sizeof start);
    if (start.magic != SPOT_WIRE_MAGIC || start.name > SPOT_WIRE_NAME) {
        fputs("spotter-mesh is of another version than the program that started it\n", stderr);
        return 2;
    }
    take(name, start.name);
    name[start.name] = 0;
#ifndef __SANITIZE_ADDRESS__                               /* which reserves terabytes of addresses */
    limit(RLIMIT_AS, start.memory);
#endif
    limit(RLIMIT_CPU, start.seconds);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NOFILE, 3);
    filter_calls();
    read_model(name, &start);
    _exit(0);
}
