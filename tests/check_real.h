/* check_real.h - real pictures for tests: tiny PNG files and their annotations in COCO's format, made by hand. */
#ifndef SPOTTER_TESTS_CHECK_REAL_H
#define SPOTTER_TESTS_CHECK_REAL_H

#include <stdlib.h>

#include "formats/png.h"
#include "worlds/pictures.h"

#include "check_sweep.h"      /* whose `root` those headers have as a local name */

/* cat, dog, cow | car, bus | person, tree; a picture is a set of their letters. */
static const char letters[] = "cdwvbpt";
static const char *const names[] = { "cat", "dog", "cow", "car", "bus", "person", "tree" };
static const char *const supers[] = { "animal", "animal", "animal", "vehicle", "vehicle", "someone", "plant" };
enum { CATEGORIES = 7 };

/* JSON of picture i's "split", "" for none; NULL: no picture has one. */
static const char *(*split_of)(int i);

/* Picture i of n shows what kind[i mod kinds] says, and half of them a person. Files are there where `files` says so. */
static inline void annotate(const char *name, const char *const *kind, int kinds, int n, bool files)
{
    unsigned char *png, rgb[12 * 8 * 3];
    char *text, line[64];
    size_t len, bytes;
    FILE *f = open_memstream(&text, &len);
    spot_ctx c = check_ctx(1);

    fprintf(f, "{\"categories\":[");
    for (int k = 0; k < CATEGORIES; k++)
        fprintf(f, "%s{\"id\":%d,\"name\":\"%s\",\"supercategory\":\"%s\"}", k ? "," : "", 90 - k, names[k], supers[k]);
    fprintf(f, "],\"images\":[");
    for (int i = 0; i < n; i++) {
        const char *split = split_of ? split_of(i) : "";
        fprintf(f, "%s{\"id\":%d,\"file_name\":\"%s-%d.png\"%s%s}", i ? "," : "", 7 * i, name, i, *split ? ",\"split\":" : "",
                split);
    }
    fprintf(f, "],\"annotations\":[");
    for (int i = 0, first = 1; i < n; i++)
        for (const char *p = kind[i % kinds]; *p; p++, first = 0)
            fprintf(f, "%s{\"image_id\":%d,\"category_id\":%d}", first ? "" : ",", 7 * i,
                    90 - (int)(strchr(letters, *p) - letters));
    fprintf(f, "]}");
    fclose(f);
    snprintf(line, sizeof line, "%s.json", name);
    put_bytes(line, text, len);
    free(text);
    for (int i = 0; files && i < n; i++) {
        for (int k = 0; k < LEN(rgb); k++) rgb[k] = (unsigned char)(k % 3 == 0 ? 250 : k % 3 == 1 ? i : 7 * i);
        CHECK_OK(&c, spot_png_encode(&c, &png, &bytes, rgb, 12, 8));
        snprintf(line, sizeof line, "%s-%d.png", name, i);
        put_bytes(line, (char *)png, bytes);
        free(png);
    }
}

/* 9 kinds: two of them of two animals, which the task animal drops. */
static const char *const plain[] = { "c", "cp", "dp", "d", "wv", "p", "bp", "v", "cd", "t", "dt", "", "cdp", "cpt", "b", "pt" };

static inline spot_photos_config settings(const char *name)
{
    spot_photos_config cfg = spot_photos_defaults();
    cfg.coco = check_text("%s/%s.json", root, name);
    cfg.images = check_text("%s", root);
    cfg.tasks = "animal, vehicle";
    cfg.size = 32;
    cfg.pair_least = 5;
    cfg.val = 0.2;
    cfg.test = 0.3;
    return cfg;
}

static inline spot_photos *open_photos(spot_ctx *c, const spot_photos_config *cfg, uint64_t seed)
{
    spot_photos *p;
    CHECK_OK(c, spot_photos_open(c, &p, cfg, seed));
    return p;
}

#endif
