// The page itself.
#include "server/assets.h"
#include "server/route.h"

namespace fathom::server {
namespace {

Result<Response> answer_page(const Call& /*call*/) {
  const Asset* const asset = find_asset("index.html");
  if (asset == nullptr) return Error{ErrorCode::not_found, "this build has no page"};
  return response_of(*asset);
}

}  // namespace

Route page() { return {.path = "", .answer = answer_page, .needs_input = false}; }

}  // namespace fathom::server
