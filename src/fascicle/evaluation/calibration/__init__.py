"""Calibration of the scores of mentions: measures how well they match precision, and corrects
them.
"""
