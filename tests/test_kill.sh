#!/usr/bin/env bash
# test_kill.sh BUILD [KILLS]: the real program in shards and threads, stopped and killed, see kills.py.
exec /usr/bin/python3 kills.py "$1" "${2:-16}"
