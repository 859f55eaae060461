/* kept_encoder.c - see kept_encoder.h. */
#define _POSIX_C_SOURCE 200809L
#include "study/kept_encoder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "models/encoder_name.h"

/* "program-3f9a0c12-d4e5b687a1c3" -> "program-3f9a0c12" */
static void command_of(char command[32], const char *name)
{
    snprintf(command, 32, "%.*s", (int)(strrchr(name, '-') - name), name);
}

spot_status spot_kept_encoder_know(spot_ctx *c, spot_kept_encoder *k, spot_encoder *e)
{
    const spot_answering a = spot_encoder_answering(e);
    spot_known_program known;
    char command[32];

    if (!a.program || !k->dir) return SPOT_OK;
    command_of(command, a.name);
    SPOT_TRY(spot_kept_recall_as(c, &known, a.program, command, k->dir, a.path));
    if (known.n) {
        snprintf(a.name, 32, "%.31s", known.identity[0]);
        return SPOT_OK;
    }
    spot_kept_encoder_drop(k);
    memcpy(k->name, a.name, sizeof k->name);
    return spot_kept_ask(c, &k->answers, a.program);
}

spot_status spot_kept_encoder_save(spot_ctx *c, spot_kept_encoder *k)
{
    const spot_status s = k->answers ? spot_kept_write(c, k->answers, k->dir, k->name) : SPOT_OK;

    spot_kept_encoder_drop(k);
    return s;
}

void spot_kept_encoder_drop(spot_kept_encoder *k)
{
    spot_kept_free(k->answers);
    k->answers = NULL;
}

void spot_kept_folder(char *folder, size_t size, const char *path)
{
    const size_t line = strcspn(path, "\n");
    struct stat st;
    char *slash;

    snprintf(folder, size, "%.*s", (int)line, path);
    if (!stat(folder, &st) && S_ISDIR(st.st_mode)) return;
    slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    else snprintf(folder, size, ".");
}

bool spot_kept_encoder_same(spot_ctx *c, const char *a, const char *path_a, const char *b, const char *path_b)
{
    char folder_a[1000], folder_b[1000];

    if (!strcmp(a, b)) return true;
    if (!path_a || !path_b) return false;
    spot_kept_folder(folder_a, sizeof folder_a, path_a);
    spot_kept_folder(folder_b, sizeof folder_b, path_b);
    return spot_kept_same(c, folder_a, a, folder_b, b);
}
