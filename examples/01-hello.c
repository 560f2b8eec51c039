/*
 * 01-hello - two tasks in a scope, both within five seconds.
 *
 * say() is plain C, with no callback and no state machine.  If one of the two
 * fails, the other is cancelled; if five seconds pass, both are.  hello() does
 * not return before both have ended.
 *
 * Run: 01-hello
 * Time: virtual 0.1 s
 * Output:
 *     hello,
 *     world
 */
#include <stdio.h>

#include "eddy/eddy.h"

static int say(void *word)
{
        int err = eddy_sleep(EDDY_MS(100));

        if (err < 0)
                return err;
        return puts(word) < 0 ? -EIO : 0;
}

static int hello(void *arg)
{
        char first[] = "hello,", second[] = "world";
        eddy_scope scope;

        (void) arg;
        eddy_scope_begin(&scope, &(struct eddy_scope_opts){ .timeout_ns = EDDY_SEC(5) });
        eddy_scope_start(&scope, say, first);
        eddy_scope_start(&scope, say, second);
        return eddy_scope_end(&scope);
}

int main(void)
{
        return eddy_run(hello, NULL, NULL) == 0 ? 0 : 1;
}
