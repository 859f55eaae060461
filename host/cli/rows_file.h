/* rows_file.h - the options that say how rows are read, in a file: `spotter discover rows.yaml --out found`. */
#ifndef SPOTTER_ROWS_FILE_H
#define SPOTTER_ROWS_FILE_H

#include "cli/options.h"

/* Reads the file, whose settings are the options of `all` with CLI_ROWS, and stores those that the command has and the words do
 * not give. A relative path begins at the folder of the file. SPOT_USAGE names file and line. */
spot_status cli_rows_read(spot_ctx *c, const cli_row *all, const cli_given *given, void *options, const char *path);

extern const char cli_from_file[];         /* the word of an option that the file gives */

#endif
