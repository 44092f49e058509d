// Finds parents, children and ranks from the first records of the capture files.
#include "engine/inputs/run_family.h"

#include <cstddef>
#include <span>
#include <vector>

#include "engine/inputs/run_conditions.h"
#include "wire/reader.h"

namespace fathom {
namespace {

/// The records that introduce a process are among the first.
constexpr std::size_t kHeadBytes = std::size_t{128} << 10;

/// What the first records of a capture file say about its process.
class Introduction final : public wire::Visitor {
 public:
  explicit Introduction(std::int64_t pid) : pid_(pid) {}
  void process(const wire::ProcessRecord& record, std::uint64_t /*offset*/) override {
    if (record.pid != pid_) return;
    // Said again, the newer holds: a process may learn of its rank later.
    if (record.rank >= 0) rank = record.rank;
    name = record.name;
    if (known) return;
    known = true;
    parent = record.parent;
    main = record.role == "main" || record.role == "rank";
  }

  bool known = false;
  bool main = false;
  std::int64_t parent = 0;
  std::int32_t rank = -1;
  std::string name;

 private:
  std::int64_t pid_;
};

void introduce(std::span<const std::byte> head, Introduction& introduction) {
  wire::Reader reader(introduction);
  reader.feed(head);
  reader.finish();
}

}  // namespace

std::optional<std::int64_t> Ancestors::root_of(std::int64_t pid) {
  std::vector<std::int64_t> way;
  std::optional<std::int64_t> root;
  while (true) {
    // Who is on this way already is known to have no root: a damaged table may go round in circles.
    const auto [known, unknown] = known_.try_emplace(pid);
    if (!unknown) {
      root = known->second;
      break;
    }
    way.push_back(pid);
    if (roots_.contains(pid)) {
      root = pid;
      break;
    }
    const auto parent = family_.parents.find(pid);
    if (parent == family_.parents.end()) break;
    pid = parent->second;
  }
  for (const std::int64_t below : way) known_[below] = root;
  return root;
}

RunFamily run_family(const std::string* manifest, const RunFiles& files, HeldFiles& held) {
  RunFamily family;
  std::map<std::int64_t, std::int32_t> stated_ranks;
  if (manifest != nullptr) {
    for (const ManifestProcess& process : manifest_processes(*manifest)) {
      family.parents[process.pid] = process.parent;
      if (process.rank >= 0 && process.rank <= INT32_MAX)
        stated_ranks[process.pid] = static_cast<std::int32_t>(process.rank);
    }
  }
  for (const NamedFile& file : files.captures) {
    // Beside traces of torch.profiler, parent and rank are all that is needed.
    if (const auto stated = stated_ranks.find(file.pid);
        !files.torch.empty() && stated != stated_ranks.end()) {
      family.ranks.insert(*stated);
      continue;
    }
    Introduction introduction(file.pid);
    introduce(held.head(file.path, kHeadBytes), introduction);
    if (!introduction.known) continue;
    if (introduction.parent > 0) family.parents[file.pid] = introduction.parent;
    if (introduction.rank >= 0) family.ranks[file.pid] = introduction.rank;
    if (!introduction.name.empty()) family.names[file.pid] = introduction.name;
    if (introduction.main) family.mains.insert(file.pid);
  }
  return family;
}

std::set<std::int64_t> run_roots(const RunFiles& files, const RunFamily& family) {
  std::set<std::int64_t> roots;
  for (const NamedFile& file : files.torch) roots.insert(file.pid);
  if (!roots.empty()) return roots;
  for (const auto& [pid, rank] : family.ranks) {
    const auto parent = family.parents.find(pid);
    const auto same =
        parent == family.parents.end() ? family.ranks.end() : family.ranks.find(parent->second);
    const bool inherited = same != family.ranks.end() && same->second == rank;
    if (!inherited) roots.insert(pid);
  }
  if (roots.size() > 1) return roots;
  roots.clear();
  if (!family.mains.empty()) return {*family.mains.begin()};
  if (!files.captures.empty()) return {files.captures.front().pid};
  return {};
}

}  // namespace fathom
