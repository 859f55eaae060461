/* check_mesh.h - models in a test's folder: read_model, mesh_of, words_of, and a red picture. */
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

#endif
