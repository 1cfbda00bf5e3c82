#!/bin/sh
# Percent codes in a VCF file are undone by one library and kept by the other.
#
# Version:  vcfpy 0.14.2, pysam 0.24.1
# Input:    VCF 4.3 with INFO values that hold a comma and a semicolon as %2C and %3B
# Expected: the same names from both
# Observed: vcfpy gives the signs, pysam the codes, so that names of ClinVar compare as different
# Source:   https://samtools.github.io/hts-specs/VCFv4.3.pdf, 1.2: such characters are percent-encoded
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check vcfpy==0.14.2 pysam==0.24.1
cd "$folder"
env/bin/python - <<'END'
import pysam
import vcfpy

with open("a.vcf", "w") as stream:
    stream.write(
        "##fileformat=VCFv4.3\n"
        "##INFO=<ID=DN,Number=.,Type=String,Description=\"Disease\">\n"
        "##contig=<ID=1,length=1000>\n"
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        "1\t5\trs1\tA\tT\t.\t.\tDN=Usher_syndrome%2C_type_1%3B_deaf,cancer\n"
    )
ours = [record.INFO["DN"] for record in vcfpy.Reader.from_path("a.vcf")]
theirs = [list(record.info["DN"]) for record in pysam.VariantFile("a.vcf")]
print(ours, theirs)
assert ours == [["Usher_syndrome,_type_1;_deaf", "cancer"]], "vcfpy has changed"
assert theirs == [["Usher_syndrome%2C_type_1%3B_deaf", "cancer"]], "pysam has changed"
END
