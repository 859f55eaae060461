/* program.h - another program behind pipes: bytes in, bytes out, time limits, its messages, its end.
 *
 * One caller at a time. A failure of a program is SPOT_INPUT; the sentence has its exit code and the last line that it wrote to
 * standard error. */
#ifndef SPOTTER_PROGRAM_H
#define SPOTTER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "spotter/ctx.h"

typedef struct spot_program spot_program;

/* Starts a line of /bin/sh in a process group of its own. It inherits no file but the three pipes, and default signals. Lines
 * that it writes to standard error go to the log while one of these functions waits. */
spot_status spot_program_start(spot_ctx *c, spot_program **p, const char *command);

/* Hands it two pieces of input, which the next spot_program_take and spot_program_settle write while they wait. They must live
 * until settle has returned. */
typedef struct { const void *bytes; size_t n; } spot_program_piece;
void spot_program_give(spot_program *p, spot_program_piece first, spot_program_piece second);

/* Reads n bytes of its output. `until`, on spot_clock, is the latest moment. The stop flag is looked at while it waits. */
spot_status spot_program_take(spot_ctx *c, spot_program *p, void *out, size_t n, double until);

/* Waits until all input is written. SPOT_INPUT where output has come that nobody took. */
spot_status spot_program_settle(spot_ctx *c, spot_program *p, double until);

/* The start of the output that has come and that nobody took, as printable text; "" without any. */
const char *spot_program_ahead(spot_program *p, char *text, size_t size);

/* Closes its input and waits at most `grace` seconds for its end; then kills it, and in any case what is left of its process
 * group. Accepts NULL. */
void spot_program_end(spot_ctx *c, spot_program *p, double grace);

#endif
