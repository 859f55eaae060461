/* tables.c - spotter tables: a run's results in one of four formats. */
#include <stdio.h>

#include "report/table/results.h"
#include "spotter/sweep.h"
#include "study/run_log.h"

static spot_status print_tables(spot_ctx *c, FILE *f, const spot_results *t, spot_table_format format)
{
    switch (format) {
    case SPOT_TABLE_TEXT: spot_table_print_text(f, t, false); return SPOT_OK;
    case SPOT_TABLE_MD:   spot_table_print_text(f, t, true);  return SPOT_OK;
    case SPOT_TABLE_CSV:  spot_table_print_csv(f, t);         return SPOT_OK;
    case SPOT_TABLE_JSON: return spot_table_print_json(c, f, t);
    }
    return spot_fail(c, SPOT_USAGE, "no such table format: %d", (int)format);
}

/* A failure is only a warning: a read-only run has tables, too. */
static void remake_database(spot_ctx *c, const char *dir, const char *config)
{
    spot_status s = spot_database_write(c, dir, config);

    if (s == SPOT_OK) return;
    spot_log(c, SPOT_LOG_WARN, "results.sqlite is as it was: %s", spot_message(c, s));
    spot_forget(c);
}

spot_status spot_tables(spot_ctx *c, FILE *f, const char *dir, spot_table_format format, bool include_all)
{
    spot_results *t;
    spot_status s = spot_results_read(c, &t, dir, include_all);

    if (s == SPOT_OK) s = print_tables(c, f, t, format);
    if (s == SPOT_OK && (fflush(f) || ferror(f))) s = spot_fail(c, SPOT_IO, "the tables could not be written");
    if (s == SPOT_OK) remake_database(c, dir, t->config);
    if (s == SPOT_OK) spot_run_makers_look(c, dir, NULL);
    if (s == SPOT_OK) s = spot_results_verdict(c, t);
    spot_results_free(t);
    return s;
}
