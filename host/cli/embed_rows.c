/* embed_rows.c - see embed_rows.h. */
#include "cli/embed_rows.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"
#include "discover/describe/gallery.h"
#include "discover/subject/subject_file.h"
#include "discover/subject/subject_memory.h"
#include "formats/coco.h"

enum { MOST_TEXT = 1 << 30 };          /* bytes of a file of texts */

static spot_status from_folder(spot_ctx *c, spot_subject *s, const char *root)
{
    spot_folder f;
    spot_status kept;

    SPOT_TRY(spot_folder_pictures(c, &f, root));
    s->n = f.n;
    s->id = f.path;
    kept = spot_subject_keep(c, s, f.owned[0]);
    SPOT_TRY(spot_subject_keep(c, s, f.owned[1]));
    spot_folder_log_others(c, &f, root);
    return kept;
}

/* The texts stay where they are and are pointed at. */
static spot_status from_annotations(spot_ctx *c, cli_embed_rows *r, spot_coco *k, const cli_embed_input *in)
{
    spot_subject *s = &r->owner;
    void *texts = k->owned;

    k->owned = NULL;
    SPOT_TRY(spot_subject_keep(c, s, texts));
    s->n = in->images ? k->images : k->captions;
    if (!s->n)
        return spot_fail(c, SPOT_INPUT, in->images ? "%s names no pictures" : "%s has no captions; --images FOLDER encodes the "
                         "pictures that it names", in->coco);
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, s->id, s->n));
    if (!in->images) SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, r->of, s->n));
    for (int i = 0; i < s->n; i++) {
        s->id[i] = in->images ? k->image[i].file : k->caption[i].text;
        if (r->of) r->of[i] = k->image[k->caption[i].image].file;
    }
    return SPOT_OK;
}

static spot_status from_coco(spot_ctx *c, cli_embed_rows *r, const cli_embed_input *in)
{
    spot_coco k;
    spot_status s;

    SPOT_TRY(spot_coco_open(c, &k, in->coco));
    s = from_annotations(c, r, &k, in);
    spot_coco_close(&k);
    return s;
}

/* Cuts the bytes into lines in place; a byte order mark and CR before LF are no text. */
static spot_status cut_lines(spot_ctx *c, spot_subject *s, char *text, size_t n, const char *path)
{
    char *at = text, *end = text + n;
    size_t lines = 0;

    if (memchr(text, 0, n))
        return spot_fail(c, SPOT_INPUT, "%s holds a NUL byte: it is no file of texts, or is UTF-16; save it as UTF-8", path);
    if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) at += 3;
    for (char *p = at; p < end; p++) lines += *p == '\n';
    lines += at < end && end[-1] != '\n';
    if (!lines || lines > INT_MAX)
        return spot_fail(c, SPOT_INPUT, "%s holds %zu texts; from 1 to %d are possible, one a line", path, lines, INT_MAX);
    SPOT_TRY(SPOT_SUBJECT_TAKE(c, s, s->id, lines));
    for (s->n = 0; s->n < (int)lines; s->n++) {
        char *stop = at + strcspn(at, "\n");
        s->id[s->n] = at;
        at = stop + (stop < end);
        *stop = 0;
        if (stop > s->id[s->n] && stop[-1] == '\r') stop[-1] = 0;
        if (!s->id[s->n][strspn(s->id[s->n], " \t")])
            return spot_fail(c, SPOT_INPUT, "%s, line %d is empty; each line is a text, so that row and line agree", path,
                             s->n + 1);
    }
    return SPOT_OK;
}

static spot_status from_lines(spot_ctx *c, spot_subject *s, const char *path)
{
    unsigned char *text;
    size_t n;

    SPOT_TRY(spot_file_read(c, path, &text, &n, MOST_TEXT));
    SPOT_TRY(spot_subject_keep(c, s, text));
    return cut_lines(c, s, (char *)text, n, path);
}

spot_status cli_embed_list(spot_ctx *c, cli_embed_rows *r, const cli_embed_input *in)
{
    spot_subject *s = &r->owner;

    memset(r, 0, sizeof *r);
    if (in->texts) SPOT_TRY(from_lines(c, s, in->texts));
    else if (in->coco) SPOT_TRY(from_coco(c, r, in));
    else SPOT_TRY(from_folder(c, s, in->images));
    if (in->images) SPOT_TRY(spot_gallery_paths(c, s, in->images, in->links || !in->coco));      /* a folder names itself */
    r->n = s->n;
    r->id = s->id;
    r->path = s->image;
    return SPOT_OK;
}

void cli_embed_rows_close(cli_embed_rows *r) { spot_subject_close(&r->owner); }

spot_status cli_embed_rows_key(spot_ctx *c, spot_key *key, const cli_embed_rows *r, int first, int n)
{
    spot_text all = { 0 };

    for (int i = first; i < first + n; i++) {
        int64_t stamp[2];
        spot_text_add(&all, r->id[i], strlen(r->id[i]) + 1);
        if (!r->path) continue;
        spot_picture_stamp(stamp, r->path[i]);
        spot_text_add(&all, stamp, sizeof stamp);
    }
    *key = spot_key_of(all.bytes ? all.bytes : "", all.used);
    spot_text_free(&all);
    return all.status ? spot_fail(c, SPOT_NOMEM, "no memory for the names of %d rows", n) : SPOT_OK;
}
