/*
 * eddy/error.h - error numbers, their names and their texts.
 *
 *   0 and up          success (a count where documented)
 *   -1 .. -4095       -errno, from the system or with the same meaning
 *   <= -0x10000       EDDY_E_*: 256 per facility
 *
 * -ECANCELED means only "the caller was asked to stop", -ETIMEDOUT only "the
 * deadline of a scope passed".  The end of a stream is 0 bytes, not an error.
 */
#ifndef EDDY_ERROR_H
#define EDDY_ERROR_H

#include <errno.h> /* the names of -1 .. -4095 */

#include "eddy/def.h"

EDDY_BEGIN_DECLS

/* facility, number, name, text */
#define EDDY_ERRORS(X)                                                                             \
        X(RUN, 0, NOT_RUNNING, "not inside eddy_run()")                                            \
        X(RUN, 1, NESTED, "this thread already runs a loop")                                       \
        X(RUN, 2, OTHER_LOOP, "the object belongs to another loop")                                \
        X(TASK, 0, NOT_DONE, "the task has not finished")                                          \
        X(TASK, 1, NOT_READY, "the task ended before it called eddy_task_ready()")                 \
        X(TASK, 2, THREW, "a C++ exception ended the task")                                        \
        X(DNS, 0, NOT_FOUND, "the name does not exist")                                            \
        X(DNS, 1, NO_ADDRESS, "the name has no address")                                           \
        X(DNS, 2, FAILED, "the name server failed or could not be reached")                        \
        X(DNS, 3, BAD_NAME, "the host name is not valid")                                          \
        X(TLS, 0, BAD_FILE, "a file of TLS certificates or keys cannot be used")                   \
        X(TLS, 1, EXPIRED, "the certificate has expired")                                          \
        X(TLS, 2, NOT_YET_VALID, "the certificate is not valid yet")                               \
        X(TLS, 3, WRONG_HOST, "the certificate is for another host")                               \
        X(TLS, 4, UNKNOWN_ISSUER, "the certificate's issuer is not trusted")                       \
        X(TLS, 5, SELF_SIGNED, "the certificate is self-signed and not trusted")                   \
        X(TLS, 6, REVOKED, "the certificate was revoked")                                          \
        X(TLS, 7, CRL, "the certificate's revocation list is missing or not valid")                \
        X(TLS, 8, BAD_CERTIFICATE, "the certificate is not valid")                                 \
        X(TLS, 9, ALERT, "the peer refused the TLS connection")                                    \
        X(TLS, 10, PROTOCOL, "the TLS connection failed")                                          \
        X(TLS, 11, TRUNCATED, "the peer ended the TLS connection without a close")                 \
        X(NET, 0, TIMED_OUT, "the network or the peer did not answer in time")                     \
        X(URL, 0, INVALID, "the URL is not valid")                                                 \
        X(URL, 1, SCHEME, "the URL's scheme is not supported")                                     \
        X(URL, 2, CREDENTIALS,                                                                     \
          "the URL's user name or password cannot be sent as Basic credentials")                   \
        X(HTTP, 0, INVALID_REQUEST, "the request is not valid HTTP")                               \
        X(HTTP, 1, INVALID_RESPONSE, "the peer's message is not valid HTTP")                       \
        X(HTTP, 2, TOO_LARGE, "the message is larger than its limit")                              \
        X(HTTP, 3, CLOSED, "the peer closed the connection before a response")                     \
        X(HTTP, 4, TRUNCATED, "the peer closed the connection inside a message")                   \
        X(HTTP, 5, CLIENT_CLOSED, "the client was closed")                                         \
        X(HTTP, 6, STATE, "the call does not fit the state of the exchange")                       \
        X(HTTP, 7, TIMEOUT_CONNECT, "the connection was not made within its time")                 \
        X(HTTP, 8, TIMEOUT_POOL, "the client's connections were in use for too long")              \
        X(HTTP, 9, TIMEOUT_READ, "the server sent nothing for too long")                           \
        X(HTTP, 10, TIMEOUT_TOTAL, "the request was not complete within its time")                 \
        X(HTTP, 11, BODY_LENGTH, "the source of the body ended before the body's length")          \
        X(HTTP, 12, INVALID_ANSWER, "the handler's answer is not valid HTTP")                      \
        X(HTTP, 20, CODING_UNKNOWN, "the body has a content coding that is not supported")         \
        X(HTTP, 21, CODING_INVALID, "the body does not follow its content coding")                 \
        X(HTTP, 22, PROXY_AUTH, "the proxy does not accept the credentials, or wants some")        \
        X(HTTP, 23, PROXY_REFUSED, "the proxy cannot connect to the host, or does not allow it")   \
        X(HTTP, 24, PROXY_INVALID, "the proxy does not follow its protocol")                       \
        X(HTTP, 25, ALPN, "the server and the client have no version of HTTP in common (ALPN)")    \
        X(HTTP, 26, STATUS, "the status of the response is an error")                              \
        X(HTTP, 27, CONTENT_TYPE, "the message does not have the content type that was expected")  \
        X(HTTP, 28, MULTIPART, "the body is not valid multipart/form-data")                        \
        X(HTTP, 29, HASH, "the file does not have the hash that was expected")                     \
        X(HTTP, 30, NETRC, "the netrc file does not follow its format")                            \
        X(HTTP, 31, ROUTE, "the pattern of a route is not valid, or was added before")             \
        X(LOOP, 0, CLOSED, "the loop is closed")                                                   \
        X(LOOP, 1, FORKED, "the loop belongs to the parent of this process")                       \
        X(LOOP, 2, STOPPED, "the loop was stopped before the main task ended")                     \
        X(SYNC, 0, BROKEN, "the barrier is broken")                                                \
        X(FUTURE, 0, NOT_DONE, "the future is not done")                                           \
        X(THREAD, 0, POOL_CLOSED, "the thread pool is closed")                                     \
        X(SIGNAL, 0, UNCATCHABLE, "the signal cannot be caught")                                   \
        X(STREAM, 0, BROKEN, "an earlier write to the stream ended in the middle")                 \
        X(STREAM, 1, LIMIT, "the line or message is longer than the reader's buffer")              \
        X(STREAM, 2, ENDED, "the stream ended in the middle of a message")                         \
        X(ENDPOINT, 0, ADDRESS, "not an IPv4 address, or an IPv6 address in brackets")             \
        X(ENDPOINT, 1, PORT, "the address is not followed by a port from 0 to 65535")              \
        X(ENDPOINT, 2, PATH, "the path of the Unix socket is empty or has a control character")    \
        X(JSON, 0, SYNTAX, "the text is not valid JSON")                                           \
        X(JSON, 1, TRUNCATED, "the JSON text ends inside of a value")                              \
        X(JSON, 2, NUMBER, "a number of the JSON text is not valid")                               \
        X(JSON, 3, STRING, "a string of the JSON text is not valid")                               \
        X(JSON, 4, UTF8, "a string of the JSON text is not UTF-8")                                 \
        X(JSON, 5, DEPTH, "the JSON text has more nested arrays and objects than allowed")         \
        X(FIELD, 0, TYPE, "the value has another type")                                            \
        X(FIELD, 1, RANGE, "the value is outside of its limits")                                   \
        X(FIELD, 2, LENGTH, "the string or array is shorter or longer than allowed")               \
        X(FIELD, 3, TEXT, "the string cannot be converted to a C string, or from one")             \
        X(FIELD, 4, MISSING, "a required field is missing")                                        \
        X(FIELD, 5, UNKNOWN, "a field is not known")                                               \
        X(FIELD, 6, DUPLICATE, "a field is given twice")                                           \
        X(FIELD, 7, TABLE, "the table of fields is not usable")                                    \
        X(FIELD, 8, FORMAT, "the string does not have its format")                                 \
        X(FIELD, 9, UNIQUE, "two items of the list are equal")                                     \
        X(FILE, 0, SYNC, "an earlier sync of the file failed, so written bytes may be lost")       \
        X(FILE, 1, TOO_LARGE, "the file is larger than the limit of the call")                     \
        X(LIMITER, 0, AMOUNT, "the amount is above the limit of a whole window")                   \
        X(LIMITER, 1, CLOSED, "the limiter was closed")                                            \
        X(BREAKER, 0, OPEN, "the circuit breaker is open")                                         \
        X(RETRY, 0, FINAL, "another attempt would fail too, or would do harm")                     \
        X(RETRY, 1, ATTEMPTS, "all attempts were made")                                            \
        X(RETRY, 2, WAIT, "the server asks for a longer wait than is allowed")                     \
        X(RETRY, 3, DEADLINE, "the deadline comes before the next attempt")                        \
        X(RETRY, 4, BUDGET, "the budget of retries is used up")                                    \
        X(PROCESS, 0, SIMULATED, "a simulated run cannot start a process")                         \
        X(PROCESS, 1, FOLDER, "the working folder of the process cannot be entered")               \
        X(PROCESS, 2, COLLECTED, "other code of the program has taken the process's exit status")  \
        X(PROCESS, 3, TOO_LARGE, "the output of the process is larger than the limit of the call") \
        X(PROCESS, 4, POOL_NOT_PREPARED,                                                           \
          "eddy_process_pool_prepare() was not called: call it at the beginning of main")          \
        X(PROCESS, 5, POOL_LATE,                                                                   \
          "eddy_process_pool_prepare() was called after a thread or a loop had started")           \
        X(PROCESS, 6, POOL_CLOSED, "the process pool is closed")                                   \
        X(PROCESS, 7, POOL_DIED, "the worker process ended before it had a result")                \
        X(PROCESS, 8, POOL_TOO_LARGE, "the result of the call is larger than the room for it")     \
        X(PROCESS, 9, POOL_LOST, "the process that starts the workers has ended")                  \
        X(POOL, 0, CLOSED, "the pool is closed")                                                   \
        X(POOL, 1, FULL, "too many tasks wait for an item of the pool")                            \
        X(PG, 0, CONNECT, "the connection to PostgreSQL could not be made")                        \
        X(PG, 1, SERVER, "PostgreSQL refused the command")                                         \
        X(PG, 2, RETRY, "a conflict made PostgreSQL roll back the transaction; repeat it")         \
        X(PG, 3, CLOSED, "the connection to PostgreSQL is lost")                                   \
        X(PG, 4, UNKNOWN, "the connection was lost in a commit, which may have taken effect")      \
        X(PG, 5, ROLLED_BACK, "the transaction was rolled back, because a command in it failed")   \
        X(PG, 6, BUSY, "another call uses the connection to PostgreSQL")                           \
        X(PG, 7, STATE, "the command does not fit the call or the state of the connection")        \
        X(PG, 8, TOO_LARGE, "the result is larger than its limit")                                 \
        X(PG, 9, NO_ROW, "the result has no row")                                                  \
        X(PG, 10, MANY_ROWS, "the result has more than one row")                                   \
        X(PG, 11, IS_NULL, "the value is NULL")                                                    \
        X(PG, 12, TIMED_OUT, "PostgreSQL did not answer within command_timeout_ns")                \
        X(SQLITE, 0, FAILED, "SQLite reported a failure")                                          \
        X(SQLITE, 1, SQL, "the SQL statement, or its number of values, is wrong")                  \
        X(SQLITE, 2, CONSTRAINT, "a constraint of the database does not allow the change")         \
        X(SQLITE, 3, UNIQUE, "a row with this key exists already")                                 \
        X(SQLITE, 4, BUSY, "the transaction has read old data and cannot write")                   \
        X(SQLITE, 5, CORRUPT, "the file is not an SQLite database, or is damaged")                 \
        X(SQLITE, 6, STATE, "another call, or open rows, use the connection")                      \
        X(SQLITE, 7, ENDED, "the transaction or the rows have already ended")                      \
        X(SQLITE, 8, NO_ROW, "the query has no row")                                               \
        X(SQLITE, 9, MANY_ROWS, "the query has more than one row")                                 \
        X(REDIS, 0, ERROR, "the server answered with an error")                                    \
        X(REDIS, 1, UNKNOWN, "the connection ended: it is unknown whether the command ran")        \
        X(REDIS, 2, PROTOCOL, "the server's answer is not valid RESP2")                            \
        X(REDIS, 3, TOO_LARGE, "the reply is larger than its limit")                               \
        X(REDIS, 4, COMMAND, "the command needs a connection of its own, or another call")         \
        X(REDIS, 5, FULL, "too many commands wait for a reply, or too many bytes to be sent")      \
        X(REDIS, 6, AUTH, "the server refused the user name or the password")                      \
        X(REDIS, 7, LOST, "the connection of this client has ended")                               \
        X(REDIS, 8, CLOSED, "the Redis client was closed")                                         \
        X(REDIS, 9, TYPE, "the reply has another type")                                            \
        X(REDIS, 10, ABORTED, "a watched key was changed, so the transaction did not run")         \
        X(REDIS, 11, TIMED_OUT, "Redis did not answer within command_timeout_ns")                  \
        X(MONGO, 0, BAD_URI, "the URI of the MongoDB server is not valid")                         \
        X(MONGO, 1, UNAVAILABLE, "no suitable MongoDB server could be reached")                    \
        X(MONGO, 2, LOST, "the connection to MongoDB was lost; the operation may have been done")  \
        X(MONGO, 3, AUTH, "MongoDB refused the credentials")                                       \
        X(MONGO, 4, REFUSED, "MongoDB refused the operation")                                      \
        X(MONGO, 5, DUPLICATE, "a document with this key exists already")                          \
        X(MONGO, 6, BAD_DOCUMENT, "the text is not a document that MongoDB can store")             \
        X(MONGO, 7, NONE, "no document matches")                                                   \
        X(MONGO, 8, MANY, "more than one document matches")                                        \
        X(WEBSOCKET, 0, HANDSHAKE, "the handshake of WebSocket is not valid, or was refused")      \
        X(WEBSOCKET, 1, PROTOCOL, "the peer does not follow the protocol of WebSocket")            \
        X(WEBSOCKET, 2, UTF8, "a text message is not UTF-8")                                       \
        X(WEBSOCKET, 3, TOO_LARGE, "the message of a WebSocket is larger than its limit")          \
        X(WEBSOCKET, 4, CLOSED, "the WebSocket was closed")                                        \
        X(WEBSOCKET, 5, LOST, "the connection ended without a close of the WebSocket")             \
        X(TEST, 0, FOUND, "the test kit found something wrong in the run")                         \
        X(TEST, 1, NO_RUN, "not in a run of the test kit")

enum {
        EDDY_E_RUN = 0x10000,
        EDDY_E_TASK = 0x10100,
        EDDY_E_DNS = 0x10200,
        EDDY_E_TLS = 0x10300,
        EDDY_E_NET = 0x10400,
        EDDY_E_URL = 0x10500,
        EDDY_E_HTTP = 0x10600,
        EDDY_E_LOOP = 0x10700,
        EDDY_E_SYNC = 0x10800,
        EDDY_E_FUTURE = 0x10900,
        EDDY_E_THREAD = 0x10a00,
        EDDY_E_SIGNAL = 0x10b00,
        EDDY_E_TEST = 0x10c00,
        EDDY_E_STREAM = 0x10d00,
        EDDY_E_ENDPOINT = 0x10e00,
        EDDY_E_JSON = 0x10f00,
        EDDY_E_FIELD = 0x11000,
        EDDY_E_FILE = 0x11100,
        EDDY_E_LIMITER = 0x11400,
        EDDY_E_BREAKER = 0x11500,
        EDDY_E_RETRY = 0x11600,
        EDDY_E_PROCESS = 0x11700,
        EDDY_E_POOL = 0x11900,
        EDDY_E_PG = 0x11a00,
        EDDY_E_SQLITE = 0x11b00,
        EDDY_E_REDIS = 0x11c00,
        EDDY_E_MONGO = 0x11d00,
        EDDY_E_WEBSOCKET = 0x11e00,
};

enum {
#define EDDY_ERROR_VALUE(facility, number, name, text)                                             \
        EDDY_E_##facility##_##name = -(EDDY_E_##facility + (number)),
        EDDY_ERRORS(EDDY_ERROR_VALUE)
#undef EDDY_ERROR_VALUE
};

/*
 * Returns the name of an error as written in C ("EDDY_E_DNS_NOT_FOUND",
 * "ECANCELED"), or "UNKNOWN".  Never NULL; valid for ever.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API const char *eddy_error_name(int error);

/*
 * Returns one sentence without a full stop that describes the error.  Never
 * NULL; valid for ever.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API const char *eddy_error_text(int error);

/*
 * Returns the part of eddy that an error comes from: EDDY_E_HTTP, EDDY_E_DNS
 * and others; 0 for -errno, for a success, and for an unknown number.
 *
 * Suspends: no.  Threads: any.
 */
EDDY_API int eddy_error_facility(int error);

EDDY_END_DECLS

#endif
