// What two recordings of one program with different batches say about a third batch: one number.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/diagnosis/diagnosis.h"

namespace fathom {

/// A recording whose batch is known, as far as the prediction needs it. Times are means per usual
/// step, without what is done only once.
struct BatchSize {
  double samples = 0;
  double step_ns = 0;
  double device_ns = 0;  ///< In which something runs on the device.
  double input_ns = 0;
  std::string device;                  ///< Its name, or its number.
  std::vector<std::string> operators;  ///< The costliest: programs that share most are one.
};

/// Unset without a device, or where shapes do not show the batch.
std::optional<BatchSize> batch_size_of(const Diagnosis& diagnosis);

struct BatchPoint {
  double samples = 0;
  double step_ns = 0;
};

/// The step with twice the larger batch: the device's time grows along the line through both, and
/// the step is no shorter than what the host needs. Unset where that would be a guess: other
/// devices or programs, batches less than 1.2 times apart, time that does not grow, or a program
/// that waits for its input.
std::optional<BatchPoint> with_twice_the_batch(const BatchSize& one, const BatchSize& other);

/// The prediction in a sentence.
std::string batch_note(const BatchSize& one, const BatchSize& other, const BatchPoint& point);

}  // namespace fathom
