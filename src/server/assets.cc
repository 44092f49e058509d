// Looks a file of the page up.
#include "server/assets.h"

#include <algorithm>

namespace fathom::server {

const Asset* find_asset(std::string_view name) {
  const std::span<const Asset> all = all_assets();
  const auto at = std::ranges::find(all, name, &Asset::name);
  return at == all.end() ? nullptr : &*at;
}

Response response_of(const Asset& asset) {
  Response response;
  response.type = asset.type;
  response.fixed = asset.gzipped;
  response.gzipped = true;
  return response;
}

}  // namespace fathom::server
