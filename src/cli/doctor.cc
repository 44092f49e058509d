// fathom doctor: what may be recorded here, and what would allow more.
#include "record/doctor.h"

#include <algorithm>
#include <memory>

#include <unistd.h>

#include "base/json_writer.h"
#include "capture/doctor/checks.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/version.h"
#include "render/style.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

using capture::Check;
using capture::CheckState;

constexpr std::size_t kWhatColumn = 10;
constexpr std::size_t kDetailColumn = 32;

std::string state_word(CheckState state, const Style& style) {
  const std::string word = pad_right(to_string(state), kWhatColumn - 2);
  switch (state) {
    case CheckState::fine:
      return style.green(word);
    case CheckState::limited:
      return style.yellow(word);
    case CheckState::missing:
      return style.red(word);
    case CheckState::fact:
      break;
  }
  return style.dim(word);
}

std::string line_of(const Check& check, const Style& style) {
  const std::size_t room = std::max<std::size_t>(style.width, kDetailColumn + 30) - kDetailColumn;
  const std::string indent(kDetailColumn, ' ');
  std::string head = pad_right(check.what, kDetailColumn - kWhatColumn - 1) + " ";
  if (display_width(check.what) > kDetailColumn - kWhatColumn - 1 && !check.detail.empty())
    head = check.what + "\n" + indent;
  std::string out =
      "  " + state_word(check.state, style) + head + wrap(printable(check.detail), room, indent);
  while (out.ends_with(' ')) out.pop_back();
  out += "\n";
  if (!check.lost.empty() && check.lost != check.what)
    out += indent + style.dim("lost: ") + wrap(check.lost, room - 6, indent + "      ") + "\n";
  if (!check.remedy.empty())
    out +=
        indent + style.dim("remedy: ") + wrap(check.remedy, room - 8, indent + "        ") + "\n";
  return out;
}

std::string as_text(const std::vector<Check>& checks) {
  const Style style = style_for(STDOUT_FILENO, ColourChoice::automatic, false);
  std::string out;
  std::string section;
  for (const Check& check : checks) {
    if (check.section != section) {
      out += (out.empty() ? "" : "\n") + style.bold(check.section) + "\n";
      section = check.section;
    }
    out += line_of(check, style);
  }
  return out;
}

std::string as_json(const std::vector<Check>& checks) {
  std::string out;
  JsonWriter json(out, kJsonLines);
  json.object().member("schema", "fathom.doctor/1").member("fathom", version());
  json.key("checks").array();
  for (const Check& check : checks) {
    json.object(kJsonInline)
        .member("section", check.section)
        .member("what", check.what)
        .member("state", to_string(check.state))
        .member("detail", check.detail)
        .member("lost", check.lost)
        .member("remedy", check.remedy)
        .end();
  }
  json.end().end();
  return out + "\n";
}

}  // namespace

Command doctor() {
  Command command;
  command.name = "doctor";
  command.group = "Capture";
  command.title = "What can be recorded here, and what would allow more";
  command.doc =
      "Looks at the driver, CUPTI, telemetry, Python and torch, permissions and limits of this "
      "machine or container, before any run. Each line shows whether something is available, what "
      "is lost where it is not, and what would allow it with the fewest rights. Always ends with "
      "exit code 0.";
  command.examples = {"fathom doctor",
                      "fathom doctor --json | jq '.checks[] | select(.state == "
                      "\"missing\")'"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto json = std::make_shared<bool>(false);
    options.group("Output");
    options.flag("--json", *json, "JSON, schema fathom.doctor/1");
    return [json] {
      const std::vector<Check> checks = record::doctor_checks();
      print(*json ? as_json(checks) : as_text(checks));
      return kFine;
    };
  };
  return command;
}

}  // namespace fathom::cli
