// The step time after changes, as `fathom whatif --json` prints it, and the command that says the
// same.
#include "base/shell_word.h"
#include "engine/whatif/typed_what_if.h"
#include "render/what_if_json.h"
#include "server/route.h"

namespace fathom::server {
namespace {

/// "fathom whatif --scale aten::mm=0.5 trace.json".
std::string command_of(const TypedOptions& options, const std::string& input) {
  std::string command = "fathom whatif";
  for (const auto& [name, value] : options) {
    const bool is_switch = value == "true" || value == "1";
    if (value == "false" || value == "0") continue;
    command += " --" + name;
    if (!is_switch) command += " " + shell_word(value);
  }
  return command + " " + shell_word(input);
}

/// "api/whatif?prepare=true&steps=3-7": the graph is built before somebody moves a slider.
Result<Response> prepare(const Call& call, TypedOptions options) {
  std::erase_if(options, [](const auto& option) { return option.first == "prepare"; });
  std::optional<Selection::StepRange> steps;
  std::optional<WindowRequest> window;
  for (const auto& [name, text] : options) {
    Result<bool> taken = take_selection(name, text, {&steps, nullptr, &window});
    if (!taken) return std::move(taken).error();
    if (!*taken) return unknown_option(name);
  }
  Result<void> built = call.input->what_if().prepare(steps, window);
  if (!built) return std::move(built).error();
  return json_response("{\"prepared\": true}\n");
}

Result<Response> answer_whatif(const Call& call) {
  const TypedOptions options = call.options();
  if (call.text("prepare") == "true") return prepare(call, options);
  const Result<TypedWhatIf> typed = typed_what_if(options);
  if (!typed) return typed.error();
  const Result<WhatIf> result = call.input->what_if().run(typed->request);
  if (!result) return result.error();
  const std::string command = command_of(options, call.input->session().input());
  return json_response(render_what_if_json(*result, {}, command) + "\n");
}

}  // namespace

Route whatif() { return {.path = "api/whatif", .answer = answer_whatif}; }

}  // namespace fathom::server
