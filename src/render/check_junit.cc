// Writes checked budgets as test cases.
#include "render/check_junit.h"

#include <string_view>

#include "base/markup.h"
#include "render/check_text.h"
#include "render/text_width.h"

namespace fathom {
namespace {

/// Text for an attribute or an element. Control characters, which XML cannot hold, are visible.
std::string escaped(std::string_view text) { return markup_escaped(printable(text)); }

/// What a test case that does not pass holds; "" for one that does.
std::string_view element_of(Judgement judgement, Undecided undecided) {
  if (judgement == Judgement::within) return {};
  if (judgement == Judgement::over || undecided == Undecided::fail) return "failure";
  return undecided == Undecided::pass ? "skipped" : "error";
}

std::size_t count_of(const CheckedRuns& checked, Undecided undecided, std::string_view element) {
  std::size_t count = 0;
  for (const Check& check : checked.checks) {
    for (const CheckedBudget& budget : check.budgets)
      count += element_of(budget.judgement, undecided) == element ? 1 : 0;
  }
  return count;
}

std::string case_of(const Check& check, const CheckedBudget& budget, Undecided undecided) {
  std::string text = "    <testcase classname=\"fathom.check." + escaped(check.reference) +
                     "\" name=\"" + escaped(budget.budget.text) + "\"";
  const std::string values = escaped(checked_values(budget));
  const std::string reason = escaped(checked_reason(budget));
  const std::string_view element = element_of(budget.judgement, undecided);
  if (element.empty())
    return text + ">\n      <system-out>" + values + (reason.empty() ? "" : "; ") + reason +
           "</system-out>\n    </testcase>\n";
  return text + ">\n      <" + std::string(element) + " message=\"" + values + "\">" + reason +
         "</" + std::string(element) + ">\n    </testcase>\n";
}

}  // namespace

std::string render_check_junit(const CheckedRuns& checked, Undecided undecided) {
  std::size_t all = 0;
  for (const Check& check : checked.checks) all += check.budgets.size();
  const auto count = [&](std::string_view name, std::string_view element) {
    return std::string(name) + "=\"" + std::to_string(count_of(checked, undecided, element)) + "\"";
  };
  const std::string counts = "tests=\"" + std::to_string(all) + "\" " +
                             count("failures", "failure") + " " + count("errors", "error") + " " +
                             count("skipped", "skipped");
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"" +
      std::string("fathom check") + "\" " + counts + ">\n";
  for (const Check& check : checked.checks) {
    for (const CheckedBudget& budget : check.budgets) out += case_of(check, budget, undecided);
  }
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace fathom
