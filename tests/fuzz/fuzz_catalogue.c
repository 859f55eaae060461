/* fuzz_catalogue.c - any bytes as the properties of a catalogue: either one sentence, or entries that are complete.
 * fuzz: -max_len=1024 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "worlds/catalogue_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const char *text)
{
    if (!text || spot_utf8(text, strlen(text)) != strlen(text)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spot_entries l = { 0 };
    spot_ctx c = { 0 };

    if (spot_catalogue_properties(&c, &l, (const char *)data, size, "/fuzz/a.sh3f") != SPOT_OK) {
        if (!c.message[0] || strchr(c.message, '\n')) abort();
    } else {
        for (int i = 0; i < l.n; i++) {
            const spot_catalogue_entry *e = &l.entry[i];
            look(e->id), look(e->name), look(e->category), look(e->licence), look(e->author), look(e->archive), look(e->file);
            for (int k = 0; k < 9; k++)
                if (!(e->turn[k] >= -1.01 && e->turn[k] <= 1.01)) abort();
        }
    }
    spot_entries_close(&l);
    return 0;
}
