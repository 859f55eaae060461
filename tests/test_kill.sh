#!/usr/bin/env bash
# test_kill.sh BUILD [KILLS [OF A STUDY]]: the real program in shards and threads, stopped and killed, see kills.py; each study,
# embed and render, killed, see kills_studies.py.
/usr/bin/python3 kills.py "$1" "${2:-16}"
code=$?
/usr/bin/python3 kills_studies.py "$1" "${3:-1}" && exit $code
