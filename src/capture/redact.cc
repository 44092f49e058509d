// Errs on the side of hiding: a manifest is shared with people, a lost value can be asked for.
#include "capture/redact.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace fathom::capture {
namespace {

/// Words of a name: "HF_TOKEN", "--api-key" and "apiKey" alike.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  bool lower_before = false;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) == 0) {
      if (!words.back().empty()) words.emplace_back();
      lower_before = false;
      continue;
    }
    if (std::isupper(letter) != 0 && lower_before) words.emplace_back();
    lower_before = std::islower(letter) != 0;
    words.back() += static_cast<char>(std::tolower(letter));
  }
  return words;
}

/// Secret as a whole word: "key" of API_KEY, but not of KEYBOARD or MONKEY.
constexpr std::array<std::string_view, 18> kSecretWords = {
    "token",  "secret", "password",   "passwd",      "pass",       "pwd",
    "key",    "keys",   "credential", "credentials", "auth",       "apikey",
    "cookie", "bearer", "pat",        "psk",         "passphrase", "secrets"};
/// Secret wherever they stand: MYPASSWORD, ACCESSTOKEN.
constexpr std::array<std::string_view, 8> kSecretParts = {
    "password", "passwd", "secret", "credential", "apikey", "accesskey", "privatekey", "authtoken"};
/// Names with such words that hold none: what people tune.
constexpr std::array<std::string_view, 14> kHarmless = {
    "tokenizer", "tokenizers", "max", "num", "n",   "length", "len",
    "vocab",     "special",    "pad", "eos", "bos", "per",    "parallelism"};

bool one_of(std::string_view word, const auto& list) {
  return std::ranges::find(list, word) != list.end();
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

struct Shape {
  std::string_view prefix;
  std::size_t rest;  ///< Word characters that must follow.
};
constexpr std::array kShapes = {
    Shape{"hf_", 10},   Shape{"sk-", 16},         Shape{"AKIA", 12},     Shape{"ASIA", 12},
    Shape{"ghp_", 16},  Shape{"gho_", 16},        Shape{"ghu_", 16},     Shape{"ghs_", 16},
    Shape{"ghr_", 16},  Shape{"github_pat_", 10}, Shape{"glpat-", 10},   Shape{"xoxb-", 10},
    Shape{"xoxp-", 10}, Shape{"AIza", 20},        Shape{"nvapi-", 10},   Shape{"pypi-", 10},
    Shape{"eyJ", 30},   Shape{"dckr_pat_", 10},   Shape{"sk_live_", 10}, Shape{"r8_", 20}};

/// Length of a secret of known shape at the start of `text`, else 0.
std::size_t shaped(std::string_view text) {
  const auto run = static_cast<std::size_t>(
      std::ranges::find_if_not(text, [](char c) { return is_word(c) || c == '.'; }) - text.begin());
  for (const Shape& shape : kShapes) {
    if (text.starts_with(shape.prefix) && run >= shape.prefix.size() + shape.rest) return run;
  }
  return 0;
}

/// True where exactly 40 hexadecimal digits stand: a key of W&B, which also looks like a revision
/// of git; hidden all the same.
bool forty_hex(std::string_view text) {
  return text.size() >= 40 && std::ranges::all_of(text.substr(0, 40), is_hex) &&
         (text.size() == 40 || !is_word(text[40]));
}

/// Length of "user:password" before the @ of a URL whose "://" has just been passed, else 0.
std::size_t user_info(std::string_view text) {
  const std::size_t end = text.find_first_of("/ \t\n\"'?#");
  const std::string_view host = text.substr(0, end);
  const std::size_t at = host.rfind('@');
  return at == std::string_view::npos ? 0 : at;
}

/// "name=value", "name: value", "name value" inside a longer text (python -c "…", a JSON, a header)
/// are not taken apart beyond name=value: values of known shape are found anyway.
std::string redact_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::string();
  const std::string_view name = text.substr(0, equals);
  if (!std::ranges::all_of(name, [](char c) { return is_word(c) || c == '.'; })) return {};
  if (!names_secret(name) || text.size() == equals + 1) return {};
  return std::string(text.substr(0, equals + 1)) + std::string(kRedacted);
}

/// URLs with name=value pairs: ?token=abc&x=1.
std::string redact_query(std::string text) {
  for (std::size_t at = text.find_first_of("?&;"); at != std::string::npos;
       at = text.find_first_of("?&;", at + 1)) {
    const std::size_t equals = text.find('=', at);
    if (equals == std::string::npos) break;
    const std::string_view name = std::string_view(text).substr(at + 1, equals - at - 1);
    if (!std::ranges::all_of(name, is_word) || !names_secret(name)) continue;
    std::size_t end = text.find_first_of("&;# \"'", equals);
    if (end == std::string::npos) end = text.size();
    text.replace(equals + 1, end - equals - 1, kRedacted);
  }
  return text;
}

}  // namespace

bool names_secret(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  if (std::ranges::any_of(words, [](const std::string& w) { return one_of(w, kHarmless); }))
    return false;
  if (std::ranges::any_of(words, [](const std::string& w) { return one_of(w, kSecretWords); }))
    return true;
  std::string joined;
  for (const std::string& word : words) joined += word;
  return std::ranges::any_of(
      kSecretParts, [&](std::string_view part) { return joined.find(part) != std::string::npos; });
}

std::string redact(std::string_view text) {
  std::string assigned = redact_assignment(text);
  if (!assigned.empty()) return assigned;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool starts_word = at == 0 || !is_word(text[at - 1]);
    std::size_t hidden = 0;
    if (starts_word) {
      hidden = shaped(text.substr(at));
      if (hidden == 0 && forty_hex(text.substr(at))) hidden = 40;
    }
    if (hidden == 0 && out.ends_with("://")) hidden = user_info(text.substr(at));
    if (hidden == 0) {
      out += text[at++];
    } else {
      out += kRedacted;
      at += hidden;
    }
  }
  return redact_query(std::move(out));
}

std::string redact_variable(std::string_view name, std::string_view value) {
  if (names_secret(name) && !value.empty()) return std::string(kRedacted);
  return redact(value);
}

std::vector<std::string> redact_command(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  bool secret_follows = false;
  for (const std::string& word : words) {
    out.push_back(secret_follows && !word.starts_with("--") ? std::string(kRedacted)
                                                            : redact(word));
    secret_follows =
        word.starts_with('-') && word.find('=') == std::string::npos && names_secret(word);
  }
  return out;
}

}  // namespace fathom::capture
