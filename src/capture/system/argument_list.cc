// Makes argument lists for exec.
#include "capture/system/argument_list.h"

#include <algorithm>

#include <unistd.h>

namespace fathom::capture {

Words::Words(std::vector<std::string> words) : words_(std::move(words)) {
  for (std::string& word : words_) pointers_.push_back(word.data());
  pointers_.push_back(nullptr);
}

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> all = changes;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const std::string name = text.substr(0, text.find('=') + 1);
    const bool changed = std::ranges::any_of(
        changes, [&](const std::string& change) { return change.starts_with(name); });
    if (!changed) all.push_back(text);
  }
  return all;
}

}  // namespace fathom::capture
