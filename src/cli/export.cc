// fathom export: the trace, or a part of it, in another program's format.
#include "engine/export.h"

#include <iterator>
#include <memory>
#include <optional>

#include <unistd.h>

#include "base/thread_pool.h"
#include "cli/command.h"
#include "cli/each_input.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/selection_options.h"

namespace fathom::cli {
namespace {

struct ExportArguments {
  InputArguments read;
  Request request;
  std::string to;
  std::string path;
  std::optional<SampledTime> time;
};

class OutputSink final : public ByteSink {
 public:
  explicit OutputSink(Output& output) : output_(output) {}
  Result<void> write(std::string_view bytes) override { return output_.write(bytes); }
  Result<void> finish() override { return output_.finish(); }
  [[nodiscard]] bool closed() const override { return output_.closed(); }

 private:
  Output& output_;
};

std::string ids() {
  std::string text;
  for (const ExportFormat& format : export_formats())
    text += (text.empty() ? "" : " or ") + format.id;
  return text;
}

/// What was asked for, or what the file's name says.
Result<std::string> format_of(const ExportArguments& args) {
  if (!args.to.empty()) return args.to;
  std::string by_name = export_format_for(args.path);
  if (!by_name.empty()) return by_name;
  return Error{ErrorCode::invalid_argument, "say what to write: --to " + ids()};
}

Result<void> check_terminal(const Output& output, const std::string& to) {
  for (const ExportFormat& format : export_formats()) {
    if (format.id == to && !format.text && isatty(output.descriptor()) == 1)
      return Error{ErrorCode::invalid_argument,
                   to + " is binary: name a file with -o, or pipe the output"};
  }
  return {};
}

Result<Proceed> write(const ExportArguments& args, const std::string& to, const Session& session,
                      bool several) {
  if (several) return Error{ErrorCode::invalid_argument, "export takes one recording at a time"};
  // What cannot be selected must not cost the file that is there.
  if (const Result<void> fit = check_export(session, args.request, to, args.time); !fit)
    return fit.error();
  Result<Output> output = Output::open(args.path);
  if (!output) return output.error();
  if (const Result<void> fit = check_terminal(*output, to); !fit) return fit.error();
  OutputSink file(*output);
  const std::unique_ptr<ByteSink> packed = args.path.ends_with(".gz") ? gzip_sink(file) : nullptr;
  const Result<Exported> done = export_trace(
      session, args.request, to, packed ? *packed : static_cast<ByteSink&>(file), args.time);
  if (!done) return done.error();
  if ((*done).unbound_flows > 0)
    say_warning(std::to_string((*done).unbound_flows) +
                    " ends of arrows lie in no slice, and are not in the output",
                args.read.quiet);
  return Proceed::next;
}

int run_export(const ExportArguments& args) {
  const ThreadPool pool(args.read.threads);
  const Result<std::string> to = format_of(args);
  if (!to) return fail(to.error());
  const Result<Inputs> inputs = inputs_of(args.read);
  if (!inputs) return fail(inputs.error());
  int code = kFine;
  for_each_session(*inputs, input_handlers(args.read, code),
                   [&](const SharedSession& session, const Inputs::File&) {
                     return write(args, *to, *session, (*inputs).several);
                   });
  return code;
}

void declare_format(Options& options, ExportArguments& args) {
  std::vector<std::string> choices;
  for (const ExportFormat& format : export_formats()) choices.push_back(format.id);
  options.parsed(
      "--to", "FORMAT",
      [&args, choices](const std::string& text) -> Result<void> {
        args.to = text;
        for (const std::string& choice : choices) {
          if (choice == text) return {};
        }
        return Error{ErrorCode::invalid_argument, "'" + text + "' is not " + ids()};
      },
      "chrome (JSON) or perfetto (its own format); of sampled stacks, folded (lines for flame "
      "graphs), speedscope or pprof; of functions, prof (as of cProfile); by default as the "
      "output's name says: .json, .pftrace, .folded, .speedscope.json, .pb, .prof",
      choices);
}

void declare_metric(Options& options, ExportArguments& args) {
  options.parsed(
      "--metric", "WHAT",
      [&args](const std::string& text) -> Result<void> {
        args.time = sampled_time_named(text);
        if (args.time) return {};
        return Error{ErrorCode::invalid_argument, "'" + text + "' is not on-cpu, blocked or both"};
      },
      "Which time of sampled stacks: on-cpu (the default), blocked or both; in both, stacks of "
      "what was blocked end with (blocked)",
      {std::begin(kSampledTimes), std::end(kSampledTimes)});
}

}  // namespace

Command export_command() {
  Command command;
  command.name = "export";
  command.group = "Tables";
  command.title = "Write the trace in another program's format";
  command.operand = "INPUT";
  command.doc =
      "Writes what was read (a trace, a session folder, a capture file) for Perfetto or "
      "chrome://tracing: processes, threads and streams as tracks, slices with their arguments, "
      "arrows from launches to device work and from forward to backward, counters, instants. A "
      "selection takes what starts in it. Stacks that fathom run sampled are written for flame "
      "graphs and for speedscope; of a profile of functions each one by its own time, or as "
      "cProfile has it, for pstats and snakeviz. A name that ends in .gz is compressed. "
      "docs/export.md lists what "
      "each format carries.";
  command.examples = {"fathom export --to perfetto -o trace.pftrace session/",
                      "fathom export --steps 3-4 -o steps.json.gz trace.json.gz",
                      "fathom export --metric both -o app.speedscope.json session/",
                      "fathom export --steps 3 -o step.prof session/",
                      "fathom export --to chrome trace.json.gz | fathom overview -"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto args = std::make_shared<ExportArguments>();
    options.operands("INPUT", args->read.inputs, 1);
    declare_format(options, *args);
    declare_metric(options, *args);
    Request& request = args->request;
    declare_selection(options, request.steps, request.device, request.window);
    options.group("Output");
    options.text("-o,--output", "FILE", args->path,
                 "Write to this file instead of standard output");
    declare_reading(options, args->read);
    return [args] { return run_export(*args); };
  };
  return command;
}

}  // namespace fathom::cli
