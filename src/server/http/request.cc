// Looks up the fields of a request.
#include "server/http/request.h"

#include <algorithm>

namespace fathom::server {

std::string_view HttpRequest::field(std::string_view name) const {
  for (const auto& [key, value] : fields) {
    if (key == name) return value;
  }
  return {};
}

std::size_t HttpRequest::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(fields, [name](const auto& field) { return field.first == name; }));
}

}  // namespace fathom::server
