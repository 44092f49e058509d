// Tells imports, the garbage collector, pickling and the kernel's work from a program's own.
#include "rules/common/work_kind.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "base/base_name.h"
#include "base/quantity_text.h"
#include "rules/common/evidence.h"
#include "rules/common/machine.h"

namespace fathom {
namespace {

/// Programs that run what others wrote: a script, or classes.
constexpr std::array<std::string_view, 13> kInterpreters = {
    "node", "java", "perl", "ruby", "php", "lua", "R", "bash", "sh", "dash", "awk", "mawk", "gawk"};

constexpr double kMost = 0.5;
/// Of user and system time together, from which part on the kernel's is worth the advice.
constexpr double kMuchOfKernel = 0.4;
/// Processor time of children is counted in ticks of 10 ms: less says nothing.
constexpr std::int64_t kLeastCounted = 200'000'000;

double part(Duration of, Duration all) {
  return all <= Duration{} ? 0 : static_cast<double>(to_ns(of)) / static_cast<double>(to_ns(all));
}

bool is_importer(std::string_view file) {
  return file.starts_with("<frozen importlib.") || file.ends_with("/importlib/_bootstrap.py") ||
         file.ends_with("/importlib/_bootstrap_external.py");
}

/// Of multiprocessing and of joblib's loky.
bool hands_on_objects(std::string_view file) {
  if (file.find("/multiprocessing/") == file.npos && file.find("/loky/") == file.npos) return false;
  return file.ends_with("/connection.py") || file.ends_with("/queues.py") ||
         file.ends_with("/reduction.py");
}

/// Frame by frame: which line of the program began the imports that it is in, and whether the
/// innermost function of Python hands objects to other processes.
class FramesOfWork {
 public:
  FramesOfWork(const Trace& trace, const StackRoles& roles) {
    const std::size_t frames = trace.stack_frames.size();
    importing_.reserve(frames);
    imports_.reserve(frames);
    hands_on_.reserve(frames);
    for (std::uint32_t row = 0; row < frames; ++row) {
      const StackFrame& frame = trace.stack_frames[row];
      const bool outermost = frame.parent == kNoFrame;
      const std::string_view file = trace.text(frame.file);
      const bool importer = is_importer(file);
      const bool of_library = is_library_file(file);
      std::uint32_t began = outermost ? kNoFrame : importing_[frame.parent];
      if (importer && began == kNoFrame && !outermost) {
        const std::uint32_t user = roles.user_frame(frame.parent);
        if (!is_library_file(trace.text(trace.stack_frames[user].file))) began = user;
      }
      importing_.push_back(began);
      // What the program's own modules compute while they are imported is work of theirs.
      const bool before = !outermost && imports_[frame.parent];
      imports_.push_back(began != kNoFrame && (importer || (before && of_library)));
      const bool python = frame.line >= 0;
      hands_on_.push_back(python ? hands_on_objects(file) : !outermost && hands_on_[frame.parent]);
    }
  }
  /// kNoFrame where the time is none of imports.
  [[nodiscard]] std::uint32_t import_line(std::uint32_t frame) const {
    return frame == kNoFrame || !imports_[frame] ? kNoFrame : importing_[frame];
  }
  [[nodiscard]] bool hands_on(std::uint32_t frame) const {
    return frame != kNoFrame && hands_on_[frame];
  }

 private:
  std::vector<std::uint32_t> importing_;
  std::vector<bool> imports_;
  std::vector<bool> hands_on_;
};

std::optional<Work> imports(const Trace& trace, const FramesOfWork& frames, Duration all) {
  const auto line = [&](const StackSample& sample) { return frames.import_line(sample.frame); };
  Work work{.kind = WorkKind::imports};
  work.lines = user_spots(
      trace, SpotBy::line,
      [&](const StackSample& sample) {
        return line(sample) == kNoFrame ? Duration{} : sample.on_cpu;
      },
      line);
  Duration sum{};
  for (const UserSpot& spot : work.lines) sum += spot.time;
  if (part(sum, all) < kMost) return std::nullopt;
  work.text = share_text(part(sum, all)) + " of all processor time in imports";
  work.fix = {.text =
                  "Import what few calls need where these need it, instead of at the start; "
                  "python -X importtime lists what each module takes. Keep the compiled modules "
                  "(__pycache__ can be written, PYTHONDONTWRITEBYTECODE is not set). Caveat: what "
                  "is imported late is late at its first use.",
              .before = "import report",
              .after = "def main():\n    import report"};
  return work;
}

std::int64_t number_of(const Trace& trace, std::string_view key) {
  const Fact* const fact = trace.fact(key);
  return fact == nullptr ? 0 : std::strtoll(fact->value.c_str(), nullptr, 10);
}

std::optional<Work> collector(const Trace& trace, const ProgramTime& time) {
  const Duration paused = duration_ns(number_of(trace, "gc.total_ns"));
  const std::int64_t pauses = number_of(trace, "gc.pauses");
  // Pauses last longer where others have the processor, as the rest of the program does.
  const double computes = time.activity.share(time.to_compute());
  if (pauses <= 0 || part(paused, time.wall()) < kMost * computes) return std::nullopt;
  const std::string what = "Python's garbage collector paused the program " +
                           plain_text(static_cast<double>(pauses)) +
                           (pauses == 1 ? " time, for " : " times, for ") + duration_text(paused);
  return Work{
      .kind = WorkKind::collector,
      .text = what,
      .lines = {},
      .fix = {.text = "Call gc.freeze() once what stays is loaded, raise gc.set_threshold(), "
                      "call gc.disable() around the stretch that makes many objects, and do "
                      "not call gc.collect() in a loop. " +
                      what + ". Caveat: without it objects that refer to each other are not freed.",
              .before = "",
              .after = "gc.freeze()\ngc.set_threshold(100_000, 50, 100)"}};
}

std::optional<Work> pickling(const Trace& trace, const FramesOfWork& frames, Duration all) {
  Duration sum{};
  for (const StackSample& sample : trace.stack_samples) {
    if (frames.hands_on(sample.frame)) sum += sample.on_cpu;
  }
  if (part(sum, all) < kMost) return std::nullopt;
  const std::string share = share_text(part(sum, all));
  return Work{
      .kind = WorkKind::pickling,
      .text = share + " of all processor time hand objects to other processes (pickle)",
      .lines = {},
      .fix = {.text = "Send less to other processes: names of files or indices instead of "
                      "data. Hand large data over once: by the pool's initializer, a global "
                      "from before the fork, or multiprocessing.shared_memory. Now " +
                      share +
                      " of all processor time go into bytes of objects and back. Caveat: what "
                      "is shared must not be changed meanwhile.",
              .before = "pool.map(work, [(table, i) for i in parts])",
              .after = "Pool(initializer=keep, initargs=(table,)).map(work, parts)"}};
}

std::optional<Work> kernel(const Trace& trace) {
  std::int64_t user = 0;
  std::int64_t system = 0;
  for (const ProcessRun& run : trace.process_runs) {
    // With the children that it has waited for.
    if (trace.text(run.role) != "main" || run.system_ns == kAbsent || run.user_ns == kAbsent)
      continue;
    if (run.user_ns + run.system_ns <= user + system) continue;
    user = run.user_ns;
    system = run.system_ns;
  }
  const Duration all = duration_ns(user + system);
  if (to_ns(all) < kLeastCounted || part(duration_ns(system), all) < kMuchOfKernel)
    return std::nullopt;
  const std::string what = duration_text(duration_ns(system)) + " of " + duration_text(all) +
                           " of processor time are the kernel's work";
  return Work{
      .kind = WorkKind::kernel,
      .text = what,
      .lines = {},
      .fix = {.text = "Make fewer and larger calls, use memory and files again instead of new "
                      "ones, hand work over in batches. " +
                      what +
                      ": system calls, pages that are touched first, threads that wake each "
                      "other; strace -c -f counts the calls. Caveat: strace slows the program "
                      "down.",
              .before = "",
              .after = ""}};
}

bool is_of_system(std::string_view file) {
  constexpr std::array<std::string_view, 5> kFolders = {"/usr/bin/", "/usr/sbin/", "/bin/",
                                                        "/usr/lib", "/lib"};
  return std::ranges::any_of(kFolders,
                             [file](std::string_view folder) { return file.starts_with(folder); });
}

/// The kernel cuts names of threads.
constexpr std::size_t kLongestName = 15;

/// The file of a thread's program, by its functions without names; "" where none was met.
std::string_view program_of(const Trace& trace, std::string_view thread) {
  for (const StackFrame& frame : trace.stack_frames) {
    const std::string_view file = trace.text(frame.file);
    if (frame.line < 0 && !thread.empty() && base_name(file).substr(0, kLongestName) == thread)
      return file;
  }
  return {};
}

}  // namespace

std::optional<Work> work_of(const RuleContext& rules, const SampledProgram& program) {
  const Trace& trace = rules.trace();
  const ProgramTime& time = program.time();
  const Duration all = time.on_cpu + time.unsampled;
  const FramesOfWork frames(trace, program.roles());
  if (auto work = imports(trace, frames, all)) return work;
  if (auto work = collector(trace, time)) return work;
  if (auto work = pickling(trace, frames, all)) return work;
  return kernel(trace);
}

Fix native_work_fix(const Trace& trace, const UserSpot& spot) {
  const std::string_view function =
      spot.frame == kNoFrame ? "" : trace.text(trace.stack_frames[spot.frame].function);
  const std::string_view file = spot.frame == kNoFrame
                                    ? program_of(trace, trace.text(spot.thread))
                                    : trace.text(trace.stack_frames[spot.frame].file);
  const bool script = std::ranges::find(kInterpreters, base_name(file)) != kInterpreters.end();
  if (script || function == "(generated code)") {
    return {.text =
                "Do less there, keep results, or choose an algorithm that does less. Functions of "
                "the script or the classes that it runs have no names here: node "
                "--perf-basic-prof gives them some, perl -d:NYTProf and java's Flight Recorder "
                "measure them. Caveat: these slow the program down.",
            .before = "",
            .after = ""};
  }
  if (is_of_system(file)) {
    return {.text =
                "Give it less to do, keep results, or let an option or another program do the same "
                "with less work; parts that do not depend on each other can run at a time. Caveat: "
                "a faster program gives back its own share at most.",
            .before = "",
            .after = ""};
  }
  return {.text =
              "Do less there, keep results, choose an algorithm that does less, or "
              "let the compiler do more (-O3, -march=native); work that does not "
              "depend on other work can go to several threads. Caveat: a faster "
              "function gives back its own share at most.",
          .before = "",
          .after = ""};
}

}  // namespace fathom
