/* test_arena.c - where the pieces of an arena begin, and that pieces which are counted have room. */
#include "checks.h"

#include <stdint.h>

#include "core/device.h"
#include "spotter/arena.h"

static const size_t sizes[] = { 1, 0, 3, 63, 64, 65, 255, 256, 257, 511, 1000, 4097, 7, 1 };

static spot_status take_all(spot_ctx *c, spot_arena *a, unsigned char *piece[LEN(sizes)])
{
    for (int i = 0; i < LEN(sizes); i++) SPOT_TRY(SPOT_TAKE(c, a, piece[i], sizes[i]));
    return SPOT_OK;
}

/* No piece reaches into another: each is filled, then read. */
static void check_pieces(unsigned char *const piece[LEN(sizes)])
{
    for (int i = 0; i < LEN(sizes); i++) {
        assert_int_equal((uintptr_t)piece[i] % SPOT_ALIGN, 0);
        memset(piece[i], i + 1, sizes[i]);
    }
    for (int i = 0; i < LEN(sizes); i++)
        for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(piece[i][k], i + 1);
}

TEST(pieces_of_any_size_are_aligned_and_counted)
{
    spot_status (*const open[])(spot_ctx *, spot_arena *, size_t) = { spot_arena_open, spot_arena_open_pinned,
                                                                     spot_arena_open_device };
    spot_arena count = spot_arena_counting(), a;
    unsigned char *piece[LEN(sizes)], *more;
    spot_ctx c = check_ctx(1);
    size_t rooms = 0;

    CHECK_OK(&c, take_all(&c, &count, piece));
    for (int i = 0; i < LEN(sizes); i++) {
        assert_null(piece[i]);
        rooms += spot_arena_room(sizes[i]);
    }
    assert_int_equal(count.peak, rooms);
    for (int k = 0; k < LEN(open); k++) {
        CHECK_OK(&c, open[k](&c, &a, count.peak));
        CHECK_OK(&c, take_all(&c, &a, piece));
        check_pieces(piece);
        assert_int_equal(a.peak, count.peak);
        CHECK_FAILS(&c, SPOT_TAKE(&c, &a, more, 1), SPOT_NOMEM, "arena.full");
        assert_null(more);
        spot_arena_close(&a);
    }
}

/* The sizes of the pieces before and behind a mark, counted apart, are the size of all. */
TEST(what_is_counted_apart_adds_up)
{
    spot_ctx c = check_ctx(1);
    spot_arena apart[2] = { spot_arena_counting(), spot_arena_counting() }, a;
    unsigned char *piece[LEN(sizes)], *odd;

    CHECK_OK(&c, SPOT_TAKE(&c, &apart[0], odd, 77));
    CHECK_OK(&c, take_all(&c, &apart[1], piece));
    CHECK_OK(&c, spot_arena_open(&c, &a, apart[0].peak + apart[1].peak));
    CHECK_OK(&c, SPOT_TAKE(&c, &a, odd, 77));
    for (int again = 0; again < 2; again++) {
        const size_t mark = a.used;
        CHECK_OK(&c, take_all(&c, &a, piece));
        check_pieces(piece);
        assert_int_equal(a.used, a.size);
        a.used = mark;
    }
    spot_arena_close(&a);
}

TEST(an_arena_has_room_for_the_one_piece_that_it_was_opened_for)
{
    spot_ctx c = check_ctx(1);
    unsigned char *piece;
    spot_arena a;
    void *own;

    for (int i = 0; i < LEN(sizes); i++) {
        CHECK_OK(&c, spot_arena_open(&c, &a, sizes[i]));
        CHECK_OK(&c, SPOT_TAKE(&c, &a, piece, sizes[i]));
        assert_int_equal(spot_arena_room(sizes[i]) - sizes[i] < SPOT_ALIGN, true);
        spot_arena_close(&a);
        CHECK_OK(&c, spot_device_take(&c, &own, sizes[i]));
        assert_int_equal((uintptr_t)own % SPOT_ALIGN, 0);
        spot_device_give(&c, own);
    }
}

/* Sizes whose room would pass the greatest number. */
TEST(more_than_all_memory_is_refused)
{
    spot_ctx c = check_ctx(1);
    spot_arena a, count = spot_arena_counting();
    unsigned char *piece;

    CHECK_FAILS(&c, spot_arena_open(&c, &a, SIZE_MAX), SPOT_NOMEM, "arena.unreserved");
    CHECK_FAILS(&c, spot_arena_open(&c, &a, SIZE_MAX - SPOT_ALIGN + 1), SPOT_NOMEM, "arena.unreserved");
    CHECK_OK(&c, spot_arena_open(&c, &a, 1));
    CHECK_FAILS(&c, SPOT_TAKE(&c, &a, piece, SIZE_MAX), SPOT_NOMEM, "arena.full");
    CHECK_FAILS(&c, SPOT_TAKE(&c, &a, piece, SPOT_ALIGN + 1), SPOT_NOMEM, "arena.full");
    CHECK_FAILS(&c, SPOT_TAKE(&c, &count, piece, SIZE_MAX), SPOT_NOMEM, "arena.full");
    assert_int_equal(count.peak, 0);
    spot_arena_close(&a);
}
