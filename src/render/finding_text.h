// A finding as text, in as much detail as there is room for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/diagnosis/diagnosis.h"
#include "render/style.h"

namespace fathom {

/// Labels stand left of this column, paragraphs right of it.
inline constexpr std::size_t kLabelWidth = 14;

/// Each detail shows what the one before shows, and more.
enum class Detail : std::uint8_t {
  saving,    ///< Title and predicted saving, on a line each.
  change,    ///< What to change, on one line; a long title on three.
  evidence,  ///< The first piece of evidence, and what else was found of the cause; wrapped.
  code,      ///< All about the change, with code before and after.
  full,
};

/// "saves 44.1 ms of 177.6 ms (24.8 %; 14.9–24.8 %)", of the mean step.
std::string saving_text(const RankedFinding& ranked, bool ascii);
/// What an alternative of a card saves where the card's change is made, too; "" for nothing.
std::string on_top_text(const RankedFinding& other, bool ascii);

/// "host-bound"; with what it nearly is, "host-bound or sync-bound: 5 points of the step decide";
/// where the roofline shows too little, "memory-bandwidth-bound or latency-bound".
std::string verdict_text(const Verdict& verdict);

/// "apply 1–3: 177.6 ms → 118.2 ms (33.4 % less)": what the first findings save together.
std::string together_text(const Together& together);

/// "2. Title", or "•  Title" where the finding has no number.
std::string headline(const RankedFinding& ranked);

/// A title, or a headline, in one line.
std::string title_line(std::string_view title, std::size_t width);

/// Ends with a newline. Commands are about `input`.
std::string finding_text(const RankedFinding& ranked, std::string_view input, Detail detail,
                         const Style& style);

/// `text` (not yet printable) wrapped beside a label; ends with a newline.
std::string paragraph(std::string_view label, std::string_view text, const Style& style);

}  // namespace fathom
