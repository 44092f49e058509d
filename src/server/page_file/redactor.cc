// Goes through texts word by word.
#include "server/page_file/redactor.h"

#include <algorithm>
#include <charconv>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "server/page_file/own_words.h"

namespace fathom::server {
namespace {

// tools/embed_words divides texts in the same way.
constexpr std::string_view kBetween = "\"'()[]{}<>,;|=&*!?#\\`";
constexpr std::string_view kAround = ".:/-+~@$%^";

/// Bytes of the separator at the front of `text`, or 0. Beside those of ASCII: dashes, arrows,
/// quotation marks and mathematical signs.
std::size_t separator(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte <= 0x20 || byte == 0x7f || kBetween.find(text.front()) != std::string_view::npos)
    return 1;
  if (byte == 0xe2 && text.size() >= 3) return 3;
  const std::string_view two = text.substr(0, 2);
  return two == "\xc3\x97" || two == "\xc2\xb7" || two == "\xc2\xb1" ? 2 : 0;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

bool has_letter(std::string_view text) { return std::ranges::any_of(text, is_letter); }

/// "10.0.0.7", which is a machine.
bool is_address(std::string_view text) {
  return std::ranges::count(text, '.') == 3 && text.front() != '.' && text.back() != '.' &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.' || c == ':'; });
}

bool own(std::string_view word) { return std::ranges::binary_search(own_words(), word); }

/// As it is, at the beginning of a sentence, of several, or as a column of a unit.
bool own_in_some_form(std::string_view word) {
  if (own(word)) return true;
  std::string lower(word);
  if (lower.front() >= 'A' && lower.front() <= 'Z') {
    lower.front() = static_cast<char>(lower.front() - 'A' + 'a');
    if (own(lower)) return true;
  }
  for (const std::string_view ending : {"s", "_ns", "_percent", "_bytes"}) {
    if (word.size() > ending.size() + 1 && word.ends_with(ending) &&
        own(word.substr(0, word.size() - ending.size()))) {
      return true;
    }
  }
  return false;
}

/// The string that begins behind the quote at `at`; moves `at` behind its end.
std::string read_json_string(std::string_view document, std::size_t& at) {
  std::string text;
  for (; at < document.size() && document[at] != '"'; ++at) {
    if (document[at] != '\\' || at + 1 >= document.size()) {
      text += document[at];
      continue;
    }
    const char escape = document[++at];
    constexpr std::string_view kLetters = "ntbfr";
    constexpr std::string_view kMeant = "\n\t\b\f\r";
    const std::size_t letter = kLetters.find(escape);
    if (letter != std::string_view::npos) {
      text += kMeant[letter];
    } else if (escape == 'u' && at + 4 < document.size()) {
      unsigned code = 0;
      std::from_chars(document.data() + at + 1, document.data() + at + 5, code, 16);
      append_utf8(text, static_cast<char32_t>(code));
      at += 4;
    } else {
      text += escape;
    }
  }
  ++at;
  return text;
}

}  // namespace

void Redactor::add(const std::vector<std::string_view>& names) {
  for (const std::string_view name : names) add_phrase(name);
}

void Redactor::add(const StringPool& names) {
  for (std::size_t id = 0; id < names.size(); ++id) add_phrase(names.view(StringId(id)));
}

Redactor::Word Redactor::next_word(std::string_view text, std::size_t from) {
  while (from < text.size()) {
    const std::size_t bytes = separator(text.substr(from));
    if (bytes == 0 && kAround.find(text[from]) == std::string_view::npos) break;
    from += std::max<std::size_t>(bytes, 1);
  }
  std::size_t end = from;
  while (end < text.size() && separator(text.substr(end)) == 0) ++end;
  while (end > from && kAround.find(text[end - 1]) != std::string_view::npos) --end;
  return {from, end};
}

bool Redactor::known(std::string_view word) {
  if (!has_letter(word)) return !is_address(word);
  if (own_in_some_form(word)) return true;
  // A stretch of time, "10ms:20ms".
  const std::size_t colon = word.find(':');
  if (colon != std::string_view::npos && colon + 1 < word.size()) {
    return is_digit(word.front()) && is_digit(word[colon + 1]) && known(word.substr(0, colon)) &&
           known(word.substr(colon + 1));
  }
  const auto* const rest =
      std::ranges::find_if(word, [](char c) { return !is_digit(c) && c != '.' && c != '-'; });
  const auto number = static_cast<std::size_t>(rest - word.begin());
  return number > 0 && own_in_some_form(word.substr(number));
}

void Redactor::add_phrase(std::string_view name) {
  std::size_t words = 0;
  Word first;
  Word last;
  for (Word word = next_word(name, 0); word.begin < word.end; word = next_word(name, word.end)) {
    const std::string_view text = name.substr(word.begin, word.end - word.begin);
    if (!known(text)) return;  // its words are replaced anyway
    if (words == 0) first = word;
    if (has_letter(text)) ++words;
    last = word;
  }
  if (words < 2) return;
  std::vector<std::string>& same =
      phrases_[std::string(name.substr(first.begin, first.end - first.begin))];
  std::string phrase(name.substr(first.begin, last.end - first.begin));
  if (std::ranges::find(same, phrase) == same.end()) same.push_back(std::move(phrase));
}

std::size_t Redactor::phrase_end(std::string_view text, Word first) const {
  if (phrases_.empty()) return 0;
  const auto at = phrases_.find(std::string(text.substr(first.begin, first.end - first.begin)));
  if (at == phrases_.end()) return 0;
  std::size_t longest = 0;
  for (const std::string& phrase : at->second) {
    const std::string_view rest = text.substr(first.begin);
    if (rest.starts_with(phrase)) longest = std::max(longest, first.begin + phrase.size());
  }
  return longest;
}

const std::string& Redactor::number(std::string_view word) {
  std::string& number = numbers_[std::string(word)];
  if (number.empty()) number = "n" + std::to_string(numbers_.size());
  return number;
}

std::string Redactor::text(std::string_view text) {
  std::string out;
  std::size_t done = 0;
  for (Word word = next_word(text, 0); word.begin < word.end; word = next_word(text, done)) {
    out += text.substr(done, word.begin - done);
    const std::size_t phrase = phrase_end(text, word);
    done = std::max(phrase, word.end);
    const std::string_view found = text.substr(word.begin, done - word.begin);
    out += phrase == 0 && known(found) ? std::string(found) : number(found);
  }
  return out += text.substr(done);
}

std::string Redactor::json(std::string_view document) {
  std::string out;
  out.reserve(document.size());
  for (std::size_t at = 0; at < document.size();) {
    const std::size_t quote = std::min(document.find('"', at), document.size());
    out += document.substr(at, quote - at);
    if (quote == document.size()) break;
    at = quote + 1;
    append_json_string(out, text(read_json_string(document, at)));
  }
  return out;
}

}  // namespace fathom::server
