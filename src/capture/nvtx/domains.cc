// Keeps NVTX domains, categories and registered strings.
#include "capture/nvtx/domains.h"

#include <string>
#include <utility>

#include "capture/inside/never_freed.h"
#include "capture/inside/recorder.h"
#include "capture/inside/text_table.h"

namespace fathom::nvtx {
namespace {

struct Known {
  Known() { inside::Recorder::get().hold_in_fork(lock); }
  inside::HeldInFork lock;
  std::map<const char*, Domain> domains;  // which stay where they are
  std::map<std::pair<const Domain*, std::uint32_t>, const char*> categories;
  Domain unnamed;
  std::atomic<std::uint32_t> version{0};
};

Known& known() { return inside::never_freed<Known>(); }

}  // namespace

Domain* domain_named(const char* permanent_name) {
  Known& all = known();
  const std::lock_guard lock(all.lock.mutex);
  Domain& domain = all.domains[permanent_name];
  if (domain.index == 0) domain = {permanent_name, all.domains.size()};
  return &domain;
}

Domain* domain_of(const void* handle) {
  if (handle == nullptr) return &known().unnamed;
  return static_cast<Domain*>(const_cast<void*>(handle));
}

void name_category(const Domain* domain, std::uint32_t category, const char* permanent_name) {
  Known& all = known();
  const std::lock_guard lock(all.lock.mutex);
  all.categories[{domain, category}] = permanent_name;
  ++all.version;
}

const char* category_name(const Domain* domain, std::uint32_t category) {
  Known& all = known();
  const std::lock_guard lock(all.lock.mutex);
  const auto found = all.categories.find({domain, category});
  if (found != all.categories.end()) return found->second;
  return category == 0 ? nullptr : inside::permanent(std::to_string(category));
}

std::uint32_t category_names_version() { return known().version; }

}  // namespace fathom::nvtx
