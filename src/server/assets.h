// The files of the page, compiled in: there is no path to a file of the machine.
#pragma once

#include <span>
#include <string_view>

#include "server/http/response.h"

namespace fathom::server {

struct Asset {
  std::string_view name;     ///< "app.js".
  std::string_view type;     ///< "text/javascript; charset=utf-8".
  std::string_view gzipped;  ///< Its bytes, compressed.
};

/// Made by tools/embed_page of ui/dist.
std::span<const Asset> all_assets();
/// nullptr where there is none.
const Asset* find_asset(std::string_view name);
Response response_of(const Asset& asset);

}  // namespace fathom::server
