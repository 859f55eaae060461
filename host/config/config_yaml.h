/* config_yaml.h - where things stand in a YAML text. libcyaml fills structs but tells lines only roughly, so the same
 * text is walked once more with libyaml when a line is wanted. */
#ifndef SPOTTER_CONFIG_YAML_H
#define SPOTTER_CONFIG_YAML_H

#include <yaml.h>

#include "spotter/ctx.h"

/* Sees every event with the path that it stands at; may keep what the event holds and zero it. */
typedef spot_status spot_yaml_visit(void *user, yaml_event_t *e, const char *path);

/* Is this one YAML document of modest depth, without aliases? SPOT_USAGE with the line where it is not. visit may be NULL. */
spot_status spot_yaml_walk(spot_ctx *c, const char *name, const char *text, size_t len, spot_yaml_visit *visit, void *user);

/* The line (from 1) of the last key or list entry at a path like "bdms[1].mixture.k_max"; 0 when there is none. */
int spot_yaml_line(const char *text, size_t len, const char *path);

#endif
