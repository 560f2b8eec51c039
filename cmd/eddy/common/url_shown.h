/*
 * common/url_shown.h - a URL for messages, without what may be a secret.
 */
#ifndef ED_CMD_COMMON_URL_SHOWN_H
#define ED_CMD_COMMON_URL_SHOWN_H

#include <stddef.h>

enum { ED_URL_SHOWN_BYTES = 512 };

/*
 * Returns 'room' with a URL in which three asterisks replace the user name and password, and again
 * the query and fragment. The text need not be a valid URL. The end of a long URL is left out.
 */
const char *ed_url_shown(char room[ED_URL_SHOWN_BYTES], const char *url, size_t bytes);

#endif
