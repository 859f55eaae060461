/* embed_part.c - see embed_part.h. */
#define _POSIX_C_SOURCE 200809L
#include "cli/embed_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "study/run_claim.h"

enum { HEAD = 128 };

static const char magic[] = "spotter embed 1 ";

int cli_embed_blocks(const cli_embed_part *p) { return (p->n + p->block - 1) / p->block; }

int cli_embed_block_rows(const cli_embed_part *p, int b)
{
    int left = p->n - b * p->block;

    return left < p->block ? left : p->block;
}

int cli_embed_rows_done(const cli_embed_part *p)
{
    int n = 0;

    for (int b = 0; b < cli_embed_blocks(p); b++) n += p->done[b] ? cli_embed_block_rows(p, b) : 0;
    return n;
}

static size_t row_bytes(const cli_embed_part *p, int b) { return (size_t)cli_embed_block_rows(p, b) * (size_t)p->dim * 4; }

/* Bytes of a block without its key. */
static size_t data_bytes(const cli_embed_part *p, int b) { return row_bytes(p, b) + (size_t)cli_embed_block_rows(p, b); }

static off_t place_of(const cli_embed_part *p, int b)
{
    return HEAD + (off_t)b * (off_t)((size_t)p->block * ((size_t)p->dim * 4 + 1) + sizeof(spot_key));
}

float   *cli_embed_part_rows(cli_embed_part *p) { return (float *)(void *)p->record; }
uint8_t *cli_embed_part_marks(cli_embed_part *p, int b) { return p->record + row_bytes(p, b); }

static spot_key key_of_block(const cli_embed_part *p, int b)
{
    return spot_key_join(spot_key_join(p->key, "rows", &p->of[b], sizeof p->of[b]), "block", p->record, data_bytes(p, b));
}

/* Returns the bytes that were read, fewer at the end of the file; -1 with errno. */
static ssize_t read_at(int fd, unsigned char *to, size_t n, off_t at)
{
    size_t got = 0;

    while (got < n) {
        ssize_t k = pread(fd, to + got, n - got, at + (off_t)got);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return -1;
        if (!k) break;
        got += (size_t)k;
    }
    return (ssize_t)got;
}

static spot_status write_at(spot_ctx *c, const cli_embed_part *p, const unsigned char *from, size_t n, off_t at)
{
    for (size_t put = 0; put < n;) {
        ssize_t k = pwrite(p->fd, from + put, n - put, at + (off_t)put);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return spot_file_failed(c, "write", p->path, k ? errno : ENOSPC);
        put += (size_t)k;
    }
    return SPOT_OK;
}

/* Whether the file has block b, which is then in p->record. */
static spot_status try_block(spot_ctx *c, cli_embed_part *p, int b, bool *whole)
{
    size_t n = data_bytes(p, b) + sizeof(spot_key);
    ssize_t got = read_at(p->fd, p->record, n, place_of(p, b));
    spot_key key;

    *whole = false;
    if (got < 0) return spot_file_failed(c, "read", p->path, errno);
    if ((size_t)got < n) return SPOT_OK;
    key = key_of_block(p, b);
    *whole = !memcmp(&key, p->record + n - sizeof key, sizeof key);
    return SPOT_OK;
}

spot_status cli_embed_part_read(spot_ctx *c, cli_embed_part *p, int b)
{
    bool whole;

    SPOT_TRY(try_block(c, p, b, &whole));
    if (whole) return SPOT_OK;
    return spot_fail(c, SPOT_IO, "%s was changed while it was in use; run the same command again", p->path);
}

spot_status cli_embed_part_write(spot_ctx *c, cli_embed_part *p, int b)
{
    size_t n = data_bytes(p, b);
    spot_key key = key_of_block(p, b);

    memcpy(p->record + n, &key, sizeof key);
    SPOT_TRY(write_at(c, p, p->record, n + sizeof key, place_of(p, b)));
    p->done[b] = 1;
    return SPOT_OK;
}

/* ---- the head ---- */

/* Returns the bytes that say whose rows these are. */
static size_t print_head(const cli_embed_part *p, char head[HEAD + 1], const char *mark)
{
    char key[33], line[HEAD];
    int own;

    spot_key_text(key, p->key);
    own = snprintf(line, sizeof line, "%s%s", magic, key);
    snprintf(line + own, sizeof line - (size_t)own, " %s", mark);
    snprintf(head, HEAD + 1, "%-*s\n", HEAD - 1, line);
    return (size_t)own;
}

/* mark: this process works on the file; false: it has ended. */
static spot_status write_head(spot_ctx *c, cli_embed_part *p, bool marked)
{
    const spot_claimant own = spot_claim_now();
    char head[HEAD + 1], mark[HEAD] = "";

    if (marked) snprintf(mark, sizeof mark, "%d %.0f %s", own.pid, own.began, own.host);
    print_head(p, head, mark);
    p->claimed = marked;
    return write_at(c, p, (const unsigned char *)head, HEAD, 0);
}

static bool read_mark(const cli_embed_part *p, const char head[HEAD + 1], spot_claimant *mark)
{
    struct stat st;
    char own[HEAD + 1];

    *mark = (spot_claimant){ .pid = 0 };
    if (sscanf(head + print_head(p, own, ""), " %d %lf %63s", &mark->pid, &mark->began, mark->host) != 3) return false;
    mark->alive = fstat(p->fd, &st) ? 0 : (double)st.st_mtime;
    return true;
}

static double look_again(spot_ctx *c, void *user, const spot_claimant *was)
{
    const cli_embed_part *p = user;
    char head[HEAD + 1] = "";
    spot_claimant now;

    (void)c;
    return read_at(p->fd, (unsigned char *)head, HEAD, 0) == HEAD && read_mark(p, head, &now) && now.pid == was->pid
        ? now.alive : 0;
}

static spot_status begin_file(spot_ctx *c, cli_embed_part *p)
{
    if (ftruncate(p->fd, 0)) return spot_file_failed(c, "write", p->path, errno);
    return write_head(c, p, true);
}

static spot_status find_blocks(spot_ctx *c, cli_embed_part *p, bool replace)
{
    struct stat st;
    bool whole;

    if (fstat(p->fd, &st)) return spot_file_failed(c, "read", p->path, errno);
    for (int b = 0; b < cli_embed_blocks(p); b++) {
        SPOT_TRY(try_block(c, p, b, &whole));
        p->done[b] = whole;
    }
    if (cli_embed_rows_done(p) || st.st_size <= place_of(p, 1) || replace) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "%s holds unfinished rows of other pictures or texts; choose another name, or say "
                     "--replace", p->path);
}

/* Continues a file with the same head, unless another process does. */
static spot_status go_on(spot_ctx *c, cli_embed_part *p, const char have[HEAD + 1], cli_embed_force force)
{
    const spot_claim_place at = { p->path, "rows", false, look_again, p };
    spot_claimant mark;

    if (!force.beside && read_mark(p, have, &mark)) SPOT_TRY(spot_claim_check(c, &at, &mark));
    SPOT_TRY(find_blocks(c, p, force.replace));
    return write_head(c, p, true);
}

/* Looks at a file that is there. */
static spot_status take_over(spot_ctx *c, cli_embed_part *p, cli_embed_force force)
{
    char want[HEAD + 1], have[HEAD + 1] = "";
    const size_t own = print_head(p, want, "");
    ssize_t n = read_at(p->fd, (unsigned char *)have, HEAD, 0);

    if (n < 0) return spot_file_failed(c, "read", p->path, errno);
    if (!n) return begin_file(c, p);
    if (n == HEAD && !memcmp(want, have, own + 1)) return go_on(c, p, have, force);
    if (force.replace) return begin_file(c, p);
    if (!memcmp(magic, have, sizeof magic - 1))
        return spot_fail(c, SPOT_USAGE, "%s holds unfinished rows of another encoder; choose another name, or say --replace",
                         p->path);
    return spot_fail(c, SPOT_USAGE, "%s is there, and spotter embed did not write it; choose another name, or say --replace",
                     p->path);
}

spot_status cli_embed_part_open(spot_ctx *c, cli_embed_part *p, cli_embed_force force)
{
    struct stat st;

    p->fd = -1;
    p->done = calloc((size_t)cli_embed_blocks(p), 1);
    p->record = malloc(data_bytes(p, 0) + sizeof(spot_key));
    if (!p->done || !p->record) return spot_fail(c, SPOT_NOMEM, "no memory for a block of %d rows", p->block);
    p->fd = open(p->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (p->fd < 0) return spot_file_failed(c, "write", p->path, errno);
    if (fstat(p->fd, &st) || !S_ISREG(st.st_mode)) return spot_file_failed(c, "write", p->path, ENODEV);
    return take_over(c, p, force);
}

void cli_embed_part_tidy(spot_ctx *c, cli_embed_part *p)
{
    char want[HEAD + 1], have[HEAD + 1] = "";
    const spot_claim_place at = { p->path, "rows", false, look_again, p };
    const size_t own = print_head(p, want, "");
    spot_claimant mark;
    struct stat st;

    p->fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (p->fd < 0) return;
    if (!fstat(p->fd, &st) && S_ISREG(st.st_mode) && read_at(p->fd, (unsigned char *)have, HEAD, 0) == HEAD
        && !memcmp(want, have, own + 1)) {
        if (!read_mark(p, have, &mark) || spot_claim_check(c, &at, &mark) == SPOT_OK) unlink(p->path);
        else spot_forget(c);
    }
    close(p->fd);
    p->fd = -1;
}

void cli_embed_part_close(cli_embed_part *p)
{
    spot_ctx quiet = { 0 };

    if (p->claimed && write_head(&quiet, p, false)) p->claimed = false;     /* then the next process finds this one gone */
    if (p->fd >= 0 && p->record) close(p->fd);
    free(p->done);
    free(p->record);
    p->done = p->record = NULL;
    p->fd = -1;
}
