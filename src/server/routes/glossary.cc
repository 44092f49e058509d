// Every word that the program shows, and what it means.
#include "engine/glossary.h"

#include "base/json_writer.h"
#include "engine/diagnosis/diagnosis.h"
#include "server/route.h"

namespace fathom::server {
namespace {

Result<Response> answer_glossary(const Call& /*call*/) {
  std::string text;
  JsonWriter json(text, kJsonCompact);
  json.object().key("kinds").array();
  for (const TermKind& kind : all_term_kinds()) {
    json.object().member("id", kind.id).member("heading", kind.heading);
    json.member("where", kind.where).end();
  }
  json.end().key("terms").array();
  for (const Term& term : all_terms())
    json.object().member("id", term.id).member("kind", term.kind).member("doc", term.doc).end();
  json.end().key("rules").array();
  for (const Rule& rule : all_rules())
    json.object().member("id", rule.id).member("title", rule.title).member("doc", rule.doc).end();
  json.end().end();
  return json_response(std::move(text));
}

}  // namespace

Route glossary() {
  return {.path = "api/glossary", .answer = answer_glossary, .needs_input = false};
}

}  // namespace fathom::server
