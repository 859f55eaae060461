/* slice_words.c - see slice_words.h. */
#include "cli/slice_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { WIDTH = 100, INDENT = 6, PIECE = 600 };
enum { MENTIONED = 10 };               /* suspect labels are mentioned from one in so many rows on */

static const double DOUBT = 0.05;      /* p from which a description is marked */

/* A line that is built up to WIDTH columns. */
typedef struct { char text[4 * WIDTH + 8]; int used, columns; } line;

static int columns_of(const char *text)
{
    int n = 0;

    for (; *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Adds the text with visible control characters; cut, with "...", to at most `most` columns. */
static void add(line *l, const char *text, int most)
{
    const bool cut = columns_of(text) > most;
    int columns = 0;

    for (; *text && columns < (cut ? most - 3 : most); columns++)
        do l->text[l->used++] = (unsigned char)*text < ' ' || *text == 127 ? '?' : *text;
        while (((unsigned char)*++text & 0xc0) == 0x80);
    for (int i = 0; cut && i < 3; i++) l->text[l->used++] = '.';
    l->text[l->used] = 0;
    l->columns += columns + (cut ? 3 : 0);
}

/* front and text into piece; a text that is too long is cut, to be cut again by add. */
static void join(char piece[PIECE], const char *front, const char *text)
{
    const size_t n = strlen(text);

    snprintf(piece, PIECE, "%s%.*s", front, (int)(n < PIECE - 16 ? n : spot_utf8(text, PIECE - 16)), text);
}

static void print_words(const spot_slice *s)
{
    const bool doubt = s->words && s->word[0].p > DOUBT;
    char tail[64] = "", piece[PIECE], score[32];
    line l = { .columns = 0 };

    if (!s->words) return;
    if (doubt) snprintf(tail, sizeof tail, "  (words not shown to fit: p = %.2g)", s->word[0].p);
    for (int i = 0; i < s->words; i++) {
        const int left = WIDTH - INDENT - 7 - l.columns - (int)strlen(tail);
        snprintf(score, sizeof score, " (%.3f)", s->word[i].score);
        join(piece, i ? ", " : "", s->word[i].phrase);
        if (i && columns_of(piece) + (int)strlen(score) > left) break;
        add(&l, piece, left - (int)strlen(score));
        add(&l, score, WIDTH);
    }
    printf("%*swords: %s%s\n", INDENT, "", l.text, tail);
}

/* The items, and what the other half of the rows says: on a line of its own where both together are too wide. */
static void print_conjunction(const spot_conjunction *k)
{
    const spot_match *m = &k->held_out;
    char tail[120], doubt[40] = "", piece[SPOT_MOST_ITEMS][PIECE];
    int left, wide = 0;
    line l = { .columns = 0 };
    bool apart;

    if (!(m->p <= DOUBT)) snprintf(doubt, sizeof doubt, ", not shown to fit: p = %.2g", m->p);
    if (isfinite(m->precision) && isfinite(m->recall))
        snprintf(tail, sizeof tail, "(precision %.0f %%, recall %.0f %%%s)", 100 * m->precision, 100 * m->recall, doubt);
    else snprintf(tail, sizeof tail, "(too few rows to test it)");
    for (int i = 0; i < k->items; i++) {
        join(piece[i], i ? " and " : "", k->name[i]);
        wide += columns_of(piece[i]);
    }
    left = WIDTH - INDENT - 4;
    apart = wide > left - 2 - (int)strlen(tail);
    if (!apart) left -= 2 + (int)strlen(tail);
    for (int i = 0; i < k->items; i++) {               /* those behind get their share, or less if they need less */
        const int share = (left - l.columns) / (k->items - i);
        int behind = 0;
        for (int j = i + 1; j < k->items; j++) behind += columns_of(piece[j]) < share ? columns_of(piece[j]) : share;
        add(&l, piece[i], left - l.columns - behind);
    }
    printf("%*sis: %s", INDENT, "", l.text);
    if (apart) printf("\n%*s%s\n", INDENT + 4, "", tail);
    else printf("  %s\n", tail);
}

/* Only where suspect labels are many. */
static void print_labels(const spot_slice *s)
{
    if (!s->labels_known || !s->suspects || MENTIONED * s->suspects < s->size) return;
    printf("%*slabels: %d of %d are suspect", INDENT, "", s->suspects, s->size);
    if (isfinite(s->rate_without)) printf("; %.0f %% wrong without them", 100 * s->rate_without);
    putchar('\n');
}

/* A rule, and how many of its own rows are wrong. */
static void print_rule(const spot_slice *s)
{
    const spot_proof *p = s->proof;
    const int left = WIDTH - INDENT - 4;
    char piece[PIECE];
    line l = { .columns = 0 };

    for (int i = 0; i < p->rule_items && l.columns < left; i++) {
        join(piece, i ? " and " : "", p->rule[i]);
        add(&l, piece, left - l.columns);
    }
    printf("%*sis: %s\n%*s%d of %d wrong (class %.0f %%), on unseen rows %d of %d; %.0f %% to expect on new rows\n", INDENT, "",
           l.text, INDENT + 4, "", s->wrong, s->size, 100 * p->class_rate, p->wrong, p->judged,
           100 * (p->class_rate + p->shrunk));
}

/* Whether a slice that is confirmed would be called by attributes that are not shown to fit it. */
static bool is_doubtful(const spot_slice *s)
{
    return s->proof && s->proof->claim == SPOT_CLAIM_CONFIRMED && !(s->conjunction->held_out.p <= DOUBT);
}

void cli_slice_words(const spot_slice *s)
{
    print_labels(s);
    print_words(s);
    if (s->proof && s->proof->rule_items) print_rule(s);
    else if (s->conjunction && !is_doubtful(s)) print_conjunction(s->conjunction);
}

/* Words of a sentence, or of a command, up to `end`. */
static void print_wrapped(const char *text, const char *end, int indent, const char *broken)
{
    int column = 0;

    while (text < end) {
        const char *space = memchr(text, ' ', (size_t)(end - text)), *stop = space ? space : end;
        char word[PIECE];
        snprintf(word, sizeof word, "%.*s", (int)(stop - text), text);
        if (column && column + 1 + columns_of(word) > WIDTH - (int)strlen(broken)) {
            printf("%s\n%*s", broken, indent, "");
            column = indent;
        } else if (column) column += printf(" ") > 0;
        printf("%s", word);
        column += columns_of(word);
        text = stop + 1;
    }
    printf("\n");
}

void cli_wrap(const char *text)
{
    const char *command = strstr(text, ": spotter ");

    print_wrapped(text, command ? command + 1 : text + strlen(text), INDENT, "");
    if (!command) return;
    printf("%*s", INDENT, "");
    print_wrapped(command + 2, command + strlen(command), INDENT + 4, " \\");
}
