/* csv_records.c - splits a CSV file into records. Memory is one block for a file of any length. */
#include "formats/csv_records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4 << 20, LONGEST = 256 << 20, RECORDS = 1 << 15 };    /* bytes of a block, of a record; records of a block */

/* Finds the end of the last record: line ends after it are no records. */
static spot_status find_end(spot_ctx *c, spot_csv_block *b)
{
    char tail[64];

    for (b->end = b->in->size; b->end > b->at;) {
        size_t n = b->end - b->at < sizeof tail ? (size_t)(b->end - b->at) : sizeof tail, k = n;
        SPOT_TRY(spot_blob_read(c, b->in, b->end - n, tail, n));
        while (k && (tail[k - 1] == '\n' || tail[k - 1] == '\r')) k--;
        b->end -= n - k;
        if (k) break;
    }
    return SPOT_OK;
}

/* Passes over a first line "sep=;". */
static spot_status take_separator(spot_ctx *c, spot_csv_block *b)
{
    char line[8] = "";
    const size_t n = b->in->size - b->at < 7 ? (size_t)(b->in->size - b->at) : 7;

    SPOT_TRY(spot_blob_read(c, b->in, b->at, line, n));
    if (memcmp(line, "sep=", 4) || !strchr(",;\t|", line[4])
        || (line[5] != '\n' && memcmp(line + 5, "\r\n", 2))) return SPOT_OK;
    b->dialect.separator = line[4];
    b->at += line[5] == '\n' ? 6 : 7;
    b->line = 1;
    return SPOT_OK;
}

spot_status spot_csv_open(spot_ctx *c, spot_csv_block *b, const spot_blob *in)
{
    uint8_t mark[4] = "";
    size_t n = in->size < 4 ? (size_t)in->size : 4;

    *b = (spot_csv_block){ .in = in, .room = BLOCK };
    SPOT_TRY(spot_blob_read(c, in, 0, mark, n));
    if (!memcmp(mark, "\xff\xfe", 2) || !memcmp(mark, "\xfe\xff", 2))
        return spot_fail(c, SPOT_INPUT, "{table.utf16} %s is in UTF-16; save it in UTF-8", in->name);
    if (!memcmp(mark, "\xef\xbb\xbf", 3)) b->at = 3;
    SPOT_TRY(take_separator(c, b));
    SPOT_TRY(find_end(c, b));
    if (b->end - b->at < b->room) b->room = (size_t)(b->end - b->at);
    b->bytes = malloc(b->room + 1);
    b->most = b->room < RECORDS ? (int)b->room + 1 : RECORDS;      /* a record has at least its line end */
    b->start = malloc(((size_t)b->most + 1) * sizeof *b->start);
    if (b->bytes && b->start) {
        b->start[0] = 0;
        return SPOT_OK;
    }
    spot_csv_close(b);
    return spot_fail(c, SPOT_NOMEM, "no memory to read %s", in->name);
}

void spot_csv_close(spot_csv_block *b)
{
    free(b->bytes);
    free(b->start);
    *b = (spot_csv_block){ 0 };
}

/* The byte after the record that begins at p, or NULL if the record is incomplete. Counts lines. */
static const char *record_end(const char *p, const char *end, uint64_t *lines)
{
    const char *line = memchr(p, '\n', (size_t)(end - p));
    bool inside = false;
    uint64_t n = 0;

    if (line && !memchr(p, '"', (size_t)(line - p))) {
        ++*lines;
        return line + 1;
    }
    if (!line) return NULL;
    for (; p < end; p++) {
        if (*p == '"') inside = !inside;
        if (*p != '\n') continue;
        n++;
        if (inside) continue;
        *lines += n;
        return p + 1;
    }
    return NULL;
}

static void split_records(spot_csv_block *b)
{
    const char *p = b->bytes, *end = b->bytes + b->have, *next;

    b->records = 0;
    b->lines = 0;
    while (b->records < b->most && p < end && (next = record_end(p, end, &b->lines))) {
        p = next;
        b->start[++b->records] = (size_t)(p - b->bytes);
    }
}

/* Moves the incomplete record to the front and reads the rest of the block after it. */
static spot_status fill_block(spot_ctx *c, spot_csv_block *b)
{
    size_t n = b->room - b->have;

    if (n > b->end - b->at) n = (size_t)(b->end - b->at);
    SPOT_TRY(spot_blob_read(c, b->in, b->at, b->bytes + b->have, n));
    b->at += n;
    b->have += n;
    if (n && b->at == b->end) b->bytes[b->have++] = '\n';      /* the block has room + 1 bytes */
    return SPOT_OK;
}

static spot_status grow_block(spot_ctx *c, spot_csv_block *b)
{
    char *more = b->room < LONGEST ? realloc(b->bytes, b->room * 2 + 1) : NULL;

    if (b->room >= LONGEST)
        return spot_fail(c, SPOT_INPUT, "%s: the record that begins in line %" PRIu64 " has more than %d bytes; are its quotes "
                         "closed?", b->in->name, b->line + 1, LONGEST);
    if (!more) return spot_fail(c, SPOT_NOMEM, "no memory for a record of %s", b->in->name);
    b->bytes = more;
    b->room *= 2;
    return SPOT_OK;
}

spot_status spot_csv_next(spot_ctx *c, spot_csv_block *b)
{
    size_t used = b->start[b->records];

    b->row += (uint64_t)b->records;
    b->line += b->lines;
    memmove(b->bytes, b->bytes + used, b->have - used);
    b->have -= used;
    for (;;) {
        SPOT_TRY(fill_block(c, b));
        split_records(b);
        if (b->records && !b->row) spot_csv_choose(&b->dialect, b->bytes, b->start, b->records);
        if (b->records || !b->have) return SPOT_OK;
        if (b->at == b->end)
            return spot_fail(c, SPOT_INPUT, "{table.quotes_open} %s: quotes are opened in the record that begins in line "
                             "%" PRIu64 " and never closed", b->in->name, b->line + 1);
        SPOT_TRY(grow_block(c, b));
    }
}

spot_csv_cells spot_csv_record(const spot_csv_block *b, int record)
{
    return spot_csv_cells_of(b->bytes + b->start[record], b->bytes + b->start[record + 1], b->dialect.separator);
}
