// Runs by ChildRunner, under a StepWatch where one is asked for.
#include "measure/run_taker.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/hash.h"
#include "capture/launcher/redact.h"
#include "capture/system/host.h"
#include "measure/command_words.h"

namespace fathom::measure {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::size_t kLongestFolder = 100;

}  // namespace

std::string failure_text(const std::string& what, const std::string& command, const ChildRun& ran,
                         std::size_t run) {
  return what + " (" + command + ") " + ending_of(ran) + ", in run " + std::to_string(run);
}

std::string run_folder(std::size_t number) {
  const std::string digits = std::to_string(number + 1);
  return std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
}

std::string folder_named(const std::string& name) {
  std::string safe = name.substr(0, kLongestFolder);
  std::ranges::replace_if(
      safe, [](char c) { return c == '/' || std::iscntrl(static_cast<unsigned char>(c)) != 0; },
      '_');
  if (safe == name) return name;
  std::uint64_t hash = 0;
  for (const char c : name) hash = hash_mix(hash, static_cast<unsigned char>(c));
  return safe + "-" + std::to_string(hash);
}

RunTaker::RunTaker(RunHow how) : how_(std::move(how)) {}

Result<void> RunTaker::watch(const record::StepWatchOptions& options) {
  if (watch_) {
    watch_->watch(options);
    return {};
  }
  Result<std::unique_ptr<record::StepWatch>> watch = record::StepWatch::create(options);
  if (!watch) return std::move(watch).error();
  watch_ = std::move(*watch);
  return {};
}

Result<bool> RunTaker::prepare(const Commanded& what) {
  if (what.prepare.empty()) return true;
  ChildOptions how;
  how.environment = what.prepare_environment;
  how.timeout = how_.child.timeout;
  const Result<ChildRun> ran = runner_.run({"/bin/sh", "-c", what.prepare}, how);
  if (!ran) return ran.error();
  if (ran->ended == Ended::interrupted) return false;
  if (ran->fine()) return true;
  failure_ =
      Failure{.what = failure_text("--prepare", capture::redact(what.prepare), *ran, taken_ + 1),
              .last_words = ran->last_words};
  return false;
}

Result<std::optional<BenchRun>> RunTaker::take(const Commanded& what, const std::string& folder) {
  if (runner_.interrupted() != 0) return std::optional<BenchRun>();
  const Result<bool> ready = prepare(what);
  if (!ready) return ready.error();
  if (!*ready) return std::optional<BenchRun>();
  BenchRun run;
  run.order = taken_;
  run.given = how_.given;
  run.begin_ns = to_ns(Duration(Steady::now() - began_));
  ChildOptions how = how_.child;
  how.environment.insert(how.environment.end(), what.environment.begin(), what.environment.end());
  if (watch_) {
    Result<std::vector<std::string>> variables =
        watch_->begin(how_.keep.empty() ? std::string() : how_.keep + "/" + folder);
    if (!variables) return std::move(variables).error();
    how.environment.insert(how.environment.end(), variables->begin(), variables->end());
    how.started = [this](pid_t pid) { watch_->started(pid); };
  }
  const auto kills = capture::read_cgroup().oom_kills;
  Result<ChildRun> child = runner_.run(what.words, how);
  if (!child) return std::move(child).error();
  const auto killed = capture::read_cgroup().oom_kills;
  killed_ = kills.value_or(0) < killed.value_or(0);
  if (watch_) {
    SessionMeasured measured = watch_->end();
    run.steps = std::move(measured.steps);
    run.epochs_ns = std::move(measured.epochs_ns);
    run.phases = std::move(measured.phases);
    run.devices = std::move(measured.devices);
    run.facts = std::move(measured.facts);
  }
  run.child = std::move(*child);
  if (run.child.ended == Ended::interrupted) return std::optional<BenchRun>();
  ++taken_;
  return std::optional(std::move(run));
}

}  // namespace fathom::measure
