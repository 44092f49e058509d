// fathom explain: what a rule looks for, what a verdict, a bucket or a column means.
#include "engine/explain.h"

#include <algorithm>
#include <memory>

#include <unistd.h>

#include "cli/command.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/print.h"
#include "engine/diagnosis/diagnosis.h"
#include "engine/glossary.h"
#include "render/charset.h"
#include "render/style.h"
#include "render/text_width.h"

namespace fathom::cli {
namespace {

/// A heading, and a paragraph below it.
std::string entry(std::string_view name, std::string_view remark, std::string_view doc,
                  const Style& style) {
  const std::string heading =
      style.bold(name) + (remark.empty() ? "" : "   " + std::string(remark));
  return heading + "\n  " + wrap(doc, style.width - 2, "  ") + "\n";
}

std::string explained(std::string_view name, const Style& style) {
  std::string text;
  for (const Explanation& meaning : fathom::explain(name))
    text += entry(meaning.name, meaning.remark, meaning.doc, style);
  return text;
}

std::string listed(std::string_view heading, const std::vector<std::string_view>& names,
                   const Style& style) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return "\n" + style.bold(heading) + "\n  " + wrap(text, style.width - 2, "  ") + "\n";
}

std::string list_everything(const Style& style) {
  std::size_t width = 0;
  for (const Rule& rule : all_rules()) width = std::max(width, rule.id.size());
  std::string text = style.bold("Rules") + "\n";
  for (const Rule& rule : all_rules()) {
    const std::size_t column = width + 4;
    text += "  " + pad_right(rule.id, width + 2) +
            wrap(rule.title, style.width > column + 20 ? style.width - column : 20,
                 std::string(column, ' ')) +
            "\n";
  }
  for (const TermKind& kind : all_term_kinds()) {
    std::vector<std::string_view> names;
    for (const Term& term : all_terms()) {
      if (term.kind == kind.id) names.push_back(term.id);
    }
    text += listed(kind.heading, names, style);
  }
  std::vector<std::string_view> tables;
  for (const Report& report : all_reports()) tables.push_back(report.id);
  return text + listed("Tables, and any column of theirs", tables, style);
}

int run_explain(const std::vector<std::string>& names) {
  const Style style = style_for(STDOUT_FILENO, ColourChoice::automatic, false);
  if (names.empty()) return print(in_charset(list_everything(style), style));
  std::string out;
  for (const std::string& name : names) {
    const std::string text = explained(name, style);
    if (text.empty()) {
      say_error(not_explained(name));
      return kUsage;
    }
    out += (out.empty() ? "" : "\n") + text;
  }
  return print(in_charset(out, style));
}

}  // namespace

Command explain() {
  Command command;
  command.name = "explain";
  command.group = "Diagnosis";
  command.title = "What a rule looks for, or what a word or number means";
  command.operand = "[NAME…]";
  command.doc =
      "Prints the definition of a rule with its thresholds and their source, of a verdict, of a "
      "bucket of the accounting, of any word that the program shows, of a table or of a column. "
      "Without a "
      "name, lists what there is.";
  command.examples = {"fathom explain", "fathom explain unfused-optimizer",
                      "fathom explain host-bound dispatch", "fathom explain device_self_ns"};
  command.declare = [](Options& options) -> std::function<int()> {
    const auto names = std::make_shared<std::vector<std::string>>();
    options.operands("NAME", *names, 0);
    return [names] { return run_explain(*names); };
  };
  return command;
}

}  // namespace fathom::cli
