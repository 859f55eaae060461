/* array_note.c - facts that a file of spotter embed tells of itself, in the metadata of .safetensors or in the .json beside
 * .npy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/json_tree.h"
#include "formats/formats.h"
#include "formats/safetensors.h"

enum { MOST_JSON = 1 << 16 };

static const char *const key_of[SPOT_NOTES] = { SPOT_MADE_BY_EMBED, "encoder", "rows_of", "rows", "dim", "skipped" };

static void take(spot_notes *notes, int i, const char *text)
{
    snprintf(notes->text[i], sizeof notes->text[i], "%s", text ? text : "");
    spot_plain(notes->text[i]);
}

static void from_tensors(spot_ctx *c, spot_notes *notes, const char *path)
{
    spot_blob in;
    spot_tensors t;
    uint64_t start;

    if (spot_blob_open(c, &in, path)) return;
    if (!spot_tensors_header(c, &t, &in, &start)) {
        for (int i = 0; i < SPOT_NOTES; i++) take(notes, i, spot_tensors_note(&t, key_of[i]));
        spot_tensors_close(&t);
    }
    spot_blob_close(&in);
}

static void from_json(spot_ctx *c, spot_notes *notes, const char *path)
{
    unsigned char *text;
    yajl_val tree;
    size_t n;

    if (spot_file_read(c, path, &text, &n, MOST_JSON)) return;
    tree = spot_tree_parse((const char *)text, n, NULL, 0);
    for (int i = 0; tree && i < SPOT_NOTES; i++) {
        const char *where[] = { key_of[i], NULL };
        yajl_val v = YAJL_IS_OBJECT(tree) ? yajl_tree_get(tree, where, yajl_t_string) : NULL;
        take(notes, i, v ? YAJL_GET_STRING(v) : NULL);
    }
    yajl_tree_free(tree);
    free(text);
}

static bool ends_in(const char *path, const char *end)
{
    const size_t n = strlen(path), k = strlen(end);

    return n > k && !strcasecmp(path + n - k, end);
}

spot_status spot_notes_read(spot_ctx *c, spot_notes *notes, const char *path)
{
    const size_t n = strlen(path);
    spot_ctx own = { 0 };          /* whoever reads the array reports a bad file */
    char *json;

    memset(notes, 0, sizeof *notes);
    if (ends_in(path, ".safetensors")) from_tensors(&own, notes, path);
    if (ends_in(path, ".npy")) {
        json = malloc(n + 2);
        if (!json) return spot_fail(c, SPOT_NOMEM, "no memory for the name %.200s", path);
        snprintf(json, n + 2, "%.*s.json", (int)n - 4, path);
        from_json(&own, notes, json);
        free(json);
    }
    if (!notes->text[SPOT_NOTE_MADE_BY][0]) memset(notes, 0, sizeof *notes);
    return SPOT_OK;
}

/* An array in the place of the one that the notes were written for has other notes, or none. */
static bool is_of(const spot_notes *notes, const spot_array *a)
{
    return a->rank == 2 && strtoll(notes->text[SPOT_NOTE_ROWS], NULL, 10) == a->dim[0]
           && strtoll(notes->text[SPOT_NOTE_DIM], NULL, 10) == a->dim[1];
}

spot_status spot_array_notes(spot_ctx *c, spot_notes *notes, const spot_array *a, const char *where)
{
    const char *member;
    char *path;
    spot_status s;

    SPOT_TRY(spot_place_split(c, &path, &member, where));
    s = spot_notes_read(c, notes, path);
    free(path);
    if (!s && !is_of(notes, a)) memset(notes, 0, sizeof *notes);
    return s;
}
