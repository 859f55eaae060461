/* ci_sarif.c - a report as SARIF 2.1.0. GitHub's upload asks of every result a rule with its texts, a place in a file, and a
 * fingerprint that is the same in the next run; the first line of the judged file is the place. */
#include "result/ci_parts.h"

#include <string.h>

#include "base/key.h"
#include "base/platform.h"

enum { MOST = 5000 };

static void put_message(spot_json *j, const char *key, const char *text)
{
    spot_json_object(j, key);
    spot_json_put_text(j, "text", text);
    spot_json_end(j);
}

static const char *level_of(const spot_ci_rule *u)
{
    return u->level == SPOT_CI_FAILED ? "error" : u->level == SPOT_CI_WARNING ? "warning" : "note";
}

static void put_id(spot_json *j, const char *key, const spot_ci_report *r, const spot_ci_rule *u)
{
    char id[96];

    snprintf(id, sizeof id, "%s/%s", r->command, u->word);
    for (char *p = id; *p; p++)
        if (*p == ' ') *p = '-';
    spot_json_put_text(j, key, id);
}

static void put_rules(spot_json *j, const spot_ci_report *r)
{
    spot_json_array(j, "rules", 0, 0);
    for (const spot_ci_rule *u = r->rule; u < r->rule + r->rules; u++) {
        if (u->level == SPOT_CI_FINE) continue;
        spot_json_object(j, NULL);
        put_id(j, "id", r, u);
        put_message(j, "shortDescription", u->word);
        put_message(j, "fullDescription", u->about);
        put_message(j, "help", u->about);
        spot_json_object(j, "defaultConfiguration");
        spot_json_put_text(j, "level", level_of(u));
        spot_json_end(j);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void put_invocation(spot_json *j, const spot_ci_report *r)
{
    const spot_status verdict = r->failed ? SPOT_CHECK : r->pending ? SPOT_PENDING : SPOT_OK;

    spot_json_array(j, "invocations", 1, 1);
    spot_json_object(j, NULL);
    spot_json_bool(j, "executionSuccessful", &(bool){ r->status == SPOT_OK });
    spot_json_put_int(j, "exitCode", spot_exit_code(r->status ? r->status : verdict));
    if (r->status) {
        spot_json_array(j, "toolExecutionNotifications", 1, 1);
        spot_json_object(j, NULL);
        spot_json_put_text(j, "level", "error");
        put_message(j, "message", r->message);
        spot_json_end(j);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_end(j);
}

/* The path as a URI: relative as it is, or file:///. */
static void put_uri(spot_json *j, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    spot_text uri = { 0 };
    char code[4];

    if (*path == '/') spot_text_adds(&uri, "file://");
    for (; *path; path++)
        if (strchr(plain, *path)) spot_text_add(&uri, path, 1);
        else spot_text_add(&uri, code, (size_t)snprintf(code, sizeof code, "%%%02X", (unsigned char)*path));
    spot_text_add(&uri, "", 1);
    spot_json_put_text(j, "uri", uri.status ? "" : uri.bytes);
    spot_text_free(&uri);
}

static void put_location(spot_json *j, const spot_ci_walk *w)
{
    spot_json_array(j, "locations", 1, 1);
    spot_json_object(j, NULL);
    spot_json_object(j, "physicalLocation");
    spot_json_object(j, "artifactLocation");
    put_uri(j, w->r->input);
    spot_json_end(j);
    spot_json_object(j, "region");
    spot_json_put_int(j, "startLine", 1);
    spot_json_end(j);
    spot_json_end(j);
    spot_json_array(j, "logicalLocations", 1, 1);
    spot_json_object(j, NULL);
    spot_json_put_text(j, "name", w->name);
    spot_json_put_format(j, "fullyQualifiedName", "%s/%s", w->r->command, w->name);
    spot_json_end(j);
    spot_json_end(j);
    spot_json_end(j);
    spot_json_end(j);
}

static void put_fingerprint(spot_json *j, const spot_ci_walk *w)
{
    const spot_key k = spot_key_join(spot_key_of(w->r->command, strlen(w->r->command)), w->rule->word, w->name,
                                     strlen(w->name));
    char text[33];

    spot_key_text(text, k);
    spot_json_object(j, "partialFingerprints");
    spot_json_put_format(j, "primaryLocationLineHash", "%s:1", text);
    spot_json_end(j);
}

/* "](" would begin a link. */
static void put_sentence(spot_json *j, const spot_ci_walk *w)
{
    spot_text text = { 0 };

    spot_text_visible(&text, w->name), spot_text_adds(&text, ": ");
    spot_text_adds(&text, w->rule->word), spot_text_adds(&text, "; ");
    spot_ci_columns(&text, w, false), spot_text_add(&text, "", 1);
    for (char *p = text.status ? NULL : strstr(text.bytes, "]("); p; p = strstr(p, "](")) p[1] = ' ';
    put_message(j, "message", text.status ? "" : text.bytes);
    if (text.status) j->out.status = SPOT_NOMEM;
    spot_text_free(&text);
}

static int rule_index(const spot_ci_report *r, const spot_ci_rule *u)
{
    int n = 0;

    for (const spot_ci_rule *v = r->rule; v < u; v++) n += v->level != SPOT_CI_FINE;
    return n;
}

static void put_results(spot_json *j, const spot_ci_report *r)
{
    int n = 0;

    spot_json_array(j, "results", 0, 0);
    for (spot_ci_walk w = { .r = r, .level = SPOT_CI_FAILED }; w.level > SPOT_CI_FINE; w.level--, w.at = 0)
        while (n < MOST && spot_ci_next(&w)) {
            spot_json_object(j, NULL);
            put_id(j, "ruleId", r, w.rule);
            spot_json_put_int(j, "ruleIndex", rule_index(r, w.rule));
            spot_json_put_text(j, "level", level_of(w.rule));
            put_sentence(j, &w);
            put_location(j, &w);
            put_fingerprint(j, &w);
            spot_json_object(j, "properties");
            spot_quantities_put(j, r->list.rows, w.row);
            spot_json_end(j);
            spot_json_end(j);
            n++;
        }
    spot_json_end(j);
}

static void put_run(spot_json *j, const spot_ci_report *r)
{
    spot_json_object(j, NULL);
    spot_json_object(j, "tool");
    spot_json_object(j, "driver");
    spot_json_put_text(j, "name", "spotter");
    spot_json_put_text(j, "version", spot_made_by());
    put_rules(j, r);
    spot_json_end(j);
    spot_json_end(j);
    spot_json_object(j, "automationDetails");
    spot_json_put_format(j, "id", "spotter-%s/", r->command);
    spot_json_end(j);
    put_invocation(j, r);
    put_results(j, r);
    spot_json_object(j, "properties");
    spot_json_put_text(j, "subject", r->subject);
    spot_json_put_text(j, "verdict", r->status ? NULL : r->verdict);
    spot_json_put_text(j, "page", r->page);
    spot_json_end(j);
    spot_json_end(j);
}

spot_status spot_ci_sarif(spot_ctx *c, spot_text *out, const spot_ci_report *r)
{
    spot_json j = { 0 };
    spot_status s;

    SPOT_TRY(spot_json_begin(c, &j, "  "));
    spot_json_object(&j, NULL);
    spot_json_put_text(&j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    spot_json_put_text(&j, "version", "2.1.0");
    spot_json_array(&j, "runs", 1, 1);
    put_run(&j, r);
    spot_json_end(&j);
    spot_json_end(&j);
    s = spot_json_whole(c, &j, "a report in SARIF");
    if (s == SPOT_OK) spot_text_add(out, j.out.bytes, j.out.used);
    if (s == SPOT_OK && out->status) s = spot_fail(c, SPOT_NOMEM, "no memory for a report in SARIF");
    spot_json_free(&j);
    return s;
}
