/* crash.h - processes that fail, stop and die, for tests: each is a fork on the disk of faults.h, and its plan says what
 * befalls it. Before each of its calls to the disk it can be made to wait, so that a test lets several go on in any order,
 * kills one between two calls, or cuts the power.
 *
 * Everything lies below crash_home; the disk that fails is crash_home/disk. */
#ifndef SPOTTER_TESTS_CRASH_H
#define SPOTTER_TESTS_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "faults.h"

enum { CRASH_PATH = 256, CRASH_ENDLESS = 1000000 };

/* Lies in shared memory. The first two are set before it begins, the others tell what became of it. */
typedef struct {
    fault_plan plan;
    long       calls;              /* to the disk that it may make before it waits */
    bool       alive;
    int        end;                /* as waitpid says */
    long       leaked;             /* allocations, of one that came to its end */
    int        open_files;
    pid_t      pid;
    int        wake[2], told[2];   /* pipes: it may go on; it waits */
} crash_process;

extern char crash_home[64];

/* Starts this program again with one thread where it has more, since a fork has only the one that forks. */
void crash_one_thread(char **argv);
void crash_open (const char *name);            /* makes the folder */
void crash_close(void);
void *crash_share(size_t bytes);               /* memory that all forks share, zeros */
void crash_new_disk(void);                     /* empty */

/* A fork that waits. body returns its exit code. */
void crash_begin(crash_process *p, int (*body)(crash_process *p));
/* Lets it make so many calls to the disk, or come to its end. Returns whether it is still there. */
bool crash_advance(crash_process *p, long calls);
void crash_kill(crash_process *p);
int  crash_run(crash_process *p, int (*body)(crash_process *p));       /* from begin to end; p->end */

/* ---- files ---- */

typedef struct { unsigned char *bytes; size_t n; } crash_file;         /* bytes NULL: there is none */

char      *crash_path(char path[CRASH_PATH], const char *name);        /* below crash_home */
crash_file crash_load(const char *path);                               /* a NUL follows; free bytes */
void       crash_save(const char *path, const void *bytes, size_t n);
bool       crash_equal(const crash_file *a, const crash_file *b);      /* and both are there */
void       crash_remove(const char *tree);

#endif
