/* html.c - the page's parts in order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/html.h"
#include "report/html_parts.h"
#include "spotter/store.h"

spot_report_options spot_report_defaults(void) { return (spot_report_options){ .budget = 10000000, .thumb = 64 }; }

spot_status spot_page_begin(spot_page *p, spot_ctx *c, const spot_report_options *o, const char *kind, const char *title)
{
    *p = (spot_page){ .c = c, .o = o, .title = title };
    if (!o->budget || o->thumb < 16 || o->thumb > 240)
        return spot_fail(c, SPOT_INVALID, "a report needs a budget, and thumbnails of 16 to 240 pixels, not %d", o->thumb);
    spot_page_open(p, NULL, '{');
    spot_page_text(p, "kind", kind);
    spot_page_text(p, "title", title);
    spot_page_text(p, "spotter", SPOT_VERSION);
    return SPOT_OK;
}

/* The file is the frame with its marks, "{{name}}", replaced. */
static void assemble(spot_text *out, const spot_page *p)
{
    const char *at = (const char *)spot_html_page, *end = at + spot_html_page_size;

    for (const spot_html_part *part = spot_html_parts; p->frame && part->name; part++)
        if (!strcmp(p->frame, part->name)) at = part->bytes, end = at + part->size;
    while (at < end) {
        const char *mark = strstr(at, "{{"), *close = mark ? strstr(mark, "}}") : NULL;
        if (!close) break;
        spot_text_add(out, at, (size_t)(mark - at));
        if (!strncmp(mark, "{{what}}", 8)) spot_text_add(out, p->what.bytes, p->what.used);
        else if (!strncmp(mark, "{{blocks}}", 10)) spot_text_add(out, p->blocks.bytes, p->blocks.used);
        else
            for (const spot_html_part *part = spot_html_parts; part->name; part++)
                if (!strncmp(mark + 2, part->name, strlen(part->name)) && mark + 2 + strlen(part->name) == close)
                    spot_text_add(out, part->bytes, part->size);
        at = close + 2;
    }
    spot_text_add(out, at, (size_t)(end - at));
}

size_t spot_page_bare(void)
{
    size_t n = spot_html_page_size;

    for (const spot_html_part *part = spot_html_parts; part->name; part++)
        if (strstr((const char *)spot_html_page, part->name)) n += part->size;
    return n;
}

spot_status spot_page_write(spot_page *p, const char *path, spot_status s)
{
    spot_text out = { 0 };

    spot_page_close(p, '}');
    if (s == SPOT_OK) assemble(&out, p);
    if (s == SPOT_OK && (p->what.status || p->blocks.status || out.status))
        s = spot_fail(p->c, SPOT_NOMEM, "no memory for the report %s", path);
    if (s == SPOT_OK && !p->o->full && out.used > p->o->budget)
        spot_log(p->c, SPOT_LOG_WARN, "%s takes %.1f MB, more than the %.1f that it may have: pictures are left out for "
                 "that, rows are not", path, (double)out.used / 1e6, (double)p->o->budget / 1e6);
    if (s == SPOT_OK) s = spot_file_write(p->c, path, out.bytes, out.used);
    spot_text_free(&out);
    spot_text_free(&p->what);
    spot_text_free(&p->blocks);
    return s;
}
