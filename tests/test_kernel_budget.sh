#!/usr/bin/env bash
# test_kernel_budget.sh BUILD: no kernel takes a fifth more registers, spills or shared memory than
# tests/golden/kernel_budget.txt says. First the watcher itself, on a build and a budget that are made up.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

made=$dir/made kernels=$dir/made/CMakeFiles/spotter_cuda.dir/kernels/net
mkdir -p "$kernels"
echo 'SPOT_NVCC:FILEPATH=/nowhere/nvcc' >"$made/CMakeCache.txt"
# says REGISTERS SPILLS SHARED: ptxas about a kernel of 256 threads
says()
{
    cat >"$kernels/conv_finish.cu.o.ptxas" <<LOG
ptxas info    : Compiling entry function '_Z13finish_kernelIfEvPT_PKfPKS0_mib' for 'sm_90a'
ptxas info    : Function properties for _Z13finish_kernelIfEvPT_PKfPKS0_mib
    0 bytes stack frame, $2 bytes spill stores, 0 bytes spill loads
ptxas info    : Used $1 registers, used 1 barriers, $3 bytes smem
LOG
}
budget() { SPOT_KERNEL_BUDGET=$dir/budget.txt python3 kernel_budget.py "$made" "$@" >"$dir/said" 2>&1; }
says 40 0 1024 && budget --write && budget || fail "equal to the budget: $(cat "$dir/said")"
grep -q 'finish_kernel<float> .* 40 .* 1024 .* 256 .* 6$' "$dir/budget.txt" || fail "$(cat "$dir/budget.txt")"
for same in "48 0 1024" "40 0 1228"; do
    says $same && budget || fail "$same: $(cat "$dir/said")"
done
for more in "49 0 1024" "40 4 1024" "40 0 1229" "168 0 1024"; do
    says $more
    ! budget || fail "$more: not refused"
    grep -q 'finish_kernel<float>: ' "$dir/said" || fail "$more: $(cat "$dir/said")"
done
grep -q '1 blocks fit, not 6' "$dir/said" || fail "$(cat "$dir/said")"
says 31 0 1024 && budget && grep -q 'better than the budget' "$dir/said" || fail "$(cat "$dir/said")"
sed -i 's/finish_kernel/older_kernel/' "$dir/budget.txt"         # the kernel was renamed
says 48 0 1024 && budget && grep -q 'is held to the line of .*older_kernel' "$dir/said" || fail "$(cat "$dir/said")"
says 49 0 1024 && ! budget || fail "a renamed kernel that takes more is not refused"
sed -i 's/nvcc.*:/nvcc 12.0:/' "$dir/budget.txt"         # another release: registers alone do not count
says 42 0 1024 && budget || fail "another nvcc: $(cat "$dir/said")"
says 40 4 1024 && ! budget || fail "another nvcc spills: $(cat "$dir/said")"

python3 kernel_budget.py "$build"
