"""day_rows - rows of CSV with every kind of cell, and an independent reader of the answers.

    rows = rows_of(range(20000))
    content = csv_of(rows)
"""
import csv
import io

LONG = 20_000
VERY_LONG = 1_000_000

# Texts as people have them in tables.  Each row has one, with its number.
TEXTS = [
    'plain words', 'she said "no", then ""yes""', '"', 'one, two, three,', ',', 'line 1\nline 2\n\nline 4', '\n',
    'windows\r\nlines\r\n', 'alone\rreturn', 'four bytes: \U0001f600\U0001d11e\U00020bb7', 'h\u00e9llo \u4e16\u754c \u05e9\u05dc\u05d5\u05dd e\u0301',
    '', ' ', '  spaces around  ', '\ttabs\t', ''.join(map(chr, range(1, 32))) + '\x7f\x85', '\u2028\u2029\ufeff\ufffd\u200b',
    '00123', '0', '-0.50', '1e999', '12345678901234567890', '+49 30 1234', '1,234.56', 'null', 'true', 'NaN', '#N/A',
    '=1+1', '=HYPERLINK("http://h","x")', '@SUM(A1)', '-2+3', '+cmd|\' /C calc\'!A0', '# no comment', 'https://host/path?a=b#c',
    '{"error":{"message":"not yours","code":"insufficient_quota"}}', '[1,2,{"a":null}]', '{"custom_id":"r1"}', '"quoted json"',
    '{{x}}', '{{text}}', '{{id}} {{ text }} {{', '}}{{', '\\', '\\n \\u0041 \\"', "it's", '%s %d %00', '<b>&amp;</b>', '$(reboot) `x` ${HOME}',
    'data: [DONE]\n\ndata: {"error":1}\n\n', 'HTTP/1.1 500 no\r\nContent-Length: 0\r\n\r\n', '\\ud83d', 'a' * 4096, '\u00df' * 2048,
]
CODES = ['007', '', '0x1F', '1', '=A1', '"x"', 'a,b', '\u00e4\n', '1.0', ' ']
SCORES = ['0', '-1', '3.25', '1e3', 'null', 'true', '"007"', '[]', '{"a":[1,2]}', '12345678901234567890']


def text_of(number):
    """Most texts end in their number; every kind is there without it too."""
    kind = TEXTS[number % len(TEXTS)]
    if number % 1999 == 1998:
        return 'x\U0001f600"\n,' * (LONG // 5)
    if number == 3777:
        return 'long \u00e9,"' * (VERY_LONG // 8)
    return kind if number % 3 == 0 else f"{kind}{number}" if number % 3 == 1 else f"{number}{kind}"


def id_of(number):
    kinds = ("r{}", "row {}", "n,{}", 'q"{}"', "\u00e9\U0001f600{}", "{:07}", "={}")
    return kinds[number % len(kinds)].format(number)


def rows_of(numbers):
    return [{"custom_id": id_of(n), "text": text_of(n), "code": CODES[n % 10], "score": SCORES[n // 10 % 10]}
            for n in numbers]


def csv_of(rows, ending="\r\n"):
    """The rows as Python writes them: a cell is in quotes if it has to be."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, ["custom_id", "text", "code", "score"], lineterminator=ending)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()
