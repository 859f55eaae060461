/* slice_table.h - the slices of a search as a table for people. */
#ifndef SPOTTER_SLICE_TABLE_H
#define SPOTTER_SLICE_TABLE_H

#include "cli/ci_files.h"
#include "spotter/discover.h"

/* Prints the first `top` entries (spot_findings_entries) with their descriptions, and the classes that were left out; with
 * `summary` first the sentences on top, and the classes with most errors, below which folded entries stand. found: the
 * folder. */
typedef struct { int top; bool summary; const char *found; } cli_slice_list;
spot_status cli_slice_table(spot_ctx *c, const spot_findings *f, const spot_subject *s, const spot_discover_options *d,
                            const cli_slice_list *how);

/* The slice that has this number, from 1. *s is NULL where there is none; *slices: their number. */
spot_status cli_slice_of_table(spot_ctx *c, const spot_finding **g, const spot_slice **s, int *slices, const spot_findings *f,
                               const spot_subject *subject, int number);

/* The verdict on the slices, which is written into the files of ci: SPOT_CHECK where a slice is of a claim that fails. */
typedef enum { CLI_FAIL_ON_NOTHING, CLI_FAIL_ON_CONFIRMED, CLI_FAIL_ON_SUGGESTED } cli_fail_on;
typedef struct { cli_ci *ci; const char *input, *page; cli_fail_on fail_on; } cli_slice_verdict;
spot_status cli_slices_judge(spot_ctx *c, const cli_slice_verdict *o, const spot_findings *f, const spot_subject *s,
                             const spot_discover_options *d);

#endif
