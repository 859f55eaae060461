/* render_files.c - see render_files.h. */
#define _POSIX_C_SOURCE 200809L
#include "examine/render_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/formats.h"
#include "formats/png.h"
#include "store/store.h"

enum { PATH = 1300, NAME = 40 };           /* bytes of a path; of an object's name in that of a file */

static const char *const RECORD = "render.json";

/* ---- the folder ---- */

/* The first name in a folder that is no temporary file of the record; "": there is none. */
static spot_status find_foreign(spot_ctx *c, char name[256], const char *dir)
{
    DIR *d = opendir(dir);
    const size_t letters = strlen(RECORD);

    name[0] = 0;
    if (!d) return errno == ENOENT ? SPOT_OK : spot_fail(c, SPOT_IO, "cannot list the folder %.500s: %s", dir, strerror(errno));
    for (const struct dirent *e; !name[0] && (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && strncmp(e->d_name, RECORD, letters))
            snprintf(name, 256, "%.255s", e->d_name);
    closedir(d);
    return SPOT_OK;
}

/* The record says whose the folder is; it is the first file in it. */
static spot_status claim_folder(spot_ctx *c, const char *dir, const char *key)
{
    char path[PATH], text[256], name[256];
    unsigned char *bytes;
    size_t n;

    snprintf(path, sizeof path, "%s/%s", dir, RECORD);
    const int letters = snprintf(text, sizeof text, "{\"schema\": 1, \"made_by\": \"spotter render\", \"key\": \"%s\"}\n", key);
    if (access(path, F_OK)) {
        SPOT_TRY(find_foreign(c, name, dir));
        if (name[0])
            return spot_fail(c, SPOT_USAGE, "{renders.foreign} %.500s holds files that `spotter render` did not make, such as "
                             "%.100s; give the renders a folder of their own", dir, name);
        SPOT_TRY(spot_folder_make(c, dir));
        return spot_file_write(c, path, text, (size_t)letters);
    }
    SPOT_TRY(spot_file_read(c, path, &bytes, &n, 1 << 16));
    const bool same = n == (size_t)letters && !memcmp(bytes, text, n);
    free(bytes);
    return same ? SPOT_OK
         : spot_fail(c, SPOT_USAGE, "{renders.other} %.500s holds renders of other objects, conditions or settings; give these "
                     "a folder of their own", dir);
}

static spot_status open_rooms(spot_ctx *c, const spot_render_files *f)
{
    spot_store s = { .brief = false };

    snprintf(s.dir, sizeof s.dir, "%s", f->dir);
    spot_folder_tidy(f->dir);                              /* folders of classes, too */
    SPOT_TRY(spot_store_folder(c, &s, "images"));
    if (f->masks) SPOT_TRY(spot_store_folder(c, &s, "masks"));
    return f->depth ? spot_store_folder(c, &s, "depth") : SPOT_OK;
}

static void put_header(spot_render_files *f)
{
    spot_text_adds(&f->lines, "file,");
    if (f->masks) spot_text_adds(&f->lines, "mask,");
    if (f->depth) spot_text_adds(&f->lines, "depth,");
    spot_text_adds(&f->lines, "class,object,valid,area");
    for (int k = 0; k < SPOT_FACTORS; k++) spot_text_adds(&f->lines, ","), spot_text_adds(&f->lines, spot_factor_label(k));
    spot_text_adds(&f->lines, "\n");
}

spot_status spot_render_files_open(spot_ctx *c, spot_render_files *f, const char *dir, const char *key, int size, bool masks,
                                   bool depth)
{
    *f = (spot_render_files){ .dir = dir, .size = size, .masks = masks, .depth = depth };
    SPOT_TRY(claim_folder(c, dir, key));
    put_header(f);
    return open_rooms(c, f);
}

void spot_render_files_close(spot_render_files *f) { spot_text_free(&f->lines); }

/* ---- files ---- */

/* Writes a file that is not there. One that is there must have these bytes: a person may have changed it. */
static spot_status keep_file(spot_ctx *c, const char *path, const void *bytes, size_t n, int *written)
{
    unsigned char *old;
    size_t have;

    if (access(path, F_OK)) {
        ++*written;
        SPOT_TRY(spot_folder_of(c, path));
        return spot_file_write(c, path, bytes, n);
    }
    SPOT_TRY(spot_file_read(c, path, &old, &have, (size_t)1 << 32));
    const bool same = have == n && !memcmp(old, bytes, n);
    free(old);
    return same ? SPOT_OK
         : spot_fail(c, SPOT_INPUT, "{renders.changed} %.900s has other bytes than this run writes: it was changed, or the 3-D "
                     "model was; move it away, or give the renders another folder", path);
}

/* The text as a name of a file, "_" for what such a name does not take. */
static void put_name(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text);
    for (char *p = to; *p; p++)
        if (*p == '/' || *p == '\\' || (unsigned char)*p < 32 || *p == 127 || (p == to && *p == '.')) *p = '_';
    if (!*to) snprintf(to, size, "_");
}

spot_status spot_render_files_object(spot_ctx *c, spot_render_files *f, const char *cls, const char *id, uint32_t number)
{
    const char *slash = strrchr(id, '/'), *last = slash ? slash + 1 : id;
    char name[NAME + 1], part[NAME + 1];
    const size_t letters = strcspn(last, ".");

    (void)c;
    snprintf(part, sizeof part, "%.*s", (int)(letters < NAME ? letters : NAME), last);
    part[spot_utf8(part, strlen(part))] = 0;           /* the cut may lie within a character */
    put_name(name, sizeof name, part);
    snprintf(f->stem, sizeof f->stem, "%s-%08x", name, (unsigned)number);
    put_name(f->cls, sizeof f->cls, cls);
    f->cls_name = cls, f->id = id;
    return SPOT_OK;
}

static spot_status keep_picture(spot_ctx *c, spot_render_files *f, const char *file, const uint8_t *pixels, bool grey)
{
    char path[PATH];
    unsigned char *png;
    size_t n;

    snprintf(path, sizeof path, "%s/%s", f->dir, file);
    SPOT_TRY(grey ? spot_png_encode_grey(c, &png, &n, pixels, f->size, f->size)
                  : spot_png_encode(c, &png, &n, pixels, f->size, f->size));
    const spot_status s = keep_file(c, path, png, n, &f->written);
    free(png);
    return s;
}

/* The depth as .npy, float32 (size, size). */
static spot_status keep_depth(spot_ctx *c, spot_render_files *f, const char *file, const float *depth)
{
    const size_t n = (size_t)f->size * (size_t)f->size * sizeof *depth;
    const int dim[2] = { f->size, f->size };
    char path[PATH], *bytes = malloc(SPOT_NPY_START + n);
    spot_status s;

    if (!bytes) return spot_fail(c, SPOT_NOMEM, "no memory for a depth of %d x %d pixels", f->size, f->size);
    snprintf(path, sizeof path, "%s/%s", f->dir, file);
    spot_npy_start(bytes, "<f4", dim, 2);
    memcpy(bytes + SPOT_NPY_START, depth, n);
    s = keep_file(c, path, bytes, SPOT_NPY_START + n, &f->written);
    free(bytes);
    return s;
}

enum { PLAIN = 9 };                /* digits, so that 30 is not written as 3e+01 */

static void put_line(spot_render_files *f, const spot_render_file *one, char file[3][256])
{
    FILE *to = spot_text_stream(&f->lines);
    char digits[32];

    if (!to) return;
    spot_csv_field(to, file[0]);
    for (int k = 1; k < 3; k++)
        if (file[k][0]) fputc(',', to), spot_csv_field(to, file[k]);
    fputc(',', to), spot_csv_field(to, f->cls_name);
    fputc(',', to), spot_csv_field(to, f->id);
    fprintf(to, ",%d,%s", one->valid, spot_digits(digits, one->area, PLAIN));
    for (int k = 0; k < SPOT_FACTORS; k++) fprintf(to, ",%s", spot_digits(digits, (double)one->at->value[k], PLAIN));
    fputc('\n', to);
    if (fclose(to)) f->lines.status = SPOT_NOMEM;
}

spot_status spot_render_files_add(spot_ctx *c, spot_render_files *f, const spot_render_file *one)
{
    char file[3][256] = { "", "", "" };

    snprintf(file[0], sizeof file[0], "images/%s/%s-%06d.png", f->cls, f->stem, one->number);
    SPOT_TRY(keep_picture(c, f, file[0], one->rgb, false));
    if (f->masks) {
        snprintf(file[1], sizeof file[1], "masks/%s/%s-%06d.png", f->cls, f->stem, one->number);
        SPOT_TRY(keep_picture(c, f, file[1], one->mask, true));
    }
    if (f->depth) {
        snprintf(file[2], sizeof file[2], "depth/%s/%s-%06d.npy", f->cls, f->stem, one->number);
        SPOT_TRY(keep_depth(c, f, file[2], one->depth));
    }
    put_line(f, one, file);
    return SPOT_OK;
}

spot_status spot_render_files_end(spot_ctx *c, spot_render_files *f)
{
    char path[PATH];
    int written = 0;

    if (f->lines.status) return spot_fail(c, f->lines.status, "no memory for the conditions of the renders");
    snprintf(path, sizeof path, "%s/conditions.csv", f->dir);
    return keep_file(c, path, f->lines.bytes, f->lines.used, &written);
}
