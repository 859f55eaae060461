/* faults.h - a disk and an allocator that fail on demand, for tests.
 *
 * Linked into a test, open, write, fsync, rename, ... and malloc stand before libc's, for our code and for every library
 * alike: SQLite's writes count, too. Only paths below one folder are looked at. A plan says which of a process's calls meets
 * what; the disk remembers what no fsync has made safe yet and can take it away as a power cut would. */
#ifndef SPOTTER_TESTS_FAULTS_H
#define SPOTTER_TESTS_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    FAULT_OPEN, FAULT_READ, FAULT_LIST, FAULT_WRITE, FAULT_TRUNCATE, FAULT_SYNC, FAULT_CLOSE, FAULT_RENAME, FAULT_MKDIR,
    FAULT_UNLINK,
    FAULT_MEMORY,                  /* an allocation of our own code */
    FAULT_LIBRARY,                 /* of a library's */
    FAULT_CLASSES
} fault_class;
#define FAULT_DISK ((1u << FAULT_MEMORY) - 1)      /* the classes of the disk */

typedef enum {
    FAULT_FAIL,                    /* this call fails */
    FAULT_SHORT,                   /* a write takes half of what it was given */
    FAULT_FULL,                    /* from here on there is no room */
    FAULT_FROZEN,                  /* from here on nothing can be changed: the file system became read-only */
    FAULT_DIE,                     /* the process is killed before the call ... */
    FAULT_DIE_HALFWAY,             /* ... in the middle of a write ... */
    FAULT_DIE_AFTER,               /* ... or after the call */
    FAULT_KINDS
} fault_kind;
const char *fault_class_name(fault_class k);
const char *fault_kind_name(fault_kind k);

/* The faults of one process, and what it did so far. */
typedef struct {
    unsigned    classes;           /* bits: the calls that count */
    long        at;                /* the how manieth of them it hits; 0: none */
    fault_kind  kind;
    int         error;             /* which of the errors that the call may meet: any number */
    long        calls;
    long        seen[FAULT_CLASSES];
    bool        hit;
    fault_class what;              /* was hit, ... */
    char        where[200];        /* ... at this path below the root */
    bool        full, frozen;
    int         pid;               /* who it takes itself for, on host pid % 10; 0: who it is */
    long        clock;             /* seconds by which its clock is wrong */
} fault_plan;

/* The plan of this thread; NULL: all calls go through. */
extern _Thread_local fault_plan *faults_now;
/* Called before each of our own calls to the disk, but those that write a log; may be NULL. */
extern void (*faults_pause)(fault_class k, const char *path);
/* The disk below root, whose memory forked processes share. */
void faults_disk(const char *root);
void faults_fill(bool full);       /* there is no room on it, for everyone */
/* The power goes: of what was not synced some, all (always with seed 0) or nothing is gone, by the seed. Lines of it go to
 * story, if not NULL. */
void faults_power_cut(uint64_t seed, void (*story)(const char *line));

long faults_live(void);            /* allocations that were not freed; 0 under a sanitizer, which counts for itself */
int  faults_open_files(void);      /* descriptors of files below the root */

#endif
