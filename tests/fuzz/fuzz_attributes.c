/* fuzz_attributes.c - any bytes as a table of attributes, by the order of the rows or (first byte odd) by a column of ids:
 * either one sentence, or items with names, whose bits are of rows. fuzz: -max_len=512 */
#include "fuzz/fuzz_file.h"

#include "spotter/describe.h"

enum { ROWS = 5 };

static void look(const spot_attributes *a)
{
    if (a->rows != ROWS || a->items < 1 || a->words != 1) abort();
    for (int i = 0; i < a->items; i++) {
        if (!a->name[i][0] || a->column[i] < 0 || (i && a->column[i] < a->column[i - 1])) abort();
        if (a->bit[i] >> ROWS) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *id[ROWS] = { "a.png", "b.png", "b.png", "1", "c" };
    spot_ctx c = { .threads = 1 };
    spot_attributes a;

    if (!size) return 0;
    fuzz_file(0, "attributes.csv", data + 1, size - 1);
    if (spot_attributes_read(&c, &a, *data & 1 ? "attributes.csv:id" : "attributes.csv", id, ROWS)) {
        if (a.items || a.name) abort();
        fuzz_said(&c);
        return 0;
    }
    look(&a);
    spot_attributes_close(&a);
    return 0;
}
