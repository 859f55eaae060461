/* words.c - see words.h. */
#include "result/words.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "result/columns.h"

static void add_list(spot_words *w, const char *fmt, va_list args)
{
    char small[512], *text = small;
    va_list again;
    int n;

    va_copy(again, args);
    n = vsnprintf(small, sizeof small, fmt, args);
    if (n >= (int)sizeof small && (text = malloc((size_t)n + 1))) vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    if (!text) w->status = SPOT_NOMEM;
    else spot_text_visible(&w->open, text);
    if (text != small) free(text);
}

void spot_words_add(spot_words *w, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add_list(w, fmt, args);
    va_end(args);
}

void spot_words_end(spot_words *w, const char *mark)
{
    spot_text_add(&w->open, mark, strlen(mark) + 1);
    if (w->n == w->room && !w->status) {
        const int room = w->room ? 2 * w->room : 16;
        char **more = realloc(w->sentence, (size_t)room * sizeof *more);
        if (more) w->sentence = more, w->room = room;
        else w->status = SPOT_NOMEM;
    }
    if (w->open.status) w->status = w->open.status;
    if (!w->status) w->sentence[w->n++] = w->open.bytes;
    else spot_text_free(&w->open);
    w->open = (spot_text){ 0 };
}

void spot_words_say(spot_words *w, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add_list(w, fmt, args);
    va_end(args);
    spot_words_end(w, ".");
}

void spot_words_free(spot_words *w)
{
    for (int i = 0; i < w->n; i++) free(w->sentence[i]);
    free(w->sentence);
    spot_text_free(&w->open);
    *w = (spot_words){ 0 };
}

bool spot_words_next(spot_words *w, int i, int n, int most)
{
    if (i < n && i < most) {
        if (i) spot_words_add(w, i == n - 1 ? " and " : ", ");
        return true;
    }
    if (i && i < n) spot_words_add(w, " and %d more", n - i);
    return false;
}

void spot_words_say_order(spot_words *w, const char *model, const char *pictures, double reordered, double accuracy)
{
    spot_words_say(w, "The outputs of %s may stand in another order than the classes: in that order %.1f %% of the %s would be "
                   "right, now %.1f %%. The setting models[].classes, or --classes, names the outputs", model, 100 * reordered,
                   pictures, 100 * accuracy);
}

void spot_words_print(FILE *f, const spot_words *w)
{
    for (int i = 0; i < w->n; i++) spot_note(f, false, "%s", w->sentence[i]);
}
