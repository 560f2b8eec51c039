/*
 * common/url_parts.h - finds the parts of a path, or of a URL that the library has accepted. Only
 * the library decides which texts are URLs.
 */
#ifndef ED_CMD_COMMON_URL_PARTS_H
#define ED_CMD_COMMON_URL_PARTS_H

#include <stdbool.h>

/* Each part ends where the next begins. A path has no scheme and no host: 'host' and 'path' are equal. */
struct ed_url_parts {
        const char *authority; /* after "://" */
        const char *host;      /* after user name and password */
        const char *path;
        const char *query; /* its '?', or the '#' of the fragment, or the NUL */
        bool has_userinfo;
};

struct ed_url_parts ed_url_parts(const char *url);

/*
 * Returns true if a segment of the path is "." or "..", also with %2E: other programs remove such
 * segments, with the one before.
 */
bool ed_url_has_dots(const char *url);

#endif
