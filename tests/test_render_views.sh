#!/usr/bin/env bash
# Images of meshes against VTK and Embree where they are installed: the ten committed views drawn again, the object of
# `spotter bench mesh` under its conditions, and models of Debian's sweethome3d-furniture. PYTHON is the python3 that has vtk,
# embreex, trimesh, numpy and PIL. 77: it has not.
# ctest: long
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need_packages vtk embreex trimesh PIL
"$python" -c 'import ctypes; ctypes.CDLL("libOSMesa.so.8")' 2>/dev/null || { echo "no libOSMesa: skipped"; exit 77; }
furniture=/usr/share/sweethome3d/furniture

views() # BUILD OPTIONS...
{
    rm -rf "$dir/views"
    "$python" ../tools/golden/render_views.py "$dir/views" "${@:2}" >"$dir/said" 2>&1 || { cat "$dir/said"; exit 1; }
    "$1/test_render_views" "$dir/views" 2>&1
}
views "$1"
views "$1" --toy 32 --views 256 --size 64
views "$1" --toy 86 --views 64 --size 224
[ -e $furniture ] || { echo "no sweethome3d-furniture: its models are left out"; exit 0; }
views "$1" --views 30 --size 224 --model $furniture/BlendSwap-CC-0.sh3f blendswap-cc-0/littlePlant/littlePlant.obj
views "$1" --views 30 --size 224 --model $furniture/Scopia.sh3f scopia/glasses/glasses.obj
views "$1" --views 30 --size 224 --model $furniture/Reallusion.sh3f reallusion/girlStanding/girlStanding.obj
