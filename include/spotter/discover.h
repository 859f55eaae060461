/* discover.h - subject -> findings: runs every method on every chosen class with every seed, and writes the findings.
 *
 * A method with SPOT_BY_ATTRIBUTES uses options.attributes: a column of 0 and 1 for each item. Every
 * other method uses the subject's features, whatever its `representation`; SPOT_BY_CLIP and SPOT_BY_FILE are SPOT_USAGE.
 *
 * A folder of findings:
 *     slices.csv     id, class, method, seed, rank, score: a line for every row of every slice. A text that a spreadsheet would
 *                    run as a formula (it begins with = + - @ or a tab, and is no number) has ' before it;
 *                    with a proof also its claim, and whether the row was found, judged or both; then the number of the slice
 *                    and of the entry that has it (spot_findings_entries); where rows have groups, the row's; and, where
 *                    labels were looked at, the class that a row with a suspect label seems to have. rank counts the slices
 *                    of a class, seed and method
 *     slices.json    the examined classes; each slice: size, error rate, mean confidence, share of all errors, nearest correct
 *                    neighbours, and its words and conjunction where it was described; the classes that were not examined,
 *                    and why; how much the features decide the answer (spot_decided); the summary, the errors of each class,
 *                    the entries (spot_slice_list_members). With a proof (schema 2) also its options, and each slice's
 *                    numbers and tests
 *     map.npy        (n, 2): first two columns of the first map, in the subject's order; of PCA where no method has a map, and
 *                    with a proof; NaN for rows of classes that were not examined
 *     fit.safetensors    fitted parameters of the methods (spot_fit), with which spotter assign puts new rows into the slices;
 *                    "I/NAME" for finding I of slices.json. With a proof also the features of all other rows of the searched
 *                    classes, 4 bytes a number, with which spotter compare judges another version
 *     subject.safetensors    the parts of subject and findings that a report shows, for spot_findings_read
 *     config.yaml    whose rows these are, by hashes; classes, methods, seeds and proof as resolved
 *     report.html    the page (report.h)
 *     cache/         maps and hypotheses by key, so that another method does not compute a map again
 *     segments/, logs/   of a run: the result of each class, a log for each process (work.h)
 * Each file is whole or absent. The bytes are the same for any number of threads, and from the library, program and Python. */
#ifndef SPOTTER_DISCOVER_H
#define SPOTTER_DISCOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/bdm.h"
#include "spotter/describe.h"
#include "spotter/interval.h"
#include "spotter/subject.h"
#include "spotter/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- proofs ---- */

/* Slices as claims: found on one part of the rows, judged on rows that the search has not seen.
 *
 *     rows -> two parts -> a search in each -> its slices judged on the other part -> one family of tests -> merged slices
 *
 * A search looks at the errors, so a slice's own rows prove nothing: in errors without structure, methods find groups with many
 * of them. A proof divides the rows of each class in two parts at random, runs every method on each part, and asks of every
 * slice which rows of the other part belong to it. These join by their features alone, blind to their own probabilities: a row
 * belongs where most of its `neighbours` nearest rows of its class, among those of the finding part, do. Then wrong rows among
 * them are counted.
 *
 * Where there are attributes, a slice may be a rule: rows that have certain items. The rows of the other part that have them
 * belong, and no neighbour votes. The slices of itemsets are rules. Each slice of another method is offered its best rule: of
 * all conjunctions of at most three items the one of the greatest F1 with the slice on the finding part, by
 * spot_conjunctions_find, which is judged as one slice more of the same family. Equal rules of a class and part are one.
 *
 * The test of a slice is exact and one-sided: if its judged rows were drawn at random from the judged rows of the same classes,
 * how probable are at least so many wrong ones? With one class this is hypergeometric; with several, the sum of independent
 * hypergeometric numbers, class by class, so that a class with many errors is no finding. The correction covers all slices of
 * all methods, seeds, classes and parts together: the errors of each part's judging rows are drawn again within each class, and
 * a slice has to beat the best slice of the draws (Westfall and Young's step-down procedure; proof_correct.c). So the level is
 * used up, and slices that overlap, as those of several methods do, count little more than one.
 *
 * The level is not shared evenly. The rows that found a slice are asked, too: each joins where most of its nearest rows of the
 * same part do, itself and its group left out. A slice has ten times the level of others where the rows that so join fail more
 * often than their classes (proof_weights.c), as do the rows of a rule where it was found. This looks at no judging
 * row's error.
 *
 * Rows of one group (spot_subject.group) are taken together: a group lies in one part as a whole, by one division for all
 * classes, and errors are drawn again by exchanging those of groups of the same class and of like size, so that the errors of
 * a group stay together. The claim then is that a new group's rows in the slice fail more often than their classes do. p is
 * exact, given what the groups of two rows and more have in 9,999 such draws and in their own errors: groups of one row are
 * exchanged among themselves, and theirs is a hypergeometric number, so that a few copies do not make p a rank among draws.
 * If all groups have one size and one class each, this is the p of all exchanges, but for the draws; sizes from 1 to 200 and
 * one group with a third of the rows kept the level in bench/groups.py, where groups of one row were still exchanged with
 * pairs. Where all rows are searched at once and groups have rows of several classes, the signs of the groups' sums are drawn
 * in place of that, and p is a rank. No errors give a p below one in the number of ways to place the groups, those alike that
 * have the same rows in the slice: m whole groups of g of like size, 1 / (g choose m); signs, 2^-m. That is `least_p`. The
 * interval is as wide as m groups let it be. Where no group has two rows, rows are alone.
 *
 *     confirmed    the corrected p is at most `level`
 *     suggested    not confirmed, and its p is below that of the best slice of each of `chance` searches in errors without
 *                  structure
 *     chance       the rest
 *
 * No test, and left out, are slices that hold nine tenths of their class, slices whose rows fail no more often than their class
 * where they were found, and slices that no judging row joins. All this is known before the judging rows' errors are looked at.
 *
 * Slices that are nearly the same rows are merged afterwards, for display: merged before the tests, one part's rows would serve
 * finding and judging. A merged slice has the least corrected p of its pieces, which is valid, since the correction holds
 * for all pieces at once. Where a rule among its pieces is confirmed, the slice is the surest such rule: its rows, its numbers
 * and its p are that rule's.
 *
 * One cause may make several slices, in one class or in several: pictures of five classes that came out black. Confirmed slices
 * are one cause if each has half of its wrong rows or more taken for the same class, and every two of them are near: the means
 * of their wrong rows are at most half as far from each other as either is from the mean of the right rows of its own class,
 * and of the class that they are taken for. This is a rule and no test: every slice keeps its claim. */

typedef enum { SPOT_CLAIM_CHANCE, SPOT_CLAIM_SUGGESTED, SPOT_CLAIM_CONFIRMED } spot_claim;
const char *spot_claim_name(spot_claim claim);         /* "chance", "suggested", "confirmed" */

typedef struct {
    int      parts;            /* 2: each part's slices are judged on the other; 1: found on one part, judged on the other */
    double   holdout;          /* parts 1: share of each class's rows that judge, in (0, 1); parts 2: one half */
    int      neighbours;       /* rows that vote on a membership: 5, odd */
    int      chance;           /* searches in errors without structure: 0, or 19 and more; they decide "suggested" */
    double   level;            /* of the whole family of tests: 0.05 */
    double   same;             /* Jaccard index from which slices are merged: 0.5 */
    uint64_t seed;             /* of the parts and of errors without structure: 0 */
} spot_proof_options;

spot_proof_options spot_proof_defaults(void);

/* A slice of one search, and what the judging rows say. */
typedef struct {
    int      bdm, part;        /* index in the options' methods; the part, 0 or 1, on which it was found */
    uint64_t seed;             /* the method's */
    int      rank;             /* among the slices of its search, from 1 */
    int      found, found_wrong;       /* rows of the finding part, wrong ones among them */
    int      judged, wrong;    /* rows of the judging part, wrong ones among them */
    double   base;             /* wrong rows expected among `judged`: by the rates of their classes in the judging part */
    int      groups;           /* of the judged rows; 0: rows are alone */
    spot_rule rule;            /* of the options' attributes: its rows are found and judged. No items: it is none */
    double   p, corrected;     /* one-sided, exact, or the rank among draws of groups; corrected for all pieces */
} spot_piece;

/* The proof of a merged slice. The slice's rows are those that its pieces found, and the judged ones that joined them. */
typedef struct {
    spot_claim    claim;
    double        p;           /* the least corrected p of its pieces; of a rule that of the surest piece that is this rule */
    int           judged, wrong;       /* over its pieces, of a rule over those that are this rule: judged rows, each counted
                                * once; wrong ones among them */
    int           groups;      /* of the judged rows; 0: rows are alone */
    double        least_p;     /* no errors of the rows of any of these pieces give a lesser p; above `level` its groups are too
                                * few for any proof. 0: rows are alone */
    double        class_rate;  /* error rate of the judged rows' classes */
    spot_interval excess;      /* error rate of the judged rows less class_rate, with its 95 % interval */
    double        shrunk;      /* the excess to expect on new rows: its posterior mean, by a prior learned from all slices */
    double        cell;        /* error rate that predicted class and confidence alone let expect; NaN: no probabilities */
    int           predicted;   /* the class that most of its wrong rows are taken for; -1: not known */
    double        predicted_share;     /* of its wrong rows */
    int           rule_items;  /* the slice's rows are all rows of its class that have these items; 0: no rule says it */
    char        **rule;        /* (rule_items): their names */
    int           pieces;
    spot_piece   *piece;       /* (pieces): the least corrected p first */
    int           tests;       /* size of the family of tests, of all slices together */
    uint8_t      *origin;      /* (size of the slice): spot_origin of each row */
    int           cause;       /* from 1, the same for confirmed slices that are near each other; 0: it stands alone */
} spot_proof;

typedef enum { SPOT_ORIGIN_FOUND = 1, SPOT_ORIGIN_JUDGED, SPOT_ORIGIN_BOTH } spot_origin;
const char *spot_origin_name(int origin);              /* "found", "judged", "both" */

/* ---- the study ---- */

/* SPOT_EACH_AND_ALL: each class by itself and, with a proof and rows of one class each, all rows at once as one more search, if
 * two classes at least are searched. Its slices cross classes: one of which nine tenths of the rows where it was found are of
 * one class is no test. All slices are one family of tests, and the draws of the errors are the same for all. The search finds
 * on at most 10,000 rows of each part, drawn as whole groups (some rows of one that is larger), and judges on all. A row may
 * then be in slices of two findings. */
enum { SPOT_EACH_AND_ALL = -3, SPOT_EACH_CLASS = -2, SPOT_ALL_CLASSES = -1 };
#define SPOT_MAX_NEIGHBOURS 8

typedef struct {
    const spot_bdm_config *bdm;
    int   bdms;
    const uint64_t *seed;
    int   seeds;
    int   cls;                 /* one class, or one of the three above */
    int   least;               /* least rows of a class that is examined: 20, at least 1 */
    int   neighbours;          /* correct rows listed per slice, nearest to its centre: 8 at most */
    bool  fit;                 /* keep the fitted parameters */
    size_t memory;             /* most bytes of subject, work and findings together; 0: all that is free */
    const char *cache;         /* folder of findings whose cache is used and filled, made when missing; NULL: none */
    const spot_attributes *attributes; /* of the subject's rows, for methods with SPOT_BY_ATTRIBUTES, which have no fit then.
                                        * NULL: none; itemsets then looks at the features, which must be 0 or 1, and other
                                        * methods with SPOT_BY_ATTRIBUTES are SPOT_USAGE */
    const spot_proof_options *proof;   /* not NULL: slices are found on one part of the rows, judged on the other and merged
                                * (discover.h). There is one finding for each class then, `merged`, with the slices of all
                                * methods and seeds, the surest claim first */
} spot_discover_options;

/* Labels that may be wrong: rows on which two signs name the same other class, which is none of chance, nor a proof. A person
 * should look at them.
 *
 *     confident learning (Northcutt, Jiang and Chuang 2021)    the row is counted off the diagonal of the confident joint: with
 *         t_k the mean probability of class k among the rows that are labelled k, the classes of a row are those of a
 *         probability of t_k and more, and of these the most probable one is another than its label. The classifier's answer is
 *         not its label, either
 *     neighbours    of the SPOT_LABEL_VOTES rows that are nearest in the features, most are labelled as that class. The row
 *         itself and rows of its group have no vote. Beyond 2^24 numbers of features the voters are among a random part of the
 *         rows, whose features are that many, drawn by an address of its own
 *
 * In the classifier's own features both signs come from the classifier. Its answers on rows that it was trained on say nothing:
 * it may have learned their labels by heart. Not known where rows may have several classes, are a detector's, or come without
 * the probabilities of all classes. */
enum { SPOT_LABEL_VOTES = 10 };
typedef struct {
    bool known;
    int  count;
    int *row, *cls;            /* (count): rows, ascending; the class that each seems to have */
} spot_suspects;

/* A hypothesis with its figures. */
typedef struct {
    int    size, wrong;        /* rows; wrong rows among them (spot_subject_wrong) */
    double error_rate;         /* wrong / size */
    double mean_confidence, share;   /* share of all wrong rows of its class */
    double score;              /* the method's */
    int   *row;                /* (size): rows of the subject, ascending */
    int    neighbours, neighbour[SPOT_MAX_NEIGHBOURS];   /* correct rows of the class, nearest in the features first */
    int    words;              /* spot_findings_describe: phrases, the greatest score first; 0: none */
    spot_word        *word;    /* (words) */
    spot_conjunction *conjunction;   /* of attributes; NULL: none */
    spot_proof *proof;         /* NULL: the slice was not tested */
    bool   labels_known;       /* spot_suspects.known; else the next two say nothing */
    int    suspects;           /* rows whose label may be wrong; each is a wrong row */
    double rate_without;       /* error rate of its other rows; NaN: there are none */
} spot_slice;

/* How much the features decide the answer, by the 5 nearest other rows, of other groups, of a sample of at most 2,000 rows
 * among at most 20,000 (64 MB of features). Where the features are the classifier's own last layer, the answer is nearly a
 * function of them: what lies beyond a border is wrong, and slices are cells of the confusion matrix. */
typedef struct {
    int    rows, neighbours;   /* rows that were asked about; 0: not measured, since rows have several classes */
    double same;               /* share of neighbours with the row's answer; NaN: answers are not known */
    double expected;           /* the same of two random rows of one class, as features that tell the class alone would give */
    double wrong;              /* probability that more of the neighbours in its class of a wrong row are wrong than of a right
                                * one's: 0.5 where wrong rows lie anywhere; NaN: no class has both */
    bool   decide;             /* wrong is at least 0.85 */
} spot_decided;

/* One method on one class with one seed. */
typedef struct {
    int         bdm, cls;      /* index in options.bdm; class or SPOT_ALL_CLASSES */
    uint64_t    seed;
    int         n, wrong;      /* rows of the class; wrong rows among them */
    int        *row;           /* (n): rows of the subject */
    bool        merged;        /* slices of all methods and seeds with their proofs; bdm, seed and fit say nothing then */
    spot_points points;        /* the method's map, (n, points.d); at NULL where nothing was reduced */
    int         slices;
    spot_slice  slice[SPOT_MAX_HYPOTHESES];
    spot_fit    fit;           /* empty unless options.fit; may borrow the subject's features, which must then stay */
    spot_status status;        /* not SPOT_OK: the method failed on this class; message has the reason */
    char        message[1024];
} spot_finding;

typedef struct {
    int           count;
    spot_finding *finding;     /* by class, all rows last, then method, then seed */
    int           left_out;    /* classes with fewer than `least` rows, or without a wrong one. If no class has both, those with
                                * rows enough are findings without slices; if no row is wrong, all classes are */
    int          *left_class;  /* (left_out) */
    float        *map;         /* (n, 2), as map.npy */
    spot_decided  decided;     /* of the subject's features */
    spot_suspects suspects;    /* of the subject */
    spot_arena    arena;       /* holds all arrays; the features of a large subject are not copied into it */
    spot_arena    described;   /* holds the words and conjunctions of the slices */
    spot_arena    suspected;   /* holds the suspects */
} spot_findings;

spot_discover_options spot_discover_defaults(void);      /* joinspot and ward, as spot_bdm_defaults has them; one
                                                           seed, 0; each class and all rows */

/* Options that have the methods of spot_discover_defaults, attributes and a proof: adds itemsets to the methods, with
 * conjunctions of two items at most. Other options stay as they are. */
void spot_discover_rules(spot_discover_options *o);

/* Peak bytes, with the subject's arrays; and seconds (an estimate from sizes and a calibration of at most two seconds; NaN
 * where not known), unless NULL. Both are also set on SPOT_NOMEM: o->memory does not suffice. */
spot_status spot_discover_cost(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, spot_bytes *bytes,
                               double *seconds);

/* Each method runs on the classes as one batch, or as many at a time as memory allows; this changes no result. SPOT_OK where
 * at least one finding is; else the first failure. SPOT_STOPPED when the stop flag was set; the cache has the values computed
 * so far. Close f also after a failure. */
spot_status spot_discover      (spot_ctx *c, spot_findings *f, const spot_subject *s, const spot_discover_options *o);
void        spot_findings_close(spot_findings *f);

/* The same in a folder, by one process or by several (work.h): classes are units, each has its result in DIR/segments, and what
 * is there is not computed again. Processes that share the folder, each with its shard, compute different classes; the one that
 * finds the last of them done makes the findings, equal to the bit to those of one process. A folder of its own for each shard
 * is merged by spot_work_merge, and the findings are made by another call. */
typedef struct {
    spot_run_place place;
    bool replace;              /* findings of other rows in the folder are given up */
} spot_discover_place;

/* f->count is 0 where classes of other shards have no result yet. Close f also after a failure. */
spot_status spot_discover_run(spot_ctx *c, spot_findings *f, const spot_subject *s, const spot_discover_options *o,
                              const spot_discover_place *at, spot_run_report *report);

/* Ward's tree of each class that is searched, and of all rows where they are searched at once, merge by merge: every cut of
 * it, also those that no method reports. The trees are those of the method `ward` (of its first entry in o->bdm, else of its
 * defaults) without a reducer: of rows of length 1 with the confidence beside them. With a proof each part has a tree of its
 * own, of the rows that the searches of the part see, and the rows of the other part are judged: a row joins each cluster that
 * has most of its nearest rows in the tree (spot_proof_options.neighbours), as it joins a slice.
 *
 * p is of one cluster alone. Nobody chose it, and thousands of clusters are in a tree, of which some have a small p by chance:
 * the least of them proves nothing, unlike the corrected p of a slice.
 *
 * The merges depend on nothing but the rows and the options; the same bits on every device, for any number of threads. They
 * change nothing in the findings. Time is that of one `ward` search; the trees grow on the CPU, one after another. */
typedef struct {
    int    cls, part;          /* class, or SPOT_ALL_CLASSES; part of the proof whose rows the tree has, -1 without a proof */
    int    left, right;        /* what is merged: below the subject's n a row, else n + the place of an earlier merge */
    double height;             /* of the merge, as scipy's linkage(method="ward") has it; ascending in a tree */
    int    rows, wrong;        /* of the cluster; wrong ones among them */
    int    judged, judged_wrong;       /* rows of the other part that join it; -1: no row is judged */
    double p;                  /* one-sided, exact: so many judged wrong rows or more, if these were drawn at random from the
                                * judging rows of the class. NaN: none joins, rows have groups, or the tree crosses classes */
} spot_tree_merge;

/* Tree by tree: classes in order, all rows last; of a class part 0, then part 1. */
typedef struct { int count; spot_tree_merge *merge; } spot_tree_merges;

/* o as for spot_discover. Close m also after a failure. SPOT_NOMEM, before the first tree: o->memory does not suffice. cost:
 * peak bytes on the host, with the subject's arrays and the findings that o gives, which mostly are there meanwhile; they are
 * also set on SPOT_NOMEM. write: CSV with a header and a line for each merge, in this order; left and right are numbers as
 * above, class is its name ("" for all rows). place, before the work: SPOT_USAGE where write would replace another file than
 * one of merges, SPOT_IO where it could not write. */
spot_status spot_discover_merges(spot_ctx *c, spot_tree_merges *m, const spot_subject *s, const spot_discover_options *o);
spot_status spot_discover_merges_cost(spot_ctx *c, const spot_subject *s, const spot_discover_options *o, size_t *bytes);
spot_status spot_tree_merges_place(spot_ctx *c, const char *path);
spot_status spot_tree_merges_write(spot_ctx *c, const char *path, const spot_tree_merges *m, const spot_subject *s);
void        spot_tree_merges_close(spot_tree_merges *m);

/* How many answers the classifier gave on the rows of a class, or of all (SPOT_ALL_CLASSES; a row of several classes has as
 * many answers), and wrong ones among them. */
typedef struct { long all, wrong; } spot_answers;
spot_answers spot_answers_of(const spot_subject *s, int cls);

/* "nothing is wrong: 4000 of 4000 right"; that nothing is right; that only classes with too few rows have wrong ones. Else "".
 * Returns text. */
enum { SPOT_FINDINGS_NOTE = 400 };
const char *spot_findings_note(char text[SPOT_FINDINGS_NOTE], const spot_findings *f, const spot_subject *s);

/* A sentence where too few groups of rows judged the slice: one, or so few that its least_p is above level. Else "". Returns
 * text. */
enum { SPOT_GROUPS_NOTE = 240 };
const char *spot_groups_note(char text[SPOT_GROUPS_NOTE], const spot_subject *s, const spot_slice *p, double level);

/* SPOT_USAGE, with a sentence that names --replace, when findings on s (NULL: any rows) cannot be written into dir: it holds
 * findings of other rows, another run, or files of their names that spotter discover did not write. */
spot_status spot_findings_check(spot_ctx *c, const char *dir, const spot_subject *s);

/* ---- what a reader sees: classes, entries, a summary ---- */

typedef enum { SPOT_SLICE_CONFIRMED, SPOT_SLICE_SUGGESTED, SPOT_SLICE_OPEN, SPOT_SLICE_CHANCE,
               SPOT_SLICE_FINE } spot_slice_kind;      /* OPEN: not tested; FINE: it fails no more often than its class */
spot_slice_kind spot_slice_kind_of(const spot_finding *f, const spot_slice *s);

/* An entry of the list is a cause: the confirmed slices that seem to be the same one, or any other slice by itself. Slices are
 * the same cause where one explains the other, and
 *
 *     the same items say both: they are the slice's rule (spot_proof.rule), or its conjunction, which describes it beyond
 *     chance, and most rows that have the items are in the slice
 *     both have the same number of a cause (spot_proof.cause): taken for the same class and near each other, in one class or
 *     in several
 *     they are of one class, or one of them is a slice of all rows; they are taken for the same class; and they share half the
 *     rows of the smaller one
 *     one of them is a slice of all rows, and of the other's class they share half of all rows that either has
 *
 * But for the second, each slice is compared with the heads of entries alone, and with slices that have the head's rule, so
 * that no chain of slices becomes one. The head is the member that says most: a rule, then a slice of all rows, then what a
 * conjunction says, then that with most errors in excess.
 *
 * A slice is explained where the 95 % interval of the error rate of its judged rows begins no higher than what an entry's head
 * lets expect: where the head is a rule, the rates of rows with it and without it, each in the classes of these judged rows,
 * else the head's rate, since the entry counts the rows of all of its slices. So what fails far more often than the rule in
 * which it lies is an entry of its own. Slices with the rule of a head need no explanation where both are rules.
 *
 * A rule says an entry (SPOT_ENTRY_RULE) where it is the rule of one of its slices, or such a conjunction that most rows of
 * the slice have. Where the head is a rule, all figures are of this rule's rows, in all classes where it is a slice. The
 * confusion matrix explains an entry (SPOT_ENTRY_CONFUSION) where no rule says it, its rows are of one class, and those judged
 *
 *     are all wrong and all taken for one class, where there are more than two; or
 *     fail no more often than rows with their predicted classes and confidences do: the rate which these let expect
 *     (spot_proof.cell) is in the 95 % interval of theirs.
 *
 * Such an entry is folded: shown below its class. Where it would leave no confirmed entry unfolded, none is folded. Rows of
 * several classes that are taken for one class are a cause, and no cell of the matrix.
 *
 * Order: confirmed, suggested, not tested, chance, fine; of each kind by errors in excess, then by rows; at the end what is
 * folded. A slice's number counts the heads of all entries in this order, from 1, so that entry K is slice K with
 * what is folded into it; then the other members, in the order of their entries. It is the same in the terminal's table, on the
 * page, in slices.csv, in slices.json, of assign and gather, and in Python. All this is for display, and comes after the
 * tests. */
typedef enum { SPOT_ENTRY_CLUSTER, SPOT_ENTRY_RULE, SPOT_ENTRY_CONFUSION } spot_entry_kind;
const char *spot_entry_kind_name(spot_entry_kind kind);        /* "cluster", "rule", "confusion" */

typedef struct { int finding, slice; } spot_slice_place;

enum { SPOT_ENTRY_TITLE = 240 };
typedef struct {
    int number;                /* from 1: its place in the list, and the number of its head */
    int members;
    const spot_slice_place *member;    /* (members): the head first, then by errors in excess */
    spot_entry_kind kind;
    spot_slice_kind claim;     /* of all members */
    bool folded;
    int    cls, classes;       /* the class of its rows; SPOT_ALL_CLASSES where they have several, `classes` of them */
    int    predicted;          /* the class that most wrong rows are taken for; -1: not known */
    double predicted_share;    /* of its wrong rows */
    int    size, wrong;        /* rows, each counted once; wrong ones among them */
    int    judged, judged_wrong;       /* judged rows, each counted once; wrong ones among them; without a proof size, wrong */
    double class_rate;         /* error rate of the judged rows' classes */
    double excess_rows;        /* judged wrong rows beyond class_rate: it orders the entries */
    double share;              /* of all wrong answers on the subject */
    double shrunk;             /* excess to expect on new rows; NaN without a proof */
    double p;                  /* the least of its members; NaN without a proof */
    bool   exact;              /* the head is a rule */
    int    rule_items;         /* 0: no rule says it */
    char  *const *rule;        /* (rule_items): their names */
    int    rule_rows, rule_wrong;      /* all rows of its classes that have the rule's items; wrong ones among them */
    char   title[SPOT_ENTRY_TITLE];    /* "places where colour=grey"; "places, mostly grey"; "devices taken for actions" */
} spot_entry;

/* A class, or a category: its answers, wrong ones, and the class that most wrong ones are taken for (-1: not known). */
typedef struct { int cls; long rows, wrong; int taken; long taken_rows; } spot_class_errors;

typedef struct {
    int         count;
    spot_entry *entry;         /* (count), in order */
    int         folded;        /* how many are */
    int         slices;        /* of all findings */
    spot_slice_place *place;   /* (slices): by number, from 1 */
    int        *number;        /* (findings, SPOT_MAX_HYPOTHESES): of each finding's slices */
    int        *entry_of;      /* (findings, SPOT_MAX_HYPOTHESES): number of the entry that has the slice */
    int         classes;       /* that have rows */
    spot_class_errors *cls;    /* (classes): the greatest rate of errors first, then more wrong rows, then by number */
    spot_answers answers;      /* of the subject */
} spot_slice_list;

/* s: the findings' rows, which may be without features. Close e also after a failure. */
spot_status spot_findings_entries(spot_ctx *c, spot_slice_list *e, const spot_findings *f, const spot_subject *s);
void        spot_slice_list_close(spot_slice_list *e);

/* *number (count, SPOT_MAX_HYPOTHESES), to be freed: as spot_slice_list.number. */
spot_status spot_slice_numbers(spot_ctx *c, int **number, const spot_findings *f, const spot_subject *s);

/* At most five plain sentences for the top of terminal and page: accuracy and the worst classes; the largest causes with rate,
 * rows and share of all errors, or, where nothing is confirmed, what would have been; what to do next. found: the folder, for
 * the command that tests a cause on new pictures; NULL: "FOUND". */
enum { SPOT_SUMMARY_LINES = 5, SPOT_SUMMARY_LINE = 600 };
typedef struct { int lines; char line[SPOT_SUMMARY_LINES][SPOT_SUMMARY_LINE]; } spot_top_lines;
void spot_findings_summary(spot_top_lines *out, const spot_slice_list *e, const spot_findings *f, const spot_subject *s,
                           const spot_discover_options *o, const char *found);

/* Members of slices.json and of each model of the page, by spot_slice_list_members.put(json, &(spot_slice_list_row){ ... }):
 *     "summary"    the sentences
 *     "classes"    class, class_number, rows, wrong, rate, taken_for, taken_rows
 *     "entries"    number, slices (their numbers), kind, claim ("confirmed", "suggested", "not tested", "chance", "fine"),
 *                  folded, title, class, class_number (null where several), classes (how many), predicted, predicted_share,
 *                  size, wrong, judged, judged_wrong, rate, class_rate, excess, excess_rows, to_expect, share_of_errors,
 *                  corrected_p, rule (its items; absent where none says it), rule_rows, rule_wrong */
typedef struct {
    const spot_slice_list *e;
    const spot_findings *f;
    const spot_subject *s;
    const spot_discover_options *o;
    const char *found;         /* as of spot_findings_summary */
} spot_slice_list_row;
extern const struct spot_quantity spot_slice_list_members;

/* The measure of spot_findings.decided, by itself; and in a line, with two of advice where the features decide; "" where it was
 * not measured. "They tell wrong rows in 96 %": that is `wrong`. Returns text. */
spot_status spot_features_decide(spot_ctx *c, spot_decided *d, const spot_subject *s);
const char *spot_features_note  (char text[SPOT_FINDINGS_NOTE], const spot_decided *d);

/* ---- numbers, each described once (host/result): slices.json, the terminal's table and the page show them from that ---- */

/* A slice with its proof (NULL: none), and whose they are. rank: from 1 in its finding; number, entry: of spot_slice_list. */
typedef struct {
    const spot_subject *s;
    const spot_discover_options *o;
    const spot_slice *p;
    const spot_proof *v;
    int rank, number, entry;
} spot_slice_row;

/* An object of slices.json but the ids of the nearest right rows; a list with the columns of a spot_slice. */
extern const struct spot_quantity spot_slice_object, spot_slice_columns;

/* How slices were tested, and how many of each claim there are; nothing where they were not. */
typedef struct { const spot_discover_options *o; const spot_findings *f; } spot_tests_row;
extern const struct spot_quantity spot_slice_tests;

/* The words for the slices. text NULL: without phrases; attributes NULL: without a conjunction. */
typedef struct {
    const float   *feature;    /* (rows of the subject, d) of the encoder of the texts; NULL: the subject's own features */
    const uint8_t *missing;    /* (rows): 1 for a row without features, which is left out; NULL: none */
    int      d;
    const float *text;         /* (phrases, d) */
    char *const *phrase;       /* (phrases) */
    int      phrases, most;    /* phrases of the list; at most this many for a slice: 5 */
    int      rounds;           /* random groups for the p-values: 999 */
    const spot_attributes *attributes;     /* of the subject's rows */
    uint64_t seed;             /* 0; the class is the other part of the address */
} spot_describe_options;

spot_describe_options spot_describe_defaults(void);

/* The thirds of each as items of a, such as "brightness: dark (<= 81.2)"; numbers that are equal in all rows are left out, and
 * all where no row has a picture. Rows without a readable picture have none; these are counted in a log. Decodes each picture
 * once, a PNG that may have an alpha channel three times, with at most `memory` bytes for all threads (0: 2 GiB).
 * SPOT_STOPPED between pictures. */
spot_status spot_attributes_of_pictures(spot_ctx *c, spot_attributes *a, const spot_subject *s, size_t memory);

/* Gives every slice its words and its conjunction (describe.h), in place of earlier ones. The slices of all methods and seeds
 * on a class are described together. A slice whose rows have no features has no words. SPOT_STOPPED between classes. */
spot_status spot_findings_describe(spot_ctx *c, spot_findings *f, const spot_subject *s, const spot_describe_options *o);

/* spot_bdm_assign with memory of its own. From a finding: hypotheses = slices, its fit, and its method's settings cfg.
 * member is (rows->n, hypotheses); rows->confidence NULL: not known. */
spot_status spot_assign(spot_ctx *c, uint8_t *member, int hypotheses, const spot_view *rows, const spot_fit *fit,
                        const spot_bdm_config *cfg);

/* Makes dir and writes all files above but report.html into it. */
spot_status spot_findings_write(spot_ctx *c, const char *dir, const spot_findings *f, const spot_subject *s,
                                const spot_discover_options *o);

/* The text of slices.json, to be freed. */
spot_status spot_findings_json(spot_ctx *c, char **text, const spot_findings *f, const spot_subject *s,
                               const spot_discover_options *o);

/* Reads from such a folder all that spot_report_findings needs: s has no features, f no fit, o only the names of the methods,
 * the options of the proof, and the attributes, which s owns.
 * Pictures are read from their recorded paths, relative to the directory in which the folder was written. The writer of the
 * folder chose these paths, so only files of the recorded size and modification time count; others are left out with a
 * warning. s owns all memory: close f, then s. SPOT_INPUT where the folder has no subject.safetensors (an old version), or
 * that file is damaged. */
spot_status spot_findings_read(spot_ctx *c, const char *dir, spot_subject *s, spot_findings *f, spot_discover_options *o);

/* Sets the pictures of findings that were read to FOLDER/ID. SPOT_INPUT where an id leads out of the folder, also through a
 * symbolic link. */
spot_status spot_findings_pictures(spot_ctx *c, spot_subject *s, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
