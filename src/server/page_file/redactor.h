// Redactor: puts numbers in the place of all words that are not the program's own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/string_pool.h"

namespace fathom::server {

/// What stays is a word of the program's own texts, with a number before it, or a number: nothing
/// of a recording needs to be known to be left out. A word is what stands between spaces, quotes,
/// brackets, commas and the like: "aten::mm", "train.py:12", "/home/me". The same word always gets
/// the same number, so that names can be told apart and followed from table to table. Whole names
/// that consist of such words only ("my training step") are replaced, too.
class Redactor {
 public:
  /// Names of a recording, which are replaced as a whole from here on.
  void add(const std::vector<std::string_view>& names);
  void add(const StringPool& names);
  [[nodiscard]] std::string text(std::string_view text);
  /// Of a JSON document: its strings and the names of its members.
  [[nodiscard]] std::string json(std::string_view document);

 private:
  struct Word {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  static bool known(std::string_view word);
  static Word next_word(std::string_view text, std::size_t from);
  void add_phrase(std::string_view name);
  /// Where a phrase that begins at `begin` ends, or 0.
  [[nodiscard]] std::size_t phrase_end(std::string_view text, Word first) const;
  const std::string& number(std::string_view word);

  std::unordered_map<std::string, std::string> numbers_;
  std::unordered_map<std::string, std::vector<std::string>> phrases_;  // by their first word
};

}  // namespace fathom::server
