// Finds the processes of each tree and looks at one after the other.
#include "record/tree_looks.h"

#include <chrono>
#include <utility>

namespace fathom::record {
namespace {

/// The first must be there; one of those below may end while the others are looked at.
Result<void> look_at_tree(pid_t root, bool alone, sample::native::ImageCache* images,
                          const std::function<void(const std::string&)>& warning,
                          std::vector<sample::ProcessLook>& looks) {
  const std::vector<pid_t> tree = alone ? std::vector<pid_t>{root} : sample::process_tree(root);
  for (const pid_t pid : tree) {
    Result<sample::ProcessLook> look = sample::look_at(pid, images);
    if (look) {
      looks.push_back(std::move(*look));
    } else if (pid == root) {
      return std::move(look).error();
    } else if (look.error().code != ErrorCode::not_found) {
      warning(look.error().message);
    }
  }
  return {};
}

}  // namespace

Result<TreeLooks> look_at_trees(std::span<const pid_t> roots, const TreeLooksOptions& options,
                                const std::function<void(const std::string&)>& warning) {
  TreeLooks found;
  sample::native::ImageCache images;
  const auto begin = std::chrono::steady_clock::now();
  for (const pid_t root : roots) {
    const Result<void> looked = look_at_tree(
        root, options.alone, options.native ? &images : nullptr, warning, found.processes);
    if (!looked) return looked.error();
  }
  found.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return found;
}

}  // namespace fathom::record
