/* mesh_parser_ends.c - see mesh_parser_ends.h. */
#define _GNU_SOURCE
#include "worlds/mesh_parser_ends.h"

#include <assimp/cimport.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "worlds/mesh_parser_flat.h"
#include "worlds/mesh_parser_scene.h"

static const char cut[] = "it ends before its last part: it is damaged or cut short";

/* -- STL ------------------------------------------------------------------------------------------------------------------ */

/* Bytes at the end of a text of STL that hold its last line. */
enum { LAST_LINES = 400 };

void spot_stl_check(const char *text, size_t n)
{
    const char *at = text, *end = text + n;
    uint32_t triangles = 0;

    while (at < end && strchr(" \t\r\n", *at)) at++;
    if (n >= 84) memcpy(&triangles, text + 80, sizeof triangles);
    if (n == 84 + 50 * (uint64_t)triangles) return;
    if (end - at >= 5 && !strncasecmp(at, "solid", 5) && !memchr(text, 0, n)) {
        for (const char *p = end; p > at && end - p < LAST_LINES; p--)
            if (!strncasecmp(p, "endsolid", 8)) return;
        spot_parser_fail("it does not end with \"endsolid\": it is damaged or cut short");
    }
    if (n < 84 + 50 * (uint64_t)triangles || n < 84) spot_flat_fail_short("triangles", triangles);
}

/* -- 3DS ------------------------------------------------------------------------------------------------------------------ */

enum { CHUNK = 6, MOVEMENT = 0xb000, UNKNOWN = 0xb0ff };               /* CHUNK: bytes of a part's number and length */

static uint32_t length_of(const char *chunk)
{
    uint32_t n;

    memcpy(&n, chunk + 2, sizeof n);
    return n;
}

/* The first part holds all others and says its bytes. Places of vertices are those of the whole scene; the parts of movements,
 * from which assimp would place the objects anew, get a number that it does not know. */
void spot_3ds_mend(char *text, size_t n)
{
    const uint16_t unknown = UNKNOWN;
    uint16_t number;
    size_t at = CHUNK;

    if (n < CHUNK || memcmp(text, "MM", 2)) spot_parser_fail("it does not begin as a file of 3DS does");
    if (length_of(text) > n) spot_parser_fail(cut);
    while (at + CHUNK <= n && length_of(text + at) >= CHUNK) {
        memcpy(&number, text + at, sizeof number);
        if (number == MOVEMENT) memcpy(text + at, &unknown, sizeof unknown);
        at += length_of(text + at);
    }
}

/* -- FBX ------------------------------------------------------------------------------------------------------------------ */

enum { FBX_HEAD = 27, FBX_WIDE = 7500 };   /* from this version on a record's numbers have 8 bytes */

/* Each record says where it ends; the last one is empty. */
static void check_binary(const char *text, size_t n)
{
    uint32_t version;
    uint64_t at = FBX_HEAD;

    if (n < FBX_HEAD) spot_parser_fail(cut);
    memcpy(&version, text + FBX_HEAD - sizeof version, sizeof version);
    const size_t bytes = version >= FBX_WIDE ? 8 : 4;
    for (;;) {
        uint64_t end = 0;
        if (at + 3 * bytes + 1 > n) spot_parser_fail(cut);
        memcpy(&end, text + at, bytes);
        if (!end) return;
        if (end <= at || end > n) spot_parser_fail(cut);
        at = end;
    }
}

static void check_text(const char *text, size_t n)
{
    bool quoted = false;
    long open = 0;

    for (const char *p = text; p < text + n; p++) {
        if (!quoted && *p == ';') p = memchr(p, '\n', (size_t)(text + n - p));
        if (!p) break;
        if (*p == '"') quoted = !quoted;
        if (!quoted) open += (*p == '{') - (*p == '}');
    }
    if (quoted || open > 0 || !memmem(text, n, "Connections:", 12)) spot_parser_fail(cut);
}

void spot_fbx_check(const char *text, size_t n)
{
    static const char mark[] = "Kaydara FBX Binary";

    if (n >= sizeof mark - 1 && !memcmp(text, mark, sizeof mark - 1)) check_binary(text, n);
    else check_text(text, n);
}

static int number_of(const struct aiMetadata *m, const char *key, int usual)
{
    int32_t v = usual;

    for (unsigned i = 0; m && i < m->mNumProperties; i++)
        if (!strcmp(m->mKeys[i].data, key) && m->mValues[i].mType == AI_INT32) memcpy(&v, m->mValues[i].mData, sizeof v);
    return v;
}

/* Row k of the turn: the file's axis of that name. */
static bool take_axis(spot_axes *turn, int k, int axis, int sign)
{
    if (axis < 0 || axis > 2) return false;
    turn->m[k][axis] = sign < 0 ? -1 : 1;
    return true;
}

/* Versions of assimp after 5.2 turn the root themselves. */
static bool is_turned(const struct aiNode *root)
{
    struct aiMatrix4x4 none;

    aiIdentityMatrix4(&none);
    return memcmp(&root->mTransformation, &none, sizeof none) != 0;
}

spot_axes spot_fbx_turn(const struct aiScene *s)
{
    const struct aiMetadata *m = s->mMetaData;
    const int right = number_of(m, "CoordAxis", 0), up = number_of(m, "UpAxis", 1), front = number_of(m, "FrontAxis", 2);
    spot_axes turn = { 0 };

    if (is_turned(s->mRootNode)) return spot_axes_none;
    if (take_axis(&turn, 0, right, number_of(m, "CoordAxisSign", 1)) && take_axis(&turn, 1, up, number_of(m, "UpAxisSign", 1))
        && take_axis(&turn, 2, front, number_of(m, "FrontAxisSign", 1)) && right != up && up != front && front != right)
        return turn;
    spot_parser_fail("its GlobalSettings name no three axes: export it again");
}
