/*
 * routes.h - requests to a router, and what must become of each.
 *
 * Included with ROUTE defined:
 *
 *     ROUTE(claim, rule, why, request, status, part)
 *
 * 'rule' is the document and section that has the rule, or "choice" if the server decides.  'request' is
 * the method and the target.  'part' is in the response: the pattern and the parameters that the
 * handler has got, a header, or the reason of a refusal.  The router has these patterns, the last two by
 * a mount below "/api/{v}":
 *
 *     GET /                   GET /users/me           GET /users/{id}         DELETE /users/{id}
 *     /any                    OPTIONS /own            GET /folder/            GET /files/{rest...}
 *     GET /api/{v}/users/{id} POST /api/{v}/users/{id}
 *
 * tools/request-table reads this file too, for docs/http_requests.md, and asks Go's ServeMux.  One case
 * is one rule.
 */

/* One case, a few lines. */
/* clang-format off */

/* ---- Methods ------------------------------------------------------------- */

ROUTE(get_gets_its_handler, "RFC 9110, 9.3.1", "the pattern has the method",
      "GET /users/7", 200, "GET /users/{id} id=[7]")
ROUTE(head_gets_the_handler_of_get, "RFC 9110, 9.3.2", "as GET, without the content",
      "HEAD /users/7", 200, "Content-Length: 22\r\n")
ROUTE(head_without_a_get_is_not_allowed, "RFC 9110, 15.5.6", "the resource has no GET",
      "HEAD /own", 405, "Allow: OPTIONS\r\n")
ROUTE(another_method_is_not_allowed, "RFC 9110, 15.5.6", "405 has Allow",
      "PATCH /users/7", 405, "Allow: GET, DELETE, HEAD, OPTIONS\r\n")
ROUTE(a_method_in_small_letters_is_another, "RFC 9110, 9.1", "methods are case-sensitive",
      "get /users/7", 405, "Allow: GET, DELETE, HEAD, OPTIONS\r\n")
ROUTE(trace_is_not_allowed_unless_a_route_has_it, "RFC 9110, 9.3.8", "a response must not show cookies",
      "TRACE /users/7", 405, "Allow: GET, DELETE, HEAD, OPTIONS\r\n")
ROUTE(another_method_of_no_resource_is_not_found, "RFC 9110, 15.5.5", "there is nothing to allow",
      "PATCH /none", 404, "\"status\":404")
ROUTE(a_pattern_without_a_method_has_each, "choice", "as in Go's patterns",
      "M-SEARCH /any", 200, "/any")
ROUTE(options_lists_the_methods, "RFC 9110, 9.3.7", "of the resource",
      "OPTIONS /users/7", 204, "Allow: GET, DELETE, HEAD, OPTIONS\r\n")
ROUTE(options_of_the_program_gets_its_handler, "RFC 9110, 9.3.7", "the program's answer wins",
      "OPTIONS /own", 200, "OPTIONS /own")
ROUTE(options_of_no_resource_is_not_found, "RFC 9110, 15.5.5", "it has no methods",
      "OPTIONS /none", 404, "\"status\":404")
ROUTE(options_of_the_whole_server_succeeds, "RFC 9110, 9.3.7", "\"*\" asks the server, not a resource",
      "OPTIONS *", 204, "HTTP/1.1 204 ")
ROUTE(connect_is_not_found, "RFC 9110, 9.3.6", "an origin server may refuse; it has no path",
      "CONNECT h:80", 404, "\"status\":404")

/* ---- Which route --------------------------------------------------------- */

ROUTE(a_text_goes_before_a_parameter, "choice", "the more exact pattern wins, in whatever order they were added",
      "GET /users/me", 200, "GET /users/me")
ROUTE(the_search_goes_back_for_the_method, "choice", "a GET of its own does not hide the DELETE",
      "DELETE /users/me", 200, "DELETE /users/{id} id=[me]")
ROUTE(the_root_is_a_path, "choice", "it is not a prefix of all paths",
      "GET /none", 404, "\"status\":404")
ROUTE(paths_have_a_case, "RFC 3986, 6.2.2.1", "only scheme and host have none",
      "GET /USERS/7", 404, "\"status\":404")
ROUTE(the_query_is_not_part_of_the_path, "RFC 3986, 3.4", "it follows the path",
      "GET /users/7?a=/8/../9", 200, "id=[7]")
ROUTE(the_rest_of_a_path_has_its_slashes, "choice", "the values are decoded by segment",
      "GET /files/a/b//c%20d", 200, "rest=[a/b//c d]")
ROUTE(the_rest_of_a_path_may_be_empty, "choice", "the slash is there",
      "GET /files/", 200, "rest=[]")
ROUTE(the_rest_of_a_path_needs_its_slash, "choice", "another path; a redirect would lose a body",
      "GET /files", 404, "\"status\":404")

/* ---- Slashes ------------------------------------------------------------- */

ROUTE(a_slash_at_the_end_is_another_path, "RFC 3986, 6.2.3", "not equivalent for all servers; a redirect would lose a body",
      "GET /users/7/", 404, "\"status\":404")
ROUTE(a_pattern_may_end_in_a_slash, "choice", "and then matches that path alone",
      "GET /folder/", 200, "GET /folder/")
ROUTE(a_pattern_that_ends_in_a_slash_needs_it, "choice", "another path",
      "GET /folder", 404, "\"status\":404")
ROUTE(a_parameter_is_not_empty, "choice", "an empty identifier would name the collection",
      "GET /users/", 404, "\"status\":404")
ROUTE(two_slashes_are_not_one, "RFC 3986, 3.3", "a segment may be empty",
      "GET //users/7", 404, "\"status\":404")
ROUTE(a_slash_in_a_value_is_not_a_border, "RFC 3986, 2.2", "%2F is data, / is a delimiter",
      "GET /users/a%2Fb", 200, "GET /users/{id} id=[a/b]")
ROUTE(an_escaped_slash_is_not_a_border, "RFC 3986, 2.2", "a proxy that decides by the raw path sees one segment",
      "GET /users%2F7", 404, "\"status\":404")

/* ---- Escapes and dots ---------------------------------------------------- */

ROUTE(an_escaped_letter_is_that_letter, "RFC 3986, 6.2.2.2", "a rule for /users cannot be passed by %75sers",
      "GET /%75sers/7", 200, "GET /users/{id} id=[7]")
ROUTE(a_value_is_decoded_once, "RFC 3986, 2.4", "never decode the same text twice",
      "GET /users/%252e%252e", 200, "id=[%2e%2e]")
ROUTE(a_plus_is_a_plus, "RFC 3986, 2.2", "a space only in forms",
      "GET /users/a+b", 200, "id=[a+b]")
ROUTE(a_semicolon_is_part_of_a_segment, "RFC 3986, 3.3", "parameters of a segment are the program's",
      "GET /users/7;a=b", 200, "id=[7;a=b]")
ROUTE(letters_beyond_ascii_are_a_value, "RFC 3986, 2.5", "UTF-8, escaped",
      "GET /users/%C3%A4", 200, "id=[\303\244]")
ROUTE(an_escaped_nul_is_refused, "choice", "a C string would end there",
      "GET /users/7%00.txt", 400, "\"detail\":\"")
ROUTE(an_escaped_nul_in_the_rest_is_refused, "choice", "a C string would end there",
      "GET /files/a/%00", 400, "\"detail\":\"")
ROUTE(a_wrong_escape_is_refused, "RFC 3986, 2.1", "% and two hexadecimal digits",
      "GET /users/%4g", 400, "\"detail\":\"")
ROUTE(dots_are_refused, "RFC 3986, 5.2.4", "clients remove them; only an attack sends them",
      "GET /files/../users/7", 400, "\"detail\":\"")
ROUTE(one_dot_is_refused, "RFC 3986, 5.2.4", "clients remove it",
      "GET /files/./a", 400, "\"detail\":\"")
ROUTE(escaped_dots_are_refused, "RFC 3986, 6.2.2.2", "%2e is a dot",
      "GET /files/%2e%2E/a", 400, "\"detail\":\"")
ROUTE(dots_between_escaped_slashes_are_refused, "choice", "the decoded value would leave its folder",
      "GET /users/a%2F..%2Fb", 400, "\"detail\":\"")
ROUTE(dots_at_the_end_are_refused, "RFC 3986, 5.2.4", "clients remove them",
      "GET /users/..", 400, "\"detail\":\"")
ROUTE(three_dots_are_a_name, "RFC 3986, 3.3", "only . and .. have a meaning",
      "GET /users/...", 200, "id=[...]")

/* ---- Other forms of the target ------------------------------------------- */

ROUTE(an_absolute_target_has_a_path, "RFC 9112, 3.2.2", "servers accept the form",
      "GET http://h/users/7", 200, "GET /users/{id} id=[7]")
ROUTE(an_absolute_target_without_a_path_is_the_root, "RFC 9110, 4.2.3", "an empty path is /",
      "GET http://h?a", 200, "GET /")
ROUTE(dots_of_an_absolute_target_are_refused, "RFC 3986, 5.2.4", "the same path, the same rule",
      "GET http://h/files/../a", 400, "\"detail\":\"")
ROUTE(the_whole_server_has_no_other_method, "RFC 9112, 3.2.4", "\"*\" is for OPTIONS only",
      "GET *", 400, "\"detail\":\"")

/* ---- Mounted routers ----------------------------------------------------- */

ROUTE(a_mounted_route_is_below_its_prefix, "choice", "with the parameters of both",
      "GET /api/v1/users/7", 200, "GET /api/{v}/users/{id} v=[v1] id=[7]")
ROUTE(the_prefix_alone_is_not_a_path, "choice", "the prefix is not a route",
      "GET /api/v1", 404, "\"status\":404")
ROUTE(methods_of_a_mounted_route_are_listed, "RFC 9110, 15.5.6", "405 has Allow",
      "DELETE /api/v1/users/7", 405, "Allow: GET, POST, HEAD, OPTIONS\r\n")
ROUTE(options_of_a_mounted_route_lists_the_methods, "RFC 9110, 9.3.7", "of the resource",
      "OPTIONS /api/v1/users/7", 204, "Allow: GET, POST, HEAD, OPTIONS\r\n")
ROUTE(an_escaped_slash_in_a_prefix_is_a_value, "RFC 3986, 2.2", "%2F is data",
      "GET /api/a%2Fb/users/7", 200, "v=[a/b] id=[7]")
ROUTE(dots_do_not_leave_a_mounted_router, "RFC 3986, 5.2.4", "its middleware would be passed by",
      "GET /api/v1/../../files/x", 400, "\"detail\":\"")
