/* gallery.c - lists pictures from folders, from COCO's annotations, or from an array of ids. */
#define _DEFAULT_SOURCE
#include "discover/describe/gallery.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/same_id.h"
#include "discover/subject/subject_memory.h"
#include "formats/coco.h"

static spot_status from_folders(spot_ctx *c, spot_subject *s, const char *root)
{
    spot_folder f;
    spot_status kept;

    SPOT_TRY(spot_folder_list(c, &f, root));
    *s = (spot_subject){ .n = f.n, .classes = f.classes, .target = f.cls, .class_name = f.class_name, .id = f.path,
                         .owned = s->owned };
    kept = spot_subject_keep(c, s, f.owned[0]);
    SPOT_TRY(spot_subject_keep(c, s, f.owned[1]));
    spot_folder_log_others(c, &f, root);
    return kept;
}

/* The names stay where they are and are pointed at. */
static spot_status from_annotations(spot_ctx *c, spot_subject *s, spot_coco *k, const char *file)
{
    void *names = k->owned;

    k->owned = NULL;
    SPOT_TRY(spot_subject_keep(c, s, names));
    if (!k->images || !k->categories)
        return spot_fail(c, SPOT_INPUT, "%s has %d images and %d categories: nothing to look at", file, k->images,
                         k->categories);
    s->n = k->images;
    s->classes = k->categories;
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, s->id, s->n));
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, s->class_name, s->classes));
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, s->has, (size_t)s->n * (size_t)s->classes));
    for (int i = 0; i < s->n; i++) s->id[i] = k->image[i].file;
    for (int i = 0; i < s->classes; i++) s->class_name[i] = k->category[i].name;
    for (int b = 0; b < k->boxes; b++) s->has[(size_t)k->box[b].image * (size_t)s->classes + (size_t)k->box[b].category] = 1;
    return SPOT_OK;
}

static spot_status from_coco(spot_ctx *c, spot_subject *s, const char *file)
{
    spot_coco k;
    spot_status status;

    SPOT_TRY(spot_coco_open(c, &k, file));
    status = from_annotations(c, s, &k, file);
    spot_coco_close(&k);
    return status;
}

/* The name of row i's picture, which ends at *n: "picture.jpg#17" is a part of picture.jpg. */
static const char *picture_of(const spot_subject *s, int i, size_t *n)
{
    const char *number = s->box ? strrchr(s->id[i], '#') : NULL;

    *n = number ? (size_t)(number - s->id[i]) : strlen(s->id[i]);
    return s->id[i];
}

static bool exists(const char *path) { return !access(path, F_OK); }

/* A file that is not there may have the name in another form, as files from a Mac do. *found counts. text: room for a path. */
static spot_status try_forms(spot_ctx *c, char *text, const char *name, const char *folder, size_t room, int *found)
{
    spot_text other = { 0 };

    for (int form = 0; form < SPOT_ID_FORMS && !exists(text); form++) {
        char path[PATH_MAX];
        spot_id_plain(&other, name, form);
        if (other.status) break;
        if (strlen(folder) + other.used + 1 > room || spot_name_leads_out(other.bytes)
            || snprintf(path, sizeof path, "%s/%s", folder, other.bytes) >= (int)sizeof path || !exists(path)) continue;
        strcpy(text, path);
        ++*found;
    }
    spot_text_free(&other);
    return other.status ? spot_fail(c, SPOT_NOMEM, "no memory for the name %.300s", name) : SPOT_OK;
}

/* Bytes for the path of row i. An accent takes up to three times the bytes in another normal form. */
static size_t path_room(const spot_subject *s, int i, size_t front)
{
    size_t n;

    picture_of(s, i, &n);
    return front + (spot_id_is_plain(s->id[i]) ? n : 3 * n) + 2;
}

/* Fills s->image; text has the room for it. */
static spot_status fill_paths(spot_ctx *c, spot_subject *s, const spot_list_folder *in, char *text)
{
    const char *folder = in->path;
    int found = 0;

    for (int i = 0; i < s->n; i++) {
        size_t n;
        const char *name = picture_of(s, i, &n);
        const size_t room = path_room(s, i, strlen(folder));
        s->image[i] = text;
        sprintf(text, "%s/%.*s", folder, (int)n, name);
        if (!spot_id_is_plain(s->id[i]) && !spot_name_leads_out(s->id[i]))
            SPOT_TRY(try_forms(c, text, text + strlen(folder) + 1, folder, room, &found));
        SPOT_TRY(spot_list_folder_check(c, in, i, text + strlen(folder) + 1, "--follow-links"));
        text += room;
    }
    if (found)
        spot_log(c, SPOT_LOG_INFO, "%s: %d pictures are found though their names differ from the ids by \"./\" in front, "
                 "blanks at the ends or Unicode's normal form", folder, found);
    return SPOT_OK;
}

spot_status spot_gallery_paths(spot_ctx *c, spot_subject *s, const char *folder, bool links)
{
    size_t bytes = 0;
    spot_list_folder in = { 0 };
    spot_status status;

    for (int i = 0; i < s->n; i++) bytes += path_room(s, i, strlen(folder));
    status = spot_subject_take(c, s, &s->image, (size_t)s->n * sizeof *s->image + bytes);
    if (!status && !links && !exists(folder))
        status = spot_fail(c, SPOT_IO, "{file.unopened} cannot open %s: %s", folder, strerror(errno));
    if (!status) status = spot_list_folder_open(c, &in, folder, links);
    if (!status) status = fill_paths(c, s, &in, (char *)(s->image + s->n));
    spot_list_folder_close(&in);
    return status;
}

spot_status spot_gallery_open(spot_ctx *c, spot_subject *s, const spot_subject_files *files)
{
    bool labelled = s->target || s->has;

    if (!files->images)
        return spot_fail(c, SPOT_USAGE, "nothing to examine: give embeddings, or a folder of pictures and a network (images, "
                         "model)");
    if (!files->model)
        return spot_fail(c, SPOT_USAGE, "{look.nobody} %s: who is to look at the pictures? give a network (model), or "
                         "embeddings", files->images);
    if (labelled && files->coco)
        return spot_fail(c, SPOT_USAGE, "labels of pictures are in %s and in %s; give one of both", files->coco, files->labels);
    if (!labelled && files->coco) SPOT_TRY(from_coco(c, s, files->coco));
    else if (!labelled) SPOT_TRY(from_folders(c, s, files->images));
    return spot_gallery_paths(c, s, files->images, files->links || (!labelled && !files->coco));   /* a folder names itself */
}
