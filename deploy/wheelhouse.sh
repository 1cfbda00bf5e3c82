#!/bin/sh
# Packages for a machine without a network, with their hashes: sh deploy/wheelhouse.sh FOLDER [EXTRAS]
#
# There: pip install --no-index --find-links FOLDER --require-hashes -r FOLDER/requirements.txt
set -eu
folder=${1:?give the folder to write to}
extras=${2:-serve,html,parquet}
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$folder"
python3 -m pip wheel -q -c "$here/constraints-dev.txt" -w "$folder" "$here[$extras]"
cd "$folder"
: > requirements.txt
for wheel in *.whl; do
    name=${wheel%%-*} rest=${wheel#*-}
    printf '%s==%s --hash=sha256:%s\n' "$name" "${rest%%-*}" "$(sha256sum "$wheel" | cut -d' ' -f1)" >> requirements.txt
done
echo "$(wc -l < requirements.txt) packages in $folder"
