// Chrome trace events as PyTorch's Kineto writes them, from 1.8 to today, and as any other tool
// does.
#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "formats/chrome/document.h"
#include "formats/chrome/finish.h"
#include "formats/chrome/pieces.h"
#include "formats/format.h"

namespace fathom {
namespace {

using chrome::Document;
using chrome::EventParser;
using chrome::Guess;
using chrome::Piece;
using chrome::PieceCutter;
using chrome::SharedTables;

bool sniff(std::span<const std::byte> head) {
  for (const std::byte byte : head) {
    const auto c = static_cast<char>(byte);
    if (c == '{' || c == '[') return true;
    const bool skipped =
        c == ' ' || c == '\n' || c == '\r' || c == '\t' || static_cast<unsigned char>(c) >= 0x80;
    if (!skipped) return false;
  }
  return false;
}

/// Threads that take pieces, parse them, and hand the rows to the document in the order of the
/// input.
class Pipeline {
 public:
  Pipeline(ByteSource& source, SharedTables& tables, std::size_t piece_bytes)
      : cutter_(source, piece_bytes), tables_(tables), document_(tables) {}

  Result<void> run(unsigned threads) {
    free_.resize(threads + 2);
    for_each_in_parallel(threads, threads, [this](std::size_t) { work(); });
    document_.rows().log.merge(unknown_);
    if (error_) return std::move(*error_);
    return {};
  }

  Document& document() { return document_; }

 private:
  struct Job {
    Piece piece;
    Guess guess;
  };

  /// Reads along until the end of the input. What one thread throws ends the others, too: they
  /// would wait for its piece.
  void work() {
    try {
      parse_pieces();
    } catch (...) {
      const std::scoped_lock lock(order_mutex_);
      failed_ = true;
      free_changed_.notify_all();
      throw;
    }
  }

  void parse_pieces() {
    EventParser parser(tables_);
    while (std::unique_ptr<Job> job = take()) {
      job->guess.made =
          job->piece.number() > 0;  // the first piece begins with the document's own keys
      if (job->guess.made) {
        job->guess.batch.clear();
        job->guess.result =
            chrome::read_events(parser, job->piece.begin(), job->piece.end(), job->piece.offset(),
                                job->piece.last(), job->guess.batch);
      }
      hand_in(std::move(job));
    }
    const std::scoped_lock lock(order_mutex_);
    parser.take_unknown(unknown_);
  }

  /// The next piece of the input, or nullptr at its end and after a failure. Decompression happens
  /// here, one thread at a time, while the others parse.
  std::unique_ptr<Job> take() {
    std::unique_ptr<Job> job = reuse();
    const std::scoped_lock lock(source_mutex_);
    if (done_ || job == nullptr) return nullptr;
    Result<bool> more = cutter_.next(job->piece);
    if (more) {
      done_ = !*more;
    } else {
      done_ = true;
      error_ = std::move(more).error();
    }
    if (done_) return nullptr;
    return job;
  }

  /// A job whose rows are in the document already, or nullptr after a failure. There are few, so
  /// that memory stays bounded.
  std::unique_ptr<Job> reuse() {
    std::unique_lock lock(order_mutex_);
    free_changed_.wait(lock, [this] { return failed_ || !free_.empty(); });
    if (failed_) return nullptr;
    std::unique_ptr<Job> job = std::move(free_.back());
    free_.pop_back();
    if (job == nullptr) job = std::make_unique<Job>();
    return job;
  }

  /// Puts a job in line, and adds to the document whatever is next in line, unless another thread
  /// does so.
  void hand_in(std::unique_ptr<Job> job) {
    std::unique_lock lock(order_mutex_);
    waiting_.emplace(job->piece.number(), std::move(job));
    if (adding_) return;
    adding_ = true;
    while (!waiting_.empty() && waiting_.begin()->first == next_) {
      std::unique_ptr<Job> next = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      lock.unlock();
      document_.add(next->piece, next->guess);
      lock.lock();
      ++next_;
      free_.push_back(std::move(next));
      free_changed_.notify_one();
    }
    adding_ = false;
  }

  std::mutex source_mutex_;  // the cutter and what it reported
  PieceCutter cutter_;
  std::optional<Error> error_;
  bool done_ = false;

  std::mutex order_mutex_;  // what follows, but for document_, which belongs to whoever set adding_
  std::condition_variable free_changed_;
  std::vector<std::unique_ptr<Job>> free_;
  std::map<std::uint64_t, std::unique_ptr<Job>> waiting_;
  std::uint64_t next_ = 0;
  bool adding_ = false;
  bool failed_ = false;
  ImportLog unknown_;

  SharedTables& tables_;
  Document document_;
};

Result<Trace> read(ByteSource& source, const ReadOptions& options) {
  const ThreadPool pool(options.threads);
  const unsigned threads =
      options.threads > 0 ? std::min(options.threads, parallel_threads()) : parallel_threads();
  SharedTables tables;
  Pipeline pipeline(source, tables, options.piece_bytes);
  if (Result<void> result = pipeline.run(threads); !result) return std::move(result).error();
  Document& document = pipeline.document();
  const std::string_view damage = source.damage();
  if (Result<void> result = document.finish(!damage.empty()); !result)
    return std::move(result).error();
  document.parser().take_unknown(document.rows().log);
  if (!damage.empty()) document.rows().log.add(Repair::decompression, document.bytes(), damage);
  const std::uint64_t bytes = document.bytes();
  Trace trace = chrome::finish_trace(document.rows(), tables, document.outline().take_facts());
  trace.format = "chrome-json";
  trace.bytes_read = bytes;
  return trace;
}

}  // namespace

Format chrome_json() {
  return {.id = "chrome-json",
          .title = "Chrome trace events (PyTorch/Kineto, Perfetto, VizTracer, XLA, …)",
          .sniff = sniff,
          .read = read};
}

}  // namespace fathom
