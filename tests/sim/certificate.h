/*
 * certificate.h - a certificate of "localhost" that signs itself, and its key, for a hundred years.
 *
 * The key is of Ed25519: the lengths of its signatures do not vary, and with them the schedules.
 */
#ifndef ED_CERTIFICATE_H
#define ED_CERTIFICATE_H

enum { CERTIFICATE_PATH_BYTES = 64 };

/* Write both to one new file, which the caller removes, and its name to 'path'. */
void certificate_write(char path[CERTIFICATE_PATH_BYTES]);

#endif
