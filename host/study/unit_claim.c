/* unit_claim.c - see unit_claim.h. */
#define _POSIX_C_SOURCE 200809L
#include "study/unit_claim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "store/store.h"
#include "study/run_claim.h"

static void path_of(char path[1300], const spot_work *w, int unit)
{
    if (unit == SPOT_UNIT_BEFORE) snprintf(path, 1300, "%s/claims/%s-before", w->place.out, w->study->prefix);
    else                          snprintf(path, 1300, "%s/claims/%s-%06d", w->place.out, w->study->prefix, unit);
}

spot_status spot_unit_claims_open(spot_ctx *c, const spot_work *w)
{
    spot_store store;

    SPOT_TRY(spot_store_open_to_read(c, &store, w->place.out));
    store.brief = true;                /* no claim needs to survive a loss of power */
    return spot_store_folder(c, &store, "claims");
}

static int print_claimant(char text[160], const spot_claimant *p)
{
    return snprintf(text, 160, "%d %s %.0f\n", p->pid, p->host, p->began);
}

/* 0, or errno: EEXIST where the file is there. */
static int make_claim(const char *path, const spot_claimant *p)
{
    char text[160];
    const int n = print_claimant(text, p), fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    int error;

    if (fd < 0) return errno;
    error = spot_write_all(fd, text, (size_t)n);
    close(fd);
    if (error) unlink(path);
    return error;
}

/* False: the file does not hold what make_claim writes: its process writes it or died then, it is gone, or it is foreign. */
static bool read_claim(const char *path, spot_claimant *p)
{
    char text[160] = "", again[160];
    const int n = spot_file_peek(path, text, sizeof text - 1);

    *p = (spot_claimant){ 0 };
    if (n <= 0 || sscanf(text, "%d %63s %lf", &p->pid, p->host, &p->began) != 3) return false;
    return print_claimant(again, p) == n && !strcmp(again, text);
}

/* A claim of a process that works no more. An empty file is written now, or its process died before it wrote. Any other file,
 * and any link, is foreign and stays. */
static bool is_free(spot_ctx *c, const spot_work *w, const char *path)
{
    spot_claimant p;
    struct stat s;

    if (lstat(path, &s) || !S_ISREG(s.st_mode)) return false;
    if (!s.st_size) return time(NULL) - s.st_mtime >= SPOT_CLAIM_SILENCE;
    return read_claim(path, &p) && !spot_claim_works(c, w, &p);
}

static spot_status claim_once(spot_ctx *c, const spot_work *w, const char *path, bool *mine)
{
    const spot_claimant own = spot_claim_now();
    const int error = make_claim(path, &own);
    char text[160];

    *mine = !error;
    if (error == EEXIST && is_free(c, w, path)) {
        SPOT_TRY(spot_file_write_unsynced(c, path, text, (size_t)print_claimant(text, &own)));
        *mine = true;
    }
    return error && error != EEXIST ? spot_file_failed(c, "write", path, error) : SPOT_OK;
}

/* Another process that ends removes the folder where it is empty, at any moment before the claim is there. */
spot_status spot_unit_claim(spot_ctx *c, const spot_work *w, int unit, bool *mine)
{
    char path[1300];
    spot_status s;

    path_of(path, w, unit);
    for (int tries = 0; (s = claim_once(c, w, path, mine)) == SPOT_IO && tries < 9; tries++) {
        spot_forget(c);
        SPOT_TRY(spot_unit_claims_open(c, w));
    }
    return s;
}

void spot_unit_release(const spot_work *w, int unit)
{
    const spot_claimant own = spot_claim_now();
    spot_claimant p;
    char path[1300];

    path_of(path, w, unit);
    if (read_claim(path, &p) && p.pid == own.pid && !strcmp(p.host, own.host)) unlink(path);
}

spot_status spot_unit_wait(spot_ctx *c, const spot_work *w, int unit)
{
    bool mine = false;

    for (bool said = false; !mine; said = true) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_unit_claim(c, w, unit, &mine));
        if (mine) break;
        if (!said)
            spot_log(c, SPOT_LOG_INFO, "another process makes what all %s begin with; this one waits for it",
                     w->study->units);
        nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
    }
    return SPOT_OK;
}

/* Whether path_of makes this name. */
static bool is_name(const spot_work *w, const char *name)
{
    const size_t n = strlen(w->study->prefix);
    const char *rest = name + n + 1;

    if (strncmp(name, w->study->prefix, n) || name[n] != '-') return false;
    return !strcmp(rest, "before") || (strlen(rest) >= 6 && strspn(rest, "0123456789") == strlen(rest));
}

void spot_unit_claims_close(spot_ctx *c, const spot_work *w)
{
    char folder[1300], path[1600];
    struct stat s;
    DIR *claims;

    snprintf(folder, sizeof folder, "%s/claims", w->place.out);
    if (lstat(folder, &s) || !S_ISDIR(s.st_mode)) return;
    claims = opendir(folder);
    for (struct dirent *e; claims && (e = readdir(claims));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (is_name(w, e->d_name) && is_free(c, w, path)) unlink(path);
    }
    if (claims) closedir(claims);
    rmdir(folder);
}
