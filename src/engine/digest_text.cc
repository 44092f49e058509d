// Reads a file and prints the digest of its tables.
#include "engine/digest_text.h"

#include "formats/format.h"
#include "store/digest.h"

namespace fathom {

Result<std::string> digest_text(std::string_view path) {
  const Result<Trace> trace = read_trace(path, {});
  if (!trace) return trace.error();
  return to_string(digest(*trace));
}

Result<void> for_each_digest_line_of(std::string_view path,
                                     const std::function<bool(std::string_view)>& visit) {
  const Result<Trace> trace = read_trace(path, {});
  if (!trace) return trace.error();
  bool wanted = true;
  for_each_digest_line(*trace, [&](std::string_view table, std::string_view line) {
    if (wanted) wanted = visit(std::string(table) + ": " + std::string(line));
  });
  return {};
}

Result<std::string> repairs_text(std::string_view path) {
  const Result<Trace> trace = read_trace(path, {});
  if (!trace) return trace.error();
  std::string text;
  for (std::size_t i = 0; i < kRepairs; ++i) {
    const auto repair = static_cast<Repair>(i);
    const RepairCount& entry = trace->import[repair];
    if (entry.count == 0) continue;
    text.append(info(repair).id).append(" " + std::to_string(entry.count));
    text.append(" " + std::to_string(entry.first_offset) + "\n");
  }
  return text;
}

}  // namespace fathom
