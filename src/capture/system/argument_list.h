// Lists of texts as exec wants them.
#pragma once

#include <string>
#include <vector>

namespace fathom::capture {

/// A list with the pointers to it and a null at the end.
class Words {
 public:
  explicit Words(std::vector<std::string> words);
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  /// For execve; valid as long as this.
  [[nodiscard]] char* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

/// Our environment as NAME=VALUE, with these in place of those of the same name.
std::vector<std::string> environment_with(const std::vector<std::string>& changes);

}  // namespace fathom::capture
