"""From mentions to concepts: candidates by tier, one ranker, and the statement that no concept fits."""
