#define _POSIX_C_SOURCE 200809L
#include "study/frame.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/json.h"
#include "base/json_tree.h"
#include "base/order.h"
#include "store/store.h"

static const char head[] = "{\"checksum\":\"%016" PRIx64 "\",\"segment\":", tail[] = "}\n";
enum { HEAD = 41, TAIL = 2 };                  /* bytes before and behind the content */

const char spot_frame_no_memory[] = "no memory";

void spot_frame_plain(spot_json *j, const char *key, char *v, size_t size)
{
    spot_json_text(j, key, v, size);
    for (const char *p = v; !j->gen && !j->wrong && *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) j->wrong = key;
}

void spot_frame_path(char *path, size_t size, const spot_study *y, const char *dir, int unit)
{
    snprintf(path, size, "%s/segments/%03d/%s-%06d.json", dir, unit / SPOT_ECS_A_FOLDER, y->prefix, unit);
}

void *spot_frame_result(const spot_study *y) { return calloc(1, y->result); }

void spot_frame_free(const spot_study *y, void *result)
{
    if (result && y->close) y->close(result);
    free(result);
}

spot_status spot_frame_write(spot_ctx *c, const spot_study *y, const char *dir, int unit, void *result)
{
    char path[1200], checksum[HEAD + 1];
    spot_text file = { 0 };
    spot_json j;
    spot_status s;

    SPOT_TRY(spot_json_begin(c, &j, NULL));
    spot_json_object(&j, NULL);
    y->describe(&j, result);
    spot_json_end(&j);
    snprintf(checksum, sizeof checksum, head, (uint64_t)XXH3_64bits(j.out.bytes, j.out.used));
    spot_text_adds(&file, checksum);
    spot_text_add(&file, j.out.bytes, j.out.used);
    spot_text_adds(&file, tail);
    spot_frame_path(path, sizeof path, y, dir, unit);
    s = spot_json_whole(c, &j, path);
    if (s == SPOT_OK && file.status) s = spot_fail(c, file.status, "no memory to write %s", path);
    if (s == SPOT_OK) s = spot_folder_of(c, path);
    if (s == SPOT_OK) s = spot_file_write(c, path, file.bytes, file.used);
    spot_text_free(&file);
    spot_json_free(&j);
    return s;
}

/* NULL, or what is wrong with the bytes around the content. */
static const char *check_frame(const unsigned char *text, size_t n)
{
    char expected[HEAD + 1];

    if (n < HEAD + TAIL || memcmp(text + n - TAIL, tail, TAIL)) return "it ends early";
    sprintf(expected, head, (uint64_t)XXH3_64bits(text + HEAD, n - HEAD - TAIL));
    return memcmp(text, expected, HEAD) ? "its checksum does not fit" : NULL;
}

/* Reads the result from the file's bytes and leaves these unchanged. *wrong: NULL, or a few words about the damage. */
static spot_status parse_file(spot_ctx *c, const spot_study *y, int unit, void *result, spot_frame *f, const char **wrong)
{
    spot_json j = { .depth = 1 };
    char why[256] = "";

    *wrong = check_frame(f->bytes, f->n);
    if (*wrong) return SPOT_OK;
    f->bytes[f->n - TAIL] = 0;
    j.at[0] = spot_tree_parse((char *)f->bytes + HEAD, f->n - HEAD - TAIL, why, sizeof why);
    f->bytes[f->n - TAIL] = (unsigned char)tail[0];
    if (!j.at[0] && (!*why || strstr(why, "client cancel")))       /* yajl's words for memory that its tree did not get */
        j.wrong = spot_frame_no_memory;
    spot_json_int(&j, "index", &f->index);
    spot_json_int(&j, "numbers", &f->numbers);
    spot_json_text(&j, "config", f->config, sizeof f->config);
    if (y->close) y->close(result);
    memset(result, 0, y->result);
    if (!j.wrong) y->describe(&j, result);
    yajl_tree_free(j.at[0]);
    if (j.wrong == spot_frame_no_memory)
        return spot_fail(c, SPOT_NOMEM, "no memory to read the results of %s %d", y->unit, unit);
    *wrong = j.wrong;
    return SPOT_OK;
}

static spot_status read_whole(spot_ctx *c, const spot_study *y, const char *dir, int unit, void *result, spot_frame *f)
{
    char path[1200], other[48];
    const char *wrong = "it is no file";
    struct stat st;

    *f = (spot_frame){ .state = SPOT_SEGMENT_ABSENT };
    spot_frame_path(path, sizeof path, y, dir, unit);
    if (access(path, F_OK)) return SPOT_OK;
    f->state = SPOT_SEGMENT_DAMAGED;
    if (stat(path, &st) || S_ISREG(st.st_mode)) {                  /* a pipe would not end, nor a device */
        SPOT_TRY(spot_file_read(c, path, &f->bytes, &f->n, SPOT_FRAME_LIMIT));
        SPOT_TRY(parse_file(c, y, unit, result, f, &wrong));
    }
    snprintf(other, sizeof other, "it belongs to another %s", y->unit);
    if (!wrong && f->index != unit) wrong = other;
    if (!wrong) f->state = SPOT_SEGMENT_WHOLE;
    snprintf(f->why, sizeof f->why, "%s: %s", path, wrong ? wrong : "");
    return SPOT_OK;
}

spot_status spot_frame_read(spot_ctx *c, const spot_study *y, const char *dir, int unit, void *result, spot_frame *f)
{
    spot_status s = read_whole(c, y, dir, unit, result, f);

    free(f->bytes);
    f->bytes = NULL;
    return s;
}

spot_status spot_frame_load(spot_ctx *c, const spot_study *y, const char *dir, int unit, void *result, spot_frame *f)
{
    spot_status s = read_whole(c, y, dir, unit, result, f);

    if (s == SPOT_NOMEM) {
        free(f->bytes);
        f->bytes = NULL;
        return s;
    }
    if (s) snprintf(f->why, sizeof f->why, "%s", spot_take_message(c, s));
    return SPOT_OK;
}

/* ---- the list of segments ---- */

/* Adds the units, as ints, of the folder whose first unit is `first`. Other names are temporary files, or files of other
 * programs. */
static spot_status list_folder(spot_ctx *c, const spot_study *y, spot_text *units, const char *path, int first)
{
    size_t prefix = strlen(y->prefix);
    char again[64];
    struct dirent *e;
    int i;
    spot_status s = SPOT_OK;
    DIR *d = opendir(path);

    while (d && s == SPOT_OK && (errno = 0, e = readdir(d))) {
        if (strncmp(e->d_name, y->prefix, prefix) || sscanf(e->d_name + prefix, "-%d.json", &i) != 1) continue;
        if (i < 0 || i / SPOT_ECS_A_FOLDER != first / SPOT_ECS_A_FOLDER) continue;
        snprintf(again, sizeof again, "%s-%06d.json", y->prefix, i);
        if (strcmp(again, e->d_name)) continue;
        spot_text_add(units, &i, sizeof i);
        if (units->status) s = spot_fail(c, SPOT_NOMEM, "no memory to list the segments of %s", path);
    }
    if (s == SPOT_OK && errno)
        s = spot_fail(c, SPOT_IO, "{folder.unlisted} cannot list %s: %s; run the same command again", path, strerror(errno));
    if (d) closedir(d);
    return s;
}

spot_status spot_frame_list(spot_ctx *c, const spot_study *y, const char *dir, int **unit, int *n)
{
    char path[1200], again[16];
    struct dirent *e;
    int k;
    spot_text units = { 0 };
    spot_status s = SPOT_OK;
    DIR *d;

    *unit = NULL;
    *n = 0;
    snprintf(path, sizeof path, "%s/segments", dir);
    d = opendir(path);
    if (!d) return spot_fail(c, SPOT_IO, "{run.unread} cannot read %s: %s; is %s a run directory?", path, strerror(errno), dir);
    while (s == SPOT_OK && (errno = 0, e = readdir(d))) {
        if (sscanf(e->d_name, "%d", &k) != 1 || k < 0 || k > INT_MAX / SPOT_ECS_A_FOLDER) continue;
        snprintf(again, sizeof again, "%03d", k);
        if (strcmp(again, e->d_name)) continue;
        snprintf(path, sizeof path, "%s/segments/%s", dir, again);
        s = list_folder(c, y, &units, path, k * SPOT_ECS_A_FOLDER);
    }
    if (s == SPOT_OK && errno)
        s = spot_fail(c, SPOT_IO, "cannot list %s/segments: %s; run the same command again", dir, strerror(errno));
    closedir(d);
    *unit = (int *)(void *)units.bytes;
    *n = (int)(units.used / sizeof **unit);
    if (*n) spot_sort_ints(*unit, (size_t)*n);
    return s;
}
