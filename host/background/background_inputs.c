/* background_inputs.c - see background_inputs.h. */
#define _POSIX_C_SOURCE 200809L
#include "background/background_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "background/suite/outlines.h"
#include "store/contents.h"

enum { TOLD = 3 };

/* ---- paths ---- */

/* n texts "root/name", in one block: *block and the texts' array are the caller's to free. cut: the extension is replaced by
 * it. */
static spot_status join_paths(spot_ctx *c, const char ***out, const char *root, char *const *name, int n, const char *extension)
{
    size_t bytes = 0, used = strlen(root) + (extension ? strlen(extension) : 0) + 2;

    for (int i = 0; i < n; i++) bytes += strlen(name[i]) + used;
    const char **list = malloc((size_t)n * sizeof *list + bytes + 1);
    char *text = (char *)(list + n);
    if (!list) return spot_fail(c, SPOT_NOMEM, "no memory for the names of %d pictures", n);
    for (int i = 0; i < n; i++) {
        const char *dot = extension ? strrchr(name[i], '.') : NULL;
        const int keep = dot ? (int)(dot - name[i]) : (int)strlen(name[i]);
        list[i] = text;
        text += sprintf(text, "%s/%.*s%s", root, keep, name[i], extension ? extension : "") + 1;
    }
    *out = list;
    return SPOT_OK;
}

/* ---- masks ---- */

/* Neighbours in the list may share a mask, since pictures of a folder are sorted: "a.jpg", "a.png". */
static spot_status check_masks(spot_ctx *c, const spot_background_inputs *in)
{
    char names[TOLD * 200] = "";
    int missing = 0;

    for (int i = 0; i < in->pictures; i++) {
        for (int k = i + 1; k < in->pictures && in->cls[k] == in->cls[i]; k++) {
            if (!strcmp(in->mask[i], in->mask[k]))
                return spot_fail(c, SPOT_INPUT, "{masks.shared} %s and %s in %s share the mask %s; give one of the pictures "
                                 "another name", in->name[i], in->name[k], in->cfg->data.images, in->mask[i]);
            if (strncmp(in->mask[i], in->mask[k], strlen(in->mask[i]) - 4)) break;
        }
        if (!access(in->mask[i], R_OK)) continue;
        if (missing++ < TOLD)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.180s", *names ? ", " : "", in->mask[i]);
    }
    if (!missing) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{masks.missing} %d of %d pictures have no mask; these files are missing: %s%s", missing,
                     in->pictures,
                     names,
                     missing > TOLD ? ", ..." : "");
}

/* ---- lists ---- */

static spot_status list_classes(spot_ctx *c, spot_background_inputs *in)
{
    const spot_background_data *d = &in->cfg->data;

    SPOT_TRY(spot_folder_list(c, &in->list, d->images));
    spot_folder_log_others(c, &in->list, d->images);
    in->pictures = in->list.n, in->classes = in->list.classes;
    in->class_name = in->list.class_name, in->cls = in->list.cls, in->name = in->list.path;
    SPOT_TRY(join_paths(c, &in->path, d->images, in->name, in->pictures, NULL));
    in->owned[0] = in->path;
    if (!d->masks[0]) return SPOT_OK;
    SPOT_TRY(join_paths(c, &in->mask, d->masks, in->name, in->pictures, ".png"));
    in->owned[1] = in->mask;
    return check_masks(c, in);
}

/* The names come from a file that may be a stranger's. */
static spot_status check_names(spot_ctx *c, const spot_background_inputs *in)
{
    spot_list_folder of = { 0 };
    spot_status s = spot_list_folder_open(c, &of, in->cfg->data.images, in->cfg->data.follow_links);

    for (int i = 0; i < in->pictures && s == SPOT_OK; i++)
        s = spot_list_folder_check(c, &of, i, in->name[i], "--follow-links, or data.follow_links in a config,");
    spot_list_folder_close(&of);
    return s;
}

static spot_status list_outlines(spot_ctx *c, spot_background_inputs *in)
{
    const spot_background_data *d = &in->cfg->data;

    in->outlines = calloc(1, sizeof *in->outlines);
    if (!in->outlines) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", d->coco);
    SPOT_TRY(spot_outlines_open(c, in->outlines, d->coco, d->categories));
    in->pictures = in->outlines->n, in->classes = in->outlines->classes;
    in->class_name = in->outlines->class_name, in->cls = in->outlines->cls, in->name = in->outlines->name;
    SPOT_TRY(check_names(c, in));
    SPOT_TRY(join_paths(c, &in->path, d->images, in->name, in->pictures, NULL));
    in->owned[0] = in->path;
    return SPOT_OK;
}

static spot_status list_backgrounds(spot_ctx *c, spot_background_inputs *in)
{
    const spot_background_data *d = &in->cfg->data;

    SPOT_TRY(spot_folder_pictures(c, &in->back_list, d->backgrounds));
    spot_folder_log_others(c, &in->back_list, d->backgrounds);
    in->backgrounds = in->back_list.n, in->back_name = in->back_list.path;
    SPOT_TRY(join_paths(c, &in->back_path, d->backgrounds, in->back_name, in->backgrounds, NULL));
    in->owned[2] = in->back_path;
    return SPOT_OK;
}

spot_status spot_background_inputs_open(spot_ctx *c, spot_background_inputs *in, const spot_background_config *cfg)
{
    *in = (spot_background_inputs){ .cfg = cfg };
    SPOT_TRY(cfg->data.coco[0] ? list_outlines(c, in) : list_classes(c, in));
    return list_backgrounds(c, in);
}

void spot_background_inputs_close(spot_background_inputs *in)
{
    spot_squares_close(&in->picture);
    spot_squares_close(&in->background);
    spot_folder_close(&in->list);
    spot_folder_close(&in->back_list);
    if (in->outlines) spot_outlines_close(in->outlines);
    free(in->outlines);
    free(in->picture_key), free(in->back_key);
    for (int i = 0; i < 4; i++) free(in->owned[i]);
    memset(in, 0, sizeof *in);
}

/* ---- hashes ---- */

static spot_key join_names(spot_key k, const char *what, char *const *name, const spot_key *key, int n)
{
    for (int i = 0; i < n; i++) {
        char text[33];
        spot_key_text(text, key[i]);
        k = spot_key_join(k, what, name[i], strlen(name[i]));
        k = spot_key_join(k, "content", text, 32);
    }
    return k;
}

spot_status spot_background_hash(spot_ctx *c, spot_background_inputs *in, const spot_store *store)
{
    spot_key k = spot_key_of("background inputs", 17), *mask = NULL;
    spot_status s = SPOT_OK;

    in->picture_key = malloc(((size_t)in->pictures + 1) * sizeof *in->picture_key);
    in->back_key = malloc(((size_t)in->backgrounds + 1) * sizeof *in->back_key);
    mask = in->mask ? malloc(((size_t)in->pictures + 1) * sizeof *mask) : NULL;
    if (!in->picture_key || !in->back_key || (in->mask && !mask))
        return free(mask), spot_fail(c, SPOT_NOMEM, "no memory for the hashes of %d pictures", in->pictures + in->backgrounds);
    s = spot_contents_of(c, in->picture_key, NULL, in->path, in->pictures, store);
    if (s == SPOT_OK && mask) s = spot_contents_of(c, mask, NULL, in->mask, in->pictures, store);
    if (s == SPOT_OK) s = spot_contents_of(c, in->back_key, NULL, in->back_path, in->backgrounds, store);
    if (s == SPOT_OK) {
        k = join_names(k, "picture", in->name, in->picture_key, in->pictures);
        if (mask) k = join_names(k, "mask", in->name, mask, in->pictures);
        if (in->outlines) k = spot_key_join(k, "outlines", in->outlines->key, 32);
        k = join_names(k, "background", in->back_name, in->back_key, in->backgrounds);
        spot_key_text(in->key, k);
    }
    free(mask);
    return s;
}

/* ---- squares ---- */

static spot_status draw_outline(spot_ctx *c, const void *user, int i, uint8_t *plane, int width, int height)
{
    return spot_outlines_draw(c, user, i, plane, width, height);
}

spot_status spot_background_squares(spot_ctx *c, spot_background_inputs *in, size_t memory, int pictures, int backgrounds)
{
    const spot_background_data *d = &in->cfg->data;
    const spot_square_source picture = { in->pictures, d->size, d->fit, d->reading, in->path, true, in->mask,
                                         in->outlines ? draw_outline : NULL, in->outlines };
    const spot_square_source back = { in->backgrounds, d->size, d->fit, d->reading, in->back_path, false, NULL, NULL,
                                      NULL };

    SPOT_TRY(spot_squares_open(c, &in->picture, &picture, memory / 2, pictures));
    return spot_squares_open(c, &in->background, &back, memory / 2, backgrounds);
}
