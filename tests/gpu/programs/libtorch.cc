// LibTorch without Python: so many additions on the GPU. `libtorch 50 cpu`: on the processor.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <torch/torch.h>

int main(int count, char** arguments) {
  const int launches = count > 1 ? std::atoi(arguments[1]) : 50;
  const bool processor = count > 2 && std::string(arguments[2]) == "cpu";
  if (!processor && !torch::cuda::is_available()) {
    std::printf("{\"possible\": false, \"reason\": \"LibTorch sees no GPU\"}\n");
    return 0;
  }
  const torch::Tensor x = torch::ones({1000}, processor ? torch::kCPU : torch::kCUDA);
  for (int i = 0; i < launches; ++i) x.add_(1);
  std::printf("{\"possible\": true, \"value\": %.0f}\n", x[0].item<double>());
}
