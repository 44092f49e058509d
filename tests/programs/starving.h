// Memory that runs out, for programs that test what the recorder does then.
#pragma once

namespace fathom::test {

/// From here on the allocation whose number STARVE_AT names fails, and with STARVE_ALL all after it
/// too. Numbers are from 1, over all threads; what was counted is in the file that STARVE_REPORT
/// names, which the program must not have made itself.
void starve();

/// What this thread allocates while one lives is not counted and does not fail.
class Fed {
 public:
  Fed();
  ~Fed();
  Fed(const Fed&) = delete;
  Fed& operator=(const Fed&) = delete;
};

}  // namespace fathom::test

/// For libraries that stand in for others': the depth of Fed of this thread.
extern "C" int* starving_fed();
