// Applies the rules of one function after the other.
#include "sample/native/unwind.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "sample/native/code_flow.h"
#include "sample/native/expression.h"

namespace fathom::sample::native {
namespace {

/// A step from a function to its caller.
class Step {
 public:
  Step(const Registers& registers, const StackCopy& stack, const Machine& machine)
      : registers_(registers), stack_(stack), machine_(machine) {}

  /// The caller's registers; nothing where `stop` says why.
  std::optional<Registers> by_rules(const Row& row, Stop& stop) {
    const std::optional<std::uint64_t> frame = frame_address(row.frame);
    if (!frame) {
      stop = stop_;
      return std::nullopt;
    }
    Registers caller;
    for (std::size_t number = 0; number < kRegisters; ++number) {
      const std::optional<std::uint64_t> value = value_of(row.registers[number], number, *frame);
      if (value) caller.set(number, *value);
    }
    // A function's frame begins where its caller's stack ends.
    const Rule::Kind stack_rule = row.registers[machine_.stack].kind;
    if (stack_rule == Rule::Kind::unspecified) caller.set(machine_.stack, *frame);
    const Rule& back = row.registers[row.return_register];
    if (back.kind == Rule::Kind::undefined) {
      stop = Stop::whole;
      return std::nullopt;
    }
    const auto counter = value_of(back, row.return_register, *frame, true);
    if (!counter) {
      stop = stop_;
      return std::nullopt;
    }
    caller.set(machine_.counter, *counter & machine_.address_bits);
    return caller;
  }

  /// The registers of the caller, if the frame's address is this.
  [[nodiscard]] std::optional<Registers> by_frame(Address frame, const CodeFrame& code) const {
    const auto stack = registers_.get(machine_.stack);
    if (!stack || frame <= *stack || frame % 8 != 0) return std::nullopt;
    const auto back = stack_.number(frame - 8);
    if (!back || *back == 0) return std::nullopt;
    Registers caller;
    for (std::size_t number = 0; number < kRegisters; ++number) {
      if (!machine_.kept[number]) continue;
      const auto& offset = code.saved[number];
      const auto value =
          offset ? stack_.number(frame + static_cast<std::uint64_t>(*offset))
                 : (code.others_same || code.same[number] ? registers_.get(number) : std::nullopt);
      if (value) caller.set(number, *value);
    }
    caller.set(machine_.stack, frame);
    caller.set(machine_.counter, *back & machine_.address_bits);
    return caller;
  }

 private:
  std::optional<std::uint64_t> frame_address(const Rule& rule) {
    std::optional<std::uint64_t> frame;
    if (rule.kind == Rule::Kind::expression) {
      frame = evaluate(rule.bytes, registers_, stack_, std::nullopt);
    } else if (rule.kind == Rule::Kind::offset) {
      frame = registers_.get(rule.number);
      if (frame) *frame += static_cast<std::uint64_t>(rule.offset);
    }
    if (!frame) stop_ = Stop::unknown_register;
    return frame;
  }

  std::optional<std::uint64_t> read(Address at) {
    const std::optional<std::uint64_t> value = stack_.number(at);
    if (!value) stop_ = at < stack_.begin ? Stop::broken : Stop::stack_end;
    return value;
  }

  /// `any`: also one that its caller does not need to have kept.
  std::optional<std::uint64_t> value_of(const Rule& rule, std::uint64_t number, Address frame,
                                        bool any = false) {
    stop_ = Stop::unknown_register;
    const Address behind = frame + static_cast<std::uint64_t>(rule.offset);
    switch (rule.kind) {
      case Rule::Kind::unspecified:
        return any || machine_.kept[number] ? registers_.get(number) : std::nullopt;
      case Rule::Kind::same:
        return registers_.get(number);
      case Rule::Kind::saved:
        return read(behind);
      case Rule::Kind::offset:
        return behind;
      case Rule::Kind::in_register:
        return registers_.get(rule.number);
      case Rule::Kind::saved_expression: {
        const auto at = evaluate(rule.bytes, registers_, stack_, frame);
        return at ? read(*at) : std::nullopt;
      }
      case Rule::Kind::expression:
        return evaluate(rule.bytes, registers_, stack_, frame);
      case Rule::Kind::undefined:
        break;
    }
    return std::nullopt;
  }

  const Registers& registers_;
  const StackCopy& stack_;
  const Machine& machine_;
  Stop stop_ = Stop::broken;
};

/// So far from the stack pointer a frame may end.
constexpr std::uint64_t kLongestFrame = std::uint64_t{64} << 10U;

/// The frame pointer in the function that `place` lies in, by its caller's call.
std::optional<std::uint64_t> find_frame(const Registers& registers, const StackCopy& stack,
                                        CodeLookup& code, const Row& row, Address place,
                                        const Machine& machine) {
  const auto begin = registers.get(machine.stack);
  const Rule& back = row.registers[row.return_register];
  if (!begin || *begin % 8 != 0 || back.kind != Rule::Kind::saved) return std::nullopt;
  for (Address at = *begin; at < *begin + kLongestFrame; at += 8) {
    const Address behind =
        at + static_cast<std::uint64_t>(row.frame.offset) + static_cast<std::uint64_t>(back.offset);
    const std::optional<std::uint64_t> caller = stack.number(behind);
    if (!caller) return std::nullopt;
    if (*caller != 0 && code.is_code(*caller - 1) && code.calls(*caller, place)) return at;
  }
  return std::nullopt;
}

/// So much of a function without rules is read.
constexpr std::size_t kMostCode = std::size_t{64} << 10U;

/// The caller of a function without rules.
struct RulelessCaller {
  Registers registers;
  /// A call of just this function was seen.
  bool seen = false;
  /// None was, although it is known where the function begins: the call may be another one's.
  bool unsure = false;
};

/// The step from such a function.
class RulelessStep {
 public:
  RulelessStep(const Registers& registers, const StackCopy& stack, CodeLookup& code,
               const Machine& machine)
      : registers_(registers),
        stack_(stack),
        code_(code),
        machine_(machine),
        step_(registers, stack, machine) {}

  /// Where `place` is the next instruction of a thread, or the call that it waits in.
  [[nodiscard]] std::optional<RulelessCaller> take(Address place, bool interrupted) const {
    const std::optional<FunctionStart> start = code_.start_of(place);
    if (machine_.stack == kX8664.stack) {
      if (interrupted) {
        std::array<std::byte, kEndBytes> bytes{};
        const auto end = code_.read_code(place, bytes) ? read_end(bytes) : std::nullopt;
        if (end) return from(machine_.stack, *end->from_stack, *end, start);
      }
      if (start && start->at <= place) {
        if (auto caller = by_flow(interrupted ? place : place + 1, *start)) return caller;
        if (auto caller = by_start(place, *start)) return caller;
      }
    }
    return by_frame_pointer(start);
  }

 private:
  static constexpr bool kJumped = true;

  /// `next` is the instruction that comes next. Where the frame is, is certain here.
  [[nodiscard]] std::optional<RulelessCaller> by_flow(Address next,
                                                      const FunctionStart& start) const {
    // Code behind it may jump back to it.
    constexpr std::size_t kBehind = 4096;
    if (next - start.at > kMostCode) return std::nullopt;
    std::vector<std::byte> bytes(next - start.at + kBehind);
    if (!code_.read_code(start.at, bytes)) return std::nullopt;
    const std::optional<CodeFrame> frame = follow(bytes, next - start.at, !start.sure);
    if (!frame) return std::nullopt;
    std::optional<RulelessCaller> caller;
    if (frame->from_stack)
      caller = from(machine_.stack, *frame->from_stack, *frame, start, kJumped);
    else if (frame->from_register)
      caller = from(frame->from_register->number, frame->from_register->distance, *frame, start,
                    kJumped);
    else if (const auto stack = registers_.get(machine_.stack))
      caller = from_base(stack_.number(*stack + frame->from_memory->number),
                         frame->from_memory->distance, *frame, start, kJumped);
    if (caller) caller->unsure = !caller->seen;
    return caller;
  }

  [[nodiscard]] std::optional<RulelessCaller> by_start(Address place,
                                                       const FunctionStart& start) const {
    std::array<std::byte, kStartBytes> bytes{};
    const auto size = std::min<std::uint64_t>(place - start.at, bytes.size());
    const std::span<std::byte> read = std::span(bytes).first(size);
    if (!read.empty() && !code_.read_code(start.at, read)) return std::nullopt;
    const CodeFrame frame = read_start(read);
    std::optional<RulelessCaller> caller;
    if (frame.from_frame) caller = from(machine_.frame, *frame.from_frame, frame, start);
    if (!caller && frame.from_stack) caller = from(machine_.stack, *frame.from_stack, frame, start);
    if (!caller) return std::nullopt;
    caller->unsure = !caller->seen;
    // Behind its start it may have moved the stack. Then a word of another time may look right.
    if (!caller->seen && !is_still(start.at + frame.read, place)) return std::nullopt;
    return caller;
  }

  /// Whether no instruction moves the stack there.
  [[nodiscard]] bool is_still(Address begin, Address end) const {
    if (end <= begin) return true;
    if (end - begin > kMostCode) return false;
    std::vector<std::byte> bytes(end - begin);
    return code_.read_code(begin, bytes) && !may_move_stack(bytes);
  }

  /// By the frame pointer, where the program keeps one: it lies before the return address.
  [[nodiscard]] std::optional<RulelessCaller> by_frame_pointer(
      const std::optional<FunctionStart>& start) const {
    CodeFrame frame;
    frame.saved[machine_.frame] = -16;
    return from(machine_.frame, 16, frame, start);
  }

  [[nodiscard]] std::optional<RulelessCaller> from(std::uint64_t number, std::int64_t distance,
                                                   const CodeFrame& frame,
                                                   const std::optional<FunctionStart>& start,
                                                   bool jumped = false) const {
    return from_base(registers_.get(number), distance, frame, start, jumped);
  }

  /// `jumped`: the call may be of another function, which has jumped to this one at its end.
  [[nodiscard]] std::optional<RulelessCaller> from_base(std::optional<std::uint64_t> base,
                                                        std::int64_t distance,
                                                        const CodeFrame& frame,
                                                        const std::optional<FunctionStart>& start,
                                                        bool jumped) const {
    if (!base) return std::nullopt;
    std::optional<Registers> caller =
        step_.by_frame(*base + static_cast<std::uint64_t>(distance), frame);
    if (!caller) return std::nullopt;
    const Address back = caller->get(machine_.counter).value_or(0);
    if (back == 0 || !code_.is_code(back - 1)) return std::nullopt;
    const bool named = start && start->sure;
    const CallBefore call =
        code_.call_before(back, named ? std::optional(start->at) : std::nullopt);
    if (call == CallBefore::none) return std::nullopt;
    if (call == CallBefore::another && !jumped) return std::nullopt;
    const bool seen = call == CallBefore::function;
    return RulelessCaller{.registers = *caller, .seen = seen, .unsure = named && !seen};
  }

  const Registers& registers_;
  const StackCopy& stack_;
  CodeLookup& code_;
  const Machine& machine_;
  Step step_;
};

}  // namespace

std::string_view to_string(Stop stop) {
  constexpr std::array<std::string_view, 7> kTexts = {
      "the first function was reached",
      "no code that is known lies at an address",
      "the code does not show where its caller is",
      "a register that is not known is needed",
      "more of the stack than was copied is needed",
      "rules and stack contradict each other",
      "there are too many calls",
  };
  return kTexts[static_cast<std::size_t>(stop)];
}

namespace {

/// `unsure`: so many calls are certain; those after them are only if the last one is the thread's
/// first function.
Calls walk(Registers registers, const StackCopy& stack, CodeLookup& code, const Machine& machine,
           std::optional<std::size_t>& unsure) {
  Calls calls;
  bool interrupted = true;  // The innermost has made no call.
  while (true) {
    const auto counter = registers.get(machine.counter);
    if (!counter || *counter == 0) {
      calls.stop = calls.addresses.empty() ? Stop::unknown_register : Stop::whole;
      return calls;
    }
    // A call may be a function's last instruction: what it returns to is another function's.
    const Address place = interrupted ? *counter : *counter - 1;
    if (!code.is_code(place)) {
      calls.stop = Stop::no_code;
      return calls;
    }
    if (calls.addresses.size() == kMostCalls) {
      calls.stop = Stop::too_deep;
      return calls;
    }
    calls.addresses.push_back(place);
    const Row* const found = code.rules_at(place);
    const std::optional<Row> row = found != nullptr ? std::optional(*found) : std::nullopt;
    if (row && row->frame.kind == Rule::Kind::offset && row->frame.number == machine.frame &&
        !registers.get(machine.frame)) {
      if (const auto frame = find_frame(registers, stack, code, *row, place, machine))
        registers.set(machine.frame, *frame);
    }
    calls.stop = Stop::no_rules;
    std::optional<Registers> caller;
    if (row) {
      caller = Step(registers, stack, machine).by_rules(*row, calls.stop);
    } else {
      const auto step = RulelessStep(registers, stack, code, machine).take(place, interrupted);
      if (step) {
        caller = step->registers;
        calls.by_code = true;
        if (step->unsure && !unsure) unsure = calls.addresses.size();
      }
    }
    if (!caller) return calls;
    interrupted = row && row->signal;
    const auto before = registers.get(machine.stack);
    const auto after = caller->get(machine.stack);
    // A handler may run on a stack of its own. On some machines a leaf has no frame.
    const bool leaf = calls.addresses.size() == 1 && machine.stack != kX8664.stack;
    const bool outwards = before && after && (*after > *before || (leaf && *after == *before));
    if (!interrupted && !outwards) {
      calls.stop = Stop::broken;
      return calls;
    }
    registers = *caller;
  }
}

}  // namespace

Calls unwind(Registers registers, const StackCopy& stack, CodeLookup& code,
             const Machine& machine) {
  std::optional<std::size_t> unsure;
  Calls calls = walk(registers, stack, code, machine, unsure);
  if (!unsure || calls.stop == Stop::whole) return calls;
  calls.addresses.resize(std::min(*unsure, calls.addresses.size()));
  // A library that is not known yet may be read, and then all of it asked for again.
  if (calls.stop != Stop::no_code) calls.stop = Stop::no_rules;
  return calls;
}

}  // namespace fathom::sample::native
