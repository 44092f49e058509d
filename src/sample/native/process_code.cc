// Finds the files behind a process's code.
#include "sample/native/process_code.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include <cxxabi.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base_name.h"
#include "base/descriptor.h"
#include "sample/native/code_flow.h"
#include "sample/task.h"

namespace fathom::sample::native {
namespace {

/// Where an address lay in nothing that is known, and where all did: another library may have taken
/// the place of one that was unloaded.
constexpr std::int64_t kReadEvery = 1'000'000'000;
constexpr std::int64_t kCheckEvery = 2'000'000'000;
/// Where calls end in nothing that is known: a program that loads libraries does so many at a time.
constexpr std::int64_t kReadSoonest = 10'000'000;
constexpr std::size_t kMostPlaces = 100'000;
constexpr std::size_t kMostImages = 4096;
constexpr std::uint64_t kMostKernelBytes = std::uint64_t{1} << 20U;
/// So much of the code is compared where the numbers of the files do not tell that they are one.
constexpr std::size_t kCompared = 1024;
constexpr std::size_t kLongestSymbol = 2048;
constexpr std::size_t kLongestName = 400;
constexpr double kMostNameBytes = 64e6;
constexpr std::size_t kMostMapBytes = std::size_t{64} << 20U;

bool read_at(int file, std::uint64_t offset, std::span<std::byte> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t got =
        ::pread(file, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

/// Does the file hold what lies there in memory?
bool is_same(int file, const Memory& memory, const Mapping& mapping) {
  std::array<std::byte, kCompared> in_file{};
  std::array<std::byte, kCompared> in_memory{};
  const std::size_t size = std::min<std::size_t>(kCompared, mapping.end - mapping.begin);
  return read_at(file, mapping.offset, std::span(in_file).first(size)) &&
         memory.read(mapping.begin, std::span(in_memory).first(size)) && in_file == in_memory;
}

std::string hex(std::uint64_t number) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(number));
  return text.data();
}

/// The file that is mapped, not one that has taken its name since.
Descriptor open_mapped(pid_t pid, const Memory& memory, const Mapping& mapping,
                       struct stat& status) {
  const std::string process = "/proc/" + std::to_string(pid);
  const std::string range = hex(mapping.begin).substr(2) + "-" + hex(mapping.end).substr(2);
  const std::string mapped = process + "/map_files/" + range;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  Descriptor file(::open(mapped.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) return file;
  const std::string path = process + "/root" + mapping.path;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  file = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return Descriptor();
  if (status.st_ino != mapping.inode && !is_same(file.get(), memory, mapping)) return Descriptor();
  return file;
}

/// Where its just-in-time compiler writes names.
std::string generated_path(pid_t pid) {
  const std::string number = std::to_string(read_task(pid, pid).native);
  return "/proc/" + std::to_string(pid) + "/root/tmp/perf-" + number + ".map";
}

/// What its just-in-time compiler has written. Anybody may write into /tmp: another user's file
/// says nothing of this process, a pipe is not waited for.
std::optional<std::string> read_generated(pid_t pid, const std::string& path) {
  const std::string process = "/proc/" + std::to_string(pid);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat status {};
  struct stat owner {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (::stat(process.c_str(), &owner) != 0) return std::nullopt;
  if (status.st_uid != owner.st_uid && status.st_uid != 0) return std::nullopt;
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(status.st_size), kMostMapBytes),
                   '\0');
  if (!read_at(file.get(), 0, std::as_writable_bytes(std::span(text)))) return std::nullopt;
  return text;
}

/// Whether what a name stands for may be too long to be written down: each reference to a part of
/// it (S_, S1_, T_) repeats that part with all that it repeats itself. References multiply the
/// length most where three are to the same part each: then by 3, for one by the cube root of that.
bool may_be_endless(std::string_view symbol) {
  constexpr double kPerReference = 1.4423;
  auto most = static_cast<double>(symbol.size());
  bool reference = false;
  for (const char c : symbol) {
    if (c == 'S' || c == 'T') {
      reference = true;
    } else if (c == '_' && reference) {
      most *= kPerReference;
      reference = false;
    } else {
      reference = reference && ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'));
    }
  }
  return most > kMostNameBytes;
}

/// CPython's loop over bytecode; of 3.14 it may be a function for each instruction.
bool is_evaluator_name(std::string_view name) {
  return name.starts_with("_PyEval_EvalFrameDefault") || name.starts_with("_TAIL_CALL_");
}

}  // namespace

std::shared_ptr<Image> ImageCache::find(pid_t pid, const Memory& memory, const Mapping& mapping) {
  if (mapping.path == "[vdso]") {
    const auto bytes = std::make_shared<std::vector<std::byte>>(
        std::min(mapping.end - mapping.begin, kMostKernelBytes));
    if (!memory.read(mapping.begin, *bytes)) return nullptr;
    return Image::read(
        [bytes](std::uint64_t offset, std::span<std::byte> to) {
          if (offset > bytes->size() || to.size() > bytes->size() - offset) return false;
          std::memcpy(to.data(), bytes->data() + offset, to.size());
          return true;
        },
        bytes->size());
  }
  if (!mapping.path.starts_with('/')) return nullptr;
  struct stat status {};
  auto file = std::make_shared<Descriptor>(open_mapped(pid, memory, mapping, status));
  if (!*file) return nullptr;
  const Key key{status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                status.st_mtim.tv_nsec};
  const auto known = images_.find(key);
  if (known != images_.end()) return known->second;
  if (images_.size() >= kMostImages) images_.clear();
  std::shared_ptr<Image> image =
      Image::read([file](std::uint64_t offset,
                         std::span<std::byte> to) { return read_at(file->get(), offset, to); },
                  static_cast<std::uint64_t>(status.st_size));
  images_.emplace(key, image);
  return image;
}

std::string readable_name(std::string_view symbol) {
  std::string name(symbol);
  if (symbol.starts_with("_Z") && symbol.size() <= kLongestSymbol && !may_be_endless(symbol)) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
    if (status == 0 && text) name = text.get();
    // A copy that the compiler made: "f(int) [clone .isra.0]".
    if (const std::size_t copy = name.find(" [clone "); copy != std::string::npos)
      name.resize(copy);
  }
  if (name.size() > kLongestName) {
    name.resize(kLongestName);
    name += "...";
  }
  return name;
}

GeneratedCode::GeneratedCode(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    Function function;
    std::uint64_t size = 0;
    const char* const end = line.data() + line.size();
    const auto begin = std::from_chars(line.data(), end, function.begin, 16);
    if (begin.ec != std::errc() || begin.ptr == end || *begin.ptr != ' ') continue;
    const auto length = std::from_chars(begin.ptr + 1, end, size, 16);
    if (length.ec != std::errc() || length.ptr == end || *length.ptr != ' ') continue;
    if (size > ~function.begin) continue;
    function.end = function.begin + size;
    function.name.assign(length.ptr + 1, end);
    functions_.push_back(std::move(function));
  }
  // What is written later has taken the place of what was there.
  std::ranges::stable_sort(functions_, {}, &Function::begin);
}

const GeneratedCode::Function* GeneratedCode::find(Address address) const {
  const auto after = std::ranges::upper_bound(functions_, address, {}, &Function::begin);
  if (after == functions_.begin()) return nullptr;
  const Function& function = *std::prev(after);
  return address < function.end ? &function : nullptr;
}

const std::string* GeneratedCode::name_at(Address address) const {
  const Function* const function = find(address);
  return function != nullptr ? &function->name : nullptr;
}

std::optional<Address> GeneratedCode::begin_at(Address address) const {
  const Function* const function = find(address);
  return function != nullptr ? std::optional(function->begin) : std::nullopt;
}

ProcessCode::ProcessCode(pid_t pid, const Memory& memory, ImageCache& images)
    : pid_(pid), memory_(memory), images_(images) {
  read();
}

bool ProcessCode::read() {
  int error = 0;
  std::optional<std::vector<Mapping>> mappings = read_mappings(pid_, error);
  if (!mappings) return false;
  std::vector<Code> codes;
  std::size_t kept = 0;
  for (const Mapping& mapping : *mappings) {
    if (!mapping.executable || mapping.path == "[vsyscall]") continue;
    codes.push_back({.mapping = mapping, .image = nullptr, .searched = false});
    // What was there before keeps its file.
    const auto known = std::ranges::lower_bound(
        codes_, mapping.begin, {}, [](const Code& code) { return code.mapping.begin; });
    if (known == codes_.end() || known->mapping != mapping) continue;
    codes.back().image = known->image;
    codes.back().searched = known->searched;
    ++kept;
  }
  const bool same = kept == codes.size() && kept == codes_.size();
  codes_ = std::move(codes);
  mappings_ = std::move(*mappings);
  const bool names_same = !generated_read_ || generated_file() == generated_file_;
  if (!names_same) {
    generated_.reset();
    generated_read_ = false;
  }
  // An address that was in nothing may be in something now.
  if (!same || !names_same || missed_) places_.clear();
  missed_ = false;
  return !same;
}

bool ProcessCode::find_more(std::int64_t now) {
  if (now < next_more_) return false;
  const bool more = read();
  more_wait_ = more ? kReadSoonest : std::clamp(2 * more_wait_, kReadSoonest, kReadEvery);
  next_more_ = now + more_wait_;
  return more;
}

void ProcessCode::refresh(std::int64_t now) {
  if (now < (missed_ ? next_read_ : next_check_)) return;
  next_read_ = now + kReadEvery;
  next_check_ = now + kCheckEvery;
  read();
}

ProcessCode::FileState ProcessCode::generated_file() const {
  struct stat status {};
  if (::lstat(generated_path_.c_str(), &status) != 0) return {};
  return {status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

const Mapping* ProcessCode::mapping_at(Address address) const {
  const auto after = std::ranges::upper_bound(mappings_, address, {}, &Mapping::begin);
  if (after == mappings_.begin()) return nullptr;
  return address < std::prev(after)->end ? &*std::prev(after) : nullptr;
}

ProcessCode::Code* ProcessCode::code_at(Address address) {
  const auto after = std::ranges::upper_bound(codes_, address, {},
                                              [](const Code& code) { return code.mapping.begin; });
  if (after == codes_.begin() || address >= std::prev(after)->mapping.end) {
    missed_ = true;
    return nullptr;
  }
  Code& code = *std::prev(after);
  if (!code.searched) {
    code.searched = true;
    code.image = images_.find(pid_, memory_, code.mapping);
  }
  return &code;
}

std::optional<std::uint64_t> ProcessCode::in_file(Code& code, Address address) {
  if (!code.image) return std::nullopt;
  return code.image->address_at(address - code.mapping.begin + code.mapping.offset);
}

bool ProcessCode::is_code(Address address) { return code_at(address) != nullptr; }

const Row* ProcessCode::rules_at(Address address) {
  Code* const code = code_at(address);
  const auto place = code != nullptr ? in_file(*code, address) : std::nullopt;
  return place ? code->image->rules_at(*place) : nullptr;
}

/// Where a stub of .plt jumps to; the address itself where it is none.
Address ProcessCode::target_of(Address stub) const {
  constexpr std::array kLandingPad = {std::byte{0xf3}, std::byte{0x0f}, std::byte{0x1e},
                                      std::byte{0xfa}};
  std::array<std::byte, 11> code{};
  if (!memory_.read(stub, code)) return stub;
  std::size_t at = std::equal(kLandingPad.begin(), kLandingPad.end(), code.begin()) ? 4 : 0;
  if (code[at] == std::byte{0xf2}) ++at;
  if (code[at] != std::byte{0xff} || code[at + 1] != std::byte{0x25}) return stub;
  const auto offset = memory_.number<std::int32_t>(stub + at + 2);
  if (!offset) return stub;
  const Address slot = stub + at + 6 + static_cast<std::uint64_t>(std::int64_t{*offset});
  return memory_.pointer(slot).value_or(stub);
}

/// What the call before `back` calls; nothing where that is in a register.
std::optional<Address> ProcessCode::called_by(Address back) const {
  std::array<std::byte, 6> code{};
  if (back < code.size() || !memory_.read(back - code.size(), code)) return std::nullopt;
  const auto to = back + static_cast<std::uint64_t>(std::int64_t{number_at<std::int32_t>(code, 2)});
  if (code[0] == std::byte{0xff} && code[1] == std::byte{0x15}) return memory_.pointer(to);
  if (code[1] == std::byte{0xe8}) return target_of(to);
  return std::nullopt;
}

bool ProcessCode::calls(Address back, Address place) {
#if defined(__x86_64__)
  Code* const code = code_at(place);
  const auto at = code != nullptr ? in_file(*code, place) : std::nullopt;
  const Row* const row = at ? code->image->rules_at(*at) : nullptr;
  return row != nullptr && called_by(back) == place - (*at - row->begin);
#else
  return back == 0 && place == 0;  // Calls of other machines are not read.
#endif
}

CallBefore ProcessCode::call_before(Address back, std::optional<Address> function) {
#if defined(__x86_64__)
  if (const std::optional<Address> called = called_by(back)) {
    if (!function) return CallBefore::unknown;
    return *called == *function ? CallBefore::function : CallBefore::another;
  }
  // call of what a register holds, or a place in memory: 2 to 7 bytes, perhaps with a prefix.
  std::array<std::byte, 7> code{};
  if (back < code.size() || !memory_.read(back - code.size(), code)) return CallBefore::none;
  for (std::size_t size = 2; size <= code.size(); ++size) {
    const auto* const at = code.data() + (code.size() - size);
    const auto form = std::to_integer<unsigned>(at[1]);
    if (at[0] != std::byte{0xff} || ((form >> 3U) & 7U) != 2) continue;
    const unsigned mode = form >> 6U;
    const bool indexed = mode != 3 && (form & 7U) == 4;
    const bool absolute =
        mode == 0 &&
        ((form & 7U) == 5 || (indexed && size > 2 && (std::to_integer<unsigned>(at[2]) & 7U) == 5));
    const std::size_t offset = mode == 1 ? 1 : (mode == 2 || absolute ? 4 : 0);
    if (size == 2 + (indexed ? 1U : 0U) + offset) return CallBefore::unknown;
  }
  return CallBefore::none;
#elif defined(__aarch64__)
  const auto code = memory_.number<std::uint32_t>(back - 4);
  if (!code) return CallBefore::none;
  if ((*code & 0xfffffc1fU) == 0xd63f0000U) return CallBefore::unknown;  // blr
  if ((*code & 0xfc000000U) != 0x94000000U) return CallBefore::none;     // bl
  if (!function) return CallBefore::unknown;
  const auto words = static_cast<std::int32_t>(*code << 6U) >> 6;
  const Address called = back - 4 + static_cast<std::uint64_t>(std::int64_t{words} * 4);
  return called == *function ? CallBefore::function : CallBefore::unknown;
#else
  return CallBefore::unknown;
#endif
}

std::optional<FunctionStart> ProcessCode::start_of(Address place) {
  Code* const code = code_at(place);
  if (code == nullptr) return std::nullopt;
  if (const auto at = in_file(*code, place)) {
    const std::optional<Symbol> symbol = code->image->symbol_at(*at);
    if (!symbol || symbol->offset > place) return std::nullopt;
    return FunctionStart{.at = place - symbol->offset, .sure = true};
  }
  if (!code->mapping.path.empty()) return std::nullopt;
  const GeneratedCode* const names = generated();
  if (const auto begin = names != nullptr ? names->begin_at(place) : std::nullopt)
    return FunctionStart{.at = *begin, .sure = false};  // What is called may lie further in.
  return FunctionStart{.at = generated_start(code->mapping, place), .sure = false};
}

/// Compilers ask for whole pages: where one begins as a function does, it is most likely one.
/// Otherwise all of it may be one function.
Address ProcessCode::generated_start(const Mapping& mapping, Address place) const {
  if (kMachine.stack != kX8664.stack) return mapping.begin;
  constexpr Address kPage = 4096;
  constexpr Address kFarthest = Address{64} << 10U;
  constexpr std::size_t kFirst = 16;
  const Address first = std::max(mapping.begin, place > kFarthest ? place - kFarthest : 0);
  for (Address page = place / kPage * kPage; page >= first; page -= kPage) {
    std::array<std::byte, kFirst> bytes{};
    if (memory_.read(page, bytes) && begins_function(bytes)) return page;
  }
  return mapping.begin;
}

bool ProcessCode::read_code(Address at, std::span<std::byte> to) {
  const Code* const code = code_at(at);
  if (code == nullptr) return false;
  const auto size = std::min<std::uint64_t>(to.size(), code->mapping.end - at);
  std::ranges::fill(to.subspan(size), std::byte{0});
  return memory_.read(at, to.first(size));
}

const GeneratedCode* ProcessCode::generated() {
  if (!generated_read_) {
    generated_read_ = true;
    if (generated_path_.empty()) generated_path_ = generated_path(pid_);
    // Before it is read: what is written meanwhile is seen the next time.
    generated_file_ = generated_file();
    if (const auto text = read_generated(pid_, generated_path_)) generated_.emplace(*text);
  }
  return generated_ ? &*generated_ : nullptr;
}

std::string ProcessCode::generated_name(Address address) {
  const GeneratedCode* const code = generated();
  const std::string* const name = code != nullptr ? code->name_at(address) : nullptr;
  if (name == nullptr) missed_ = true;  // It may have been written since.
  return name == nullptr ? "(generated code)" : readable_name(*name);
}

ProcessCode::Place ProcessCode::place_of(Address address) {
  Code* const code = code_at(address);
  if (code == nullptr) return {.look = {.function = "(not known)", .file = {}, .line = {}}};
  Place place{.look = {.function = {}, .file = code->mapping.path, .line = {}}};
  const auto at = in_file(*code, address);
  if (!at) {
    const bool file = code->mapping.path.starts_with('/');
    place.look.function =
        file ? std::string(base_name(code->mapping.path)) : generated_name(address);
    return place;
  }
  if (const std::optional<Symbol> symbol = code->image->symbol_at(*at)) {
    place.look.function = readable_name(symbol->name);
    place.evaluator = is_evaluator_name(symbol->name);
    return place;
  }
  // Where it begins by the rules for unwinding: one name for all of its addresses.
  const Row* const row = code->image->rules_at(*at);
  place.look.function =
      std::string(base_name(code->mapping.path)) + "+" + hex(row != nullptr ? row->begin : *at);
  return place;
}

const ProcessCode::Place& ProcessCode::place_at(Address address) {
  if (places_.size() >= kMostPlaces) places_.clear();
  const auto known = places_.find(address);
  if (known != places_.end()) return known->second;
  return places_.emplace(address, place_of(address)).first->second;
}

const FrameLook& ProcessCode::look_at(Address address) { return place_at(address).look; }
bool ProcessCode::is_evaluator(Address address) { return place_at(address).evaluator; }

}  // namespace fathom::sample::native
