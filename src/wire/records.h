// The records of the capture file (docs/wire.md), each with its fields in the order of the file:
// how long it is, how it is written and how it is read follow from that.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "wire/layout.h"

namespace fathom::wire {

/// A field by its name in docs/wire.md. A text is a number in the file, of a string record.
template <typename Record, typename Type>
struct Field {
  std::string_view name;
  Type Record::*member;
  using Value = Type;
};
template <typename Record, typename Type>
Field(const char*, Type Record::*) -> Field<Record, Type>;

using Dimensions = std::array<std::int32_t, 3>;

struct ClockRecord {
  static constexpr Kind kKind = Kind::clock;
  std::int64_t monotonic = 0;
  std::int64_t unix = 0;
  std::uint32_t error = 0;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"monotonic", &ClockRecord::monotonic}, Field{"unix", &ClockRecord::unix},
                 Field{"error", &ClockRecord::error});
  }
};

struct ProcessRecord {
  static constexpr Kind kKind = Kind::process;
  std::int64_t time = 0;
  std::int32_t pid = 0;
  std::int32_t parent = 0;
  std::int32_t rank = -1;
  std::string_view name;
  std::string_view role;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"time", &ProcessRecord::time}, Field{"pid", &ProcessRecord::pid},
                 Field{"parent", &ProcessRecord::parent}, Field{"rank", &ProcessRecord::rank},
                 Field{"name", &ProcessRecord::name}, Field{"role", &ProcessRecord::role});
  }
};

struct ThreadRecord {
  static constexpr Kind kKind = Kind::thread;
  std::int32_t pid = 0;
  std::int64_t tid = 0;
  std::string_view name;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"pid", &ThreadRecord::pid}, Field{"tid", &ThreadRecord::tid},
                 Field{"name", &ThreadRecord::name});
  }
};

/// Of the slice, begin, instant, device activity or call before it.
struct Argument {
  static constexpr Kind kKind = Kind::argument;
  std::string_view key;
  std::string_view value;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"key", &Argument::key}, Field{"value", &Argument::value});
  }
};

struct SliceRecord {
  static constexpr Kind kKind = Kind::slice;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int32_t pid = 0;
  std::int64_t tid = 0;
  std::string_view name;
  std::string_view category;
  std::int64_t value = -1;
  std::span<const Argument> arguments;  ///< To be written after it; empty when it is read.
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"start", &SliceRecord::start}, Field{"duration", &SliceRecord::duration},
                 Field{"pid", &SliceRecord::pid}, Field{"tid", &SliceRecord::tid},
                 Field{"name", &SliceRecord::name}, Field{"category", &SliceRecord::category},
                 Field{"value", &SliceRecord::value});
  }
};

/// A begin or an instant.
struct MomentRecord {
  std::int64_t time = 0;
  std::int32_t pid = 0;
  std::int64_t tid = 0;
  std::string_view name;
  std::string_view category;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"time", &MomentRecord::time}, Field{"pid", &MomentRecord::pid},
                 Field{"tid", &MomentRecord::tid}, Field{"name", &MomentRecord::name},
                 Field{"category", &MomentRecord::category});
  }
};

/// Of the innermost open begin of that thread.
struct EndRecord {
  static constexpr Kind kKind = Kind::end;
  std::int64_t time = 0;
  std::int32_t pid = 0;
  std::int64_t tid = 0;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"time", &EndRecord::time}, Field{"pid", &EndRecord::pid},
                 Field{"tid", &EndRecord::tid});
  }
};

struct CounterRecord {
  static constexpr Kind kKind = Kind::counter;
  std::uint32_t id = 0;  ///< In its block.
  std::int32_t pid = 0;
  std::int32_t device = -1;
  std::string_view name;
  std::string_view unit;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"id", &CounterRecord::id}, Field{"pid", &CounterRecord::pid},
                 Field{"device", &CounterRecord::device}, Field{"name", &CounterRecord::name},
                 Field{"unit", &CounterRecord::unit});
  }
};

struct SampleRecord {
  static constexpr Kind kKind = Kind::sample;
  std::int64_t time = 0;
  std::uint32_t counter = 0;  ///< In the file its id; for a visitor what its counter() returned.
  double value = 0;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"time", &SampleRecord::time}, Field{"counter", &SampleRecord::counter},
                 Field{"value", &SampleRecord::value});
  }
};

struct FactRecord {
  static constexpr Kind kKind = Kind::fact;
  std::int32_t pid = 0;
  std::string_view key;
  std::string_view value;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"pid", &FactRecord::pid}, Field{"key", &FactRecord::key},
                 Field{"value", &FactRecord::value});
  }
};

/// How a process ended; -1 where unknown. Times in ns.
struct ExitRecord {
  static constexpr Kind kKind = Kind::exit;
  std::int64_t time = 0;  ///< CLOCK_MONOTONIC.
  std::int32_t pid = 0;
  std::int32_t status = -1;  ///< As of waitpid().
  std::int64_t user = -1;
  std::int64_t system = -1;
  std::int64_t peak = -1;  ///< Resident bytes.
  std::int64_t wall = -1;
  std::int64_t read = -1;     ///< Bytes.
  std::int64_t written = -1;  ///< Bytes.
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"time", &ExitRecord::time}, Field{"pid", &ExitRecord::pid},
                 Field{"status", &ExitRecord::status}, Field{"user", &ExitRecord::user},
                 Field{"system", &ExitRecord::system}, Field{"peak", &ExitRecord::peak},
                 Field{"wall", &ExitRecord::wall}, Field{"read", &ExitRecord::read},
                 Field{"written", &ExitRecord::written});
  }
};

struct DroppedRecord {
  static constexpr Kind kKind = Kind::dropped;
  std::string_view what;
  std::uint64_t count = 0;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"what", &DroppedRecord::what}, Field{"count", &DroppedRecord::count});
  }
};

/// One line of a deterministic profile; times in ns.
struct FunctionRecord {
  static constexpr Kind kKind = Kind::function;
  std::int32_t pid = 0;
  std::string_view file;
  std::uint32_t line = 0;
  std::string_view name;
  std::uint64_t calls = 0;
  std::int64_t total = 0;
  std::int64_t self = 0;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"pid", &FunctionRecord::pid}, Field{"file", &FunctionRecord::file},
                 Field{"line", &FunctionRecord::line}, Field{"name", &FunctionRecord::name},
                 Field{"calls", &FunctionRecord::calls}, Field{"total", &FunctionRecord::total},
                 Field{"self", &FunctionRecord::self});
  }
};

/// A statement of a deterministic profile of lines, summed up; times in ns.
struct LineRecord {
  static constexpr Kind kKind = Kind::line;
  std::int32_t pid = 0;
  std::string_view file;
  std::uint32_t first = 0;  ///< Line.
  std::uint32_t last = 0;   ///< Line.
  std::string_view function;
  std::uint32_t function_line = 0;
  std::uint64_t hits = 0;
  std::int64_t total = 0;
  std::int64_t self = 0;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"pid", &LineRecord::pid}, Field{"file", &LineRecord::file},
                 Field{"first", &LineRecord::first}, Field{"last", &LineRecord::last},
                 Field{"function", &LineRecord::function},
                 Field{"function_line", &LineRecord::function_line},
                 Field{"hits", &LineRecord::hits}, Field{"total", &LineRecord::total},
                 Field{"self", &LineRecord::self});
  }
};

/// A stretch of time in which a thread was in a statement, and in none that it called.
struct LineRunRecord {
  static constexpr Kind kKind = Kind::line_run;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int32_t pid = 0;
  std::int64_t tid = 0;
  std::string_view file;
  std::uint32_t first = 0;  ///< Line.
  std::string_view function;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"start", &LineRunRecord::start}, Field{"duration", &LineRunRecord::duration},
                 Field{"pid", &LineRunRecord::pid}, Field{"tid", &LineRunRecord::tid},
                 Field{"file", &LineRunRecord::file}, Field{"first", &LineRunRecord::first},
                 Field{"function", &LineRunRecord::function});
  }
};

/// What a function took in a part of the run, of which the function records hold the sum.
struct FunctionPartRecord {
  static constexpr Kind kKind = Kind::function_part;
  std::int64_t start = 0;  ///< Of the part.
  std::int64_t duration = 0;
  std::int32_t pid = 0;
  std::int64_t step = -1;  ///< Its number; -1: between steps.
  std::string_view file;
  std::uint32_t line = 0;
  std::string_view name;
  std::uint64_t calls = 0;
  std::int64_t total = 0;
  std::int64_t self = 0;
  static constexpr auto fields(auto&& visit) {
    using Record = FunctionPartRecord;
    return visit(Field{"start", &Record::start}, Field{"duration", &Record::duration},
                 Field{"pid", &Record::pid}, Field{"step", &Record::step},
                 Field{"file", &Record::file}, Field{"line", &Record::line},
                 Field{"name", &Record::name}, Field{"calls", &Record::calls},
                 Field{"total", &Record::total}, Field{"self", &Record::self});
  }
};

/// Calls of a function by one that called it, of which the function record holds the sum.
struct FunctionCallsRecord {
  static constexpr Kind kKind = Kind::function_calls;
  std::int32_t pid = 0;
  std::string_view file;
  std::uint32_t line = 0;
  std::string_view name;
  std::string_view caller_file;
  std::uint32_t caller_line = 0;
  std::string_view caller_name;  ///< Empty: whoever called; then it follows the function record.
  std::uint64_t calls = 0;
  std::uint64_t primitive = 0;  ///< Of these, those inside no other one.
  std::int64_t total = 0;
  std::int64_t self = 0;
  static constexpr auto fields(auto&& visit) {
    using Record = FunctionCallsRecord;
    return visit(
        Field{"pid", &Record::pid}, Field{"file", &Record::file}, Field{"line", &Record::line},
        Field{"name", &Record::name}, Field{"caller_file", &Record::caller_file},
        Field{"caller_line", &Record::caller_line}, Field{"caller_name", &Record::caller_name},
        Field{"calls", &Record::calls}, Field{"primitive", &Record::primitive},
        Field{"total", &Record::total}, Field{"self", &Record::self});
  }
};

/// What a statement took in a part of the run, of which the line records hold the sum.
struct LinePartRecord {
  static constexpr Kind kKind = Kind::line_part;
  std::int64_t start = 0;  ///< Of the part.
  std::int64_t duration = 0;
  std::int32_t pid = 0;
  std::int64_t step = -1;  ///< Its number; -1: between steps.
  std::string_view file;
  std::uint32_t first = 0;  ///< Line.
  std::uint32_t last = 0;   ///< Line.
  std::string_view function;
  std::uint32_t function_line = 0;
  std::uint64_t hits = 0;
  std::int64_t total = 0;
  std::int64_t self = 0;
  static constexpr auto fields(auto&& visit) {
    using Record = LinePartRecord;
    return visit(Field{"start", &Record::start}, Field{"duration", &Record::duration},
                 Field{"pid", &Record::pid}, Field{"step", &Record::step},
                 Field{"file", &Record::file}, Field{"first", &Record::first},
                 Field{"last", &Record::last}, Field{"function", &Record::function},
                 Field{"function_line", &Record::function_line}, Field{"hits", &Record::hits},
                 Field{"total", &Record::total}, Field{"self", &Record::self});
  }
};

/// A function on stacks, below `parent` that called it. Stands alone like strings: defined in the
/// block that uses it.
struct FrameRecord {
  static constexpr Kind kKind = Kind::frame;
  std::uint32_t id = 0;      ///< In its block.
  std::uint32_t parent = 0;  ///< In the file its id, 0: none; for a visitor what frame() returned.
  std::string_view function;
  std::string_view file;
  std::int32_t line = -1;
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"id", &FrameRecord::id}, Field{"parent", &FrameRecord::parent},
                 Field{"function", &FrameRecord::function}, Field{"file", &FrameRecord::file},
                 Field{"line", &FrameRecord::line});
  }
};

/// What a thread spent until `time` with a stack; times in ns.
struct StackRecord {
  static constexpr Kind kKind = Kind::stack;
  std::int64_t time = 0;
  std::int32_t pid = 0;
  std::int64_t tid = 0;
  std::string_view thread;  ///< Its name.
  std::uint32_t frame = 0;  ///< The innermost: as FrameRecord::parent.
  std::int64_t on_cpu = 0;
  std::int64_t queued = 0;
  std::int64_t blocked = 0;
  std::string_view cause;   ///< Of being blocked.
  std::string_view object;  ///< What it waited for.
  static constexpr auto fields(auto&& visit) {
    return visit(Field{"time", &StackRecord::time}, Field{"pid", &StackRecord::pid},
                 Field{"tid", &StackRecord::tid}, Field{"thread", &StackRecord::thread},
                 Field{"frame", &StackRecord::frame}, Field{"on_cpu", &StackRecord::on_cpu},
                 Field{"queued", &StackRecord::queued}, Field{"blocked", &StackRecord::blocked},
                 Field{"cause", &StackRecord::cause}, Field{"object", &StackRecord::object});
  }
};

using ArgumentRecord = Argument;

/// Bytes of a field in the file.
template <typename Type>
constexpr std::size_t field_bytes() {
  if constexpr (std::same_as<Type, std::string_view>) {
    return sizeof(std::uint32_t);
  } else {
    static_assert(std::is_arithmetic_v<Type> || std::same_as<Type, Dimensions>);
    return sizeof(Type);
  }
}

/// Bytes of the fixed part of a record's body; in the file, fields of a later version may follow.
template <typename Record>
constexpr std::size_t body_bytes() {
  return Record::fields([](auto... field) {
    return (std::size_t{0} + ... + field_bytes<typename decltype(field)::Value>());
  });
}

/// How many of a record's fields are texts.
template <typename Record>
constexpr std::size_t text_fields() {
  return Record::fields([](auto... field) {
    return (std::size_t{0} + ... +
            (std::same_as<typename decltype(field)::Value, std::string_view> ? 1 : 0));
  });
}

}  // namespace fathom::wire
