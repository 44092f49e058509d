// Arguments of an operator that is given the tensor to write its result to.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

/// A list as recorded, "[[2,3],[3]]" or ["float","Scalar"], without its last element. O(n).
std::string without_last(std::string_view list);

/// Is the one list the other with one element more at its end? Compiled code hands the result of
/// aten::addmm in, which is recorded as one argument more: the inputs are the same. O(n).
bool same_but_result(std::string_view one, std::string_view other);

/// Is the last of these shapes that of a tensor, so that it may be a result? O(1).
bool ends_with_tensor(std::string_view shapes);

}  // namespace fathom
