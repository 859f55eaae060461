#!/usr/bin/env bash
# test_library.sh BUILD: what `cmake --install` leaves is enough for a program of somebody else's, by pkg-config and by
# find_package; the library exports what the headers declare and nothing else.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ -e "$build/libspotter.so" ] || { echo "skipped: there is no $build/libspotter.so"; exit 77; }
cmake --install "$build" --prefix "$dir/there" >"$dir/said" || { cat "$dir/said"; fail "cmake --install"; }
mv "$dir/there" "$dir/elsewhere"
lib=$(dirname "$(find "$dir/elsewhere" -name libspotter.so)")

# --- What is exported.
nm -D --defined-only "$lib/libspotter.so" | awk '$2 == "T" { print $3 }' | sed 's/@.*//' | sort >"$dir/exported"
grep -ohE '^[a-z][^(]*[ *]spot_[a-z0-9_]+ *\(' ../include/spotter/*.h | grep -vE '^(static|typedef)' |
    sed -E 's/.*[ *](spot_[a-z0-9_]+) *\(/\1/' | sort -u >"$dir/declared"
diff "$dir/declared" "$dir/exported" || fail "what is declared (<) is not what is exported (>)"
[ "$(nm -D --defined-only "$lib/libspotter.so" | grep -vcE ' (T spot_|A SPOTTER_)')" = 0 ] || fail "it exports other names"

# --- Numbers and letters do not depend on the process's locale: what the library calls of the C library's that does, the linker
# replaces (host/base/library_locale.c).
kinds='alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit'
numbers='v?(f|s|sn|as|d)?printf|v?[fs]?scanf|strto(d|f|ld)|atof|[ef]cvt'
letters="ctype_.*|(to|is)($kinds)|strn?casecmp|strcoll|strxfrm"
nm -A -u "$build/libspotter.a" | grep -v ':library_locale' | awk '{ print $NF }' | sort -u |
    grep -E "^_*(iso[a-z0-9]+_)?($numbers|$letters)(_chk)?$" >"$dir/local"
for name in $(cat "$dir/local"); do
    grep -qE "__wrap_$name\(" ../host/base/library_locale.c || fail "the library calls $name, which depends on the locale"
done
[ "$(wc -l <"$dir/local")" -ge 10 ] || fail "nm names too few functions: $(cat "$dir/local")"

# --- Headers alone are C11 and C++; each stands by itself.
for header in "$dir"/elsewhere/include/spotter/*.h; do
    cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$dir/elsewhere/include" -x c "$header" || fail "$header in C"
    c++ -Wall -Wextra -Werror -fsyntax-only -I"$dir/elsewhere/include" -x c++ "$header" || fail "$header in C++"
done

# --- By pkg-config, from where it was moved to.
export PKG_CONFIG_PATH=$lib/pkgconfig
flags=$(pkg-config --define-prefix --cflags --libs spotter)
# shellcheck disable=SC2086
cc -std=c11 -Wall -Wextra -Werror example_library.c $flags -lm -o "$dir/example"
LD_LIBRARY_PATH=$lib "$dir/example" >"$dir/by_pkg_config" || fail "the example"
grep -q '^1\. 120 rows, error rate 1\.00$' "$dir/by_pkg_config" || { cat "$dir/by_pkg_config"; fail "its blindspot"; }

# --- By CMake.
mkdir "$dir/project"
cp example_library.c "$dir/project/"
cat >"$dir/project/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES C)
find_package(Spotter 0.1 REQUIRED)
add_executable(example example_library.c)
target_link_libraries(example PRIVATE Spotter::spotter)
CMAKE
{ cmake -S "$dir/project" -B "$dir/project/build" -DCMAKE_PREFIX_PATH="$dir/elsewhere" &&
  cmake --build "$dir/project/build"; } >"$dir/said" 2>&1 || { cat "$dir/said"; fail "find_package(Spotter)"; }
"$dir/project/build/example" | cmp - "$dir/by_pkg_config" || fail "the example built by CMake says something else"

# --- The program that was installed starts.
"$dir/elsewhere/bin/spotter" --version >/dev/null || fail "the installed program"
echo "the library serves others"
