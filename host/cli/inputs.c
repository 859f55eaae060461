/* inputs.c - whether an output file is one of the inputs. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

/* Whether "FILE" or "FILE:NAME", or one of several in lines, is the file that st describes. */
static bool is_file(const char *input, const struct stat *st)
{
    const char *next = input ? strchr(input, '\n') : NULL;
    const int n = next ? (int)(next - input) : input ? (int)strlen(input) : 0;
    char path[4096];
    struct stat in;

    if (next && is_file(next + 1, st)) return true;
    if (!input || (size_t)snprintf(path, sizeof path, "%.*s", n, input) >= sizeof path) return false;
    for (char *colon; stat(path, &in); *colon = 0) {
        colon = strrchr(path, ':');
        if (!colon) return false;
    }
    return S_ISREG(in.st_mode) && in.st_dev == st->st_dev && in.st_ino == st->st_ino;
}

void cli_inputs(const char *list[CLI_INPUTS], const spot_subject_files *f)
{
    const char *const input[CLI_INPUTS] = { f->embeddings, f->labels, f->probs, f->losses, f->ids, f->groups, f->coco, f->model,
                                            f->embed, f->detections ? f->detections->file : NULL };

    memcpy(list, input, sizeof input);
}

bool cli_is_input(const spot_subject_files *f, const char *path)
{
    const char *input[CLI_INPUTS];
    struct stat st;

    if (stat(path, &st)) return false;
    cli_inputs(input, f);
    for (size_t i = 0; i < sizeof input / sizeof *input; i++)
        if (is_file(input[i], &st)) return true;
    return false;
}
