/* used.c - the pictures that any task uses: their paths, their hash, their memory. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/folder.h"
#include "worlds/pictures.h"

static int file_with(const spot_photos *p, uint32_t picture)
{
    int f = 0;

    while ((int)picture >= p->first[f + 1]) f++;
    return f;
}

static const spot_coco_image *image_of(const spot_photos *p, uint32_t picture)
{
    int f = file_with(p, picture);

    return &p->coco[f].image[(int)picture - p->first[f]];
}

/* The picture's path below its folder. */
static const char *name_of(const spot_photos *p, uint32_t picture) { return image_of(p, picture)->file; }

void spot_photo_path(const spot_photos *p, uint32_t picture, char path[SPOT_PHOTO_PATH])
{
    snprintf(path, SPOT_PHOTO_PATH, "%s/%s", p->folder[file_with(p, picture)], name_of(p, picture));
}

static void list_used(spot_photos *p)
{
    for (int i = 0; i < p->pictures; i++) p->row[i] = -1;
    for (int t = 0; t < p->tasks; t++)
        for (int k = 0; k < SPOT_SPLITS; k++)
            for (int i = 0; i < p->task[t].images[k]; i++) p->row[p->task[t].picture[k][i]] = 0;
    p->used = 0;
    for (int i = 0; i < p->pictures; i++)
        if (!p->row[i]) {
            p->row[i] = p->used;
            p->use[p->used++] = (uint32_t)i;
        }
}

/* Hashes names, categories and file sizes of all used pictures, and their splits where a file says them; all files must
 * exist. */
static spot_status hash_used(spot_ctx *c, spot_photos *p)
{
    XXH3_state_t *h = XXH3_createState();
    char path[SPOT_PHOTO_PATH], missing[SPOT_PHOTO_PATH] = "";
    XXH128_hash_t all;
    int gone = 0;

    if (!h) return spot_fail(c, SPOT_NOMEM, "no memory to read data.coco");
    XXH3_128bits_reset(h);
    for (int k = 0; k < p->categories; k++) {
        const spot_coco_category *of = &p->coco[0].category[k];
        XXH3_128bits_update(h, of->name, strlen(of->name) + 1);
        XXH3_128bits_update(h, of->super, strlen(of->super) + 1);
    }
    for (int r = 0; r < p->used; r++) {
        const uint32_t picture = p->use[r];
        struct stat st;
        int64_t size;
        spot_photo_path(p, picture, path);
        if (stat(path, &st) || !S_ISREG(st.st_mode)) {
            if (!gone++) snprintf(missing, sizeof missing, "%s", path);
            continue;
        }
        size = st.st_size;
        XXH3_128bits_update(h, name_of(p, picture), strlen(name_of(p, picture)) + 1);
        XXH3_128bits_update(h, &size, sizeof size);
        XXH3_128bits_update(h, p->shows + (size_t)picture * (size_t)p->words, (size_t)p->words * sizeof *p->shows);
        if (p->cfg.splits == SPOT_SPLITS_BY_FILE)
            XXH3_128bits_update(h, image_of(p, picture)->split, strlen(image_of(p, picture)->split) + 1);
    }
    all = XXH3_128bits_digest(h);
    XXH3_freeState(h);
    snprintf(p->hash, sizeof p->hash, "%016llx%016llx", (unsigned long long)all.high64, (unsigned long long)all.low64);
    if (!gone) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{pictures.missing} %d of %d pictures are not there, the first is %.600s; is data.images "
                     "the right folder?", gone, p->used, missing);
}

/* The names come from files that may be a stranger's. */
static spot_status check_names(spot_ctx *c, const spot_photos *p)
{
    spot_status s = SPOT_OK;

    for (int f = 0, r = 0; f < p->files && s == SPOT_OK; f++) {
        spot_list_folder of;
        s = spot_list_folder_open(c, &of, p->folder[f], p->cfg.follow_links);
        for (; r < p->used && file_with(p, p->use[r]) == f && s == SPOT_OK; r++)
            s = spot_list_folder_check(c, &of, (int)p->use[r] - p->first[f], name_of(p, p->use[r]), "data.follow_links");
        spot_list_folder_close(&of);
    }
    return s;
}

spot_status spot_photos_use(spot_ctx *c, spot_photos *p)
{
    list_used(p);
    SPOT_TRY(check_names(c, p));
    return hash_used(c, p);
}

size_t spot_photos_bytes(const spot_photos *p)
{
    size_t bytes = sizeof *p + p->arena.size + (size_t)p->used * sizeof *p->checksum;

    for (int f = 0; f < p->files; f++) {
        const spot_coco *k = &p->coco[f];
        bytes += (size_t)k->images * (sizeof *k->image + sizeof *k->first) + (size_t)k->boxes * sizeof *k->box;
        for (int i = 0; i < k->images; i++) bytes += strlen(k->image[i].file) + 1;
    }
    return bytes;
}

int         spot_photos_count(const spot_photos *p) { return p->used; }
const char *spot_photos_hash(const spot_photos *p)  { return p->hash; }
