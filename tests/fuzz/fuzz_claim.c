/* fuzz_claim.c - any bytes as what spotter gather left, which may be a stranger's: claim.json to the first NUL, then
 * gathered.csv. Either one sentence, or pictures that are judged. The first byte says whether claim.json is there.
 * fuzz: -max_len=1024 */
#include "fuzz/fuzz_file.h"

#include "base/folder.h"
#include "claims/slice_claim.h"

static void look(spot_ctx *c, const spot_slice_claim *k, const spot_new_pictures *p, const spot_gathered_has *has)
{
    spot_subject of;

    fuzz_within(k->items, 0, SPOT_MOST_ITEMS);
    for (int i = 0; i < p->n; i++) {
        fuzz_within(p->row[i].wrong, -1, 1);
        fuzz_within((int)p->row[i].group, SPOT_GATHERED, SPOT_CONTROL);
        if (!p->row[i].picture || (!has->claim && *p->row[i].picture)) abort();
    }
    if (!has->groups) return;
    if (spot_gathered_groups(c, &of, "new/gathered.csv", SPOT_GATHERED_GROUPS, p->n)) fuzz_said(c);
    else
        for (int i = 0; i < p->n; i++) fuzz_within(of.group[i], 0, of.n);
    spot_subject_close(&of);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char json[1024];
    spot_slice_claim k;
    spot_new_pictures p;
    spot_gathered_has has;
    spot_ctx c = { .threads = 1 };

    if (!size) return 0;
    const bool claimed = *data++ & 1;
    size--;
    fuzz_text(json, sizeof json, &data, &size);
    fuzz_file(0, "new/gathered.csv", data, size);
    fuzz_file(1, claimed ? "new/claim.json" : "new/none", json, strlen(json));
    if (spot_gathered_read(&c, "new/gathered.csv", &k, &p, &has)) fuzz_said(&c);
    else look(&c, &k, &p, &has);
    spot_new_pictures_close(&p);
    return 0;
}
