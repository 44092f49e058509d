// What functions and statements took since the last part of the run ended, packed for Python.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::python {

/// Of a function: its label, calls, own and total time in ns. Labels stay as long as the process.
struct FunctionPartRow {
  std::uint64_t label = 0;  ///< Its address; 0 for what memory did not suffice for.
  std::uint64_t calls = 0;
  std::int64_t self_ns = 0;
  std::int64_t total_ns = 0;
};
/// Of a statement: its code object, number, hits, own and total time in ns.
struct LinePartRow {
  std::uint64_t code = 0;  ///< Its address.
  std::uint64_t statement = 0;
  std::uint64_t hits = 0;
  std::int64_t self_ns = 0;
  std::int64_t total_ns = 0;
};

/// Rows of one part, of all threads one after the other. The sums of the run keep what is in them.
template <typename Row>
struct TakenPart {
  Row* rows = nullptr;
  std::size_t count = 0;
  std::size_t lost = 0;  ///< Rows that there was no memory for.

  TakenPart() = default;
  TakenPart(const TakenPart&) = delete;
  TakenPart& operator=(const TakenPart&) = delete;
  ~TakenPart();
  void add(const Row& row);

 private:
  std::size_t room_ = 0;
};

/// The part of functions ends here.
void take_part(TakenPart<FunctionPartRow>& part);
/// The part of lines ends here.
void take_part(TakenPart<LinePartRow>& part);

}  // namespace fathom::python
