// Carrier: asks the routes what the page will ask, and puts the answers into the file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/response.h"
#include "server/http/target.h"
#include "server/page_file/archive.h"
#include "server/page_file/redactor.h"
#include "server/viewed.h"

namespace fathom::server {

/// Borrows all that it is given. Of a redacted page `redactor` is not null.
class Carrier {
 public:
  Carrier(Viewed& viewed, Archive& archive, Redactor* redactor, std::size_t most_packed)
      : viewed_(viewed), archive_(archive), redactor_(redactor), most_(most_packed) {}

  /// From now on, what is asked and kept is about this input: its number, or "" for the first.
  void about(std::string input) { input_ = std::move(input); }
  /// What the server answers.
  [[nodiscard]] Response ask(const std::string& question) const;
  /// Carries the answer to a question, be it that there is none; gives its bytes.
  std::size_t keep(const std::string& question);
  /// Likewise, of what is about the program and not about a recording.
  void keep_plain(const std::string& question);
  /// An answer under another question than it was given to.
  void keep_as(const std::string& question, const Response& response);
  /// As the page will name it: redacted, where all is.
  [[nodiscard]] std::string shown(std::string_view name) const;

  /// Is less than this share of the file full?
  [[nodiscard]] bool room(double share) const {
    return static_cast<double>(archive_.packed()) < share * static_cast<double>(most_);
  }
  [[nodiscard]] std::size_t packed() const { return archive_.packed(); }
  [[nodiscard]] std::size_t most() const { return most_; }
  /// Is this question answered already?
  [[nodiscard]] bool has(const std::string& question) const;
  [[nodiscard]] Viewed& viewed() const { return viewed_; }
  /// What the command line selected, of the options that a question takes.
  [[nodiscard]] Parameters scope(std::string_view takes = "device steps window") const;

  /// A sentence for who looks for it.
  void leave_out(std::string sentence) { left_out_.push_back(std::move(sentence)); }
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }
  /// An input, or what should be shown of it, is not here for this reason.
  void lack(Error why) { lacking_.push_back(std::move(why)); }
  [[nodiscard]] std::vector<Error> take_lacking() { return std::move(lacking_); }

 private:
  Viewed& viewed_;
  Archive& archive_;
  Redactor* redactor_;
  std::size_t most_;
  std::string input_;
  std::vector<std::string> left_out_;
  std::vector<Error> lacking_;
};

}  // namespace fathom::server
