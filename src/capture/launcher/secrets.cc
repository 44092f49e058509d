// Recognises secrets by the names and shapes of values.
#include "capture/launcher/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

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

/// Secret wherever they stand, whatever stands beside them: MYPASSWORD, "secret key base".
constexpr std::array<std::string_view, 16> kCertainParts = {
    "password",   "passwd",    "secret",      "credential",   "apikey",     "accesskey",
    "privatekey", "authtoken", "accesstoken", "refreshtoken", "accountkey", "passphrase",
    "apitoken",   "hftoken",   "hubtoken",    "bearertoken"};
/// Secret as whole words.
constexpr std::array<std::string_view, 15> kCertainWords = {
    "token", "pwd",  "cookie", "bearer",        "psk",       "jwt", "sas",      "sig",
    "otp",   "pass", "auth",   "authorization", "signature", "pat", "sessionid"};
constexpr std::array<std::string_view, 2> kPossibleWords = {"key", "keys"};
/// Names with such words beside "token", "key" or "pass" hold none: what people tune, sort and
/// name.
constexpr std::array<std::string_view, 74> kHarmless = {
    "tokenizer", "tokenizers", "tokenization", "max",      "min",       "num",     "n",
    "length",    "len",        "vocab",        "special",  "pad",       "padding", "eos",
    "bos",       "sep",        "cls",          "unk",      "image",     "per",     "parallelism",
    "type",      "types",      "id",           "ids",      "dim",       "dims",    "size",
    "sizes",     "count",      "counts",       "mask",     "masks",     "head",    "heads",
    "cache",     "query",      "queries",      "value",    "values",    "embed",   "embedding",
    "bits",      "rate",       "ratio",        "budget",   "limit",     "window",  "batch",
    "chunk",     "drop",       "dropout",      "sort",     "sorted",    "primary", "foreign",
    "group",     "by",         "index",        "position", "positions", "prune",   "merge",
    "mixing",    "bias",       "proj",         "scale",    "states",    "through", "seconds",
    "new",       "partition",  "first",        "last"};
/// The name of a file that holds one, or a switch for it.
constexpr std::array<std::string_view, 5> kPlaces = {"file", "path", "dir", "folder", "mode"};

bool one_of(std::string_view word, const auto& list) {
  return std::ranges::find(list, word) != list.end();
}

/// Of one part of a dotted name.
Secrecy secrecy_of_part(std::string_view part) {
  const std::vector<std::string> words = words_of(part);
  const auto any = [&words](const auto& list) {
    return std::ranges::any_of(words,
                               [&list](const std::string& word) { return one_of(word, list); });
  };
  if (one_of(words.back(), kPlaces)) return Secrecy::none;
  std::string joined;
  for (const std::string& word : words) joined += word;
  const bool certain = std::ranges::any_of(
      kCertainParts, [&](std::string_view each) { return joined.find(each) != std::string::npos; });
  if (certain) return Secrecy::certain;
  // Alone: whose repository is private is no secret.
  if (words.size() == 1 && joined == "private") return Secrecy::certain;
  if (any(kHarmless)) return Secrecy::none;
  const bool ends = std::ranges::any_of(
      words, [](const std::string& word) { return word.ends_with("token") && word.size() < 20; });
  if (ends || any(kCertainWords)) return Secrecy::certain;
  if (!any(kPossibleWords)) return Secrecy::none;
  // WANDB_KEY, --openai-key: whose key it is, is hidden.
  return words.size() > 1 ? Secrecy::certain : Secrecy::may_be;
}

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Shape {
  std::string_view prefix;
  std::size_t rest;    ///< Characters of words and dots that must follow.
  bool digit = false;  ///< One of them must be a digit: the prefix is one of plain words too.
};
constexpr std::array kShapes = {
    Shape{"hf_", 10},
    Shape{"api_org_", 16},
    Shape{"sk-", 16, true},
    Shape{"csk-", 16, true},
    Shape{"AKIA", 12},
    Shape{"ASIA", 12},
    Shape{"LTAI", 12, true},
    Shape{"AKID", 16, true},
    Shape{"ghp_", 16},
    Shape{"gho_", 16},
    Shape{"ghu_", 16},
    Shape{"ghs_", 16},
    Shape{"ghr_", 16},
    Shape{"github_pat_", 10},
    Shape{"glpat-", 10},
    Shape{"gldt-", 10},
    Shape{"glrt-", 10},
    Shape{"xoxa-", 10},
    Shape{"xoxb-", 10},
    Shape{"xoxp-", 10},
    Shape{"xoxr-", 10},
    Shape{"xoxs-", 10},
    Shape{"xapp-", 10},
    Shape{"AIza", 20},
    Shape{"ya29.", 16},
    Shape{"nvapi-", 10},
    Shape{"pypi-", 10, true},
    Shape{"npm_", 20},
    Shape{"eyJ", 30},
    Shape{"dckr_pat_", 10},
    Shape{"sk_live_", 10},
    Shape{"sk_test_", 10},
    Shape{"rk_live_", 10},
    Shape{"whsec_", 16},
    Shape{"r8_", 20},
    Shape{"gsk_", 20},
    Shape{"pplx-", 20, true},
    Shape{"xai-", 20, true},
    Shape{"tgp_v1_", 16},
    Shape{"lsv2_", 16},
    Shape{"dapi", 32, true},
    Shape{"hvs.", 16},
    Shape{"dop_v1_", 16},
    Shape{"SG.", 24, true},
    Shape{"ATATT3", 16},
    Shape{"wandb_v1_", 16},
    Shape{"AGE-SECRET-KEY-", 16},
};

/// True where exactly 40 hexadecimal digits stand: a key of W&B, which also looks like a revision
/// of git; hidden all the same.
bool forty_hex(std::string_view text) {
  return text.size() >= 40 && std::ranges::all_of(text.substr(0, 40), is_hex) &&
         (text.size() == 40 || !is_word(text[40]));
}

}  // namespace

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

Secrecy secrecy_of(std::string_view name) {
  Secrecy most = Secrecy::none;
  while (!name.empty()) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    most = std::max(most, secrecy_of_part(name.substr(0, dot)));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return most;
}

std::size_t shaped_secret(std::string_view text) {
  for (const Shape& shape : kShapes) {
    if (!text.starts_with(shape.prefix)) continue;
    const auto run = static_cast<std::size_t>(
        std::ranges::find_if_not(text, [](char c) { return is_word(c) || c == '.'; }) -
        text.begin());
    if (run < shape.prefix.size() + shape.rest) continue;
    if (!shape.digit || std::ranges::any_of(text.substr(0, run), is_digit)) return run;
  }
  constexpr std::string_view kLocal = "local-";  // Of W&B servers of one's own.
  if (forty_hex(text)) return 40;
  return text.starts_with(kLocal) && forty_hex(text.substr(kLocal.size())) ? kLocal.size() + 40 : 0;
}

}  // namespace fathom::capture
