// ProcessCode: the code that is mapped into a process: how to unwind it, and its functions' names.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <sys/types.h>

#include "sample/frame_names.h"
#include "sample/mappings.h"
#include "sample/memory.h"
#include "sample/native/image.h"
#include "sample/native/unwind.h"

namespace fathom::sample::native {

/// The files that processes have mapped, each read once. One thread at a time.
class ImageCache {
 public:
  /// Of what is mapped there; null where it may not be read, or is not what is mapped.
  std::shared_ptr<Image> find(pid_t pid, const Memory& memory, const Mapping& mapping);

 private:
  /// Device, inode, size, time of the last change in s and ns.
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Key, std::shared_ptr<Image>> images_;
};

/// A C++ name as it is written in source; others as they are. Longer ones are cut.
std::string readable_name(std::string_view symbol);

/// What a just-in-time compiler has written into perf-PID.map.
class GeneratedCode {
 public:
  /// "3ef414c0 398 RegExp:[{(]": start and size in hexadecimal, name.
  explicit GeneratedCode(std::string_view text);
  [[nodiscard]] const std::string* name_at(Address address) const;
  [[nodiscard]] std::optional<Address> begin_at(Address address) const;

 private:
  struct Function {
    Address begin = 0;
    Address end = 0;
    std::string name;
  };
  [[nodiscard]] const Function* find(Address address) const;
  std::vector<Function> functions_;
};

/// `memory` and `images` must outlive it.
class ProcessCode final : public CodeLookup {
 public:
  ProcessCode(pid_t pid, const Memory& memory, ImageCache& images);

  /// Reads what is mapped again, where that is some while ago, and forgets names where other code
  /// lies there now.
  void refresh(std::int64_t now);
  /// Calls have ended where no code is known: reads what is mapped again, as a library may have
  /// been loaded since. False where nothing has changed, or where it was in vain a short while ago.
  bool find_more(std::int64_t now);
  bool is_code(Address address) override;
  const Row* rules_at(Address address) override;
  /// Of x86-64 calls by address, by way of .plt, and by the table of addresses (GOT).
  bool calls(Address back, Address place) override;
  CallBefore call_before(Address back, std::optional<Address> function) override;
  /// By the symbols of the file; of generated code by the names that were written of it, or where
  /// the memory begins that was asked for it.
  std::optional<FunctionStart> start_of(Address place) override;
  bool read_code(Address at, std::span<std::byte> to) override;
  /// The function that an address lies in. Without a name it is "lib.so+0x1234", where it begins.
  const FrameLook& look_at(Address address);
  /// Is this a function of CPython's that runs Python's functions?
  bool is_evaluator(Address address);
  /// The mapping that holds the address; null where none is known.
  [[nodiscard]] const Mapping* mapping_at(Address address) const;

 private:
  struct Code {
    Mapping mapping;
    std::shared_ptr<Image> image;
    bool searched = false;
  };
  struct Place {
    FrameLook look;
    bool evaluator = false;
  };
  /// Inode, size, time of the last change in s and ns; 0 where there is none.
  using FileState = std::tuple<std::uint64_t, std::int64_t, std::int64_t, std::int64_t>;
  /// False where nothing has changed.
  bool read();
  [[nodiscard]] FileState generated_file() const;
  Code* code_at(Address address);
  /// The address in the file's own address space.
  std::optional<std::uint64_t> in_file(Code& code, Address address);
  Place place_of(Address address);
  const Place& place_at(Address address);
  const GeneratedCode* generated();
  std::string generated_name(Address address);
  [[nodiscard]] std::optional<Address> called_by(Address back) const;
  [[nodiscard]] Address target_of(Address stub) const;
  [[nodiscard]] Address generated_start(const Mapping& mapping, Address place) const;

  pid_t pid_;
  const Memory& memory_;
  ImageCache& images_;
  std::vector<Mapping> mappings_;
  std::vector<Code> codes_;  ///< What may be executed, ascending.
  std::unordered_map<Address, Place> places_;
  std::optional<GeneratedCode> generated_;
  std::string generated_path_;  ///< Empty until it was looked for.
  FileState generated_file_;    ///< As it was when it was read.
  bool missed_ = false;         ///< An address lay in nothing that was known.
  bool generated_read_ = false;
  std::int64_t next_read_ = 0;
  std::int64_t next_check_ = 0;
  std::int64_t next_more_ = 0;
  std::int64_t more_wait_ = 0;  ///< Longer each time that it was in vain.
};

}  // namespace fathom::sample::native
