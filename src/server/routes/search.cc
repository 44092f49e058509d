// Slices by a part of their name, with their density along the axis of time.
#include <algorithm>

#include "analysis/timeline/name_search.h"
#include "base/json_writer.h"
#include "server/route.h"

namespace fathom::server {
namespace {

constexpr std::int64_t kMostSlices = 10'000;
constexpr std::size_t kMostNames = 200;

Result<Response> answer_search(const Call& call) {
  const std::string_view part = call.text("q");
  if (part.empty()) return Error{ErrorCode::invalid_argument, "q: what is to be found?"};
  const Result<std::int64_t> limit = call.number("limit", 1000);
  if (!limit) return limit.error();
  const Trace& trace = call.input->session().trace();
  const NameSearch found = search_names(trace, part, call.input->range(),
                                        static_cast<std::size_t>(std::min(*limit, kMostSlices)));
  std::string text;
  JsonWriter json(text, kJsonCompact);
  json.object().member("slices", found.slices).key("names").array();
  const std::size_t shown = std::min(found.names.size(), kMostNames);
  for (std::size_t i = 0; i < shown; ++i) {
    const NameSearch::Name& name = found.names[i];
    json.object().member("name", trace.text(name.name)).member("slices", name.slices);
    json.member("total_ns", to_ns(name.total)).end();
  }
  json.end().member("names_left_off", found.names.size() - shown).key("first").array();
  for (const SliceId slice : found.first) json.integer(slice.value);
  json.end().key("density").array();
  for (const std::uint64_t count : found.density) json.integer(count);
  json.end().end();
  return json_response(std::move(text));
}

}  // namespace

Route search() { return {.path = "api/search", .answer = answer_search}; }

}  // namespace fathom::server
