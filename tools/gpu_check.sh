#!/bin/sh
# Checks the whole GPU part on a machine with an NVIDIA GPU, CUDA and PyTorch; docs/gpu.md says what and how.
#   tools/gpu_check.sh -o FOLDER [--fathom build/release/fathom] [--python PYTHON] [--parts cuda,pairs] [--pack FILE] [--dry-run]
#   tools/gpu_check.sh --keep FILE                 puts a result into the repository
# Writes one folder of small files. Exit codes: 0 passed, 1 something failed, 3 nothing failed but a part was not possible.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
command -v nvcc >/dev/null || PATH="$PATH:/usr/local/cuda/bin"
export PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
python=$(command -v python3 || true)
[ -n "$python" ] || { echo "gpu_check: python3 is not there" >&2; exit 2; }
exec "$python" "$root/tests/gpu/main.py" "$@"
