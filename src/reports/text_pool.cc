// Open addressing over ids: a slot says which text, the text is compared.
#include "reports/text_pool.h"

#include <algorithm>

#include "store/string_pool.h"

namespace fathom {

/// The slot that holds `text`, or the free one where it belongs.
std::size_t TextPool::slot_of(std::string_view text_sought) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash_bytes(text_sought) & mask;
  while (slots_[at] != kFree && text(slots_[at]) != text_sought) at = (at + 1) & mask;
  return at;
}

void TextPool::grow() {
  slots_.assign(std::max<std::size_t>(16, slots_.size() * 2), kFree);
  for (std::size_t id = 0; id < ends_.size(); ++id)
    slots_[slot_of(text(static_cast<Id>(id)))] = static_cast<Id>(id);
}

TextPool::Id TextPool::intern(std::string_view text) {
  if ((ends_.size() + 1) * 3 > slots_.size() * 2) grow();
  Id& slot = slots_[slot_of(text)];
  if (slot == kFree) {
    slot = static_cast<Id>(ends_.size());
    bytes_ += text;
    ends_.push_back(bytes_.size());
  }
  return slot;
}

}  // namespace fathom
