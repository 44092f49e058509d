// Cuts source files into lines.
#include "analysis/util/source_texts.h"

namespace fathom {

SourceTexts::SourceTexts(const Trace& trace) {
  for (const SourceText& source : trace.sources) {
    std::vector<std::string_view>& lines = lines_[trace.text(source.file)];
    std::string_view rest = trace.text(source.text);
    lines.clear();
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      lines.push_back(rest.substr(0, end));
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
  }
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
