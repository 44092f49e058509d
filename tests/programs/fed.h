// Fed: what a thread allocates while one lives is not counted and does not fail, in a program whose
// memory runs out on purpose (starving.h). In libraries that stand in for others' too.
#pragma once

/// How many of them live in this thread; null in programs that do not starve.
extern "C" [[gnu::weak]] int* starving_fed();

namespace fathom::test {

class Fed {
 public:
  Fed() { change(1); }
  ~Fed() { change(-1); }
  Fed(const Fed&) = delete;
  Fed& operator=(const Fed&) = delete;

 private:
  static void change(int by) {
    if (starving_fed != nullptr) *starving_fed() += by;
  }
};

}  // namespace fathom::test
