// The conditions of a run that are not the machine: environment and revision of the sources.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fathom::capture {

/// True for variables that bear on speed or results: CUDA_*, NCCL_*, TORCH*, OMP_*, RANK …
bool environment_matters(const std::string& name);

/// Those of our environment that matter, redacted, in the order of their names.
std::vector<std::pair<std::string, std::string>> environment_that_matters();

struct Git {
  std::string revision;
  std::optional<bool> dirty;  ///< Files under version control differ from it.
};

/// Of the folder's repository. Nothing where there is none, or no git; never takes longer than
/// about a second.
std::optional<Git> read_git(const std::string& folder);

}  // namespace fathom::capture
