/*
 * value_scenarios.c - programs of futures, generators and variables of tasks.
 */
#include <errno.h>

#include "eddy/eddy.h"
#include "scenario.h"
#include "test.h"

/* --- futures --- */

enum { PROMISES = 12, WAITERS = 2 };

struct promise {
        eddy_future future;
        eddy_future_callback callback;
        int number;
        int waited; /* got its result */
        int called;
};

static int keep_promise(void *arg)
{
        struct promise *promise = arg;
        int err;

        tasks_begun++;
        err = eddy_sleep(EDDY_MS(promise->number % 4));
        if (err == 0)
                CHECK_EQ(eddy_future_set(&promise->future, promise->number, promise), 0);
        else
                CHECK_EQ(eddy_future_cancel(&promise->future), 1);
        tasks_ended++;
        return err;
}

static int wait_for_promise(void *arg)
{
        struct promise *promise = arg;
        int result = -1, err;

        tasks_begun++;
        err = eddy_future_wait(&promise->future, &result);
        if (err == 0 && eddy_future_is_cancelled(&promise->future)) {
                CHECK_EQ(result, -ECANCELED);
        } else if (err == 0) {
                CHECK_EQ(result, promise->number);
                CHECK(eddy_future_value(&promise->future) == promise);
                promise->waited++;
        } else {
                CHECK_EQ(result, -1);
        }
        tasks_ended++;
        return err;
}

static int note_promise(void *arg)
{
        struct promise *promise = arg;

        CHECK(eddy_future_is_done(&promise->future));
        promise->called++;
        return 0;
}

static int end_promises(struct promise *promises, int err)
{
        if (err == 0)
                err = eddy_sleep(EDDY_MS(1));
        for (int i = 0; i < PROMISES; i++) {
                struct promise *promise = &promises[i];

                CHECK(promise->called <= eddy_future_is_done(&promise->future));
                CHECK(promise->waited == 0 || eddy_future_is_done(&promise->future));
                if (err == 0) {
                        CHECK_EQ(promise->called, 1);
                        CHECK(promise->waited == WAITERS || one_was_cancelled());
                }
                eddy_future_fini(&promise->future);
        }
        return err;
}

int scenario_futures(void *arg)
{
        struct promise promises[PROMISES] = { 0 };
        eddy_scope scope;
        int started = 0, err;

        (void) arg;
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < PROMISES; i++) {
                struct promise *promise = &promises[i];

                promise->number = i;
                CHECK_EQ(eddy_future_add_callback(&promise->future, &promise->callback,
                                                  note_promise, promise),
                         0);
                for (int k = 0; k < WAITERS; k++)
                        started += eddy_scope_start(&scope, wait_for_promise, promise) == 0;
                started += eddy_scope_start(&scope, keep_promise, promise) == 0;
        }
        err = eddy_scope_end(&scope);
        if (err == 0 && started < PROMISES * (WAITERS + 1))
                err = -ECANCELED;
        return end_promises(promises, err);
}

/* --- generators --- */

enum { VALUES = 60, PAGE = 10, TAKEN = 7 };

/* Values page by page, from a source that takes its time. */
static int read_pages(eddy_generator *gen, void *arg)
{
        int err = 0;

        tasks_begun++;
        for (int i = 1; i <= VALUES && err == 0; i++) {
                if (i % PAGE == 1)
                        err = eddy_sleep(EDDY_MS(1));
                if (err == 0)
                        err = eddy_generator_yield(gen, &i);
        }
        ++*(int *) arg;
        tasks_ended++;
        return err;
}

/* Those of another generator, which is its own, that can be divided by 3. */
static int filter(eddy_generator *gen, void *arg)
{
        eddy_generator pages;
        eddy_scope scope;
        int item, err, end_err;

        tasks_begun++;
        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&pages, &scope, read_pages, arg, sizeof(int));
        while ((err = eddy_generator_next(&pages, &item)) > 0) {
                if (item % 3 == 0)
                        err = eddy_generator_yield(gen, &item);
                if (err < 0)
                        break;
        }
        end_err = eddy_scope_end(&scope);
        tasks_ended++;
        return err < 0 ? err : end_err;
}

/* Takes some values and leaves the rest to the end of the scope. */
static int take_some(int *closed)
{
        eddy_generator gen;
        eddy_scope scope;
        int item, err = 1, end_err;

        eddy_scope_begin(&scope, NULL);
        eddy_generator_begin(&gen, &scope, filter, closed, sizeof(int));
        for (int i = 1; i <= TAKEN && err > 0; i++) {
                err = eddy_generator_next(&gen, &item);
                if (err > 0)
                        CHECK_EQ(item, 3 * i);
        }
        end_err = eddy_scope_end(&scope);
        return err < 0 ? err : end_err;
}

struct reader {
        eddy_generator *pages;
        int last;
        eddy_event done;
};

/* The next values, each one after the last. */
static int read_on(struct reader *reader)
{
        int item, err;

        while ((err = eddy_generator_next(reader->pages, &item)) > 0)
                CHECK_EQ(item, ++reader->last);
        return err;
}

static int reader_main(void *arg)
{
        struct reader *reader = arg;
        int err;

        tasks_begun++;
        err = read_on(reader);
        CHECK_EQ(eddy_event_set(&reader->done), 0);
        tasks_ended++;
        return err;
}

/*
 * What a reader that is cancelled leaves, the next one reads: the generator
 * lives in a shield, its first reader outside of it.
 */
static int read_with_two(int *closed)
{
        struct eddy_scope_opts opts = { .flags = EDDY_SCOPE_SHIELD };
        struct reader reader = { 0 };
        eddy_generator pages;
        eddy_scope outer, shield;
        int err = 0, end_err;

        eddy_scope_begin(&outer, NULL);
        eddy_scope_begin(&shield, &opts);
        eddy_generator_begin(&pages, &shield, read_pages, closed, sizeof(int));
        reader.pages = &pages;
        if (eddy_scope_start(&outer, reader_main, &reader) == 0) {
                CHECK_EQ(eddy_event_wait(&reader.done), 0);
                err = read_on(&reader);
                if (err == 0)
                        CHECK(reader.last == VALUES || one_was_cancelled());
                else
                        CHECK(reader.last == 0 || one_was_cancelled());
        }
        end_err = eddy_scope_end(&shield);
        if (err == 0)
                err = end_err;
        end_err = eddy_scope_end(&outer);
        return end_err < 0 ? end_err : err;
}

int scenario_generators(void *arg)
{
        int closed = 0, err;

        (void) arg;
        err = take_some(&closed);
        if (err == 0) {
                CHECK_EQ(closed, 1);
                err = read_with_two(&closed);
        }
        if (err == 0)
                CHECK_EQ(closed, 2);
        return err;
}

/* --- variables --- */

enum { DEPTH = 4, CHILDREN = 2 };

static const eddy_var depth = EDDY_VAR("depth", int);
static const eddy_var path = EDDY_VAR("path", char[DEPTH + 2]);

static int depth_here(void)
{
        const int *value = eddy_var_get(&depth);

        return value ? *value : 0;
}

/* One level deeper, for this task and those it starts. */
static int descend(int from)
{
        char letters[DEPTH + 2] = "";
        int here = from + 1, err;

        CHECK_EQ(depth_here(), from);
        if (eddy_var_get(&path))
                memcpy(letters, eddy_var_get(&path), sizeof(letters));
        CHECK_EQ(strlen(letters), from);
        letters[from] = 'x';
        err = eddy_var_set(&depth, &here);
        if (err == 0)
                err = eddy_var_set(&path, letters);
        /* What could not be set is as it was. */
        CHECK(err == 0 ? depth_here() == here : err == -ENOMEM);
        return err;
}

static int branch(void *arg)
{
        int from = depth_here(), err, end_err;
        eddy_scope scope;

        tasks_begun++;
        err = descend(from);
        if (err < 0) {
                tasks_ended++;
                return err;
        }
        eddy_scope_begin(&scope, NULL);
        for (int i = 0; i < CHILDREN && from + 1 < DEPTH && err == 0; i++)
                err = eddy_scope_start(&scope, branch, arg);
        end_err = eddy_scope_end(&scope);
        if (err == 0 && end_err == 0)
                err = eddy_sleep(EDDY_MS(1));
        CHECK_EQ(depth_here(), from + 1);
        CHECK_EQ(strlen(eddy_var_get(&path)), from + 1);
        if (err == 0)
                err = eddy_var_unset(&path);
        CHECK((eddy_var_get(&path) == NULL) == (err == 0));
        tasks_ended++;
        return end_err < 0 ? end_err : err;
}

int scenario_variables(void *arg)
{
        CHECK(!eddy_var_get(&depth));
        return branch(arg);
}
