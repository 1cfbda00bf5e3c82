"""The best single model of NCBI-disease and BC5CDR: a teacher of both, and its labels."""
