/* log.c - stderr: lines for people or JSON Lines for programs, and on a terminal the progress bar below them. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/key.h"
#include "cli/cli.h"

enum { SCHEMA = 1, HEARD = 32 };       /* of a log line; info lines that are not said again */

static struct {
    bool json, bar, color, drawn;
    double last;               /* clock at the last output of the bar, or of a progress line without a terminal */
    cli_progress progress;
    uint64_t heard[HEARD];     /* keys of the latest info lines */
    int lines;
} term;

static bool is_terminal(int fd)
{
    const char *kind = getenv("TERM");

    return isatty(fd) && kind && strcmp(kind, "dumb");
}

bool cli_colorful(int fd)
{
    const char *no = getenv("NO_COLOR");

    return is_terminal(fd) && !(no && *no);
}

void cli_log_open(bool json)
{
    bool terminal = is_terminal(STDERR_FILENO);

    memset(&term, 0, sizeof term);
    term.json = json;
    term.bar = terminal && !json;
    term.color = term.bar && cli_colorful(STDERR_FILENO);
    term.last = terminal ? 0 : spot_clock();
}

static void erase_bar(void)
{
    if (term.drawn) fputs("\r\033[K", stderr);
    term.drawn = false;
}

void cli_log_close(void) { erase_bar(); }

/* Writes one line of the log; id: of a failure, or ""; p NULL for a message. Writes nothing without memory. */
static void write_json(const char *level, const char *text, const char *id, const spot_progress *p)
{
    spot_ctx none = { 0 };
    spot_json j;
    char at[40];
    struct timespec now;
    struct tm utc;

    if (spot_json_begin(&none, &j, NULL)) return;
    yajl_gen_config(j.gen, yajl_gen_validate_utf8, 1);
    clock_gettime(CLOCK_REALTIME, &now);
    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%S", gmtime_r(&now.tv_sec, &utc));
    spot_json_object(&j, NULL);
    spot_json_put_int(&j, "schema", SCHEMA);
    spot_json_put_format(&j, "time", "%s.%03ldZ", at, now.tv_nsec / 1000000);
    spot_json_put_text(&j, "level", level);
    if (p) {
        double left = cli_progress_left(&term.progress);
        spot_json_put_text(&j, "stage", p->stage);
        if (p->ec >= 0) spot_json_put_int(&j, "ec", p->ec);
        spot_json_put_real(&j, "share", cli_progress_share(&term.progress));
        if (isfinite(left)) spot_json_put_real(&j, "seconds_left", left);
    }
    if (*id) spot_json_put_text(&j, "id", id);
    spot_json_put_text(&j, "text", text);
    spot_json_end(&j);
    fprintf(stderr, "%.*s\n", (int)j.out.used, (const char *)j.out.bytes);
    spot_json_free(&j);
}

static void write_line(const char *color, const char *label, const char *text)
{
    erase_bar();
    if (term.color && *label) fprintf(stderr, "\033[%sm%s\033[0m%s\n", color, label, text);
    else fprintf(stderr, "%s%s\n", label, text);
}

/* Whether the info line was said a short time ago, such as one about a file of several arrays. */
static bool is_heard(const char *text)
{
    const uint64_t key = spot_key_of(text, strlen(text)).hi;

    for (int i = 0; i < HEARD && i < term.lines; i++)
        if (term.heard[i] == key) return true;
    term.heard[term.lines++ % HEARD] = key;
    return false;
}

void cli_on_log(void *user, spot_log_level level, const char *text)
{
    static const char *const names[] = { "debug", "info", "warning" };

    (void)user;
    if (level == SPOT_LOG_DEBUG || (level == SPOT_LOG_INFO && is_heard(text))) return;
    if (term.json) write_json(names[level], text, "", NULL);
    else write_line("33", level == SPOT_LOG_WARN ? "warning: " : "", text);
}

void cli_progress_reset(void) { memset(&term.progress, 0, sizeof term.progress); }

void cli_complain(const char *id, const char *sentence)
{
    if (term.json) write_json("error", sentence, id, NULL);
    else write_line("31", "spotter: ", sentence);
}

static void draw_bar(const char *line)
{
    static const char done[] = "====================", rest[] = "                    ";
    struct winsize w = { 0 };
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || !w.ws_col ? 80 : w.ws_col;
    int width = columns < 60 ? 0 : (int)sizeof done - 1, filled = (int)lround(width * cli_progress_share(&term.progress));

    fputs("\r\033[K", stderr);
    if (width) fprintf(stderr, "[%s%.*s%s%.*s] ", term.color ? "\033[32m" : "", filled, done, term.color ? "\033[0m" : "",
                       width - filled, rest);
    fprintf(stderr, "%.*s", columns - (width ? width + 3 : 0) - 1, line);
    fflush(stderr);
    term.drawn = true;
}

/* A terminal gets at most ten bars a second; a file gets a line every 30 s, and one for each EC. */
void cli_on_progress(void *user, const spot_progress *p)
{
    char line[256];
    double now = spot_clock();
    bool sweep = !strcmp(p->stage, "sweep"), ended = p->done >= p->total;

    (void)user;
    cli_progress_update(&term.progress, p);
    if (now - term.last < (term.bar ? 0.1 : sweep ? 0 : 30) && !(sweep && ended)) return;
    term.last = now;
    cli_progress_line(&term.progress, line, sizeof line);
    if (term.json) write_json("progress", p->note ? p->note : "", "", p);
    else if (term.bar) draw_bar(line);
    else fprintf(stderr, "%s\n", line);
}
