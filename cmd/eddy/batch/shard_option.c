/*
 * batch/shard_option.c - see shard_option.h.
 */
#include "batch/shard_option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/console.h"

#define SLURM_ID         "SLURM_ARRAY_TASK_ID"
#define SLURM_MAX        "SLURM_ARRAY_TASK_MAX"
#define KUBERNETES_INDEX "JOB_COMPLETION_INDEX"

enum { NUMBER_DIGITS_MAX = 9 };

/* Read a variable that is a number. Returns false for other values, and if it is not set. */
static bool variable_read(const char *name, uint32_t *ret_number)
{
        const char *value = getenv(name);
        size_t digits = value ? strspn(value, "0123456789") : 0;

        if (digits == 0 || digits > NUMBER_DIGITS_MAX || value[digits])
                return false;
        *ret_number = (uint32_t) strtoul(value, NULL, 10);
        return true;
}

/* An array of Slurm: the position of this task in it. */
static int slurm_read(const char *command, const char *value, struct ed_shard *ret_shard)
{
        uint32_t id, least, most, step = 1, count;

        if (!variable_read(SLURM_ID, &id) || !variable_read("SLURM_ARRAY_TASK_MIN", &least) ||
            !variable_read(SLURM_MAX, &most) ||
            (getenv("SLURM_ARRAY_TASK_STEP") && !variable_read("SLURM_ARRAY_TASK_STEP", &step)) ||
            !variable_read("SLURM_ARRAY_TASK_COUNT", &count)) {
                ed_console_usage(
                        command,
                        "--shard %s: not all of SLURM_ARRAY_TASK_ID, _MIN, _MAX, _STEP and "
                        "_COUNT are numbers below 1,000,000,000; write --shard i/n",
                        value);
                return -EINVAL;
        }
        if (step == 0 || least > most || id < least || id > most || (id - least) % step != 0 ||
            (most - least) / step + 1 != count) {
                ed_console_usage(
                        command,
                        "--shard %s: the array has %u tasks, which are not all numbers from "
                        "%u to %u in steps of %u, so the shard of a task is unknown; write "
                        "--shard auto/N, if the tasks have the numbers of their shards, of N in "
                        "all, or --shard i/n",
                        value, count, least, most, step);
                return -EINVAL;
        }
        if (count == 1) {
                ed_console_usage(
                        command,
                        "--shard %s: the array has one task, %u, as one that is submitted again, "
                        "and all of the file would be its shard; write --shard auto/N, with N "
                        "shards and the numbers of tasks as those of shards, or --shard i/n",
                        value, id);
                return -EINVAL;
        }
        if (count > ED_SHARD_COUNT_MAX) {
                ed_console_usage(command, "--shard %s: %u tasks are more than %d shards", value,
                                 count, (int) ED_SHARD_COUNT_MAX);
                return -EINVAL;
        }
        *ret_shard = (struct ed_shard){ (id - least) / step, count };
        return 0;
}

static int number_refuse(const char *command, const char *value, const char *name)
{
        ed_console_usage(command,
                         "--shard %s: %s is \"%.40s\", and not a number below 1,000,000,000; "
                         "write --shard i/n",
                         value, name, getenv(name));
        return -EINVAL;
}

/* "auto/n": the number of the task is that of the shard. */
static int index_read(const char *command, const char *value, const char *name,
                      struct ed_shard *ret_shard)
{
        const char *count = value + strlen("auto/");
        uint32_t index, most;
        char text[32];

        snprintf(text, sizeof(text), "0/%.20s", count);
        if (!ed_shard_read(text, ret_shard)) {
                ed_console_usage(command,
                                 "--shard %s: write auto/N, with N from 1 to %d, such as "
                                 "auto/64",
                                 value, (int) ED_SHARD_COUNT_MAX);
                return -EINVAL;
        }
        if (!variable_read(name, &index))
                return number_refuse(command, value, name);
        /* All tasks of a wrong array fail, and not only those beyond the last shard. */
        most = index;
        if (strcmp(name, SLURM_ID) == 0 && getenv(SLURM_MAX) && !variable_read(SLURM_MAX, &most))
                return number_refuse(command, value, SLURM_MAX);
        if (index >= ret_shard->count || most >= ret_shard->count) {
                ed_console_usage(
                        command,
                        "--shard %s: the tasks have numbers up to %u, and the shards have "
                        "those from 0 to %u; number the tasks from 0, or write --shard i/n",
                        value, most > index ? most : index, ret_shard->count - 1);
                return -EINVAL;
        }
        ret_shard->index = index;
        return 0;
}

static int auto_read(const char *command, const char *value, struct ed_shard *ret_shard)
{
        bool has_count = value[strlen("auto")] == '/';
        const char *slurm = getenv(SLURM_ID), *kubernetes = getenv(KUBERNETES_INDEX);

        if (slurm && kubernetes)
                ed_console_usage(command,
                                 "--shard %s: both " SLURM_ID " and " KUBERNETES_INDEX
                                 " are set; write --shard i/n",
                                 value);
        else if (!slurm && !kubernetes)
                ed_console_usage(command,
                                 "--shard %s: neither " SLURM_ID " (Slurm) nor " KUBERNETES_INDEX
                                 " (Kubernetes) is set; write --shard i/n, such as 0/8",
                                 value);
        else if (has_count)
                return index_read(command, value, slurm ? SLURM_ID : KUBERNETES_INDEX, ret_shard);
        else if (slurm)
                return slurm_read(command, value, ret_shard);
        else
                ed_console_usage(command,
                                 "--shard auto: " KUBERNETES_INDEX " does not say how many shards "
                                 "there are; write --shard auto/N, with the completions of the job "
                                 "as N");
        return -EINVAL;
}

int ed_shard_option_read(const char *command, const char *value, struct ed_shard *ret_shard)
{
        if (strncmp(value, "auto", 4) == 0 && (value[4] == '\0' || value[4] == '/'))
                return auto_read(command, value, ret_shard);
        if (ed_shard_read(value, ret_shard))
                return 0;
        ed_console_usage(command, "--shard %s: " ED_SHARD_FORM ", or auto", value);
        return -EINVAL;
}
