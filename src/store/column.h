// Column<T>: one growing array of a table; large ones in pages that the kernel moves, or of a file.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include <sys/mman.h>

#include "base/out_of_memory.h"

namespace fathom {

/// A contiguous array that only grows. Large columns live in their own mapping, so growing costs no
/// copy (mremap), an untouched tail costs no memory, and huge pages keep the page faults few. Small
/// ones lie on the heap: a short trace has some forty of them, and mappings cost it more than its
/// events. T must be trivially copyable; rows are zero bytes until written. Moves, never copies.
template <typename T>
class Column {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

 public:
  Column() = default;
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(Column&& other) noexcept {
    swap(other);
    return *this;
  }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  ~Column() { release(); }

  /// A column whose rows lie in a file, from which they come page by page as they are looked at:
  /// `mapping` is of mmap() with MAP_PRIVATE and `bytes` long. Takes it over. What is changed of it
  /// is changed in memory only; the first row beyond the mapping copies all.
  static Column of_mapping(void* mapping, std::size_t bytes, std::size_t rows) {
    assert(rows * sizeof(T) <= bytes);
    Column column;
    column.data_ = static_cast<T*>(mapping);
    column.size_ = rows;
    column.dirty_ = bytes / sizeof(T);  // whatever lies behind the rows
    column.held_bytes_ = bytes;
    column.of_file_ = true;
    return column;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  T& operator[](std::size_t row) {
    assert(row < size_);
    return data_[row];
  }
  const T& operator[](std::size_t row) const {
    assert(row < size_);
    return data_[row];
  }
  [[nodiscard]] T* begin() { return data_; }
  [[nodiscard]] T* end() { return data_ + size_; }
  [[nodiscard]] const T* begin() const { return data_; }
  [[nodiscard]] const T* end() const { return data_ + size_; }
  [[nodiscard]] T& back() { return (*this)[size_ - 1]; }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }
  // NOLINTNEXTLINE(google-explicit-constructor): a column is read as a span everywhere.
  operator std::span<const T>() const { return {data_, size_}; }
  [[nodiscard]] std::span<const T> span() const { return {data_, size_}; }
  [[nodiscard]] std::span<T> mutable_span() { return {data_, size_}; }

  void push_back(const T& value) {
    if (size_ == capacity()) grow(size_ + 1);
    data_[size_++] = value;
  }
  void append(std::span<const T> values) {
    if (values.empty()) return;
    if (size_ + values.size() > capacity()) grow(size_ + values.size());
    std::memcpy(static_cast<void*>(data_ + size_), values.data(), values.size_bytes());
    size_ += values.size();
  }
  /// Makes the column `rows` long; new rows are zero bytes.
  void resize(std::size_t rows) {
    if (rows > capacity()) grow(rows);
    if (rows > size_ && size_ < dirty_) {
      const std::size_t stale = (rows < dirty_ ? rows : dirty_) - size_;
      std::memset(static_cast<void*>(data_ + size_), 0, stale * sizeof(T));
    }
    if (size_ > dirty_) dirty_ = size_;
    size_ = rows;
  }
  /// Forgets the rows but keeps the memory for reuse.
  void clear() {
    if (size_ > dirty_) dirty_ = size_;
    size_ = 0;
  }
  void swap(Column& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(dirty_, other.dirty_);
    std::swap(held_bytes_, other.held_bytes_);
    std::swap(of_file_, other.of_file_);
  }

 private:
  static constexpr std::size_t kFirstMapped = std::size_t{64} << 10;
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;

  [[nodiscard]] std::size_t capacity() const { return held_bytes_ / sizeof(T); }

  void grow(std::size_t rows) {
    if (of_file_) return grow_out_of_file(rows);
    std::size_t bytes = rows * sizeof(T);
    bytes += bytes / 2;
    const std::size_t unit = bytes < 4096 ? 512 : bytes < kHugePage ? 4096 : kHugePage;
    bytes = (bytes + unit - 1) / unit * unit;
    void* const moved = bytes < kFirstMapped ? grown_on_heap(bytes) : grown_mapping(bytes);
    data_ = static_cast<T*>(moved);
    held_bytes_ = bytes;
  }

  void grow_out_of_file(std::size_t rows) {
    Column larger;
    larger.grow(rows);
    std::memcpy(static_cast<void*>(larger.data_), data_, size_ * sizeof(T));
    larger.size_ = size_;
    swap(larger);  // dirty_ is 0: nothing lies behind the rows
  }

  void* grown_on_heap(std::size_t bytes) {
    void* const moved = std::realloc(data_, bytes);
    if (moved == nullptr) throw OutOfMemory(bytes);
    std::memset(static_cast<char*>(moved) + held_bytes_, 0, bytes - held_bytes_);
    return moved;
  }

  void* grown_mapping(std::size_t bytes) {
    const bool was_mapped = held_bytes_ >= kFirstMapped;
    void* const moved = was_mapped ? mremap(data_, held_bytes_, bytes, MREMAP_MAYMOVE)
                                   : mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (moved == MAP_FAILED) throw OutOfMemory(bytes);
    if (!was_mapped && data_ != nullptr) {
      std::memcpy(moved, data_, held_bytes_);
      std::free(data_);
    }
    if (bytes >= kHugePage) madvise(moved, bytes, MADV_HUGEPAGE);
    return moved;
  }

  void release() {
    if (of_file_ || held_bytes_ >= kFirstMapped) {
      munmap(data_, held_bytes_);
    } else {
      std::free(data_);
    }
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t dirty_ = 0;       // rows below this may hold old values
  std::size_t held_bytes_ = 0;  // mapped if kFirstMapped or more or of a file, else of the heap
  bool of_file_ = false;
};

}  // namespace fathom
