/* cli.c - options that every command takes, signals, the way out. */
#define _XOPEN_SOURCE 700
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/room.h"

volatile sig_atomic_t cli_stop;
const char *cli_program = "spotter";

static void on_signal(int number) { cli_stop = number; }

/* Every way of being asked to leave, the scheduler's warning signals among them, means the same. */
static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM };

void cli_stop_signals(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaddset(set, numbers[i]);
}

static void listen_for_signals(void)
{
    struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, was;
    sigset_t all;

    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigaction(numbers[i], &act, &was);
        if (numbers[i] == SIGHUP && was.sa_handler == SIG_IGN) sigaction(SIGHUP, &was, NULL);      /* nohup said so */
    }
    act.sa_handler = SIG_IGN;                  /* a reader that leaves and a limit on file sizes become write errors */
    sigaction(SIGPIPE, &act, NULL);
    sigaction(SIGXFSZ, &act, NULL);
    cli_stop_signals(&all);                    /* who started us may have kept them back until now */
    sigprocmask(SIG_UNBLOCK, &all, NULL);
}

int cli_number(const struct argp_state *state, const char *option, const char *text, int least, int most)
{
    char *end;
    long v;

    errno = 0;
    v = strtol(text, &end, 10);
    if (errno || !*text || *end || v < least || v > most)
        argp_error(state, "%s takes an integer from %d to %d, not \"%s\"", option, least, most, text);
    return (int)v;
}

int cli_split(const struct argp_state *state, const char *text)
{
    for (int split = 0; split < SPOT_SPLITS; split++)
        if (!strcmp(text, spot_split_name((spot_split)split))) return split;
    argp_error(state, "--split is train, val or test, not \"%s\"", text);
    return SPOT_TEST;
}

const char *const cli_kept[] = { "all", "views", "results" };

int cli_keep(const struct argp_state *state, const char *text)
{
    for (int i = 0; i < (int)(sizeof cli_kept / sizeof *cli_kept); i++)
        if (!strcmp(text, cli_kept[i])) return i;
    argp_error(state, "--keep is all, views or results, not \"%s\"", text);
    return 0;
}

void cli_shard(const struct argp_state *state, const char *text, int *shard, int *shards)
{
    char rest;

    if (sscanf(text, "%d/%d%c", shard, shards, &rest) != 2 || *shard < 0 || *shard >= *shards || *shards > 1000000)
        argp_error(state, "--shard takes I/N with 0 <= I < N, N at most a million, such as 0/4, not \"%s\"", text);
}

static error_t machine_option(int key, char *arg, struct argp_state *state)
{
    cli_machine *m = state->input;

    switch (key) {
    case 'd':
        if (strcmp(arg, "auto") && strcmp(arg, "cpu") && strcmp(arg, "cuda"))
            argp_error(state, "--device is auto, cpu or cuda, not \"%s\"", arg);
        m->device = arg;
        return 0;
    case 't': m->threads = cli_number(state, "--threads", arg, 0, 1024); return 0;
    case 'l':
        m->log_json = !strcmp(arg, "json");
        if (!m->log_json && strcmp(arg, "text")) argp_error(state, "--log is text or json, not \"%s\"", arg);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option machine_options[] = {
    { "device",  'd', "auto|cpu|cuda", 0, "where to compute; auto takes a GPU where there is one", 1 },
    { "threads", 't', "N",             0, "CPU threads (0: every core); results do not depend on it", 1 },
    { "log",     'l', "text|json",     0, "how stderr is written: for people, or one JSON object a line", 1 },
    { 0 }
};

const struct argp cli_machine_argp = { machine_options, machine_option, NULL, NULL, NULL, NULL, NULL };

/* Long names of a parser and its children into names; returns how many. */
static int option_names(const struct argp *argp, const char **names, int n, int most)
{
    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
        if (o->name && n < most) names[n++] = o->name;
    for (const struct argp_child *k = argp->children; k && k->argp; k++) n = option_names(k->argp, names, n, most);
    return n;
}

/* "--out" of "--out DIR": the next word is its value, whatever it looks like. */
static bool takes_word(const struct argp *argp, const char *name)
{
    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
        if (o->name && !strcmp(o->name, name)) return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
    for (const struct argp_child *k = argp->children; k && k->argp; k++)
        if (takes_word(k->argp, name)) return true;
    return false;
}

void cli_parse_argp(const struct argp *argp, int argc, char **argv, void *input)
{
    const char *names[40] = { "help", "usage" }, *near;
    static char help[] = "--help";
    char word[64];
    int n = option_names(argp, names, 2, 39);
    bool value = false;

    names[n] = NULL;
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
        bool known = strncmp(argv[i], "--", 2) != 0;
        if (!strcmp(argv[i], "-h")) argv[i] = help;
        if (!*argv[i]) {
            fprintf(stderr, "%s: word %d of the command line is empty; is a variable of the shell not set?\n", argv[0], i);
            exit(spot_exit_code(SPOT_USAGE));
        }
        snprintf(word, sizeof word, "%.*s", (int)strcspn(argv[i], "="), argv[i]);
        known |= value;
        for (int k = 0; !known && k < n; k++) known = !strncmp(word + 2, names[k], strlen(word + 2));
        value = known && !value && !strncmp(word, "--", 2) && !strchr(argv[i], '=') && takes_word(argp, word + 2);
        if (known) continue;
        near = spot_nearest(word + 2, names);
        if (near) fprintf(stderr, "%s: there is no option %s; did you mean --%s?\n", argv[0], word, near);
        else fprintf(stderr, "%s: there is no option %s; `%s --help` lists them\n", argv[0], word, argv[0]);
        exit(spot_exit_code(SPOT_USAGE));
    }
    argp_err_exit_status = spot_exit_code(SPOT_USAGE);
    setenv("ARGP_HELP_FMT", "rmargin=100,opt-doc-col=33,no-dup-args-note", 0);
    argp_parse(argp, argc, argv, 0, NULL, input);
}

/* With less libraries end the program or wait for memory for ever, also in what exit() calls. */
static void need_addresses(void)
{
    const size_t least = (size_t)256 << 20, left = spot_room_of_addresses();
    char text[160];

    if (left >= least) return;
    snprintf(text, sizeof text, "the limit on addresses (ulimit -v) leaves %zu MB and %zu are needed to begin with; raise it",
             left >> 20, least >> 20);
    cli_complain(text);
    _exit(spot_exit_code(SPOT_NOMEM));
}

spot_status cli_open(spot_ctx *c, const cli_machine *m)
{
    memset(c, 0, sizeof *c);
    c->on_log = cli_on_log;
    c->on_progress = cli_on_progress;
    c->stop = &cli_stop;
    listen_for_signals();
    cli_log_open(m->log_json);
    need_addresses();
    return spot_ctx_open(c, m->device ? m->device : "auto", m->threads);
}

void cli_say_device(spot_ctx *c, const cli_machine *m)
{
    bool fell_back = !c->device && (!m->device || !strcmp(m->device, "auto"));

    spot_log(c, SPOT_LOG_INFO, "device: %s, %d thread%s%s", spot_ctx_device_name(c), c->threads, c->threads == 1 ? "" : "s",
             fell_back ? " (no GPU; --device cuda says why)" : "");
}

spot_status cli_config(spot_ctx *c, spot_config *cfg, const char *path)
{
    char why[1024];
    spot_status s;

    SPOT_TRY(spot_config_load(c, cfg, path));
    s = cfg->data.coco[0] ? SPOT_OK : spot_scene_check(c, &cfg->scene);
    if (s == SPOT_OK) return s;
    snprintf(why, sizeof why, "%s", spot_message(c, s));
    spot_forget(c);
    return spot_fail(c, s, "%s: %s", path, why);
}

int cli_close(spot_ctx *c, spot_status s)
{
    cli_log_close();
    if (s != SPOT_OK && !(s == SPOT_IO && ferror(stdout))) cli_complain(spot_message(c, s));    /* of stdout main speaks */
    spot_ctx_close(c);
    return spot_exit_code(s);
}
