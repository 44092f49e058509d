// The table of counters in docs/capture-reference.md and that of the code are the same.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "monitor/source.h"

namespace fathom {
namespace {

std::string row_of(const monitor::CounterSpec& spec) {
  const std::string kind = spec.kind == monitor::CounterKind::total ? "total" : "level";
  return "| `" + std::string(spec.name) + "` | " + std::string(spec.unit) + " | " + kind + " | " +
         std::string(spec.source) + " | " + std::string(spec.doc) + " |";
}

/// The rows that begin with a counter's name, in their order.
std::vector<std::string> documented() {
  std::ifstream file(std::string(FATHOM_SOURCE_DIR) + "/docs/capture-reference.md");
  std::vector<std::string> rows;
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) here = line == "## Telemetry";
    if (here && line.starts_with("| `") && line.find('.') != std::string::npos)
      rows.push_back(line);
  }
  return rows;
}

TEST(CounterTable, OfTheDocumentationIsThatOfTheCode) {
  std::vector<std::string> wanted;
  for (const monitor::CounterSpec& spec : monitor::all_counters()) wanted.push_back(row_of(spec));
  EXPECT_EQ(documented(), wanted);
}

}  // namespace
}  // namespace fathom
