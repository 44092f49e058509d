// Checks the Python interpreter, PyTorch and its CUPTI, without importing torch.
#include <cstdlib>

#include "capture/doctor/checks.h"
#include "capture/system/briefly.h"
#include "capture/system/files.h"
#include "capture/system/launch.h"

namespace fathom::capture {
namespace {

constexpr Duration kLimit = duration_ns(8'000'000'000);

/// Prints "name: value" lines.
constexpr const char* kQuestions = R"(
import glob, importlib.util, os, platform, re, sys
print('python:', platform.python_version())
print('implementation:', platform.python_implementation())
print('executable:', sys.executable)
print('hook:', 'sitecustomize' in sys.modules)
def place(name):
    try:
        spec = importlib.util.find_spec(name)
    except Exception:
        return []
    return list(spec.submodule_search_locations or []) if spec else []
for folder in place('torch')[:1]:
    print('torch folder:', folder)
    with open(os.path.join(folder, 'version.py')) as file:
        for name, value in re.findall(r"^(__version__|cuda|hip)\b[^=\n]*= *'([^']*)'", file.read(), re.M):
            print('torch ' + name.strip('_') + ':', value)
for folder in place('nvidia'):
    for file in sorted(glob.glob(os.path.join(folder, '*', 'lib', 'libcupti.so*'))):
        print('cupti:', file)
)";

std::string interpreter() {
  const char* environment = std::getenv("VIRTUAL_ENV");
  if (environment != nullptr) {
    std::string inside = std::string(environment) + "/bin/python";
    if (!find_program(inside).empty()) return inside;
  }
  return find_program("python3").empty() ? "python" : "python3";
}

Check no_python(const std::string& program, const std::string& why) {
  return {.section = "Python",
          .what = "interpreter",
          .state = CheckState::missing,
          .detail = program + ": " + why,
          .lost = "nothing of native programs; Python programs need one",
          .remedy = "activate the environment of the program, or put its python3 into PATH"};
}

Check torch_check(const std::string& answers) {
  Check check{.section = "Python", .what = "PyTorch"};
  const std::string version = field_of(answers, "torch version");
  if (version.empty()) {
    check.state = CheckState::missing;
    check.detail = "not in this interpreter";
    check.lost = "operators and kernels of programs that are run by it";
    check.remedy = "activate the environment that has it before fathom run";
    return check;
  }
  check.state = CheckState::fine;
  check.detail = version;
  const std::string cuda = field_of(answers, "torch cuda");
  const std::string hip = field_of(answers, "torch hip");
  if (!cuda.empty()) check.detail += ", built for CUDA " + cuda;
  if (!hip.empty()) check.detail += ", built for ROCm " + hip;
  if (cuda.empty() && hip.empty()) check.detail += ", built for the CPU";
  if (std::atoi(version.c_str()) < 2) {
    check.state = CheckState::limited;
    check.lost = "what torch.profiler of 2.x records beyond that of 1.x";
    check.remedy = "PyTorch 2.0 or later";
  }
  return check;
}

}  // namespace

std::vector<Check> python_checks() {
  const std::string program = interpreter();
  const Result<Briefly> ran = run_briefly({program, "-c", kQuestions}, kLimit);
  if (!ran) return {no_python(program, ran.error().message)};
  if (ran->code != 0)
    return {no_python(program, "ended with exit code " + std::to_string(ran->code))};
  const std::string& answers = ran->output;
  std::vector<Check> checks = {{.section = "Python",
                                .what = "interpreter",
                                .state = CheckState::fine,
                                .detail = field_of(answers, "implementation") + " " +
                                          field_of(answers, "python") + ", " +
                                          field_of(answers, "executable")}};
  if (field_of(answers, "hook") == "True") {
    checks.push_back({.section = "Python",
                      .what = "start-up hook",
                      .state = CheckState::fact,
                      .detail = "there is a sitecustomize already; ours runs it after itself"});
  }
  checks.push_back(torch_check(answers));
  const std::string cupti = field_of(answers, "cupti");
  if (!cupti.empty()) {
    checks.push_back({.section = "Python",
                      .what = "CUPTI of PyTorch",
                      .state = CheckState::fine,
                      .detail = cupti});
  }
  return checks;
}

}  // namespace fathom::capture
