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
constexpr std::array<std::string_view, 18> kCertainParts = {
    "password",   "passwd",    "secret",      "credential",   "apikey",     "accesskey",
    "privatekey", "authtoken", "accesstoken", "refreshtoken", "accountkey", "passphrase",
    "apitoken",   "hftoken",   "hubtoken",    "bearertoken",  "passcode",   "passkey"};
/// Secret as whole words.
constexpr std::array<std::string_view, 19> kCertainWords = {
    "token", "pwd",       "cookie", "bearer",    "psk",    "jwt", "sas",
    "sig",   "otp",       "pass",   "auth",      "cred",   "pat", "authorization",
    "creds", "signature", "pw",     "sessionid", "cookies"};
constexpr std::array<std::string_view, 2> kPossibleWords = {"key", "keys"};
/// Names with such words beside "token", "key" or "pass" hold none: what people tune, sort and
/// name.
constexpr std::array<std::string_view, 88> kHarmless = {
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
    "new",       "partition",  "first",        "last",     "frame",     "frames",  "point",
    "points",    "interval",   "column",       "columns",  "field",     "fields",  "level",
    "weight",    "weights",    "loss",         "wise"};
/// Secret as a parameter of a URL alone: what OAuth, SAML and sessions hand over.
constexpr std::array<std::string_view, 15> kOfUrls = {
    "code",     "devicecode",      "usercode",      "session",      "sid",
    "ticket",   "assertion",       "oauthverifier", "codeverifier", "nonce",
    "verifier", "clientassertion", "samlresponse",  "phpsessid",    "invite"};
/// Types of numbers: letters that digits follow.
constexpr std::array<std::string_view, 7> kTypes = {"fp",    "bf",     "int", "uint",
                                                    "float", "bfloat", "tf"};
/// The name of a file that holds one, or a switch for it.
constexpr std::array<std::string_view, 12> kPlaces = {"file", "path",  "dir",      "folder",
                                                      "mode", "stdin", "prompt",   "url",
                                                      "uri",  "host",  "endpoint", "name"};

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
  if (words.back() == "token" && words.size() > 1 && words[words.size() - 2] == "id")
    return Secrecy::certain;  // of OpenID, where "token_id" is a number
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
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_upper(c) || (c >= 'a' && c <= 'z'); }

/// What follows a prefix, which may be one of plain words too.
enum class Rest : std::uint8_t {
  any,    ///< Characters of words and dots.
  digit,  ///< One of them is a digit.
  plain,  ///< Letters and digits alone: hf_trainer_benchmark.py is a file.
};

struct Shape {
  std::string_view prefix;
  std::size_t rest;  ///< Characters that must follow.
  Rest kind = Rest::any;
};
constexpr std::array kShapes = {
    Shape{"hf_", 20, Rest::plain},
    Shape{"api_org_", 16},
    Shape{"sk-", 16, Rest::digit},
    Shape{"csk-", 16, Rest::digit},
    Shape{"AKIA", 12},
    Shape{"ASIA", 12},
    Shape{"LTAI", 12, Rest::digit},
    Shape{"AKID", 16, Rest::digit},
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
    Shape{"pypi-", 10, Rest::digit},
    Shape{"npm_", 20, Rest::plain},
    Shape{"eyJ", 30},
    Shape{"dckr_pat_", 10},
    Shape{"sk_live_", 10},
    Shape{"sk_test_", 10},
    Shape{"rk_live_", 10},
    Shape{"whsec_", 16},
    Shape{"r8_", 20, Rest::plain},
    Shape{"gsk_", 20, Rest::plain},
    Shape{"pplx-", 20, Rest::digit},
    Shape{"xai-", 20, Rest::digit},
    Shape{"tgp_v1_", 16},
    Shape{"lsv2_", 16},
    Shape{"dapi", 32, Rest::digit},
    Shape{"hvs.", 16},
    Shape{"dop_v1_", 16},
    Shape{"SG.", 24, Rest::digit},
    Shape{"ATATT3", 16},
    Shape{"wandb_v1_", 16},
    Shape{"AGE-SECRET-KEY-", 16},
    Shape{"glcbt-", 10},
    Shape{"glptt-", 10},
    Shape{"gloas-", 10},
    Shape{"glsoat-", 10},
    Shape{"xoxe.", 16},
    Shape{"xoxe-", 16},
    Shape{"ABSK", 40, Rest::digit},
    Shape{"shpat_", 16},
    Shape{"shpss_", 16},
    Shape{"lin_api_", 16},
    Shape{"ntn_", 24, Rest::digit},
    Shape{"rpa_", 24, Rest::digit},
    Shape{"tskey-", 16},
    Shape{"esecret_", 16},
    Shape{"figd_", 16},
    Shape{"jina_", 24, Rest::plain},
    Shape{"pscale_pw_", 16},
    Shape{"pscale_tkn_", 16},
    Shape{"sbp_", 24, Rest::plain},
    Shape{"sntrys_", 16},
    Shape{"sntryu_", 16},
    Shape{"doo_v1_", 16},
    Shape{"dor_v1_", 16},
    Shape{"PMAK-", 16},
    Shape{"dt0c01.", 24},
};

/// Whether what stands behind the prefix of `shape` is of its kind.
bool fits(const Shape& shape, std::string_view run) {
  const std::string_view rest = run.substr(shape.prefix.size());
  if (shape.kind == Rest::any) return true;
  if (shape.kind == Rest::digit) return std::ranges::any_of(rest, is_digit);
  const auto plain = static_cast<std::size_t>(
      std::ranges::find_if_not(
          rest, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }) -
      rest.begin());
  return plain >= shape.rest;
}

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

Secrecy secrecy_of_parameter(std::string_view name) {
  const Secrecy known = secrecy_of(name);
  if (known != Secrecy::none) return known;
  std::string joined;
  for (const std::string& word : words_of(name)) joined += word;
  return one_of(joined, kOfUrls) ? Secrecy::certain : Secrecy::none;
}

bool looks_like_password(std::string_view value) {
  if (value.size() < 4 || value[0] == '-') return false;
  if (value.find_first_of("/= \t\n'\"`<>|;") != std::string_view::npos) return false;
  // $PORT and ${PORT} of a script are names.
  if (value[0] == '$' && (value[1] == '{' || value[1] == '(' || is_upper(value[1]))) return false;
  if (value.find_first_of("!#$%^&~") != std::string_view::npos) return true;
  if (value.find_first_of(".:,{[(@*?+") != std::string_view::npos) return false;
  const auto digits_from =
      static_cast<std::size_t>(std::ranges::find_if(value, is_digit) - value.begin());
  const bool ends_in_digits = std::ranges::all_of(value.substr(digits_from), is_digit);
  if (ends_in_digits && one_of(value.substr(0, digits_from), kTypes)) return false;
  // 16GB, 100ms
  const auto digits =
      static_cast<std::size_t>(std::ranges::find_if_not(value, is_digit) - value.begin());
  if (digits > 0 && digits + 2 >= value.size()) return false;
  const bool letters = std::ranges::any_of(value, is_letter);
  return letters && (std::ranges::any_of(value, is_digit) || std::ranges::any_of(value, is_upper));
}

std::size_t shaped_secret(std::string_view text) {
  for (const Shape& shape : kShapes) {
    if (!text.starts_with(shape.prefix)) continue;
    const auto run = static_cast<std::size_t>(
        std::ranges::find_if_not(text, [](char c) { return is_word(c) || c == '.'; }) -
        text.begin());
    if (run >= shape.prefix.size() + shape.rest && fits(shape, text.substr(0, run))) return run;
  }
  constexpr std::string_view kLocal = "local-";  // Of W&B servers of one's own.
  if (forty_hex(text)) return 40;
  return text.starts_with(kLocal) && forty_hex(text.substr(kLocal.size())) ? kLocal.size() + 40 : 0;
}

}  // namespace fathom::capture
