"""Public headers compile alone, without a warning, in every language that they
promise: C99 to C23 and C++11 to C++20, with gcc and clang.  Headers for C++ only (.hpp) compile
as C++20 and C++23, with and without exceptions.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess

FILE_BY_FILE = True

LANGUAGES = [(compiler, "c", standard) for compiler in ("gcc", "clang")
             for standard in ("c99", "c11", "gnu17", "c2x")]
LANGUAGES += [(compiler, "c++", standard) for compiler in ("g++", "clang++")
              for standard in ("c++11", "c++17", "c++20")]
CPP_LANGUAGES = [(compiler, "c++", standard, flags) for compiler in ("g++", "clang++")
                 for standard in ("c++20", "c++2b") for flags in ([], ["-fno-exceptions", "-fno-rtti"])]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]

# Of libraries that only tests link.
NOT_IN_EVERYTHING = ("eddy/eddy.h", "eddy/test.h", "eddy/test_explore.h", "eddy/test_file.h", "eddy/test_net.h")

# Macros whose text is compiled only where they are used.
BOTH = {
    "eddy/scope.h": """
static int work(void *arg) { return arg == 0; }
int start(void);
int start(void)
{
        struct eddy_scope_opts opts = { 5, 0, 0, 0, 0, { 0 } };
        eddy_task *task;
        eddy_scope scope;
        int number = 1;

        eddy_scope_begin(&scope, &opts);
        eddy_scope_start(&scope, work, &number);
        eddy_scope_start_copy(&scope, work, &number, sizeof(number));
        (eddy_scope_start)(&scope, &work, 0);
        if (eddy_scope_start_task(&scope, work, 0, 0, &task) == 0)
                eddy_task_release(task);
        return eddy_scope_end(&scope);
}
""",
    "eddy/call.h": """
static int work(void *arg) { return arg == 0; }
int gather(void);
int gather(void)
{
        struct eddy_call calls[] = { EDDY_CALL(work, 0), EDDY_CALL(work, 0) };

        return eddy_gather(calls, 2, 0);
}
""",
}
# Tables of fields, which need the designated initialisers of C99 and C++20.
TABLE = """
struct inner { double x; bool has_x; };
struct header { char *name; char *value; };
struct shape { int type; union { struct inner line; struct header text; } as; };
struct outer {
        bool b; int8_t i; uint64_t u; long l; char text[8]; char *string, *raw; int color;
        struct inner in, array[2], *list; size_t array_count, list_count;
        char words[2][4]; size_t words_count; char **strings; size_t strings_count;
        float number; struct header *headers; size_t headers_count; bool is_null; uint64_t most;
        struct shape shape;
};
static const char *const colors[] = { "red", "green", 0 };
static const struct eddy_field inner_list[] = {
        EDDY_FIELD(struct inner, x, EDDY_FIELD_FLAG(struct inner, has_x), EDDY_FIELD_MIN(0),
                   EDDY_FIELD_MAX(9)),
};
static const struct eddy_fields inner_fields = EDDY_FIELDS(struct inner, inner_list, 0);
static const struct eddy_field header_list[] = {
        EDDY_FIELD(struct header, name), EDDY_FIELD(struct header, value),
};
static const struct eddy_fields header_fields = EDDY_FIELDS(struct header, header_list, 0);
static const char *const types[] = { "line", "text", 0 };
static const struct eddy_field shape_list[] = {
        EDDY_FIELD_TAG(struct shape, type, types),
        EDDY_FIELD_STRUCT(struct shape, as.line, &inner_fields),
        EDDY_FIELD_STRUCT(struct shape, as.text, &header_fields),
};
static const struct eddy_fields shape_fields = EDDY_FIELDS(struct shape, shape_list, 0);
static const char *slug_fault(const char *text, size_t bytes)
{
        return text[bytes] ? "a slug ends" : 0;
}
static const struct eddy_field outer_list[] = {
        EDDY_FIELD(struct outer, b), EDDY_FIELD(struct outer, i), EDDY_FIELD(struct outer, u),
        EDDY_FIELD(struct outer, l), EDDY_FIELD(struct outer, text, EDDY_FIELD_REQUIRED),
        EDDY_FIELD(struct outer, string, EDDY_FIELD_AS("s"), EDDY_FIELD_LENGTH(1, 9),
                   EDDY_FIELD_FORMAT_FN("slug", slug_fault)),
        EDDY_FIELD_RAW(struct outer, raw), EDDY_FIELD_ENUM(struct outer, color, colors),
        EDDY_FIELD_STRUCT(struct outer, in, &inner_fields),
        EDDY_FIELD_ARRAY_OF(struct outer, array, array_count, &inner_fields),
        EDDY_FIELD_LIST_OF(struct outer, list, list_count, &inner_fields),
        EDDY_FIELD_ARRAY(struct outer, words, words_count),
        EDDY_FIELD_LIST(struct outer, strings, strings_count, EDDY_FIELD_ITEM_LENGTH(1, 9),
                        EDDY_FIELD_UNIQUE, EDDY_FIELD_FORMAT("uuid"), EDDY_FIELD_READ_ONLY),
        EDDY_FIELD(struct outer, number, EDDY_FIELD_NULL_FLAG(struct outer, is_null),
                   EDDY_FIELD_MIN(-1.5), EDDY_FIELD_MAX(1e30), EDDY_FIELD_WRITE_ONLY,
                   EDDY_FIELD_DESCRIPTION("text"), EDDY_FIELD_EXAMPLE("1"),
                   EDDY_FIELD_DEFAULT("2")),
        EDDY_FIELD(struct outer, most, EDDY_FIELD_MIN(1), EDDY_FIELD_MAX(UINT64_MAX)),
        EDDY_FIELD_MAP(struct outer, headers, headers_count, &header_fields,
                       EDDY_FIELD_LENGTH(0, 9)),
        EDDY_FIELD_STRUCT(struct outer, shape, &shape_fields),
};
static const struct eddy_fields outer_fields =
        EDDY_FIELDS(struct outer, outer_list, EDDY_FIELDS_STRICT);
int table(struct outer *outer);
int table(struct outer *outer)
{
        eddy_fields_fini(&outer_fields, outer);
        return eddy_fields_check(&outer_fields, 0);
}
"""

USES = {
    "eddy/fields.h": TABLE,
    "eddy/scope.h": """
int use(void);
int use(void)
{
        int err = 0, inner_err = 0;

        EDDY_SCOPE(scope, &err)
                EDDY_SCOPE(inner, &inner_err, .timeout_ns = 1, .flags = EDDY_SCOPE_SHIELD)
                        break;
        return err + inner_err;
}
""",
}


USES_IN_CPP = {
    "eddy/fields.h": f"""
#if __cplusplus >= 202002L
{TABLE}
#endif
""",
    "eddy/cpp.hpp": """
int use()
{
        eddy::scope scope({ .timeout_ns = 1 });

        scope.start([] {}, { .name = "task" });
        return scope.end() + eddy::run([] { return 0; });
}
""",
    "eddy/scope.h": """
int use()
{
        eddy_scope scope;

        eddy_scope_begin(&scope, nullptr);
        eddy_scope_start(&scope, [](void *) { int a = 1, b = 2; return a + b; }, nullptr);
        return eddy_scope_end(&scope);
}
""",
}


# Arguments that must not compile: the library would read something else in their place.
WRONG_ARGUMENTS = {
    "eddy/log.h": (
        "void use(eddy_log *log, long id);\nvoid use(eddy_log *log, long id)\n"
        "{{\n        (void) id;\n        eddy_log_info(log, {0});\n"
        "        (void) eddy_log_bind({1});\n}}\n",
        ('"m", eddy_log_int("id", id), eddy_log_str("s", "x")', 'eddy_log_int("id", id)'),
        [('"user added", 5', None), ('"user added", "name", "Ann"', None), ('"m", id', None),
         ('"m", eddy_log_int("id", id), 0', None), ("5", None), (None, '"name", "Ann"'),
         (None, 'eddy_log_int("id", id), id')]),
    "eddy/pg.h": (
        "#ifndef __cplusplus\n"
        "void take(const struct eddy_pg_value *values, size_t n);\n"
        "void use(long id);\nvoid use(long id)\n{{\n        (void) id;\n"
        "        take(EDDY_PG_PARAMS({0}));\n}}\n#endif\n",
        ('eddy_pg_int(id), eddy_pg_bool(true)',),
        [("5",), ("id",), ('"text"',), ("eddy_pg_int(id), id",)]),
    "eddy/sqlite_value.h": (
        "#ifndef __cplusplus\n"
        "void take(const struct eddy_sqlite_value *values, size_t n);\n"
        "void use(long id);\nvoid use(long id)\n{{\n        (void) id;\n"
        "        take(EDDY_SQLITE_BIND({0}));\n}}\n#endif\n",
        ("eddy_sqlite_int(id)",), [("5",), ("id",), ('"text"',), ("eddy_sqlite_int(id), id",)]),
}


def wrong_arguments(root, header, compiler, language, standard):
    """Those arguments that compile, and right ones that do not."""
    if language == "c++" and header != "eddy/log.h":
        return []
    use, right, wrongs = WRONG_ARGUMENTS[header]
    found = []
    for wrong in [right] + wrongs:
        given = [given or usual for given, usual in zip(wrong, right)]
        text = f'#include "{header}"\n' + use.format(*given)
        # Not even without warnings.
        done = subprocess.run([compiler, "-x", language, f"-std={standard}", "-w",
                               "-fsyntax-only", "-I", os.path.join(root, "include"), "-"],
                              input=text, check=False, capture_output=True, text=True)
        if (done.returncode == 0) != (wrong == right):
            found.append(f"{compiler} -std={standard}: the arguments {next(arg for arg in wrong if arg)} "
                         "compile, or right ones do not")
    return found


# Mistakes, and the beginning of the sentence that the compiler gives for each; in C99 it gives the name.
WRONG_FIELD = """
struct s { long double f; int i, *pointer, array[3]; unsigned n; size_t count; char c; const char *text;
           struct { int only; } four; float real; };
extern const struct eddy_field list[];
const struct eddy_field list[] = { %s };
"""
WRONG_SCOPE = """
int use(void);
int use(void)
{
        int err = 0;

        EDDY_SCOPE(%s)
                break;
        return err;
}
"""
WRONG_BIND = """
#ifndef __cplusplus
void take(const struct eddy_sqlite_value *values, size_t n);
void use(const struct eddy_fields *fields, const void *in, void *out);
void use(const struct eddy_fields *fields, const void *in, void *out)
{
        (void) in;
        (void) out;
        take(EDDY_SQLITE_BIND_STRUCT(fields, %s));
}
#endif
"""
SECOND = ("EDDY_SCOPE: the second argument", "second_argument_of_EDDY_SCOPE_is_not")
MISTAKES = [("eddy/fields.h", WRONG_FIELD, use, (f"{macro}: the ", f"wrong_type_for_EDDY_FIELD_{name}"))
            for use, macro, name in [
                ("EDDY_FIELD(struct s, f)", "EDDY_FIELD", "KIND"),
                ("EDDY_FIELD(struct s, pointer)", "EDDY_FIELD", "KIND"),
                ("EDDY_FIELD(struct s, text)", "EDDY_FIELD", "KIND"),
                ("EDDY_FIELD_LIST(struct s, text, count)", "EDDY_FIELD", "KIND"),
                ("EDDY_FIELD(struct s, i, EDDY_FIELD_FLAG(struct s, n))", "EDDY_FIELD_FLAG", "FLAG"),
                ("EDDY_FIELD_RAW(struct s, text)", "EDDY_FIELD_RAW", "RAW"),
                ("EDDY_FIELD_ENUM(struct s, c, 0)", "EDDY_FIELD_ENUM", "ENUM"),
                ("EDDY_FIELD_ENUM(struct s, four, 0)", "EDDY_FIELD_ENUM", "ENUM"),
                ("EDDY_FIELD_ENUM(struct s, real, 0)", "EDDY_FIELD_ENUM", "ENUM"),
                ("EDDY_FIELD_ARRAY(struct s, array, n)", "EDDY_FIELD_ARRAY or EDDY_FIELD_LIST or EDDY_FIELD_MAP", "COUNT"),
                ("EDDY_FIELD_ARRAY(struct s, pointer, count)", "EDDY_FIELD_ARRAY", "ARRAY"),
                ("EDDY_FIELD_LIST(struct s, array, count)", "EDDY_FIELD_LIST", "LIST"),
                ("EDDY_FIELD_MAP(struct s, array, count, 0)", "EDDY_FIELD_MAP", "MAP"),
                ("EDDY_FIELD_TAG(struct s, c, 0)", "EDDY_FIELD_TAG", "TAG"),
                ("EDDY_FIELD_TAG(struct s, four, 0)", "EDDY_FIELD_TAG", "TAG")]]
MISTAKES += [("eddy/scope.h", WRONG_SCOPE, use, SECOND)
             for use in ("scope, .timeout_ns = 5", "scope, .timeout_ns = 5, .flags = 1", "scope,")]
MISTAKES += [("eddy/sqlite_value.h", WRONG_BIND, use,
              ("EDDY_SQLITE_BIND_STRUCT: the pointer", "void_pointer_for_EDDY_SQLITE_BIND_STRUCT"))
             for use in ("in", "out")]


def explain(root, header, text, use, says, compiler, language, standard):
    """What the compiler prints instead of the sentence, or None."""
    if language == "c++" and (header != "eddy/fields.h" or standard != "c++20"):
        return None
    says = says[1] if standard == "c99" else says[0]
    done = subprocess.run([compiler, "-x", language, f"-std={standard}", "-fsyntax-only",
                           "-I", os.path.join(root, "include"), "-"], check=False, capture_output=True,
                          input=f'#include "{header}"\n' + text % use, text=True)
    if done.returncode and says in done.stderr:
        return None
    return f"{compiler} -std={standard}: {use} does not give the error '{says}'"


STRUCT = re.compile(r"^(?:typedef )?struct (eddy_\w+) \{\n(.*?)^\}", re.M | re.S)


def partial(text):
    """A function for C++20 that gives the first member of each struct of options in the header."""
    names = [name for name, body in STRUCT.findall(text)
             if name.endswith("_opts") or "EDDY_UNSET" in body]
    lines = [f"        const struct {name} {name}_some = {{ {{}} }};\n        (void) {name}_some;\n"
             for name in names if name != "eddy_field"]
    return "void partial();\nvoid partial()\n{\n" + "".join(lines) + "}\n"


def compile_one(root, header, compiler, language, standard, flags=()):
    command = [compiler, "-x", language, f"-std={standard}", "-fsyntax-only",
               "-I", os.path.join(root, "include"), *flags] + WARNINGS + ["-"]
    # Twice: a header guards itself.
    text = f'#include "{header}"\n#include "{header}"\nint main(void) {{ return 0; }}\n'
    text += BOTH.get(header, "")
    if language == "c":
        text += USES.get(header, "")
        command.append("-Wshadow")  # where a function may have the name of a struct
    if language == "c++":
        text = text.replace("(void)", "()") + USES_IN_CPP.get(header, "")
        if standard == "c++20":
            with open(os.path.join(root, "include", header), encoding="utf-8") as file:
                text += partial(file.read())
    result = subprocess.run(command, input=text, check=False, capture_output=True, text=True)
    return header, compiler, standard, result.returncode, result.stderr


def check(tree):
    for compiler in sorted({language[0] for language in LANGUAGES}):
        if not shutil.which(compiler):
            tree.finding("tools/install-deps", 1, f"{compiler} is missing")
            return
    headers = [path[len("include/"):] for path in tree.files("include", ends=(".h",))]
    jobs = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for header in headers:
            for language in LANGUAGES:
                jobs.append(pool.submit(compile_one, tree.root, header, *language))
        for path in tree.files("include", ends=(".hpp",)):
            for language in CPP_LANGUAGES:
                jobs.append(pool.submit(compile_one, tree.root, path[len("include/"):], *language))
        mistakes = [(mistake[0], pool.submit(explain, tree.root, *mistake, *language))
                    for mistake in MISTAKES if mistake[0] in headers for language in LANGUAGES]
        arguments = [(header, pool.submit(wrong_arguments, tree.root, header, *language))
                     for header in WRONG_ARGUMENTS if header in headers for language in LANGUAGES]
    for job in jobs:
        header, compiler, standard, status, errors = job.result()
        if status == 0:
            continue
        first = next((line for line in errors.splitlines() if "error" in line), errors.strip())
        place, _, what = first.partition(": ")
        fields = place.split(":")
        line = int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else 1
        tree.finding(f"include/{header}", line,
                     f"{compiler} -std={standard}: {what.replace('error: ', '')}")

    for header, mistake in mistakes:
        if mistake.result():
            tree.finding(f"include/{header}", 1, mistake.result())

    for header, wrong in arguments:
        for what in wrong.result():
            tree.finding(f"include/{header}", 1, what)

    everything = tree.text("include/eddy/eddy.h")
    for header in headers:
        if header not in NOT_IN_EVERYTHING and f'#include "{header}"' not in everything:
            tree.finding("include/eddy/eddy.h", 1, f'does not include "{header}"')
