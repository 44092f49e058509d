// A loop with annotations, as a training program has them; prints where its recording is.
//
//     train FOLDER        or, without FOLDER, under `fathom run`
#include <cmath>
#include <cstdio>
#include <vector>

#include <fathom/fathom.h>

namespace {

std::vector<double> load() {
  fathom::annotate scope("load");
  std::vector<double> batch(1'000'000);
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i] = static_cast<double>(i % 100);
  return batch;
}

double forward(const std::vector<double>& batch) {
  fathom::annotate scope("forward");
  double sum = 0;
  for (const double value : batch) sum += std::sqrt(value);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kSteps = 20;
  fathom::name_thread("trainer");
  const fathom::counter loss("loss", "count");
  // Of each round of four steps one is skipped, one warms up, two are recorded.
  const fathom::schedule plan{.wait = 1, .warmup = 1, .active = 2};
  fathom::profile profile(plan, argc > 1 ? argv[1] : "");
  for (int step = 0; step < kSteps; ++step) {
    loss.set(forward(load()));
    profile.step();
  }
  std::printf("%d steps; of them half were recorded\n", kSteps);
  return 0;
}
