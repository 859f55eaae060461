/* shell.h - another program's command line: put together, run by the shell, answered with one line. */
#ifndef SPOTTER_SHELL_H
#define SPOTTER_SHELL_H

#include <stdbool.h>
#include <stddef.h>

/* What does not fit any more sets `full`, and the command is good for nothing. */
typedef struct { char text[32768]; size_t n; bool full; } shell_command;

__attribute__((format(printf, 2, 3)))
void shell_add(shell_command *k, const char *fmt, ...);

/* " " and `option` and one word, whatever is in it: shell_word(k, "--out ", dir). */
void shell_word(shell_command *k, const char *option, const char *word);

/* Waits for its end. The first line that it prints, without the line feed, "" if there is none. What pclose says; -1. */
int shell_ask(char *line, size_t size, const char *text);

#endif
