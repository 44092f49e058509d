// Looks names up in ELF files. Nothing in them is believed: tables are bounded, chains are counted.
#include "sample/elf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include <elf.h>

#include "sample/elf_tables.h"

namespace fathom::sample {
namespace {

constexpr std::size_t kMostHeaders = 512;     // of a program
constexpr std::size_t kMostSections = 65536;  // of a file
constexpr std::size_t kMostDynamic = 4096;
constexpr std::size_t kLongestChain = 4096;
constexpr std::uint64_t kMostStringBytes = std::uint64_t{64} << 20;
constexpr Address kPage = 4096;

template <typename T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

std::uint32_t sysv_hash(std::string_view name) {
  std::uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4U) + static_cast<unsigned char>(c);
    const std::uint32_t high = hash & 0xf0000000U;
    hash = (hash ^ (high >> 24U)) & ~high;
  }
  return hash;
}

}  // namespace

bool is_ours(const Elf64_Ehdr& header) {
  constexpr auto kOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  const std::string_view magic(reinterpret_cast<const char*>(header.e_ident), SELFMAG);
  return magic == std::string_view(ELFMAG, SELFMAG) && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == kOrder;
}

std::optional<LoadedElf> LoadedElf::at(const Memory& memory, Address base) {
  Elf64_Ehdr header{};
  if (!memory.read(base, bytes_of(header)) || !is_ours(header)) return std::nullopt;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0) return std::nullopt;
  std::vector<Elf64_Phdr> parts(std::min<std::size_t>(header.e_phnum, kMostHeaders));
  if (!memory.read(base + header.e_phoff, std::as_writable_bytes(std::span(parts))))
    return std::nullopt;
  LoadedElf elf(memory);
  const auto first = std::ranges::find_if(parts, [](const Elf64_Phdr& part) {
    return part.p_type == PT_LOAD && part.p_offset < kPage;
  });
  if (first == parts.end()) return std::nullopt;
  elf.bias_ = base - (first->p_vaddr - first->p_offset);
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0)
      elf.writable_.push_back({elf.bias_ + part.p_vaddr, part.p_memsz});
    if (part.p_type == PT_DYNAMIC) elf.read_dynamic(elf.bias_ + part.p_vaddr, part.p_memsz);
  }
  return elf;
}

void LoadedElf::read_dynamic(Address at, std::uint64_t size) {
  std::vector<Elf64_Dyn> entries(std::min<std::uint64_t>(size / sizeof(Elf64_Dyn), kMostDynamic));
  if (!memory_->read(at, std::as_writable_bytes(std::span(entries)))) return;
  // glibc has put addresses there, musl and the vDSO leave what the file says.
  const auto placed = [&](std::uint64_t value) { return value < bias_ ? bias_ + value : value; };
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_SYMTAB) symbols_ = placed(entry.d_un.d_ptr);
    if (entry.d_tag == DT_STRTAB) strings_ = placed(entry.d_un.d_ptr);
    if (entry.d_tag == DT_GNU_HASH) gnu_hash_ = placed(entry.d_un.d_ptr);
    if (entry.d_tag == DT_HASH) hash_ = placed(entry.d_un.d_ptr);
    if (entry.d_tag == DT_STRSZ) string_bytes_ = entry.d_un.d_val;
  }
}

std::optional<Address> LoadedElf::find(std::string_view name) const {
  if (symbols_ == 0 || strings_ == 0) return std::nullopt;
  if (gnu_hash_ != 0) return find_by_gnu_hash(name);
  return hash_ != 0 ? find_by_hash(name) : std::nullopt;
}

std::optional<Address> LoadedElf::value_of(std::uint32_t symbol, std::string_view name) const {
  Elf64_Sym entry{};
  if (!memory_->read(symbols_ + symbol * sizeof entry, bytes_of(entry))) return std::nullopt;
  if (entry.st_shndx == SHN_UNDEF || entry.st_name >= string_bytes_) return std::nullopt;
  std::string found(name.size() + 1, '\1');
  if (!memory_->read(strings_ + entry.st_name, std::as_writable_bytes(std::span(found))))
    return std::nullopt;
  if (!found.starts_with(name) || found.back() != '\0') return std::nullopt;
  return bias_ + entry.st_value;
}

std::optional<Address> LoadedElf::find_by_gnu_hash(std::string_view name) const {
  struct {
    std::uint32_t buckets, first, words, shift;
  } table{};
  if (!memory_->read(gnu_hash_, bytes_of(table)) || table.buckets == 0) return std::nullopt;
  const std::uint32_t hash = gnu_hash(name);
  const Address buckets = gnu_hash_ + sizeof table + std::uint64_t{table.words} * 8;
  const Address chain = buckets + std::uint64_t{table.buckets} * 4;
  const auto start = memory_->number<std::uint32_t>(buckets + Address{4} * (hash % table.buckets));
  if (!start || *start < table.first) return std::nullopt;
  for (std::uint32_t step = 0; step < kLongestChain; ++step) {
    const std::uint32_t symbol = *start + step;
    const auto link =
        memory_->number<std::uint32_t>(chain + 4 * std::uint64_t{symbol - table.first});
    if (!link) return std::nullopt;
    if ((*link | 1U) == (hash | 1U)) {
      if (const std::optional<Address> value = value_of(symbol, name)) return value;
    }
    if ((*link & 1U) != 0) break;
  }
  return std::nullopt;
}

std::optional<Address> LoadedElf::find_by_hash(std::string_view name) const {
  std::array<std::uint32_t, 2> counts{};  // buckets, symbols
  if (!memory_->read(hash_, bytes_of(counts)) || counts[0] == 0) return std::nullopt;
  const Address chain = hash_ + 8 + std::uint64_t{counts[0]} * 4;
  auto symbol =
      memory_->number<std::uint32_t>(hash_ + 8 + Address{4} * (sysv_hash(name) % counts[0]));
  for (std::size_t step = 0; step < kLongestChain && symbol; ++step) {
    if (*symbol == 0 || *symbol >= counts[1]) break;
    if (const std::optional<Address> value = value_of(*symbol, name)) return value;
    symbol = memory_->number<std::uint32_t>(chain + std::uint64_t{*symbol} * 4);
  }
  return std::nullopt;
}

std::vector<Elf64_Phdr> read_segments(const FileReader& file) {
  Elf64_Ehdr header{};
  if (!file(0, bytes_of(header)) || !is_ours(header)) return {};
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return {};
  std::vector<Elf64_Phdr> segments(std::min<std::size_t>(header.e_phnum, kMostHeaders));
  if (!file(header.e_phoff, std::as_writable_bytes(std::span(segments)))) return {};
  return segments;
}

std::vector<Elf64_Shdr> read_sections(const FileReader& file, std::uint16_t& names) {
  Elf64_Ehdr header{};
  if (!file(0, bytes_of(header)) || !is_ours(header)) return {};
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0) return {};
  std::vector<Elf64_Shdr> sections(std::min<std::size_t>(header.e_shnum, kMostSections));
  if (!file(header.e_shoff, std::as_writable_bytes(std::span(sections)))) return {};
  names = header.e_shstrndx;
  return sections;
}

std::string read_strings(const FileReader& file, const Elf64_Shdr& section) {
  if (section.sh_type != SHT_STRTAB || section.sh_size > kMostStringBytes) return {};
  std::string text(section.sh_size, '\0');
  if (!file(section.sh_offset, std::as_writable_bytes(std::span(text)))) return {};
  return text;
}

bool is_named(const std::string& strings, std::uint64_t at, std::string_view name) {
  return at < strings.size() && strings.compare(at, name.size(), name) == 0 &&
         at + name.size() < strings.size() && strings[at + name.size()] == '\0';
}

namespace {

std::optional<Address> find_in_table(const FileReader& file, const Elf64_Shdr& table,
                                     const std::string& strings, std::string_view name) {
  constexpr std::size_t kAtOnce = 4096;
  const std::uint64_t count = std::min(table.sh_size / sizeof(Elf64_Sym), kMostSymbols);
  std::vector<Elf64_Sym> symbols;
  for (std::uint64_t at = 0; at < count; at += symbols.size()) {
    symbols.resize(std::min<std::uint64_t>(kAtOnce, count - at));
    const std::uint64_t offset = table.sh_offset + at * sizeof(Elf64_Sym);
    if (!file(offset, std::as_writable_bytes(std::span(symbols)))) return std::nullopt;
    for (const Elf64_Sym& symbol : symbols) {
      if (symbol.st_shndx != SHN_UNDEF && is_named(strings, symbol.st_name, name))
        return symbol.st_value;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Address> find_section(const FileReader& file, std::string_view name) {
  std::uint16_t names = 0;
  const std::vector<Elf64_Shdr> sections = read_sections(file, names);
  if (names >= sections.size()) return std::nullopt;
  const std::string strings = read_strings(file, sections[names]);
  for (const Elf64_Shdr& section : sections) {
    if (is_named(strings, section.sh_name, name) && section.sh_addr != 0) return section.sh_addr;
  }
  return std::nullopt;
}

std::optional<Address> find_symbol(const FileReader& file, std::string_view name) {
  std::uint16_t names = 0;
  const std::vector<Elf64_Shdr> sections = read_sections(file, names);
  for (const Elf64_Shdr& section : sections) {
    const bool table = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
    if (!table || section.sh_link >= sections.size()) continue;
    const std::string strings = read_strings(file, sections[section.sh_link]);
    const std::optional<Address> found = find_in_table(file, section, strings, name);
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace fathom::sample
