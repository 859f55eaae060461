/* properties.h - Java's properties files: key=value lines in ISO 8859-1 with \u escapes, comments, lines that go on. */
#ifndef SPOTTER_PROPERTIES_H
#define SPOTTER_PROPERTIES_H

#include <stddef.h>

#include "spotter/ctx.h"

/* One property; key and value are UTF-8 and live for the call. */
typedef spot_status (*spot_property_use)(spot_ctx *c, void *user, const char *key, const char *value, int line);

/* Calls use for each property of the n bytes, in their order. SPOT_INPUT, with name and line, for a broken escape or a NUL. */
spot_status spot_properties_read(spot_ctx *c, const char *text, size_t n, const char *name, spot_property_use use, void *user);

#endif
