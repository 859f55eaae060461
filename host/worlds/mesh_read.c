/* mesh_read.c - a model file -> a mesh: starts spotter-mesh, gives it the files that it asks for, takes its triangles. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/program.h"
#include "base/quote.h"
#include "core/beside.h"
#include "worlds/mesh_answer.h"
#include "worlds/mesh_parts.h"

enum { LONGEST_PATH = 1000 };              /* that spot_quote takes */
#define GRACE 0.2

typedef struct {
    spot_program *program;
    spot_mesh_files *f;
    const char *model;                     /* its name in f */
    spot_mesh_file first;                  /* the model's own bytes */
    const spot_mesh_options *o;
    double until;
    spot_mesh_repairs repairs;             /* of the files that the parser asks for */
    bool lacks_materials;                  /* the last file of materials that it asked for is not there */
} reading;

/* -- the program ---------------------------------------------------------------------------------------------------------- */

static spot_status start_parser(spot_ctx *c, reading *r)
{
    static const char *const folder[] = { "", "/../bin", "/../../bin" };
    char path[PATH_MAX + 64], command[sizeof(spot_quoted) + 8];
    spot_quoted quoted;

    spot_path_beside(path, sizeof path, "SPOT_PARSER_DIR", folder, 3, "spotter-mesh");
    if (access(path, X_OK))
        return spot_fail(c, SPOT_IO, "{mesh.no_parser} the program that reads models is not there: %.500s; build or install "
                         "it, or name its folder with SPOT_PARSER_DIR", path);
    if (strlen(path) >= LONGEST_PATH) return spot_fail(c, SPOT_IO, "the path of spotter-mesh has %zu bytes", strlen(path));
    snprintf(command, sizeof command, "exec %s", spot_quote(quoted, path));
    return spot_program_start(c, &r->program, command);
}

static const char *base_name(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? slash + 1 : name;
}

static spot_status greet(spot_ctx *c, reading *r)
{
    const char *name = base_name(r->model);
    const spot_wire_start start = { SPOT_WIRE_MAGIC, r->o->memory, (uint32_t)ceil(r->o->seconds) + 1, SPOT_MESH_MOST_TRIANGLES,
                                    SPOT_WIRE_MATERIALS, (uint32_t)strlen(name) };

    spot_program_give(r->program, (spot_program_piece){ &start, sizeof start }, (spot_program_piece){ name, start.name });
    return spot_program_settle(c, r->program, r->until);
}

static spot_status give_file(spot_ctx *c, reading *r, const spot_mesh_file *f)
{
    const uint64_t size = f->bytes ? f->n : SPOT_WIRE_NO_FILE;

    spot_program_give(r->program, (spot_program_piece){ &size, sizeof size },
                      (spot_program_piece){ f->bytes, f->bytes ? f->n : 0 });
    return spot_program_settle(c, r->program, r->until);
}

/* For a file of materials that is not there the parser takes the one with the model's own name. */
static void note_materials(reading *r, const char *name, bool found)
{
    const char *dot = strrchr(name, '.'), *model = base_name(r->model);
    const bool own = dot && !strncmp(name, model, (size_t)(dot - name) + 1);

    if (!dot || strcasecmp(dot, ".mtl")) return;
    if (found && own && r->lacks_materials && !--r->repairs.lost_materials) r->repairs.lost[0] = 0;
    if (!found && !(own && r->lacks_materials)) r->repairs.lost_materials++, spot_mesh_repairs_name(&r->repairs, name);
    r->lacks_materials = !found;
}

static spot_status answer_open(spot_ctx *c, reading *r, uint32_t length)
{
    char name[SPOT_WIRE_NAME + 1];
    spot_mesh_file f;
    spot_status s;

    if (length > SPOT_WIRE_NAME) return spot_fail(c, SPOT_INPUT, "{mesh.parser_name} the parser asks for a name of %u bytes",
                                                  length);
    SPOT_TRY(spot_program_take(c, r->program, name, length, r->until));
    name[length] = 0;
    if (!strcmp(name, base_name(r->model))) return give_file(c, r, &r->first);
    SPOT_TRY(spot_mesh_file_read(c, &f, r->f, r->model, name, r->o->file));
    r->repairs.refused += f.state == SPOT_FILE_OUTSIDE;
    note_materials(r, name, f.bytes != NULL);
    s = give_file(c, r, &f);
    free(f.bytes);
    return s;
}

static spot_status take_sentence(spot_ctx *c, reading *r, uint32_t length)
{
    char text[SPOT_WIRE_SENTENCE + 1];

    if (length > SPOT_WIRE_SENTENCE) return spot_fail(c, SPOT_INPUT,
                                                      "{mesh.parser_sentence} the parser's sentence has %u bytes", length);
    SPOT_TRY(spot_program_take(c, r->program, text, length, r->until));
    text[length] = 0;
    return spot_fail(c, SPOT_INPUT, "{mesh.damaged} it cannot be read: %s", spot_plain(text));
}

static spot_status take_bytes(spot_ctx *c, void *from, void *out, size_t n)
{
    reading *r = from;

    return spot_program_take(c, r->program, out, n, r->until);
}

/* Serves files until the parser has its answer. */
static spot_status converse(spot_ctx *c, reading *r, spot_mesh_answer *a)
{
    spot_answer_source in = { take_bytes, r };
    spot_wire_frame frame;

    SPOT_TRY(greet(c, r));
    for (;;) {
        SPOT_TRY(spot_program_take(c, r->program, &frame, sizeof frame, r->until));
        if (frame.kind == SPOT_WIRE_MESH && frame.length == sizeof(spot_wire_mesh))
            return spot_mesh_answer_read(c, a, &in, r->o->file);
        if (frame.kind == SPOT_WIRE_FAIL) return take_sentence(c, r, frame.length);
        if (frame.kind != SPOT_WIRE_OPEN)
            return spot_fail(c, SPOT_INPUT, "{mesh.parser_answer} the parser's answer is rubbish: it begins with %08x %08x",
                             frame.kind, frame.length);
        SPOT_TRY(answer_open(c, r, frame.length));
    }
}

static spot_status ask_parser(spot_ctx *c, reading *r, spot_mesh_answer *a)
{
    spot_status s;

    SPOT_TRY(start_parser(c, r));
    s = converse(c, r, a);
    spot_program_end(c, r->program, s == SPOT_OK ? GRACE : 0);
    return s;
}

/* A program that is too slow has read nothing wrong: the model may be read another time. */
static spot_status fail_slow(spot_ctx *c, const reading *r)
{
    spot_forget(c);
    return spot_fail(c, SPOT_INPUT, "{mesh.too_slow} the program that reads models took longer than its limit of %g s; run the "
                     "same command again while the machine has less other work, or take a model of fewer triangles",
                     r->o->seconds);
}

/* -- the model ------------------------------------------------------------------------------------------------------------ */

static spot_status check_format(spot_ctx *c, const char *name)
{
    if (spot_mesh_is_model(name)) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{mesh.format} its format is not known; " SPOT_MESH_FORMATS " are read");
}

static spot_status read_first(spot_ctx *c, reading *r)
{
    spot_mesh_file *f = &r->first;

    SPOT_TRY(spot_mesh_file_read(c, f, r->f, "", r->model, r->o->file));
    switch (f->state) {
    case SPOT_FILE_THERE:   return SPOT_OK;
    case SPOT_FILE_OUTSIDE: return spot_fail(c, SPOT_INPUT, "{mesh.outside} the file lies outside the folder or archive");
    case SPOT_FILE_LARGE:
        return spot_fail(c, SPOT_INPUT, "{mesh.too_large} the file has %.1f MB; at most %.1f are read", (double)f->n / 1e6,
                         (double)r->o->file / 1e6);
    case SPOT_FILE_BROKEN:  return spot_fail(c, SPOT_INPUT, "%s", f->why);
    default:                return spot_fail(c, SPOT_INPUT, "{mesh.missing} there is no such file");
    }
}

/* Materials whose texture was lost keep their plain colour; the textures that are left move together. */
static int close_up(spot_mesh_answer *a, spot_mesh_texture *t)
{
    int *to = malloc(((size_t)a->textures + 1) * sizeof *to), kept = 0;

    if (!to) return -1;
    for (int i = 0; i < a->textures; i++) {
        to[i] = t[i].width ? kept : -1;
        if (t[i].width) t[kept++] = t[i];
    }
    for (int i = kept; i < a->textures; i++) t[i].texel = NULL;
    for (int i = 0; i < a->materials; i++) {
        spot_mesh_material *look = &a->look[i];
        const bool replaced = look->texture >= 0 && a->replaces && a->texture[look->texture].colour >= 0;
        if (look->texture >= 0) look->texture = to[look->texture];
        if (look->texture >= 0 && replaced) look->diffuse[0] = look->diffuse[1] = look->diffuse[2] = 1;
    }
    free(to);
    return kept;
}

static spot_status make_mesh(spot_ctx *c, spot_mesh *m, reading *r, spot_mesh_answer *a, spot_mesh_texture *t)
{
    spot_mesh_repairs *repairs = &r->repairs;
    spot_mesh_options o = *r->o;
    int textures;

    o.z_up = o.z_up && !a->upright;
    repairs->polygons = a->polygons, repairs->crossed = a->crossed, repairs->lost_corners = a->lost;

    SPOT_TRY(spot_mesh_pictures_read(c, t, repairs, a, r->f, r->model, r->o->file));
    repairs->made_opaque = a->shown, repairs->mixed = a->mixed;
    if (!spot_mesh_is_seen(a, t)) repairs->made_opaque += spot_mesh_make_opaque(a, t);
    textures = close_up(a, t);
    if (textures < 0) return spot_fail(c, SPOT_NOMEM, "no memory for %d textures", a->textures);
    SPOT_TRY(spot_mesh_build(c, m, &(spot_mesh_triangles){ a->triangles, a->materials, textures, a->place, a->normal,
                             textures ? a->coordinate : NULL, a->colour, a->material, a->look, t }, &o, "it"));
    repairs->flat = m->repairs.flat, repairs->not_finite = m->repairs.not_finite;
    repairs->made_normals = m->repairs.made_normals;
    m->repairs = *repairs;
    return SPOT_OK;
}

static bool is_gltf(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && (!strcasecmp(dot, ".gltf") || !strcasecmp(dot, ".glb"));
}

static spot_status read_model(spot_ctx *c, spot_mesh *m, reading *r)
{
    spot_mesh_answer a = { 0 };
    spot_mesh_texture *t = NULL;
    spot_status s;

    SPOT_TRY(check_format(c, r->model));
    s = read_first(c, r);
    if (s == SPOT_OK && is_gltf(r->model)) s = spot_mesh_gltf_check(c, r->first.bytes, r->first.n);
    if (s == SPOT_OK) s = ask_parser(c, r, &a);
    if (s == SPOT_OK && !(t = calloc((size_t)a.textures + 1, sizeof *t)))
        s = spot_fail(c, SPOT_NOMEM, "no memory for %d textures", a.textures);
    if (s == SPOT_OK) s = make_mesh(c, m, r, &a, t);
    for (int i = 0; t && i < a.textures; i++) free(t[i].texel);
    free(t);
    spot_mesh_answer_close(&a);
    free(r->first.bytes);
    return s;
}

spot_status spot_mesh_read(spot_ctx *c, spot_mesh *m, spot_mesh_files *f, const char *name, const spot_mesh_options *o)
{
    const spot_mesh_options usual = spot_mesh_defaults();
    reading r = { .f = f, .model = name, .o = o ? o : &usual };
    char plain[300];
    spot_status s;

    memset(m, 0, sizeof *m);
    if (!(r.o->seconds > 0 && r.o->seconds <= 1e6))
        return spot_fail(c, SPOT_INVALID, "{mesh.parser_seconds} a parser of models with %g seconds; more than 0 and at most "
                         "1e6 are possible", r.o->seconds);
    r.until = spot_clock() + r.o->seconds;
    s = read_model(c, m, &r);
    if (s == SPOT_OK || s == SPOT_STOPPED) return s;
    if (!strcmp(spot_failure_id(c), "program.too_slow")) s = fail_slow(c, &r);
    snprintf(plain, sizeof plain, "%s", name);
    return spot_fail(c, s, "the model %s of %.200s: %.480s", spot_plain(plain), spot_mesh_files_path(f),
                     spot_take_message(c, s));
}
