// Domains and their categories.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace fathom::nvtx {

/// A domain of the program; made once for each name and never freed.
struct Domain {
  const char* name = nullptr;  ///< Permanent; null: the default domain.
  std::size_t index = 0;       ///< 0: the default domain.
};

/// The one of this name.
Domain* domain_named(const char* permanent_name);
/// The one behind a handle; null is the default domain.
Domain* domain_of(const void* handle);

void name_category(const Domain* domain, std::uint32_t category, const char* permanent_name);
/// Its name, or its number as text. Null for category 0 without a name, which is none. Takes a
/// lock.
const char* category_name(const Domain* domain, std::uint32_t category);
/// Changes whenever a category gets a name.
std::uint32_t category_names_version();

}  // namespace fathom::nvtx
