/*
 * common/url_fault.c - finds common mistakes in URLs. Only the library decides whether a URL is
 * valid.
 */
#include "common/url_fault.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PORT_DIGITS_SHOWN_MAX = 20, HOST_SHOWN_MAX = 20 };

struct span {
        const char *at;
        size_t bytes;
};

static struct span span_until(const char *at, const char *end, const char *stops)
{
        const char *p = at;

        while (p < end && !strchr(stops, *p))
                p++;
        return (struct span){ at, (size_t) (p - at) };
}

/* Returns true if the URL begins with a scheme (RFC 3986, 3.1) that has no leading digit. */
static bool scheme_is_there(const char *url, const char *end)
{
        const char *p = url;

        while (p < end && (isalnum((unsigned char) *p) || strchr("+-.", *p)))
                p++;
        return p > url && end - p >= 3 && memcmp(p, "://", 3) == 0 &&
               !isdigit((unsigned char) *url);
}

/* Find bytes that must be percent-encoded (RFC 3986, 2). */
static const char *bytes_fault(const char *p, const char *end, char *text)
{
        for (; p < end; p++) {
                unsigned char c = (unsigned char) *p;

                if (c == ' ')
                        return "the URL has a space in it: write %20";
                if (c == '%' && (end - p < 3 || !isxdigit((unsigned char) p[1]) ||
                                 !isxdigit((unsigned char) p[2])))
                        return "the URL has a % without two hexadecimal digits: write %25 for %";
                if (c > 0x20 && c < 0x7f && !strchr("#\"<>\\", c))
                        continue;
                snprintf(text, ED_URL_FAULT_BYTES,
                         c > 0x20 && c < 0x7f ? "the URL has a %c in it: write %%%02X"
                                              : "the URL has the byte %d in it: write %%%02X",
                         c, c);
                return text;
        }
        return NULL;
}

static const char *port_fault(struct span port, char *text)
{
        size_t digits = 0;
        unsigned long number = 0;
        int shown = (int) port.bytes;

        for (; digits < port.bytes && isdigit((unsigned char) port.at[digits]); digits++)
                number = number > 65535 ? number : number * 10 + (unsigned) (port.at[digits] - '0');
        if (port.bytes > PORT_DIGITS_SHOWN_MAX)
                shown = PORT_DIGITS_SHOWN_MAX;
        if (digits < port.bytes)
                snprintf(text, ED_URL_FAULT_BYTES, "port %.*s is not a number from 1 to 65535",
                         shown, port.at);
        else if (digits > 0 && (number < 1 || number > 65535))
                snprintf(text, ED_URL_FAULT_BYTES, "port %.*s is not within 1 to 65535", shown,
                         port.at);
        else
                return NULL;
        return text;
}

/* Returns true for an address such as "::1" or "fe80::1:8080". */
static bool looks_like_ipv6(const char *host, const char *end)
{
        int colons = 0;

        for (; host < end; host++) {
                if (!isxdigit((unsigned char) *host) && !strchr(":.", *host))
                        return false;
                colons += *host == ':';
        }
        return colons > 1;
}

/* Find a host whose last part is a number, but which is not an IPv4 address. */
static const char *number_fault(struct span name, char *text)
{
        const char *end = name.at + name.bytes, *part = end, *p;
        char host[INET_ADDRSTRLEN] = "";
        struct in_addr address;
        bool is_hex;

        while (part > name.at && part[-1] != '.')
                part--;
        is_hex = end - part > 2 && part[0] == '0' && (part[1] | 0x20) == 'x';
        for (p = is_hex ? part + 2 : part; p < end; p++)
                if (is_hex ? !isxdigit((unsigned char) *p) : !isdigit((unsigned char) *p))
                        return NULL;
        if (part == end || (name.bytes < sizeof(host) &&
                            inet_pton(AF_INET, memcpy(host, name.at, name.bytes), &address) == 1))
                return NULL;
        snprintf(text, ED_URL_FAULT_BYTES,
                 "%.*s is not an IPv4 address: write four numbers from 0 to 255",
                 name.bytes < HOST_SHOWN_MAX ? (int) name.bytes : HOST_SHOWN_MAX, name.at);
        return text;
}

/* Find faults in host and port. */
static const char *host_fault(const char *host, const char *end, char *text)
{
        struct span name;
        const char *colon, *fault = NULL;

        if (looks_like_ipv6(host, end))
                return "the URL has an IPv6 address without brackets: write http://[ADDRESS]:PORT/";
        if (host == end || *host == ':')
                return "the URL has no host: write http://HOST/";
        name = span_until(host, end, *host == '[' ? "]" : ":");
        colon = name.at + name.bytes;
        if (*host == '[' && colon == end)
                return "the URL has a [ without a ] in its host";
        if (*host == '[')
                colon++;
        if (colon < end && *colon == ':')
                fault = port_fault((struct span){ colon + 1, (size_t) (end - colon - 1) }, text);
        return fault || *host == '[' ? fault : number_fault(name, text);
}

/* Returns true if a blank and another URL follow. */
static bool has_second_url(const char *place, const char *end)
{
        struct span first = span_until(place, end, " \t");

        return memmem(first.at + first.bytes, (size_t) (end - first.at) - first.bytes, "://", 3);
}

const char *ed_url_fault(const char *url, size_t bytes, char text[ED_URL_FAULT_BYTES])
{
        const char *end = url + bytes, *place, *place_end, *at_sign, *hash, *fault;

        if (bytes > 0 && *url == '{')
                return "this line is JSON; the input is one URL per line";
        if (bytes > 0 && strchr("\"'", *url))
                return "the line begins with a quote; write the URL without quotes";
        if (!scheme_is_there(url, end))
                return "the URL has no scheme: begin it with http://";
        place = (const char *) memmem(url, bytes, "://", 3) + 3;
        if (has_second_url(place, end))
                return "the line has several URLs: write each on a line of its own";
        place_end = place + span_until(place, end, "/?#").bytes;
        at_sign = memrchr(place, '@', (size_t) (place_end - place));
        hash = memchr(place_end, '#', (size_t) (end - place_end));
        fault = bytes_fault(place, at_sign ? at_sign : place, text);
        if (!fault)
                fault = bytes_fault(place_end, hash ? hash : end, text);
        if (!fault && hash)
                fault = bytes_fault(hash + 1, end, text);
        if (!fault)
                fault = host_fault(at_sign ? at_sign + 1 : place, place_end, text);
        return fault;
}
