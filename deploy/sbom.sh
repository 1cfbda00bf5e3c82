#!/bin/sh
# What is in a wheelhouse, as a software bill of materials (CycloneDX, JSON): sh deploy/sbom.sh FOLDER [FILE]
#
# Needs cyclonedx-py on the path (pipx install cyclonedx-bom), and no network. The packages are installed into a folder
# that is removed again, since licences and dependencies are read from what is installed. The tool checks the file
# against the schema of CycloneDX before it writes it.
set -eu
folder=${1:?give the folder that wheelhouse.sh wrote}
out=${2:-$folder/sbom.cdx.json}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT INT TERM
python3 -m venv --without-pip "$place/venv"
python3 -m pip --python "$place/venv/bin/python" install -q --no-index --find-links "$folder" --require-hashes \
    -r "$folder/requirements.txt"
cyclonedx-py environment --validate --output-reproducible -o "$place/sbom.json" "$place/venv/bin/python"
mv "$place/sbom.json" "$out"
echo "$(grep -c '"bom-ref"' "$out") components in $out"
