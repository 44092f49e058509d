// Which numbers a check of the capture harms.
#pragma once

#include <span>
#include <string_view>

#include "analysis/health/health.h"

namespace fathom {

/// A row per check: the numbers that are not to be trusted when it fails.
///
/// A number is PLACE.NAME. The place is a report and the name one of its columns, or one of
/// `numbers_beside_reports`. A `*` stands for all reports that have that column, or for all numbers
/// of a report.
struct Harm {
  std::string_view check;  ///< HealthCheck::id.
  std::span<const std::string_view> numbers;
};
/// Every check that there is, those too that harm no number.
std::span<const Harm> harms();

/// What is shown beside the tables, by the member of its JSON: "diagnosis.step_mean_ns".
std::span<const std::string_view> numbers_beside_reports();

/// What this check harms: nothing unless it is bad, or a part of the recording was lost.
std::span<const std::string_view> harmed_by(const HealthCheck& check);

}  // namespace fathom
