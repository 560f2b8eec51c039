/*
 * mongo/document.c - documents made from JSON texts, and errors of libmongoc.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "eddy/error.h"
#include "eddy/json.h"
#include "mongo/mongo.h"

/* Codes of the server (MongoDB's error_codes.yml). */
enum { AUTHENTICATION_FAILED = 18, DUPLICATE_KEY = 11000, DUPLICATE_KEY_OLD = 11001 };

int ed_mongo_fail_text(struct eddy_mongo_error *ret_error, int error, const char *text)
{
        if (!ret_error)
                return error;
        *ret_error = (struct eddy_mongo_error){ .code = 0 };
        snprintf(ret_error->text, sizeof(ret_error->text), "%.*s",
                 (int) sizeof(ret_error->text) - 1, text);
        for (char *at = ret_error->text; *at; at++)
                if ((unsigned char) *at < 0x20 || (unsigned char) *at >= 0x7f)
                        *at = '?';
        return error;
}

static int kind_of(const bson_error_t *error)
{
        switch (error->domain) {
        case MONGOC_ERROR_SERVER_SELECTION:
                return EDDY_E_MONGO_UNAVAILABLE;
        case MONGOC_ERROR_STREAM:
                return error->code == MONGOC_ERROR_STREAM_CONNECT ||
                                       error->code == MONGOC_ERROR_STREAM_NAME_RESOLUTION
                               ? EDDY_E_MONGO_UNAVAILABLE
                               : EDDY_E_MONGO_LOST;
        case MONGOC_ERROR_PROTOCOL:
                return EDDY_E_MONGO_LOST;
        case MONGOC_ERROR_SASL:
        case MONGOC_ERROR_SCRAM:
                return EDDY_E_MONGO_AUTH;
        case MONGOC_ERROR_CLIENT:
                return error->code == MONGOC_ERROR_CLIENT_AUTHENTICATE ? EDDY_E_MONGO_AUTH
                                                                       : EDDY_E_MONGO_REFUSED;
        case MONGOC_ERROR_BSON:
                return EDDY_E_MONGO_BAD_DOCUMENT;
        case MONGOC_ERROR_COMMAND:
        case MONGOC_ERROR_CURSOR:
        case MONGOC_ERROR_COLLECTION:
                return EDDY_E_MONGO_BAD_DOCUMENT;
        default:
                return EDDY_E_MONGO_REFUSED;
        }
}

int ed_mongo_fail(struct eddy_mongo_error *ret_error, const bson_error_t *error)
{
        int err = kind_of(error);

        if (error->code == DUPLICATE_KEY || error->code == DUPLICATE_KEY_OLD)
                err = EDDY_E_MONGO_DUPLICATE;
        else if (error->domain == MONGOC_ERROR_SERVER && error->code == AUTHENTICATION_FAILED)
                err = EDDY_E_MONGO_AUTH;
        (void) ed_mongo_fail_text(ret_error, err, error->message);
        if (ret_error)
                ret_error->code = (int32_t) error->code;
        return err;
}

int ed_mongo_text_copy(const char *text, char **ret_text, struct eddy_mongo_error *ret_error)
{
        size_t bytes = text ? strnlen(text, (size_t) EDDY_MONGO_TEXT_MAX + 1) : 0;

        if (!text)
                return ed_mongo_fail_text(ret_error, -EINVAL, "a text is missing (NULL)");
        if (bytes > EDDY_MONGO_TEXT_MAX)
                return ed_mongo_fail_text(ret_error, -EMSGSIZE, "the text is too long");
        *ret_text = ed_alloc(bytes + 1);
        if (!*ret_text)
                return ed_mongo_fail_text(ret_error, -ENOMEM, eddy_error_text(-ENOMEM));
        memcpy(*ret_text, text, bytes + 1);
        return 0;
}

int ed_mongo_document_parse(const char *text, bool is_list, bson_t **ret_document,
                            struct eddy_mongo_error *ret_error)
{
        size_t bytes = strlen(text);
        struct eddy_json_value value;
        struct eddy_json_error wrong;
        bson_error_t error = { 0 };

        if (eddy_json_parse(text, bytes, NULL, &value, &wrong) < 0)
                return ed_mongo_fail_text(ret_error, EDDY_E_MONGO_BAD_DOCUMENT, wrong.text);
        if (value.kind != EDDY_JSON_OBJECT && !(is_list && value.kind == EDDY_JSON_ARRAY))
                return ed_mongo_fail_text(ret_error, EDDY_E_MONGO_BAD_DOCUMENT,
                                          is_list ? "the text is neither an object nor an array"
                                                  : "the text is not an object");
        *ret_document = bson_new_from_json((const uint8_t *) text, (ssize_t) bytes, &error);
        if (!*ret_document)
                return ed_mongo_fail_text(ret_error, EDDY_E_MONGO_BAD_DOCUMENT, error.message);
        return 0;
}
