// Writes what the inputs of a subcommand gave, one after the other.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/each_input.h"
#include "cli/output.h"
#include "cli/selection_options.h"

namespace fathom::cli {

/// What stands around the JSON of several inputs.
struct JsonFrame {
  std::string begin = "[";
  std::string end = "\n]\n";
  std::string_view indent = "  ";  ///< Of each result in it.
};

/// One or several results as text or JSON. What cannot be written is an error.
class ResultWriter {
 public:
  ResultWriter(const OutputArguments& args, Output& output, JsonFrame frame);

  /// For who prints text.
  [[nodiscard]] const Style& style() const { return style_; }
  /// May the arguments stand for more than one input?
  [[nodiscard]] bool several() const { return several_; }
  /// Reports it before anything is written.
  void expect_several(bool several) { several_ = several; }
  /// Was nothing written yet?
  [[nodiscard]] bool first() const { return written_ == 0; }

  /// `render` gives an object without a final newline, indented by what it is given.
  Result<void> json(const std::function<std::string(std::string_view indent)>& render);
  /// A paragraph, an empty line apart from the one before.
  Result<void> text(std::string_view text);
  /// As it is.
  Result<void> raw(std::string_view text);

 private:
  friend int write_results(const OutputArguments&, JsonFrame,
                           const std::function<int(ResultWriter&, const Output&)>&);
  Result<void> end();

  Output& output_;
  JsonFrame frame_;
  Style style_;
  bool json_ = false;
  bool several_ = false;
  std::size_t written_ = 0;
};

/// Opens the output, lets `fill` write all results and return the exit code, and closes it.
int write_results(const OutputArguments& args, JsonFrame frame,
                  const std::function<int(ResultWriter&, const Output&)>& fill);

/// Opens the output, lets `add` write the result of each input, and closes it. Returns the exit
/// code. Inputs are looked for before a file is opened for the output.
int write_each(const InputArguments& read, const OutputArguments& args, JsonFrame frame,
               const std::function<Result<void>(const Session&, ResultWriter&)>& add);

}  // namespace fathom::cli
