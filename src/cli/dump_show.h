// What fathom dump prints: processes, their threads, what they wait for and their Python stacks.
#pragma once

#include <string>

#include "record/tree_looks.h"
#include "render/style.h"

namespace fathom::cli {

/// `all`: also each thread without Python by itself.
std::string dump_text(const record::TreeLooks& dump, const Style& style, bool all);
/// Schema fathom.dump/1.
std::string dump_json(const record::TreeLooks& dump);

}  // namespace fathom::cli
