// Short options by which known programs are given passwords: mysql -p…, docker login -p …
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fathom::capture {

/// Goes along a command line, or a script, and knows which options take passwords where it is.
class PasswordOptions {
 public:
  /// A word that may name a program, with its folder or without.
  void see(std::string_view word);

  /// Another command begins.
  void forget() {
    seen_ = 0;
    other_ = false;
    login_ = Login::none;
  }

  /// Whether a password stands in the same word, right behind these two characters: "-p".
  [[nodiscard]] bool is_glued(std::string_view word) const;

  /// Whether the next word is a password: `word` is the whole option.
  [[nodiscard]] bool is_followed(std::string_view word) const;

  /// Whether a word behind `before` is a key: of `wandb login KEY` whatever stands there, of the
  /// login of a program that is not known what is as long as one. Behind options that name a user,
  /// a host or an account stands none.
  [[nodiscard]] bool is_key(std::string_view word, std::string_view before) const;

  /// Whether a name that is no password follows "-p": of srun a partition, of mkdir a folder.
  [[nodiscard]] bool means_other() const { return other_; }

 private:
  /// What was last seen: a tracker, its "login", another's "login".
  enum class Login : std::uint8_t { none, tracker, key, long_key };

  std::uint64_t seen_ = 0;  ///< A bit for each row of the table.
  bool other_ = false;
  Login login_ = Login::none;
};

}  // namespace fathom::capture
