// What fathom dump prints: processes, their threads, what they wait for and their Python stacks.
#pragma once

#include <string>
#include <vector>

#include "render/style.h"
#include "sample/process_look.h"

namespace fathom::cli {

struct DumpShow {
  std::vector<sample::ProcessLook> processes;  ///< Parents before children.
  double milliseconds = 0;                     ///< How long it took to look at them.
};

/// `all`: also each thread without Python by itself.
std::string dump_text(const DumpShow& dump, const Style& style, bool all);
/// Schema fathom.dump/1.
std::string dump_json(const DumpShow& dump);

}  // namespace fathom::cli
