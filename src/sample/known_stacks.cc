// Keeps native functions by the stack of Python above them.
#include "sample/known_stacks.h"

#include <algorithm>
#include <utility>

namespace fathom::sample {
namespace {

bool is_of(const KnownStacks::Known& known, std::span<const Frame> python,
           const native::BlockedAt& at) {
  return known.at == at && std::ranges::equal(known.python, python);
}

}  // namespace

void KnownStacks::note(Known known) {
  if (known.python.empty()) return;
  std::erase_if(known_, [&](const Known& each) { return is_of(each, known.python, known.at); });
  if (known_.size() >= kMost) known_.pop_back();
  known_.insert(known_.begin(), std::move(known));
}

const KnownStacks::Known* KnownStacks::find(std::span<const Frame> python,
                                            const native::BlockedAt& at) const {
  const auto found =
      std::ranges::find_if(known_, [&](const Known& each) { return is_of(each, python, at); });
  return found == known_.end() ? nullptr : &*found;
}

}  // namespace fathom::sample
