"""Tests of the scripts, the tables and the pages of the studies."""
