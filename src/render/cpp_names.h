// Names of C++ functions, as compilers print them, with what says least left out.
#pragma once

#include <string>
#include <string_view>

namespace fathom {

/// True for what a C++ function's name looks like: a return type, a qualified template, or an
/// argument list. Operators (aten::mm), Python frames and other texts are none.
bool is_cpp_function(std::string_view name);

/// "void (anonymous namespace)::f<int>(int, char*)" becomes "f<int>": without return type,
/// argument list and unnamed namespaces.
std::string without_signature(std::string_view name);

/// "at::native::f<at::native::Op<c10::Half>, g(int)::{lambda()#1} >" becomes "f<Op<Half>, g>":
/// likewise, without namespaces and what stands inside functions. What cannot be understood is
/// returned without its signature only.
std::string compact_cpp_name(std::string_view name);

}  // namespace fathom
