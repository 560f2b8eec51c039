/*
 * text.cpp - eddy/uuid.h, eddy/rfc3339.h and eddy/writer.h in C++.
 */
#include <algorithm>
#include <string>
#include <vector>

#include "eddy/cpp.hpp"
#include "eddy/eddy.h"
#include "test.h"

namespace
{

std::string text_of(const eddy_uuid &id)
{
        char text[EDDY_UUID_TEXT_BYTES];

        eddy_uuid_format(&id, text);
        return text;
}

} // namespace

TEST(identifiers_are_values_that_sort_as_their_texts)
{
        int result = eddy::run([] {
                std::vector<std::string> texts(100);
                eddy_uuid id, read;

                for (std::string &text : texts) {
                        eddy_uuid_v7(&id);
                        text = text_of(id);
                }
                CHECK(std::is_sorted(texts.begin(), texts.end()));
                CHECK_EQ(texts.back().size() + 1, EDDY_UUID_TEXT_BYTES);
                CHECK_EQ(eddy_uuid_parse(texts.back().data(), texts.back().size(), &read), 0);
                CHECK(std::equal(read.bytes, read.bytes + 16, id.bytes));
                eddy_uuid_v4(&read);
                CHECK_EQ(text_of(read)[14], '4');
                return 0;
        });

        CHECK_EQ(result, 0);
}

TEST(times_are_read_from_strings)
{
        const std::string text = "2026-11-23T04:05:06.789Z";
        char out[EDDY_RFC3339_TEXT_BYTES];
        int64_t time_ns;

        CHECK_EQ(eddy_rfc3339_parse(text.data(), text.size(), &time_ns), 0);
        CHECK_EQ(eddy_rfc3339_format(time_ns, 3, out), text.size());
        CHECK(text == out);
}

TEST(a_writer_takes_strings_and_formatted_text)
{
        std::string seen;
        int result = eddy::run([&seen] {
                eddy_stream *from, *to;
                eddy_writer writer;
                char buf[16], piece[64];
                const std::string word = "longer than the buffer of the writer";
                int64_t n;

                CHECK_EQ(eddy_stream_pair(nullptr, &from, &to), 0);
                eddy_writer_init(&writer, from, buf, sizeof(buf));
                CHECK_EQ(eddy_writer_write(&writer, word.data(), word.size()), 0);
                CHECK_EQ(eddy_writer_printf(&writer, " %d\n", 7), 0);
                CHECK_EQ(eddy_writer_flush(&writer), 0);
                eddy_stream_close(from);
                while ((n = eddy_stream_read(to, piece, sizeof(piece))) > 0)
                        seen.append(piece, (size_t) n);
                eddy_stream_close(to);
                return (int) n;
        });

        CHECK_EQ(result, 0);
        CHECK(seen == "longer than the buffer of the writer 7\n");
}
