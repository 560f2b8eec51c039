/*
 * mock/grant.c - see grant.h.
 */
#include "mock/grant.h"

#include <stdio.h>
#include <string.h>

#include "eddy/base64.h"
#include "mock/model.h"

enum { TOKEN_BYTES = 48, CLAIMS_BYTES = 96 };

static const char prefix[] = "mock_";

/* Print "mock_", the time and a mark of the time and the secret. */
static void token_print(char token[TOKEN_BYTES], uint64_t secret, uint64_t made_ns)
{
        uint64_t mark = ed_model_hash(ED_MODEL_HASH ^ secret, &made_ns, sizeof(made_ns));

        snprintf(token, TOKEN_BYTES, "%s%016llx%016llx", prefix, (unsigned long long) made_ns,
                 (unsigned long long) mark);
}

/* Append a text in base64url, without padding. */
static void url_add(struct ed_draft *text, const char *data)
{
        char encoded[EDDY_BASE64_BYTES(CLAIMS_BYTES)];
        size_t bytes = eddy_base64_encode(data, strlen(data), encoded);

        while (bytes > 0 && encoded[bytes - 1] == '=')
                bytes--;
        for (size_t i = 0; i < bytes; i++)
                encoded[i] = encoded[i] == '+' ? '-' : encoded[i] == '/' ? '_' : encoded[i];
        ed_draft_add(text, encoded, bytes);
}

/* Append a JSON Web Token. The place of its signature has the token that is checked. */
static void jwt_add(struct ed_draft *text, const char *token, int64_t end_wall_ns)
{
        char claims[CLAIMS_BYTES];

        snprintf(claims, sizeof(claims), "{\"sub\":\"mock\",\"exp\":%lld.%03d}",
                 (long long) (end_wall_ns / 1000000000), (int) (end_wall_ns / 1000000 % 1000));
        url_add(text, "{\"alg\":\"none\",\"typ\":\"JWT\"}");
        ed_draft_add_str(text, ".");
        url_add(text, claims);
        ed_draft_add_str(text, ".");
        ed_draft_add_str(text, token);
}

void ed_grant_write(enum ed_grant_form form, uint64_t secret, int64_t life_ns, int64_t now_wall_ns,
                    struct ed_draft *text)
{
        double life_s = (double) life_ns / 1e9;
        char token[TOKEN_BYTES];

        token_print(token, secret, (uint64_t) now_wall_ns);
        if (form == ED_GRANT_JSON)
                ed_draft_add_printf(text,
                                    "{\"access_token\":\"%s\",\"token_type\":\"Bearer\","
                                    "\"expires_in\":%.10g}\n",
                                    token, life_s);
        else if (form == ED_GRANT_LINES)
                ed_draft_add_printf(text, "%s\n%.3f\n", token, life_s);
        else if (form == ED_GRANT_OPAQUE)
                ed_draft_add_printf(text, "%s\n", token);
        else
                jwt_add(text, token, now_wall_ns + life_ns);
        if (form == ED_GRANT_JWT)
                ed_draft_add_str(text, "\n");
}

enum ed_grant_state ed_grant_check(const char *token, uint64_t secret, int64_t life_ns,
                                   int64_t now_wall_ns)
{
        const char *dot = strrchr(token, '.');
        char expected[TOKEN_BYTES];
        unsigned long long made_ns;

        token = dot ? dot + 1 : token;
        if (strncmp(token, prefix, sizeof(prefix) - 1) != 0 ||
            sscanf(token + sizeof(prefix) - 1, "%16llx", &made_ns) != 1)
                return ED_GRANT_OTHER;
        token_print(expected, secret, made_ns);
        if (strcmp(token, expected) != 0)
                return ED_GRANT_OTHER;
        return now_wall_ns - (int64_t) made_ns < life_ns ? ED_GRANT_VALID : ED_GRANT_EXPIRED;
}
