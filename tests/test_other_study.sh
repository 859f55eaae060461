#!/usr/bin/env bash
# test_other_study.sh BUILD: a command that gets the run of a study that it does not read says which study's run it is and which
# commands read it, in place of blaming the run's config.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
cd "$dir" || exit 1
for study in sweep discover examine background shifts; do
    mkdir $study && echo "study: $study" >$study/config.yaml
done
echo 'seed: 1' >sweep/config.yaml                                  # a sweep's config does not say it
for study in discover shifts; do refused 2 tables $study; done
refused 2 figures discover -o out.figures
for study in discover examine background shifts; do refused 2 view $study --ec 0 --out view.safetensors; done
for study in discover examine background; do
    refused 2 accept $study -o base.json --reason x
    refused 2 check base.json $study
done
for study in sweep examine background shifts; do
    refused 2 assign $study -e e.npy --out a.csv
    refused 2 claim $study 'a & b'
done
for study in sweep discover examine shifts; do refused 2 verdict $study; done
n=$(grep -c 'is a run of' .heard)
[ "$n" -eq 25 ] || fail "$n of 25 refusals name the study: $(grep -v 'is a run of' .heard | grep '^spotter')"
exit $failed
