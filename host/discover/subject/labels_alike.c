/* labels_alike.c - see labels_alike.h. Names are compared after Unicode's case folding in the normal form NFC. */
#include "discover/subject/labels_alike.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <uninorm.h>

enum { TOLD = 5 };

/* One of the names, folded; to be freed. */
typedef struct { char *folded; int which; } alike_name;

static int by_folded(const void *a, const void *b)
{
    const alike_name *x = a, *y = b;
    const int differ = strcmp(x->folded, y->folded);

    return differ ? differ : x->which < y->which ? -1 : 1;
}

static char *fold(const char *name)
{
    size_t n, length = 0;
    uint8_t *v;
    char *whole;

    name += strspn(name, " \t");
    for (n = strlen(name); n && strchr(" \t", name[n - 1]); n--) { }
    v = u8_casefold((const uint8_t *)name, n, NULL, UNINORM_NFC, NULL, &length);
    whole = v ? realloc(v, length + 1) : NULL;
    if (whole) whole[length] = 0;
    else free(v);
    return whole;
}

static void tell(spot_ctx *c, const alike_name *v, int n, char *const *name, const char *file)
{
    int alike = 0;

    for (int i = 1; i < n; i++) {
        if (strcmp(v[i].folded, v[i - 1].folded)) continue;
        if (++alike <= TOLD)
            spot_log(c, SPOT_LOG_WARN, "%s: the classes \"%.80s\" and \"%.80s\" differ only in case, in spaces around them, or "
                     "in Unicode's normal form; they are read as two classes, so write them alike if they are one", file,
                     name[v[i - 1].which], name[v[i].which]);
    }
    if (alike > TOLD) spot_log(c, SPOT_LOG_WARN, "%s: and %d more such pairs of classes", file, alike - TOLD);
}

spot_status spot_labels_warn_alike(spot_ctx *c, char *const *name, int n, const char *file)
{
    alike_name *v = calloc((size_t)n + 1, sizeof *v);
    spot_status s = SPOT_OK;

    for (int k = 0; v && k < n; k++) {
        v[k] = (alike_name){ fold(name[k]), k };
        if (!v[k].folded) s = SPOT_NOMEM;
    }
    if (!v || s) s = spot_fail(c, SPOT_NOMEM, "no memory to compare %d names of classes", n);
    else {
        qsort(v, (size_t)n, sizeof *v, by_folded);
        tell(c, v, n, name, file);
    }
    for (int k = 0; v && k < n; k++) free(v[k].folded);
    free(v);
    return s;
}
