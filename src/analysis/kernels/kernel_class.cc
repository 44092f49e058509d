// Reads the class of a kernel, and whether it uses matrix units, from its name.
#include "analysis/kernels/kernel_class.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <vector>

#include "analysis/kernels/kernel_names.h"
#include "analysis/kernels/triton_names.h"
#include "analysis/util/needle_set.h"

namespace fathom {
namespace {

constexpr std::array<std::string_view, kKernelClasses> kNames = {
    "gemm",      "conv",      "attention", "normalisation", "softmax",       "elementwise",
    "reduction", "embedding", "optimizer", "copy-like",     "communication", "other"};
static_assert(kNames.back() == "other", "one name for each KernelClass, in its order");

constexpr std::string_view kFbgemm = "fbgemm";

/// All needles of both tables in one automaton: class needles first, then matrix needles, then the
/// one that hides the "gemm" of FBGEMM, a library of embeddings and quantisation.
class Vocabulary {
 public:
  static const Vocabulary& get() {
    static const Vocabulary vocabulary;
    return vocabulary;
  }

  struct Found {
    std::size_t best_class;  ///< Row of class_needles(), or their count.
    std::bitset<8> marks;    ///< By MatrixMark.
  };
  [[nodiscard]] Found find(std::string_view name) const {
    Found found{.best_class = classes_, .marks = {}};
    bool hidden = false;
    needles_.scan(name, [&](std::uint32_t needle) {
      if (needle == fbgemm_) {
        hidden = true;  // the same end also matches "gemm", reported next
      } else if (needle == gemm_ && hidden) {
        hidden = false;
      } else if (needle < classes_) {
        found.best_class = std::min<std::size_t>(found.best_class, needle);
      } else {
        found.marks.set(static_cast<std::size_t>(matrix_needles()[needle - classes_].mark));
      }
    });
    return found;
  }

 private:
  Vocabulary() : classes_(class_needles().size()), needles_(all_needles()) {
    const auto at = std::ranges::find(class_needles(), "gemm", &ClassNeedle::text);
    gemm_ = static_cast<std::size_t>(at - class_needles().begin());
    fbgemm_ = classes_ + matrix_needles().size();
  }
  static std::vector<std::string_view> all_needles() {
    std::vector<std::string_view> all;
    for (const ClassNeedle& needle : class_needles()) all.push_back(needle.text);
    for (const MatrixNeedle& needle : matrix_needles()) all.push_back(needle.text);
    all.push_back(kFbgemm);
    return all;
  }

  std::size_t classes_;
  std::size_t gemm_ = 0;
  std::size_t fbgemm_ = 0;
  NeedleSet needles_;
};

bool uses_matrix_units(KernelClass kernel_class, std::bitset<8> marks) {
  const auto has = [marks](MatrixMark mark) { return marks.test(static_cast<std::size_t>(mark)); };
  const bool product = kernel_class == KernelClass::gemm || kernel_class == KernelClass::conv ||
                       kernel_class == KernelClass::attention;
  if (!product || has(MatrixMark::scalar)) return false;
  if (has(MatrixMark::single) && has(MatrixMark::before_tf32)) return false;
  return has(MatrixMark::tensor) || has(MatrixMark::modern_family) ||
         (has(MatrixMark::tensile) && has(MatrixMark::tensile_mfma));
}

}  // namespace

std::string_view to_string(KernelClass kernel_class) {
  return kNames[static_cast<std::size_t>(kernel_class)];
}

KernelTraits classify_kernel(std::string_view name) {
  const Vocabulary::Found found = Vocabulary::get().find(name);
  KernelTraits traits;
  if (is_inductor_name(name)) {
    traits.kernel_class = classify_inductor_kernel(name);
  } else if (found.best_class < class_needles().size()) {
    traits.kernel_class = class_needles()[found.best_class].kernel_class;
  }
  traits.tensor_cores = uses_matrix_units(traits.kernel_class, found.marks);
  return traits;
}

}  // namespace fathom
