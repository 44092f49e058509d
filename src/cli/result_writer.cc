// Writes the results of several inputs, one after the other.
#include "cli/result_writer.h"

#include "cli/command.h"
#include "cli/messages.h"

namespace fathom::cli {

ResultWriter::ResultWriter(const OutputArguments& args, Output& output, JsonFrame frame)
    : output_(output),
      frame_(std::move(frame)),
      style_(style_for(output.descriptor(), args.colour, args.wide)),
      json_(args.json) {}

Result<void> ResultWriter::json(const std::function<std::string(std::string_view indent)>& render) {
  if (!several_) return raw(render({}) + "\n");
  return raw((first() ? frame_.begin + "\n" : ",\n") + render(frame_.indent));
}

Result<void> ResultWriter::text(std::string_view text) {
  return raw((first() ? "" : "\n") + std::string(text));
}

Result<void> ResultWriter::raw(std::string_view text) {
  Result<void> written = output_.write(text);
  if (written) ++written_;
  return written;
}

/// Where nothing was shown, nothing is left to close.
Result<void> ResultWriter::end() {
  if (first()) return {};
  if (json_ && several_) {
    Result<void> closed = output_.write(frame_.end);
    if (!closed) return closed;
  }
  return output_.finish();
}

int write_results(const OutputArguments& args, JsonFrame frame,
                  const std::function<int(ResultWriter&, const Output&)>& fill) {
  Result<Output> output = Output::open(args.path);
  if (!output) return fail(output.error());
  ResultWriter writer(args, *output, std::move(frame));
  const int code = fill(writer, *output);
  const Result<void> ended = writer.end();
  return ended ? code : fail(ended.error());
}

int write_each(const InputArguments& read, const OutputArguments& args, JsonFrame frame,
               const std::function<Result<void>(const Session&, ResultWriter&)>& add) {
  const Result<Inputs> inputs = inputs_of(read);
  if (!inputs) return fail(inputs.error());
  return write_results(args, std::move(frame), [&](ResultWriter& writer, const Output& output) {
    int code = kFine;
    for_each_session(*inputs, input_handlers(read, code),
                     [&](const SharedSession& session, const Inputs::File&) -> Result<Proceed> {
                       writer.expect_several((*inputs).several);
                       const Result<void> added = add(*session, writer);
                       if (!added) return added.error();
                       return output.closed() ? Proceed::stop : Proceed::next;
                     });
    return code;
  });
}

}  // namespace fathom::cli
