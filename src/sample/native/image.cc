// Reads what unwinding and naming need of an ELF file.
#include "sample/native/image.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sample/elf_tables.h"
#include "sample/native/cursor.h"

namespace fathom::sample::native {
namespace {

constexpr std::uint64_t kMostFrameBytes = std::uint64_t{512} << 20U;
/// Rules are kept for so many places.
constexpr std::size_t kMostRows = 4096;
constexpr std::uint64_t kPage = 4096;
/// Of a function whose size is not known.
constexpr std::uint64_t kLongest = std::uint64_t{1} << 20U;

}  // namespace

std::unique_ptr<Image> Image::read(FileReader file, std::uint64_t size) {
  const std::vector<Elf64_Phdr> segments = read_segments(file);
  if (segments.empty()) return nullptr;
  std::unique_ptr<Image> image(new Image(std::move(file), size));
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD)
      image->segments_.push_back({segment.p_offset, segment.p_vaddr, segment.p_filesz});
    if (segment.p_type == PT_GNU_EH_FRAME) {
      image->header_address_ = segment.p_vaddr;
      image->header_offset_ = segment.p_offset;
      image->header_bytes_ = segment.p_filesz;
    }
  }
  return image;
}

std::vector<std::byte> Image::read_bytes(std::uint64_t offset, std::uint64_t size) const {
  if (offset > size_ || size > size_ - offset || size > kMostFrameBytes) return {};
  std::vector<std::byte> bytes(size);
  if (!file_(offset, bytes)) bytes.clear();
  return bytes;
}

std::optional<std::uint64_t> Image::address_at(std::uint64_t offset) const {
  for (const Segment& segment : segments_) {
    // What is mapped begins with a page.
    const std::uint64_t begin = segment.offset / kPage * kPage;
    if (offset >= begin && offset < segment.offset + segment.bytes)
      return segment.address - segment.offset + offset;
  }
  return std::nullopt;
}

void Image::close_when_read() {
  if (frames_read_ && symbols_read_) file_ = nullptr;
}

void Image::read_frames() {
  frames_read_ = true;
  header_ = read_bytes(header_offset_, header_bytes_);
  std::uint16_t names = 0;
  const std::vector<Elf64_Shdr> sections = read_sections(file_, names);
  const std::string strings =
      names < sections.size() ? read_strings(file_, sections[names]) : std::string();
  std::uint64_t address = 0;
  const auto section = std::ranges::find_if(sections, [&](const Elf64_Shdr& one) {
    return one.sh_type != SHT_NOBITS && is_named(strings, one.sh_name, ".eh_frame");
  });
  if (section != sections.end()) {
    address = section->sh_addr;
    frames_bytes_ = read_bytes(section->sh_offset, section->sh_size);
  } else if (header_.size() >= 8 && header_[0] == std::byte{1} && header_[1] == std::byte{0x1b}) {
    // The table of sections may be gone. Then the header tells where they begin, relative to
    // itself; they end with the segment at the latest.
    const std::uint64_t place = header_address_ + 4;
    address = place + static_cast<std::uint64_t>(std::int64_t{number_at<std::int32_t>(header_, 4)});
    for (const Segment& segment : segments_) {
      const std::uint64_t into = address - segment.address;
      if (address < segment.address || into >= segment.bytes) continue;
      frames_bytes_ = read_bytes(segment.offset + into, segment.bytes - into);
    }
  }
  if (!frames_bytes_.empty())
    frames_.emplace(Section{header_address_, header_}, Section{address, frames_bytes_});
}

const Row* Image::rules_at(std::uint64_t address) {
  if (!frames_read_) {
    read_frames();
    close_when_read();
  }
  if (!frames_) return nullptr;
  if (rows_.size() >= kMostRows) rows_.clear();
  const auto [at, fresh] = rows_.try_emplace(address);
  if (fresh) at->second = frames_->find(address);
  return at->second ? &*at->second : nullptr;
}

std::string_view Image::name_of(const Function& function) const {
  const std::string& strings = strings_[function.table];
  if (function.name >= strings.size()) return {};
  const std::string_view rest = std::string_view(strings).substr(function.name);
  return rest.substr(0, rest.find('\0'));
}

void Image::read_symbols() {
  symbols_read_ = true;
  std::uint16_t names = 0;
  const std::vector<Elf64_Shdr> sections = read_sections(file_, names);
  for (const Elf64_Shdr& section : sections) {
    const bool table = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
    if (!table || section.sh_link >= sections.size() || section.sh_size > size_) continue;
    const std::uint64_t count = std::min(section.sh_size / sizeof(Elf64_Sym), kMostSymbols);
    std::vector<Elf64_Sym> symbols(count);
    if (!file_(section.sh_offset, std::as_writable_bytes(std::span(symbols)))) continue;
    const auto number = static_cast<std::uint16_t>(strings_.size());
    strings_.push_back(read_strings(file_, sections[section.sh_link]));
    for (const Elf64_Sym& symbol : symbols) {
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      const bool code = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
      if (!code || symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) continue;
      if (symbol.st_size > ~symbol.st_value) continue;
      Function function{.begin = symbol.st_value,
                        .end = symbol.st_value + symbol.st_size,
                        .name = symbol.st_name,
                        .table = number};
      const std::string_view name = name_of(function);
      if (name.empty() || name.front() == '$') continue;
      // Of a function's names, those that are meant for others: "pause", not "__libc_pause".
      function.rank = static_cast<std::uint16_t>(
          (symbol.st_size == 0 ? 8U : 0U) + (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ? 4U : 0U) +
          (name.starts_with("__") ? 2U : 0U) +
          (name.starts_with('_') && !name.starts_with("_Z") ? 1U : 0U));
      functions_.push_back(function);
    }
    if (strings_.size() == 4) break;
  }
  std::ranges::sort(functions_, [](const Function& a, const Function& b) {
    return std::tie(a.begin, a.rank, a.table, a.name) < std::tie(b.begin, b.rank, b.table, b.name);
  });
  const auto end =
      std::unique(functions_.begin(), functions_.end(),
                  [](const Function& a, const Function& b) { return a.begin == b.begin; });
  functions_.erase(end, functions_.end());
}

std::optional<Symbol> Image::symbol_at(std::uint64_t address) {
  if (!symbols_read_) {
    read_symbols();
    close_when_read();
  }
  auto after = std::ranges::upper_bound(functions_, address, {}, &Function::begin);
  // One may lie within another one.
  constexpr int kMostNested = 16;
  for (int back = 0; after != functions_.begin() && back < kMostNested; ++back) {
    --after;
    const bool sized = after->end > after->begin;
    const std::uint64_t offset = address - after->begin;
    if (sized ? address < after->end : back == 0 && offset < kLongest)
      return Symbol{name_of(*after), offset};
  }
  return std::nullopt;
}

}  // namespace fathom::sample::native
