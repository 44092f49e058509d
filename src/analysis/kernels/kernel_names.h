// The vocabulary of kernel names: which piece of a name means what.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "analysis/kernels/kernel_class.h"

namespace fathom {

/// A piece of a name (any case) and the class it stands for.
struct ClassNeedle {
  std::string_view text;
  KernelClass kernel_class;
};
/// Strongest first: of all pieces that occur in a name, the first in this list decides.
std::span<const ClassNeedle> class_needles();

/// What a piece of a name shows about matrix units.
enum class MatrixMark : std::uint8_t {
  tensor,         ///< An instruction or kernel family that exists on matrix units only.
  tensile,        ///< A rocBLAS / hipBLASLt kernel: matrix units only together with `tensile_mfma`.
  tensile_mfma,   ///< Its matrix instruction, "_MI16x16x1".
  modern_family,  ///< Generated for matrix units if it is a product or attention: CK, sm90 and
                  ///< newer.
  scalar,         ///< Multiply-add on the ordinary units, or a helper: overrules everything.
  single,         ///< Memory-efficient attention on 32-bit floats …
  before_tf32,    ///< … which before sm80 had no matrix units to use.
};
struct MatrixNeedle {
  std::string_view text;
  MatrixMark mark;
};
std::span<const MatrixNeedle> matrix_needles();

}  // namespace fathom
