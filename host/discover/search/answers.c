/* answers.c - how many of the classifier's answers are right, and what that says where there are no slices. */
#include <stdio.h>

#include "discover/search/search.h"
#include "discover/subject/subject_memory.h"

spot_answers spot_answers_of(const spot_subject *s, int cls)
{
    spot_answers a = { 0, 0 };

    for (int i = 0; i < s->n; i++) {
        const int from = cls >= 0 ? cls : s->target ? s->target[i] : 0, to = cls >= 0 || s->target ? from + 1 : s->classes;
        for (int k = from; k < to; k++)
            if (spot_subject_is_of(s, i, k)) a.all++, a.wrong += spot_subject_wrong(s, i, k);
    }
    return a;
}

const char *spot_findings_note(char text[SPOT_FINDINGS_NOTE], const spot_findings *f, const spot_subject *s)
{
    const bool one = f->count && f->finding[0].cls >= 0 && !f->left_out && f->finding[0].cls == f->finding[f->count - 1].cls;
    const spot_answers a = spot_answers_of(s, one ? f->finding[0].cls : SPOT_ALL_CLASSES);
    char whose[160] = "", words[150];
    int searched = 0;

    for (int i = 0; i < f->count; i++) searched += f->finding[i].wrong > 0;
    if (one && s->classes > 1)
        snprintf(whose, sizeof whose, " in %s", spot_class_words(words, sizeof words, s, f->finding[0].cls));
    *text = 0;
    if (!a.wrong) snprintf(text, SPOT_FINDINGS_NOTE, "nothing is wrong%s: %ld of %ld right", whose, a.all, a.all);
    else if (a.wrong == a.all)
        snprintf(text, SPOT_FINDINGS_NOTE, "nothing is right%s: all %ld are wrong, and no group fails more often than the rest",
                 whose, a.all);
    else if (!searched)
        snprintf(text, SPOT_FINDINGS_NOTE, "nothing was searched: the wrong ones, %ld of %ld, are in classes with too few rows",
                 a.wrong, a.all);
    return text;
}
