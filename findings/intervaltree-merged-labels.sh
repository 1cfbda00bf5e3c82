#!/bin/sh
# Mentions that overlap, touch or are equal lose their labels when they are merged; the others keep theirs.
#
# Version:  intervaltree 3.2.1
# Input:    intervals 0-4 gout, 2-8 pain and 10-12 fever; and 0-4 with two labels
# Expected: labels of the first, of the last, or of all
# Observed: 0-8 without data, 10-12 fever; 0-4 without data
# Source:   https://github.com/chaimleib/intervaltree: merge_overlaps "optionally merging the data fields"
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check intervaltree==3.2.1
cd "$folder"
env/bin/python - <<'END'
from intervaltree import Interval, IntervalTree

overlapping = IntervalTree([Interval(0, 4, "gout"), Interval(2, 8, "pain"), Interval(10, 12, "fever")])
overlapping.merge_overlaps()
equal = IntervalTree([Interval(0, 4, "gout"), Interval(0, 4, "Disease")])
equal.merge_equals()
print(sorted(overlapping), sorted(equal))
assert sorted(overlapping) == [Interval(0, 8), Interval(10, 12, "fever")], "intervaltree has changed"
assert sorted(equal) == [Interval(0, 4)], "intervaltree has changed"
END
