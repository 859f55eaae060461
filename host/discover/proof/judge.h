/* judge.h - types and functions that the parts of a proof share (spotter/discover.h).
 *
 *     proof_parts.c    divides the rows, finds each judging row's nearest finding rows
 *     proof_groups.c   rows that belong together: their division, exchanges of their errors (proof_groups.h)
 *     proof_rules.c    slices that are rules of attributes
 *     proof_run.c      one run: a search on each part, its slices as pieces, judged
 *     proof_draws.c    draws of the judging rows' errors; proof_tails.c what is exact where rows have groups (proof_draws.h)
 *     proof_correct.c  p corrected for the number of slices
 *     proof_weights.c  shares of the level, by what the finding part says of a slice
 *     proof_pace.c     the time of opening a proof, and of its draws, for an estimate
 *     proof_chance.c   errors without structure for further runs
 *     proof_facts.c    what to expect on new rows, and what confidence alone lets expect
 *     proof_merge.c    pieces -> slices
 *     proof_causes.c   confirmed slices that are near each other
 *     proof_merges.c   Ward's trees of the classes, merge by merge, beside the proof; merges_write.c their file
 *     proof.c          the whole; proof_options.c its options
 *
 * Classes are searched apart from one another, in any order and by several processes; then all are concluded together. */
#ifndef SPOTTER_JUDGE_H
#define SPOTTER_JUDGE_H

#include "discover/search/search.h"
#include "stats/statistics.h"

#define SPOT_WHOLE 0.9                 /* a slice with this share of its class is the class */
enum { SPOT_FINDERS = 10000 };         /* rows of a part on which all rows beside classes are searched, about */
enum { SPOT_EXCESSES = 101 };          /* grid of excess error rates from -1 to 1 */

/* A piece with its rows: bit i is row i of its class. */
typedef struct {
    spot_piece said;
    double     score;                  /* the method's */
    double     alone;                  /* p if rows were alone: of a piece without groups it is said.p */
    double     least;                  /* no errors give a corrected p below it; 0: rows are alone */
    int        class_place;            /* of its class among the proof's: an index of cls below, no class number */
    bool       backed;                 /* by the part that found it (proof_weights.c) */
    int        slice;                  /* of the class, into which it is merged; -1: none */
    uint64_t  *found, *judged;
} spot_judged;

typedef struct {
    int       cls, n, wrong;           /* as in spot_finding */
    int       strata;                  /* 1, or, for all rows at once, one for each class */
    int      *row;                     /* (n): rows of the subject */
    size_t    words;                   /* of 64 rows */
    int       members[2], *member[2];  /* the class's rows of a part, by their index in the class */
    int       finders[2], *finder[2];  /* those that a search of the part sees: all of them, or a sample */
    int       votes[2], *nearest[2];   /* of slices found on part q: (members[1 - q], votes[q]) indices into finder[q] */
    int       asked[2], *peers[2];     /* rows of finder[q] that are asked (proof_weights.c); (asked[q], neighbours): indices
                                        * into finder[q], -1 behind the last */
    uint8_t  *is_wrong;                /* (n), in the current run */
    spot_stratum *tally[2];            /* (strata): rows and wrong rows of a part, in the current run; covered is scratch */
    int       left;                    /* slices of the current run that are no test */
    double    best;                    /* least p, of rows alone, of all searches in errors without structure; 1: none */
    double    agreement;               /* of the errors in a group: their intraclass correlation; 0: rows are alone */
    int       tried[2], failed[2];     /* searches of methods and seeds in a part, in the current run */
    bool      again;                   /* one failed that may succeed another time, such as for lack of memory */
    spot_status failure;               /* of the last part in which one failed: the first, and its sentence */
    char      why[1024];
} spot_proved;

/* The errors of a run: row i has the answers of row answers[i] (NULL: its own), then is made wrong or right as wanted[i] says
 * (NULL: as it is). */
typedef struct { const int *answers; const uint8_t *wanted; } spot_run_errors;

typedef struct {
    spot_ctx                    *c;
    const spot_subject          *s;
    const spot_discover_options *o;
    spot_proof_options           p;
    spot_arena                   a;
    int           classes;
    spot_proved  *cls;                 /* (classes) */
    uint8_t      *part;                /* (n): of each row of the subject, 0 or 1 */
    int          *seen;                /* (groups of the subject): scratch, 0 between uses; NULL: rows are alone */
    int           rows[2], *row[2];    /* rows of the subject that the search of a part's classes sees, ascending */
    spot_proved  *across;              /* all rows beside classes, the last of cls; NULL: none */
    int          *place;               /* with `across`: (classes of the subject) of each class in cls; -1: not there */
    spot_run_errors   errors;              /* of the current run */
    int           run, runs;           /* searches of a part, done and in all */
    bool          quiet;               /* no log: a search in errors without structure */
    int           pieces, most;        /* of the current run; at most */
    struct spot_run_log *log;          /* as in spot_chosen */
    spot_judged  *piece;
    size_t        fixed;               /* bytes of `a` that stay from run to run */
    double        weight[SPOT_EXCESSES];   /* of each excess among the judged pieces */
    float        *expected;            /* (n): error rate by predicted class and confidence; NULL: not known */
    double        best;                /* least p of all classes' searches in errors without structure */
} spot_proving;

/* ---- proof_parts.c ---- */

/* open: opens j->a and fills all members that stay but the neighbours, which only a search needs. candidates (count): the
 * classes. */
spot_status spot_proof_open(spot_proving *j, const spot_candidate *candidates, int count);
spot_status spot_proof_neighbours(spot_proving *j);
void        spot_proof_close(spot_proving *j);

/* finders: rows of a part among which neighbours are sought, at most. */
size_t      spot_proof_bytes(const spot_ctx *c, const spot_subject *s, const spot_discover_options *o,
                             const spot_candidate *candidates, int count, int finders);

/* rows (count, 2): those of each class in the two parts. */
spot_status spot_proof_part_rows(spot_ctx *c, const spot_subject *s, const spot_discover_options *o,
                                 const spot_candidate *candidates, int count, int (*rows)[2]);

size_t      spot_proof_slices(const spot_discover_options *o);     /* of a class, in both parts; at most */

/* Share of a class's rows that a search of one part sees, but for rounding and groups. p NULL: no proof, so all. */
double spot_proof_share(const spot_proof_options *p);

/* These rows as a subject; o: its options, with its attributes. Memory from a. */
typedef struct { int n, *row; } spot_part_rows;
spot_status spot_proof_subject(spot_proving *j, spot_arena *a, spot_part_rows of, spot_subject *out, spot_discover_options *o);
size_t      spot_proof_subject_bytes(const spot_subject *s, const spot_discover_options *o, int rows);

static inline int spot_stratum_of(const spot_proving *j, const spot_proved *k, int row)
{
    return k->strata > 1 ? j->s->target[row] : 0;
}
static inline bool spot_has_bit(const uint64_t *bit, int i) { return bit[i / 64] >> i % 64 & 1; }

/* ---- proof_run.c ---- */

/* Sets `covered` of the class's strata in a part: how many of the rows at these bits each has. Returns the strata. */
spot_stratum *spot_cover_strata(const spot_proving *j, const spot_proved *k, const uint64_t *bit, int part);

/* Fills j->piece with the pieces of a run with these errors, tested. Classes remember what failed. */
spot_status spot_proof_run(spot_proving *j, spot_run_errors errors);

/* Begins a run, without pieces. */
void spot_proof_begin(spot_proving *j, spot_run_errors errors);

/* The next piece, of no rows yet, of which `said` has what names it; and once it has its rows, its numbers and its test. */
spot_status spot_proof_piece(spot_proving *j, spot_judged **next, const spot_piece *said, double score,
                             int class_place);
spot_status spot_proof_keep (spot_proving *j, spot_judged *g);

/* Rows of the class at these bits, wrong ones among them, and the wrong ones that the rates of `part` let expect; part -1: of
 * all judging rows. */
typedef struct { int rows, wrong; double base; } spot_counted;
spot_counted spot_count_rows(const spot_proving *j, const spot_proved *k, const uint64_t *bit, int part);

/* Sets is_wrong and tally of all classes. */
void spot_proof_tally(spot_proving *j);

/* ---- proof_weights.c ---- */

enum { SPOT_LOOKED = 24 };             /* neighbours among which those of other groups are sought */

/* find_peers: peers[q] of a class. is_backed: whether the part that found the piece, on `found` rows, says that it fails.
 * weight_of: the p of a piece is divided by it before it is compared with others, in (0, 1]. */
spot_status spot_find_peers(spot_proving *j, spot_proved *k, int q);
bool        spot_is_backed(const spot_proving *j, const spot_proved *k, const spot_judged *g, spot_counted found);
double      spot_weight_of(const spot_judged *g);
size_t      spot_peers_bytes(const spot_discover_options *o, int rows);

/* ---- proof_rules.c ---- */

/* The rule of a slice of a method that looks at the attributes: the shortest conjunction, of equal ones that of the lowest
 * items, that holds on the finding part for its rows alone. Without items where there is none. */
spot_status spot_rule_of_piece(spot_proving *j, const spot_judged *g, spot_rule *rule);

/* Sets the bits of the rows of a part that have the rule's items. */
void spot_rule_rows(const spot_proving *j, const spot_proved *k, const spot_rule *rule, int part, uint64_t *bit);

/* rule (f->slices): the best rule of each slice of a search of part `part`, whose row i is row[i] of the subject, on the rows
 * that it saw; without items where there is none. */
spot_status spot_rules_offer(spot_proving *j, spot_rule *rule, const spot_finding *f, int class_place, int part,
                             const int *row);

bool spot_same_rule(const spot_rule *a, const spot_rule *b);

/* ---- proof_correct.c ---- */

/* said.corrected of all pieces, of the run whose tally stands. bytes: at most, while no search is under way. */
spot_status spot_proof_correct(spot_proving *j);
size_t      spot_proof_correct_bytes(const spot_ctx *c, const spot_subject *s, const spot_discover_options *o,
                                     const spot_candidate *candidates, int count);

/* ---- proof_pace.c ---- */

/* Time to open a proof, which each batch of classes does once, and to make some of its draws; all draws take `times` as long.
 * slices: those that a search of a class finds, and one of all rows beside classes. */
typedef struct { spot_spent open, draws; double times; } spot_proof_times;

spot_status spot_proof_time(spot_ctx *c, spot_proof_times *t, const spot_subject *s, const spot_discover_options *o,
                            const spot_chosen *k, const int slices[2]);

/* ---- proof_chance.c ---- */

/* The least p of each class in `chance` runs; bytes that it takes. */
spot_status spot_proof_chance(spot_proving *j);
size_t      spot_proof_chance_bytes(const spot_subject *s);

/* ---- proof_facts.c ---- */

/* j->weight: the prior of the excesses, learned from j->piece; the posterior mean of the excess of as many judged rows that are
 * alone. */
spot_status spot_learn_excesses(spot_proving *j);
double spot_shrunk_excess(const spot_proving *j, double rows, double wrong, double rate);
spot_status spot_learn_expected(spot_proving *j);
void   spot_proof_facts(const spot_proving *j, const spot_proved *k, const uint64_t *judged, spot_slice *slice);

/* ---- proof_merge.c ---- */

/* Merges the pieces of all classes; then f's findings. */
spot_status spot_proof_merge(spot_proving *j);
spot_status spot_proof_findings(spot_proving *j, spot_findings *f, const spot_candidate *candidates, int count);

/* ---- proof_causes.c ---- */

/* Gives each slice the number of its cause. */
spot_status spot_proof_causes(spot_ctx *c, spot_findings *f, const spot_subject *s);

/* ---- proof_options.c ---- */

spot_status spot_proof_check(spot_ctx *c, const spot_subject *s, const spot_discover_options *o);

/* ---- proof.c ---- */

/* A proof of these classes is begun, for spot_proof_close, also after a failure. search: fills j->piece and what the classes
 * remember. conclude: from all of them, of all classes, to findings. */
spot_status spot_prove_open(spot_proving *j, spot_ctx *c, const spot_subject *s, const spot_discover_options *o,
                            const spot_chosen *k);
spot_status spot_prove_search(spot_proving *j);
spot_status spot_prove_conclude(spot_proving *j, spot_findings *f, const spot_chosen *k);

#endif
