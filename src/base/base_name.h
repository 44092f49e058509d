// base_name(): the last part of a path.
#pragma once

#include <string_view>

namespace fathom {

/// What stands behind the last slash: of "/usr/bin/python3" "python3"; without one all of it.
constexpr std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace fathom
