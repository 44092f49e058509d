// Cuts source files into lines.
#include "analysis/util/source_texts.h"

#include <utility>

#include "base/text_fields.h"

namespace fathom {

SourceTexts::SourceTexts(const Trace& trace) {
  for (const SourceText& source : trace.sources)
    cut(trace.text(source.file), trace.text(source.text));
}

void SourceTexts::add(std::string_view file, std::string text) {
  texts_.push_back(std::move(text));
  cut(file, texts_.back());
}

void SourceTexts::cut(std::string_view file, std::string_view text) {
  std::vector<std::string_view>& lines = lines_[file];
  lines.clear();
  while (!text.empty()) lines.push_back(take_line(text));
}

std::string_view SourceTexts::line(std::string_view file, std::uint32_t number) const {
  const auto at = lines_.find(file);
  if (at == lines_.end() || number == 0 || number > at->second.size()) return {};
  return at->second[number - 1];
}

std::uint32_t SourceTexts::lines(std::string_view file) const {
  const auto at = lines_.find(file);
  return at == lines_.end() ? 0 : static_cast<std::uint32_t>(at->second.size());
}

}  // namespace fathom
