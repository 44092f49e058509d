// The page's script and style.
#include "server/assets.h"

#include "server/route.h"

namespace fathom::server {
namespace {

Result<Response> answer_asset(const Call& call) {
  const Asset* const asset = find_asset(call.rest);
  if (asset == nullptr) return Error{ErrorCode::not_found, "the page has no such file"};
  return response_of(*asset);
}

}  // namespace

Route assets() { return {.path = "assets/", .answer = answer_asset, .needs_input = false}; }

}  // namespace fathom::server
