/* subject_file.h - subject.safetensors: a subject and its findings as a report shows them, without features.
 *
 *     about        I64 (5): schema, rows, features, classes, rows skipped      source, class_names    words
 *     encoder      one word, if features are an encoder's
 *     target       I32 (n)                                                     ids, pictures          words, n or absent
 *     picture_stamps    I64 (n, 2): size and time of change of each picture
 *     boxes        F32 (n, 4), if rows are parts of pictures
 *     group        I32 (n), if rows have groups                                group_names             words, or absent
 *     predicted    I32 (n), if probabilities were known                        confidence             F32 (n)
 *     pair, pair_prob    I32 (m, 2), F32 (m): rows of several classes, instead of target: row and class, and its probability
 *     methods      words                                                       left_out               I32: classes
 *     findings     I64 (f, 8): method, class, seed, wrong, status, slices, map or -1, dimensions of its points
 *     messages     words, f                                                    members                I32: rows, slice by slice
 *     slices       I32 (k, 3 + SPOT_MAX_NEIGHBOURS): size, wrong, neighbours and which
 *     facts        F64 (k, 4): error rate, mean confidence, share, score
 *     map          F32 (n, 2)                                                  map/0, map/1...        F32 (rows, 2 at most)
 *     words        words, slice by slice, or absent                            word_facts             F64 (words, 3)
 *     conjunctions words: their items, slice by slice, or absent               conjunction_facts      F64 (of slices, 2 x 11)
 *     attribute_bits, attribute_columns, attribute_ranges, attribute_names    I64 (items, words), I32, F64 (items, 2), words:
 *                  spot_attributes, or absent
 *     descriptions I32 (k, 2): of each slice the words and the items of its conjunction
 *     suspect_rows, suspect_classes    I32: spot_suspects, or absent
 *     features_decide    F64 (6): spot_decided, or absent
 *     proof, proof_shares    I64 (4), F64 (3): options of the proof (proof_files.h), or absent, as all that follow:
 *     proofs       F64 (k, 14): of each slice                                  origins                U8: of each member
 *     pieces, piece_seeds    F64 (pieces, 10), I64 (pieces): slice by slice
 *     causes       I32 (k): of each slice, 0 for none; absent in older files
 *     judged_groups    F64 (2 k + pieces): groups and least p of each slice, groups of each piece; absent where rows have none
 *
 * Words are bytes, each word with a NUL at its end, so that any file name is a word. The rows of a finding are the rows of its
 * class.
 *
 * The writer of the file chose the paths of its pictures. A picture is shown only if its size and its time of change, in
 * nanoseconds, are the recorded ones. So a file from a stranger cannot show the reader's private files. */
#ifndef SPOTTER_SUBJECT_FILE_H
#define SPOTTER_SUBJECT_FILE_H

#include <stdint.h>

#include "formats/safetensors.h"
#include "spotter/discover.h"

enum { SPOT_RECALL_SCHEMA = 1, SPOT_RECALL_PROVED = 2, /* with a proof */
       SPOT_RECALL_ABOUT = 5, SPOT_RECALL_FINDING = 8, SPOT_RECALL_SLICE = 3 + SPOT_MAX_NEIGHBOURS,
       SPOT_RECALL_FACTS = 4, SPOT_RECALL_WORD = 3, SPOT_RECALL_MATCH = 11, SPOT_RECALL_DECIDED = 6 };

/* Size and time of change of the file; -1, -1 if it is not there. */
void spot_picture_stamp(int64_t stamp[2], const char *path);

/* A match as numbers, in the order of its members. */
void       spot_match_numbers(double v[SPOT_RECALL_MATCH], const spot_match *m);
spot_match spot_match_of     (const double v[SPOT_RECALL_MATCH]);

/* The proofs of findings that were read without them, if the file has any: then also o->proof, and the findings are merged. s
 * owns all memory. */
spot_status spot_recall_proofs(spot_ctx *c, const spot_tensors *all, const char *path, spot_subject *s, spot_findings *f,
                               spot_discover_options *o);

spot_status spot_recall_write(spot_ctx *c, const char *dir, const spot_findings *f, const spot_subject *s,
                              const spot_discover_options *o);

#endif
