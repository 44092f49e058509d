// Names by their numbers, which tiles use instead.
#include <algorithm>

#include "base/json_writer.h"
#include "server/route.h"

namespace fathom::server {
namespace {

constexpr std::int64_t kMost = 4096;
/// A name may be long: an answer of about so many bytes ends early, and who asked asks for the
/// rest.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

Result<Response> answer_names(const Call& call) {
  const SliceNames& known = call.input->timeline().names;
  std::string text;
  JsonWriter json(text, kJsonCompact);
  json.object();
  const std::string_view ids = call.text("ids");
  if (!ids.empty()) {
    json.key("names").array();
    for (const std::string& id : split_commas(ids)) {
      if (text.size() > kMostBytes) break;
      const Result<std::int64_t> number = parse_whole(id, 0);
      if (!number) return Error(number.error()).in("ids");
      json.text(known.text(static_cast<std::size_t>(*number)));
    }
    json.end().end();
    return json_response(std::move(text));
  }
  const Result<std::int64_t> first = call.number("first", 0);
  const Result<std::int64_t> count = call.number("count", kMost);
  if (!first) return first.error();
  if (!count) return count.error();
  const auto begin = std::min(static_cast<std::size_t>(*first), known.size());
  const auto end =
      std::min(begin + static_cast<std::size_t>(std::min(*count, kMost)), known.size());
  json.member("first", begin).member("total", known.size()).key("names").array();
  for (std::size_t id = begin; id < end && text.size() <= kMostBytes; ++id)
    json.text(known.text(id));
  json.end().end();
  return json_response(std::move(text));
}

}  // namespace

Route names() {
  return {.path = "api/names", .answer = answer_names, .of_first_screen = [](const Call&) {
            return true;
          }};
}

}  // namespace fathom::server
