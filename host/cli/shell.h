/* shell.h - builds the command line of another program, runs it in the shell, reads one line of its output. */
#ifndef SPOTTER_SHELL_H
#define SPOTTER_SHELL_H

#include <stdbool.h>
#include <stddef.h>

/* `full`: a part did not fit, and the command must not be run. */
typedef struct { char text[32768]; size_t n; bool full; } shell_command;

__attribute__((format(printf, 2, 3)))
void shell_add(shell_command *k, const char *fmt, ...);

/* Adds " ", `option` and one quoted word: shell_word(k, "--out ", dir). */
void shell_word(shell_command *k, const char *option, const char *word);

/* Runs the command and waits for its end. line: the first line that it prints, without the line feed, "" for none. Returns the
 * result of pclose; -1 if it cannot start. */
int shell_ask(char *line, size_t size, const char *text);

#endif
