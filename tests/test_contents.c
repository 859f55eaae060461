/* test_contents.c - hashes of files: the same by whole paths and below a root, remembered by paths, sizes and times. */
#define _POSIX_C_SOURCE 200809L
#include "checks.h"
#include "check_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/contents.h"

enum { FILES = 40 };

static char name[FILES][16], whole[FILES][96];
static const char *name_at[FILES], *whole_at[FILES];

static void write_file(int i, const char *text)
{
    const struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

    put_text(whole[i], text);
    assert_int_equal(utimensat(AT_FDCWD, whole[i], times, 0), 0);
}

/* File i holds its own name. */
static void write_files(void)
{
    for (int i = 0; i < FILES; i++) {
        snprintf(name[i], sizeof name[i], "%02d.png", i);
        snprintf(whole[i], sizeof whole[i], "%s/%s", root, name[i]);
        name_at[i] = name[i];
        whole_at[i] = whole[i];
        write_file(i, name[i]);
    }
}

static void check_keys(const spot_key *key)
{
    for (int i = 0; i < FILES; i++) {
        const spot_key k = spot_key_of(name[i], strlen(name[i]));
        assert_memory_equal(&key[i], &k, sizeof k);
    }
}

TEST_IN_FOLDER(files_are_hashed_below_a_root)
{
    spot_ctx c = check_ctx(2);
    spot_key key[FILES] = { 0 };

    write_files();
    CHECK_OK(&c, spot_contents_of(&c, key, NULL, whole_at, FILES, NULL));
    check_keys(key);
    memset(key, 0, sizeof key);
    CHECK_OK(&c, spot_contents_of(&c, key, root, name_at, FILES, NULL));
    check_keys(key);
}

TEST_IN_FOLDER(hashes_are_remembered)
{
    spot_ctx c = check_ctx(2);
    spot_key key[FILES] = { 0 };
    const spot_key other = spot_key_of("17.PNGX", 7);
    spot_store store;

    write_files();
    CHECK_OK(&c, spot_store_open_cache(&c, &store, root));
    CHECK_OK(&c, spot_contents_of(&c, key, root, name_at, FILES, &store));
    check_keys(key);
    write_file(17, "17.PNG");                     /* of the same size and time: it is not read */
    memset(key, 0, sizeof key);
    CHECK_OK(&c, spot_contents_of(&c, key, root, name_at, FILES, &store));
    check_keys(key);
    write_file(17, "17.PNGX");
    CHECK_OK(&c, spot_contents_of(&c, key, root, name_at, FILES, &store));
    assert_memory_equal(&key[17], &other, sizeof other);
}

/* A store whose cache is a file keeps nothing. */
TEST_IN_FOLDER(a_store_that_keeps_nothing_is_no_failure)
{
    spot_ctx c = check_ctx(2);
    spot_key key[FILES] = { 0 };
    spot_store store = { 0 };

    write_files();
    const char *path = in_root("cache");
    CHECK_OK(&c, spot_file_write(&c, path, "", 0));
    snprintf(store.dir, sizeof store.dir, "%s", root);
    CHECK_OK(&c, spot_contents_of(&c, key, root, name_at, FILES, &store));
    check_keys(key);
    assert_int_equal(c.message[0], 0);
}

TEST_IN_FOLDER(a_file_that_cannot_be_read_is_named)
{
    spot_ctx c = check_ctx(2);
    spot_key key[FILES];
    spot_store store;

    write_files();
    CHECK_OK(&c, spot_store_open_cache(&c, &store, root));
    assert_int_equal(unlink(whole[30]), 0);
    assert_int_equal(unlink(whole[23]), 0);
    CHECK_FAILS(&c, spot_contents_of(&c, key, root, name_at, FILES, NULL), SPOT_IO, check_text("file.failed: %s", whole[23]));
    CHECK_FAILS(&c, spot_contents_of(&c, key, root, name_at, FILES, &store), SPOT_IO,
                check_text("file.unread: %s", whole[23]));
}
