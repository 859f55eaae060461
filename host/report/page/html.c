/* html.c - puts a page together from its template and its parts. */
#include <string.h>

#include "base/file.h"
#include "base/platform.h"
#include "report/page/html.h"
#include "report/page/html_parts.h"

static const char whole[] = "page.html";       /* template of every page, except the nights' */

spot_report_options spot_report_defaults(void) { return (spot_report_options){ .budget = 10000000, .thumb = 64 }; }

spot_status spot_page_begin(spot_page *p, spot_ctx *c, const spot_report_options *o, const char *kind, const char *title)
{
    *p = (spot_page){ .c = c, .o = o, .title = title, .frame = whole };
    if (!o->budget || o->thumb < 16 || o->thumb > 240)
        return spot_fail(c, SPOT_INVALID, "a report needs a budget, and thumbnails of 16 to 240 pixels, not %d", o->thumb);
    SPOT_TRY(spot_json_begin(c, &p->what, NULL));
    p->at = &p->what;
    spot_json_object(p->at, NULL);
    spot_page_text(p, "kind", kind);
    spot_page_text(p, "title", title);
    spot_page_text(p, "spotter", spot_made_by());
    return SPOT_OK;
}

/* The part with this name of n bytes; the empty last one if there is none. */
static const spot_html_part *find_part(const char *name, size_t n)
{
    const spot_html_part *part = spot_html_parts;

    while (part->name && (strlen(part->name) != n || memcmp(part->name, name, n))) part++;
    return part;
}

/* < stands only in texts of JSON. */
static void add_json(spot_text *out, const char *json, size_t n)
{
    for (const char *less; (less = memchr(json, '<', n)); n -= (size_t)(less + 1 - json), json = less + 1) {
        spot_text_add(out, json, (size_t)(less - json));
        spot_text_adds(out, "\\u003c");
    }
    spot_text_add(out, json, n);
}

/* Builds the file: the template with its marks, "{{name}}", replaced. */
static void assemble_page(spot_text *out, const spot_page *p)
{
    const spot_html_part *frame = find_part(p->frame, strlen(p->frame)), *part;
    const char *at = frame->bytes, *end = at + frame->size;

    while (at < end) {
        const char *mark = strstr(at, "{{"), *close = mark ? strstr(mark, "}}") : NULL;
        if (!close) break;
        spot_text_add(out, at, (size_t)(mark - at));
        if (!strncmp(mark, "{{what}}", 8)) add_json(out, p->what.out.bytes, p->what.out.used);
        else if (!strncmp(mark, "{{policy}}", 10)) spot_text_adds(out, frame->policy);
        else if (!strncmp(mark, "{{blocks}}", 10)) spot_text_add(out, p->blocks.bytes, p->blocks.used);
        else if ((part = find_part(mark + 2, (size_t)(close - mark - 2)))->name) spot_text_add(out, part->bytes, part->size);
        at = close + 2;
    }
    spot_text_add(out, at, (size_t)(end - at));
}

size_t spot_page_bare(void)
{
    const spot_html_part *frame = find_part(whole, strlen(whole));
    size_t n = frame->size;

    for (const spot_html_part *part = spot_html_parts; part->name; part++)
        if (strstr(frame->bytes, part->name)) n += part->size;
    return n;
}

/* Every page says who made it, near its top. */
spot_status spot_report_place(spot_ctx *c, const char *path, const char *advice)
{
    char top[1024];
    int n;

    SPOT_TRY(spot_file_place(c, path, false));
    n = spot_file_peek(path, top, sizeof top - 1);
    if (!advice || (n <= 0 && n != -3)) return SPOT_OK;
    top[n > 0 ? n : 0] = 0;
    return strstr(top, "name=\"generator\" content=\"Spotter\"") ? SPOT_OK
         : spot_fail(c, SPOT_USAGE, "{page.foreign} %s is there, and it is no page of this program; %s", path,
                     advice);
}

spot_status spot_page_write(spot_page *p, const char *path, spot_status s)
{
    spot_text out = { 0 };

    spot_json_end(p->at);
    if (s == SPOT_OK) s = spot_json_whole(p->c, &p->what, path);
    if (s == SPOT_OK) assemble_page(&out, p);
    if (s == SPOT_OK && (p->blocks.status || out.status))
        s = spot_fail(p->c, SPOT_NOMEM, "no memory for the report %s", path);
    if (s == SPOT_OK && !p->o->full && out.used > p->o->budget)
        spot_log(p->c, SPOT_LOG_WARN, "%s takes %.1f MB, more than the %.1f that it may have: pictures are left out for "
                 "that, rows are not", path, (double)out.used / 1e6, (double)p->o->budget / 1e6);
    if (s == SPOT_OK) s = spot_file_write(p->c, path, out.bytes, out.used);
    spot_text_free(&out);
    spot_json_free(&p->what);
    spot_text_free(&p->blocks);
    return s;
}
