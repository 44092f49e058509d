// Which of two ways to sum is faster? Prints the result, and writes it where it is asked to.
//
//     bench [FILE.json]
#include <cstdio>
#include <numeric>
#include <vector>

#include <fathom/benchmark.h>

namespace {

/// Each addition waits for the one before.
double one_after_the_other(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Four additions at a time.
double four_at_a_time(const std::vector<double>& values) {
  double sums[4] = {0, 0, 0, 0};
  for (std::size_t i = 0; i + 4 <= values.size(); i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += values[i + lane];
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<double> values(4096, 1.0);
  fathom::BenchOptions options;
  options.name = "four at a time";
  options.base_name = "one after the other";
  options.seconds = 1;
  const fathom::BenchResult result = fathom::bench_against(
      [&] { return one_after_the_other(values); }, [&] { return four_at_a_time(values); }, options);
  std::fputs(result.text().c_str(), stdout);
  return argc > 1 && !result.save(argv[1]) ? 1 : 0;
}
