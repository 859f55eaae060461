/* tables.h - a run's results gathered for printing. */
#ifndef SPOTTER_REPORT_TABLES_H
#define SPOTTER_REPORT_TABLES_H

#include "spotter/config.h"
#include "spotter/report.h"
#include "sweep/segment.h"

typedef struct {
    int    index, status, blindspots, specificity[SPOT_MAX_BLINDSPOTS];
    bool   learned, counted;                   /* counted: part of the averages */
    double outside, inside[SPOT_MAX_BLINDSPOTS];
} spot_table_ec;

typedef struct {
    char         name[80];
    spot_score  *score;                        /* (ecs) */
    bool        *scored;                       /* (ecs): false where training or the method failed */
    spot_summary sum;
    int          failed;                       /* counted ECs without a score */
} spot_table_method;

typedef struct {
    const char  *dir;
    int          planned, not_learned, bad;    /* bad: segments that are damaged or of another config */
    bool         include_all;
    char         config[33], build[32], device[32];
    int          numbers;
    spot_metric_config metric;
    int          ecs, methods;
    spot_table_ec *ec;                         /* (ecs) */
    spot_table_method method[SPOT_MAX_BDMS];
} spot_table;

/* What "u" means, for every format. */
#define SPOT_TABLE_U "u is the length of the shortest prefix of a method's hypotheses whose DR is that of all of them, " \
                     "0 when that is 0; FDR is over those u"

void spot_table_print_text(FILE *f, const spot_table *t, bool markdown);
void spot_table_print_csv(FILE *f, const spot_table *t);
spot_status spot_table_print_json(spot_ctx *c, FILE *f, const spot_table *t);

#endif
