/*
 * trace.c - the lines of a case, and what they are compared with; see trace.h.
 */
#include "trace.h"

#include <stdarg.h>

enum { TRACE_BYTES_MAX = 4096 };

static char traced[TRACE_BYTES_MAX];
static size_t traced_bytes;

void trace(const char *format, ...)
{
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(traced + traced_bytes, sizeof(traced) - traced_bytes, format, args);
        va_end(args);
        CHECK(n >= 0 && traced_bytes + (size_t) n + 2 < sizeof(traced));
        traced_bytes += (size_t) n;
        traced[traced_bytes++] = '\n';
        traced[traced_bytes] = '\0';
}

const char *word(int result)
{
        switch (result) {
        case -ECANCELED:
                return "cancelled";
        case -ETIMEDOUT:
                return "timed out";
        case EDDY_E_SYNC_BROKEN:
                return "broken";
        case -EPERM:
        case -EINVAL:
        case EDDY_E_RUN_NOT_RUNNING:
                return "refused";
        default:
                return result < 0 ? eddy_error_name(result) : "passed";
        }
}

const char *value(int result)
{
        static char texts[4][16];
        static unsigned next;
        char *text = texts[next++ % 4];

        if (result < 0)
                return word(result);
        snprintf(text, sizeof(texts[0]), "%d", result);
        return text;
}

eddy_task *task_start(eddy_scope *scope, eddy_task_fn *fn, void *arg)
{
        eddy_task *task;

        CHECK_EQ(eddy_scope_start_task(scope, fn, arg, NULL, &task), 0);
        return task;
}

int task_end(eddy_task *task)
{
        int result;

        CHECK_EQ(eddy_task_join(task, &result), 0);
        eddy_task_release(task);
        return result;
}

void scope_begin(eddy_scope *scope)
{
        eddy_scope_begin(scope, &(struct eddy_scope_opts){ .flags = EDDY_SCOPE_KEEP_GOING });
}

/* --- runs --- */

void trace_report(const struct eddy_report *report, void *arg)
{
        (void) arg;
        if (report->kind == EDDY_REPORT_STACKS)
                return;
        trace("report: %s", report->error ? word(report->error) : report->text);
}

int trace_run(eddy_task_fn *main_fn, void *arg, const struct eddy_run_opts *opts)
{
        struct ed_sim_opts sim = { 0 };
        struct ed_sys *sys;

        CHECK_EQ(ed_sim_new(&sim, &sys), 0);
        return ed_run_on(sys, main_fn, arg, opts, NULL);
}

void trace_run_whole(eddy_task_fn *main_fn, void *arg, int64_t drain_ns)
{
        struct eddy_run_opts opts = { .drain_ns = drain_ns, .report = trace_report };

        trace("run: %s", value(trace_run(main_fn, arg, &opts)));
}

/* --- what is expected --- */

static char *file_text(const char *path)
{
        FILE *file = fopen(path, "r");
        char *text = calloc(1, 1 << 16);

        CHECK(file && text);
        CHECK(fread(text, 1, (1 << 16) - 1, file) > 0 && feof(file));
        fclose(file);
        return text;
}

/* The lines below "[name] ...", up to the next section; cuts 'text' there. */
static const char *section(char *text, const char *name)
{
        char head[32];
        char *at, *end;

        snprintf(head, sizeof(head), "\n[%s] ", name);
        at = strstr(text, head);
        if (!at)
                return "";
        at = strchr(at + 1, '\n') + 1;
        end = strstr(at - 1, "\n[");
        if (end)
                end[1] = '\0';
        return at;
}

void trace_check(const char *claim)
{
        const char *how = getenv("EDDY_TRACES"), *expected;
        char name[8] = "", *text;

        CHECK(strcspn(claim, "_") < sizeof(name));
        memcpy(name, claim, strcspn(claim, "_"));
        if (how && strcmp(how, "print") == 0) {
                printf("[%s]\n%s", name, traced);
                return;
        }
        text = file_text(TRACES_EXPECTED);
        expected = section(text, name);
        if (strcmp(expected, traced) != 0)
                test_fail(__FILE__, __LINE__, "[%s] is\n%sexpected was\n%s", name, traced,
                          expected);
        free(text);
}
