/*
 * test_list.c - the embedded list: order, removal in any place, walks that
 * remove what they stand on.
 */
#include "base/list.h"
#include "test.h"

struct member {
        int number;
        struct ed_list link;
};

enum { MEMBERS = 5 };

struct fixture {
        struct ed_list head;
        struct member members[MEMBERS];
};

static void fill(struct fixture *f)
{
        ed_list_init(&f->head);
        for (int i = 0; i < MEMBERS; i++) {
                f->members[i].number = i;
                ed_list_push_back(&f->head, &f->members[i].link);
        }
}

/* The numbers in order, as decimal digits; both directions must agree. */
static long long digits(const struct ed_list *head)
{
        long long forth = 0, back = 0, place = 1;

        ed_list_each (link, head)
                forth = forth * 10 + ed_container_of(link, struct member, link)->number + 1;
        for (const struct ed_list *link = head->prev; link != head; link = link->prev) {
                back += place * (ed_container_of(link, struct member, link)->number + 1);
                place *= 10;
        }
        CHECK_EQ(forth, back);
        return forth;
}

TEST(pushed_back_members_are_in_the_order_pushed)
{
        struct fixture f;

        fill(&f);
        CHECK_EQ(digits(&f.head), 12345);
        CHECK(!ed_list_is_empty(&f.head));
}

TEST(pushed_front_members_are_in_the_other_order)
{
        struct fixture f;

        ed_list_init(&f.head);
        CHECK(ed_list_is_empty(&f.head));
        for (int i = 0; i < MEMBERS; i++) {
                f.members[i].number = i;
                ed_list_push_front(&f.head, &f.members[i].link);
        }
        CHECK_EQ(digits(&f.head), 54321);
}

TEST(the_first_a_middle_and_the_last_member_can_leave)
{
        struct fixture f;

        fill(&f);
        ed_list_remove(&f.members[2].link);
        CHECK_EQ(digits(&f.head), 1245);
        ed_list_remove(&f.members[0].link);
        CHECK_EQ(digits(&f.head), 245);
        ed_list_remove(&f.members[4].link);
        CHECK_EQ(digits(&f.head), 24);
}

TEST(removing_twice_is_harmless)
{
        struct fixture f;

        fill(&f);
        ed_list_remove(&f.members[1].link);
        ed_list_remove(&f.members[1].link);
        CHECK_EQ(digits(&f.head), 1345);
        CHECK(ed_list_is_empty(&f.members[1].link));
}

TEST(pop_gives_the_first_and_then_nothing)
{
        struct fixture f;

        fill(&f);
        for (int i = 0; i < MEMBERS; i++)
                CHECK(ed_list_pop_front(&f.head) == &f.members[i].link);
        CHECK(ed_list_pop_front(&f.head) == NULL);
        CHECK(ed_list_is_empty(&f.head));
}

TEST(a_safe_walk_may_remove_the_current_member)
{
        struct fixture f;
        int seen = 0;

        fill(&f);
        ed_list_each_safe (link, &f.head) {
                seen++;
                if (ed_container_of(link, struct member, link)->number % 2 == 0)
                        ed_list_remove(link);
        }
        CHECK_EQ(seen, MEMBERS);
        CHECK_EQ(digits(&f.head), 24);
}

TEST(a_member_may_move_to_another_list)
{
        struct fixture f;
        struct ed_list other;

        fill(&f);
        ed_list_init(&other);
        ed_list_remove(&f.members[3].link);
        ed_list_push_back(&other, &f.members[3].link);
        CHECK_EQ(digits(&f.head), 1235);
        CHECK_EQ(digits(&other), 4);
}

TEST(a_list_is_appended_to_another_in_order)
{
        struct fixture f;
        struct ed_list other;

        fill(&f);
        ed_list_init(&other);
        ed_list_splice_back(&f.head, &other);
        CHECK_EQ(digits(&f.head), 12345);
        ed_list_remove(&f.members[0].link);
        ed_list_push_back(&other, &f.members[0].link);
        ed_list_splice_back(&other, &f.head);
        CHECK_EQ(digits(&other), 12345);
        CHECK(ed_list_is_empty(&f.head));
        ed_list_splice_back(&f.head, &other);
        CHECK_EQ(digits(&f.head), 12345);
}
