/* fuzz_mesh.c - any bytes as what the parser of models says: either one sentence, or a mesh that can be drawn.
 * tools/golden/mesh_answers.py made the corpus from tests/golden/mesh. fuzz: -max_len=4096 */
#include "fuzz/fuzz_file.h"
#include "fuzz/fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_answer(data, size);
    return 0;
}
