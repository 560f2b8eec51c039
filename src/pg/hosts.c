/*
 * pg/hosts.c - the servers of a connection, and the options that are left open.
 *
 * libpq reads the connection string, the environment and services, but looks names up with
 * getaddrinfo(), which blocks. A first libpq object, which fails before it connects, returns the
 * hosts; a second object gets each of their addresses as a host of its own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "eddy/dns.h"
#include "pg/pg.h"
#include "sys/file/plain.h"
#include "tls/trust.h"

enum { LIST_BYTES_MAX = 64 << 10 };

/* The lists of hosts, addresses and ports, as they are made. */
struct lists {
        struct ed_buf hosts, addresses, ports;
        int count;
        bool has_remote; /* one that is neither loopback nor a Unix socket */
};

/* --- options --- */

static const char *option(const PQconninfoOption *options, const char *key)
{
        for (; options && options->keyword; options++)
                if (strcmp(options->keyword, key) == 0)
                        return options->val && *options->val ? options->val : NULL;
        return NULL;
}

/* Whether the string or the environment has the option; 'all' has those of services and defaults too. */
static bool is_chosen(const PQconninfoOption *given, const PQconninfoOption *all, const char *key,
                      const char *variable)
{
        const char *value = option(all, key), *set = getenv(variable);

        return option(given, key) || (set && *set) || (value && strcmp(value, "prefer") != 0);
}

static void put(struct ed_pg_plan *plan, const char *key, const char *value)
{
        plan->keys[plan->count] = key;
        plan->values[plan->count++] = value;
}

/* --- hosts --- */

/* Returns the part of a list that begins at '*at', without its length; moves '*at' after the comma. */
static size_t part(const char **at, const char **ret_text)
{
        size_t bytes = strcspn(*at, ",");

        *ret_text = *at;
        *at += bytes + ((*at)[bytes] == ',');
        return bytes;
}

static int count_parts(const char *list)
{
        int n = 1;

        for (; list && *list; list++)
                n += *list == ',';
        return n;
}

/* Each entry may be empty, so a comma follows each of them; the last comma is dropped. */
static int append(struct ed_buf *list, const char *text, size_t bytes)
{
        int err = ed_buf_append(list, text, bytes);

        return err < 0 ? err : ed_buf_append(list, ",", 1);
}

static int add(struct lists *lists, const char *host, size_t host_bytes, const char *address,
               const char *port, size_t port_bytes)
{
        int err;

        if (lists->count >= EDDY_PG_ADDRESSES_MAX)
                return 0;
        lists->count++;
        err = append(&lists->hosts, host, host_bytes);
        if (err == 0)
                err = append(&lists->addresses, address, strlen(address));
        return err < 0 ? err : append(&lists->ports, port, port_bytes);
}

static bool is_loopback(int family, const void *address)
{
        const uint8_t *bytes = address;

        if (family == AF_INET)
                return bytes[0] == 127;
        return memcmp(bytes, &in6addr_loopback, sizeof(in6addr_loopback)) == 0;
}

static bool is_loopback_text(const char *text)
{
        uint8_t bytes[16];

        if (inet_pton(AF_INET, text, bytes) == 1)
                return is_loopback(AF_INET, bytes);
        return inet_pton(AF_INET6, text, bytes) == 1 && is_loopback(AF_INET6, bytes);
}

static int add_found(struct lists *lists, const char *name, const struct eddy_address *address,
                     const char *port, size_t port_bytes)
{
        char text[INET6_ADDRSTRLEN + 16];

        if (!inet_ntop(address->family, address->bytes, text, sizeof(text)))
                return -EINVAL;
        if (address->scope_id != 0)
                snprintf(text + strlen(text), 16, "%%%u", address->scope_id);
        lists->has_remote |= !is_loopback(address->family, address->bytes);
        return add(lists, name, strlen(name), text, port, port_bytes);
}

/* A host of the list: a name is replaced by its addresses. '*ret_miss': a name without any. */
static int add_host(struct lists *lists, const char *host, size_t host_bytes, const char *address,
                    size_t address_bytes, const char *port, size_t port_bytes, int *ret_miss)
{
        struct eddy_address found[EDDY_DNS_ADDRESSES_MAX];
        char name[EDDY_DNS_NAME_MAX + 64];
        int n, err = 0;

        if (address_bytes > 0) {
                snprintf(name, sizeof(name), "%.*s", (int) address_bytes, address);
                lists->has_remote |= !is_loopback_text(name);
                return add(lists, host, host_bytes, name, port, port_bytes);
        }
        if (host_bytes == 0 || host[0] == '/' || host[0] == '@')
                return add(lists, host, host_bytes, "", port, port_bytes);
        if (host_bytes > EDDY_DNS_NAME_MAX) {
                *ret_miss = EDDY_E_DNS_BAD_NAME;
                return 0;
        }
        memcpy(name, host, host_bytes);
        name[host_bytes] = '\0';
        n = eddy_dns_lookup(name, found, EDDY_DNS_ADDRESSES_MAX);
        if (n < 0 && eddy_error_facility(n) == EDDY_E_DNS) {
                *ret_miss = n;
                return 0;
        }
        for (int i = 0; i < n && err == 0; i++)
                err = add_found(lists, name, &found[i], port, port_bytes);
        return n < 0 ? n : err;
}

static int finish_list(struct ed_buf *list, char **ret_text)
{
        size_t bytes = ed_buf_bytes(list);

        bytes -= bytes > 0;

        *ret_text = ed_alloc(bytes + 1);
        if (!*ret_text)
                return -ENOMEM;
        if (bytes > 0)
                memcpy(*ret_text, ed_buf_data(list), bytes);
        (*ret_text)[bytes] = '\0';
        return 0;
}

static int expand(struct ed_pg_plan *plan, struct lists *lists, const PQconninfoOption *all)
{
        const char *hosts = option(all, "host"), *addresses = option(all, "hostaddr");
        const char *ports = option(all, "port"), *host, *address, *port = NULL;
        int n = count_parts(addresses ? addresses : hosts), ports_count = count_parts(ports);
        int miss = 0, err = 0;
        size_t port_bytes = 0;

        /* libpq says what is wrong, before it looks up names. */
        if ((hosts && addresses && count_parts(hosts) != n) ||
            (ports_count != 1 && ports_count != n))
                return 0;
        hosts = hosts ? hosts : "";
        addresses = addresses ? addresses : "";
        ports = ports ? ports : "";
        for (int i = 0; i < n && err == 0; i++) {
                size_t host_bytes = part(&hosts, &host);
                size_t address_bytes = part(&addresses, &address);

                if (i == 0 || ports_count > 1)
                        port_bytes = part(&ports, &port);
                err = add_host(lists, host, host_bytes, address, address_bytes, port, port_bytes,
                               &miss);
        }
        if (err == 0 && lists->count == 0)
                err = miss;
        if (err == 0)
                err = finish_list(&lists->hosts, &plan->hosts);
        if (err == 0)
                err = finish_list(&lists->addresses, &plan->addresses);
        if (err == 0)
                err = finish_list(&lists->ports, &plan->ports);
        if (err < 0)
                return err;
        put(plan, "host", plan->hosts);
        put(plan, "hostaddr", plan->addresses);
        put(plan, "port", plan->ports);
        return 0;
}

/* --- TLS and the password file --- */

static bool join(char *path, size_t room, const char *folder, const char *name)
{
        return folder && *folder && snprintf(path, room, "%s/%s", folder, name) < (int) room;
}

/* A path below the user's home folder, as libpq finds that; false without one. */
static bool home_path(char *path, size_t room, const char *name)
{
        const char *home = getenv("HOME");
        char folder[1024];

        if (home && *home)
                return join(path, room, home, name);
        return ed_user_home(folder, sizeof(folder)) && join(path, room, folder, name);
}

static void choose_tls(struct ed_pg_plan *plan, const PQconninfoOption *given,
                       const PQconninfoOption *all, bool has_remote)
{
        const char *mode = option(all, "sslmode"), *file;
        char path[1024];

        if (!is_chosen(given, all, "gssencmode", "PGGSSENCMODE"))
                put(plan, "gssencmode", "disable");
        if (has_remote && !is_chosen(given, all, "sslmode", "PGSSLMODE"))
                put(plan, "sslmode", mode = "verify-full");
        if (!mode || strncmp(mode, "verify-", 7) != 0 || option(all, "sslrootcert"))
                return;
        if (home_path(path, sizeof(path), ".postgresql/root.crt") && ed_file_is_private(path) >= 0)
                return;
        file = ed_tls_trust_file();
        if (file)
                put(plan, "sslrootcert", file);
}

/* libpq writes to stderr if others may read the password file, and does not use it. */
static void check_passfile(struct ed_pg_plan *plan, const PQconninfoOption *all)
{
        const char *file = option(all, "passfile");
        char path[1024];

        if (!file)
                file = home_path(path, sizeof(path), ".pgpass") ? path : NULL;
        /* As libpq looks at it, at the same moment. */
        if (!file || ed_file_is_private(file) != 0)
                return;
        plan->is_passfile_open = true;
        put(plan, "passfile", "/dev/null/none");
}

/* Returns all options, with those of services and defaults, or NULL. */
static PQconninfoOption *ask(const char *conninfo)
{
        /* The value of the third option ends it, after services are read, and before anything else. */
        const char *keys[] = { "dbname", "password", "channel_binding", NULL };
        const char *values[] = { conninfo, "-", "?", NULL };
        PGconn *conn = PQconnectStartParams(keys, values, 1);
        PQconninfoOption *options = conn ? PQconninfo(conn) : NULL;

        PQfinish(conn);
        return options;
}

int ed_pg_plan_make(struct ed_pg_plan *plan, const char *conninfo, struct eddy_pg_fault *fault)
{
        PQconninfoOption *given, *all;
        struct lists lists = { .count = 0 };
        int err;

        memset(plan, 0, sizeof(*plan));
        conninfo = conninfo ? conninfo : "";
        /* The text of the error could quote a password. */
        given = PQconninfoParse(conninfo, NULL);
        if (!given) {
                ed_pg_fault_set(fault,
                                "the connection string is not valid, or has an unknown option");
                return -EINVAL;
        }
        all = ask(conninfo);
        ed_buf_init(&lists.hosts, LIST_BYTES_MAX);
        ed_buf_init(&lists.addresses, LIST_BYTES_MAX);
        ed_buf_init(&lists.ports, LIST_BYTES_MAX);
        put(plan, "dbname", conninfo);
        put(plan, "client_encoding", "UTF8");
        put(plan, "fallback_application_name", "eddy");
        err = all ? expand(plan, &lists, all) : -ENOMEM;
        if (err == 0) {
                choose_tls(plan, given, all, lists.has_remote);
                check_passfile(plan, all);
        } else {
                ed_pg_fault_set(fault, err == -ECANCELED ? "the name lookup of a host had not ended"
                                                         : eddy_error_text(err));
        }
        ed_buf_fini(&lists.hosts);
        ed_buf_fini(&lists.addresses);
        ed_buf_fini(&lists.ports);
        PQconninfoFree(given);
        PQconninfoFree(all);
        return err;
}

void ed_pg_plan_fini(struct ed_pg_plan *plan)
{
        ed_free(plan->hosts);
        ed_free(plan->addresses);
        ed_free(plan->ports);
}
