"""Names of files."""

from __future__ import annotations

from fascicle.formats.source import telling_folders


def test_folders_that_tell_files_of_one_name_apart() -> None:
    paths = ["/a/one/x/dev.tsv", "/a/two/x/dev.tsv", "/a/one/y/test.tsv", "/b/one/x/same.tsv", "/b/one/x/same.json"]
    assert telling_folders(paths, ["dev", "dev", "test", "same", "same"]) == ["one", "two", "y", "x", "x"]
    assert telling_folders(["/dev.tsv", "/c/dev.tsv"], ["dev", "dev"]) == ["/", "c"]
