"""Pictures of scores, trainings and representations; the only room that imports Matplotlib
(extra ``plots``).
"""
