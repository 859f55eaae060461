/* shell.c - see shell.h. */
#define _POSIX_C_SOURCE 200809L
#include "cli/shell.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void shell_add(shell_command *k, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(k->text + k->n, sizeof k->text - k->n, fmt, args);
    va_end(args);
    k->full = k->full || n < 0 || (size_t)n >= sizeof k->text - k->n;
    if (!k->full) k->n += (size_t)n;
}

void shell_word(shell_command *k, const char *option, const char *word)
{
    shell_add(k, " %s'", option);
    for (; *word; word++) shell_add(k, *word == '\'' ? "'\\''" : "%c", *word);
    shell_add(k, "'");
}

int shell_ask(char *line, size_t size, const char *text)
{
    FILE *f = popen(text, "r");

    *line = 0;
    if (!f) return -1;
    if (!fgets(line, (int)size, f)) *line = 0;
    line[strcspn(line, "\n")] = 0;
    while (getc(f) != EOF) { }         /* otherwise SIGPIPE would end it */
    return pclose(f);
}
