/* fuzz_run_log.c - any bytes as the log of a process of a sweep, which `spotter status` reads: a line is taken or left out, and
 * none is read beyond its end. fuzz: -max_len=512 */
#include "fuzz/fuzz_file.h"

#include <dirent.h>

#include "study/run_log.h"

int __wrap_scandir(const char *dir, struct dirent ***list, int (*of)(const struct dirent *),
                   int (*order)(const struct dirent **, const struct dirent **));

/* The only log of the folder. */
int __wrap_scandir(const char *dir, struct dirent ***list, int (*of)(const struct dirent *),
                   int (*order)(const struct dirent **, const struct dirent **))
{
    (void)dir, (void)of, (void)order;
    *list = malloc(sizeof **list);
    if (!*list || !(**list = calloc(1, sizeof ***list))) abort();
    strcpy((**list)->d_name, "0-of-2-host-1.jsonl");
    return 1;
}

static void hear(void *user, int file, double alive, const spot_run_log_line *l)
{
    static volatile size_t sink;

    (void)user, (void)alive;
    if (file) abort();
    sink += strlen(l->event) + strlen(l->start.host) + strlen(l->start.job) + (l->ec < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spot_ctx c = { 0 };

    fuzz_file(0, "run/logs/0-of-2-host-1.jsonl", data, size);
    if (spot_run_log_read(&c, "run", "", hear, NULL)) abort();
    if (spot_run_log_starts(&c, "run", 0, 2) < 0) abort();
    return 0;
}
