/* word_lines.c - see word_lines.h. */
#include "formats/word_lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { MOST_BYTES = 16 << 20 };

spot_status spot_word_lines(spot_ctx *c, char ***word, int *n, const char *path)
{
    unsigned char *bytes;
    size_t size, lines = 1;

    *word = NULL, *n = 0;
    SPOT_TRY(spot_file_read(c, path, &bytes, &size, MOST_BYTES));
    for (size_t i = 0; i < size; i++) lines += bytes[i] == '\n';
    char **list = malloc(lines * sizeof *list + size + 1), *text = list ? (char *)(list + lines) : NULL;
    if (list) memcpy(text, bytes, size + 1);
    free(bytes);
    if (!list) return spot_fail(c, SPOT_NOMEM, "no memory for the words of %s", path);
    const size_t mark = strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3;

    for (char *at = text + mark, *next; at; at = next) {
        next = strchr(at, '\n');
        if (next) *next++ = 0;
        while (isspace((unsigned char)*at)) at++;
        size_t k = strlen(at);
        while (k && isspace((unsigned char)at[k - 1])) at[--k] = 0;
        if (k && *at != '#') list[(*n)++] = at;
    }
    if (!*n) return free(list), spot_fail(c, SPOT_INPUT, "{words.none} %s has no words; write one in each line", path);
    *word = list;
    return SPOT_OK;
}
