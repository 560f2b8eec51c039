/*
 * mongo/command.c - any command on the database.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "eddy/error.h"
#include "mongo/mongo.h"

struct command {
        struct ed_mongo_call call;
        char *text;
        bson_t *document;
        char *reply; /* owned; made on the job's thread */
};

static void command_free(struct ed_mongo_call *call)
{
        struct command *command = ed_container_of(call, struct command, call);

        if (command->document)
                bson_destroy(command->document);
        ed_free(command->text);
        ed_free(command->reply);
        ed_free(command);
}

static int reply_store(struct command *command, const bson_t *reply)
{
        size_t bytes;
        char *text = bson_as_relaxed_extended_json(reply, &bytes);

        if (!text)
                return ed_mongo_fail_text(&command->call.error, EDDY_E_MONGO_BAD_DOCUMENT,
                                          "the reply cannot be written as JSON");
        command->reply = ed_alloc(bytes + 1);
        if (command->reply)
                memcpy(command->reply, text, bytes + 1);
        bson_free(text);
        return command->reply ? 0 : -ENOMEM;
}

static int command_run(struct ed_mongo_call *call)
{
        struct command *command = ed_container_of(call, struct command, call);
        bson_error_t error = { 0 };
        bson_t reply;
        int err = ed_mongo_document_parse(command->text, false, &command->document, &call->error);

        if (err < 0)
                return err;
        if (mongoc_client_command_simple(call->client->handle, call->client->database,
                                         command->document, NULL, &reply, &error))
                err = reply_store(command, &reply);
        else
                err = ed_mongo_fail(&call->error, &error);
        bson_destroy(&reply);
        return err;
}

int eddy_mongo_command(eddy_mongo *mongo, const char *text, char **ret_text,
                       struct eddy_mongo_error *ret_error)
{
        struct command *command;
        int err;

        if (!mongo)
                return ed_mongo_fail_text(ret_error, -EINVAL, "the object is missing (NULL)");
        command = ed_alloc_zero(sizeof(*command));
        if (!command)
                return ed_mongo_fail_text(ret_error, -ENOMEM, eddy_error_text(-ENOMEM));
        command->call.run = command_run;
        command->call.free = command_free;
        err = ed_mongo_call_init(&command->call, "$cmd");
        if (err == 0)
                err = ed_mongo_text_copy(text, &command->text, &command->call.error);
        if (err == 0)
                err = ed_mongo_call_do(mongo, &command->call);
        if (err == 0 && ret_text) {
                *ret_text = command->reply;
                command->reply = NULL;
        }
        if (err < 0 && ret_error)
                *ret_error =
                        err == -ECANCELED ? (struct eddy_mongo_error){ 0 } : command->call.error;
        ed_mongo_call_unref(&command->call);
        return err;
}
