// The page itself.
#include "server/assets.h"
#include "server/route.h"

namespace fathom::server {
namespace {

Result<Response> answer_page(const Call& /*call*/) {
  const Asset* const asset = find_asset("index.html");
  if (asset == nullptr) return Error{ErrorCode::not_found, "this build has no page"};
  Response response;
  response.type = asset->type;
  response.fixed = asset->gzipped;
  response.gzipped = true;
  return response;
}

}  // namespace

Route page() { return {.path = "", .answer = answer_page, .needs_input = false}; }

}  // namespace fathom::server
