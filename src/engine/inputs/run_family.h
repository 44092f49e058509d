// The processes of a session folder: whose child each is, and which of them a recording is made of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/held_files.h"
#include "engine/inputs/run_files.h"

namespace fathom {

/// Who is whose child, who has which rank, and what each calls itself: its script, mostly.
struct RunFamily {
  std::map<std::int64_t, std::int64_t> parents;
  std::map<std::int64_t, std::int32_t> ranks;
  std::map<std::int64_t, std::string> names;
  std::set<std::int64_t> mains;
};

/// Which of some processes each one descends from. Ways to the top are walked once.
class Ancestors {
 public:
  /// Borrows both.
  Ancestors(const RunFamily& family, const std::set<std::int64_t>& roots)
      : family_(family), roots_(roots) {}

  /// The first of the roots on the way up from the process, which may be that itself; unset where
  /// there is none.
  [[nodiscard]] std::optional<std::int64_t> root_of(std::int64_t pid);

 private:
  const RunFamily& family_;
  const std::set<std::int64_t>& roots_;
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> known_;
};

/// By the manifest's text (null: there is none), and where that does not suffice by the first
/// records of the capture files, which stay open in `held`.
RunFamily run_family(const std::string* manifest, const RunFiles& files, HeldFiles& held);

/// The processes that a recording each is made of: those with traces of torch.profiler, else the
/// ranks that are no children of another with the same number, else one.
std::set<std::int64_t> run_roots(const RunFiles& files, const RunFamily& family);

}  // namespace fathom
