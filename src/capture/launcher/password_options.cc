// The table of programs and their options for passwords.
#include "capture/launcher/password_options.h"

#include <algorithm>
#include <array>

#include "base/base_name.h"

namespace fathom::capture {
namespace {

enum class Where : std::uint8_t { same_word, next_word, both };

struct PasswordOption {
  std::string_view program;  ///< With a * at its end, of all whose names begin so, but no files.
  char letter;
  Where where;
};

constexpr std::array kOptions = {
    PasswordOption{"mysql*", 'p', Where::same_word},
    PasswordOption{"mariadb*", 'p', Where::same_word},
    PasswordOption{"7z", 'p', Where::same_word},
    PasswordOption{"7za", 'p', Where::same_word},
    PasswordOption{"7zr", 'p', Where::same_word},
    PasswordOption{"7zz", 'p', Where::same_word},
    PasswordOption{"mycli", 'p', Where::both},
    PasswordOption{"mydumper", 'p', Where::both},
    PasswordOption{"myloader", 'p', Where::both},
    PasswordOption{"cypher-shell", 'p', Where::next_word},
    PasswordOption{"swanlab", 'k', Where::next_word},
    PasswordOption{"rar", 'p', Where::same_word},
    PasswordOption{"unrar", 'p', Where::same_word},
    PasswordOption{"sshpass", 'p', Where::both},
    PasswordOption{"mongo", 'p', Where::next_word},
    PasswordOption{"mongosh", 'p', Where::next_word},
    PasswordOption{"mongodump", 'p', Where::next_word},
    PasswordOption{"mongorestore", 'p', Where::next_word},
    PasswordOption{"mongoexport", 'p', Where::next_word},
    PasswordOption{"mongoimport", 'p', Where::next_word},
    PasswordOption{"cqlsh", 'p', Where::next_word},
    PasswordOption{"rabbitmqadmin", 'p', Where::next_word},
    PasswordOption{"login", 'p', Where::next_word},  // docker login, az login …
    PasswordOption{"redis-cli", 'a', Where::both},
    PasswordOption{"http", 'a', Where::both},  // HTTPie: name:password, or a token
    PasswordOption{"https", 'a', Where::both},
    PasswordOption{"xh", 'a', Where::both},
    PasswordOption{"xhs", 'a', Where::both},
    PasswordOption{"zip", 'P', Where::both},
    PasswordOption{"unzip", 'P', Where::both},
    PasswordOption{"sqlcmd", 'P', Where::both},
    PasswordOption{"bcp", 'P', Where::both},
    PasswordOption{"tsql", 'P', Where::both},
    PasswordOption{"ipmitool", 'P', Where::both},
    PasswordOption{"ldapsearch", 'w', Where::both},
    PasswordOption{"ldapmodify", 'w', Where::both},
    PasswordOption{"ldapadd", 'w', Where::both},
    PasswordOption{"ldapdelete", 'w', Where::both},
    PasswordOption{"ldapwhoami", 'w', Where::both},
    PasswordOption{"openssl", 'k', Where::next_word},
    PasswordOption{"openssl", 'K', Where::next_word},
    PasswordOption{"curl", 'b', Where::both},  // cookies
};
static_assert(kOptions.size() <= 64);

/// Programs that another one starts, with options of their own: sshpass -p PASSWORD ssh -p 22.
constexpr std::array<std::string_view, 5> kOthers = {"ssh", "scp", "sftp", "rsync", "python"};

/// Programs behind whose "-p" stands a name that may look like a password: a folder, a partition, a
/// plugin.
constexpr std::array<std::string_view, 15> kOtherMeaning = {
    "mkdir", "cp",     "scp",   "srun", "sbatch", "salloc", "squeue", "sinfo",
    "rsync", "pytest", "patch", "tar",  "unzip",  "ps",     "pgrep"};

/// Trackers of experiments whose "login" takes the key of an account as a word.
constexpr std::array<std::string_view, 6> kTrackers = {"wandb",    "weave",   "comet",
                                                       "comet_ml", "swanlab", "neptune"};

/// Options of logins behind which a name stands: of a host, a user, an account.
constexpr std::array<std::string_view, 8> kNaming = {
    "-u", "--user", "--username", "--host", "--tenant", "--profile", "--project", "--sso-session"};

/// Letters and digits as in a key, and no host, address or path: as long as keys are, or a shorter
/// one that no name is like. That is a capital behind the first letter among small ones and digits,
/// or digits and letters of a hexadecimal number.
bool looks_like_key(std::string_view word) {
  constexpr std::size_t kShortestKey = 20;
  constexpr std::size_t kShortestMixed = 8;
  constexpr std::size_t kShortestHexadecimal = 12;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_letter = [&](char c) { return is_small(c) || is_capital(c); };
  const auto is_hexadecimal = [&](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  };
  const bool both = std::ranges::any_of(word, is_digit) && std::ranges::any_of(word, is_letter) &&
                    std::ranges::all_of(word, [&](char c) {
                      return is_digit(c) || is_letter(c) || c == '_' || c == '-';
                    });
  if (!both || word[0] == '-') return false;
  const bool mixed =
      std::ranges::any_of(word, is_small) && std::ranges::any_of(word.substr(1), is_capital);
  return word.size() >= kShortestKey || (mixed && word.size() >= kShortestMixed) ||
         (word.size() >= kShortestHexadecimal && std::ranges::all_of(word, is_hexadecimal));
}

bool is_named(std::string_view program, std::string_view pattern) {
  if (!pattern.ends_with('*')) return program == pattern;
  return program.starts_with(pattern.substr(0, pattern.size() - 1)) &&
         program.find('.') == std::string_view::npos;
}

bool is_short_option(std::string_view word) {
  return word.size() >= 2 && word[0] == '-' && word[1] != '-';
}

}  // namespace

bool PasswordOptions::is_key(std::string_view word, std::string_view before) const {
  if (std::ranges::find(kNaming, before) != kNaming.end()) return false;
  if (login_ == Login::long_key) return looks_like_key(word);
  const bool address = word.find("://") != std::string_view::npos;
  return login_ == Login::key && !address && !word.empty() && word[0] != '-';
}

void PasswordOptions::see(std::string_view word) {
  const std::string_view program = base_name(word);
  if (std::ranges::find(kTrackers, program) != kTrackers.end()) {
    login_ = Login::tracker;
  } else if (program == "login") {
    login_ = login_ == Login::tracker ? Login::key : Login::long_key;
  } else if (login_ != Login::key) {
    login_ = Login::none;
  }
  if (std::ranges::find(kOthers, program) != kOthers.end()) forget();
  if (std::ranges::find(kOtherMeaning, program) != kOtherMeaning.end()) other_ = true;
  for (std::size_t i = 0; i < kOptions.size(); ++i)
    if (is_named(program, kOptions[i].program)) seen_ |= std::uint64_t{1} << i;
}

bool PasswordOptions::is_glued(std::string_view word) const {
  if (seen_ == 0 || !is_short_option(word)) return false;
  for (std::size_t i = 0; i < kOptions.size(); ++i) {
    const bool here = (seen_ >> i & 1) != 0 && kOptions[i].where != Where::next_word;
    if (here && word[1] == kOptions[i].letter) return true;
  }
  return false;
}

bool PasswordOptions::is_followed(std::string_view word) const {
  if (seen_ == 0 || word.size() != 2 || !is_short_option(word)) return false;
  for (std::size_t i = 0; i < kOptions.size(); ++i) {
    const bool here = (seen_ >> i & 1) != 0 && kOptions[i].where != Where::same_word;
    if (here && word[1] == kOptions[i].letter) return true;
  }
  return false;
}

}  // namespace fathom::capture
