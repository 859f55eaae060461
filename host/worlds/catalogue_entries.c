/* catalogue_entries.c - the growing list of a catalogue's entries. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "worlds/catalogue_parts.h"

spot_status spot_entries_add(spot_ctx *c, spot_entries *l, spot_catalogue_entry **out)
{
    if (l->n == SPOT_MOST_ENTRIES) return spot_fail(c, SPOT_INPUT, "a catalogue of more than %d models", SPOT_MOST_ENTRIES);
    if (l->n == l->room) {
        const int room = l->room ? 2 * l->room : 256;
        spot_catalogue_entry *more = realloc(l->entry, (size_t)room * sizeof *more);
        if (!more) return spot_fail(c, SPOT_NOMEM, "no memory for a catalogue of %d models", room);
        l->entry = more, l->room = room;
    }
    *out = &l->entry[l->n++];
    **out = (spot_catalogue_entry){ .cls = -1 };
    return SPOT_OK;
}

void spot_entry_free(spot_catalogue_entry *e)
{
    free(e->id), free(e->name), free(e->category), free(e->licence), free(e->author), free(e->archive), free(e->file);
}

void spot_entries_close(spot_entries *l)
{
    for (int i = 0; i < l->n; i++) spot_entry_free(&l->entry[i]);
    free(l->entry);
    *l = (spot_entries){ 0 };
}

spot_status spot_entry_set(spot_ctx *c, char **to, const char *text)
{
    char *copy = strdup(text);

    if (!copy) return spot_fail(c, SPOT_NOMEM, "no memory for a catalogue");
    free(*to);
    *to = copy;
    return SPOT_OK;
}
