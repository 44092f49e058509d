// What a name means, as `fathom explain` tells it.
#include "engine/explain.h"

#include "base/json_writer.h"
#include "server/route.h"

namespace fathom::server {
namespace {

Result<Response> answer_explain(const Call& call) {
  const std::string_view name = call.text("id");
  const std::vector<Explanation> meanings = fathom::explain(name);
  if (meanings.empty()) return Error{ErrorCode::not_found, not_explained(name)};
  std::string text;
  JsonWriter json(text, kJsonCompact);
  json.object().member("id", name).key("meanings").array();
  for (const Explanation& meaning : meanings) {
    json.object().member("kind", meaning.kind).member("name", meaning.name);
    json.member("remark", meaning.remark).member("doc", meaning.doc).end();
  }
  json.end().end();
  return json_response(std::move(text));
}

}  // namespace

Route explain() { return {.path = "api/explain", .answer = answer_explain, .needs_input = false}; }

}  // namespace fathom::server
