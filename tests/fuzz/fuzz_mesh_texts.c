/* fuzz_mesh_texts.c - any bytes as a model in spotter-mesh, as far as the code is ours: PLY and OFF become answers, of which
 * the reader makes a mesh; OBJ, MTL, Collada and UTF-16 are mended; ends of 3DS, STL and FBX, and glTF's extensions
 * are checked. The first byte says which. Each ends, or is one sentence. fuzz: -max_len=1024 */
#include "fuzz/fuzz_file.h"
#include "fuzz/fuzz_mesh.h"

#include <setjmp.h>

#include "worlds/mesh_parser_ends.h"
#include "worlds/mesh_parser_flat.h"
#include "worlds/mesh_parser_scene.h"

enum { PLY, OFF, OBJ, MTL, DAE, WIDE, TDS, STL, FBX, GLTF, KINDS };
enum { MOST_HELD = 8192, LARGE = 1 << 22, LARGEST = 8, MOST_SAID = 1 << 18 };

/* ---- memory: the program never gives it back, since it ends with its answer; here the next input would find it gone ---- */

static struct { bool on; int n; void *at[MOST_HELD]; } held;

/* Room for the largest face does not depend on the input, and zeroing it would take longer than the input. */
static struct { void *at; size_t size; bool used; } large[LARGEST];

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *from, size_t n);
void  __wrap_free(void *memory);
void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *from, size_t n);
void  __real_free(void *memory);

static void *hold(void *memory)
{
    if (!held.on) return memory;
    if (!memory || held.n == MOST_HELD) abort();
    return held.at[held.n++] = memory;
}

static void let_go(const void *memory)
{
    for (int i = held.on ? held.n : 0; i--;)
        if (held.at[i] == memory) {
            held.at[i] = held.at[--held.n];
            return;
        }
}

void *__wrap_malloc(size_t n) { return hold(__real_malloc(n)); }

void *__wrap_calloc(size_t count, size_t size)
{
    int i = 0;

    if (!held.on || count * size < LARGE) return hold(__real_calloc(count, size));
    while (i < LARGEST && large[i].at && (large[i].used || large[i].size != count * size)) i++;
    if (i == LARGEST) abort();
    if (!large[i].at) large[i].at = __real_calloc(count, size), large[i].size = count * size;
    large[i].used = true;
    return large[i].at;
}

void *__wrap_realloc(void *from, size_t n)
{
    let_go(from);
    return hold(__real_realloc(from, n));
}

void __wrap_free(void *memory)
{
    for (int i = 0; held.on && memory && i < LARGEST; i++)
        if (memory == large[i].at) {
            large[i].used = false;
            return;
        }
    let_go(memory);
    __real_free(memory);
}

static void let_all_go(void)
{
    held.on = false;
    while (held.n) free(held.at[--held.n]);
    for (int i = 0; i < LARGEST; i++) large[i].used = false;
}

/* ---- the pipe ---- */

static jmp_buf out;
static struct { size_t n; uint8_t bytes[MOST_SAID]; } said;

void spot_parser_put(const void *bytes, size_t n)
{
    if (said.n + n > MOST_SAID) abort();
    if (n) memcpy(said.bytes + said.n, bytes, n);
    said.n += n;
}

_Noreturn void spot_parser_fail(const char *sentence)
{
    if (!*sentence || strchr(sentence, '\n') || strlen(sentence) > SPOT_WIRE_SENTENCE) abort();
    said.n = 0;
    longjmp(out, 1);
}

_Noreturn void spot_parser_give_up(void) { abort(); }

/* ---- the model ---- */

static void try_flat(bool ply, const char *text, size_t n)
{
    static spot_flat flat;

    (ply ? spot_ply_read : spot_off_read)(&flat, text, n);
    spot_parser_put_scene(&(spot_parser_scene){ .scene = spot_flat_scene(&flat), .turn = spot_axes_none, .white = ply,
                          .picture = flat.picture, .most = 1 << 12, .materials = 16 });
}

/* A text that was mended ends with a NUL, and names of materials fit. */
static void try_mending(int kind, char *text, size_t n)
{
    spot_mtl_places places = { 0 };
    uint32_t lost = 0;
    size_t size = n;
    char *to = kind == OBJ ? spot_obj_mend(text, n, &size, &lost) : kind == MTL ? spot_mtl_mend(text, n, &size, &places)
             : kind == WIDE ? spot_narrow(text, n, &size) : NULL;

    if (kind == DAE) spot_dae_mend(text, &size);
    if ((kind != DAE && !to) || (to ? to : text)[size]) abort();
    for (size_t i = 0; i < places.count; i++)
        if (strlen(places.place[i].material) >= sizeof places.place[i].material) abort();
    free(to);
    free(places.place);
}

static void try_gltf(const uint8_t *text, size_t n)
{
    spot_ctx c = { 0 };

    if (spot_mesh_gltf_check(&c, text, n)) fuzz_said(&c);
}

static void try_model(int kind, char *text, size_t n)
{
    if (kind == PLY || kind == OFF) try_flat(kind == PLY, text, n);
    else if (kind == TDS) spot_3ds_mend(text, n);
    else if (kind == STL) spot_stl_check(text, n);
    else if (kind == FBX) spot_fbx_check(text, n);
    else if (kind == GLTF) try_gltf((const uint8_t *)text, n);
    else if (kind != WIDE || n >= 2) try_mending(kind, text, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t n = size ? size - 1 : 0;
    char *text;

    if (!size) return 0;
    held.on = true;
    text = malloc(n + 1);
    memcpy(text, data + 1, n);
    text[n] = 0;
    said.n = 0;
    if (!setjmp(out)) try_model(*data % KINDS, text, n);
    let_all_go();
    if (said.n) fuzz_answer(said.bytes + sizeof(spot_wire_frame), said.n - sizeof(spot_wire_frame));
    return 0;
}
