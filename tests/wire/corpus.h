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

/* Whole requests under the limits that a server has by default. */
#define REQUEST(claim, rfc, must, why, expected, input)                                            \
        CASE(claim, REQUEST, DEFAULT, expected, input)
#include "requests.h"
#undef REQUEST

/* Requests end in this where a case is about something before it. */
#define HOST "Host: h\r\n"

/* ---- requests that are not whole -------------------------------------------- */

CASE(half_a_tls_hello_is_refused, REQUEST, DEFAULT, "fault METHOD", "\026\003\001\002\000\001\000\001")
CASE(head_ended_by_cr_is_refused, REQUEST, DEFAULT, "fault LINE_END",
     "GET / HTTP/1.1\r\n" HOST "\rX")
CASE(body_cut_short_is_truncated, REQUEST, DEFAULT,
     "POST / 1.1 keep [Host=h] [Content-Length=5] length 'hell' truncated",
     "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhell")
CASE(expect_continue_without_its_body_is_truncated, REQUEST, DEFAULT,
     "PUT / 1.1 keep continue [Host=h] [Expect=100-Continue] [Content-Length=1] length truncated",
     "PUT / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\n")

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
CASE(space_after_the_status_may_be_missing, RESPONSE, DEFAULT,
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
CASE(tab_after_the_status_is_refused, RESPONSE, DEFAULT, "fault STATUS",
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
CASE(folded_field_of_a_response_is_read_with_spaces, RESPONSE, DEFAULT,
     "200 1.1 OK keep [A=b   c  d    e] [Content-Length=0] none",
     "HTTP/1.1 200 OK\r\nA: b\r\n c  d \r\n e\r\nContent-Length: 0\r\n\r\n")
CASE(field_of_a_response_folded_by_a_tab_is_read, RESPONSE, DEFAULT,
     "200 1.1 OK keep [A=b  \\x09c] [Content-Length=0] none",
     "HTTP/1.1 200 OK\r\nA: b\r\n\tc\r\nContent-Length: 0\r\n\r\n")
CASE(field_of_a_response_folded_before_its_value_is_read, RESPONSE, DEFAULT,
     "200 1.1 OK keep [A=b] [Content-Length=0] none",
     "HTTP/1.1 200 OK\r\nA:\r\n \r\n\t b\r\nContent-Length: 0\r\n\r\n")
CASE(field_of_a_response_folded_before_an_empty_line_is_read, RESPONSE, DEFAULT,
     "200 1.1 OK keep [Content-Length=0] [A=b] none",
     "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: b\r\n \r\n\r\n")
CASE(folded_length_of_a_response_is_read, RESPONSE, DEFAULT,
     "200 1.1 OK keep [Content-Length=2] length 'ok'",
     "HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nok")
CASE(length_of_a_response_folded_in_two_is_refused, RESPONSE, DEFAULT, "fault LENGTH",
     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\nok")
CASE(folded_coding_of_a_response_is_read, RESPONSE, DEFAULT,
     "200 1.1 OK keep [Transfer-Encoding=chunked] chunked 'x'",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: \r\n chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n")
CASE(folded_connection_of_a_response_is_read_whole, RESPONSE, DEFAULT,
     "200 1.1 OK close [Content-Length=0] [Connection=x,   close] none",
     "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x,\r\n close\r\n\r\n")
CASE(option_of_a_response_that_a_fold_changes_is_another, RESPONSE, DEFAULT,
     "200 1.1 OK keep [Content-Length=0] [Connection=close   x] none",
     "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n x\r\n\r\n")
CASE(space_before_the_first_field_of_a_response_is_refused, RESPONSE, DEFAULT, "fault FOLDED",
     "HTTP/1.1 200 OK\r\n A: b\r\n\r\n")
CASE(folds_of_a_response_count_as_its_head, RESPONSE, HEAD_40, "limit HEAD_TOO_LARGE",
     "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n d\r\n e\r\n f\r\n g\r\n\r\n")
CASE(folds_of_a_response_do_not_count_as_fields, RESPONSE, FIELDS_3,
     "200 1.1 OK keep [A=b   c] [B=d   e] [Content-Length=0] none",
     "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nB: d\r\n e\r\nContent-Length: 0\r\n\r\n")
CASE(bare_lf_in_a_response_is_refused, RESPONSE, DEFAULT, "fault LINE_END",
     "HTTP/1.1 200 OK\r\nA: b\nContent-Length: 0\r\n\r\n")
CASE(space_before_the_colon_in_a_response_is_refused, RESPONSE, DEFAULT, "fault FIELD_NAME",
     "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n")
CASE(second_response_is_left, RESPONSE, DEFAULT,
     "200 1.1 OK keep [Content-Length=1] length 'x' +'HTTP/1.1 200 OK'",
     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK")
CASE(bytes_after_a_closing_response_are_left, RESPONSE, DEFAULT,
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
CASE(response_whose_last_coding_is_not_chunked_is_refused, RESPONSE, DEFAULT,
     "fault CODING_NOT_LAST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n")
CASE(unknown_coding_of_a_response_is_refused, RESPONSE, DEFAULT, "fault CODING",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
CASE(empty_elements_of_a_responses_coding_are_left_out, RESPONSE, DEFAULT,
     "200 1.1 OK keep [Transfer-Encoding=, chunked,] chunked",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: , chunked,\r\n\r\n0\r\n\r\n")
CASE(response_in_1_2_is_read_as_1_1, RESPONSE, DEFAULT,
     "200 1.1 OK keep [Content-Length=1] length 'x'",
     "HTTP/1.2 200 OK\r\nContent-Length: 1\r\n\r\nx")
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
CASE(bytes_after_the_last_chunk_are_left, RESPONSE, DEFAULT, CHUNKED_X " 'a' +'HTTP'",
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
CASE(chunk_size_after_a_space_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault CHUNK_SIZE",
     CHUNKED " 5\r\nhello\r\n0\r\n\r\n")
CASE(chunk_size_before_a_space_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault CHUNK_EXTENSION",
     CHUNKED "5 \r\nhello\r\n0\r\n\r\n")
CASE(chunk_size_before_a_tab_and_extension_is_read, RESPONSE, DEFAULT,
     CHUNKED_X " 'hello'", CHUNKED "5\t;a\r\nhello\r\n0\r\n\r\n")
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

/* ---- trailers -------------------------------------------------------------- */

CASE(trailers_are_read, RESPONSE, DEFAULT,
     CHUNKED_X " {Digest=a} {Expires-In-The-Very-Long-Run=b} {E=} +'x'",
     CHUNKED "0\r\nDigest: a\r\nExpires-In-The-Very-Long-Run: b\r\nE:\r\n\r\nx")
CASE(trailer_content_length_is_dropped, RESPONSE, DEFAULT, CHUNKED_X " {B=c} +'x'",
     CHUNKED "0\r\nContent-Length: 5\r\nB: c\r\n\r\nx")
CASE(trailer_transfer_encoding_is_dropped, RESPONSE, DEFAULT, CHUNKED_X " {A=b}",
     CHUNKED "0\r\nA: b\r\ntransfer-encoding: chunked\r\n\r\n")
CASE(trailer_authorization_is_dropped, RESPONSE, DEFAULT, CHUNKED_X,
     CHUNKED "0\r\nAuthorization: a\r\n\r\n")
CASE(trailer_set_cookie_is_dropped_with_its_folds, RESPONSE, DEFAULT, CHUNKED_X " {C=d}",
     CHUNKED "0\r\nSet-Cookie: a=b\r\n ; c\r\nC: d\r\n\r\n")
CASE(trailer_connection_is_dropped, RESPONSE, DEFAULT, CHUNKED_X,
     CHUNKED "0\r\nConnection: close\r\n\r\n")
CASE(trailer_without_colon_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault FIELD_NAME",
     CHUNKED "0\r\nDigest\r\n\r\n")
CASE(trailer_with_empty_name_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault FIELD_NAME",
     CHUNKED "0\r\n: a\r\n\r\n")
CASE(trailer_with_a_space_before_the_colon_is_refused, RESPONSE, DEFAULT,
     CHUNKED_X " '' fault FIELD_NAME", CHUNKED "0\r\nDigest : a\r\n\r\n")
CASE(folded_trailer_is_read_with_a_space, RESPONSE, DEFAULT, CHUNKED_X " {Digest=a b c} {E=f}",
     CHUNKED "0\r\nDigest: a \r\n \t b\r\n\tc\r\nE: f\r\n\r\n")
CASE(trailer_folded_before_its_value_is_read, RESPONSE, DEFAULT, CHUNKED_X " {Digest=a} {E=}",
     CHUNKED "0\r\nDigest: \r\n a \r\n \r\nE:\r\n \r\n\r\n")
CASE(space_before_the_first_trailer_is_refused, RESPONSE, DEFAULT, CHUNKED_X " '' fault FOLDED",
     CHUNKED "0\r\n a: b\r\n\r\n")
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
