// Unwinding: from the registers of a thread and a copy of its stack to the calls that led there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sample/native/call_frames.h"
#include "sample/native/code_frame.h"
#include "sample/native/registers.h"

namespace fathom::sample::native {

/// Why the calls end where they do.
enum class Stop : std::uint8_t {
  whole,             ///< The first function of the thread was reached.
  no_code,           ///< No code that is known lies at an address.
  no_rules,          ///< The code does not show where its caller is.
  unknown_register,  ///< A rule needs a register that is not known.
  stack_end,         ///< A rule needs more of the stack than was copied.
  broken,            ///< Rules or stack contradict themselves.
  too_deep,
};
/// "reaches the thread's first function", "needs a register that is not known" …
std::string_view to_string(Stop stop);

struct FunctionStart {
  Address at = 0;
  bool sure = false;  ///< By a name; otherwise what lies there may be more than the function.
};

/// The code of a process.
class CodeLookup {
 public:
  virtual ~CodeLookup() = default;
  CodeLookup() = default;
  CodeLookup(const CodeLookup&) = delete;
  CodeLookup& operator=(const CodeLookup&) = delete;
  /// Does code lie at this address?
  [[nodiscard]] virtual bool is_code(Address address) = 0;
  /// The rules at an address of the process; valid until the next call.
  [[nodiscard]] virtual const Row* rules_at(Address address) = 0;
  /// Does the call that returns to `back` surely call the function that `place` lies in?
  [[nodiscard]] virtual bool calls(Address back, Address place) = 0;
  /// What the call before `back` calls; `function`: the first address of the one that is meant.
  [[nodiscard]] virtual CallBefore call_before(Address back, std::optional<Address> function) = 0;
  /// Where the function begins whose code is there; nothing where that is not known.
  [[nodiscard]] virtual std::optional<FunctionStart> start_of(Address place) = 0;
  /// The code itself; false where it may not be read.
  [[nodiscard]] virtual bool read_code(Address at, std::span<std::byte> to) = 0;
};

/// The addresses are of the process: the innermost is where the thread is, each other one lies in
/// the call that it waits in.
struct Calls {
  std::vector<Address> addresses;
  Stop stop = Stop::no_code;
  bool by_code = false;  ///< Some step was read from instructions, as there are no rules.
};

constexpr std::size_t kMostCalls = 8192;

/// A frame pointer that is needed and not known is looked for in the stack: it is where a return
/// address lies behind a call of just this function. Where code has no rules, its instructions tell
/// where its frame is, and a call must end where it returns to; one that may be of another function
/// counts only if the thread's first function is reached from there. O(calls), and of the stack
/// where a frame pointer is looked for.
Calls unwind(Registers registers, const StackCopy& stack, CodeLookup& code,
             const Machine& machine = kMachine);

}  // namespace fathom::sample::native
