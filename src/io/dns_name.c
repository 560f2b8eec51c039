/*
 * io/dns_name.c - parsing host names, IPv4 and IPv6 addresses.
 */
#include "io/dns_name.h"

#include <arpa/inet.h>
#include <errno.h>
#include <idn2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "base/hex.h"
#include "eddy/error.h"

enum { LABEL_MAX = 63, TEXT_MAX = 4 * EDDY_DNS_NAME_MAX, SCOPE_DIGITS_MAX = 9 };

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static char lower(char c)
{
        return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

void ed_address_loopback(uint16_t family, struct eddy_address *ret_address)
{
        *ret_address = (struct eddy_address){ .family = family };
        if (family == AF_INET6) {
                ret_address->bytes[15] = 1;
        } else {
                ret_address->bytes[0] = 127;
                ret_address->bytes[3] = 1;
        }
}

/* Parse four decimal numbers. inet_pton(3) does not reject leading zeros on all systems. */
static int parse_ipv4(const char *text, uint8_t bytes[static 4])
{
        for (int i = 0; i < 4; i++) {
                unsigned value = 0;
                int digits = 0;

                while (is_digit(*text) && digits < 4) {
                        if (digits > 0 && value == 0)
                                return EDDY_E_DNS_BAD_NAME;
                        value = value * 10 + (unsigned) (*text++ - '0');
                        digits++;
                }
                if (digits == 0 || value > 255 || *text++ != (i < 3 ? '.' : '\0'))
                        return EDDY_E_DNS_BAD_NAME;
                bytes[i] = (uint8_t) value;
        }
        return 0;
}

/* Parse an interface's number. Resolving an interface's name would need a system call. */
static int parse_scope(const char *text, uint32_t *ret_scope)
{
        uint32_t scope = 0;
        int digits = 0;

        for (; is_digit(text[digits]) && digits < SCOPE_DIGITS_MAX; digits++)
                scope = scope * 10 + (uint32_t) (text[digits] - '0');
        if (digits == 0 || text[digits] || text[0] == '0')
                return EDDY_E_DNS_BAD_NAME;
        *ret_scope = scope;
        return 0;
}

static int parse_ipv6(const char *text, struct eddy_address *address)
{
        char buf[INET6_ADDRSTRLEN];
        const char *percent = strchr(text, '%');
        size_t length = percent ? (size_t) (percent - text) : strlen(text);

        if (length >= sizeof(buf))
                return EDDY_E_DNS_BAD_NAME;
        memcpy(buf, text, length);
        buf[length] = '\0';
        if (inet_pton(AF_INET6, buf, address->bytes) != 1)
                return EDDY_E_DNS_BAD_NAME;
        return percent ? parse_scope(percent + 1, &address->scope_id) : 0;
}

int ed_address_parse(const char *text, struct eddy_address *ret_address)
{
        struct eddy_address address = { 0 };
        int err;

        if (strchr(text, ':')) {
                address.family = AF_INET6;
                err = parse_ipv6(text, &address);
        } else {
                address.family = AF_INET;
                err = parse_ipv4(text, address.bytes);
        }
        if (err == 0)
                *ret_address = address;
        return err;
}

/*
 * Returns true if a name's last label is a decimal or hexadecimal number: some parsers read such a
 * name as an IPv4 address, so it is refused.
 */
static bool ends_in_number(const char *text, size_t length)
{
        size_t start, i;

        if (length > 0 && text[length - 1] == '.')
                length--;
        for (start = length; start > 0 && text[start - 1] != '.'; start--)
                continue;
        for (i = start; i < length && is_digit(text[i]); i++)
                continue;
        if (i == length)
                return i > start;
        if (length - start < 2 || text[start] != '0' || lower(text[start + 1]) != 'x')
                return false;
        for (i = start + 2; i < length && ed_hex_digit(text[i]) >= 0; i++)
                continue;
        return i == length;
}

/*
 * Copy in lower case, and check RFC 1123's form; underscores are allowed because they are in use.
 */
static int copy_name(const char *text, size_t length, char *ret_text)
{
        size_t label = 0;

        /* Do not count the final dot: RFC 1035 limits the bytes on the wire. */
        if (length == 0 || length - (text[length - 1] == '.') > EDDY_DNS_NAME_MAX)
                return EDDY_E_DNS_BAD_NAME;
        for (size_t i = 0; i < length; i++) {
                char c = lower(text[i]);

                if (c == '.') {
                        if (label == 0)
                                return EDDY_E_DNS_BAD_NAME;
                        label = 0;
                } else if ((c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_') {
                        if (++label > LABEL_MAX)
                                return EDDY_E_DNS_BAD_NAME;
                } else {
                        return EDDY_E_DNS_BAD_NAME;
                }
                ret_text[i] = c;
        }
        ret_text[length] = '\0';
        return 0;
}

/* Returns true if a name is 'domain' or below it. */
static bool is_within(const char *name, const char *domain)
{
        size_t length = strlen(name), bytes = strlen(domain);

        if (length > 0 && name[length - 1] == '.')
                length--;
        if (length < bytes || memcmp(name + length - bytes, domain, bytes) != 0)
                return false;
        return length == bytes || name[length - bytes - 1] == '.';
}

/* Returns the kind of a checked name. RFC 6761, 6.3 and 6.4. */
static enum ed_name_kind kind_of(const char *name)
{
        if (is_within(name, "localhost"))
                return ED_NAME_LOOPBACK;
        return is_within(name, "invalid") ? ED_NAME_NONE : ED_NAME_ASK;
}

static int parse_ascii(const char *text, struct ed_name *name)
{
        size_t length = strlen(text);
        int err;

        if (ends_in_number(text, length))
                return EDDY_E_DNS_BAD_NAME;
        err = copy_name(text, length, name->text);
        if (err < 0)
                return err;
        name->kind = kind_of(name->text);
        return 0;
}

/* Convert by RFC 5891 and UTS 46, and check the ASCII result like any other name. */
static int parse_unicode(const char *text, struct ed_name *name)
{
        uint8_t *ascii = NULL;
        int err;

        err = idn2_lookup_u8((const uint8_t *) text, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
        if (err != IDN2_OK)
                return err == IDN2_MALLOC ? -ENOMEM : EDDY_E_DNS_BAD_NAME;
        err = parse_ascii((const char *) ascii, name);
        idn2_free(ascii);
        return err;
}

int ed_name_parse(const char *host, struct ed_name *ret_name)
{
        size_t length = strnlen(host, TEXT_MAX + 1);
        struct ed_name name = { .kind = ED_NAME_ADDRESS };
        bool ascii = true;
        int err;

        if (length == 0 || length > TEXT_MAX)
                return EDDY_E_DNS_BAD_NAME;
        for (size_t i = 0; i < length; i++)
                ascii = ascii && (unsigned char) host[i] < 0x80;
        if (!ascii)
                err = parse_unicode(host, &name);
        else if (ed_address_parse(host, &name.address) < 0)
                err = parse_ascii(host, &name);
        else
                err = 0;
        if (err == 0)
                *ret_name = name;
        return err;
}
