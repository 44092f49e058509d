// Chooses between diagnosis and screen, and between the two outputs.
#include "cli/run_show.h"

#include <filesystem>

#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/run_screen.h"
#include "render/style.h"

namespace fathom::cli {
namespace {

/// A trace of torch.profiler: what there is to diagnose.
bool has_trace(const std::string& folder) {
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("torch-") && name.find(".pt.trace.json") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

int diagnose_folder(const std::string& folder, bool quiet) {
  Options options;
  const std::function<int()> diagnose_it = find_command("diagnose")->declare(options);
  std::vector<std::string> arguments = {"--", folder};
  if (quiet) arguments.insert(arguments.begin(), "--quiet");
  return options.parse(arguments) ? diagnose_it() : kUsage;
}

void show_run(const Captured& captured, bool quiet) {
  if (isatty(STDOUT_FILENO) == 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  if (has_trace(captured.folder)) {
    diagnose_folder(captured.folder, quiet);
  } else {
    print("\n" + run_screen(captured, style_for(STDOUT_FILENO, ColourChoice::automatic, false)));
  }
}

}  // namespace fathom::cli
