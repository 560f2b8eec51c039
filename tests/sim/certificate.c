/*
 * certificate.c - see certificate.h.
 */
#include "certificate.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

static const char text[] = "-----BEGIN CERTIFICATE-----\n"
                           "MIIBVTCCAQegAwIBAgIUffgPOgqASwvmxUdXV+g9NhHTozswBQYDK2VwMBQxEjAQ\n"
                           "BgNVBAMMCWxvY2FsaG9zdDAgFw0yNjExMjIyMTIzMzhaGA8yMTI2MTAyOTIxMjMz\n"
                           "OFowFDESMBAGA1UEAwwJbG9jYWxob3N0MCowBQYDK2VwAyEALgAjuvP2TYHj7qU9\n"
                           "0G+gzN5mhKCBDLPIVQWSIEqPmiyjaTBnMB0GA1UdDgQWBBTTFW37EAKqbzAdM7jc\n"
                           "kLexLgZQbTAfBgNVHSMEGDAWgBTTFW37EAKqbzAdM7jckLexLgZQbTAPBgNVHRMB\n"
                           "Af8EBTADAQH/MBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAFBgMrZXADQQD7x+cUYziU\n"
                           "BKyrPS26/DOFRyuuvtK93F3j+YQVb39G3n/t2IVzOfCBXW3sCVejNVw5/vApHXEk\n"
                           "K5j3K6TeAMUL\n"
                           "-----END CERTIFICATE-----\n"
                           "-----BEGIN PRIVATE KEY-----\n"
                           "MC4CAQAwBQYDK2VwBCIEIK6MWTpRpbdo8Gp9bXK/nUIn/aM4Ji08kTBTF+Vp+zJR\n"
                           "-----END PRIVATE KEY-----\n";

void certificate_write(char path[CERTIFICATE_PATH_BYTES])
{
        int fd;

        snprintf(path, CERTIFICATE_PATH_BYTES, "/tmp/eddy-tls-XXXXXX");
        fd = mkstemp(path);
        CHECK(fd >= 0);
        CHECK_EQ(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
        close(fd);
}
