/*
 * fuzz_auth.c - any bytes as the value of WWW-Authenticate, and as a netrc file.
 *
 * The parameters of a challenge that was read can be read again, none twice, and copied into as many
 * bytes as they have. A netrc file that was checked can be searched for any host.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eddy/error.h"
#include "wire/challenge.h"
#include "wire/netrc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool is_so)
{
        if (!is_so)
                abort();
}

static void check_params(struct ed_auth_text params)
{
        struct ed_auth_param param;
        size_t count = 0;
        int err;

        while ((err = ed_auth_param_next(&params, &param)) > 0) {
                char *copy = malloc(param.value_bytes + 1);

                require(copy && ed_auth_param_copy(&param, copy, param.value_bytes + 1));
                require(strlen(copy) <= param.value_bytes);
                free(copy);
                require(++count <= ED_AUTH_PARAMS_MAX);
        }
        require(err == 0);
}

static void check_challenges(const char *data, size_t bytes)
{
        struct ed_auth_text text = { data, data + bytes };
        struct ed_challenge challenge;
        const char *before = NULL;

        while (before != text.at && ed_challenge_next(&text, &challenge) > 0) {
                require(challenge.scheme_bytes > 0 && challenge.scheme >= data);
                require(text.at > challenge.scheme && text.at <= text.end);
                check_params(challenge.params);
        }
}

static void check_netrc(const char *data, size_t bytes)
{
        static struct ed_netrc_entry entry;
        const char *hosts[] = { "a", "b.test" };
        size_t line = 0;
        int err = ed_netrc_check(data, bytes, &line);

        require(err == 0 || (err == EDDY_E_HTTP_NETRC && line > 0 && line <= bytes + 1));
        for (size_t i = 0; i < 2; i++) {
                int found = ed_netrc_find(data, bytes, hosts[i], &entry);

                require(found >= 0 || (found == EDDY_E_HTTP_NETRC && err < 0));
                if (found > 0)
                        require(strlen(entry.login) <= ED_NETRC_WORD_MAX &&
                                strlen(entry.password) <= ED_NETRC_WORD_MAX);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
        /* At the end of the memory, which need not end in a NUL. */
        char *copy = malloc(bytes ? bytes : 1);

        require(copy);
        memcpy(copy, data, bytes);
        check_challenges(copy, bytes);
        check_netrc(copy, bytes);
        free(copy);
        return 0;
}
