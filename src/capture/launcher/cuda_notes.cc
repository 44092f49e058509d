// Finds the notes of libfathom_cuda.so in the session's capture files.
#include "capture/launcher/cuda_notes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>

#include "base/folder.h"
#include "wire/reader.h"

namespace fathom::capture {
namespace {

class Facts final : public wire::Visitor {
 public:
  void fact(const wire::FactRecord& record, std::uint64_t /*offset*/) override {
    all[std::string(record.key)] = record.value;
  }

  std::map<std::string, std::string> all;
};

void read_facts(const std::filesystem::path& path, Facts& facts) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> part(kPart);
  wire::Reader reader(facts);
  while (file) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    const auto got = static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0));
    reader.feed(std::as_bytes(std::span(part).first(got)));
  }
  reader.finish();
}

void add_limits(const Facts& facts, CudaNotes& notes) {
  for (std::size_t i = 0;; ++i) {
    const std::string key = "not_recorded.cuda." + std::to_string(i) + '.';
    const auto what = facts.all.find(key + "what");
    const auto why = facts.all.find(key + "why");
    const auto remedy = facts.all.find(key + "remedy");
    if (what == facts.all.end() || why == facts.all.end() || remedy == facts.all.end()) return;
    const bool known = std::ranges::any_of(notes.limits, [&](const NotRecorded& limit) {
      return limit.what == what->second && limit.why == why->second;
    });
    if (!known) notes.limits.push_back({what->second, why->second, remedy->second, what->second});
  }
}

}  // namespace

CudaNotes cuda_notes(const std::string& folder) {
  CudaNotes notes;
  std::vector<std::filesystem::path> files;
  for (const std::string& name : names_in(folder)) {
    if (name.starts_with("cuda-") && name.ends_with(".fathom"))
      files.push_back(std::filesystem::path(folder) / name);
  }
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) {
    Facts facts;
    read_facts(file, facts);
    notes.recorded = true;
    add_limits(facts, notes);
    const auto cost = facts.all.find("cuda.graph_nodes.cost");
    if (cost != facts.all.end()) notes.measured.push_back(cost->second);
  }
  return notes;
}

}  // namespace fathom::capture
