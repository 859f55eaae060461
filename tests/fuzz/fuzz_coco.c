/* fuzz_coco.c - any bytes as COCO's annotations: either one sentence, or indices that lie in the arrays.
 * tests/test_coco.c says what inputs of the corpus beside this file must be told. fuzz: -max_len=768 */
#include <stdlib.h>
#include <string.h>

#include "formats/coco.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile size_t sink;
    spot_ctx c = { 0 };
    spot_coco k;

    if (spot_coco_parse(&c, &k, data, size, "fuzz") != SPOT_OK) {
        if (!strstr(c.message, "fuzz") || strchr(c.message, '\n')) abort();
        return 0;
    }
    for (int i = 0; i < k.categories; i++) sink += strlen(k.category[i].name);
    for (int i = 0; i < k.images; i++) {
        sink += strlen(k.image[i].file);
        for (int b = k.first[i]; b < k.first[i + 1]; b++)
            if (k.box[b].image != i || k.box[b].category < 0 || k.box[b].category >= k.categories
                || k.box[b].area != k.box[b].area)
                abort();
    }
    if (k.first[0] != 0 || k.first[k.images] != k.boxes) abort();
    spot_coco_close(&k);
    return 0;
}
