/* check_mesh.h - models in a test's folder: read_model, mesh_of, words_of, check_cut, and a red picture. */
#ifndef SPOTTER_TESTS_CHECK_MESH_H
#define SPOTTER_TESTS_CHECK_MESH_H

#include "check_folder.h"
#include "formats/png.h"
#include "spotter/mesh.h"

static inline spot_status read_model(spot_ctx *c, spot_mesh *m, const char *name)
{
    spot_mesh_files *f;
    spot_status s = spot_mesh_files_open(c, &f, root);

    if (s != SPOT_OK) return s;
    s = spot_mesh_read(c, m, f, name, NULL);
    spot_mesh_files_close(f);
    return s;
}

/* A model that must be read. Close it. */
static inline spot_mesh mesh_of(const char *name, const char *text)
{
    spot_ctx c = check_ctx(1);
    spot_mesh m;

    if (text) put_text(name, text);
    CHECK_OK(&c, read_model(&c, &m, name));
    return m;
}

static inline const char *words_of(const spot_mesh *m)
{
    static char words[SPOT_MESH_WORDS];

    return spot_mesh_repairs_say(words, &m->repairs);
}

static inline void put_png(const char *name)
{
    static const uint8_t rgb[12] = { 200, 40, 20, 200, 40, 20, 200, 40, 20, 200, 40, 20 };
    spot_ctx c = check_ctx(1);
    unsigned char *png;
    size_t n;

    CHECK_OK(&c, spot_png_encode(&c, &png, &n, rgb, 2, 2));
    put_bytes(name, png, n);
    free(png);
}

/* The file `from` in UTF-16: a mark, and two bytes a character. */
static inline void put_wide(const char *name, const char *from, bool little)
{
    FILE *f = fopen(in_root("%s", from), "rb");
    uint8_t wide[16000];
    char text[8000];
    size_t n = 0;

    assert_non_null(f);
    const size_t size = fread(text + 1, 1, sizeof text - 1, f) + 1;
    fclose(f);
    for (size_t i = 0; i < size; i++) {
        const unsigned v = i ? (uint8_t)text[i] : 0xfeffu;
        wide[n++] = (uint8_t)(little ? v : v >> 8), wide[n++] = (uint8_t)(little ? v >> 8 : v);
    }
    put_bytes(name, wide, n);
}

/* The file says how long it is: a shorter one, but for its last `tail` bytes, is no mesh, and its sentence tells of no
 * signal. */
static inline void check_cut(const char *name, size_t step, size_t tail)
{
    static uint8_t file[1 << 20];
    spot_ctx c = check_ctx(1);
    FILE *f = fopen(in_root("%s", name), "rb");
    char cut[64];
    spot_mesh m;

    assert_non_null(f);
    const size_t n = fread(file, 1, sizeof file, f);
    fclose(f);
    m = mesh_of(name, NULL);
    spot_mesh_close(&m);
    snprintf(cut, sizeof cut, "cut%s", strrchr(name, '.'));
    for (size_t length = 0; length + tail < n; length += step) {
        put_bytes(cut, file, length);
        const spot_status s = read_model(&c, &m, cut);
        const char *words = spot_message(&c, s);
        if (s != SPOT_INPUT || strstr(words, "signal")) fail_msg("%s of %zu bytes: %s", name, length, s ? words : "read");
        spot_forget(&c);
        spot_mesh_close(&m);
    }
}

#endif
