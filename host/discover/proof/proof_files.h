/* proof_files.h - proofs as JSON, and as the numbers of subject.safetensors. */
#ifndef SPOTTER_PROOF_FILES_H
#define SPOTTER_PROOF_FILES_H

#include "base/json.h"
#include "spotter/discover.h"

enum { SPOT_RECALL_PROOF = 14, SPOT_RECALL_PIECE = 10, SPOT_RECALL_CHOSEN = 4, SPOT_RECALL_SHARES = 3 };

/* The methods of a slice's pieces, each once, the surest first: "ward+domino". Returns text. */
const char *spot_proof_methods(char *text, size_t size, const spot_proof *p, const spot_discover_options *o);

/* "proof": the options of a search, and its tests. */
void spot_put_proof_options(spot_json *j, const spot_proof_options *p, const spot_findings *f);

/* Numbers in the order of the members. Reading returns false where one is out of range. slice: whose proof it is; bdms,
 * classes: how many there are. */
void spot_proof_numbers(double v[SPOT_RECALL_PROOF], const spot_proof *p);
void spot_piece_numbers(double v[SPOT_RECALL_PIECE], const spot_piece *p);
bool spot_proof_of(spot_proof *p, const double v[SPOT_RECALL_PROOF], const spot_slice *slice, int classes);
bool spot_piece_of(spot_piece *p, const double v[SPOT_RECALL_PIECE], uint64_t seed, int bdms);
void spot_proof_options_numbers(int64_t chosen[SPOT_RECALL_CHOSEN], double shares[SPOT_RECALL_SHARES],
                                const spot_proof_options *p);
bool spot_proof_options_of(spot_proof_options *p, const int64_t chosen[SPOT_RECALL_CHOSEN],
                           const double shares[SPOT_RECALL_SHARES]);

#endif
