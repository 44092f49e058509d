// Writes addresses letter by letter as ui/src/api/urls.ts does.
#include "server/page_file/question.h"

#include <algorithm>
#include <vector>

namespace fathom::server {
namespace {

void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-_.!~*'()";
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
}

}  // namespace

std::string question(std::string_view path, Parameters options) {
  std::erase_if(options, [](const auto& option) { return option.second.empty(); });
  std::ranges::stable_sort(options, {}, &Parameters::value_type::first);
  std::string text(path);
  for (std::size_t i = 0; i < options.size(); ++i) {
    text += i == 0 ? '?' : '&';
    text += options[i].first + "=";
    append_escaped(text, options[i].second);
  }
  return text;
}

std::string about_input(const std::string& question, std::string_view input) {
  if (input.empty()) return question;
  const std::size_t mark = std::min(question.find('?'), question.size());
  std::vector<std::string> options;
  for (std::size_t begin = mark + 1; begin < question.size();) {
    const std::size_t end = std::min(question.find('&', begin), question.size());
    options.push_back(question.substr(begin, end - begin));
    begin = end + 1;
  }
  options.push_back("input=" + std::string(input));
  std::ranges::stable_sort(options, {}, [](const std::string& option) {
    return std::string_view(option).substr(0, option.find('='));
  });
  std::string text = question.substr(0, mark);
  for (std::size_t i = 0; i < options.size(); ++i) text += (i == 0 ? "?" : "&") + options[i];
  return text;
}

std::string exact_pattern(std::string_view text) {
  std::string pattern = "^";
  for (const char c : text) {
    if (std::string_view("\\^$.*+?()[]{}|").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern + "$";
}

}  // namespace fathom::server
