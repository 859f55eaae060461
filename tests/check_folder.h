/* check_folder.h - TEST_IN_FOLDER(name) is a test with a folder of its own: `root`, made by set_up, removed by tear_down. */
#ifndef SPOTTER_TESTS_CHECK_FOLDER_H
#define SPOTTER_TESTS_CHECK_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEST_IN_FOLDER(name) TEST_WITH(name, set_up, tear_down)

static char root[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/spot_test_XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

#endif
