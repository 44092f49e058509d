// The recorded arguments of an operator, taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/roofline/number_type.h"
#include "store/trace.h"

namespace fathom {

struct TensorArgument {
  std::vector<std::int64_t> dims;
  NumberType type = NumberType::unknown;
  std::int64_t element_bytes = 0;

  [[nodiscard]] double dim(std::size_t i) const { return static_cast<double>(dims[i]); }
  /// Of one element.
  [[nodiscard]] double item_bytes() const { return static_cast<double>(element_bytes); }
  /// 1 for a tensor without dimensions.
  [[nodiscard]] double elements() const;
  [[nodiscard]] double bytes() const { return elements() * item_bytes(); }
};

double bytes_of(std::span<const TensorArgument> tensors);

struct TensorListArgument {
  NumberType type = NumberType::unknown;
  double elements = 0;  ///< Of all its tensors.
  double bytes = 0;
};

/// Texts of a Signature: "Input Dims", "Input type", "Concrete Inputs" as canonical JSON.
class OpArguments {
 public:
  /// `list_type` is the element type of lists of tensors, which torch does not record.
  OpArguments(std::string_view shapes, std::string_view types, std::string_view concrete,
              std::string_view list_type = {});

  [[nodiscard]] std::size_t size() const { return types_.size(); }
  /// Argument `i` where it is one tensor, or nullptr.
  [[nodiscard]] const TensorArgument* tensor(std::size_t i) const;
  /// All single tensors, in order.
  [[nodiscard]] const std::vector<TensorArgument>& tensors() const { return tensors_; }
  /// Lists of tensors, in order. One whose shapes or type are not known has no elements.
  [[nodiscard]] const std::vector<TensorListArgument>& lists() const { return lists_; }
  /// Were values recorded?
  [[nodiscard]] bool has_values() const { return !concrete_.empty(); }
  /// What argument `i` was, where it is no tensor: "True", "[2, 2]", "0.1"; empty if not recorded.
  [[nodiscard]] std::string_view text(std::size_t i) const;
  /// Argument `i` as integers: "[2, 2]", or one number as a list of one.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::size_t i) const;

 private:
  void add(std::string_view dims, std::string_view type, std::string_view list_type);

  std::vector<std::string_view> types_;
  std::vector<std::string_view> concrete_;
  std::vector<TensorArgument> tensors_;
  std::vector<std::uint32_t> tensor_of_;  // by argument: row of tensors_, or UINT32_MAX
  std::vector<TensorListArgument> lists_;
};

/// What an operator was called with, or nullptr where it was not recorded. `op` may be invalid.
const Signature* signature_of(const Trace& trace, SliceId op);

}  // namespace fathom
