/* results_describe.h - the numbers of a sweep, each described once, for the tables in all formats and the page. A new number of
 * a method is a row in results_describe.c. The root of all lists is a spot_results (result/result.h). tables_data.c writes the
 * document as JSON, tables_text.c the tables on the terminal and in Markdown, html_results.c has the methods on the page. */
#ifndef SPOTTER_RESULTS_DESCRIBE_H
#define SPOTTER_RESULTS_DESCRIBE_H

#include "report/table/factors.h"
#include "result/result.h"

extern const spot_quantity spot_results_document[];                /* all of it, for JSON */
extern const spot_quantity spot_results_methods[];                 /* the methods alone, without factors, for the page */

/* Tables of the methods, a row each. names: the name alone, before columns that are added. means: [0] without FDR, [1] with it
 * (spot_results_knows_fdr). besides: the numbers beside DR and FDR (SPOT_BESIDE). failures: why blindspots were missed. */
extern const spot_quantity spot_results_names, spot_results_means[2], spot_results_besides, spot_results_failures;

/* The number of a level (factors.h). */
const spot_quantity *spot_results_rate(spot_rate rate);

extern const spot_quantity spot_results_ecs;                       /* a row for each EC, without the methods */

/* Columns whose number only a run knows, for names and ecs: the mean of factor level `index` (spot_factor_at); DR of method
 * index / 2 in a row's EC, FDR where the index is odd. */
void spot_results_factor_mean(spot_quantity_value *v, const void *row, int index);
void spot_results_ec_rate    (spot_quantity_value *v, const void *row, int index);

/* Visits the numbers of method b over ECs; those of EC i where the method has a score. */
void spot_results_visit_method(const spot_results *r, int b, spot_quantity_visitor *visit, void *user);
void spot_results_visit_rates (const spot_results *r, int b, int i, spot_quantity_visitor *visit, void *user);

#endif
