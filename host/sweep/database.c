/* database.c - writes results.sqlite from the segments. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "sweep/segment.h"

static const char schema[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"     /* a temporary file that is renamed when it is complete */
    "CREATE TABLE ecs (ec INTEGER PRIMARY KEY, seed TEXT, config TEXT, numbers INTEGER, build TEXT, device TEXT,"
    " profile TEXT, lambda_p REAL, lambda_r REAL, top INTEGER, layers TEXT, rollable TEXT, status TEXT, message TEXT,"
    " best_epoch INTEGER, outside REAL, learned INTEGER, induce TEXT, strength REAL, rows_outside INTEGER,"
    " wrong_outside INTEGER);"
    "CREATE TABLE blindspots (ec INTEGER, blindspot INTEGER, specificity INTEGER, definition TEXT, inside REAL,"
    " rows INTEGER, wrong INTEGER,"
    " PRIMARY KEY (ec, blindspot));"
    "CREATE TABLE results (ec INTEGER, method TEXT, settings TEXT, status TEXT, message TEXT, dr REAL, fdr REAL,"
    " u INTEGER, hypotheses INTEGER, components INTEGER);"
    "CREATE TABLE beside (ec INTEGER, method TEXT, quantity TEXT, value REAL);"       /* metric.h: SPOT_BESIDE */
    "CREATE TABLE found (ec INTEGER, method TEXT, blindspot INTEGER, size INTEGER, br REAL, covered INTEGER,"
    " not_returned REAL, found REAL, merged REAL, impure REAL);"
    "CREATE TABLE hypotheses (ec INTEGER, method TEXT, hypothesis INTEGER, size INTEGER, score REAL, mean_error REAL,"
    " belongs INTEGER, coherence REAL);"
    "BEGIN;";

enum { ECS, BLINDSPOTS, RESULTS, BESIDE, FOUND, HYPOTHESES, STATEMENTS };

static const char *const inserts[STATEMENTS] = {
    "INSERT INTO ecs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT INTO blindspots VALUES (?,?,?,?,?,?,?)",
    "INSERT INTO results VALUES (?,?,?,?,?,?,?,?,?,?)",
    "INSERT INTO beside VALUES (?,?,?,?)",
    "INSERT INTO found VALUES (?,?,?,?,?,?,?,?,?,?)",
    "INSERT INTO hypotheses VALUES (?,?,?,?,?,?,?,?)",
};

typedef struct { sqlite3 *db; sqlite3_stmt *insert[STATEMENTS]; int rc; } database;

/* Inserts a row. types has a letter per column: i int, r double (NaN is NULL), t text. */
static void add_row(database *d, int table, const char *types, ...)
{
    sqlite3_stmt *st = d->insert[table];
    va_list args;

    if (d->rc != SQLITE_OK) return;
    va_start(args, types);
    for (int i = 0; types[i]; i++) {
        if (types[i] == 'i') sqlite3_bind_int(st, i + 1, va_arg(args, int));
        if (types[i] == 'r') sqlite3_bind_double(st, i + 1, va_arg(args, double));
        if (types[i] == 't') sqlite3_bind_text(st, i + 1, va_arg(args, const char *), -1, SQLITE_STATIC);
    }
    va_end(args);
    sqlite3_step(st);
    d->rc = sqlite3_reset(st);
}

static void add_method(database *d, const spot_segment *s, const spot_outcome *o)
{
    const spot_score *k = &o->score;
    const char *name = spot_status_name((spot_status)o->status);

    if (o->status) {
        add_row(d, RESULTS, "itttt", s->index, o->name, o->settings, name, o->message);
        return;
    }
    add_row(d, RESULTS, "itttt" "rriii", s->index, o->name, o->settings, name, "", k->dr, k->fdr, k->u, k->hypotheses,
            o->components);
    for (int b = 0; b < SPOT_BESIDES; b++)
        add_row(d, BESIDE, "ittr", s->index, o->name, spot_beside_name(b), k->beside[b]);
    for (int m = 0; m < s->blindspots; m++)
        add_row(d, FOUND, "itiiri" "rrrr", s->index, o->name, m, k->size[m], k->br[m], k->covered[m], k->failure[m][0],
                k->failure[m][1], k->failure[m][2], k->failure[m][3]);
    for (int h = 0; h < k->hypotheses; h++)
        add_row(d, HYPOTHESES, "itiirrir", s->index, o->name, h, o->size[h], o->order[h], o->mean_error[h], k->belongs[h],
                k->coherence[h]);
}

static void add_segment(database *d, const spot_segment *s)
{
    const spot_learning *l = &s->lesson;
    char seed[32];

    snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->seed);   /* 64 bits do not fit SQLite's integers */
    add_row(d, ECS, "ittitttrrittttiri" "trii", s->index, seed, s->config, s->numbers, s->build, s->device,
            spot_profile_name(s->metric.profile), s->metric.lambda_p, s->metric.lambda_r, s->metric.top, s->layers,
            s->rollable, spot_status_name((spot_status)s->status), s->message, l->best_epoch,
            s->status ? NAN : l->outside, l->learned, s->induce, s->strength, s->severity.outside.rows,
            s->severity.outside.wrong);
    for (int m = 0; m < s->blindspots; m++)
        add_row(d, BLINDSPOTS, "iiitrii", s->index, m, s->specificity[m], s->blindspot[m], s->status ? NAN : l->inside[m],
                s->severity.inside[m].rows, s->severity.inside[m].wrong);
    for (int b = 0; b < s->methods; b++) add_method(d, s, &s->method[b]);
}

static spot_status add_segments(spot_ctx *c, database *d, const spot_study *y, const char *dir, const char *config,
                                spot_segment *s)
{
    spot_frame f;
    int *index, n;
    spot_status status = spot_frame_list(c, y, dir, &index, &n);

    for (int i = 0; i < n && status == SPOT_OK; i++) {
        status = spot_check_stop(c);
        if (status) break;
        status = spot_frame_read(c, y, dir, index[i], s, &f);
        if (status || f.state != SPOT_SEGMENT_WHOLE || (*config && strcmp(s->config, config))) continue;
        add_segment(d, s);
    }
    free(index);
    return status;
}

spot_status spot_database_fill(spot_ctx *c, const spot_study *y, const char *dir, const char *config)
{
    char path[1200], temp[1400], why[256] = "";
    database d = { 0 };
    spot_segment *s = calloc(1, sizeof *s);
    spot_status status;
    int fd;

    if (!s) return spot_fail(c, SPOT_NOMEM, "no memory to make results.sqlite");
    snprintf(path, sizeof path, "%s/results.sqlite", dir);
    status = spot_file_begin(c, temp, sizeof temp, path, &fd);         /* SQLite would write through a link of that name */
    if (status) return free(s), status;
    close(fd);
    d.rc = sqlite3_open(temp, &d.db);
    if (d.rc == SQLITE_OK) d.rc = sqlite3_exec(d.db, schema, NULL, NULL, NULL);
    for (int i = 0; i < STATEMENTS && d.rc == SQLITE_OK; i++)
        d.rc = sqlite3_prepare_v2(d.db, inserts[i], -1, &d.insert[i], NULL);
    if (d.rc == SQLITE_OK) status = add_segments(c, &d, y, dir, config, s);
    if (d.rc == SQLITE_OK) d.rc = sqlite3_exec(d.db, "COMMIT", NULL, NULL, NULL);
    if (d.rc != SQLITE_OK) snprintf(why, sizeof why, "%s", d.db ? sqlite3_errmsg(d.db) : sqlite3_errstr(d.rc));
    for (int i = 0; i < STATEMENTS; i++) sqlite3_finalize(d.insert[i]);
    if (sqlite3_close(d.db) != SQLITE_OK && !*why) snprintf(why, sizeof why, "it could not be closed");
    spot_segment_free(s);
    if (*why) status = spot_fail(c, SPOT_IO, "cannot write %s: %s; free some space and run `spotter tables`", temp, why);
    if (status == SPOT_OK) return spot_file_commit(c, temp, path);
    unlink(temp);
    return status;
}
