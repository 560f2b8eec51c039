/*
 * 55-config - a configuration in JSON, read into a struct with defaults.
 *
 * A table describes the struct.  A wrong text gets a message that names the field, or the
 * line if the text is not JSON.
 *
 * Run: printf '{"name":"api","listen":[{"host":"::1","port":8443}],"rate":2.5}' | 55-config
 * Time: wall 0 s
 * Output:
 *     api, 4 workers, log info, 2.5 a second
 *     listens on ::1, port 8443
 * Run: printf '{"name":"api",\n "listen":[{"host":"::1","port":84430}]}' | 55-config; echo $?
 * Time: wall 0 s
 * Output:
 *     config: listen[0].port: 84430 is above the maximum 65535
 *     1
 * Run: printf '{"name":"api",\n "workers":}' | 55-config; echo $?
 * Time: wall 0 s
 * Output:
 *     config: line 2, column 12: a value expected, found '}'
 *     1
 */
#include <stdio.h>

#include "eddy/eddy.h"

struct address {
        char host[64];
        uint16_t port;
};

struct config {
        char *name;
        uint32_t workers;
        double rate;
        int log; /* index in 'levels' */
        struct address listen[8];
        size_t listen_count;
};

static const char *const levels[] = { "debug", "info", "error", NULL };
static const struct eddy_field address_list[] = {
        EDDY_FIELD(struct address, host, EDDY_FIELD_REQUIRED, EDDY_FIELD_LENGTH(1, 63)),
        EDDY_FIELD(struct address, port, EDDY_FIELD_REQUIRED, EDDY_FIELD_MIN(1)),
};
static const struct eddy_fields address_fields =
        EDDY_FIELDS(struct address, address_list, EDDY_FIELDS_STRICT);
static const struct eddy_field config_list[] = {
        EDDY_FIELD(struct config, name, EDDY_FIELD_REQUIRED),
        EDDY_FIELD(struct config, workers, EDDY_FIELD_MIN(1), EDDY_FIELD_MAX(64)),
        EDDY_FIELD(struct config, rate, EDDY_FIELD_MIN(0)),
        EDDY_FIELD_ENUM(struct config, log, levels),
        EDDY_FIELD_ARRAY_OF(struct config, listen, listen_count, &address_fields),
};
static const struct eddy_fields config_fields =
        EDDY_FIELDS(struct config, config_list, EDDY_FIELDS_STRICT);

int main(void)
{
        static char text[64 << 10];
        size_t bytes = fread(text, 1, sizeof(text), stdin);
        struct config config = { .workers = 4, .rate = 1, .log = 1 };
        struct eddy_json_error error;

        if (eddy_json_read(&config_fields, text, bytes, &config, &error) < 0) {
                printf("config: %s\n", error.text);
                return 1;
        }
        printf("%s, %u workers, log %s, %g a second\n", config.name, config.workers,
               levels[config.log], config.rate);
        for (size_t i = 0; i < config.listen_count; i++)
                printf("listens on %s, port %u\n", config.listen[i].host, config.listen[i].port);
        eddy_fields_fini(&config_fields, &config);
        return 0;
}
