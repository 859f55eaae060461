/* document.c - members of a baseline's file, written or read and checked. */
#include "check/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void spot_document_fault(spot_document *d, const char *where, const char *what)
{
    if (*d->what) return;
    snprintf(d->where, sizeof d->where, "%s", where);
    snprintf(d->what, sizeof d->what, "%s", what);
}

void spot_document_member(spot_document *d, const char *where)
{
    if (d->j.wrong) spot_document_fault(d, where, "it is missing or of another type");
    d->j.wrong = NULL;
}

void spot_document_text_at(spot_document *d, const char *key, const char *where, char *v, size_t size)
{
    char buffer[600] = "";                             /* longer than any of ours */

    if (d->j.gen) {
        spot_json_text(&d->j, key, v, size);
        return;
    }
    spot_json_text(&d->j, key, buffer, size + 1);
    spot_document_member(d, where);
    if (strlen(buffer) >= size) spot_document_fault(d, where, "it is too long");
    for (const char *p = buffer; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) spot_document_fault(d, where, "it has a control character");
    snprintf(v, size, "%.*s", (int)size - 1, buffer);
}

void spot_document_text(spot_document *d, const char *key, char *v, size_t size)
{
    spot_document_text_at(d, key, key, v, size);
}

void spot_document_int(spot_document *d, const char *key, int *v, int least, int most)
{
    spot_json_int(&d->j, key, v);
    spot_document_member(d, key);
    if (*v < least || *v > most) spot_document_fault(d, key, "it is out of range");
    if (*v < least || *v > most) *v = least;
}

void spot_document_real(spot_document *d, const char *key, double *v, double least, double most)
{
    spot_json_real(&d->j, key, v);
    spot_document_member(d, key);
    if (!(*v >= least && *v <= most)) spot_document_fault(d, key, "it is not a number, or it is out of range");
}

void *spot_document_room(spot_document *d, int n, size_t size)
{
    void *p = n && !d->full ? calloc((size_t)n, size) : NULL;

    if (n && !p) d->full = true;
    return p;
}

void spot_document_ints(spot_document *d, const char *key, int n, int *v, size_t stride, int least, int most)
{
    char where[120];

    for (int i = 0; i < n; i++) {
        int *at = (int *)((char *)v + (size_t)i * stride);
        spot_json_int(&d->j, NULL, at);
        snprintf(where, sizeof where, "member %d of %s", i, key);
        spot_document_member(d, where);
        if (*at < least || *at > most) spot_document_fault(d, where, "it is out of range");
    }
    spot_json_end(&d->j);
}

int spot_document_array(spot_document *d, const char *key, int n, int most)
{
    n = spot_json_array(&d->j, key, n, most);
    spot_document_member(d, key);
    return n;
}
