// Divides a command line into words as a shell does before it expands anything.
#include "measure/command_words.h"

#include <utility>

namespace fathom::measure {
namespace {

constexpr std::string_view kBlanks = " \t\n";
constexpr std::string_view kForShells = "|&;<>()$`*?[]~#";
/// What a backslash escapes inside of double quotes.
constexpr std::string_view kEscapable = "\\\"$`";
/// What \e and the like stand for inside of $'…'.
constexpr std::string_view kNamed = "abefnrtv\\'\"?";
constexpr std::string_view kNamedBytes = "\a\b\x1b\f\n\r\t\v\\'\"?";

Error refused(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> words() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (kBlanks.find(c) != std::string_view::npos) {
        finish();
        continue;
      }
      const Result<void> taken = take(c);
      if (!taken) return taken.error();
    }
    finish();
    if (words_.empty()) return refused("an empty command");
    return std::move(words_);
  }

 private:
  Result<void> take(char c) {
    if (c == '\'' || c == '"') return quoted(c);
    if (c == '$' && text_.substr(at_).starts_with('\'')) return escaped();
    open_ = true;
    if (c == '\\') {
      if (at_ == text_.size()) return refused("a backslash at the end of a command");
      word_ += text_[at_++];
      return {};
    }
    if (kForShells.find(c) != std::string_view::npos) {
      return refused(std::string("'") + c +
                     "' is for a shell, and none is started: put it in quotes, or measure "
                     "sh -c '…'");
    }
    word_ += c;
    return {};
  }

  Result<void> quoted(char quote) {
    open_ = true;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == quote) return {};
      const bool escapes = quote == '"' && c == '\\' && at_ < text_.size() &&
                           kEscapable.find(text_[at_]) != std::string_view::npos;
      if (quote == '"' && (c == '$' || c == '`')) {
        return refused(std::string("'") + c +
                       "' in double quotes is for a shell, and none is started: use single "
                       "quotes, or measure sh -c '…'");
      }
      word_ += escapes ? text_[at_++] : c;
    }
    return refused(std::string("a quote (") + quote + ") is not closed");
  }

  /// Behind the $ of $'…'.
  Result<void> escaped() {
    open_ = true;
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\'') return {};
      if (c != '\\') {
        word_ += c;
        continue;
      }
      const char escape = at_ < text_.size() ? text_[at_] : '\0';
      const std::size_t named = kNamed.find(escape);
      if (named != std::string_view::npos) {
        word_ += kNamedBytes[named];
        ++at_;
      } else if (!octal()) {
        return refused(std::string("'\\") + escape + "' is not known in $'…'");
      }
    }
    return refused("a quote ($') is not closed");
  }

  /// One to three digits; false: none.
  bool octal() {
    unsigned byte = 0;
    std::size_t digits = 0;
    for (; digits < 3 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++digits)
      byte = byte * 8 + static_cast<unsigned>(text_[at_++] - '0');
    if (digits > 0) word_ += static_cast<char>(byte);
    return digits > 0;
  }

  void finish() {
    if (open_) words_.push_back(std::exchange(word_, {}));
    open_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string word_;
  bool open_ = false;  // a word has begun, be it empty
  std::vector<std::string> words_;
};

}  // namespace

Result<std::vector<std::string>> command_words(std::string_view text) {
  return Reader(text).words();
}

}  // namespace fathom::measure
