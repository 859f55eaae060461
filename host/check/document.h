/* document.h - members of a baseline's file: one call writes a value, or reads and checks it. */
#ifndef SPOTTER_DOCUMENT_H
#define SPOTTER_DOCUMENT_H

#include "base/json.h"

/* A document and its first fault: place and words. full: memory ran out while reading. */
typedef struct spot_document { spot_json j; char where[160], what[160]; bool full; } spot_document;

void spot_document_fault(spot_document *d, const char *where, const char *what);

/* If the member that was just read is wrong, records a fault at `where`. */
void spot_document_member(spot_document *d, const char *where);

/* A text that fits, without control characters: it will be shown. text_at: of an array, with its place. */
void spot_document_text_at(spot_document *d, const char *key, const char *where, char *v, size_t size);
void spot_document_text(spot_document *d, const char *key, char *v, size_t size);

void spot_document_int(spot_document *d, const char *key, int *v, int least, int most);
void spot_document_real(spot_document *d, const char *key, double *v, double least, double most);

/* Memory for the n members of the array that begins here; NULL, without a fault, if n is 0. */
void *spot_document_room(spot_document *d, int n, size_t size);

/* array: as spot_json_array. ints: the members of the current array, an integer of each of n structs; ends the array. */
int  spot_document_array(spot_document *d, const char *key, int n, int most);
void spot_document_ints(spot_document *d, const char *key, int n, int *v, size_t stride, int least, int most);

#endif
