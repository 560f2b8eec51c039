/*
 * corpus.h - messages, and what must become of them (the H1 corpus).
 *
 * Included with CASE defined:
 *
 *     CASE(claim, kind, limits, expected, input)
 *
 * 'kind' and 'expected' are those of drive.h; 'limits' names one of the sets
 * below.  Control characters in inputs are written in octal, so that no digit
 * behind them can be taken for one of theirs.  One case is one rule.
 */

/* One case, one or a few lines. */
/* clang-format off */

/* Requests end in this where a case is about something before it. */
#define HOST "Host: h\r\n"

/* ---- requests: the request line -------------------------------------------- */

CASE(request_of_the_simplest_kind_is_read, REQUEST, DEFAULT,
     "GET / 1.1 keep [Host=h] none", "GET / HTTP/1.1\r\n" HOST "\r\n")
CASE(request_in_1_0_closes, REQUEST, DEFAULT,
     "GET / 1.0 close none", "GET / HTTP/1.0\r\n\r\n")
CASE(request_in_1_0_may_keep_alive, REQUEST, DEFAULT,
     "GET / 1.0 keep [Connection=Keep-Alive] none",
     "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
CASE(request_may_close, REQUEST, DEFAULT,
     "GET / 1.1 close [Host=h] [Connection=te, CLOSE] none",
     "GET / HTTP/1.1\r\n" HOST "Connection: te, CLOSE\r\n\r\n")
CASE(close_wins_over_keep_alive, REQUEST, DEFAULT,
     "GET / 1.0 close [Connection=keep-alive] [Connection=close] none",
     "GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n")
CASE(request_with_an_unknown_method_is_read, REQUEST, DEFAULT,
     "M-SEARCH!#$%&'*+.^_`|~ / 1.1 keep [Host=h] none",
     "M-SEARCH!#$%&'*+.^_`|~ / HTTP/1.1\r\n" HOST "\r\n")
CASE(methods_are_case_sensitive_but_small_ones_are_read, REQUEST, DEFAULT,
     "get / 1.1 keep [Host=h] none", "get / HTTP/1.1\r\n" HOST "\r\n")
CASE(request_without_method_is_refused, REQUEST, DEFAULT, "fault METHOD",
     " / HTTP/1.1\r\n" HOST "\r\n")
CASE(method_with_a_separator_is_refused, REQUEST, DEFAULT, "fault METHOD",
     "G{T / HTTP/1.1\r\n" HOST "\r\n")
CASE(method_with_a_colon_is_refused, REQUEST, DEFAULT, "fault METHOD",
     "GET: / HTTP/1.1\r\n" HOST "\r\n")
CASE(method_with_nul_is_refused, REQUEST, DEFAULT, "fault METHOD",
     "G\000T / HTTP/1.1\r\n" HOST "\r\n")
CASE(method_with_a_byte_above_ascii_is_refused, REQUEST, DEFAULT, "fault METHOD",
     "G\303\211T / HTTP/1.1\r\n" HOST "\r\n")
CASE(method_followed_by_a_tab_is_refused, REQUEST, DEFAULT, "fault METHOD",
     "GET\t/ HTTP/1.1\r\n" HOST "\r\n")
CASE(method_alone_is_refused, REQUEST, DEFAULT, "fault METHOD", "GET\r\n" HOST "\r\n")
CASE(tls_hello_is_refused, REQUEST, DEFAULT, "fault METHOD", "\026\003\001\002\000\001\000\001")
CASE(one_empty_line_before_a_request_is_skipped, REQUEST, DEFAULT,
     "GET / 1.1 keep [Host=h] none", "\r\nGET / HTTP/1.1\r\n" HOST "\r\n")
CASE(two_empty_lines_before_a_request_are_refused, REQUEST, DEFAULT, "fault METHOD",
     "\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n")
CASE(bare_lf_before_a_request_is_refused, REQUEST, DEFAULT, "fault LINE_END",
     "\nGET / HTTP/1.1\r\n" HOST "\r\n")
CASE(bare_cr_before_a_request_is_refused, REQUEST, DEFAULT, "fault LINE_END",
     "\rGET / HTTP/1.1\r\n" HOST "\r\n")
CASE(target_with_all_that_urls_hold_is_read, REQUEST, DEFAULT,
     "GET /a-._~!$&'()*+,;=:@%2F/b?c=[d]{|}^`/? 1.1 keep [Host=h] none",
     "GET /a-._~!$&'()*+,;=:@%2F/b?c=[d]{|}^`/? HTTP/1.1\r\n" HOST "\r\n")
CASE(target_of_two_slashes_is_a_path, REQUEST, DEFAULT,
     "GET //evil/a 1.1 keep [Host=h] none", "GET //evil/a HTTP/1.1\r\n" HOST "\r\n")
CASE(empty_target_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET  HTTP/1.1\r\n" HOST "\r\n")
CASE(two_spaces_behind_the_method_are_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET  / HTTP/1.1\r\n" HOST "\r\n")
CASE(two_spaces_before_the_version_are_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET /  HTTP/1.1\r\n" HOST "\r\n")
CASE(target_with_a_space_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET /a b HTTP/1.1\r\n" HOST "\r\n")
CASE(target_with_a_tab_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET /a\tb HTTP/1.1\r\n" HOST "\r\n")
CASE(target_with_nul_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET /a\000b HTTP/1.1\r\n" HOST "\r\n")
CASE(target_with_delete_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET /a\177b HTTP/1.1\r\n" HOST "\r\n")
CASE(target_with_a_byte_above_ascii_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET /\303\244 HTTP/1.1\r\n" HOST "\r\n")
CASE(target_with_a_fragment_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET /a#b HTTP/1.1\r\n" HOST "\r\n")
CASE(target_with_a_backslash_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET /\\a HTTP/1.1\r\n" HOST "\r\n")
CASE(target_with_half_an_escape_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET /%4 HTTP/1.1\r\n" HOST "\r\n")
CASE(target_with_a_wrong_escape_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET /%4g HTTP/1.1\r\n" HOST "\r\n")
CASE(target_without_slash_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET a HTTP/1.1\r\n" HOST "\r\n")
CASE(absolute_target_is_read, REQUEST, DEFAULT,
     "GET http://h/a 1.1 absolute keep [Host=h] none",
     "GET http://h/a HTTP/1.1\r\n" HOST "\r\n")
CASE(absolute_target_with_the_default_port_is_the_same_host, REQUEST, DEFAULT,
     "GET http://H:80/ 1.1 absolute keep [Host=h] none",
     "GET http://H:80/ HTTP/1.1\r\n" HOST "\r\n")
CASE(absolute_target_of_another_host_is_refused, REQUEST, DEFAULT, "fault HOST_DIFFERS",
     "GET http://g/ HTTP/1.1\r\n" HOST "\r\n")
CASE(absolute_target_of_another_port_is_refused, REQUEST, DEFAULT, "fault HOST_DIFFERS",
     "GET http://h:81/ HTTP/1.1\r\n" HOST "\r\n")
CASE(absolute_target_without_host_field_is_refused, REQUEST, DEFAULT, "fault HOST_MISSING",
     "GET http://h/ HTTP/1.1\r\n\r\n")
CASE(absolute_target_with_user_information_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET http://u@h/ HTTP/1.1\r\n" HOST "\r\n")
CASE(absolute_target_of_another_scheme_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET file:///etc/passwd HTTP/1.1\r\n" HOST "\r\n")
CASE(absolute_target_without_host_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "GET http:///a HTTP/1.1\r\n" HOST "\r\n")
CASE(asterisk_is_for_options, REQUEST, DEFAULT,
     "OPTIONS * 1.1 asterisk keep [Host=h] none", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n")
CASE(asterisk_is_for_nothing_else, REQUEST, DEFAULT, "fault TARGET",
     "GET * HTTP/1.1\r\n" HOST "\r\n")
CASE(connect_takes_host_and_port, REQUEST, DEFAULT,
     "CONNECT h:443 1.1 authority keep [Host=h:443] none",
     "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n")
CASE(connect_without_port_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "CONNECT h HTTP/1.1\r\n" HOST "\r\n")
CASE(connect_to_port_0_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "CONNECT h:0 HTTP/1.1\r\n" HOST "\r\n")
CASE(connect_to_a_path_is_refused, REQUEST, DEFAULT, "fault TARGET",
     "CONNECT /a HTTP/1.1\r\n" HOST "\r\n")
CASE(connect_with_a_body_is_refused, REQUEST, DEFAULT, "fault CONNECT_BODY",
     "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nContent-Length: 1\r\n\r\n")
CASE(connect_with_a_chunked_body_is_refused, REQUEST, DEFAULT, "fault CONNECT_BODY",
     "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nTransfer-Encoding: chunked\r\n\r\n")
CASE(authority_target_is_for_connect_only, REQUEST, DEFAULT, "fault TARGET",
     "GET h:443 HTTP/1.1\r\n" HOST "\r\n")
CASE(request_without_version_is_refused, REQUEST, DEFAULT, "fault VERSION",
     "GET /\r\n" HOST "\r\n")
CASE(version_0_9_is_refused, REQUEST, DEFAULT, "fault VERSION",
     "GET / HTTP/0.9\r\n" HOST "\r\n")
CASE(version_2_0_is_refused, REQUEST, DEFAULT, "fault VERSION",
     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
CASE(version_1_2_is_refused, REQUEST, DEFAULT, "fault VERSION",
     "GET / HTTP/1.2\r\n" HOST "\r\n")
CASE(version_1_10_is_refused, REQUEST, DEFAULT, "fault VERSION",
     "GET / HTTP/1.10\r\n" HOST "\r\n")
CASE(version_01_1_is_refused, REQUEST, DEFAULT, "fault VERSION",
     "GET / HTTP/01.1\r\n" HOST "\r\n")
CASE(version_1_is_refused, REQUEST, DEFAULT, "fault VERSION",
     "GET / HTTP/1\r\n" HOST "\r\n")
CASE(version_in_small_letters_is_refused, REQUEST, DEFAULT, "fault VERSION",
     "GET / http/1.1\r\n" HOST "\r\n")
CASE(version_with_a_comma_is_refused, REQUEST, DEFAULT, "fault VERSION",
     "GET / HTTP/1,1\r\n" HOST "\r\n")
CASE(version_followed_by_a_space_is_refused, REQUEST, DEFAULT, "fault VERSION",
     "GET / HTTP/1.1 \r\n" HOST "\r\n")
CASE(version_with_another_protocol_is_refused, REQUEST, DEFAULT, "fault VERSION",
     "GET / HTTPS/1.1\r\n" HOST "\r\n")
CASE(request_line_ended_by_lf_is_refused, REQUEST, DEFAULT, "fault LINE_END",
     "GET / HTTP/1.1\n" HOST "\r\n")
CASE(request_line_ended_by_cr_is_refused, REQUEST, DEFAULT, "fault LINE_END",
     "GET / HTTP/1.1\r" HOST "\r\n")
CASE(request_line_ended_by_two_crs_is_refused, REQUEST, DEFAULT, "fault LINE_END",
     "GET / HTTP/1.1\r\r\n" HOST "\r\n")

/* ---- requests: fields ------------------------------------------------------ */

CASE(white_space_around_a_value_is_left_out, REQUEST, DEFAULT,
     "GET / 1.1 keep [Host=h] [A=b \\x09 c] none",
     "GET / HTTP/1.1\r\n" HOST "A: \t b \t c \t\r\n\r\n")
CASE(value_without_space_before_it_is_read, REQUEST, DEFAULT,
     "GET / 1.1 keep [Host=h] [A=b] none", "GET / HTTP/1.1\r\nHost:h\r\nA:b\r\n\r\n")
CASE(empty_value_is_read, REQUEST, DEFAULT,
     "GET / 1.1 keep [Host=h] [A=] [B=] none",
     "GET / HTTP/1.1\r\n" HOST "A:\r\nB: \t \r\n\r\n")
CASE(value_with_bytes_above_ascii_is_read, REQUEST, DEFAULT,
     "GET / 1.1 keep [Host=h] [A=\\xC3\\xA4\\xFF] none",
     "GET / HTTP/1.1\r\n" HOST "A: \303\244\377\r\n\r\n")
CASE(value_with_colons_and_quotes_is_read, REQUEST, DEFAULT,
     "GET / 1.1 keep [Host=h] [A=:\"b\":] none",
     "GET / HTTP/1.1\r\n" HOST "A: :\"b\":\r\n\r\n")
CASE(name_of_all_token_characters_is_read, REQUEST, DEFAULT,
     "GET / 1.1 keep [Host=h] [!#$%&'*+-.^_`|~09azAZ=1] none",
     "GET / HTTP/1.1\r\n" HOST "!#$%&'*+-.^_`|~09azAZ: 1\r\n\r\n")
CASE(fields_of_one_name_are_kept_in_order, REQUEST, DEFAULT,
     "GET / 1.1 keep [Host=h] [A=1] [B=2] [a=3] none",
     "GET / HTTP/1.1\r\n" HOST "A: 1\r\nB: 2\r\na: 3\r\n\r\n")
CASE(field_ended_by_lf_is_refused, REQUEST, DEFAULT, "fault LINE_END",
     "GET / HTTP/1.1\r\n" HOST "A: b\nC: d\r\n\r\n")
CASE(field_with_a_cr_inside_is_refused, REQUEST, DEFAULT, "fault LINE_END",
     "GET / HTTP/1.1\r\n" HOST "A: b\rC: d\r\n\r\n")
CASE(head_ended_by_lf_is_refused, REQUEST, DEFAULT, "fault LINE_END",
     "GET / HTTP/1.1\r\n" HOST "\n")
CASE(head_ended_by_cr_is_refused, REQUEST, DEFAULT, "fault LINE_END",
     "GET / HTTP/1.1\r\n" HOST "\rX")
CASE(folded_field_is_refused, REQUEST, DEFAULT, "fault FOLDED",
     "GET / HTTP/1.1\r\n" HOST "A: b\r\n c\r\n\r\n")
CASE(field_folded_by_a_tab_is_refused, REQUEST, DEFAULT, "fault FOLDED",
     "GET / HTTP/1.1\r\n" HOST "A: b\r\n\tc\r\n\r\n")
CASE(space_before_the_first_field_is_refused, REQUEST, DEFAULT, "fault FOLDED",
     "GET / HTTP/1.1\r\n " HOST "\r\n")
CASE(space_before_the_colon_is_refused, REQUEST, DEFAULT, "fault FIELD_NAME",
     "GET / HTTP/1.1\r\n" HOST "Content-Length : 5\r\n\r\nhello")
CASE(tab_before_the_colon_is_refused, REQUEST, DEFAULT, "fault FIELD_NAME",
     "GET / HTTP/1.1\r\n" HOST "Content-Length\t: 5\r\n\r\nhello")
CASE(empty_name_is_refused, REQUEST, DEFAULT, "fault FIELD_NAME",
     "GET / HTTP/1.1\r\n" HOST ": b\r\n\r\n")
CASE(name_with_a_space_is_refused, REQUEST, DEFAULT, "fault FIELD_NAME",
     "GET / HTTP/1.1\r\n" HOST "A B: c\r\n\r\n")
CASE(name_with_nul_is_refused, REQUEST, DEFAULT, "fault FIELD_NAME",
     "GET / HTTP/1.1\r\n" HOST "A\000: c\r\n\r\n")
CASE(name_with_a_byte_above_ascii_is_refused, REQUEST, DEFAULT, "fault FIELD_NAME",
     "GET / HTTP/1.1\r\n" HOST "\303\204: c\r\n\r\n")
CASE(name_in_quotes_is_refused, REQUEST, DEFAULT, "fault FIELD_NAME",
     "GET / HTTP/1.1\r\n" HOST "\"A\": c\r\n\r\n")
CASE(field_without_colon_is_refused, REQUEST, DEFAULT, "fault FIELD_NAME",
     "GET / HTTP/1.1\r\n" HOST "A\r\n\r\n")
CASE(value_with_nul_is_refused, REQUEST, DEFAULT, "fault FIELD_VALUE",
     "GET / HTTP/1.1\r\n" HOST "A: b\000c\r\n\r\n")
CASE(value_with_a_control_character_is_refused, REQUEST, DEFAULT, "fault FIELD_VALUE",
     "GET / HTTP/1.1\r\n" HOST "A: b\001c\r\n\r\n")
CASE(value_with_a_vertical_tab_is_refused, REQUEST, DEFAULT, "fault FIELD_VALUE",
     "GET / HTTP/1.1\r\n" HOST "Transfer-Encoding:\013chunked\r\n\r\n")
CASE(value_with_a_form_feed_is_refused, REQUEST, DEFAULT, "fault FIELD_VALUE",
     "GET / HTTP/1.1\r\n" HOST "A: b\014\r\n\r\n")
CASE(value_with_delete_is_refused, REQUEST, DEFAULT, "fault FIELD_VALUE",
     "GET / HTTP/1.1\r\n" HOST "A: b\177\r\n\r\n")
CASE(long_value_with_a_late_control_character_is_refused, REQUEST, DEFAULT, "fault FIELD_VALUE",
     "GET / HTTP/1.1\r\n" HOST "A: 0123456789abcdef\t0123456789abcde\037f\r\n\r\n")

/* ---- requests: Host -------------------------------------------------------- */

CASE(missing_host_is_refused, REQUEST, DEFAULT, "fault HOST_MISSING",
     "GET / HTTP/1.1\r\nA: b\r\n\r\n")
CASE(host_given_twice_is_refused, REQUEST, DEFAULT, "fault HOST_TWICE",
     "GET / HTTP/1.1\r\n" HOST HOST "\r\n")
CASE(host_given_twice_in_1_0_is_refused, REQUEST, DEFAULT, "fault HOST_TWICE",
     "GET / HTTP/1.0\r\n" HOST "hOST: g\r\n\r\n")
CASE(host_with_a_port_is_read, REQUEST, DEFAULT,
     "GET / 1.1 keep [Host=a.b-c_d.:65535] none",
     "GET / HTTP/1.1\r\nHost: a.b-c_d.:65535\r\n\r\n")
CASE(host_with_an_empty_port_is_read, REQUEST, DEFAULT,
     "GET / 1.1 keep [Host=h:] none", "GET / HTTP/1.1\r\nHost: h:\r\n\r\n")
CASE(host_that_is_an_ipv6_address_is_read, REQUEST, DEFAULT,
     "GET / 1.1 keep [Host=[::1]:80] none", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n")
CASE(empty_host_is_refused, REQUEST, DEFAULT, "fault HOST", "GET / HTTP/1.1\r\nHost:\r\n\r\n")
CASE(host_of_a_port_alone_is_refused, REQUEST, DEFAULT, "fault HOST",
     "GET / HTTP/1.1\r\nHost: :80\r\n\r\n")
CASE(host_with_a_space_is_refused, REQUEST, DEFAULT, "fault HOST",
     "GET / HTTP/1.1\r\nHost: a b\r\n\r\n")
CASE(list_of_hosts_is_refused, REQUEST, DEFAULT, "fault HOST",
     "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n")
CASE(host_with_a_path_is_refused, REQUEST, DEFAULT, "fault HOST",
     "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n")
CASE(host_with_user_information_is_refused, REQUEST, DEFAULT, "fault HOST",
     "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n")
CASE(host_with_a_scheme_is_refused, REQUEST, DEFAULT, "fault HOST",
     "GET / HTTP/1.1\r\nHost: http://a\r\n\r\n")
CASE(host_with_a_port_too_large_is_refused, REQUEST, DEFAULT, "fault HOST",
     "GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n")
CASE(host_with_a_signed_port_is_refused, REQUEST, DEFAULT, "fault HOST",
     "GET / HTTP/1.1\r\nHost: a:+80\r\n\r\n")
CASE(host_with_a_byte_above_ascii_is_refused, REQUEST, DEFAULT, "fault HOST",
     "GET / HTTP/1.1\r\nHost: \303\244\r\n\r\n")
CASE(host_with_an_open_bracket_is_refused, REQUEST, DEFAULT, "fault HOST",
     "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n")
CASE(host_with_a_name_in_brackets_is_refused, REQUEST, DEFAULT, "fault HOST",
     "GET / HTTP/1.1\r\nHost: [a]\r\n\r\n")
CASE(host_that_is_an_ipv6_address_without_brackets_is_refused, REQUEST, DEFAULT, "fault HOST",
     "GET / HTTP/1.1\r\nHost: ::1\r\n\r\n")

/* ---- requests: framing ----------------------------------------------------- */

CASE(body_by_length_is_read, REQUEST, DEFAULT,
     "POST / 1.1 keep [Host=h] [Content-Length=5] length 'hello'",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello")
CASE(length_0_is_no_body, REQUEST, DEFAULT,
     "POST / 1.1 keep [Host=h] [Content-Length=0] none",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n")
CASE(length_with_leading_zeros_is_decimal, REQUEST, DEFAULT,
     "POST / 1.1 keep [Host=h] [CONTENT-LENGTH=0010] length '0123456789'",
     "POST / HTTP/1.1\r\n" HOST "CONTENT-LENGTH: 0010\r\n\r\n0123456789")
CASE(request_without_framing_has_no_body, REQUEST, DEFAULT,
     "POST / 1.1 keep [Host=h] none +'hello'", "POST / HTTP/1.1\r\n" HOST "\r\nhello")
CASE(pipelined_request_is_left, REQUEST, DEFAULT,
     "POST / 1.1 keep [Host=h] [Content-Length=1] length 'x' +'GET / HTTP/1.1\\x0D\\x0A'",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nxGET / HTTP/1.1\r\n")
CASE(body_cut_short_is_truncated, REQUEST, DEFAULT,
     "POST / 1.1 keep [Host=h] [Content-Length=5] length 'hell' truncated",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhell")
CASE(length_and_coding_is_refused, REQUEST, DEFAULT, "fault LENGTH_AND_CODING",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
CASE(coding_and_length_is_refused, REQUEST, DEFAULT, "fault LENGTH_AND_CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n")
CASE(two_lengths_that_differ_are_refused, REQUEST, DEFAULT, "fault LENGTH_TWICE",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")
CASE(two_equal_lengths_are_refused, REQUEST, DEFAULT, "fault LENGTH_TWICE",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\ncontent-length: 5\r\n\r\nhello")
CASE(list_of_lengths_is_refused, REQUEST, DEFAULT, "fault LENGTH",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 5, 5\r\n\r\nhello")
CASE(empty_length_is_refused, REQUEST, DEFAULT, "fault LENGTH",
     "POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n")
CASE(length_with_plus_is_refused, REQUEST, DEFAULT, "fault LENGTH",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: +5\r\n\r\nhello")
CASE(length_with_minus_is_refused, REQUEST, DEFAULT, "fault LENGTH",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: -5\r\n\r\nhello")
CASE(length_with_an_underscore_is_refused, REQUEST, DEFAULT, "fault LENGTH",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 1_0\r\n\r\n0123456789")
CASE(hexadecimal_length_is_refused, REQUEST, DEFAULT, "fault LENGTH",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 0x5\r\n\r\nhello")
CASE(length_with_a_fraction_is_refused, REQUEST, DEFAULT, "fault LENGTH",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 5.0\r\n\r\nhello")
CASE(length_of_words_is_refused, REQUEST, DEFAULT, "fault LENGTH",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 5 5\r\n\r\nhello")
CASE(length_in_quotes_is_refused, REQUEST, DEFAULT, "fault LENGTH",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: \"5\"\r\n\r\nhello")
CASE(length_in_other_digits_is_refused, REQUEST, DEFAULT, "fault LENGTH",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: \331\245\r\n\r\nhello")
CASE(length_of_2_to_the_63_is_refused, REQUEST, DEFAULT, "fault LENGTH",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 9223372036854775808\r\n\r\n")
CASE(length_that_wraps_around_is_refused, REQUEST, DEFAULT, "fault LENGTH",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 18446744073709551621\r\n\r\nhello")
CASE(coding_other_than_chunked_is_refused, REQUEST, DEFAULT, "fault CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n")
CASE(coding_whose_last_is_not_chunked_is_refused, REQUEST, DEFAULT, "fault CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n")
CASE(coding_below_chunked_is_refused, REQUEST, DEFAULT, "fault CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
CASE(chunked_twice_in_a_list_is_refused, REQUEST, DEFAULT, "fault CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n")
CASE(chunked_twice_in_two_fields_is_refused, REQUEST, DEFAULT, "fault CODING_TWICE",
     "POST / HTTP/1.1\r\n" HOST
     "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
CASE(coding_spread_over_two_fields_is_refused, REQUEST, DEFAULT, "fault CODING_TWICE",
     "POST / HTTP/1.1\r\n" HOST
     "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n")
CASE(coding_behind_an_empty_element_is_refused, REQUEST, DEFAULT, "fault CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n")
CASE(coding_before_an_empty_element_is_refused, REQUEST, DEFAULT, "fault CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked,\r\n\r\n0\r\n\r\n")
CASE(empty_coding_is_refused, REQUEST, DEFAULT, "fault CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding:\r\n\r\n")
CASE(coding_identity_is_refused, REQUEST, DEFAULT, "fault CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: identity\r\n\r\n")
CASE(coding_with_an_x_before_it_is_refused, REQUEST, DEFAULT, "fault CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n")
CASE(coding_with_a_parameter_is_refused, REQUEST, DEFAULT, "fault CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n")
CASE(coding_in_quotes_is_refused, REQUEST, DEFAULT, "fault CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n")
/* U+017F, which some case foldings turn into an 's'. */
CASE(coding_with_a_long_s_is_refused, REQUEST, DEFAULT, "fault CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\305\277\r\n\r\n0\r\n\r\n")
/* U+212A, the Kelvin sign, whose small letter is a plain 'k'. */
CASE(coding_with_a_kelvin_sign_is_refused, REQUEST, DEFAULT, "fault CODING",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chun\342\204\252ed\r\n\r\n0\r\n\r\n")
CASE(coding_in_capitals_is_read, REQUEST, DEFAULT,
     "POST / 1.1 keep [Host=h] [TRANSFER-ENCODING=ChUnKeD] chunked 'a'",
     "POST / HTTP/1.1\r\n" HOST "TRANSFER-ENCODING: ChUnKeD\r\n\r\n1\r\na\r\n0\r\n\r\n")
CASE(coding_in_1_0_is_refused, REQUEST, DEFAULT, "fault CODING_IN_1_0",
     "POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
CASE(content_type_given_twice_is_refused, REQUEST, DEFAULT, "fault FIELD_TWICE",
     "GET / HTTP/1.1\r\n" HOST "Content-Type: a/b\r\nContent-Type: a/b\r\n\r\n")
CASE(authorization_given_twice_is_refused, REQUEST, DEFAULT, "fault FIELD_TWICE",
     "GET / HTTP/1.1\r\n" HOST "Authorization: a\r\nAuthorization: b\r\n\r\n")
CASE(user_agent_given_twice_is_refused, REQUEST, DEFAULT, "fault FIELD_TWICE",
     "GET / HTTP/1.1\r\n" HOST "User-Agent: a\r\nUser-Agent: b\r\n\r\n")
CASE(expect_given_twice_is_refused, REQUEST, DEFAULT, "fault FIELD_TWICE",
     "GET / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nExpect: 100-continue\r\n\r\n")
CASE(expect_continue_is_marked, REQUEST, DEFAULT,
     "PUT / 1.1 keep continue [Host=h] [Expect=100-Continue] [Content-Length=1] length truncated",
     "PUT / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\n")
CASE(other_expectation_is_marked, REQUEST, DEFAULT,
     "PUT / 1.1 keep expects [Host=h] [Expect=tea] none",
     "PUT / HTTP/1.1\r\n" HOST "Expect: tea\r\n\r\n")
CASE(expectation_in_1_0_is_passed_over, REQUEST, DEFAULT,
     "PUT / 1.0 close [Expect=100-continue] none",
     "PUT / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n")
CASE(upgrade_is_marked, REQUEST, DEFAULT,
     "GET / 1.1 keep upgrade [Host=h] [Upgrade=websocket] [Connection=keep-alive, Upgrade] none",
     "GET / HTTP/1.1\r\n" HOST "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n\r\n")
CASE(upgrade_not_named_by_connection_is_not_marked, REQUEST, DEFAULT,
     "GET / 1.1 keep [Host=h] [Upgrade=websocket] [Connection=upgraded] none",
     "GET / HTTP/1.1\r\n" HOST "Upgrade: websocket\r\nConnection: upgraded\r\n\r\n")

/* ---- requests: limits and ends --------------------------------------------- */

CASE(request_line_at_its_limit_is_read, REQUEST, LINE_20,
     "GET /234567 1.1 keep [Host=h] none", "GET /234567 HTTP/1.1\r\n" HOST "\r\n")
CASE(request_line_above_its_limit_is_refused, REQUEST, LINE_20, "limit TARGET_TOO_LONG",
     "GET /2345678 HTTP/1.1\r\n" HOST "\r\n")
CASE(endless_target_is_refused, REQUEST, LINE_20, "limit TARGET_TOO_LONG",
     "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
CASE(endless_method_is_refused, REQUEST, LINE_20, "limit TARGET_TOO_LONG",
     "GETGETGETGETGETGETGETGETGETGETGETGETGET")
CASE(field_line_at_its_limit_is_read, REQUEST, LINE_20,
     "GET / 1.1 keep [Host=h] [A=34567890123456789] none",
     "GET / HTTP/1.1\r\n" HOST "A: 34567890123456789\r\n\r\n")
CASE(field_line_above_its_limit_is_refused, REQUEST, LINE_20, "limit LINE_TOO_LONG",
     "GET / HTTP/1.1\r\n" HOST "A: 345678901234567890\r\n\r\n")
CASE(endless_name_is_refused, REQUEST, LINE_20, "limit LINE_TOO_LONG",
     "GET / HTTP/1.1\r\n" HOST "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
CASE(endless_white_space_is_refused, REQUEST, LINE_20, "limit LINE_TOO_LONG",
     "GET / HTTP/1.1\r\n" HOST "A:                                     ")
CASE(head_at_its_limit_is_read, REQUEST, HEAD_40,
     "GET / 1.1 keep [Host=h] [A=45678901] none",
     "GET / HTTP/1.1\r\n" HOST "A: 45678901\r\n\r\n")
CASE(head_above_its_limit_is_refused, REQUEST, HEAD_40, "limit HEAD_TOO_LARGE",
     "GET / HTTP/1.1\r\n" HOST "A: 1\r\nB: 2\r\nC: 3\r\n\r\n")
CASE(fields_at_their_limit_are_read, REQUEST, FIELDS_3,
     "GET / 1.1 keep [Host=h] [A=1] [B=2] none",
     "GET / HTTP/1.1\r\n" HOST "A: 1\r\nB: 2\r\n\r\n")
CASE(fields_above_their_limit_are_refused, REQUEST, FIELDS_3, "limit FIELDS_TOO_MANY",
     "GET / HTTP/1.1\r\n" HOST "A: 1\r\nB: 2\r\nC: 3\r\n\r\n")
CASE(body_at_its_limit_is_read, REQUEST, BODY_5,
     "POST / 1.1 keep [Host=h] [Content-Length=5] length 'hello'",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello")
CASE(body_above_its_limit_is_refused_by_its_length, REQUEST, BODY_5,
     "POST / 1.1 keep [Host=h] [Content-Length=6] length limit BODY_TOO_LARGE",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 6\r\n\r\n")
CASE(no_bytes_are_a_closed_connection, REQUEST, DEFAULT, "closed", "")
CASE(empty_line_alone_is_a_closed_connection, REQUEST, DEFAULT, "closed", "\r\n")
CASE(half_a_request_line_is_truncated, REQUEST, DEFAULT, "truncated", "GET / HT")
CASE(head_without_its_end_is_truncated, REQUEST, DEFAULT, "truncated",
     "GET / HTTP/1.1\r\n" HOST "\r")

/* ---- responses ------------------------------------------------------------- */

CASE(response_of_the_simplest_kind_is_read, RESPONSE, DEFAULT,
     "200 1.1 OK keep [Content-Length=5] length 'hello'",
     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
CASE(response_of_nginx_is_read, RESPONSE, DEFAULT,
     "200 1.1 OK keep [Server=nginx/1.22.1] [Date=Sat, 21 Nov 2026 04:37:28 GMT] "
     "[Content-Type=text/plain] [Content-Length=2] [Connection=keep-alive] length 'ok'",
     "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 04:37:28 GMT\r\n"
     "Content-Type: text/plain\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok")
CASE(reason_may_be_empty, RESPONSE, DEFAULT,
     "200 1.1  keep [Content-Length=0] none", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n")
CASE(space_behind_the_status_may_be_missing, RESPONSE, DEFAULT,
     "200 1.1  keep [Content-Length=0] none", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n")
CASE(reason_of_many_words_is_read, RESPONSE, DEFAULT,
     "404 1.1 Not\\x09Found \\xC3\\xA4 ! keep [Content-Length=0] none",
     "HTTP/1.1 404 Not\tFound \303\244 !\r\nContent-Length: 0\r\n\r\n")
CASE(status_999_is_read, RESPONSE, DEFAULT,
     "999 1.1 X keep [Content-Length=0] none", "HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n")
CASE(status_099_is_refused, RESPONSE, DEFAULT, "fault STATUS", "HTTP/1.1 099 X\r\n\r\n")
CASE(status_of_two_digits_is_refused, RESPONSE, DEFAULT, "fault STATUS",
     "HTTP/1.1 20 OK\r\n\r\n")
CASE(status_of_four_digits_is_refused, RESPONSE, DEFAULT, "fault STATUS",
     "HTTP/1.1 2000 OK\r\n\r\n")
CASE(status_with_a_sign_is_refused, RESPONSE, DEFAULT, "fault STATUS",
     "HTTP/1.1 +20 OK\r\n\r\n")
CASE(status_with_a_letter_is_refused, RESPONSE, DEFAULT, "fault STATUS",
     "HTTP/1.1 2x0 OK\r\n\r\n")
CASE(missing_status_is_refused, RESPONSE, DEFAULT, "fault VERSION", "HTTP/1.1\r\n\r\n")
CASE(two_spaces_before_the_status_are_refused, RESPONSE, DEFAULT, "fault STATUS",
     "HTTP/1.1  200 OK\r\n\r\n")
CASE(tab_behind_the_status_is_refused, RESPONSE, DEFAULT, "fault STATUS",
     "HTTP/1.1 200\tOK\r\n\r\n")
CASE(reason_with_nul_is_refused, RESPONSE, DEFAULT, "fault REASON",
     "HTTP/1.1 200 O\000K\r\n\r\n")
CASE(reason_with_escape_is_refused, RESPONSE, DEFAULT, "fault REASON",
     "HTTP/1.1 200 \033[2J\r\n\r\n")
CASE(status_line_ended_by_lf_is_refused, RESPONSE, DEFAULT, "fault LINE_END",
     "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n")
CASE(status_line_without_reason_ended_by_lf_is_refused, RESPONSE, DEFAULT, "fault LINE_END",
     "HTTP/1.1 200\nContent-Length: 0\r\n\r\n")
CASE(status_line_with_a_bare_cr_is_refused, RESPONSE, DEFAULT, "fault LINE_END",
     "HTTP/1.1 200 O\rK\r\n\r\n")
CASE(empty_line_before_a_response_is_refused, RESPONSE, DEFAULT, "fault VERSION",
     "\r\nHTTP/1.1 200 OK\r\n\r\n")
CASE(response_in_version_2_is_refused, RESPONSE, DEFAULT, "fault VERSION",
     "HTTP/2 200 OK\r\n\r\n")
CASE(response_of_another_protocol_is_refused, RESPONSE, DEFAULT, "fault VERSION",
     "ICY 200 OK\r\n\r\n")
CASE(banner_of_ssh_is_refused, RESPONSE, DEFAULT, "fault VERSION", "SSH-2.0-OpenSSH_9.2\r\n")
CASE(field_of_a_response_with_nul_is_refused, RESPONSE, DEFAULT, "fault FIELD_VALUE",
     "HTTP/1.1 200 OK\r\nA: b\000\r\n\r\n")
CASE(folded_field_of_a_response_is_refused, RESPONSE, DEFAULT, "fault FOLDED",
     "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n")
CASE(bare_lf_in_a_response_is_refused, RESPONSE, DEFAULT, "fault LINE_END",
     "HTTP/1.1 200 OK\r\nA: b\nContent-Length: 0\r\n\r\n")
CASE(space_before_the_colon_in_a_response_is_refused, RESPONSE, DEFAULT, "fault FIELD_NAME",
     "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n")
CASE(second_response_is_left, RESPONSE, DEFAULT,
     "200 1.1 OK keep [Content-Length=1] length 'x' +'HTTP/1.1 200 OK'",
     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK")
CASE(bytes_behind_a_closing_response_are_left, RESPONSE, DEFAULT,
     "200 1.1 OK close [Connection=close] [Content-Length=1] length 'x' +'y'",
     "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nxy")
CASE(response_without_framing_ends_by_close, RESPONSE, DEFAULT,
     "200 1.1 OK close until-close 'hello'", "HTTP/1.1 200 OK\r\n\r\nhello")
CASE(response_in_1_0_closes, RESPONSE, DEFAULT,
     "200 1.0 OK close [Content-Length=1] length 'x'",
     "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx")
CASE(response_in_1_0_may_keep_alive, RESPONSE, DEFAULT,
     "200 1.0 OK keep [Connection=keep-alive] [Content-Length=1] length 'x'",
     "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx")
CASE(response_until_close_does_not_keep_alive, RESPONSE, DEFAULT,
     "200 1.1 OK close [Connection=keep-alive] until-close",
     "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n")
CASE(response_cut_short_is_truncated, RESPONSE, DEFAULT,
     "200 1.1 OK keep [Content-Length=5] length 'hell' truncated",
     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell")
CASE(two_equal_lengths_of_a_response_are_one, RESPONSE, DEFAULT,
     "200 1.1 OK keep [Content-Length=1] [Content-Length=1] length 'x'",
     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx")
CASE(two_lengths_of_a_response_that_differ_are_refused, RESPONSE, DEFAULT, "fault LENGTH_TWICE",
     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy")
CASE(list_of_lengths_of_a_response_is_refused, RESPONSE, DEFAULT, "fault LENGTH",
     "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\nx")
CASE(signed_length_of_a_response_is_refused, RESPONSE, DEFAULT, "fault LENGTH",
     "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx")
CASE(overflowing_length_of_a_response_is_refused, RESPONSE, DEFAULT, "fault LENGTH",
     "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n")
CASE(largest_length_is_read, RESPONSE, HUGE_BODY,
     "200 1.1 OK keep [Content-Length=9223372036854775807] length 'x' truncated",
     "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nx")
CASE(length_and_coding_of_a_response_is_refused, RESPONSE, DEFAULT, "fault LENGTH_AND_CODING",
     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
CASE(unknown_coding_of_a_response_is_refused, RESPONSE, DEFAULT, "fault CODING",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n")
CASE(coding_of_a_response_in_1_0_is_refused, RESPONSE, DEFAULT, "fault CODING_IN_1_0",
     "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
CASE(interim_response_has_no_body, RESPONSE, DEFAULT,
     "103 1.1 Early Hints keep [Link=a] none +'HTTP/1.1 200 OK'",
     "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK")
CASE(status_100_has_no_body_even_with_a_length, RESPONSE, DEFAULT,
     "100 1.1 Continue keep [Content-Length=5] none +'hello'",
     "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello")
CASE(status_101_makes_a_tunnel, RESPONSE, DEFAULT,
     "101 1.1 Switching Protocols close upgrade [Upgrade=x] [Connection=upgrade] tunnel +'\\x81'",
     "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n\201")
CASE(status_204_has_no_body_even_with_a_length, RESPONSE, DEFAULT,
     "204 1.1 No Content keep [Content-Length=5] none +'hello'",
     "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello")
CASE(status_304_has_no_body_even_if_chunked, RESPONSE, DEFAULT,
     "304 1.1 Not Modified keep [Transfer-Encoding=chunked] none",
     "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n")
CASE(response_to_head_has_no_body_even_with_a_length, TO_HEAD, DEFAULT,
     "200 1.1 OK keep [Content-Length=5] none",
     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
CASE(response_to_head_without_framing_keeps_alive, TO_HEAD, DEFAULT, "200 1.1 OK keep none",
     "HTTP/1.1 200 OK\r\n\r\n")
CASE(response_to_head_may_say_chunked, TO_HEAD, DEFAULT,
     "200 1.1 OK keep [Transfer-Encoding=chunked] none +'x'",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx")
CASE(response_to_head_with_length_and_coding_is_refused, TO_HEAD, DEFAULT,
     "fault LENGTH_AND_CODING",
     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
CASE(success_of_connect_makes_a_tunnel, TO_CONNECT, DEFAULT,
     "200 1.1 OK close [Content-Length=5] tunnel +'hello'",
     "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
CASE(failure_of_connect_has_a_body, TO_CONNECT, DEFAULT,
     "407 1.1 No keep [Content-Length=5] length 'hello'",
     "HTTP/1.1 407 No\r\nContent-Length: 5\r\n\r\nhello")
CASE(response_may_give_a_field_many_times, RESPONSE, DEFAULT,
     "204 1.1 X keep [Host=a,b] [Host=c] [Content-Type=a] [Content-Type=b] none",
     "HTTP/1.1 204 X\r\nHost: a,b\r\nHost: c\r\nContent-Type: a\r\nContent-Type: b\r\n\r\n")
CASE(reason_above_the_limit_of_a_line_is_refused, RESPONSE, LINE_20, "limit LINE_TOO_LONG",
     "HTTP/1.1 200 OK 67890\r\n\r\n")
CASE(reason_at_the_limit_of_a_line_is_read, RESPONSE, LINE_20,
     "200 1.1 OK 6789 close until-close", "HTTP/1.1 200 OK 6789\r\n\r\n")
CASE(endless_fields_of_a_response_are_refused, RESPONSE, HEAD_40, "limit HEAD_TOO_LARGE",
     "HTTP/1.1 200 OK\r\nA: 1\r\nA: 1\r\nA: 1\r\nA: 1\r\nA: 1\r\nA: 1\r\nA: 1\r\n")
CASE(body_until_close_at_its_limit_is_read, RESPONSE, BODY_5,
     "200 1.1 OK close until-close 'hello'", "HTTP/1.1 200 OK\r\n\r\nhello")
CASE(body_until_close_above_its_limit_is_refused, RESPONSE, BODY_5,
     "200 1.1 OK close until-close 'hello' limit BODY_TOO_LARGE", "HTTP/1.1 200 OK\r\n\r\nhello!")
CASE(half_a_status_line_is_truncated, RESPONSE, DEFAULT, "truncated", "HTTP/1.1 20")
CASE(no_response_is_a_closed_connection, RESPONSE, DEFAULT, "closed", "")

/* ---- chunks ---------------------------------------------------------------- */

#define CHUNKED   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
#define CHUNKED_X "200 1.1 OK keep [Transfer-Encoding=chunked] chunked"

CASE(chunks_are_joined, RESPONSE, DEFAULT, CHUNKED_X " 'hello world'",
     CHUNKED "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")
CASE(empty_chunked_body_is_read, RESPONSE, DEFAULT, CHUNKED_X, CHUNKED "0\r\n\r\n")
CASE(chunk_sizes_are_hexadecimal, RESPONSE, DEFAULT,
     CHUNKED_X " '0123456789abcdef0123456789'",
     CHUNKED "A\r\n0123456789\r\n10\r\nabcdef0123456789\r\n0\r\n\r\n")
CASE(chunk_sizes_may_be_in_small_letters, RESPONSE, DEFAULT, CHUNKED_X " '0123456789'",
     CHUNKED "a\r\n0123456789\r\n0\r\n\r\n")
CASE(chunk_size_may_have_leading_zeros, RESPONSE, DEFAULT, CHUNKED_X " 'hello'",
     CHUNKED "0000000000000005\r\nhello\r\n000\r\n\r\n")
CASE(chunk_size_of_endless_zeros_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " '' limit CHUNK_TOO_LARGE", CHUNKED "00000000000000005\r\nhello\r\n")
CASE(chunk_data_may_hold_line_ends, RESPONSE, DEFAULT, CHUNKED_X " '\\x0D\\x0A0\\x0D\\x0A'",
     CHUNKED "5\r\n\r\n0\r\n\r\n0\r\n\r\n")
CASE(bytes_behind_the_last_chunk_are_left, RESPONSE, DEFAULT, CHUNKED_X " 'a' +'HTTP'",
     CHUNKED "1\r\na\r\n0\r\n\r\nHTTP")
CASE(chunk_without_size_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault CHUNK_SIZE",
     CHUNKED "\r\nhello\r\n0\r\n\r\n")
CASE(chunk_size_with_a_prefix_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault CHUNK_SIZE",
     CHUNKED "0x5\r\nhello\r\n0\r\n\r\n")
CASE(chunk_size_with_plus_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault CHUNK_SIZE",
     CHUNKED "+5\r\nhello\r\n0\r\n\r\n")
CASE(chunk_size_with_minus_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault CHUNK_SIZE",
     CHUNKED "-5\r\nhello\r\n0\r\n\r\n")
CASE(chunk_size_with_an_underscore_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " '' fault CHUNK_SIZE", CHUNKED "1_0\r\nhello\r\n0\r\n\r\n")
CASE(chunk_size_behind_a_space_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault CHUNK_SIZE",
     CHUNKED " 5\r\nhello\r\n0\r\n\r\n")
CASE(chunk_size_before_a_space_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault CHUNK_SIZE",
     CHUNKED "5 \r\nhello\r\n0\r\n\r\n")
CASE(chunk_size_before_a_tab_and_extension_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " '' fault CHUNK_SIZE", CHUNKED "5\t;a\r\nhello\r\n0\r\n\r\n")
CASE(chunk_size_with_another_letter_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " '' fault CHUNK_SIZE", CHUNKED "5g\r\nhello\r\n0\r\n\r\n")
CASE(chunk_size_with_nul_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault CHUNK_SIZE",
     CHUNKED "5\000\r\nhello\r\n0\r\n\r\n")
CASE(chunk_size_with_a_comma_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault CHUNK_SIZE",
     CHUNKED "5,5\r\nhello\r\n0\r\n\r\n")
CASE(chunk_size_of_2_to_the_63_is_refused, RESPONSE, HUGE_BODY,
     CHUNKED_X " '' limit CHUNK_TOO_LARGE", CHUNKED "8000000000000000\r\nhello")
CASE(chunk_size_that_wraps_around_is_refused, RESPONSE, HUGE_BODY,
     CHUNKED_X " '' limit CHUNK_TOO_LARGE", CHUNKED "10000000000000005\r\nhello\r\n0\r\n\r\n")
CASE(largest_chunk_size_is_read, RESPONSE, HUGE_BODY, CHUNKED_X " 'hello' truncated",
     CHUNKED "7fffffffffffffff\r\nhello")
CASE(chunks_above_the_body_limit_are_refused_by_their_size, RESPONSE, BODY_5,
     CHUNKED_X " 'abc' limit BODY_TOO_LARGE", CHUNKED "3\r\nabc\r\n3\r\nd")
CASE(chunks_at_the_body_limit_are_read, RESPONSE, BODY_5, CHUNKED_X " 'abcde'",
     CHUNKED "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
CASE(chunk_size_ended_by_lf_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault LINE_END",
     CHUNKED "5\nhello\r\n0\r\n\r\n")
CASE(chunk_size_ended_by_cr_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault LINE_END",
     CHUNKED "5\rhello\r\n0\r\n\r\n")
CASE(chunk_data_not_followed_by_a_line_end_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " 'hello' fault CHUNK_END", CHUNKED "5\r\nhello0\r\n\r\n")
CASE(chunk_data_followed_by_two_other_bytes_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " 'hello' fault CHUNK_END", CHUNKED "5\r\nhelloXY0\r\n\r\n")
CASE(chunk_data_followed_by_lf_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " 'hello' fault CHUNK_END", CHUNKED "5\r\nhello\n0\r\n\r\n")
CASE(chunk_data_followed_by_cr_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " 'hello' fault CHUNK_END", CHUNKED "5\r\nhello\r0\r\n\r\n")
CASE(chunk_data_longer_than_its_size_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " 'hell' fault CHUNK_END", CHUNKED "4\r\nhello\r\n0\r\n\r\n")
CASE(chunk_extension_is_passed_over, RESPONSE, DEFAULT, CHUNKED_X " 'hello'",
     CHUNKED "5;a=b;c=\"d e\";f\r\nhello\r\n0;last\r\n\r\n")
CASE(chunk_extension_with_lf_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " '' fault CHUNK_EXTENSION", CHUNKED "5;a\nhello\r\n0\r\n\r\n")
CASE(chunk_extension_with_cr_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault LINE_END",
     CHUNKED "5;a\rb\r\nhello\r\n0\r\n\r\n")
CASE(chunk_extension_with_nul_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " '' fault CHUNK_EXTENSION", CHUNKED "5;a\000\r\nhello\r\n0\r\n\r\n")
CASE(chunked_body_without_last_chunk_is_truncated, RESPONSE, DEFAULT,
     CHUNKED_X " 'hello' truncated", CHUNKED "5\r\nhello\r\n")
CASE(chunked_body_without_its_last_line_end_is_truncated, RESPONSE, DEFAULT,
     CHUNKED_X " 'hello' truncated", CHUNKED "5\r\nhello\r\n0\r\n")
CASE(chunk_cut_short_is_truncated, RESPONSE, DEFAULT, CHUNKED_X " 'hel' truncated",
     CHUNKED "5\r\nhel")
CASE(chunked_request_is_read, REQUEST, DEFAULT,
     "POST / 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked 'a' +'GET'",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nGET")
CASE(bad_chunk_of_a_request_is_refused, REQUEST, DEFAULT,
     "POST / 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault CHUNK_SIZE",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nG\r\na\r\n0\r\n\r\n")

/* ---- trailers -------------------------------------------------------------- */

CASE(trailers_are_passed_over, RESPONSE, DEFAULT, CHUNKED_X " +'x'",
     CHUNKED "0\r\nDigest: a\r\nExpires-In-The-Very-Long-Run: b\r\nE:\r\n\r\nx")
CASE(trailer_content_length_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault TRAILER",
     CHUNKED "0\r\nContent-Length: 5\r\n\r\n")
CASE(trailer_transfer_encoding_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault TRAILER",
     CHUNKED "0\r\ntransfer-encoding: chunked\r\n\r\n")
CASE(trailer_host_is_refused, REQUEST, DEFAULT,
     "POST / 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault TRAILER",
     "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\nHost: g\r\n\r\n")
CASE(trailer_authorization_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault TRAILER",
     CHUNKED "0\r\nAuthorization: a\r\n\r\n")
CASE(trailer_set_cookie_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault TRAILER",
     CHUNKED "0\r\nSet-Cookie: a=b\r\n\r\n")
CASE(trailer_connection_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault TRAILER",
     CHUNKED "0\r\nConnection: close\r\n\r\n")
CASE(trailer_without_colon_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault FIELD_NAME",
     CHUNKED "0\r\nDigest\r\n\r\n")
CASE(trailer_with_empty_name_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault FIELD_NAME",
     CHUNKED "0\r\n: a\r\n\r\n")
CASE(trailer_with_a_space_before_the_colon_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " '' fault FIELD_NAME", CHUNKED "0\r\nDigest : a\r\n\r\n")
CASE(trailer_that_is_a_request_is_refused, REQUEST, DEFAULT,
     "POST / 1.1 keep [Host=h] [Transfer-Encoding=chunked] chunked '' fault FIELD_NAME",
     "POST / HTTP/1.1\r\n" HOST
     "Transfer-Encoding: chunked\r\n\r\n0\r\nGET /admin HTTP/1.1\r\nHost: h\r\n\r\n")
CASE(folded_trailer_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault FOLDED",
     CHUNKED "0\r\nDigest: a\r\n b\r\n\r\n")
CASE(trailer_with_a_control_character_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " '' fault FIELD_VALUE", CHUNKED "0\r\nDigest: \001\r\n\r\n")
CASE(trailer_ended_by_lf_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault LINE_END",
     CHUNKED "0\r\nDigest: a\n\r\n")
CASE(trailer_with_a_bare_cr_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault LINE_END",
     CHUNKED "0\r\nDigest: a\rb\r\n\r\n")
CASE(last_chunk_followed_by_lf_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault LINE_END",
     CHUNKED "0\r\n\n")
CASE(last_chunk_followed_by_cr_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault LINE_END",
     CHUNKED "0\r\n\rX")

#undef HOST
#undef CHUNKED
#undef CHUNKED_X
