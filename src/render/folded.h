// Stacks as flame-graph programs read them: flamegraph.pl, speedscope, inferno.
#pragma once

#include <cstddef>
#include <string>

#include "engine/session.h"

namespace fathom {

/// True for tables of stacks: their first column is `stack`.
bool has_stacks(const Report& report);

/// Which column of such a table weighs its stacks: the first in ns, or of counts where it is empty.
struct StackWeight {
  std::size_t column = 0;
  bool time = true;  ///< In ns.
};
StackWeight stack_weight(const View& view);

/// "outer;inner 1200": one line per row of a table of stacks, its time in ns, or its count, last.
/// `with_input` puts the input in front as the outermost frame, which keeps several inputs apart in
/// one graph.
std::string render_folded(const View& view, bool with_input);

}  // namespace fathom
