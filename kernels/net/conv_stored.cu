/* conv_stored.cu - files that keep plans of convolutions for later runs: one small text file for each task, device and
 * version of cuDNN, in
 *
 *     RUN/plans (spot_conv_keep_in), then $XDG_CACHE_HOME/spotter/plans, else ~/.cache/spotter/plans
 *     $SPOT_PLAN_DIR where it is set, and nowhere else
 *         NVIDIA-H200-cudnn-91900/conv-forward-of-256-64-56-56-by-64-64-3-3-stride-1-bf16.plan
 *
 * These are places 0 and 1. Place 0 decides: what is kept at place 1 only serves another run.
 *
 * A file is whole or absent, and the first of several writers makes it by link(2), which is atomic on NFS, too. So all
 * processes that share the folder round alike, whatever their own timings. While one searches it locks the file `.search`
 * there, and the others wait for its plans. To choose plans again (another driver, a better cooled machine), remove the
 * folder. Within a run no symbolic link is followed, as it may lead out of the run. */
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

static const char *own_folder(void)
{
    const char *own = getenv("SPOT_PLAN_DIR");

    return own && *own ? own : NULL;
}

static bool is_run(const spot_ctx *c, int place) { return !place && !own_folder() && spot_cuda_of(c)->run_plans; }

int spot_stored_places(const spot_ctx *c) { return is_run(c, 0) ? 2 : 1; }

static bool is_link(const char *path)
{
    struct stat s;

    return !lstat(path, &s) && S_ISLNK(s.st_mode);
}

/* The folder of a place; false, and errno, where there is none. */
static bool folder_of(const spot_ctx *c, size_t version, int place, char *path, size_t size)
{
    const char *own = own_folder(), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *run = spot_cuda_of(c)->run_plans;
    const bool in_run = is_run(c, place);
    char model[128];
    int n = -1;

    put_name(model, sizeof model, model_of(c));
    if (in_run || own) n = snprintf(path, size, "%s/%s-cudnn-%zu", in_run ? run : own, model, version);
    else if (cache && *cache) n = snprintf(path, size, "%s/spotter/plans/%s-cudnn-%zu", cache, model, version);
    else if (home && *home) n = snprintf(path, size, "%s/.cache/spotter/plans/%s-cudnn-%zu", home, model, version);
    errno = n < 0 ? ENOENT : (size_t)n >= size ? ENAMETOOLONG : in_run && (is_link(run) || is_link(path)) ? ELOOP : 0;
    return !errno;
}

static bool path_of(const spot_ctx *c, const spot_conv_task *t, size_t version, int place, char *path, size_t size)
{
    char name[256];
    size_t n;

    put_name(name, sizeof name, t->words);
    if (!folder_of(c, version, place, path, size)) return false;
    n = strlen(path);
    return (size_t)snprintf(path + n, size - n, "/%s.plan", name) < size - n;
}

/* The first line of a file: task, device and version. */
static void put_heading(const spot_ctx *c, const spot_conv_task *t, size_t version, char *line, size_t size)
{
    snprintf(line, size, "%s on %s by cuDNN %zu", t->words, model_of(c), version);
}

/* The run made its own folder, and only the user's may have to be made with those above it. */
bool spot_stored_can(spot_ctx *c, size_t version, int place)
{
    char path[PATH_MAX];
    bool able = folder_of(c, version, place, path, sizeof path);

    for (char *slash = path; able && !is_run(c, place) && (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        if (mkdir(path, 0777) && errno != EEXIST) able = false;
        *slash = '/';
    }
    if (able && !mkdir(path, 0777))
        spot_log(c, SPOT_LOG_INFO, "cuDNN's ways to convolve are timed once and kept in %s", path);
    return able && !access(path, W_OK);
}

/* Reads the next line without its line feed; false where it is missing or does not fit. */
static bool next_line(FILE *f, char *line, size_t size)
{
    size_t n = fgets(line, (int)size, f) ? strlen(line) : 0;

    if (!n || line[n - 1] != '\n') return false;
    line[n - 1] = 0;
    return true;
}

/* Opens a plan; NULL where it is absent. In a run a link counts as a foreign file, and so does everywhere what is no file:
 * *foreign. */
static FILE *open_file(const char *path, bool in_run, bool *foreign)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | (in_run ? O_NOFOLLOW : 0));
    struct stat s;
    FILE *f;

    *foreign = fd < 0 ? errno == ELOOP : fstat(fd, &s) || !S_ISREG(s.st_mode);
    f = fd < 0 || *foreign ? NULL : fdopen(fd, "r");
    if (fd >= 0 && !f) close(fd);
    return f;
}

spot_stored_found spot_stored_read(spot_ctx *c, const spot_conv_task *t, size_t version, int place, spot_stored *s)
{
    char path[PATH_MAX], want[512], line[512];
    bool ours = false, good = false, foreign = false;
    FILE *f;

    if (!path_of(c, t, version, place, path, sizeof path)) return SPOT_STORED_NONE;
    f = open_file(path, is_run(c, place), &foreign);
    if (!f && !foreign) return SPOT_STORED_NONE;
    put_heading(c, t, version, want, sizeof want);
    if (f) {
        ours = next_line(f, line, sizeof line) && !strcmp(line, want);
        good = ours && next_line(f, s->choice.words, sizeof s->choice.words)
            && next_line(f, line, sizeof line) && sscanf(line, "digest %8x", &s->digest) == 1;
        fclose(f);
    }
    if (good) return SPOT_STORED_READ;
    if (ours) {
        spot_log(c, SPOT_LOG_WARN, "%s is damaged and was removed; a plan is searched again", path);
        unlink(path);
        return SPOT_STORED_NONE;
    }
    spot_log(c, SPOT_LOG_WARN, "%s is no plan that Spotter kept, and stays%s", path,
             place ? "" : "; the first right plan is taken, not the fastest, until you remove it");
    return SPOT_STORED_FOREIGN;
}

/* The file stays, because who waits for its lock has it open. */
void spot_stored_lock(const spot_ctx *c, size_t version, int place, int *lock, bool *held)
{
    char path[PATH_MAX];
    size_t n;

    *lock = -1, *held = false;
    if (!folder_of(c, version, place, path, sizeof path)) return;
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

/* The result that a plan made is synced to the disk, and so is the plan's name. */
static void sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    int fd;

    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

/* Opens a new file beside path. Its name is that of the temp files which store.h removes from a run after a kill. One thread
 * at a time writes plans (conv_plans.cu). */
static int open_temp(char *temp, size_t size, const char *path)
{
    static unsigned count;
    char host[65] = "";

    gethostname(host, sizeof host - 1);
    if ((size_t)snprintf(temp, size, "%s.%s-%d-%u.tmp", path, *host ? host : "host", (int)getpid(), count++) >= size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
}

bool spot_stored_write(spot_ctx *c, const spot_conv_task *t, size_t version, int place, const spot_stored *s,
                       const char *remark, bool replace)
{
    char path[PATH_MAX], temp[PATH_MAX + 128], heading[512];
    int fd, error;

    if (!path_of(c, t, version, place, path, sizeof path)) return false;
    put_heading(c, t, version, heading, sizeof heading);
    fd = open_temp(temp, sizeof temp, path);
    error = fd < 0 ? errno : fchmod(fd, 0644) ? errno : write_file(fdopen(fd, "w"), heading, s, remark);
    if (!error && (replace ? rename(temp, path) : link(temp, path)) && errno != EEXIST) error = errno;
    if (fd >= 0) unlink(temp);
    if (error) spot_log(c, SPOT_LOG_WARN, "cannot write %s (%s)", path, strerror(error));
    else sync_folder_of(path);
    errno = error;
    return !error;
}
