/*
 * 103-get-user - a user by number from PostgreSQL: one row or none, through a pool.
 *
 * The pool keeps ten connections and opens at most twenty more. A connection that was idle is
 * tested before it is lent, and no connection older than an hour is lent. Five lookups wait for
 * their rows at the same time. More than one row for a number would be an error.
 *
 * Run: psql -qd "$POSTGRES" -c "create table users (id int primary key, name text not null, email text); insert into users values (1, 'Amal', 'amal@example.com'), (2, 'Basim', null), (42, 'Dalia', 'dalia@example.com')"; 103-get-user "$POSTGRES" 1 2 3 42 -1
 * Time: wall 0 to 60 s
 * Output:
 *     user 1 is Amal, amal@example.com
 *     user 2 is Basim, without an address
 *     no user 3
 *     user 42 is Dalia, dalia@example.com
 *     no user -1
 */
#include <eddy/eddy.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOOKUPS_MAX = 30 };

struct user {
        int32_t id;
        char name[64];
        char *email; /* owned; or NULL */
};

static const struct eddy_field user_list[] = {
        EDDY_FIELD(struct user, id),
        EDDY_FIELD(struct user, name),
        EDDY_FIELD(struct user, email),
};
static const struct eddy_fields user_fields = EDDY_FIELDS(struct user, user_list, 0);

static eddy_pool *pool;

/* Returns 1, or 0 if there is none. */
static int get_user(int32_t id, struct user *ret_user)
{
        EDDY_AUTO(eddy_pool_loan) eddy_pool_loan loan = { 0 };
        int err = eddy_pool_acquire(pool, &loan);

        return err < 0 ? err
                       : eddy_pg_one_or_none(
                                 loan.item, "select id, name, email from users where id = $1",
                                 EDDY_PG_PARAMS(eddy_pg_int(id)), &user_fields, ret_user);
}

struct lookup {
        int32_t id;
        int found;
        struct user user;
};

static int look_up(void *arg)
{
        struct lookup *lookup = arg;

        lookup->found = get_user(lookup->id, &lookup->user);
        return lookup->found < 0 ? lookup->found : 0;
}

static int look_up_all(struct lookup *lookups, int count)
{
        struct eddy_call calls[LOOKUPS_MAX];
        int err;

        for (int i = 0; i < count; i++)
                calls[i] = EDDY_CALL(look_up, &lookups[i]);
        err = eddy_gather(calls, (size_t) count, 0);
        for (int i = 0; i < count; i++) {
                struct user *user = &lookups[i].user;

                if (err == 0 && lookups[i].found)
                        printf("user %d is %s, %s\n", user->id, user->name,
                               user->email ? user->email : "without an address");
                else if (err == 0)
                        printf("no user %d\n", lookups[i].id);
                eddy_fields_fini(&user_fields, user);
        }
        return err;
}

static int run(void *arg)
{
        static struct lookup lookups[LOOKUPS_MAX];
        char **args = arg;
        struct eddy_pg_opts opts = { .conninfo = args[1] };
        struct eddy_pool_opts pool_opts = {
                .size = 10, .overflow = 20, .ping_after_ns = -1, .age_max_ns = EDDY_SEC(3600)
        };
        int err = eddy_pg_pool_new(&opts, &pool_opts, &pool), count = 0;

        for (; args[2 + count]; count++)
                lookups[count].id = (int32_t) strtol(args[2 + count], NULL, 10);
        if (err == 0)
                err = look_up_all(lookups, count);
        eddy_pool_close(pool);
        return err;
}

int main(int argc, char **argv)
{
        int err;

        if (argc < 2 || argc > 2 + LOOKUPS_MAX) {
                fprintf(stderr, "usage: 103-get-user CONNINFO ID...\n");
                return 2;
        }
        err = eddy_run(run, argv, NULL);
        if (err < 0)
                fprintf(stderr, "103-get-user: %s\n", eddy_error_text(err));
        return err < 0;
}
