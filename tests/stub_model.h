/* stub_model.h - a model of no cost for tests of whole sweeps: with `stub_on` what a sweep computes is made from a hash of
 * config and EC, while plan, store, segments, resume, shards, merge and database around it are the real ones. Link with
 * --wrap as tests/faults.cmake does. */
#ifndef SPOTTER_TESTS_STUB_MODEL_H
#define SPOTTER_TESTS_STUB_MODEL_H

#include <stdbool.h>

#include "store/store.h"

/* Stages that compute; each finds the rest in the store, as the real ones do. */
enum { STUB_BASE, STUB_VIEW, STUB_METHOD, STUB_STAGES = STUB_METHOD + 8 };      /* STUB_METHOD + b: method b's findings */

extern bool stub_on;
/* The fault of the machine: its first method gives up on every EC, or its numbers are others than everywhere else. */
typedef enum { STUB_WELL, STUB_GIVES_UP, STUB_ERRS } stub_health;
extern stub_health stub_is;
/* Called when a stage computes, for EC -1 the base model; may be NULL. */
extern void (*stub_computes)(const spot_store *store, int ec, int stage);
/* Called when an EC's segment in dir is written and synced, with the real model, too; may be NULL. */
extern void (*stub_keeps)(const char *dir, int ec);

#endif
