// Opens a recording, computes reports and diagnoses over a selection of it.
#include "engine/session.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <system_error>

#include <unistd.h>

#include "base/stop.h"
#include "base/thread_pool.h"
#include "engine/inputs/kept_structure.h"
#include "engine/query/nearest.h"

namespace fathom {
namespace {

/// What the call forest and the launches are kept as. Of fewer slices they are computed at once.
constexpr std::string_view kStructure = "structure";
constexpr std::size_t kStructureFrom = 200'000;

Error usage(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

std::string join(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    text += text.empty() ? "" : ", ";
    text += word;
  }
  return text;
}

/// A table about the whole recording must not seem to be about a part of it.
Result<void> check_whole(const Report& report, const Request& request) {
  if (!report.whole || !(request.steps || request.device || request.window)) return {};
  return usage(std::string(report.id) + " is about the whole trace, not about a part of it");
}

/// Checks "stack=5" against the report's choices, and splits the depth off.
Result<TableOptions> group(const Report& report, TableOptions options) {
  if (options.group_by.empty()) return options;
  if (report.group_by.empty())
    return usage("--group-by: " + std::string(report.id) + " has no grouping");
  const std::size_t equals = options.group_by.find('=');
  const std::string name = options.group_by.substr(0, equals);
  if (std::ranges::find(report.group_by, name) == report.group_by.end()) {
    return usage("--group-by: '" + name + "' is not one of " + join(report.group_by));
  }
  if (equals != std::string::npos && name != "stack") {
    return usage("--group-by: only stack takes a number; write " + name);
  }
  if (equals != std::string::npos) {
    const std::string depth = options.group_by.substr(equals + 1);
    const auto parsed =
        std::from_chars(depth.data(), depth.data() + depth.size(), options.stack_depth);
    if (parsed.ec != std::errc() || parsed.ptr != depth.data() + depth.size() ||
        options.stack_depth < 1) {
      return usage("--group-by: '" + depth + "' is not a depth; write for example " + name + "=5");
    }
  }
  options.group_by = name;
  return options;
}

Result<void> check_device(const Context& context, std::int32_t device) {
  std::string list;
  for (const DeviceTimeline& timeline : context.timelines().devices) {
    if (timeline.device == device) return {};
    list += (list.empty() ? "" : ", ") + std::to_string(timeline.device);
  }
  return usage("--device " + std::to_string(device) + ": no work of that device is in the trace; " +
               (list.empty() ? "it holds no device work at all" : "it has " + list));
}

Result<void> check_steps(const Context& context, Selection::StepRange range) {
  const std::vector<Step>& steps = context.steps().steps;
  const auto inside = [range](const Step& step) {
    return step.number >= range.first && step.number <= range.last;
  };
  if (std::ranges::any_of(steps, inside)) return {};
  if (steps.empty()) return usage("--steps: the trace has no steps");
  const auto [first, last] = std::ranges::minmax(steps, {}, &Step::number);
  return usage("--steps: no such step; the trace has steps " + std::to_string(first.number) +
               " to " + std::to_string(last.number));
}

}  // namespace

Session::Session(Trace trace, std::string input)
    : trace_(std::move(trace)), analyses_(trace_), input_(std::move(input)), process_(getpid()) {}

Session::~Session() {
  if (process_ == getpid()) keep_structure();
  // A child that was forked meanwhile has no such thread to wait for.
  if (keeping_.joinable() && process_ != getpid()) keeping_.detach();
}

Result<std::unique_ptr<Session>> Session::open(std::string_view path, const ReadOptions& options,
                                               Keeping keeping) {
  const std::string name(path);
  if (const std::optional<Result<Inputs>> run = expand_session(name)) {
    if (!*run) return run->error();
    const std::vector<Inputs::File>& files = (**run).files;
    if (files.size() == 1) return open(files.front(), options, keeping);
    return usage(name + ": this session holds " + std::to_string(files.size()) +
                 " recordings; choose one");
  }
  const TraceCache cache(name);
  std::optional<Trace> found = cache.find();
  const bool fresh = !found;
  Result<Trace> trace = found ? Result<Trace>(*std::move(found)) : read_trace(name, options);
  if (!trace) return std::move(trace).error();
  auto session = std::make_unique<Session>(std::move(*trace), name);
  if (!cache.keeps()) return session;
  session->kept_ = cache;
  session->of_cache_ = !fresh;
  session->use_kept_structure();
  if (fresh && keeping == Keeping::at_once) session->keep_beside();
  if (fresh && keeping == Keeping::when_told) session->to_keep_ = true;
  return session;
}

void Session::keep_read() const {
  if (to_keep_.exchange(false)) kept_->keep(trace_);
  keep_structure();
}

void Session::use_kept_structure() {
  if (trace_.slices.size() < kStructureFrom) return;
  analyses_.provide([this] {
    std::optional<Structure> structure;
    kept_->use_answer(kStructure, [&](std::string_view content) {
      structure = read_structure(content, trace_);
      return structure.has_value();
    });
    return structure;
  });
}

void Session::keep_structure() const noexcept {
  if (!kept_ || trace_.slices.size() < kStructureFrom || !analyses_.computed_structure()) return;
  if (structure_kept_.exchange(true)) return;
  try {
    kept_->keep_answer(kStructure, write_structure(analyses_.nesting(), analyses_.links()));
  } catch (const std::exception&) {
    // Without memory for it, it is computed again the next time.
  }
}

void Session::keep_beside() {
  if (parallel_threads() == 1) return kept_->keep(trace_);
  try {
    keeping_ = std::jthread([this] { kept_->keep(trace_); });
  } catch (const std::system_error&) {
    kept_->keep(trace_);  // no thread to be had
  }
}

Result<std::unique_ptr<Session>> Session::open(const Inputs::File& file, const ReadOptions& options,
                                               Keeping keeping) {
  if (!file.of_session()) return open(file.path, options, keeping);
  Result<Trace> trace = read_run(file.recording, options);
  if (!trace) return std::move(trace).error();
  return std::make_unique<Session>(std::move(*trace), file.name());
}

Result<Selection> Session::select(const Request& request) const {
  const Context context{trace_, analyses_, {}, {}};
  Selection selection;
  if (request.device) {
    Result<void> checked = check_device(context, *request.device);
    if (!checked) return std::move(checked).error();
    selection.device = request.device;
  }
  if (request.steps) {
    Result<void> checked = check_steps(context, *request.steps);
    if (!checked) return std::move(checked).error();
    selection.steps = request.steps;
  }
  if (request.window) {
    const Duration span = trace_.span.length();
    if (request.window->begin >= span) {
      return usage("--window: it begins after the end of the trace, which is " +
                   std::to_string(static_cast<double>(to_ns(span)) / 1e6) + " ms long");
    }
    // Context::window() adds the start of the span.
    const Time start{};
    selection.window =
        Interval{start + request.window->begin, start + std::min(request.window->end, span)};
  }
  return selection;
}

Result<View> Session::run(const Report& report, const Request& request) const {
  Result<void> whole = check_whole(report, request);
  if (!whole) return std::move(whole).error();
  Result<TableOptions> options = group(report, request.options);
  if (!options) return std::move(options).error();
  Result<Selection> selection = select(request);
  if (!selection) return std::move(selection).error();
  const Context context{trace_, analyses_, *selection, *options};
  stop_point();
  Result<Computed> computed = compute_report(report, context, request.own);
  if (!computed) return std::move(computed).error();
  stop_point();
  Result<View> view = apply(request.query, report, std::move(*computed));
  if (!view) return view;
  view->input = input_;
  view->group_by = options->group_by;
  return view;
}

}  // namespace fathom
