/*
 * requests.h - raw requests, the rule for each, and what must become of it.
 *
 * Included with REQUEST defined:
 *
 *     REQUEST(claim, rfc, must, why, expected, input)
 *
 * 'rfc' is the document and section that has the rule; RFC 9110 is HTTP, 9112 is
 * HTTP/1.1.  'must' is REFUSE: a rule says so, or the bytes do not match the
 * grammar and no exception covers them (RFC 9112, 2.2); ACCEPT: well-formed, or a
 * rule says that a recipient bears it; OPEN: the choice is the server's, or only
 * the characters of a URI are at fault.  'expected' is what eddy's codec makes of
 * it, in the words of drive.h.  Each input is whole: a server need not wait for
 * more of it.  Requests that are to be read with their body go to /echo.
 *
 * tools/request-table reads this file too, makes docs/http_requests.md of it and
 * sends each input to servers.  Control characters are written in octal, or as \r,
 * \n and \t.  One case is one rule.  U+017F is a long s, which some foldings of case turn
 * into an s, and U+212A the Kelvin sign, whose small letter is a plain k.
 */

/* One case, a few lines. */
/* clang-format off */

#define X10(text) text text text text text text text text text text
#define X100(text) X10(X10(text))
#define X1000(text) X100(X10(text))

#define HOST "Host: h\r\n"
#define POST "POST /echo HTTP/1.1\r\n" HOST
#define CHUNKS POST "Transfer-Encoding: chunked\r\n\r\n"

/* ---- The request line ---------------------------------------------------- */

REQUEST(request_of_the_simplest_kind_is_read, "RFC 9112, 3", ACCEPT,
        "method, target, version, Host",
        "GET / 1.1 keep [Host=h] none",
        "GET / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(head_is_a_method, "RFC 9110, 9.3.2", ACCEPT,
        "servers of general purpose support GET and HEAD",
        "HEAD / 1.1 keep [Host=h] none",
        "HEAD / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(put_without_a_body_is_read, "RFC 9112, 6.3", ACCEPT,
        "without framing a request has no body",
        "PUT / 1.1 keep [Host=h] none",
        "PUT / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(delete_is_read, "RFC 9110, 9.3.5", ACCEPT, "a method like another",
        "DELETE /a 1.1 keep [Host=h] none",
        "DELETE /a HTTP/1.1\r\n" HOST "\r\n")
REQUEST(options_of_a_path_is_read, "RFC 9110, 9.3.7", ACCEPT, "of one resource",
        "OPTIONS /a 1.1 keep [Host=h] none",
        "OPTIONS /a HTTP/1.1\r\n" HOST "\r\n")
REQUEST(patch_is_read, "RFC 9110, 16.1", ACCEPT, "methods are registered, and a token is enough",
        "PATCH /a 1.1 keep [Host=h] [Content-Length=0] none",
        "PATCH /a HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n")
REQUEST(trace_is_read, "RFC 9110, 9.3.8", OPEN, "a server may refuse to be a loopback",
        "TRACE / 1.1 keep [Host=h] none",
        "TRACE / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(trace_with_a_body_is_read, "RFC 9110, 9.3.8", OPEN,
        "a client must not send it; for the server there is no rule",
        "TRACE / 1.1 keep [Host=h] [Content-Length=1] length 'x'",
        "TRACE / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nx")
REQUEST(request_with_an_unknown_method_is_read, "RFC 9110, 9.1", OPEN,
        "any token; 501 is an answer too",
        "M-SEARCH!#$%&'*+.^_`|~ / 1.1 keep [Host=h] none",
        "M-SEARCH!#$%&'*+.^_`|~ / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(methods_are_case_sensitive_but_small_ones_are_read, "RFC 9110, 9.1", OPEN,
        "get is not GET, but a token",
        "get / 1.1 keep [Host=h] none",
        "get / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(long_method_is_read, "RFC 9112, 3", OPEN,
        "longer than any that is known: 501 is an answer too",
        "PROPPATCHPROPPATCHPROPPATCHPROPPATCH / 1.1 keep [Host=h] none",
        "PROPPATCHPROPPATCHPROPPATCHPROPPATCH / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(request_without_method_is_refused, "RFC 9112, 3", REFUSE, "two words are not a request line",
        "fault METHOD",
        " / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(method_with_a_separator_is_refused, "RFC 9110, 5.6.2", REFUSE, "a method is a token",
        "fault METHOD",
        "G{T / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(method_with_a_slash_is_refused, "RFC 9110, 5.6.2", REFUSE, "a method is a token",
        "fault METHOD",
        "G/T / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(method_in_quotes_is_refused, "RFC 9110, 5.6.2", REFUSE, "a method is a token",
        "fault METHOD",
        "\"GET\" / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(method_with_a_colon_is_refused, "RFC 9110, 5.6.2", REFUSE, "a method is a token",
        "fault METHOD",
        "GET: / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(method_with_nul_is_refused, "RFC 9110, 5.6.2", REFUSE, "a method is a token",
        "fault METHOD",
        "G\000T / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(method_with_a_byte_above_ascii_is_refused, "RFC 9110, 5.6.2", REFUSE, "a method is a token",
        "fault METHOD",
        "G\303\211T / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(method_with_a_control_character_is_refused, "RFC 9110, 5.6.2", REFUSE,
        "a method is a token",
        "fault METHOD",
        "G\001T / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(method_alone_is_refused, "RFC 9112, 3", REFUSE, "no target, no version",
        "fault METHOD",
        "GET\r\n" HOST "\r\n")
REQUEST(tls_hello_is_refused, "RFC 9112, 3", REFUSE, "another protocol",
        "fault METHOD",
        "\026\003\001\002\000\001\000\001\374\003\003\r\n\r\n")
REQUEST(one_empty_line_before_a_request_is_skipped, "RFC 9112, 2.2", ACCEPT,
        "one at least is ignored",
        "GET / 1.1 keep [Host=h] none",
        "\r\nGET / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(two_empty_lines_before_a_request_are_refused, "RFC 9112, 2.2", OPEN,
        "at least one is to be ignored",
        "fault METHOD",
        "\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(bare_lf_before_a_request_is_refused, "RFC 9112, 2.2", OPEN,
        "LF alone may count as a line end",
        "fault LINE_END",
        "\nGET / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(bare_cr_before_a_request_is_refused, "RFC 9112, 2.2", OPEN,
        "invalid, or a space, which may be skipped",
        "fault LINE_END",
        "\rGET / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(space_before_the_method_is_refused, "RFC 9112, 3", OPEN,
        "white space around the line may be ignored",
        "fault METHOD",
        " GET / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(method_followed_by_a_tab_is_refused, "RFC 9112, 3", OPEN, "any white space may separate",
        "fault METHOD",
        "GET\t/ HTTP/1.1\r\n" HOST "\r\n")
REQUEST(two_spaces_after_the_method_are_refused, "RFC 9112, 3", OPEN,
        "any white space may separate",
        "fault TARGET",
        "GET  / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(two_spaces_before_the_version_are_refused, "RFC 9112, 3", OPEN,
        "any white space may separate",
        "fault TARGET",
        "GET /  HTTP/1.1\r\n" HOST "\r\n")
REQUEST(vertical_tabs_between_the_parts_are_refused, "RFC 9112, 3", OPEN,
        "any white space may separate",
        "fault METHOD",
        "GET\013/\013HTTP/1.1\r\n" HOST "\r\n")
REQUEST(version_followed_by_a_space_is_refused, "RFC 9112, 3", OPEN,
        "white space around the line may be ignored",
        "fault VERSION",
        "GET / HTTP/1.1 \r\n" HOST "\r\n")
REQUEST(version_followed_by_a_tab_is_refused, "RFC 9112, 3", OPEN,
        "white space around the line may be ignored",
        "fault VERSION",
        "GET / HTTP/1.1\t\r\n" HOST "\r\n")
REQUEST(request_line_ended_by_lf_is_refused, "RFC 9112, 2.2", OPEN,
        "LF alone may count as a line end",
        "fault LINE_END",
        "GET / HTTP/1.1\n" HOST "\r\n")
REQUEST(request_line_ended_by_cr_is_refused, "RFC 9112, 2.2", REFUSE,
        "CR alone does not end a line, and as a space it makes no sense",
        "fault LINE_END",
        "GET / HTTP/1.1\r" HOST "\r\n")
REQUEST(request_line_ended_by_two_crs_is_refused, "RFC 9112, 2.2", OPEN,
        "a bare CR is invalid, or a space at the end",
        "fault LINE_END",
        "GET / HTTP/1.1\r\r\n" HOST "\r\n")
REQUEST(request_of_bare_lfs_is_refused, "RFC 9112, 2.2", OPEN, "LF alone may count as a line end",
        "fault LINE_END",
        "GET / HTTP/1.1\nHost: h\n\n")
REQUEST(line_of_8000_bytes_is_read, "RFC 9112, 3", ACCEPT,
        "8,000 bytes are what all should support",
        "GET /" X1000("abcdefg") X100("abcdefghi") X10("abcdefgh") "abcdef 1.1 keep [Host=h] none",
        "GET /" X1000("abcdefg") X100("abcdefghi") X10("abcdefgh") "abcdef HTTP/1.1\r\n" HOST
        "\r\n")
REQUEST(line_of_9000_bytes_is_refused, "RFC 9112, 3", OPEN, "the limit is the server's; 414 then",
        "limit TARGET_TOO_LONG",
        "GET /" X1000("abcdefghi") " HTTP/1.1\r\n" HOST "\r\n")

/* ---- Targets: a path ----------------------------------------------------- */

REQUEST(empty_target_is_refused, "RFC 9112, 3.2", REFUSE, "two words are not a request line",
        "fault TARGET",
        "GET  HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_all_that_urls_hold_is_read, "RFC 9112, 3.2.1", ACCEPT,
        "every character of RFC 3986",
        "GET /a-._~!$&'()*+,;=:@%2F/b?c=d/?:@!$&'()*+,; 1.1 keep [Host=h] none",
        "GET /a-._~!$&'()*+,;=:@%2F/b?c=d/?:@!$&'()*+,; HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_of_two_slashes_is_a_path, "RFC 9112, 3.2.1", ACCEPT, "segments may be empty",
        "GET //evil/a 1.1 keep [Host=h] none",
        "GET //evil/a HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_dots_is_a_path, "RFC 9112, 3.2.1", ACCEPT,
        "syntax alone; what it names is the server's",
        "GET /a/../b/./c 1.1 keep [Host=h] none",
        "GET /a/../b/./c HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_an_empty_query_is_read, "RFC 9112, 3.2.1", ACCEPT, "a query may be empty",
        "GET /? 1.1 keep [Host=h] none",
        "GET /? HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_an_escaped_nul_is_read, "RFC 3986, 2.1", OPEN, "well-formed; many refuse it",
        "GET /a%00b 1.1 keep [Host=h] none",
        "GET /a%00b HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_of_a_query_alone_is_refused, "RFC 9112, 3.2.1", REFUSE,
        "the path of this form is not empty",
        "fault TARGET",
        "GET ?a HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_without_slash_is_refused, "RFC 9112, 3.2", REFUSE, "none of the four forms",
        "fault TARGET",
        "GET a HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_a_space_is_refused, "RFC 9112, 3.2", REFUSE, "no white space in a target",
        "fault TARGET",
        "GET /a b HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_a_tab_is_refused, "RFC 9112, 3.2", REFUSE, "no white space in a target",
        "fault TARGET",
        "GET /a\tb HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_nul_is_refused, "RFC 9112, 3.2", REFUSE, "no control characters in a target",
        "fault TARGET",
        "GET /a\000b HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_a_control_character_is_refused, "RFC 9112, 3.2", REFUSE,
        "no control characters in a target",
        "fault TARGET",
        "GET /a\001b HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_delete_is_refused, "RFC 9112, 3.2", REFUSE, "no control characters in a target",
        "fault TARGET",
        "GET /a\177b HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_lf_is_refused, "RFC 9112, 3.2", REFUSE, "no line end in a target",
        "fault LINE_END",
        "GET /a\nb HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_cr_is_refused, "RFC 9112, 3.2", REFUSE, "no white space in a target",
        "fault VERSION",
        "GET /a\rb HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_a_byte_above_ascii_is_refused, "RFC 3986, 2", OPEN,
        "not a URI's character; some clients send it",
        "fault TARGET",
        "GET /\303\244 HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_braces_and_bars_is_read, "RFC 3986, 2", OPEN,
        "not a URI's characters; browsers send them",
        "GET /a?b=[c]{|}^` 1.1 keep [Host=h] none",
        "GET /a?b=[c]{|}^` HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_a_fragment_is_refused, "RFC 3986, 3.5", OPEN,
        "a fragment is not sent; a fault of the URI alone",
        "fault TARGET",
        "GET /a#b HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_a_backslash_is_refused, "RFC 3986, 2", OPEN, "not a URI's character",
        "fault TARGET",
        "GET /\\a HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_quotes_is_refused, "RFC 3986, 2", OPEN, "not a URI's characters",
        "fault TARGET",
        "GET /\"a\" HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_angles_is_refused, "RFC 3986, 2", OPEN, "not a URI's characters",
        "fault TARGET",
        "GET /<a> HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_half_an_escape_is_refused, "RFC 3986, 2.1", OPEN,
        "% and two hexadecimal digits",
        "fault TARGET",
        "GET /%4 HTTP/1.1\r\n" HOST "\r\n")
REQUEST(target_with_a_wrong_escape_is_refused, "RFC 3986, 2.1", OPEN,
        "% and two hexadecimal digits",
        "fault TARGET",
        "GET /%4g HTTP/1.1\r\n" HOST "\r\n")

/* ---- Targets: the other forms -------------------------------------------- */

REQUEST(absolute_target_is_read, "RFC 9112, 3.2.2", ACCEPT, "a server accepts this form",
        "GET http://h/a 1.1 absolute for h keep [Host=h] none",
        "GET http://h/a HTTP/1.1\r\n" HOST "\r\n")
REQUEST(absolute_target_with_the_default_port_is_the_same_host, "RFC 9112, 3.2.2", ACCEPT,
        "a server accepts this form",
        "GET http://H:80/ 1.1 absolute for H:80 keep [Host=h] none",
        "GET http://H:80/ HTTP/1.1\r\n" HOST "\r\n")
REQUEST(absolute_target_without_a_path_is_read, "RFC 9112, 3.2.2", ACCEPT, "an empty path is /",
        "GET http://h 1.1 absolute for h keep [Host=h] none",
        "GET http://h HTTP/1.1\r\n" HOST "\r\n")
REQUEST(absolute_target_of_a_query_is_read, "RFC 9112, 3.2.2", ACCEPT, "an empty path is /",
        "GET http://h?a=b 1.1 absolute for h keep [Host=h] none",
        "GET http://h?a=b HTTP/1.1\r\n" HOST "\r\n")
REQUEST(absolute_target_with_its_scheme_in_capitals_is_read, "RFC 3986, 3.1", ACCEPT,
        "schemes have no case",
        "GET HTTP://h/ 1.1 absolute for h keep [Host=h] none",
        "GET HTTP://h/ HTTP/1.1\r\n" HOST "\r\n")
REQUEST(absolute_target_of_an_ipv6_address_is_read, "RFC 9112, 3.2.2", ACCEPT,
        "a server accepts this form",
        "GET http://[::1]:80/ 1.1 absolute for [::1]:80 keep [Host=[::1]:80] none",
        "GET http://[::1]:80/ HTTP/1.1\r\nHost: [::1]:80\r\n\r\n")
REQUEST(absolute_target_of_another_host_wins, "RFC 9112, 3.2.2", ACCEPT,
        "Host is ignored beside it",
        "GET http://g/ 1.1 absolute for g keep [Host=h] none",
        "GET http://g/ HTTP/1.1\r\n" HOST "\r\n")
REQUEST(absolute_target_of_another_port_wins, "RFC 9112, 3.2.2", ACCEPT,
        "Host is ignored beside it",
        "GET http://h:81/ 1.1 absolute for h:81 keep [Host=h] none",
        "GET http://h:81/ HTTP/1.1\r\n" HOST "\r\n")
REQUEST(absolute_target_in_1_0_needs_no_host_field, "RFC 9112, 3.2.2", ACCEPT,
        "HTTP/1.0 has no Host",
        "GET http://h/ 1.0 absolute for h close none",
        "GET http://h/ HTTP/1.0\r\n\r\n")
REQUEST(absolute_target_without_host_field_is_refused, "RFC 9112, 3.2", REFUSE,
        "HTTP/1.1 without Host is answered by 400",
        "fault HOST_MISSING",
        "GET http://h/ HTTP/1.1\r\n\r\n")
REQUEST(absolute_target_beside_a_bad_host_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET http://h/ HTTP/1.1\r\nHost: a b\r\n\r\n")
REQUEST(absolute_target_beside_two_hosts_is_refused, "RFC 9112, 3.2", REFUSE,
        "two Hosts are answered by 400",
        "fault HOST_TWICE",
        "GET http://h/ HTTP/1.1\r\n" HOST HOST "\r\n")
REQUEST(absolute_target_with_user_information_is_refused, "RFC 9110, 4.2.4", REFUSE,
        "an error, should an untrusted source send it",
        "fault TARGET",
        "GET http://u@h/ HTTP/1.1\r\n" HOST "\r\n")
REQUEST(absolute_target_without_host_is_refused, "RFC 9110, 4.2.1", REFUSE,
        "an http URI without a host is invalid",
        "fault TARGET",
        "GET http:///a HTTP/1.1\r\n" HOST "\r\n")
REQUEST(absolute_target_with_a_bad_port_is_refused, "RFC 3986, 3.2.3", REFUSE, "a port is digits",
        "fault TARGET",
        "GET http://h:x/ HTTP/1.1\r\n" HOST "\r\n")
REQUEST(absolute_target_of_https_is_read, "RFC 9110, 7.4", OPEN,
        "a connection without TLS; 421 is an answer too",
        "GET https://h/ 1.1 absolute for h keep [Host=h] none",
        "GET https://h/ HTTP/1.1\r\n" HOST "\r\n")
REQUEST(absolute_target_of_another_scheme_is_refused, "RFC 9112, 3.2.2", OPEN,
        "well-formed, and nothing this server has",
        "fault TARGET",
        "GET ftp://h/a HTTP/1.1\r\n" HOST "\r\n")
REQUEST(absolute_target_of_a_file_is_refused, "RFC 9112, 3.2.2", OPEN,
        "well-formed, and nothing this server has",
        "fault TARGET",
        "GET file:///etc/passwd HTTP/1.1\r\n" HOST "\r\n")
REQUEST(asterisk_is_for_options, "RFC 9112, 3.2.4", ACCEPT, "the server as a whole",
        "OPTIONS * 1.1 asterisk keep [Host=h] none",
        "OPTIONS * HTTP/1.1\r\n" HOST "\r\n")
REQUEST(asterisk_is_for_nothing_else, "RFC 9112, 3.2.4", REFUSE, "this form is for OPTIONS only",
        "fault TARGET",
        "GET * HTTP/1.1\r\n" HOST "\r\n")
REQUEST(asterisk_with_a_query_is_refused, "RFC 9112, 3.2", REFUSE, "none of the four forms",
        "fault TARGET",
        "OPTIONS *?a HTTP/1.1\r\n" HOST "\r\n")
REQUEST(connect_takes_host_and_port, "RFC 9110, 9.3.6", OPEN, "most origin servers have no CONNECT",
        "CONNECT h:443 1.1 authority keep [Host=h:443] none",
        "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n")
REQUEST(connect_without_port_is_refused, "RFC 9112, 3.2.3", REFUSE, "host and port",
        "fault TARGET",
        "CONNECT h HTTP/1.1\r\n" HOST "\r\n")
REQUEST(connect_with_an_empty_port_is_refused, "RFC 9110, 9.3.6", REFUSE,
        "an empty port is rejected",
        "fault TARGET",
        "CONNECT h: HTTP/1.1\r\n" HOST "\r\n")
REQUEST(connect_to_port_0_is_refused, "RFC 9110, 9.3.6", REFUSE, "an invalid port is rejected",
        "fault TARGET",
        "CONNECT h:0 HTTP/1.1\r\n" HOST "\r\n")
REQUEST(connect_to_a_port_too_large_is_refused, "RFC 9110, 9.3.6", REFUSE,
        "an invalid port is rejected",
        "fault TARGET",
        "CONNECT h:65536 HTTP/1.1\r\n" HOST "\r\n")
REQUEST(connect_to_a_path_is_refused, "RFC 9112, 3.2.3", REFUSE, "host and port",
        "fault TARGET",
        "CONNECT /a HTTP/1.1\r\n" HOST "\r\n")
REQUEST(connect_to_a_url_is_refused, "RFC 9112, 3.2.3", REFUSE, "host and port",
        "fault TARGET",
        "CONNECT http://h/ HTTP/1.1\r\n" HOST "\r\n")
REQUEST(connect_with_a_body_is_refused, "RFC 9110, 9.3.6", OPEN,
        "it has no content; no rule for the server",
        "fault CONNECT_BODY",
        "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nContent-Length: 1\r\n\r\nx")
REQUEST(connect_with_a_chunked_body_is_refused, "RFC 9110, 9.3.6", OPEN,
        "it has no content; no rule for the server",
        "fault CONNECT_BODY",
        "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
REQUEST(authority_target_is_for_connect_only, "RFC 9112, 3.2.3", REFUSE,
        "this form is for CONNECT only",
        "fault TARGET",
        "GET 127.0.0.1:443 HTTP/1.1\r\n" HOST "\r\n")
REQUEST(name_and_port_as_target_are_refused, "RFC 9112, 3.2.3", OPEN,
        "can be read as a URI of the scheme h",
        "fault TARGET",
        "GET h:443 HTTP/1.1\r\n" HOST "\r\n")

/* ---- Versions ------------------------------------------------------------ */

REQUEST(request_in_1_0_closes, "RFC 9112, 9.3", ACCEPT, "no Host, and the connection closes",
        "GET / 1.0 close none",
        "GET / HTTP/1.0\r\n\r\n")
REQUEST(version_1_2_is_read_as_1_1, "RFC 9110, 2.5", ACCEPT,
        "a higher minor version is processed as 1.1",
        "GET / 1.1 keep [Host=h] none",
        "GET / HTTP/1.2\r\n" HOST "\r\n")
REQUEST(version_1_9_is_read_as_1_1, "RFC 9110, 2.5", ACCEPT,
        "a higher minor version is processed as 1.1",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'a'",
        "POST /echo HTTP/1.9\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")
REQUEST(version_1_2_needs_a_host, "RFC 9112, 3.2", REFUSE, "processed as 1.1, so Host is missing",
        "fault HOST_MISSING",
        "GET / HTTP/1.2\r\n\r\n")
REQUEST(request_without_version_is_refused, "RFC 9112, 3", REFUSE,
        "HTTP/0.9 is not part of it any more",
        "fault VERSION",
        "GET /\r\n" HOST "\r\n")
REQUEST(version_0_9_is_refused, "RFC 9110, 2.5", OPEN,
        "505 is for any major version a server will not serve",
        "fault VERSION",
        "GET / HTTP/0.9\r\n" HOST "\r\n")
REQUEST(version_2_0_is_refused, "RFC 9110, 2.5", OPEN,
        "505 is for any major version a server will not serve",
        "fault VERSION",
        "GET / HTTP/2.0\r\n" HOST "\r\n")
REQUEST(preface_of_http_2_is_refused, "RFC 9112, 3.2.4", REFUSE,
        "made to be refused by HTTP/1; a server that also speaks HTTP/2 switches to it",
        "fault VERSION",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
REQUEST(version_1_10_is_refused, "RFC 9112, 2.3", REFUSE, "one digit, a dot, one digit",
        "fault VERSION",
        "GET / HTTP/1.10\r\n" HOST "\r\n")
REQUEST(version_01_1_is_refused, "RFC 9112, 2.3", REFUSE, "one digit, a dot, one digit",
        "fault VERSION",
        "GET / HTTP/01.1\r\n" HOST "\r\n")
REQUEST(version_1_is_refused, "RFC 9112, 2.3", REFUSE, "one digit, a dot, one digit",
        "fault VERSION",
        "GET / HTTP/1\r\n" HOST "\r\n")
REQUEST(version_1_dot_is_refused, "RFC 9112, 2.3", REFUSE, "one digit, a dot, one digit",
        "fault VERSION",
        "GET / HTTP/1.\r\n" HOST "\r\n")
REQUEST(version_of_a_letter_is_refused, "RFC 9112, 2.3", REFUSE, "one digit, a dot, one digit",
        "fault VERSION",
        "GET / HTTP/1.x\r\n" HOST "\r\n")
REQUEST(version_with_a_sign_is_refused, "RFC 9112, 2.3", REFUSE, "one digit, a dot, one digit",
        "fault VERSION",
        "GET / HTTP/+1.1\r\n" HOST "\r\n")
REQUEST(version_with_more_after_it_is_refused, "RFC 9112, 2.3", REFUSE,
        "one digit, a dot, one digit",
        "fault VERSION",
        "GET / HTTP/1.1a\r\n" HOST "\r\n")
REQUEST(version_with_a_comma_is_refused, "RFC 9112, 2.3", REFUSE, "one digit, a dot, one digit",
        "fault VERSION",
        "GET / HTTP/1,1\r\n" HOST "\r\n")
REQUEST(version_in_small_letters_is_refused, "RFC 9112, 2.3", REFUSE, "HTTP is in capitals",
        "fault VERSION",
        "GET / http/1.1\r\n" HOST "\r\n")
REQUEST(version_with_another_protocol_is_refused, "RFC 9112, 2.3", REFUSE, "HTTP is HTTP",
        "fault VERSION",
        "GET / HTTPS/1.1\r\n" HOST "\r\n")
REQUEST(version_with_a_space_is_refused, "RFC 9112, 2.3", REFUSE, "no space in it",
        "fault VERSION",
        "GET / HTTP/ 1.1\r\n" HOST "\r\n")

/* ---- Fields -------------------------------------------------------------- */

REQUEST(white_space_around_a_value_is_left_out, "RFC 9112, 5", ACCEPT,
        "OWS is not part of the value",
        "GET / 1.1 keep [Host=h] [A=b \\x09 c] none",
        "GET / HTTP/1.1\r\n" HOST "A: \t b \t c \t\r\n\r\n")
REQUEST(value_without_space_before_it_is_read, "RFC 9112, 5", ACCEPT, "OWS is optional",
        "GET / 1.1 keep [Host=h] [A=b] none",
        "GET / HTTP/1.1\r\nHost:h\r\nA:b\r\n\r\n")
REQUEST(empty_value_is_read, "RFC 9110, 5.5", ACCEPT, "a value may be empty",
        "GET / 1.1 keep [Host=h] [A=] [B=] none",
        "GET / HTTP/1.1\r\n" HOST "A:\r\nB: \t \r\n\r\n")
REQUEST(value_with_bytes_above_ascii_is_read, "RFC 9110, 5.5", ACCEPT, "obs-text is opaque data",
        "GET / 1.1 keep [Host=h] [A=\\xC3\\xA4\\xFF] none",
        "GET / HTTP/1.1\r\n" HOST "A: \303\244\377\r\n\r\n")
REQUEST(value_with_colons_and_quotes_is_read, "RFC 9110, 5.5", ACCEPT, "visible characters",
        "GET / 1.1 keep [Host=h] [A=:\"b\":] none",
        "GET / HTTP/1.1\r\n" HOST "A: :\"b\":\r\n\r\n")
REQUEST(name_of_all_token_characters_is_read, "RFC 9110, 5.6.2", ACCEPT,
        "every character of a token",
        "GET / 1.1 keep [Host=h] [!#$%&'*+-.^_`|~09azAZ=1] none",
        "GET / HTTP/1.1\r\n" HOST "!#$%&'*+-.^_`|~09azAZ: 1\r\n\r\n")
REQUEST(names_have_no_case, "RFC 9110, 5.1", ACCEPT, "hOsT is Host",
        "GET / 1.1 keep [hOsT=h] none",
        "GET / HTTP/1.1\r\nhOsT: h\r\n\r\n")
REQUEST(fields_of_one_name_are_kept_in_order, "RFC 9110, 5.3", ACCEPT, "their order has a meaning",
        "GET / 1.1 keep [Host=h] [A=1] [B=2] [a=3] none",
        "GET / HTTP/1.1\r\n" HOST "A: 1\r\nB: 2\r\na: 3\r\n\r\n")
REQUEST(unknown_fields_are_read, "RFC 9110, 5.1", ACCEPT, "what is not known is ignored",
        "GET / 1.1 keep [Host=h] [X-Nobody-Knows=1] none",
        "GET / HTTP/1.1\r\n" HOST "X-Nobody-Knows: 1\r\n\r\n")
REQUEST(name_with_an_underscore_is_another_field, "RFC 9110, 5.1", ACCEPT,
        "Content_Length frames nothing",
        "POST / 1.1 keep [Host=h] [Content_Length=5] none",
        "POST / HTTP/1.1\r\n" HOST "Content_Length: 5\r\n\r\n")
REQUEST(value_of_1000_bytes_is_read, "RFC 9110, 5.4", ACCEPT, "no limit this low is of use",
        "GET / 1.1 keep [Host=h] [A=" X1000("b") "] none",
        "GET / HTTP/1.1\r\n" HOST "A: " X1000("b") "\r\n\r\n")
REQUEST(hundred_fields_are_read, "RFC 9110, 5.4", OPEN, "the limit is the server's",
        "GET / 1.1 keep [Host=h]" X100(" [A=b]") " none",
        "GET / HTTP/1.1\r\n" HOST X100("A: b\r\n") "\r\n")
REQUEST(two_hundred_fields_are_refused, "RFC 9110, 5.4", OPEN,
        "the limit is the server's; a 4xx then",
        "limit FIELDS_TOO_MANY",
        "GET / HTTP/1.1\r\n" HOST X100("A: b\r\nC: d\r\n") "\r\n")
REQUEST(field_of_9000_bytes_is_refused, "RFC 9110, 5.4", OPEN,
        "the limit is the server's; a 4xx then",
        "limit LINE_TOO_LONG",
        "GET / HTTP/1.1\r\n" HOST "A: " X1000("bcdefghij") "\r\n\r\n")
REQUEST(space_before_the_colon_is_refused, "RFC 9112, 5.1", REFUSE, "answered by 400, always",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "A : b\r\n\r\n")
REQUEST(tab_before_the_colon_is_refused, "RFC 9112, 5.1", REFUSE, "answered by 400, always",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "A\t: b\r\n\r\n")
REQUEST(space_before_the_colon_of_a_length_is_refused, "RFC 9112, 5.1", REFUSE,
        "answered by 400, always",
        "fault FIELD_NAME",
        "POST /echo HTTP/1.1\r\n" HOST "Content-Length : 5\r\n\r\nhello")
REQUEST(space_before_the_colon_of_a_coding_is_refused, "RFC 9112, 5.1", REFUSE,
        "answered by 400, always",
        "fault FIELD_NAME",
        "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n")
REQUEST(space_before_the_colon_of_host_is_refused, "RFC 9112, 5.1", REFUSE,
        "answered by 400, always",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\nHost : h\r\n\r\n")
REQUEST(empty_name_is_refused, "RFC 9112, 5", REFUSE, "a name is a token",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST ": b\r\n\r\n")
REQUEST(name_with_a_space_is_refused, "RFC 9112, 5", REFUSE, "a name is a token",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "A B: c\r\n\r\n")
REQUEST(name_with_nul_is_refused, "RFC 9112, 5", REFUSE, "a name is a token",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "A\000: c\r\n\r\n")
REQUEST(name_with_a_control_character_is_refused, "RFC 9112, 5", REFUSE, "a name is a token",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "A\001B: c\r\n\r\n")
REQUEST(name_with_delete_is_refused, "RFC 9112, 5", REFUSE, "a name is a token",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "A\177: c\r\n\r\n")
REQUEST(name_with_a_byte_above_ascii_is_refused, "RFC 9112, 5", REFUSE, "a name is a token",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "\303\204: c\r\n\r\n")
REQUEST(name_in_quotes_is_refused, "RFC 9112, 5", REFUSE, "a name is a token",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "\"A\": c\r\n\r\n")
REQUEST(name_in_brackets_is_refused, "RFC 9112, 5", REFUSE, "a name is a token",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "[A]: c\r\n\r\n")
REQUEST(name_with_a_slash_is_refused, "RFC 9112, 5", REFUSE, "a name is a token",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "A/B: c\r\n\r\n")
REQUEST(name_with_an_equals_sign_is_refused, "RFC 9112, 5", REFUSE, "a name is a token",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "A=B: c\r\n\r\n")
REQUEST(name_with_a_comma_is_refused, "RFC 9112, 5", REFUSE, "a name is a token",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "A,B: c\r\n\r\n")
REQUEST(field_without_colon_is_refused, "RFC 9112, 5", REFUSE, "a colon ends the name",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "A\r\n\r\n")
REQUEST(name_with_cr_is_refused, "RFC 9112, 2.2", REFUSE, "invalid, or a space in a name",
        "fault FIELD_NAME",
        "GET / HTTP/1.1\r\n" HOST "A\rB: c\r\n\r\n")
REQUEST(folded_field_is_refused, "RFC 9112, 5.2", OPEN, "refused by 400, or replaced by spaces",
        "fault FOLDED",
        "GET / HTTP/1.1\r\n" HOST "A: b\r\n c\r\n\r\n")
REQUEST(field_folded_by_a_tab_is_refused, "RFC 9112, 5.2", OPEN,
        "refused by 400, or replaced by spaces",
        "fault FOLDED",
        "GET / HTTP/1.1\r\n" HOST "A: b\r\n\tc\r\n\r\n")
REQUEST(folded_host_is_refused, "RFC 9112, 5.2", OPEN, "refused by 400, or replaced by spaces",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost:\r\n h\r\n\r\n")
REQUEST(space_before_the_first_field_is_refused, "RFC 9112, 2.2", OPEN,
        "refused, or the line is skipped",
        "fault FOLDED",
        "GET / HTTP/1.1\r\n A: b\r\n" HOST "\r\n")
REQUEST(field_ended_by_lf_is_refused, "RFC 9112, 2.2", OPEN, "LF alone may count as a line end",
        "fault LINE_END",
        "GET / HTTP/1.1\r\n" HOST "A: b\nC: d\r\n\r\n")
REQUEST(head_ended_by_lf_is_refused, "RFC 9112, 2.2", OPEN, "LF alone may count as a line end",
        "fault LINE_END",
        "GET / HTTP/1.1\r\n" HOST "\n")
REQUEST(field_with_a_cr_inside_is_refused, "RFC 9112, 2.2", OPEN,
        "a bare CR is invalid, or a space",
        "fault LINE_END",
        "GET / HTTP/1.1\r\n" HOST "A: b\rC: d\r\n\r\n")
REQUEST(line_that_begins_with_cr_is_refused, "RFC 9112, 2.2", OPEN,
        "a bare CR is invalid, or a space",
        "fault LINE_END",
        "GET / HTTP/1.1\r\n" HOST "\rA: b\r\n\r\n")
REQUEST(field_ended_by_two_crs_is_refused, "RFC 9112, 2.2", OPEN,
        "a bare CR is invalid, or a space",
        "fault LINE_END",
        "GET / HTTP/1.1\r\n" HOST "A: b\r\r\n\r\n")
REQUEST(value_with_nul_is_refused, "RFC 9110, 5.5", OPEN, "refused, or replaced by a space",
        "fault FIELD_VALUE",
        "GET / HTTP/1.1\r\n" HOST "A: b\000c\r\n\r\n")
REQUEST(value_with_a_control_character_is_refused, "RFC 9110, 5.5", OPEN,
        "invalid, but may be kept",
        "fault FIELD_VALUE",
        "GET / HTTP/1.1\r\n" HOST "A: b\001c\r\n\r\n")
REQUEST(value_with_an_escape_character_is_refused, "RFC 9110, 5.5", OPEN,
        "invalid, but may be kept",
        "fault FIELD_VALUE",
        "GET / HTTP/1.1\r\n" HOST "A: \033[31m\r\n\r\n")
REQUEST(value_with_a_form_feed_is_refused, "RFC 9110, 5.5", OPEN, "invalid, but may be kept",
        "fault FIELD_VALUE",
        "GET / HTTP/1.1\r\n" HOST "A: b\014\r\n\r\n")
REQUEST(value_with_delete_is_refused, "RFC 9110, 5.5", OPEN, "invalid, but may be kept",
        "fault FIELD_VALUE",
        "GET / HTTP/1.1\r\n" HOST "A: b\177\r\n\r\n")
REQUEST(long_value_with_a_late_control_character_is_refused, "RFC 9110, 5.5", OPEN,
        "invalid, but may be kept",
        "fault FIELD_VALUE",
        "GET / HTTP/1.1\r\n" HOST "A: 0123456789abcdef\t0123456789abcde\037f\r\n\r\n")
REQUEST(content_type_given_twice_is_refused, "RFC 9110, 5.3", OPEN,
        "a sender must not; no rule for the server",
        "fault FIELD_TWICE",
        "GET / HTTP/1.1\r\n" HOST "Content-Type: a/b\r\nContent-Type: a/b\r\n\r\n")
REQUEST(authorization_given_twice_is_refused, "RFC 9110, 5.3", OPEN,
        "a sender must not; no rule for the server",
        "fault FIELD_TWICE",
        "GET / HTTP/1.1\r\n" HOST "Authorization: a\r\nAuthorization: b\r\n\r\n")
REQUEST(user_agent_given_twice_is_refused, "RFC 9110, 5.3", OPEN,
        "a sender must not; no rule for the server",
        "fault FIELD_TWICE",
        "GET / HTTP/1.1\r\n" HOST "User-Agent: a\r\nUser-Agent: b\r\n\r\n")

/* ---- Host ---------------------------------------------------------------- */

REQUEST(missing_host_is_refused, "RFC 9112, 3.2", REFUSE,
        "HTTP/1.1 without Host is answered by 400",
        "fault HOST_MISSING",
        "GET / HTTP/1.1\r\nA: b\r\n\r\n")
REQUEST(host_given_twice_is_refused, "RFC 9112, 3.2", REFUSE, "two Hosts are answered by 400",
        "fault HOST_TWICE",
        "GET / HTTP/1.1\r\n" HOST HOST "\r\n")
REQUEST(two_hosts_that_differ_are_refused, "RFC 9112, 3.2", REFUSE, "two Hosts are answered by 400",
        "fault HOST_TWICE",
        "GET / HTTP/1.1\r\n" HOST "Host: g\r\n\r\n")
REQUEST(host_given_twice_in_1_0_is_refused, "RFC 9112, 3.2", REFUSE,
        "two Hosts are answered by 400",
        "fault HOST_TWICE",
        "GET / HTTP/1.0\r\n" HOST "hOST: g\r\n\r\n")
REQUEST(host_with_a_port_is_read, "RFC 9110, 7.2", ACCEPT, "host and port",
        "GET / 1.1 keep [Host=a.b-c_d.:65535] none",
        "GET / HTTP/1.1\r\nHost: a.b-c_d.:65535\r\n\r\n")
REQUEST(host_in_capitals_is_read, "RFC 3986, 3.2.2", ACCEPT, "hosts have no case",
        "GET / 1.1 keep [Host=WWW.Example.COM] none",
        "GET / HTTP/1.1\r\nHost: WWW.Example.COM\r\n\r\n")
REQUEST(host_with_an_empty_port_is_read, "RFC 9110, 7.2", ACCEPT, "a port may be empty",
        "GET / 1.1 keep [Host=h:] none",
        "GET / HTTP/1.1\r\nHost: h:\r\n\r\n")
REQUEST(host_that_is_an_ipv4_address_is_read, "RFC 9110, 7.2", ACCEPT, "an address",
        "GET / 1.1 keep [Host=127.0.0.1:8080] none",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n")
REQUEST(host_that_is_an_ipv6_address_is_read, "RFC 9110, 7.2", ACCEPT, "an address",
        "GET / 1.1 keep [Host=[::1]:80] none",
        "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n")
REQUEST(host_after_other_fields_is_read, "RFC 9110, 7.2", ACCEPT,
        "first is where it ought to be, not must",
        "GET / 1.1 keep [A=b] [Host=h] none",
        "GET / HTTP/1.1\r\nA: b\r\n" HOST "\r\n")
REQUEST(empty_host_is_refused, "RFC 9110, 7.2", OPEN,
        "for targets without an authority; an http URI has one",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost:\r\n\r\n")
REQUEST(host_of_a_port_alone_is_refused, "RFC 9110, 7.2", OPEN, "a registered name may be empty",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: :80\r\n\r\n")
REQUEST(list_of_hosts_is_refused, "RFC 3986, 3.2.2", OPEN, "a comma may be part of a name",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n")
REQUEST(host_with_an_escape_is_refused, "RFC 3986, 3.2.2", OPEN,
        "well-formed, and no name that DNS has",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a%62\r\n\r\n")
REQUEST(host_with_a_port_too_large_is_refused, "RFC 3986, 3.2.3", OPEN, "digits, and no port",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n")
REQUEST(host_of_a_short_address_is_refused, "RFC 3986, 7.4", OPEN,
        "a name, or an address in disguise",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: 127.1\r\n\r\n")
REQUEST(host_of_a_future_address_is_refused, "RFC 3986, 3.2.2", OPEN,
        "well-formed, and nothing there is",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: [v1.a]\r\n\r\n")
REQUEST(host_with_a_zone_is_refused, "RFC 6874, 2", OPEN,
        "a zone has a meaning on its own machine only",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: [fe80::1%25e]\r\n\r\n")
REQUEST(host_with_a_space_is_refused, "RFC 9112, 3.2", REFUSE, "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a b\r\n\r\n")
REQUEST(host_with_a_tab_is_refused, "RFC 9112, 3.2", REFUSE, "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a\tb\r\n\r\n")
REQUEST(host_with_a_path_is_refused, "RFC 9112, 3.2", REFUSE, "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n")
REQUEST(host_with_a_query_is_refused, "RFC 9112, 3.2", REFUSE, "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a?b\r\n\r\n")
REQUEST(host_with_a_fragment_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a#b\r\n\r\n")
REQUEST(host_with_user_information_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n")
REQUEST(host_with_a_scheme_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: http://a\r\n\r\n")
REQUEST(host_with_a_signed_port_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a:+80\r\n\r\n")
REQUEST(host_with_a_port_of_letters_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a:http\r\n\r\n")
REQUEST(host_with_two_ports_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a:80:80\r\n\r\n")
REQUEST(host_with_a_byte_above_ascii_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: \303\244\r\n\r\n")
REQUEST(host_with_a_wrong_escape_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a%zz\r\n\r\n")
REQUEST(host_with_a_backslash_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: a\\b\r\n\r\n")
REQUEST(host_in_quotes_is_refused, "RFC 9112, 3.2", REFUSE, "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: \"a\"\r\n\r\n")
REQUEST(host_in_angles_is_refused, "RFC 9112, 3.2", REFUSE, "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: <a>\r\n\r\n")
REQUEST(host_with_nul_is_refused, "RFC 9112, 3.2", REFUSE, "an invalid Host is answered by 400",
        "fault FIELD_VALUE",
        "GET / HTTP/1.1\r\nHost: a\000b\r\n\r\n")
REQUEST(host_with_an_open_bracket_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n")
REQUEST(host_with_a_name_in_brackets_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: [a]\r\n\r\n")
REQUEST(host_with_a_bad_ipv6_address_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: [::g]\r\n\r\n")
REQUEST(host_with_more_after_a_bracket_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: [::1]a\r\n\r\n")
REQUEST(host_that_is_an_ipv6_address_without_brackets_is_refused, "RFC 9112, 3.2", REFUSE,
        "an invalid Host is answered by 400",
        "fault HOST",
        "GET / HTTP/1.1\r\nHost: ::1\r\n\r\n")

/* ---- Content-Length ------------------------------------------------------ */

REQUEST(body_by_length_is_read, "RFC 9112, 6.3", ACCEPT, "as many bytes as it says",
        "POST /echo 1.1 keep [Host=h] [Content-Length=5] length 'hello'",
        POST "Content-Length: 5\r\n\r\nhello")
REQUEST(body_by_length_in_1_0_is_read, "RFC 9112, 6.3", ACCEPT, "as many bytes as it says",
        "POST /echo 1.0 close [Content-Length=5] length 'hello'",
        "POST /echo HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello")
REQUEST(length_0_means_no_body, "RFC 9112, 6.3", ACCEPT, "a body of no bytes",
        "POST /echo 1.1 keep [Host=h] [Content-Length=0] none",
        POST "Content-Length: 0\r\n\r\n")
REQUEST(length_with_leading_zeros_is_decimal, "RFC 9110, 8.6", ACCEPT, "digits are decimal",
        "POST /echo 1.1 keep [Host=h] [CONTENT-LENGTH=0010] length '0123456789'",
        POST "CONTENT-LENGTH: 0010\r\n\r\n0123456789")
REQUEST(length_of_two_zeros_is_0, "RFC 9110, 8.6", ACCEPT, "digits are decimal",
        "POST /echo 1.1 keep [Host=h] [Content-Length=00] none",
        POST "Content-Length: 00\r\n\r\n")
REQUEST(length_among_white_space_is_read, "RFC 9112, 5", ACCEPT, "OWS is not part of the value",
        "POST /echo 1.1 keep [Host=h] [Content-Length=5] length 'hello'",
        POST "Content-Length: \t5 \t\r\n\r\nhello")
REQUEST(request_without_framing_has_no_body, "RFC 9112, 6.3", ACCEPT,
        "the next bytes are another request",
        "POST / 1.1 keep [Host=h] none +'GET / HTTP/1.1\\x0D\\x0AHost: h\\x0D\\x0A\\x0D\\x0A'",
        "POST / HTTP/1.1\r\n" HOST "\r\nGET / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(get_with_a_body_is_read, "RFC 9110, 9.3.1", OPEN, "without a meaning, and some refuse it",
        "GET / 1.1 keep [Host=h] [Content-Length=5] length 'hello'",
        "GET / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello")
REQUEST(two_lengths_that_differ_are_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH_TWICE",
        POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")
REQUEST(list_of_lengths_that_differ_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: 5, 6\r\n\r\nhello!")
REQUEST(length_beside_an_invalid_one_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: 5\r\nContent-Length: x\r\n\r\nhello")
REQUEST(two_equal_lengths_are_refused, "RFC 9110, 8.6", OPEN, "refused, or taken as one",
        "fault LENGTH_TWICE",
        POST "Content-Length: 5\r\ncontent-length: 5\r\n\r\nhello")
REQUEST(list_of_lengths_is_refused, "RFC 9110, 8.6", OPEN, "refused, or taken as one",
        "fault LENGTH",
        POST "Content-Length: 5, 5\r\n\r\nhello")
REQUEST(length_before_an_empty_element_is_refused, "RFC 9110, 8.6", OPEN,
        "refused, or taken as one",
        "fault LENGTH",
        POST "Content-Length: 5,\r\n\r\nhello")
REQUEST(empty_length_is_refused, "RFC 9112, 6.3", REFUSE, "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length:\r\n\r\n")
REQUEST(length_with_plus_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: +5\r\n\r\nhello")
REQUEST(length_with_minus_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: -5\r\n\r\nhello")
REQUEST(length_of_minus_0_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: -0\r\n\r\n")
REQUEST(length_with_an_underscore_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: 1_0\r\n\r\n0123456789")
REQUEST(hexadecimal_length_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: 0x5\r\n\r\nhello")
REQUEST(length_with_a_fraction_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: 5.0\r\n\r\nhello")
REQUEST(length_with_an_exponent_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: 5e0\r\n\r\nhello")
REQUEST(length_of_words_is_refused, "RFC 9112, 6.3", REFUSE, "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: 5 5\r\n\r\nhello")
REQUEST(length_of_letters_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: five\r\n\r\nhello")
REQUEST(length_in_quotes_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: \"5\"\r\n\r\nhello")
REQUEST(length_with_a_parameter_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: 5;a\r\n\r\nhello")
REQUEST(length_in_other_digits_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault LENGTH",
        POST "Content-Length: \331\245\r\n\r\nhello")
REQUEST(length_after_a_vertical_tab_is_refused, "RFC 9112, 6.3", REFUSE,
        "an invalid length is answered by 400",
        "fault FIELD_VALUE",
        POST "Content-Length: \0135\r\n\r\nhello")
REQUEST(length_with_nul_is_refused, "RFC 9112, 6.3", REFUSE, "an invalid length is answered by 400",
        "fault FIELD_VALUE",
        POST "Content-Length: 5\0000\r\n\r\nhello")
REQUEST(length_that_wraps_around_is_refused, "RFC 9110, 8.6", REFUSE,
        "an overflow must not make 5 of it",
        "fault LENGTH",
        POST "Content-Length: 18446744073709551621\r\n\r\nhello")
REQUEST(length_of_100_digits_is_refused, "RFC 9110, 8.6", REFUSE,
        "an overflow must not make anything of it",
        "fault LENGTH",
        POST "Content-Length: " X10("9999999999") "\r\n\r\nhello")
REQUEST(length_of_2_to_the_63_is_refused, "RFC 9110, 8.6", OPEN,
        "a limit is the server's; 413 then",
        "fault LENGTH",
        POST "Content-Length: 9223372036854775808\r\n\r\n")
REQUEST(length_of_4_gib_is_refused, "RFC 9110, 15.5.14", OPEN, "a limit is the server's; 413 then",
        "POST /echo 1.1 keep [Host=h] [Content-Length=4294967301] length limit BODY_TOO_LARGE",
        POST "Content-Length: 4294967301\r\n\r\nhello")

/* ---- Transfer-Encoding --------------------------------------------------- */

REQUEST(coding_is_read, "RFC 9112, 7.1", ACCEPT, "every recipient decodes chunked",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello'",
        POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
REQUEST(coding_in_capitals_is_read, "RFC 9112, 7", ACCEPT, "names of codings have no case",
        "POST /echo 1.1 keep [Host=h] [TRANSFER-ENCODING=ChUnKeD] chunked 'a'",
        POST "TRANSFER-ENCODING: ChUnKeD\r\n\r\n1\r\na\r\n0\r\n\r\n")
REQUEST(coding_among_white_space_is_read, "RFC 9112, 5", ACCEPT, "OWS is not part of the value",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'a'",
        POST "Transfer-Encoding: \tchunked \t\r\n\r\n1\r\na\r\n0\r\n\r\n")
REQUEST(coding_after_an_empty_element_is_read, "RFC 9110, 5.6.1", ACCEPT,
        "empty elements of a list are ignored",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=, chunked] chunked 'a'",
        POST "Transfer-Encoding: , chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")
REQUEST(coding_before_an_empty_element_is_read, "RFC 9110, 5.6.1", ACCEPT,
        "empty elements of a list are ignored",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked,] chunked 'a'",
        POST "Transfer-Encoding: chunked,\r\n\r\n1\r\na\r\n0\r\n\r\n")
REQUEST(coding_among_empty_elements_is_read, "RFC 9110, 5.6.1", ACCEPT,
        "empty elements of a list are ignored",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=,\\x09,chunked , ,] chunked 'a'",
        POST "Transfer-Encoding: ,\t,chunked , ,\r\n\r\n1\r\na\r\n0\r\n\r\n")
REQUEST(coding_after_an_empty_field_is_read, "RFC 9110, 5.3", ACCEPT,
        "two fields are one list, with an empty element",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=] [Transfer-Encoding=chunked] chunked 'a'",
        POST "Transfer-Encoding:\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")
REQUEST(get_with_chunks_is_read, "RFC 9110, 9.3.1", OPEN, "without a meaning, and some refuse it",
        "GET / 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'a'",
        "GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")
REQUEST(length_and_coding_is_refused, "RFC 9112, 6.1", OPEN,
        "refused, or read by the coding and then closed",
        "fault LENGTH_AND_CODING",
        POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
REQUEST(coding_and_length_is_refused, "RFC 9112, 6.1", OPEN,
        "refused, or read by the coding and then closed",
        "fault LENGTH_AND_CODING",
        POST "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n")
REQUEST(coding_in_1_0_is_refused, "RFC 9112, 6.1", OPEN,
        "faulty framing: refused, or the last request",
        "fault CODING_IN_1_0",
        "POST /echo HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
REQUEST(folded_coding_is_refused, "RFC 9112, 5.2", OPEN, "refused by 400, or replaced by spaces",
        "fault FOLDED",
        POST "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n")
REQUEST(coding_other_than_chunked_is_refused, "RFC 9112, 6.3", REFUSE, "400 if chunked is not last",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding: gzip\r\n\r\nhello")
REQUEST(coding_whose_last_is_not_chunked_is_refused, "RFC 9112, 6.3", REFUSE,
        "400 if chunked is not last",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n")
REQUEST(coding_identity_is_refused, "RFC 9112, 6.3", REFUSE, "400 if chunked is not last",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding: identity\r\n\r\nhello")
REQUEST(coding_before_identity_is_refused, "RFC 9112, 6.3", REFUSE, "400 if chunked is not last",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n")
REQUEST(empty_coding_is_refused, "RFC 9112, 6.3", REFUSE, "400 if chunked is not last",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding:\r\n\r\n")
REQUEST(coding_of_a_comma_is_refused, "RFC 9112, 6.3", REFUSE, "400 if chunked is not last",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding: ,\r\n\r\n")
REQUEST(coding_spread_over_two_fields_is_refused, "RFC 9112, 6.3", REFUSE,
        "400 if chunked is not last",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n")
REQUEST(coding_other_beside_a_length_is_refused, "RFC 9112, 6.3", REFUSE,
        "400 if chunked is not last",
        "fault LENGTH_AND_CODING",
        POST "Transfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello")
REQUEST(coding_below_chunked_is_refused, "RFC 9112, 6.1", REFUSE,
        "501 for a coding that is not known",
        "fault CODING",
        POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
REQUEST(coding_unknown_below_chunked_is_refused, "RFC 9112, 6.1", REFUSE,
        "501 for a coding that is not known",
        "fault CODING",
        POST "Transfer-Encoding: cow, chunked\r\n\r\n0\r\n\r\n")
REQUEST(coding_identity_before_chunked_is_refused, "RFC 9112, 6.1", REFUSE,
        "501 for a coding that is not known",
        "fault CODING",
        POST "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
REQUEST(chunked_twice_in_a_list_is_refused, "RFC 9112, 6.1", REFUSE, "chunked is applied once",
        "fault CODING_TWICE",
        POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n")
REQUEST(chunked_twice_in_two_fields_is_refused, "RFC 9112, 6.1", REFUSE, "chunked is applied once",
        "fault CODING_TWICE",
        POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
REQUEST(coding_with_an_x_before_it_is_refused, "RFC 9112, 6.3", REFUSE, "another coding",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n")
REQUEST(coding_cut_short_is_refused, "RFC 9112, 6.3", REFUSE, "another coding",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding: chunk\r\n\r\n0\r\n\r\n")
REQUEST(coding_with_a_parameter_is_refused, "RFC 9112, 7.1", REFUSE, "chunked has no parameters",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n")
REQUEST(coding_of_two_words_is_refused, "RFC 9112, 7", REFUSE, "a coding is a token",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding: chunked gzip\r\n\r\n0\r\n\r\n")
REQUEST(coding_in_quotes_is_refused, "RFC 9112, 7", REFUSE, "a coding is a token",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n")
REQUEST(coding_with_a_long_s_is_refused, "RFC 9112, 7", REFUSE, "U+017F is not a letter of a token",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding: chunked\305\277\r\n\r\n0\r\n\r\n")
REQUEST(coding_with_a_kelvin_sign_is_refused, "RFC 9112, 7", REFUSE,
        "U+212A is not a letter of a token",
        "fault CODING_NOT_LAST",
        POST "Transfer-Encoding: chun\342\204\252ed\r\n\r\n0\r\n\r\n")
REQUEST(coding_after_a_vertical_tab_is_refused, "RFC 9112, 7", REFUSE, "a coding is a token",
        "fault FIELD_VALUE",
        POST "Transfer-Encoding:\013chunked\r\n\r\n0\r\n\r\n")
REQUEST(coding_with_nul_is_refused, "RFC 9112, 7", REFUSE, "a coding is a token",
        "fault FIELD_VALUE",
        POST "Transfer-Encoding: chunked\000\r\n\r\n0\r\n\r\n")
REQUEST(te_of_trailers_is_read, "RFC 9110, 10.1.4", ACCEPT,
        "says what the client takes, frames nothing",
        "GET / 1.1 keep [Host=h] [TE=trailers] [Connection=TE] none",
        "GET / HTTP/1.1\r\n" HOST "TE: trailers\r\nConnection: TE\r\n\r\n")

/* ---- Chunks -------------------------------------------------------------- */

REQUEST(chunks_of_a_request_are_joined, "RFC 9112, 7.1", ACCEPT, "data of several chunks",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello world'",
        CHUNKS "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")
REQUEST(chunked_body_of_nothing_is_read, "RFC 9112, 7.1", ACCEPT, "the last chunk alone",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked",
        CHUNKS "0\r\n\r\n")
REQUEST(sizes_are_hexadecimal_in_capitals, "RFC 9112, 7.1", ACCEPT, "HEXDIG",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '0123456789'",
        CHUNKS "A\r\n0123456789\r\n0\r\n\r\n")
REQUEST(sizes_are_hexadecimal_in_small_letters, "RFC 9112, 7.1", ACCEPT, "HEXDIG has no case",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '0123456789'",
        CHUNKS "a\r\n0123456789\r\n0\r\n\r\n")
REQUEST(sizes_may_have_leading_zeros, "RFC 9112, 7.1", ACCEPT, "one or more digits",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello'",
        CHUNKS "0005\r\nhello\r\n000\r\n\r\n")
REQUEST(data_may_hold_line_ends, "RFC 9112, 7.1", ACCEPT, "the size says where it ends",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '\\x0D\\x0A0\\x0D\\x0A\\x0D\\x0A'",
        CHUNKS "7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n")
REQUEST(request_after_chunks_is_another_one, "RFC 9112, 7.1", ACCEPT,
        "the last chunk ends the body",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'a' +'GET / HTTP/1.1\\x0D\\x0AHost: h\\x0D\\x0A\\x0D\\x0A'",
        CHUNKS "1\r\na\r\n0\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(chunk_without_a_size_is_refused, "RFC 9112, 7.1", REFUSE, "one digit at least",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_SIZE",
        CHUNKS "\r\nhello\r\n0\r\n\r\n")
REQUEST(size_with_a_prefix_is_refused, "RFC 9112, 7.1", REFUSE, "digits only",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_SIZE",
        CHUNKS "0x5\r\nhello\r\n0\r\n\r\n")
REQUEST(size_with_plus_is_refused, "RFC 9112, 7.1", REFUSE, "digits only",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_SIZE",
        CHUNKS "+5\r\nhello\r\n0\r\n\r\n")
REQUEST(size_with_minus_is_refused, "RFC 9112, 7.1", REFUSE, "digits only",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_SIZE",
        CHUNKS "-5\r\nhello\r\n0\r\n\r\n")
REQUEST(size_with_an_underscore_is_refused, "RFC 9112, 7.1", REFUSE, "digits only",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_SIZE",
        CHUNKS "0_5\r\nhello\r\n0\r\n\r\n")
REQUEST(size_with_another_letter_is_refused, "RFC 9112, 7.1", REFUSE, "digits only",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_SIZE",
        CHUNKS "5g\r\nhello\r\n0\r\n\r\n")
REQUEST(size_of_a_word_is_refused, "RFC 9112, 7.1", REFUSE, "digits only",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_SIZE",
        CHUNKS "five\r\nhello\r\n0\r\n\r\n")
REQUEST(size_with_a_comma_is_refused, "RFC 9112, 7.1", REFUSE, "digits only",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_SIZE",
        CHUNKS "5,5\r\nhello\r\n0\r\n\r\n")
REQUEST(size_with_a_fraction_is_refused, "RFC 9112, 7.1", REFUSE, "digits only",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_SIZE",
        CHUNKS "5.0\r\nhello\r\n0\r\n\r\n")
REQUEST(size_with_nul_is_refused, "RFC 9112, 7.1", REFUSE, "digits only",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_SIZE",
        CHUNKS "5\000\r\nhello\r\n0\r\n\r\n")
REQUEST(size_in_quotes_is_refused, "RFC 9112, 7.1", REFUSE, "digits only",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_SIZE",
        CHUNKS "\"5\"\r\nhello\r\n0\r\n\r\n")
REQUEST(size_after_a_space_is_refused, "RFC 9112, 7.1", REFUSE, "no white space before it",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_SIZE",
        CHUNKS " 5\r\nhello\r\n0\r\n\r\n")
REQUEST(size_before_a_space_is_refused, "RFC 9112, 7.1.1", REFUSE,
        "white space is for extensions only",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5 \r\nhello\r\n0\r\n\r\n")
REQUEST(size_before_a_tab_is_refused, "RFC 9112, 7.1.1", REFUSE,
        "white space is for extensions only",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5\t\r\nhello\r\n0\r\n\r\n")
REQUEST(size_that_wraps_around_is_refused, "RFC 9112, 7.1", REFUSE,
        "an overflow must not make 5 of it",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' limit CHUNK_TOO_LARGE",
        CHUNKS "10000000000000005\r\nhello\r\n0\r\n\r\n")
REQUEST(size_that_wraps_around_at_32_bits_is_refused, "RFC 9112, 7.1", OPEN,
        "4 GiB and 5 bytes; a limit is the server's",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' limit BODY_TOO_LARGE",
        CHUNKS "100000005\r\nhello\r\n0\r\n\r\n")
REQUEST(size_of_2_to_the_63_is_refused, "RFC 9112, 7.1", OPEN, "a limit is the server's; 413 then",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' limit CHUNK_TOO_LARGE",
        CHUNKS "8000000000000000\r\nhello\r\n0\r\n\r\n")
REQUEST(size_ended_by_lf_is_refused, "RFC 9112, 7.1", REFUSE,
        "LF alone may end lines of the head only",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault LINE_END",
        CHUNKS "5\nhello\r\n0\r\n\r\n")
REQUEST(size_ended_by_cr_is_refused, "RFC 9112, 7.1", REFUSE, "CR LF",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault LINE_END",
        CHUNKS "5\rhello\r\n0\r\n\r\n")
REQUEST(data_not_followed_by_a_line_end_is_refused, "RFC 9112, 7.1", REFUSE, "CR LF",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello' fault CHUNK_END",
        CHUNKS "5\r\nhello0\r\n\r\n")
REQUEST(data_followed_by_two_other_bytes_is_refused, "RFC 9112, 7.1", REFUSE, "CR LF",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello' fault CHUNK_END",
        CHUNKS "5\r\nhelloXY0\r\n\r\n")
REQUEST(data_followed_by_lf_is_refused, "RFC 9112, 7.1", REFUSE, "CR LF",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello' fault CHUNK_END",
        CHUNKS "5\r\nhello\n0\r\n\r\n")
REQUEST(data_followed_by_cr_is_refused, "RFC 9112, 7.1", REFUSE, "CR LF",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello' fault CHUNK_END",
        CHUNKS "5\r\nhello\r0\r\n\r\n")
REQUEST(data_longer_than_its_size_is_refused, "RFC 9112, 7.1", REFUSE, "CR LF after as many bytes",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hell' fault CHUNK_END",
        CHUNKS "4\r\nhello\r\n0\r\n\r\n")
REQUEST(data_shorter_than_its_size_is_refused, "RFC 9112, 7.1", REFUSE, "CR LF after as many bytes",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello\\x0D' fault CHUNK_END",
        CHUNKS "6\r\nhello\r\n0\r\n\r\n")
REQUEST(last_chunk_followed_by_a_bare_lf_is_refused, "RFC 9112, 7.1", REFUSE, "CR LF",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault LINE_END",
        CHUNKS "0\r\n\nGET / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(last_chunk_followed_by_a_bare_cr_is_refused, "RFC 9112, 7.1", REFUSE, "CR LF",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault LINE_END",
        CHUNKS "0\r\n\rX\r\n\r\n")
REQUEST(last_chunk_ended_by_lf_is_refused, "RFC 9112, 7.1", REFUSE, "CR LF",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault LINE_END",
        CHUNKS "0\n\r\n")

/* ---- Extensions of chunks ------------------------------------------------ */

REQUEST(extension_of_a_name_is_passed_over, "RFC 9112, 7.1.1", ACCEPT,
        "unknown extensions are ignored",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello'",
        CHUNKS "5;a\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_with_a_value_is_passed_over, "RFC 9112, 7.1.1", ACCEPT,
        "unknown extensions are ignored",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello'",
        CHUNKS "5;a=b\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_in_quotes_is_passed_over, "RFC 9112, 7.1.1", ACCEPT,
        "a quoted string with what it may hold",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello'",
        CHUNKS "5;a=\"b;c=\\\"\\\\ \t\303\244\"\r\nhello\r\n0\r\n\r\n")
REQUEST(extensions_are_passed_over, "RFC 9112, 7.1.1", ACCEPT, "unknown extensions are ignored",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello'",
        CHUNKS "5;a;b=c;d=\"e\";f\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_of_the_last_chunk_is_passed_over, "RFC 9112, 7.1", ACCEPT,
        "the last chunk has them too",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello'",
        CHUNKS "5\r\nhello\r\n0;a=b\r\n\r\n")
REQUEST(extension_after_a_space_is_passed_over, "RFC 9112, 7.1.1", ACCEPT,
        "bad white space is removed",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello'",
        CHUNKS "5 ;a=b\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_after_tabs_is_passed_over, "RFC 9112, 7.1.1", ACCEPT,
        "bad white space is removed",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello'",
        CHUNKS "5\t\t;a=b\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_with_a_space_before_its_name_is_passed_over, "RFC 9112, 7.1.1", ACCEPT,
        "bad white space is removed",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello'",
        CHUNKS "5; a=b\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_with_spaces_around_its_value_is_passed_over, "RFC 9112, 7.1.1", ACCEPT,
        "bad white space is removed",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'hello'",
        CHUNKS "5;a = b ;c\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_without_a_name_is_refused, "RFC 9112, 7.1.1", REFUSE, "a name is a token",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5;\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_of_a_space_is_refused, "RFC 9112, 7.1.1", REFUSE, "a name is a token",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5; \r\nhello\r\n0\r\n\r\n")
REQUEST(extension_after_another_semicolon_is_refused, "RFC 9112, 7.1.1", REFUSE,
        "a name is a token",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5;;a\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_of_a_value_alone_is_refused, "RFC 9112, 7.1.1", REFUSE, "a name is a token",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5;=b\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_without_its_value_is_refused, "RFC 9112, 7.1.1", REFUSE,
        "a value is a token or a quoted string",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5;a=\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_with_two_equals_signs_is_refused, "RFC 9112, 7.1.1", REFUSE,
        "a value is a token or a quoted string",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5;a=b=c\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_of_two_words_is_refused, "RFC 9112, 7.1.1", REFUSE, "a name is a token",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5;a b\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_before_a_space_is_refused, "RFC 9112, 7.1.1", REFUSE,
        "white space is followed by something",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5;a \r\nhello\r\n0\r\n\r\n")
REQUEST(extension_with_an_open_quote_is_refused, "RFC 9112, 7.1.1", REFUSE,
        "a quoted string ends in a quote",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5;a=\"b\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_with_more_after_a_quote_is_refused, "RFC 9112, 7.1.1", REFUSE,
        "a quoted string ends in a quote",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5;a=\"b\"c\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_with_a_control_character_in_quotes_is_refused, "RFC 9110, 5.6.4", REFUSE,
        "no control characters in quotes",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5;a=\"\001\"\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_with_lf_is_refused, "RFC 9112, 7.1.1", REFUSE, "CR LF ends the line",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5;a\nhello\r\n0\r\n\r\n")
REQUEST(extension_with_cr_is_refused, "RFC 9112, 7.1.1", REFUSE, "CR LF ends the line",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault LINE_END",
        CHUNKS "5;a\rb\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_with_nul_is_refused, "RFC 9112, 7.1.1", REFUSE, "a name is a token",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5;a\000\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_with_a_byte_above_ascii_is_refused, "RFC 9112, 7.1.1", REFUSE,
        "a name is a token",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_EXTENSION",
        CHUNKS "5;\303\244\r\nhello\r\n0\r\n\r\n")
REQUEST(extension_of_1000_bytes_is_refused, "RFC 9112, 7.1.1", OPEN,
        "a server ought to have a limit",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' limit CHUNK_EXTENSION_TOO_LONG",
        CHUNKS "5;a=" X1000("b") "\r\nhello\r\n0\r\n\r\n")

/* ---- Trailers ------------------------------------------------------------ */

REQUEST(trailers_of_a_request_are_passed_over, "RFC 9112, 7.1.2", ACCEPT,
        "fields after the last chunk",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'a'",
        CHUNKS "1\r\na\r\n0\r\nDigest: a\r\nE:\r\n\r\n")
REQUEST(trailer_content_length_of_a_request_is_refused, "RFC 9110, 6.5.1", OPEN,
        "not to be sent; may be discarded",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault TRAILER",
        CHUNKS "0\r\nContent-Length: 5\r\n\r\n")
REQUEST(trailer_transfer_encoding_of_a_request_is_refused, "RFC 9110, 6.5.1", OPEN,
        "not to be sent; may be discarded",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault TRAILER",
        CHUNKS "0\r\nTransfer-Encoding: chunked\r\n\r\n")
REQUEST(trailer_host_is_refused, "RFC 9110, 6.5.1", OPEN, "not to be sent; may be discarded",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault TRAILER",
        CHUNKS "0\r\nHost: g\r\n\r\n")
REQUEST(trailer_authorization_of_a_request_is_refused, "RFC 9110, 6.5.1", OPEN,
        "not to be sent; may be discarded",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault TRAILER",
        CHUNKS "0\r\nAuthorization: a\r\n\r\n")
REQUEST(trailer_of_a_request_without_colon_is_refused, "RFC 9112, 5", REFUSE,
        "a colon ends the name",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault FIELD_NAME",
        CHUNKS "0\r\nDigest\r\n\r\n")
REQUEST(trailer_of_a_request_with_an_empty_name_is_refused, "RFC 9112, 5", REFUSE,
        "a name is a token",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault FIELD_NAME",
        CHUNKS "0\r\n: a\r\n\r\n")
REQUEST(trailer_of_a_request_with_a_space_before_the_colon_is_refused, "RFC 9112, 5", REFUSE,
        "a name is a token",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault FIELD_NAME",
        CHUNKS "0\r\nDigest : a\r\n\r\n")
REQUEST(trailer_of_a_request_with_nul_in_its_name_is_refused, "RFC 9112, 5", REFUSE,
        "a name is a token",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault FIELD_NAME",
        CHUNKS "0\r\nDi\000gest: a\r\n\r\n")
REQUEST(trailer_that_is_a_request_is_refused, "RFC 9112, 5", REFUSE, "a name is a token",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault FIELD_NAME",
        CHUNKS "0\r\nGET /admin HTTP/1.1\r\nHost: h\r\n\r\n")
REQUEST(folded_trailer_of_a_request_is_refused, "RFC 9112, 5.2", OPEN,
        "refused by 400, or replaced by spaces",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault FOLDED",
        CHUNKS "0\r\nDigest: a\r\n b\r\n\r\n")
REQUEST(trailer_of_a_request_with_a_control_character_is_refused, "RFC 9110, 5.5", OPEN,
        "invalid, but may be kept",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault FIELD_VALUE",
        CHUNKS "0\r\nDigest: \001\r\n\r\n")
REQUEST(trailer_of_a_request_ended_by_lf_is_refused, "RFC 9112, 2.2", OPEN,
        "LF alone may count as a line end",
        "POST /echo 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault LINE_END",
        CHUNKS "0\r\nDigest: a\n\r\n")

/* ---- Expect, Connection, Upgrade ----------------------------------------- */

REQUEST(expect_continue_is_marked, "RFC 9110, 10.1.1", ACCEPT,
        "100 may be left out when the body is there",
        "PUT /echo 1.1 keep continue [Host=h] [Expect=100-continue] [Content-Length=1] length 'x'",
        "PUT /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 1\r\n\r\nx")
REQUEST(expect_continue_has_no_case, "RFC 9110, 10.1.1", ACCEPT, "expectations have no case",
        "PUT /echo 1.1 keep continue [Host=h] [Expect=100-Continue] [Content-Length=1] length 'x'",
        "PUT /echo HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\nx")
REQUEST(expectation_in_1_0_is_passed_over, "RFC 9110, 10.1.1", ACCEPT, "ignored in HTTP/1.0",
        "PUT /echo 1.0 close [Expect=100-continue] [Content-Length=1] length 'x'",
        "PUT /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx")
REQUEST(other_expectation_is_marked, "RFC 9110, 10.1.1", OPEN, "417 may be the answer",
        "PUT / 1.1 keep expects [Host=h] [Expect=tea] none",
        "PUT / HTTP/1.1\r\n" HOST "Expect: tea\r\n\r\n")
REQUEST(expect_given_twice_is_refused, "RFC 9110, 10.1.1", OPEN,
        "a list, of which one element has a meaning",
        "fault FIELD_TWICE",
        "PUT /echo HTTP/1.1\r\n" HOST
        "Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx")
REQUEST(request_may_close, "RFC 9112, 9.6", ACCEPT, "close is an option among others",
        "GET / 1.1 close [Host=h] [Connection=te, CLOSE] none",
        "GET / HTTP/1.1\r\n" HOST "Connection: te, CLOSE\r\n\r\n")
REQUEST(options_among_empty_elements_are_read, "RFC 9110, 5.6.1", ACCEPT,
        "empty elements of a list are ignored",
        "GET / 1.1 close [Host=h] [Connection=,, close ,] none",
        "GET / HTTP/1.1\r\n" HOST "Connection: ,, close ,\r\n\r\n")
REQUEST(request_in_1_0_may_keep_alive, "RFC 9112, 9.3", ACCEPT, "a server may keep the connection",
        "GET / 1.0 keep [Connection=Keep-Alive] none",
        "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
REQUEST(close_wins_over_keep_alive, "RFC 9112, 9.3", ACCEPT, "close is looked at first",
        "GET / 1.0 close [Connection=keep-alive] [Connection=close] none",
        "GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n")
REQUEST(unknown_option_is_passed_over, "RFC 9110, 7.6.1", ACCEPT, "names a field for this hop",
        "GET / 1.1 keep [Host=h] [Connection=x-a] [X-A=1] none",
        "GET / HTTP/1.1\r\n" HOST "Connection: x-a\r\nX-A: 1\r\n\r\n")
REQUEST(upgrade_is_marked, "RFC 9110, 7.8", ACCEPT, "a server may ignore it",
        "GET / 1.1 keep upgrade [Host=h] [Upgrade=websocket] [Connection=keep-alive, Upgrade] none",
        "GET / HTTP/1.1\r\n" HOST
        "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n\r\n")
REQUEST(upgrade_to_http_2_is_marked, "RFC 9110, 7.8", ACCEPT, "a server may ignore it",
        "GET / 1.1 keep upgrade [Host=h] [Upgrade=h2c] [HTTP2-Settings=AAMAAABk] [Connection=Upgrade, HTTP2-Settings] none",
        "GET / HTTP/1.1\r\n" HOST
        "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nConnection: Upgrade, HTTP2-Settings\r\n\r\n")
REQUEST(upgrade_not_named_by_connection_is_not_marked, "RFC 9110, 7.8", ACCEPT,
        "a server may ignore it",
        "GET / 1.1 keep [Host=h] [Upgrade=websocket] [Connection=upgraded] none",
        "GET / HTTP/1.1\r\n" HOST "Upgrade: websocket\r\nConnection: upgraded\r\n\r\n")
REQUEST(upgrade_in_1_0_is_not_marked, "RFC 9110, 7.8", ACCEPT, "ignored in HTTP/1.0",
        "GET / 1.0 close [Upgrade=websocket] [Connection=Upgrade] none",
        "GET / HTTP/1.0\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")

/* ---- Several requests on one connection ---------------------------------- */

REQUEST(pipelined_request_is_left, "RFC 9112, 9.3.2", ACCEPT, "a client may send the next at once",
        "POST /echo 1.1 keep [Host=h] [Content-Length=1] length 'x' +'GET / HTTP/1.1\\x0D\\x0AHost: h\\x0D\\x0A\\x0D\\x0A'",
        POST "Content-Length: 1\r\n\r\nxGET / HTTP/1.1\r\n" HOST "\r\n")
REQUEST(second_of_two_gets_is_left, "RFC 9112, 9.3.2", ACCEPT, "a client may send the next at once",
        "GET / 1.1 keep [Host=h] none +'GET /a HTTP/1.1\\x0D\\x0AHost: h\\x0D\\x0A\\x0D\\x0A'",
        "GET / HTTP/1.1\r\n" HOST "\r\nGET /a HTTP/1.1\r\n" HOST "\r\n")
REQUEST(empty_line_between_requests_is_left, "RFC 9112, 2.2", ACCEPT,
        "an empty line before a request is ignored",
        "GET / 1.1 keep [Host=h] none +'\\x0D\\x0AGET /a HTTP/1.1\\x0D\\x0AHost: h\\x0D\\x0A\\x0D\\x0A'",
        "GET / HTTP/1.1\r\n" HOST "\r\n\r\nGET /a HTTP/1.1\r\n" HOST "\r\n")
REQUEST(bytes_after_the_last_request_are_left, "RFC 9112, 9.6", ACCEPT,
        "nothing is read after close",
        "GET / 1.1 close [Host=h] [Connection=close] none +'GARBAGE\\x00\\x0D\\x0A\\x0D\\x0A'",
        "GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\nGARBAGE\000\r\n\r\n")

#undef X10
#undef X100
#undef X1000
#undef HOST
#undef POST
#undef CHUNKS
