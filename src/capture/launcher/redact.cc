// Replaces secrets in environment and command lines.
#include "capture/launcher/redact.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "capture/launcher/secrets.h"

namespace fathom::capture {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }
bool is_quote(char c) { return c == '\'' || c == '"' || c == '`'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::string_view kPasswordOption = "-p";

/// Is this word "-p" with a password right behind it, as mysql and sshpass take it? Ports,
/// numbers and options of one plain word (-print, -pthread) hold none.
bool holds_password(std::string_view word) {
  if (!word.starts_with(kPasswordOption) || word.size() < 5) return false;
  const std::string_view value = word.substr(kPasswordOption.size());
  const auto is_number = [](char c) { return is_digit(c) || c == '-' || c == '.'; };
  const auto is_small = [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '_'; };
  return !std::ranges::all_of(value, is_number) && !std::ranges::all_of(value, is_small) &&
         value.find('-') == std::string_view::npos;
}

/// The options of curl and others that "name:password" follows, at once where they are short.
bool names_user(std::string_view option) {
  return option == "--user" || option == "--proxy-user" ||
         (option.starts_with("-u") && option.size() < 64);
}

/// Is what stands behind the colon of a user's name a password? docker has "1000:1000" there. What
/// stands right behind "-u" has to be a name.
bool has_password(std::string_view value, std::size_t colon, bool glued) {
  if (colon == std::string_view::npos || colon + 1 >= value.size()) return false;
  if (!glued && colon == 0) return false;
  const auto number = [](std::string_view part) { return std::ranges::all_of(part, is_digit); };
  return !(number(value.substr(0, colon)) && number(value.substr(colon + 1))) &&
         !value.substr(colon).starts_with("://");
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
    out_ += text_.substr(at_, count);
    at_ += count;
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
    constexpr std::array<std::string_view, 3> kAddresses = {
        "hooks.slack.com/services/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"};
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
    const std::size_t end = text.find_first_of(" \t\n\"'`&;,)}]|<>");
    return std::min(end, text.size());
  }

  /// In quotes, or up to a delimiter; of a header to the end of the line.
  void hide_value(bool whole_line) {
    if (at_ >= text_.size()) return;
    if (is_quote(rest().front())) {
      const char quote = rest().front();
      keep(1);
      const std::size_t end = rest().find(quote);
      hide(std::min(end, rest().size()));
      return;
    }
    hide(whole_line ? std::min(rest().find_first_of("\n\"'`"), rest().size())
                    : value_length(rest()));
  }

  /// A name, and where it names a secret what follows "=", ":" or, after an option, a blank.
  void named_value() {
    const std::string_view text = rest();
    const auto end = static_cast<std::size_t>(
        std::ranges::find_if_not(text, [](char c) { return is_word(c) || c == '.'; }) -
        text.begin());
    const std::string_view name = text.substr(0, end);
    const bool option = name.starts_with('-');
    if (shaped_inside(name)) return;
    if (option && glued_password(name)) return;
    keep(end);
    if (option && names_user(name)) return after_user_option(name);
    const Secrecy secrecy = secrecy_of(name);
    if (secrecy != Secrecy::none) after_secret_name(name, option, secrecy);
  }

  /// "-pSECRET", where "-p8080:80" and "-print" are none.
  bool glued_password(std::string_view name) {
    if (!holds_password(name)) return false;
    keep(kPasswordOption.size());
    hide(value_length(rest()));
    return true;
  }

  /// "-u name:password", "--user=name:password" and "-uname:password".
  void after_user_option(std::string_view name) {
    const bool glued = name != "-u" && !name.starts_with("--");
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
    const std::size_t colon = value.find(':');
    if (!has_password(value, colon, glued)) return;
    keep(colon + 1);
    hide(value.size() - colon - 1);
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
    skip_while([](char c) { return is_quote(c) || c == ']' || c == ')'; });
    const bool quoted_name = skip > 0;
    const std::size_t closed = skip;
    skip_while([](char c) { return c == ' '; });
    if (skip >= text.size()) return;
    const char sign = text[skip];
    if (sign == '=' || sign == ':') {
      ++skip;
      skip_while([sign](char c) { return c == ' ' || (sign == '=' && c == '='); });
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

  /// Its value goes to the end of the line.
  static bool is_header(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower.ends_with("authorization") || lower.ends_with("cookie");
  }

  static constexpr std::size_t kLongestName = 200;

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

/// What is longer is a script or data, whose rest nobody needs beside a recording.
constexpr std::size_t kLongestText = std::size_t{64} << 10;

/// One word that is name=value and no more: the value may hold any character. Else "".
std::string redact_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals + 1 == text.size()) return {};
  const std::string_view name = text.substr(0, equals);
  const bool plain = std::ranges::all_of(name, [](char c) { return is_word(c) || c == '.'; });
  const bool one = std::ranges::none_of(text, [](char c) { return is_blank(c) || is_quote(c); });
  if (!plain || !one || secrecy_of(name) == Secrecy::none) return {};
  return std::string(text.substr(0, equals + 1)) + std::string(kRedacted);
}

/// After -u and --user of curl and others.
std::string redact_user(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == text.size())
    return redact(text);
  if (!has_password(text, colon, false)) return std::string(text);
  return std::string(text.substr(0, colon + 1)) + std::string(kRedacted);
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

/// Programs of which "-p" always takes a password, whatever it looks like; "-p" alone is followed
/// by it only with sshpass.
bool takes_password(std::string_view program) {
  return program == "sshpass" || program.starts_with("mysql") || program.starts_with("mariadb") ||
         program == "7z" || program == "7za" || program == "7zr";
}

}  // namespace

bool names_secret(std::string_view name) { return secrecy_of(name) != Secrecy::none; }

std::string redact(std::string_view text) {
  if (text.size() > kLongestText)
    return redact(text.substr(0, kLongestText)) + std::string(kRedacted);
  const std::string assigned = redact_assignment(text);
  return assigned.empty() ? Scanner(text).redacted() : assigned;
}

std::string redact_variable(std::string_view name, std::string_view value) {
  if (names_secret(name) && !value.empty()) return std::string(kRedacted);
  return redact(value);
}

std::vector<std::string> redact_command(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  bool secret_follows = false;
  bool user_follows = false;
  bool sshpass = false;
  bool client = false;
  for (const std::string& word : words) {
    if (secret_follows && !word.starts_with("--")) {
      out.emplace_back(word.empty() ? std::string_view() : kRedacted);
    } else if (user_follows) {
      out.push_back(redact_user(word));
    } else if (client && word.starts_with(kPasswordOption) && word.size() > 2) {
      out.push_back(std::string(kPasswordOption) + std::string(kRedacted));
    } else {
      out.push_back(redact(word));
    }
    sshpass = sshpass || base_name(word) == "sshpass";
    client = client || takes_password(base_name(word));
    const bool glued =
        word.size() > 2 && word.starts_with(kPasswordOption) && (client || holds_password(word));
    const bool option = word.starts_with('-') && word.find('=') == std::string::npos && !glued;
    secret_follows = (option && names_secret(word)) || (sshpass && word == "-p");
    user_follows = word == "-u" || word == "--user" || word == "--proxy-user";
  }
  return out;
}

}  // namespace fathom::capture
