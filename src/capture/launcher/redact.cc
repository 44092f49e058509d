// Replaces secrets in environment and command lines.
#include "capture/launcher/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/shell_word.h"
#include "capture/launcher/password_options.h"
#include "capture/launcher/secrets.h"

namespace fathom::capture {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }
bool is_quote(char c) { return c == '\'' || c == '"' || c == '`'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::string_view kPasswordOption = "-p";

/// Has one of the parts between dashes both small letters and digits?
bool has_mixed_part(std::string_view text) {
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('-'));
    if (std::ranges::any_of(part, is_small) && std::ranges::any_of(part, is_digit)) return true;
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return false;
}

/// Is this word "-p" with a password right behind it, as mysql and sshpass take it? Ports,
/// numbers and options of one plain word (-print, -pthread) hold none.
bool holds_password(std::string_view word) {
  if (!word.starts_with(kPasswordOption) || word.size() < 5) return false;
  std::string_view value = word.substr(kPasswordOption.size());
  if (value[0] == '=') value.remove_prefix(1);
  // Ports, too: -p127.0.0.1:8000-8010:80/tcp.
  for (const std::string_view protocol : {"/tcp", "/udp"})
    if (value.ends_with(protocol)) value.remove_suffix(protocol.size());
  const auto is_number = [](char c) { return is_digit(c) || c == '-' || c == '.' || c == ':'; };
  // -profile:v of ffmpeg
  const auto is_small = [](char c) {
    return (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == ':';
  };
  if (std::ranges::all_of(value, is_number) || std::ranges::all_of(value, is_small)) return false;
  // -python-3.11 and -pA-b hold none, -pSecret-1 and -phunter2-x do.
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  return value.find('-') == std::string_view::npos || has_mixed_part(value) ||
         (std::ranges::any_of(value, is_capital) && std::ranges::any_of(value, is_digit));
}

/// Options that stand alone, behind which the next word is "name:password": -u, and together with
/// others of curl -su. "-gpu cuda:0" is none.
bool precedes_user(std::string_view option) {
  if (option == "--user" || option == "--proxy-user" || option == "--userpwd") return true;
  if (option.size() < 2 || option.size() > 10 || option[0] != '-') return false;
  constexpr std::string_view kOfCurl = "sSfLkviGIJONq#";
  const std::string_view before = option.substr(1, option.size() - 2);
  return (option.back() == 'u' || option.back() == 'U') &&
         before.find_first_not_of(kOfCurl) == std::string_view::npos;
}

/// The options of curl and others that "name:password" follows, at once where they are short.
bool names_user(std::string_view option) {
  return precedes_user(option) || (option.starts_with("-u") && option.size() < 64);
}

/// Where the name of a user ends: smbclient's "name%password" comes behind -U.
std::size_t end_of_user(std::string_view option, std::string_view value) {
  return option == "-U" && value.find(':') == std::string_view::npos ? value.find('%')
                                                                     : value.find(':');
}

/// Is what stands behind the colon of a user's name a password? docker has "1000:1000" there, date
/// "+%H:%M". What stands right behind "-u" has to be a name.
bool has_password(std::string_view value, std::size_t colon, bool glued) {
  if (colon == std::string_view::npos || colon + 1 >= value.size()) return false;
  if (!glued && (colon == 0 || value[0] == '+' || value[0] == '-')) return false;
  const auto number = [](std::string_view part) { return std::ranges::all_of(part, is_digit); };
  return !(number(value.substr(0, colon)) && number(value.substr(colon + 1))) &&
         !value.substr(colon).starts_with("://");
}

/// What a name and its value follow as two words: aws configure set NAME VALUE.
bool sets(std::string_view word) { return word == "set" || word == "--set" || word == "--add"; }

/// ngrok config add-authtoken VALUE.
bool is_subcommand_of_secret(std::string_view word) {
  return word == "authtoken" || word == "add-authtoken";
}

/// Names and values that stand in one longer text: a word of a command line, which may be a script
/// (sh -c "…", python -c "…"), a header, a URL or JSON. Goes through it once.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::string redacted() {
    while (at_ < text_.size()) {
      const bool starts_word = at_ == 0 || !is_word(text_[at_ - 1]);
      if (starts_word && (private_key() || known_shape() || known_address() || user_and_host()))
        continue;
      if (starts_word && is_word(text_[at_])) {
        named_value();
        continue;
      }
      if (text_[at_] == '/' && out_.ends_with(":/")) {
        keep(1);
        user_info();
        continue;
      }
      keep(1);
    }
    return std::move(out_);
  }

 private:
  void keep(std::size_t count) {
    for (std::size_t end = at_ + count; at_ < end; ++at_) {
      const char c = text_[at_];
      see_quote(c);
      if (c == ';' || c == '|' || c == '\n' || c == '&') options_.forget();
      out_ += c;
    }
  }
  /// Within which quotes the text is: an apostrophe within a word opens none.
  void see_quote(char c) {
    if (!is_quote(c)) return;
    const bool in_word = at_ > 0 && std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0;
    if (open_ == c) {
      open_ = 0;
    } else if (open_ == 0 && !in_word) {
      open_ = c;
    }
  }
  void hide(std::size_t count) {
    if (count > 0) out_ += kRedacted;
    at_ += count;
  }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

  bool private_key() {
    if (!rest().starts_with("-----BEGIN ")) return false;
    if (rest().substr(0, 64).find("PRIVATE KEY") == std::string_view::npos) return false;
    const std::size_t end = rest().find("-----END ");
    hide(end == std::string_view::npos ? rest().size() : end);
    if (at_ < text_.size()) keep(std::min<std::size_t>(9, rest().size()));
    return true;
  }

  bool known_shape() {
    const std::size_t length = shaped_secret(rest());
    hide(length);
    return length > 0;
  }

  /// Whoever knows such an address may post there.
  bool known_address() {
    constexpr std::array<std::string_view, 8> kAddresses = {
        "hooks.slack.com/services/",    "hooks.slack.com/workflows/",
        "hooks.slack.com/triggers/",    "discord.com/api/webhooks/",
        "api.telegram.org/bot",         "hooks.zapier.com/hooks/catch/",
        "discordapp.com/api/webhooks/", "open.feishu.cn/open-apis/bot/v2/hook/"};
    for (const std::string_view address : kAddresses) {
      if (!rest().starts_with(address)) continue;
      keep(address.size());
      hide(value_length(rest()));
      return true;
    }
    return false;
  }

  /// user:password@host.name without a scheme.
  bool user_and_host() {
    const std::string_view text = rest();
    const std::string_view head = text.substr(0, 64);
    const auto name_end = std::ranges::find_if_not(
        head, [](char c) { return is_word(c) || c == '.' || c == '+' || c == '%'; });
    const auto colon = static_cast<std::size_t>(name_end - head.begin());
    if (colon == 0 || colon >= head.size() || text[colon] != ':') return false;
    std::size_t at = std::string_view::npos;
    for (std::size_t i = colon + 1; i < text.size() && !is_blank(text[i]); ++i) {
      if (is_quote(text[i]) || text[i] == '/' || text[i] == ':' || text[i] == ',') break;
      if (text[i] == '@') at = i;
    }
    if (at == std::string_view::npos || at == colon + 1) return false;
    const std::string_view host = text.substr(at + 1, value_length(text.substr(at + 1)));
    const std::string_view machine = host.substr(0, host.find_first_of(":/"));
    if (machine.find('.') == std::string_view::npos && machine != "localhost") return false;
    hide(at);
    return true;
  }

  /// What stands before the @ of a URL whose "://" has just been passed.
  void user_info() {
    const std::string_view text = rest();
    const std::string_view host = text.substr(0, text.find_first_of("/ \t\n\"'`?#"));
    const std::size_t at = host.rfind('@');
    if (at != std::string_view::npos) return hide(at);
    // A password may hold what ends a host; a port is a number.
    const std::size_t colon = host.find(':');
    const bool port =
        colon == std::string_view::npos || std::ranges::all_of(host.substr(colon + 1), is_digit);
    if (port) return;
    const std::string_view all = text.substr(0, text.find_first_of(" \t\n\"'`"));
    const std::size_t far = all.rfind('@');
    if (far != std::string_view::npos) hide(far);
  }

  /// Up to what ends a value that no quotes enclose.
  static std::size_t value_length(std::string_view text) {
    return std::min(text.find_first_of(kEndsOfValue), text.size());
  }

  /// Up to the quote that closes what has been opened, which may be written as \" itself.
  static std::size_t quoted_length(std::string_view text, char quote, bool escaped) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) {
        if (escaped && text[i + 1] == quote) return i;
        ++i;
      } else if (text[i] == quote) {
        return i;
      }
    }
    return text.size();
  }

  /// A word of the shell, of which parts may be in quotes: x\ y, $'x y', a"b c"d. `text` is not in
  /// quotes, or within those that `open_` says.
  [[nodiscard]] std::size_t word_length(std::string_view text) const {
    std::size_t i = 0;
    while (i < text.size()) {
      if (text[i] == '\\' && i + 1 < text.size() && !is_quote(text[i + 1])) {
        i += 2;
      } else if (is_quote(text[i])) {
        // What has been opened before the name ends here, and a quote opens a part only where one
        // closes it.
        const std::size_t inside = quoted_length(text.substr(i + 1), text[i], false);
        if (open_ != 0 || i + 1 + inside >= text.size()) return i;
        i += inside + 2;
      } else if (kEndsOfValue.find(text[i]) != std::string_view::npos) {
        return i;
      } else {
        ++i;
      }
    }
    return std::min(i, text.size());
  }

  /// In quotes, or up to a delimiter; of a header to the end of the line.
  void hide_value(bool whole_line) {
    if (at_ >= text_.size()) return;
    if (is_quote(rest().front())) return hide_quoted();
    hide(whole_line ? line_length() : word_length(rest()));
  }

  /// The quotes are kept. What a shell joins to them is hidden too.
  void hide_quoted() {
    const char quote = rest().front();
    const char around = open_;
    const bool escaped = at_ > 0 && text_[at_ - 1] == '\\';
    keep(1);
    hide(quoted_length(rest(), quote, escaped));
    if (at_ >= text_.size() || rest().front() != quote) return;
    keep(1);
    open_ = around;  // whatever what was hidden ended with
    if (around == 0) at_ += word_length(rest());
  }

  /// Of a header: to the end of the quotes it stands in, or of the line.
  [[nodiscard]] std::size_t line_length() const {
    constexpr std::string_view kAll = "\n\"'`";
    const std::string_view text = rest();
    const std::array<char, 2> ends = {'\n', open_};
    return std::min(open_ == 0 ? text.find_first_of(kAll)
                               : text.find_first_of(std::string_view(ends.data(), ends.size())),
                    text.size());
  }

  /// A name, and where it names a secret what follows "=", ":" or, after an option, a blank.
  void named_value() {
    const std::string_view text = rest();
    const auto end = static_cast<std::size_t>(
        std::ranges::find_if_not(text, [](char c) { return is_word(c) || c == '.'; }) -
        text.begin());
    const std::string_view name = text.substr(0, end);
    const bool option = name.starts_with('-');
    const bool parameter = is_parameter(end);
    if (shaped_inside(name)) return;
    if (option && glued_password(name)) return;
    const std::string_view behind = text.substr(end);
    const bool port = behind.size() > 1 && behind[0] == ':' && is_digit(behind[1]);
    const bool address = behind.starts_with("://");
    if (begins_word() && !address && !port && options_.is_key(name, previous_))
      return hide_value(false);
    keep(end);
    // The scheme of an address is no program.
    if (!option && !address) options_.see(name);
    const bool set = sets(previous_) || is_subcommand_of_secret(name);
    previous_ = name;
    if (option && options_.is_followed(name)) return hide_next_word();
    if (name == kPasswordOption && !options_.means_other()) return after_password_option();
    if (option && names_user(name)) return after_user_option(name);
    // curl -HAuthorization:…
    const bool header = name.starts_with("-H") && rest().starts_with(':');
    const std::string_view own = header ? name.substr(2) : name;
    const Secrecy secrecy = parameter ? secrecy_of_parameter(own) : secrecy_of(own);
    if (secrecy != Secrecy::none) after_secret_name(own, option || set, secrecy);
  }

  /// Of the shell: x, "x" and $'x'.
  [[nodiscard]] bool begins_word() const {
    std::size_t before = at_;
    if (before > 0 && is_quote(text_[before - 1])) --before;
    if (before > 0 && before < at_ && text_[before - 1] == '$') --before;
    return before == 0 || is_blank(text_[before - 1]);
  }

  /// Is the name of so many characters here one of a URL, "?name=value"?
  [[nodiscard]] bool is_parameter(std::size_t length) const {
    constexpr std::string_view kBefore = "?&#";
    return at_ > 0 && kBefore.find(text_[at_ - 1]) != std::string_view::npos &&
           rest().substr(length).starts_with('=');
  }

  /// "-p PASSWORD" of a program that is not known, where other things stand there, too.
  void after_password_option() {
    const std::size_t signs = std::min(rest().find_first_not_of(" ="), rest().size());
    if (signs == 0 || signs == rest().size()) return;
    keep(signs);
    const char first = rest().front();
    const std::string_view value = is_quote(first) ? rest().substr(1, rest().substr(1).find(first))
                                                   : rest().substr(0, value_length(rest()));
    if (looks_like_password(value)) hide_value(false);
  }

  void hide_next_word() {
    const std::size_t blanks = std::min(rest().find_first_not_of(' '), rest().size());
    if (blanks == 0) return;
    keep(blanks);
    hide_value(false);
  }

  /// "-pSECRET", where "-p8080:80" and "-print" are none.
  bool glued_password(std::string_view name) {
    const bool known = options_.is_glued(name) && (name.size() > 2 || is_more_of_word(name.size()));
    const std::string_view behind = rest().substr(name.size());
    const bool quoted = name == kPasswordOption && behind.size() > 1 && is_quote(behind[0]) &&
                        behind[0] != open_ && !is_digit(behind[1]);
    const bool looks = holds_password(name) && !options_.means_other();
    if (!known && !quoted && !looks) return false;
    keep(kPasswordOption.size());
    hide_value(false);
    return true;
  }

  /// Whether a word goes on behind its first characters of words: -p'my secret'.
  [[nodiscard]] bool is_more_of_word(std::size_t behind) const {
    const std::string_view text = rest().substr(behind);
    return !text.empty() && kEndsOfWord.find(text.front()) == std::string_view::npos;
  }

  /// "-u name:password", "--user=name:password" and "-uname:password".
  void after_user_option(std::string_view name) {
    const bool glued = !precedes_user(name);
    std::size_t skip = 0;
    if (!glued) {
      const std::string_view signs = name.starts_with("--") ? " =" : " ";
      skip = std::min(rest().find_first_not_of(signs), rest().size());
      if (skip == 0) return;
    }
    keep(skip);
    const bool quoted = at_ < text_.size() && is_quote(rest().front());
    const char quote = quoted ? rest().front() : ' ';
    if (quoted) keep(1);
    const std::size_t end = quoted ? rest().find(quote) : rest().find_first_of(" \t\n\"'`");
    const std::string_view value = rest().substr(0, end);
    const std::size_t colon = end_of_user(name, value);
    if (!has_password(value, colon, glued)) return;
    keep(colon + 1);
    hide(value.size() - colon - 1);
    previous_ = {};  // the option names no more
  }

  /// Words may be joined by dots with a secret behind them: the scan goes on inside.
  bool shaped_inside(std::string_view name) {
    const std::size_t dot = name.find('.');
    if (name.size() <= kLongestName && dot == std::string_view::npos) return false;
    for (std::size_t i = 1; i < name.size(); ++i) {
      if (is_word(name[i - 1]) || shaped_secret(name.substr(i)) == 0) continue;
      keep(i);
      return true;
    }
    if (name.size() <= kLongestName) return false;
    keep(name.size());
    return true;
  }

  void after_secret_name(std::string_view name, bool option, Secrecy secrecy) {
    std::size_t skip = 0;
    const std::string_view text = rest();
    const auto skip_while = [&](auto what) {
      while (skip < text.size() && what(text[skip])) ++skip;
    };
    const auto closes = [](char c) { return is_quote(c) || c == ']' || c == ')' || c == '\\'; };
    skip_while(closes);
    const bool quoted_name = skip > 0;
    const std::size_t closed = skip;
    skip_while([](char c) { return c == ' '; });
    if (skip >= text.size()) return;
    const char sign = text[skip];
    // ["--token", "…"] in a script.
    const bool listed = sign == ',' && option && quoted_name;
    if (sign == '=' || sign == ':' || listed) {
      ++skip;
      skip_while([sign](char c) { return c == ' ' || (sign == '=' && c == '='); });
      if (text.substr(skip).starts_with('\\') && skip + 1 < text.size() && is_quote(text[skip + 1]))
        ++skip;
      if (listed && (skip >= text.size() || !is_quote(text[skip]))) return;
      const bool quoted = skip < text.size() && is_quote(text[skip]);
      // "key: Tensor" is a type; {"key": "…"} may be anything.
      if (sign == ':' && secrecy == Secrecy::may_be && !(quoted_name && quoted)) return;
      keep(skip);
      return hide_value(sign == ':' && is_header(name));
    }
    const bool bearer = name == "Bearer" || name == "bearer";
    if ((!option && !bearer) || closed > 0 || skip == 0) return;
    // The next word is another option, not a value.
    if (text.substr(skip).starts_with("--")) return;
    keep(skip);
    hide_value(false);
  }

  /// Its value goes to the end of the line: Authorization, X-Api-Key.
  static bool is_header(std::string_view name) {
    if (!name.starts_with('-') && name.find('-') != std::string_view::npos) return true;
    std::string lower(name);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower.ends_with("authorization") || lower.ends_with("cookie");
  }

  static constexpr std::size_t kLongestName = 200;
  static constexpr std::string_view kEndsOfValue = " \t\n\"'`&;,)}]|<>";
  static constexpr std::string_view kEndsOfWord = " \t\n&;,)}]|<>=";

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  char open_ = 0;              ///< The quote that encloses what is read.
  std::string_view previous_;  ///< The name before this one.
  PasswordOptions options_;
};

/// What is longer is a script or data, whose rest nobody needs beside a recording.
constexpr std::size_t kLongestText = std::size_t{64} << 10;

/// One word that is name=value and no more: the value may hold any character. Else "". A word with
/// blanks or quotes may be a script; one that is `no_script` is not.
std::string redact_assignment(std::string_view text, bool no_script) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals + 1 == text.size()) return {};
  const std::string_view name = text.substr(0, equals);
  const bool plain = std::ranges::all_of(
      name, [](char c) { return is_word(c) || c == '.' || c == '+' || c == '/'; });
  const bool one = no_script || std::ranges::none_of(text, [](char c) {
                     return is_blank(c) || is_quote(c) || c == '\\';
                   });
  if (!plain || !one || secrecy_of(name) == Secrecy::none) return {};
  return std::string(text.substr(0, equals + 1)) + std::string(kRedacted);
}

/// After -u and --user of curl and others.
std::string redact_user(std::string_view option, std::string_view text) {
  const std::size_t colon = end_of_user(option, text);
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == text.size())
    return redact(text);
  if (!has_password(text, colon, false)) return redact(text);
  return std::string(text.substr(0, colon + 1)) + std::string(kRedacted);
}

/// "-p…" that names something else: -pA100-80G is a partition of srun; -password=x is none.
std::string redact_other(std::string_view word) {
  std::string assigned = redact_assignment(word, true);
  if (!assigned.empty()) return assigned;
  return std::string(kPasswordOption) + redact(word.substr(kPasswordOption.size()));
}

/// Whether the next word is a script of a shell, in which a value ends at a blank: sh -c, bash -lc.
bool precedes_script(std::string_view word) {
  if (word == "-S" || word == "--split-string" || word == "eval") return true;
  const bool letters = word.size() >= 2 && word.size() <= 6 && word[0] == '-' && word[1] != '-';
  return letters && word.back() == 'c';
}

}  // namespace

bool names_secret(std::string_view name) { return secrecy_of(name) != Secrecy::none; }

std::string redact(std::string_view text) {
  if (text.size() > kLongestText)
    return redact(text.substr(0, kLongestText)) + std::string(kRedacted);
  const std::string assigned = redact_assignment(text, false);
  return assigned.empty() ? Scanner(text).redacted() : assigned;
}

std::string redact_variable(std::string_view name, std::string_view value) {
  if (names_secret(name) && !value.empty()) return std::string(kRedacted);
  return redact(value);
}

std::vector<std::string> redact_command(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  PasswordOptions options;
  std::string_view before;       // the word before
  std::string_view before_that;  // and the one before that
  bool secret_follows = false;
  for (const std::string& word : words) {
    const bool other = options.means_other();
    const bool looks_glued = holds_password(word);
    const bool glued = word.size() > 2 && (options.is_glued(word) || (looks_glued && !other));
    const bool value = options.is_key(word, before) ||
                       (before == kPasswordOption && !other && looks_like_password(word));
    const bool no_script = word.starts_with('-') || !precedes_script(before);
    if (secret_follows && !word.starts_with("--")) {
      out.emplace_back(word.empty() ? std::string_view() : kRedacted);
    } else if (value) {
      out.emplace_back(kRedacted);
    } else if (precedes_user(before)) {
      out.push_back(redact_user(before, word));
    } else if (glued) {
      out.push_back(word.substr(0, word[2] == '=' ? 3 : 2) + std::string(kRedacted));
    } else if (looks_glued && other) {
      out.push_back(redact_other(word));
    } else {
      std::string assigned = redact_assignment(word, no_script);
      out.push_back(assigned.empty() ? redact(word) : std::move(assigned));
    }
    if (!word.starts_with('-')) options.see(word);
    before_that = std::exchange(before, word);
    // Of name=value the value is there already.
    const bool header = word.starts_with("-H") && word.find(':') != std::string::npos;
    const bool whole = word.find('=') == std::string::npos && !glued && !header;
    const bool named = word.starts_with('-') || sets(before_that) || is_subcommand_of_secret(word);
    secret_follows = (whole && named && names_secret(word)) || options.is_followed(word);
  }
  return out;
}

std::string redacted_line(const std::vector<std::string>& words) {
  return command_line(redact_command(words));
}

}  // namespace fathom::capture
