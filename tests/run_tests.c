/* run_tests.c - the list of a program's tests, and main() of the programs that have none of their own. */
#include "checks.h"

test_list check_tests;

__attribute__((weak)) int main(void) { return run_all_tests(); }
