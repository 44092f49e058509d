#include "tests/support/recordings.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace fathom {

namespace fs = std::filesystem;

fs::path further_data() {
  const char* set = std::getenv("FATHOM_DATA");
  return set != nullptr ? fs::path(set) : fs::path(FATHOM_SOURCE_DIR) / "tests/data/recordings";
}

std::vector<std::string> recordings(const std::vector<fs::path>& further) {
  const fs::path root(FATHOM_SOURCE_DIR);
  std::vector<fs::path> folders = {root / "tests/data/traces", root / "tests/data/torch",
                                   root / "examples", further_data() / "kineto",
                                   further_data() / "kineto-multirank"};
  folders.insert(folders.end(), further.begin(), further.end());
  std::vector<std::string> out;
  for (const fs::path& folder : folders) {
    for (std::string& path : traces_below(folder)) out.push_back(std::move(path));
  }
  std::ranges::sort(out);
  return out;
}

std::vector<std::string> all_recordings() {
  return recordings({fs::path(FATHOM_SOURCE_DIR) / "tests/illness", further_data() / "torch-cpu"});
}

std::vector<std::string> traces_below(const fs::path& folder) {
  std::vector<std::string> out;
  if (!fs::is_directory(folder)) return out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    std::string path = entry.path().string();
    const bool trace = path.ends_with(".json.gz") && path.find("expected") == std::string::npos;
    if (trace && !path.ends_with("_et.json.gz")) out.push_back(std::move(path));
  }
  std::ranges::sort(out);
  return out;
}

std::string name_of_recording(const testing::TestParamInfo<std::string>& test) {
  std::string name = fs::path(test.param).filename().string();
  name = name.substr(0, name.find(".json"));
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return std::to_string(test.index) + "_" + name;
}

}  // namespace fathom
