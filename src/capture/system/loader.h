// Which loader a program asks the kernel for: that of glibc, of musl, or none.
#pragma once

#include <string>
#include <string_view>

namespace fathom::capture {

/// The loader that the header of a 64-bit ELF file names, as in "/lib64/ld-linux-x86-64.so.2". ""
/// where it names none (a static program), and for what is no such file (a script).
std::string loader_of(const std::string& program);

/// True for the loader of musl, the C library of Alpine: "/lib/ld-musl-x86_64.so.1".
bool is_of_musl(std::string_view loader);

}  // namespace fathom::capture
