/* status.h - the status that every fallible function returns.
 *
 * A function returns SPOT_OK or the kind of failure. The function that detects a failure writes one sentence (what, where,
 * what to do) into the context with spot_fail. Its callers pass the status up with SPOT_TRY. The exit code of the program
 * follows from the status and is a stable interface. */
#ifndef SPOTTER_STATUS_H
#define SPOTTER_STATUS_H

#include <stdarg.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*    name         exit  words, for a failure without a sentence */
#define SPOT_STATUS_LIST(X)                                        \
    X(OK,           0, "done")                                     \
    X(CHECK,        1, "a check failed")                           \
    X(USAGE,        2, "the command line or the config is wrong")  \
    X(INPUT,        3, "the input is not what it should be")       \
    X(NUMERIC,      3, "the computation left the finite numbers")  \
    X(IO,           4, "a file could not be read or written")      \
    X(DEVICE,       5, "the device failed")                        \
    X(UNSUPPORTED,  5, "this device has no kernel for the op")     \
    X(NOMEM,        6, "out of memory")                            \
    X(PENDING,      7, "nothing is worse, but the rows cannot tell everywhere") \
    X(STOPPED,     75, "stopped early and saved; run me again")    \
    X(INVALID,      2, "an argument breaks the contract")

typedef enum {
#define X(name, exit_code, words) SPOT_##name,
    SPOT_STATUS_LIST(X)
#undef X
    SPOT_STATUS_COUNT
} spot_status;

typedef struct spot_ctx spot_ctx;

/* Keeps the first sentence of a failure in c (later ones are consequences) and returns s. The threads of one parallel
 * region may call it at the same time.
 *
 * fmt may begin with the failure's id in braces: "{labels.missing_column} %s has no column %s". The id goes into c beside the
 * sentence, in which it is not shown. Programs and tests know a failure by its id, so that the sentence may be improved. An id
 * is `subject.fault` in lower case: the noun of the file's, field's or op's name, then what is wrong with it. It has one
 * meaning, for ever; calls that mean the same share it. A sentence that contains one from spot_take_message has that one's id,
 * if it names none itself. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
spot_status spot_fail(spot_ctx *c, spot_status s, const char *fmt, ...);

/* spot_fail for a function that has a format and arguments of its own. */
spot_status spot_fail_args(spot_ctx *c, spot_status s, const char *fmt, va_list args);

/* spot_fail about one problem of a batch: the sentence begins with the problem's label (ctx.h), "EC 5: ...". */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
spot_status spot_fail_of(spot_ctx *c, spot_status s, uint32_t problem, const char *fmt, ...);

/* spot_fail with the failure of another context, from, whose status is s: its sentence and its id. */
spot_status spot_fail_from(spot_ctx *c, spot_status s, const spot_ctx *from);

/* The id of the failure in c, "" without one. It lives in c. */
const char *spot_failure_id(const spot_ctx *c);

/* The sentence of the failure in c, or the words of the status when c holds no sentence. It lives in c.
 * spot_message_alone leaves out the label, for tables that show the problem in another column. */
const char *spot_message(const spot_ctx *c, spot_status s);
const char *spot_message_alone(const spot_ctx *c, spot_status s);

/* Clears the failure, so that c can be used again. take_message: returns its sentence, too, for another sentence or for a
 * result; it stays until the next failure, of whose sentence it may be a part. */
void        spot_forget(spot_ctx *c);
const char *spot_take_message(spot_ctx *c, spot_status s);

/* Makes text from a file safe to print: control characters become '?', so it breaks no line and controls no terminal.
 * Returns text. */
char *spot_plain(char *text);

int         spot_exit_code(spot_status s);
const char *spot_status_name(spot_status s);

#define SPOT_TRY(call)                              \
    do {                                            \
        spot_status spot_try_ = (call);             \
        if (spot_try_ != SPOT_OK) return spot_try_; \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
