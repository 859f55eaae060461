"""Rounds of a peer's cases: one, or with --rows on the command line one for each line on stdin; an empty line ends a round."""
import statistics
import sys
import time

NEAR = 1.2      # rounds after the first leave out what took longer than the best of its op and case by more than this


def median(run, times=3):
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def play(made):
    """made: op, case, by whom, work. Prints a line of each: op, case, by whom, median seconds. A first call compiles."""
    cold = True
    for _ in sys.stdin if "--rows" in sys.argv else [None]:
        took, best = [], {}
        for op, case, who, work in made:
            if cold:
                work()
            took.append(median(work))
            best[op, case] = min(took[-1], best.get((op, case), took[-1]))
            print(f"{op}\t{case}\t{who}\t{took[-1]:.5f}", flush=True)
        print(flush=True)
        made, cold = [m for m, seconds in zip(made, took) if seconds <= NEAR * best[m[:2]]], False
