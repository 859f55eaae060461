/* conv_plans.cu - chooses the plan of cuDNN for a pass.
 *
 * All proposals of the heuristics are tried (conv_trial.cu). A plan is right if it is deterministic and precise enough
 * (conv_cudnn.cuh), agrees with the naive kernel, and gives the same bits twice. Right plans are timed, and the fastest is
 * taken. Close timings would change the choice, and so the bits, from run to run. So it is kept in a file (conv_stored.cu);
 * later runs take it from there and check that it gives the bits of its trial again. SPOT_PLANS=heuristic in the environment
 * times nothing, reads and writes no file and takes the first right plan. The same happens where no file can be kept.
 *
 * Where processes share that folder, one of them searches a task's plan, and the others wait for its file. A run keeps its
 * plans in its own folder: those of the user's folder, or else new ones, are copied to it. So processes that share only the
 * run round alike, too.
 *
 * An engine with a note that this build does not know, as of a newer cuDNN, is tried where no other is right: its numbers
 * decide. A search ends after SPOT_PLANS_SECONDS (20) once a right plan is found, and between two plans when a stop is asked
 * for. */
#include "net/conv_trial.cuh"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A plan on trial, and at last the plan of the pass. */
typedef struct {
    spot_stored as;            /* its choice; a digest of the bits that it gives */
    spot_cudnn_plan *plan;     /* NULL: of no use */
    float ms;                  /* INFINITY: not timed */
    bool kept;                 /* in a file, so that others take it, too */
} candidate;

static void drop(candidate *k)
{
    spot_cudnn_plan_close(k->plan);
    k->plan = NULL;
}

/* -- one plan -------------------------------------------------------------------------------------------------------- */

/* Each check gives the reason against k's plan, or NULL. A new plan must be right twice, with the same bits. */
static spot_status check_new(spot_ctx *c, spot_trial *t, candidate *k, void *scratch, const char **why)
{
    unsigned again;
    bool right, still;

    *why = "gives a wrong answer, or none";
    SPOT_TRY(spot_trial_run(c, t, k->plan, scratch, true, &k->as.digest, &right));
    if (!right) return SPOT_OK;
    SPOT_TRY(spot_trial_run(c, t, k->plan, scratch, true, &again, &still));
    *why = still && again == k->as.digest ? NULL : "leaves other bits each time";
    return SPOT_OK;
}

/* A plan that was kept was right; it must give the bits that it gave then. */
static spot_status check_kept(spot_ctx *c, spot_trial *t, candidate *k, void *scratch, const char **why)
{
    unsigned digest;
    bool ran;

    SPOT_TRY(spot_trial_run(c, t, k->plan, scratch, false, &digest, &ran));
    *why = !ran ? "does not run" : digest != k->as.digest ? "leaves other bits than when it was found right" : NULL;
    return SPOT_OK;
}

typedef spot_status checker(spot_ctx *c, spot_trial *t, candidate *k, void *scratch, const char **why);

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + t.tv_nsec / 1e9;
}

/* spot_check_stop, whose file the plugin lacks. */
static spot_status check_stop(spot_ctx *c)
{
    return c->stop && *c->stop ? spot_fail(c, SPOT_STOPPED, "stopped between two plans of cuDNN") : SPOT_OK;
}

/* Makes and checks the plan of k's choice. k->plan is NULL afterwards if it is of no use; the log has the reason. k->ms becomes
 * its time where `best`, the time of the best plan so far, is given; 0: no timing. */
static spot_status try_candidate(spot_ctx *c, spot_trial *t, candidate *k, checker *check, float best)
{
    const char *why = NULL;
    char unmade[256] = "";
    void *scratch = NULL;
    spot_status s;

    SPOT_TRY(check_stop(c));
    SPOT_TRY(spot_cudnn_plan_open(c, t->lib, &k->plan, &t->task, &k->as.choice, unmade, sizeof unmade));
    if (!k->plan) spot_log(c, SPOT_LOG_DEBUG, "%s: no %s: %s", t->task.words, k->as.choice.words, unmade);
    if (!k->plan) return SPOT_OK;
    s = spot_trial_scratch(c, t, &scratch, spot_cudnn_plan_scratch(k->plan));
    if (!s) s = check(c, t, k, scratch, &why);
    if (!s && !why && best > 0) s = spot_trial_time(c, t, k->plan, scratch, best, &k->ms);
    if (!s && why) spot_log(c, SPOT_LOG_WARN, "%s: cuDNN's %s %s; it is not taken", t->task.words, k->as.choice.words, why);
    if (s || why) drop(k);
    return s;
}

/* -- the choice ------------------------------------------------------------------------------------------------------ */

typedef struct { int proposed, right; } tally;

/* The seconds of a search, after which a right plan is enough. */
static double seconds_of_search(void)
{
    const char *own = getenv("SPOT_PLANS_SECONDS");

    return own ? atof(own) : 20;
}

/* The fastest right plan, or with timed false the first. best->plan stays NULL where found is none. */
static spot_status search_plan(spot_ctx *c, spot_trial *t, bool timed, candidate *best, tally *n)
{
    spot_cudnn_choice *choice = (spot_cudnn_choice *)calloc(SPOT_MOST_CHOICES, sizeof *choice);
    spot_status s = choice ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for cuDNN's proposals");
    const double end = now() + seconds_of_search();

    *n = { 0, 0 };
    *best = { .ms = INFINITY };
    for (int round = 0; round < 4 && !best->plan && !s; round++) {     /* the last two: notes that are not known */
        int count = 0;
        s = spot_cudnn_propose(c, t->lib, &t->task, round % 2, choice, &count);
        if (round < 2) n->proposed += count;
        for (int i = 0; i < count && !s && (!best->plan || (timed && now() < end)); i++) {
            candidate k = { .as = { .choice = choice[i] }, .ms = INFINITY };
            k.as.choice.unknown = round >= 2;
            s = try_candidate(c, t, &k, check_new, timed ? best->ms : 0);
            n->right += k.plan != NULL;
            if (!k.plan || (best->plan && k.ms >= best->ms)) drop(&k);
            else {
                drop(best);
                *best = k;
            }
        }
    }
    free(choice);
    return s;
}

/* The kept plan, if it can be made again and still gives its bits; else k->plan is NULL. */
static spot_status take_kept(spot_ctx *c, spot_trial *t, const spot_stored *kept, candidate *k)
{
    *k = { .as = *kept, .ms = INFINITY, .kept = true };
    k->as.choice.unknown = true;
    SPOT_TRY(try_candidate(c, t, k, check_kept, 0));
    if (!k->plan) spot_log(c, SPOT_LOG_WARN, "%s: the plan that was kept is of no use any more", t->task.words);
    return SPOT_OK;
}

/* Keeps the plan that was found, or that another place has. Of processes that search at the same time all must compute with the
 * plan that was kept first: k becomes that one. k->kept stays false where nothing could be kept. replace: found is a kept plan
 * of no use. */
static spot_status keep_found(spot_ctx *c, spot_trial *t, int place, candidate *k, const char *remark, bool replace)
{
    size_t version = spot_cudnn_version(t->lib);
    spot_stored first;
    candidate other;

    if (!spot_stored_write(c, &t->task, version, place, &k->as, remark, replace)
        || spot_stored_read(c, &t->task, version, place, &first) != SPOT_STORED_READ) return SPOT_OK;
    k->kept = true;
    if (!strcmp(first.choice.words, k->as.choice.words)) return SPOT_OK;
    SPOT_TRY(take_kept(c, t, &first, &other));
    if (!other.plan) return SPOT_OK;
    drop(k);
    *k = other;
    return SPOT_OK;
}

/* Takes the plan that is kept, if there is one and it is of use. */
static spot_status take_stored(spot_ctx *c, spot_trial *t, int place, candidate *k, spot_stored_found *found, spot_stored *kept)
{
    *found = spot_stored_read(c, &t->task, spot_cudnn_version(t->lib), place, kept);
    return *found == SPOT_STORED_READ ? take_kept(c, t, kept, k) : SPOT_OK;
}

/* Whether another process has kept a plan since `old` was read, which was none or of no use. */
static bool is_newer(spot_ctx *c, const spot_trial *t, int place, spot_stored_found found, const spot_stored *old)
{
    spot_stored s;

    if (spot_stored_read(c, &t->task, spot_cudnn_version(t->lib), place, &s) != SPOT_STORED_READ) return false;
    return found != SPOT_STORED_READ || s.digest != old->digest || strcmp(s.choice.words, old->choice.words);
}

/* Waits while another process searches, until it has kept a plan for this task: *newer. One that takes ten times as long as a
 * search may, as a stopped one does, is no longer waited for. */
static spot_status wait_for_search(spot_ctx *c, const spot_trial *t, int place, spot_stored_found found,
                                   const spot_stored *old, int *lock, bool *newer)
{
    const double end = now() + 10 * seconds_of_search();
    const struct timespec pause = { .tv_nsec = 20000000 };

    for (bool said = false, held = true; held; said = true) {
        spot_stored_lock(c, spot_cudnn_version(t->lib), place, lock, &held);
        if ((*newer = is_newer(c, t, place, found, old))) return SPOT_OK;
        if (held && !said)
            spot_log(c, SPOT_LOG_INFO, "another process times cuDNN's ways to convolve; this one waits for what it keeps");
        if (held && now() > end) {
            spot_log(c, SPOT_LOG_WARN, "another process times cuDNN's ways to convolve for long; this one does not wait any "
                     "longer and times them itself");
            return SPOT_OK;
        }
        SPOT_TRY(check_stop(c));
        if (held) nanosleep(&pause, NULL);
    }
    return SPOT_OK;
}

/* Why no plan is kept: no proposal is right, or errno; errno 0: a foreign file is in the way. */
typedef struct { bool none; int error; } unkept;

/* Times all proposals. remark: for the file. */
static spot_status search_timed(spot_ctx *c, spot_trial *t, candidate *k, char *remark, size_t size)
{
    tally n;

    SPOT_TRY(search_plan(c, t, true, k, &n));
    if (!k->plan) return SPOT_OK;
    snprintf(remark, size, "%d proposed, %d right, %.4f ms%s", n.proposed, n.right, k->ms,
             spot_cudnn_plan_tensor_cores(k->plan) ? ", tensor cores" : "");
    spot_log(c, SPOT_LOG_DEBUG, "%s: %s by cuDNN's %s", t->task.words, remark, k->as.choice.words);
    return SPOT_OK;
}

/* Takes the plan that is kept at this place, or meanwhile by another process. Else takes that of the next place, or times all
 * proposals, and keeps it here. k->plan stays NULL where nothing is right, or a foreign file is here; k->kept stays false where
 * nothing could be kept. */
static spot_status obtain(spot_ctx *c, spot_trial *t, int place, candidate *k, unkept *why)
{
    const bool last = place + 1 == spot_stored_places(c);
    char remark[128] = "kept before, for all runs";
    spot_stored_found found;
    spot_stored kept;
    bool newer = false;
    int lock = -1;
    spot_status s;

    SPOT_TRY(take_stored(c, t, place, k, &found, &kept));
    if (k->plan || found == SPOT_STORED_FOREIGN) return SPOT_OK;
    if (!spot_stored_can(c, spot_cudnn_version(t->lib), place)) {
        why->error = errno;
        return last ? SPOT_OK : obtain(c, t, place + 1, k, why);
    }
    s = wait_for_search(c, t, place, found, &kept, &lock, &newer);
    if (!s && newer) s = take_stored(c, t, place, k, &found, &kept);
    if (!s && !k->plan) {
        if (!last) s = obtain(c, t, place + 1, k, why);
        if (!s && !k->plan && !why->none) {
            s = search_timed(c, t, k, remark, sizeof remark);
            why->none = !k->plan;
        }
        if (!s && k->plan) s = keep_found(c, t, place, k, remark, found == SPOT_STORED_READ);
        if (!s && k->plan && !k->kept) why->error = errno;
    }
    spot_stored_unlock(lock);
    return s;
}

/* Takes the kept plan, or the fastest, which is then kept; where nothing can be kept the first, because the timings of several
 * processes may differ. */
static spot_status choose_plan(spot_ctx *c, spot_trial *t, candidate *k)
{
    unkept why = { false, 0 };
    tally n;

    SPOT_TRY(obtain(c, t, 0, k, &why));
    if (why.none || (k->plan && k->kept)) return SPOT_OK;
    if (why.error)
        spot_log(c, SPOT_LOG_WARN, "plans of convolutions cannot be kept (%s), so the first right one is taken, not the "
                 "fastest; set SPOT_PLAN_DIR to a folder that can be written to", strerror(why.error));
    drop(k);
    return search_plan(c, t, false, k, &n);
}

/* Continues an FNV-1a hash. */
static uint64_t hashed(uint64_t h, const char *text)
{
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

/* The word of SPOT_PLANS. */
static spot_status read_setting(spot_ctx *c, bool *timed)
{
    const char *how = getenv("SPOT_PLANS");

    *timed = !how || !strcmp(how, "timed");
    if (*timed || !strcmp(how, "heuristic")) return SPOT_OK;
    return spot_fail(c, SPOT_USAGE, "{plans.setting} SPOT_PLANS is \"%s\"; say timed (the default) or heuristic", how);
}

/* Contexts that search at the same time would disturb each other's timings, and repeat the work. */
static pthread_mutex_t one_search = PTHREAD_MUTEX_INITIALIZER;

spot_status spot_conv_choose(spot_ctx *c, spot_conv *p, int pass)
{
    spot_cuda *cuda = spot_cuda_of(c);
    const char *device = ((const spot_device *)c->device)->name;
    candidate k = { .ms = INFINITY };
    char library[64];
    spot_trial t;
    bool timed;
    tally n;
    spot_status s;

    SPOT_TRY(read_setting(c, &timed));
    if (!cuda->cudnn) SPOT_TRY(spot_cudnn_open(c, &cuda->cudnn));
    if (!cuda->cudnn) return SPOT_OK;
    pthread_mutex_lock(&one_search);
    s = spot_trial_open(c, &t, p, pass, cuda->cudnn);
    if (!s) s = timed ? choose_plan(c, &t, &k) : search_plan(c, &t, false, &k, &n);
    spot_trial_close(c, &t);
    pthread_mutex_unlock(&one_search);
    if (!s && !k.plan)
        s = spot_fail(c, SPOT_UNSUPPORTED, "{plans.none} cuDNN %zu has no deterministic engine for %s on %s; run with --device "
                      "cpu", spot_cudnn_version(t.lib), t.task.words, device);
    if (s) drop(&k);
    if (s) return s;
    p->plan[pass] = k.plan;
    snprintf(library, sizeof library, " by cuDNN %zu on ", spot_cudnn_version(t.lib));
    p->made_with += hashed(hashed(hashed(hashed(0xcbf29ce484222325u, t.task.words), library), device), k.as.choice.words);
    return SPOT_OK;
}
