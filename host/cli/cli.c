/* cli.c - signals, the context of a command, its end. */
#define _XOPEN_SOURCE 700
#include "cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/picture.h"
#include "study/yaml.h"

const char *cli_program = "spotter";

static void on_signal(int number) { cli_stop = number; }

/* All signals that ask a program to end, and the schedulers' warning signals, have the same effect. */
static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM };

void cli_stop_signals(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaddset(set, numbers[i]);
}

static double opened;          /* when the command opened its context */

/* The next safe point is at most 20 s away, and a disk may be slow. */
int cli_limit_time(int max_seconds)
{
    const int all = max_seconds - (max_seconds < 120 ? max_seconds / 4 : 30), spent = (int)(spot_clock() - opened);
    const int left = all - spent > 1 ? all - spent : 1;          /* alarm(0) would be no limit */

    if (!max_seconds) return 0;
    alarm((unsigned)left);
    return left;
}

static void listen_for_signals(void)
{
    struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, was;
    sigset_t all;

    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigaction(numbers[i], &act, &was);
        if (numbers[i] == SIGHUP && was.sa_handler == SIG_IGN) sigaction(SIGHUP, &was, NULL);      /* nohup ignores it */
    }
    act.sa_handler = SIG_IGN;                  /* a reader that ends and a limit on file sizes become write errors */
    sigaction(SIGPIPE, &act, NULL);
    sigaction(SIGXFSZ, &act, NULL);
    cli_stop_signals(&all);                    /* the parent process may have blocked them */
    sigprocmask(SIG_UNBLOCK, &all, NULL);
}

spot_status cli_open(spot_ctx *c, const cli_machine *m)
{
    memset(c, 0, sizeof *c);
    c->on_log = cli_on_log;
    c->on_progress = cli_on_progress;
    c->stop = &cli_stop;
    opened = spot_clock();
    listen_for_signals();
    cli_log_open(m->log_json);
    SPOT_TRY(spot_ctx_open(c, m->device ? m->device : "auto", m->threads));
    spot_picture_count_rotated(c);
    return SPOT_OK;
}

spot_status cli_json_open(spot_ctx *c, spot_json *j, spot_status how, const char *out)
{
    SPOT_TRY(spot_json_open(c, j));
    spot_json_put_int(j, "schema", 1);
    spot_json_put_text(j, "status", spot_status_name(how));
    spot_json_put_text(j, "out", out);
    return SPOT_OK;
}

void cli_log_device(spot_ctx *c, const cli_machine *m)
{
    bool fell_back = !c->device && (!m->device || !strcmp(m->device, "auto"));

    spot_log(c, SPOT_LOG_INFO, "device: %s, %d thread%s%s", spot_ctx_device_name(c), c->threads, c->threads == 1 ? "" : "s",
             fell_back ? " (no GPU; --device cuda says why)" : "");
}

/* Puts the file, and the variant that the check was about (-1: none), before the sentence of a failure. */
static spot_status name_file(spot_ctx *c, spot_status s, const char *path, int variant)
{
    char which[32] = "";

    if (s == SPOT_OK) return s;
    if (variant >= 0) snprintf(which, sizeof which, "variants[%d].", variant);
    return spot_fail(c, s, "%s: %s%s", path, which, spot_take_message(c, s));
}

spot_status cli_config_of(spot_ctx *c, spot_config *cfg, const char *text, size_t len, const char *path)
{
    SPOT_TRY(spot_config_parse(c, cfg, text, len, path));
    if (cfg->data.coco[0]) return name_file(c, spot_sweep_induced(c, cfg), path, -1);
    for (int v = 0; v < (cfg->variants ? cfg->variants : 1); v++)
        SPOT_TRY(name_file(c, spot_scene_check(c, spot_config_scene(cfg, (uint32_t)v)), path, cfg->variants ? v : -1));
    return SPOT_OK;
}

spot_status cli_config(spot_ctx *c, spot_config *cfg, const char *path)
{
    char *text;
    size_t n;
    spot_status s = spot_yaml_text(c, &text, &n, path);

    *cfg = spot_config_defaults();
    if (s == SPOT_OK) s = cli_config_of(c, cfg, text, n, path);
    free(text);
    return s;
}

int cli_close(spot_ctx *c, spot_status s)
{
    cli_log_close();
    if (s != SPOT_OK && !(s == SPOT_IO && ferror(stdout)))             /* main reports stdout */
        cli_complain(spot_failure_id(c), spot_message(c, s));
    spot_picture_tell_rotated(c);
    spot_ctx_close(c);
    return spot_exit_code(s);
}
