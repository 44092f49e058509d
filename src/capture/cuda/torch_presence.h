// Whether CUPTI is to be left to PyTorch's profiler in this process.
#pragma once

namespace fathom::cuda {

/// Whether the process has loaded PyTorch. Takes the loader's lock.
bool has_torch();

/// Whether there is a Python in the process that the hook is in: it starts torch.profiler.
bool has_hook();

}  // namespace fathom::cuda
