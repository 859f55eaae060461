/* conv_stored.cu - files that keep plans of convolutions for later runs: one small text file for each task, device and
 * version of cuDNN, in
 *
 *     $SPOT_PLAN_DIR, else $XDG_CACHE_HOME/spotter/plans, else ~/.cache/spotter/plans
 *         NVIDIA-H200-cudnn-91900/conv-forward-of-256-64-56-56-by-64-64-3-3-stride-1-bf16.plan
 *
 * A file is whole or absent, and the first of several writers makes it by link(2), which is atomic on NFS, too. So all
 * processes that share the folder round alike, whatever their own timings. While one searches it locks the file `.search`
 * there, and the others wait for its plans. To choose plans again (another driver, a better cooled machine), remove the
 * folder. */
#include "net/conv.cuh"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copies text, with a single dash for each run of other characters than letters and digits; cut at size. */
static void put_name(char *to, size_t size, const char *text)
{
    size_t n = 0;

    for (; *text && n + 1 < size; text++) {
        if (isalnum((unsigned char)*text)) to[n++] = *text;
        else if (n && to[n - 1] != '-') to[n++] = '-';
    }
    while (n && to[n - 1] == '-') n--;
    to[n] = 0;
}

/* "NVIDIA H200" from "cuda:0 NVIDIA H200": equal GPUs share a folder. */
static const char *model_of(const spot_ctx *c)
{
    const char *name = ((const spot_device *)c->device)->name, *blank = strchr(name, ' ');

    return blank ? blank + 1 : name;
}

static bool folder_of(const spot_ctx *c, size_t version, char *path, size_t size)
{
    const char *own = getenv("SPOT_PLAN_DIR"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char model[128];
    int n = -1;

    put_name(model, sizeof model, model_of(c));
    if (own && *own) n = snprintf(path, size, "%s/%s-cudnn-%zu", own, model, version);
    else if (cache && *cache) n = snprintf(path, size, "%s/spotter/plans/%s-cudnn-%zu", cache, model, version);
    else if (home && *home) n = snprintf(path, size, "%s/.cache/spotter/plans/%s-cudnn-%zu", home, model, version);
    return n > 0 && (size_t)n < size;
}

static bool path_of(const spot_ctx *c, const spot_conv_task *t, size_t version, char *path, size_t size)
{
    char name[256];
    size_t n;

    put_name(name, sizeof name, t->words);
    if (!folder_of(c, version, path, size)) return false;
    n = strlen(path);
    return (size_t)snprintf(path + n, size - n, "/%s.plan", name) < size - n;
}

/* The first line of a file: task, device and version. */
static void put_heading(const spot_ctx *c, const spot_conv_task *t, size_t version, char *line, size_t size)
{
    snprintf(line, size, "%s on %s by cuDNN %zu", t->words, model_of(c), version);
}

bool spot_stored_can(spot_ctx *c, size_t version)
{
    char path[PATH_MAX];
    bool able = folder_of(c, version, path, sizeof path);

    for (char *slash = path; able && (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        if (mkdir(path, 0777) && errno != EEXIST) able = false;
        *slash = '/';
    }
    if (able && !mkdir(path, 0777))
        spot_log(c, SPOT_LOG_INFO, "cuDNN's ways to convolve are timed once and kept in %s", path);
    if (able && access(path, W_OK)) able = false;
    if (!able)
        spot_log(c, SPOT_LOG_WARN, "plans of convolutions cannot be kept (%s), so they are not timed either: the first right "
                 "one is taken; set SPOT_PLAN_DIR to a folder that can be written to", strerror(errno));
    return able;
}

/* Reads the next line without its line feed; false where it is missing or does not fit. */
static bool next_line(FILE *f, char *line, size_t size)
{
    size_t n = fgets(line, (int)size, f) ? strlen(line) : 0;

    if (!n || line[n - 1] != '\n') return false;
    line[n - 1] = 0;
    return true;
}

spot_stored_found spot_stored_read(spot_ctx *c, const spot_conv_task *t, size_t version, spot_stored *s)
{
    char path[PATH_MAX], want[512], line[512];
    bool ours, good;
    FILE *f;

    if (!path_of(c, t, version, path, sizeof path) || !(f = fopen(path, "re"))) return SPOT_STORED_NONE;
    put_heading(c, t, version, want, sizeof want);
    ours = next_line(f, line, sizeof line) && !strcmp(line, want);
    good = ours && next_line(f, s->choice.words, sizeof s->choice.words)
        && next_line(f, line, sizeof line) && sscanf(line, "digest %8x", &s->digest) == 1;
    fclose(f);
    if (good) return SPOT_STORED_READ;
    if (ours) {
        spot_log(c, SPOT_LOG_WARN, "%s is damaged and was removed; a plan is searched again", path);
        unlink(path);
        return SPOT_STORED_NONE;
    }
    spot_log(c, SPOT_LOG_WARN, "%s is no plan that Spotter kept, and stays; the first right plan is taken, not the fastest, "
             "until you remove it", path);
    return SPOT_STORED_FOREIGN;
}

/* The file stays, because who waits for its lock has it open. */
void spot_stored_lock(const spot_ctx *c, size_t version, int *lock, bool *held)
{
    char path[PATH_MAX];
    size_t n;

    *lock = -1, *held = false;
    if (!folder_of(c, version, path, sizeof path)) return;
    n = strlen(path);
    if ((size_t)snprintf(path + n, sizeof path - n, "/.search") >= sizeof path - n) return;
    *lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (*lock < 0 || !flock(*lock, LOCK_EX | LOCK_NB)) return;
    *held = errno == EWOULDBLOCK;
    close(*lock);
    *lock = -1;
}

void spot_stored_unlock(int lock)
{
    if (lock >= 0) close(lock);
}

/* Writes and closes f. Returns 0 or errno. */
static int write_file(FILE *f, const char *heading, const spot_stored *s, const char *remark)
{
    int error = 0;

    if (!f) return errno;
    if (fprintf(f, "%s\n%s\ndigest %08x\n%s\n", heading, s->choice.words, s->digest, remark) < 0) error = errno;
    if (!error && (fflush(f) || fsync(fileno(f)))) error = errno;
    if (fclose(f) && !error) error = errno;
    return error;
}

bool spot_stored_write(spot_ctx *c, const spot_conv_task *t, size_t version, const spot_stored *s, const char *remark,
                       bool replace)
{
    char path[PATH_MAX], temp[PATH_MAX + 16], heading[512];
    int fd, error;

    if (!path_of(c, t, version, path, sizeof path)) return false;
    put_heading(c, t, version, heading, sizeof heading);
    snprintf(temp, sizeof temp, "%s.XXXXXX", path);
    fd = mkstemp(temp);
    error = fd < 0 ? errno : fchmod(fd, 0644) ? errno : write_file(fdopen(fd, "w"), heading, s, remark);
    if (!error && (replace ? rename(temp, path) : link(temp, path)) && errno != EEXIST) error = errno;
    if (fd >= 0) unlink(temp);
    if (error)
        spot_log(c, SPOT_LOG_WARN, "cannot write %s (%s); the first right plan is taken, not the fastest", path,
                 strerror(error));
    return !error;
}
