// The processes of a session folder: whose child each is, and which of them a recording is made of.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/held_files.h"
#include "engine/inputs/run_files.h"

namespace fathom {

/// Who is whose child, who has which rank, and what each calls itself: its script, mostly.
struct RunFamily {
  std::map<std::int64_t, std::int64_t> parents;
  std::map<std::int64_t, std::int32_t> ranks;
  std::map<std::int64_t, std::string> names;
  std::set<std::int64_t> mains;

  /// Is the process `from`, or below it?
  [[nodiscard]] bool descends(std::int64_t pid, std::int64_t from) const;
};

/// By the manifest's text (null: there is none), and where that does not suffice by the first
/// records of the capture files, which stay open in `held`.
RunFamily run_family(const std::string* manifest, const RunFiles& files, HeldFiles& held);

/// The processes that a recording each is made of: those with traces of torch.profiler, else the
/// ranks that are no children of another with the same number, else one.
std::set<std::int64_t> run_roots(const RunFiles& files, const RunFamily& family);

}  // namespace fathom
