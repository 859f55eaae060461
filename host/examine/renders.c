/* renders.c - the files of `spotter render`: objects in the order of the catalogue, one mesh in memory at a time. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "core/device.h"
#include "examine/examine_draw.h"
#include "examine/render_files.h"
#include "examine/render_points.h"
#include "spotter/array.h"
#include "store/store.h"

enum { MOST = 100000000 };             /* renders */

struct spot_renders {
    spot_examine_config cfg;           /* a copy: with the classes of the catalogue */
    bool owns_memory;                  /* the copy's; else it is the caller's */
    spot_renders_job job;
    spot_renders_report about;
    spot_examine_objects_list objects;
    spot_examine_backgrounds pictures;
    spot_examine_drawer drawer;
    spot_render_points points;
    int *entry;                        /* (about.objects) */
    uint8_t *rgb, *mask;               /* on the host: (most, size, size, 3), (most, size, size) ... */
    float *depth;                      /* ... */
    spot_examine_shot *shot;           /* (most) */
    char key[33];
};

/* ---- what is drawn ---- */

static bool is_listed(const char *const *list, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(list[i], word)) return true;
    return !n;
}

static spot_status check_names(spot_ctx *c, const spot_renders *r)
{
    const spot_catalogue *k = &r->objects.list;

    for (int i = 0; i < r->job.objects; i++)
        if (spot_examine_find(&r->objects, r->job.object[i]) < 0)
            return spot_fail(c, SPOT_USAGE, "{renders.object} %s has no object \"%.200s\"; an id is such as \"%.200s\"",
                             r->cfg.objects.catalogue, r->job.object[i], k->entries ? k->entry[0].id : "");
    for (int i = 0; i < r->job.classes; i++) {
        int at = 0;
        while (at < k->classes && strcmp(k->cls[at], r->job.cls[i])) at++;
        if (at == k->classes)
            return spot_fail(c, SPOT_USAGE, "{renders.class} %s has no class \"%.80s\"; one is \"%s\"",
                             r->cfg.objects.catalogue, r->job.cls[i], k->classes ? k->cls[0] : "");
    }
    return SPOT_OK;
}

/* Chooses the objects, and counts the renders. */
static spot_status list_objects(spot_ctx *c, spot_renders *r)
{
    const spot_catalogue *k = &r->objects.list;
    double renders = 0;

    SPOT_TRY(check_names(c, r));
    r->entry = malloc(((size_t)k->entries + 1) * sizeof *r->entry);
    if (!r->entry) return spot_fail(c, SPOT_NOMEM, "no memory for %d objects", k->entries);
    for (int i = 0; i < k->entries; i++) {
        if (!is_listed(r->job.object, r->job.objects, k->entry[i].id)
            || !is_listed(r->job.cls, r->job.classes, k->cls[k->entry[i].cls]))
            continue;
        const double n = spot_render_points_begin(&r->points, i) * r->job.number;
        if (n > 0) r->entry[r->about.objects++] = i;
        renders += n;
    }
    if (!(renders > 0 && renders <= MOST))
        return spot_fail(c, SPOT_USAGE, "{renders.number} %.0f renders of %d objects are asked for; from 1 to %d are drawn",
                         renders, r->about.objects, MOST);
    r->about.renders = (int)renders;
    return SPOT_OK;
}

/* ---- open and close ---- */

/* Twice the pixels of a batch, where they are drawn and on the host; for each thread a depth and a triangle of each sample. */
static void state_cost(const spot_ctx *c, spot_renders *r)
{
    const double pixels = (double)r->cfg.render.size * r->cfg.render.size, each = 3 + r->job.masks + 4 * r->job.depth;
    const double samples = pixels * r->cfg.render.samples * r->cfg.render.samples;

    r->about.memory = 2 * pixels * each * r->drawer.most + 8 * samples * c->threads
                    + (double)r->points.rows * sizeof *r->points.row;
    r->about.disk = r->about.renders * (pixels * each + 1024.0 * (1 + r->job.masks + r->job.depth));
}

static spot_status take_rooms(spot_ctx *c, spot_renders *r)
{
    const size_t most = (size_t)r->drawer.most, pixels = most * (size_t)r->cfg.render.size * (size_t)r->cfg.render.size;

    r->rgb = malloc(3 * pixels);
    r->mask = r->job.masks ? malloc(pixels) : NULL;
    r->depth = r->job.depth ? malloc(pixels * sizeof *r->depth) : NULL;
    r->shot = malloc(most * sizeof *r->shot);
    return r->rgb && r->shot && (r->mask || !r->job.masks) && (r->depth || !r->job.depth) ? SPOT_OK
         : spot_fail(c, SPOT_NOMEM, "no memory for %d renders", r->drawer.most);
}

static spot_status open_all(spot_ctx *c, spot_renders *r)
{
    SPOT_TRY(spot_examine_objects_list_all(c, &r->objects, &r->cfg));
    SPOT_TRY(spot_render_points_open(c, &r->points, &r->objects, r->job.factors, r->job.table));
    SPOT_TRY(list_objects(c, r));
    SPOT_TRY(spot_examine_backgrounds_open(c, &r->pictures, &r->cfg));
    const int batch = c->device ? SPOT_EXAMINE_DEVICE_BATCH : SPOT_EXAMINE_BATCH;
    SPOT_TRY(spot_examine_drawer_open(c, &r->drawer, &r->objects, &r->pictures,
                                      batch < r->about.renders ? batch : r->about.renders));
    SPOT_TRY(spot_examine_drawer_shapes(c, &r->drawer, r->job.masks, r->job.depth));
    state_cost(c, r);
    return take_rooms(c, r);
}

spot_status spot_renders_open(spot_ctx *c, spot_renders **out, const spot_examine_config *cfg, const spot_renders_job *job)
{
    spot_renders *r = calloc(1, sizeof *r);

    *out = r;
    if (!r) return spot_fail(c, SPOT_NOMEM, "no memory for renders");
    r->cfg = *cfg, r->job = *job;
    r->owns_memory = !cfg->memory;
    if (job->number < 1) return spot_fail(c, SPOT_INVALID, "%d renders of each point; from 1 on", job->number);
    return open_all(c, r);
}

const spot_renders_report *spot_renders_about(const spot_renders *r) { return &r->about; }

void spot_renders_close(spot_ctx *c, spot_renders *r)
{
    if (!r) return;
    spot_examine_drawer_close(&r->drawer);
    spot_render_points_close(&r->points);
    spot_examine_backgrounds_close(&r->pictures);
    spot_examine_objects_close(c, &r->objects);
    if (r->owns_memory) spot_memory_close(&r->cfg.memory);
    free(r->entry), free(r->rgb), free(r->mask), free(r->depth), free(r->shot);
    free(r);
}

/* ---- the run ---- */

/* Everything that the files depend on, but for the bytes of the meshes, which are read one after another. */
static void make_key(spot_renders *r)
{
    const int form[] = { r->job.number, r->job.masks, r->job.depth, r->about.renders };
    char config[33];

    spot_key_text(config, spot_examine_key(&r->cfg));
    spot_key k = spot_key_join(spot_key_of(config, sizeof config), "form", form, sizeof form);
    k = spot_key_join(k, "factors", r->job.factors, strlen(r->job.factors));
    k = spot_key_join(k, "table", r->points.row, (size_t)r->points.rows * sizeof *r->points.row);
    k = spot_key_join(k, "backgrounds", r->pictures.hash, strlen(r->pictures.hash));
    for (int i = 0; i < r->about.objects; i++) {
        const char *id = r->objects.list.entry[r->entry[i]].id;
        k = spot_key_join(k, "object", id, strlen(id));
    }
    spot_key_text(r->key, k);
}

static spot_status draw_some(spot_ctx *c, spot_renders *r, int n)
{
    const size_t pixels = (size_t)n * (size_t)r->cfg.render.size * (size_t)r->cfg.render.size;

    SPOT_TRY(spot_examine_draw(c, &r->drawer, r->shot, n));
    SPOT_TRY(spot_device_copy(c, r->rgb, r->drawer.rgb, 3 * pixels));
    if (r->mask) SPOT_TRY(spot_device_copy(c, r->mask, r->drawer.mask, pixels));
    return r->depth ? spot_device_copy(c, r->depth, r->drawer.depth, pixels * sizeof *r->depth) : SPOT_OK;
}

static spot_status write_some(spot_ctx *c, spot_renders *r, spot_render_files *f, int from, int n)
{
    const size_t pixels = (size_t)r->cfg.render.size * (size_t)r->cfg.render.size;

    for (int i = 0; i < n; i++) {
        const spot_shot_facts *seen = &r->drawer.seen[i];
        const spot_render_file one = {
            .number = from + i, .rgb = r->rgb + 3 * pixels * (size_t)i, .mask = r->mask ? r->mask + pixels * (size_t)i : NULL,
            .depth = r->depth ? r->depth + pixels * (size_t)i : NULL, .at = &r->shot[i].at, .area = (double)seen->area,
            .valid = spot_examine_is_valid(&r->cfg.valid, seen),
        };
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_render_files_add(c, f, &one));
        r->about.valid += one.valid;
    }
    return SPOT_OK;
}

static spot_status render_object(spot_ctx *c, spot_renders *r, spot_render_files *f, int entry, double done)
{
    const spot_catalogue_entry *e = &r->objects.list.entry[entry];
    const uint32_t number = spot_examine_number(e->id);
    const int renders = (int)(spot_render_points_begin(&r->points, entry) * r->job.number), most = r->drawer.most;

    SPOT_TRY(spot_render_files_object(c, f, r->objects.list.cls[e->cls], e->id, number));
    for (int from = 0; from < renders; from += most) {
        const int n = renders - from < most ? renders - from : most;
        for (int i = 0; i < n; i++)
            r->shot[i] = (spot_examine_shot){ entry, number,
                                              spot_render_points_at(&r->points, &r->cfg, number, from + i, r->job.number) };
        SPOT_TRY(draw_some(c, r, n));
        SPOT_TRY(write_some(c, r, f, from, n));
        spot_tell(c, "render", -1, done + from + n, r->about.renders, e->name);
    }
    return SPOT_OK;
}

static spot_status render_all(spot_ctx *c, spot_renders *r, spot_render_files *f)
{
    double done = 0;

    for (int i = 0; i < r->about.objects; i++) {
        spot_status s = spot_examine_mesh(c, &r->objects, r->entry[i]);
        const double n = spot_render_points_begin(&r->points, r->entry[i]) * r->job.number;
        if (spot_examine_may_leave(c, s) && r->about.left_out + 1 < r->about.objects) {
            spot_log(c, SPOT_LOG_WARN, "%s; this object is left out", spot_take_message(c, s));
            r->about.left_out++, s = SPOT_OK;
        } else if (s == SPOT_OK)
            s = render_object(c, r, f, r->entry[i], done);
        done += n;
        spot_examine_meshes_drop(c, &r->objects);
        SPOT_TRY(s);
    }
    return SPOT_OK;
}

spot_status spot_renders_run(spot_ctx *c, spot_renders *r)
{
    spot_render_files f;
    spot_status s;

    make_key(r);
    r->about.written = r->about.valid = r->about.left_out = 0;
    s = spot_render_files_open(c, &f, r->job.out, r->key, r->cfg.render.size, r->job.masks, r->job.depth);
    if (s == SPOT_OK) s = render_all(c, r, &f);
    if (s == SPOT_OK) s = spot_render_files_end(c, &f);
    r->about.written = f.written;
    spot_render_files_close(&f);
    return s;
}
