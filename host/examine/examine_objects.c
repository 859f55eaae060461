/* examine_objects.c - see examine_objects.h. */
#define _POSIX_C_SOURCE 200809L
#include "examine/examine_objects.h"

#include <stdlib.h>
#include <string.h>

/* ---- classes ---- */

static spot_status name_classes(spot_ctx *c, spot_examine_config *cfg, const spot_catalogue *list)
{
    if (cfg->classes) return SPOT_OK;
    if (list->classes > SPOT_MAX_CATALOGUE_CLASSES)
        return spot_fail(c, SPOT_USAGE, "%s has %d classes; at most %d can be examined together: list them as classes of the "
                         "config", cfg->objects.catalogue, list->classes, SPOT_MAX_CATALOGUE_CLASSES);
    cfg->cls = spot_memory_take(&cfg->memory, ((size_t)list->classes + 1) * sizeof *cfg->cls);
    if (!cfg->cls) return spot_fail(c, SPOT_NOMEM, "no memory for the classes of a config");
    for (int k = 0; k < list->classes; k++) {
        cfg->cls[k] = (spot_catalogue_class){ "", "", "", "", "", "", 0, 0 };
        cfg->cls[k].name = spot_memory_text(&cfg->memory, list->cls[k]);
        if (!cfg->cls[k].name) return spot_fail(c, SPOT_NOMEM, "no memory for the classes of a config");
    }
    cfg->classes = list->classes;
    return SPOT_OK;
}

static spot_status count_classes(spot_ctx *c, spot_examine_objects_list *o)
{
    const spot_catalogue *list = &o->list;
    const int need = o->cfg->objects.per_class;

    if (list->classes < 2)
        return spot_fail(c, SPOT_INPUT, "%s has %d class of models; a classifier needs two or more", o->cfg->objects.catalogue,
                         list->classes);
    for (int i = 0; i < list->entries; i++) o->first[list->entry[i].cls + 1]++;
    for (int k = 0; k < list->classes; k++) {
        const int n = o->first[k + 1];
        o->held[k] = (int)(o->cfg->objects.held_out * n);
        o->first[k + 1] += o->first[k];
        if (o->cfg->objects.choice != SPOT_OBJECTS_TRAINED && o->held[k] < need)
            return spot_fail(c, SPOT_USAGE, "{objects.held_out} %d objects of each class are examined, and %d of the %d of "
                             "class \"%s\" are held out; change objects.per_class, objects.held_out or objects.choice", need,
                             o->held[k], n, list->cls[k]);
        for (int m = 0; m < o->cfg->models && o->cfg->objects.choice == SPOT_OBJECTS_TRAINED; m++) {
            int from, learned;
            spot_examine_learned(o, &o->cfg->model[m], k, &from, &learned);
            if (learned < need)
                return spot_fail(c, SPOT_USAGE, "%d objects of each class are examined, and the model \"%s\" learns %d of "
                                 "class \"%s\"; change objects.per_class, objects.held_out or models[].objects", need,
                                 o->cfg->model[m].name, learned, list->cls[k]);
        }
    }
    return SPOT_OK;
}

spot_status spot_examine_objects_list_all(spot_ctx *c, spot_examine_objects_list *o, spot_examine_config *cfg)
{
    *o = (spot_examine_objects_list){ .cfg = cfg };
    SPOT_TRY(spot_catalogue_read(c, &o->list, cfg->objects.catalogue, cfg->cls, cfg->classes));
    SPOT_TRY(name_classes(c, cfg, &o->list));
    o->first = calloc((size_t)o->list.classes + 2, sizeof *o->first);
    o->held = calloc((size_t)o->list.classes + 1, sizeof *o->held);
    o->mesh = calloc((size_t)o->list.entries + 1, sizeof(spot_render_mesh *));
    o->hash = calloc((size_t)o->list.entries + 1, sizeof *o->hash);
    o->words = calloc((size_t)o->list.entries + 1, sizeof *o->words);
    o->warned = calloc((size_t)o->list.entries + 1, sizeof *o->warned);
    if (!o->first || !o->held || !o->mesh || !o->hash || !o->words || !o->warned)
        return spot_fail(c, SPOT_NOMEM, "no memory for %d objects", o->list.entries);
    return SPOT_OK;
}

spot_status spot_examine_objects_open(spot_ctx *c, spot_examine_objects_list *o, spot_examine_config *cfg)
{
    SPOT_TRY(spot_examine_objects_list_all(c, o, cfg));
    return count_classes(c, o);
}

void spot_examine_meshes_drop(spot_ctx *c, spot_examine_objects_list *o)
{
    for (int i = 0; o->mesh && i < o->list.entries; i++) {
        spot_render_give(c, o->mesh[i]);
        o->mesh[i] = NULL;
    }
}

void spot_examine_objects_close(spot_ctx *c, spot_examine_objects_list *o)
{
    spot_examine_meshes_drop(c, o);
    spot_mesh_files_close(o->files);
    spot_catalogue_close(&o->list);
    for (int i = 0; o->words && i < o->list.entries; i++) free(o->words[i]);
    free(o->first), free(o->held), free(o->mesh), free(o->hash), free(o->words), free(o->warned);
    *o = (spot_examine_objects_list){ 0 };
}

/* ---- entries ---- */

uint32_t spot_examine_number(const char *id) { return (uint32_t)spot_key_of(id, strlen(id)).lo; }

int spot_examine_find(const spot_examine_objects_list *o, const char *id)
{
    for (int i = 0; i < o->list.entries; i++)
        if (!strcmp(o->list.entry[i].id, id)) return i;
    return -1;
}

void spot_examine_learned(const spot_examine_objects_list *o, const spot_examine_model *m, int k, int *from, int *n)
{
    *from = o->first[k] + o->held[k];
    *n = o->first[k + 1] - *from;
    if (m->objects && m->objects < *n) *n = m->objects;
}

/* ---- meshes ---- */

static spot_status open_files(spot_ctx *c, spot_examine_objects_list *o, const char *archive)
{
    if (o->archive && !strcmp(o->archive, archive)) return SPOT_OK;
    spot_mesh_files_close(o->files);
    o->files = NULL, o->archive = NULL;
    SPOT_TRY(spot_mesh_files_open(c, &o->files, archive));
    o->archive = archive;
    return SPOT_OK;
}

/* Keeps the words about a mesh. */
static spot_status note_repairs(spot_ctx *c, spot_examine_objects_list *o, int entry, const spot_mesh_repairs *r)
{
    char words[SPOT_MESH_WORDS];

    if (o->words[entry] || !*spot_mesh_repairs_say(words, r)) return SPOT_OK;
    o->words[entry] = strdup(words);
    if (!o->words[entry]) return spot_fail(c, SPOT_NOMEM, "no memory for the words of an object");
    return SPOT_OK;
}

void spot_examine_warn_of_mesh(spot_ctx *c, spot_examine_objects_list *o, int entry)
{
    if (!o->words[entry] || o->warned[entry]) return;
    o->warned[entry] = true;
    spot_log(c, SPOT_LOG_WARN, "the object %s is not drawn as its file says: %s", o->list.entry[entry].id, o->words[entry]);
}

bool spot_examine_may_leave(const spot_ctx *c, spot_status s)
{
    return s == SPOT_INPUT && strcmp(spot_failure_id(c), "mesh.too_slow") != 0;
}

spot_status spot_examine_mesh(spot_ctx *c, spot_examine_objects_list *o, int entry)
{
    const spot_catalogue_entry *e = &o->list.entry[entry];
    spot_mesh_options how = spot_mesh_defaults();
    spot_mesh m = { 0 };
    spot_status s;

    if (o->mesh[entry]) return SPOT_OK;
    SPOT_TRY(spot_check_stop(c));
    how.crease = o->cfg->objects.crease;
    how.z_up = e->z_up || o->cfg->objects.up;
    memcpy(how.turn, e->turn, sizeof how.turn);
    SPOT_TRY(open_files(c, o, e->archive));
    s = spot_mesh_read(c, &m, o->files, e->file, &how);
    if (s == SPOT_OK) s = spot_render_take(c, &o->mesh[entry], &m);
    if (s == SPOT_OK) memcpy(o->hash[entry], m.hash, sizeof o->hash[entry]);
    if (s == SPOT_OK) s = note_repairs(c, o, entry, &m.repairs);
    spot_mesh_close(&m);
    return s;
}
