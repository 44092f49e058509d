// ProcessTree: which processes belong to the captured program.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/proc_file.h"

namespace fathom::monitor {

/// A process of the tree.
struct TreeProcess {
  std::int32_t pid = 0;
  std::int32_t parent = 0;       ///< When it was found.
  std::int64_t start_ticks = 0;  ///< Since boot.
  std::string name;              ///< As the kernel has it, at most 15 bytes.
  bool older = false;            ///< It ran before the tree was watched.
};

/// All descendants of one process, itself included. Who was seen in the tree stays in it while it
/// lives, whoever adopts it. A process whose parent was gone before anybody looked is known by its
/// session id, by the launcher as its adopter, or by FATHOM_SESSION in its environment.
/// Safe to use from several threads.
class ProcessTree {
 public:
  struct Options {
    std::int32_t root = 0;
    /// The launcher: it and its own threads' work are left out, but orphans that it adopts (as a
    /// subreaper) belong to the tree. 0: nobody.
    std::int32_t launcher = 0;
    /// The value of FATHOM_SESSION, which marks what was started inside; empty: not looked at.
    std::string session;
  };
  ProcessTree(Roots roots, Options options);

  struct Changes {
    std::vector<TreeProcess> joined;  ///< Parents before their children.
    std::vector<TreeProcess> left;
  };
  /// Looks who came and who went. Cheap while no process was started: then nothing is listed. O(all
  /// processes) otherwise, and reads only what is new.
  Changes update();

  /// By pid.
  [[nodiscard]] std::vector<TreeProcess> processes() const;
  [[nodiscard]] bool contains(std::int32_t pid) const;
  [[nodiscard]] std::int32_t root() const { return options_.root; }

 private:
  [[nodiscard]] std::vector<std::int32_t> list() const;
  [[nodiscard]] bool is_marked(std::int32_t pid) const;
  void look_at(const std::vector<std::int32_t>& fresh, Changes& changes);
  void drop_gone(const std::vector<std::int32_t>& alive, Changes& changes);

  const Roots roots_;
  const Options options_;
  mutable std::mutex mutex_;
  std::map<std::int32_t, TreeProcess> members_;
  std::set<std::int32_t> strangers_;  ///< Looked at, and not ours.
  std::int64_t last_pid_ = -1;        ///< The newest task when we last looked.
  bool first_ = true;
};

}  // namespace fathom::monitor
