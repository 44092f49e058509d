// Reads the program headers of an ELF file.
#include "capture/system/loader.h"

#include <cstddef>
#include <cstring>
#include <fstream>

#include <elf.h>

#include "base/base_name.h"

namespace fathom::capture {
namespace {

constexpr std::size_t kMostHeaders = 256;
constexpr std::size_t kLongestPath = 4096;

template <typename Part>
bool read_at(std::ifstream& file, std::size_t at, Part& part) {
  file.seekg(static_cast<std::streamoff>(at));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&part), sizeof part));
}

std::string text_at(std::ifstream& file, std::size_t at, std::size_t size) {
  if (size > kLongestPath) return {};
  std::string text(size, '\0');
  file.seekg(static_cast<std::streamoff>(at));
  if (!file.read(text.data(), static_cast<std::streamsize>(size))) return {};
  text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
  return text;
}

}  // namespace

std::string loader_of(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file || !read_at(file, 0, header)) return {};
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) return {};
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMostHeaders) return {};
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    if (!read_at(file, header.e_phoff + i * sizeof part, part)) return {};
    if (part.p_type == PT_INTERP) return text_at(file, part.p_offset, part.p_filesz);
  }
  return {};
}

bool is_of_musl(std::string_view loader) { return base_name(loader).starts_with("ld-musl-"); }

}  // namespace fathom::capture
