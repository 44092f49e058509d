// Counts the gaps that were left, of the devices that are selected.
#include "reports/gap_notes.h"

#include "analysis/accounting/accounting.h"
#include "base/digit_groups.h"

namespace fathom {

void note_unasked_gaps(const Context& context, std::vector<std::string>& notes) {
  std::uint64_t unasked = 0;
  for (const DeviceAccounting& device : context.accounting().devices)
    if (!context.selection.device || device.device == *context.selection.device)
      unasked += device.unasked_gaps;
  if (unasked == 0) return;
  notes.push_back("The cause of " + grouped(unasked) + (unasked == 1 ? " gap" : " gaps") +
                  " was not looked for: more devices than can be explained one by one are idle "
                  "while one thread works.");
}

}  // namespace fathom
