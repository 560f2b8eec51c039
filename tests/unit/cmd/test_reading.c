/*
 * test_reading.c - what is shown while large files are read: by the functions that read them, on
 * the simulated clock, where each line takes a second.
 */
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "batch/answer/answers_file.h"
#include "batch/request/source.h"
#include "common/console.h"
#include "common/reading_show.h"
#include "eddy/test.h"
#include "eddy/time.h"

enum { LINES = 25, LINE_BYTES = 256 << 10 };

static char line_text[LINE_BYTES], shown[4096];
static int64_t line_ns;

static int file_make(void)
{
        int fd = memfd_create("lines", MFD_CLOEXEC);

        memset(line_text, 'x', LINE_BYTES - 1);
        line_text[LINE_BYTES - 1] = '\n';
        for (int i = 0; i < LINES; i++)
                CHECK_EQ(write(fd, line_text, LINE_BYTES), LINE_BYTES);
        CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
        return fd;
}

static int answer_take(void *arg, const char *line, size_t bytes)
{
        (void) arg, (void) line, (void) bytes;
        return eddy_sleep(line_ns);
}

static bool answer_keep(void *arg, const char *line, size_t bytes)
{
        return answer_take(arg, line, bytes) == 0;
}

static int line_take(void *arg, const struct ed_line *line)
{
        return answer_take(arg, line->data, line->bytes);
}

static int answers_main(void *arg)
{
        struct ed_answers_file answers = { .fd = file_make(), .path = "o.jsonl" };
        uint64_t removed = 1;

        if (arg) {
                CHECK_EQ(ed_answers_file_prune(&answers, answer_keep, NULL, &removed), 0);
                CHECK_EQ(removed, 0);
        } else {
                CHECK_EQ(ed_answers_file_each(&answers, answer_take, NULL), 0);
        }
        close(answers.fd);
        return 0;
}

static int source_main(void *arg)
{
        const struct ed_say say = ed_console_voice("test");
        struct ed_source_opts opts = {
                .say = &say, .path = "in.jsonl", .line_bytes_max = 1 << 20, .take = line_take
        };
        struct ed_source source;
        int fd = file_make(), ends[2];

        CHECK_EQ(ed_source_init(&source, &opts), 0);
        if (arg) {
                CHECK_EQ(pipe(ends), 0);
                CHECK_EQ(write(ends[1], "\n\n\n\n", 4), 4);
                close(ends[1]);
                close(fd);
                fd = ends[0];
        }
        CHECK_EQ(ed_source_read(&source, fd, -1), 0);
        ed_source_fini(&source);
        close(fd);
        return 0;
}

/* Run a reader, and store what it shows. */
static const char *show(eddy_task_fn *fn, void *arg, enum ed_show_mode mode, int64_t ns)
{
        int file = memfd_create("stderr", MFD_CLOEXEC), real = dup(STDERR_FILENO);
        ssize_t bytes;

        line_ns = ns;
        ed_reading_show("test", mode);
        CHECK(dup2(file, STDERR_FILENO) >= 0);
        CHECK_EQ(eddy_test_run(fn, arg, NULL, NULL), 0);
        CHECK(dup2(real, STDERR_FILENO) >= 0);
        ed_reading_show("test", ED_SHOW_OFF);
        bytes = pread(file, shown, sizeof(shown) - 1, 0);
        CHECK(bytes >= 0);
        shown[bytes > 0 ? bytes : 0] = '\0';
        close(file);
        close(real);
        return shown;
}

static void *const removing = (void *) "";

TEST(long_reading_is_shown_and_short_reading_is_not)
{
        static const char plain[] = "eddy test: reading o.jsonl: 12% of 6.6 MB\n"
                                    "eddy test: reading o.jsonl: 52% of 6.6 MB\n"
                                    "eddy test: reading o.jsonl: 92% of 6.6 MB\n";

        CHECK_STR(show(answers_main, NULL, ED_SHOW_PLAIN, EDDY_SEC(1)), plain);
        CHECK_STR(show(answers_main, removing, ED_SHOW_PLAIN, EDDY_SEC(1)), plain);
        CHECK_STR(show(answers_main, NULL, ED_SHOW_PLAIN, EDDY_MS(70)), "");
        CHECK_STR(show(answers_main, NULL, ED_SHOW_OFF, EDDY_SEC(1)), "");
}

TEST(reading_of_an_input_is_shown)
{
        CHECK_STR(show(source_main, NULL, ED_SHOW_PLAIN, EDDY_SEC(1)),
                  "eddy test: reading in.jsonl: 8% of 6.6 MB\n"
                  "eddy test: reading in.jsonl: 48% of 6.6 MB\n"
                  "eddy test: reading in.jsonl: 88% of 6.6 MB\n");
        CHECK_STR(show(source_main, removing, ED_SHOW_PLAIN, EDDY_SEC(1)),
                  "eddy test: reading in.jsonl: 0.0 MB\n");
}

TEST(reading_is_a_line_of_json_or_one_that_overwrites_itself)
{
        const char *bar = "\rreading o.jsonl: 20% of 6.6 MB\033[K";

        show(answers_main, NULL, ED_SHOW_JSON, EDDY_MS(1100));
        CHECK(strstr(shown,
                     "{\"reading\":\"o.jsonl\",\"read_bytes\":786432,\"total_bytes\":6553600}\n") ==
              shown);
        show(answers_main, NULL, ED_SHOW_BAR, EDDY_SEC(1));
        CHECK(strstr(shown, bar));
        CHECK(!strchr(shown, '\n'));
        CHECK(strlen(shown) > 4 && strcmp(shown + strlen(shown) - 4, "\r\033[K") == 0);
}
