#!/usr/bin/env bash
# test_kernel_loads.sh BUILD: no kernel that is to be bound by memory has a fifth more scalar loads than
# tests/golden/kernel_loads.txt says. First the watcher itself, on budgets that are made up. Skipped without nvcc.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

python3 - <<'CHECK' || fail "the watcher does not see what it should"
import kernel_loads as k

ptx = """.visible .entry one(
{
\tld.global.f32 %f1, [%rd1];
\t@%p1 ld.global.nc.f32 %f2, [%rd2];
\tld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3];
\tld.shared.f32 %f3, [%rd4];
\tld.param.u32 %r1, [p];
}

.visible .entry two(
{
\tld.global.nc.u32 %r1, [%rd1];
}
"""
assert k.loads_of(ptx) == {"one": 2, "two": 1}, k.loads_of(ptx)
wide = ".entry x(\n{\n atom.shared.add.u64 %rd1, [%r1], %rd2;\n atom.shared.add.u32 %r3, [%r1], 1;\n}\n"
said = "kernels/image/render.cu: 1 additions of 64 bits to shared memory; sum in the warp first"
assert k.dear_of("image/render.cu", wide) == [said]
double = ".entry _step_kernel(\n{\n sqrt.rn.f64 %fd1, %fd2;\n}\n.entry go_on(\n{\n st.global.f64 [%rd1], %fd2;\n}\n"
assert k.dear_of("net/optim.cu", double) == ["kernels/net/optim.cu _step_kernel: computes in double"]
divides = ".entry _join_kernel(\n{\n rem.u64 %rd1, %rd2, %rd3;\n rem.u32 %r1, %r2, %r3;\n}\n"
assert k.dear_of("net/tokens.cu", divides) == ["kernels/net/tokens.cu _join_kernel: divides numbers of 64 bits"]
assert k.dear_of("net/norm.cu", wide + double) == []
assert k.compare({"a": 12}, {"a": 10}) == ([], [])
assert k.compare({"a": 13}, {"a": 10})[0] == ["a: 13 scalar loads, not 10"]
assert k.compare({"a": 9, "b": 1}, {"a": 10})[0] == ["b: is not in the budget"]
assert k.compare({"a": 9}, {"a": 10})[1] == ["a: 9 scalar loads, 10 are allowed"]
CHECK
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || { echo "no nvcc: the loads of kernels are not counted"; exit 77; }
python3 kernel_loads.py "$nvcc" "$build/generated"
