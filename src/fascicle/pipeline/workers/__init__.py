"""Supervised worker processes, used by runs of pipelines, services, jobs and trainings.

What happens on a kill:

- A worker is killed by the system, by a user, or by `process.Process.check`, where it takes too much time or memory.
  `process.Process.receive` returns its last messages, ends the programs of its group, and raises
  `process.WorkerEndedError` with the reason and the documents that it was processing.
- The caller that started it decides what is next. `fascicle.pipeline.running.supervisor` and `fascicle.serving.pool`
  start another worker, try these documents again alone, and quarantine a document at which two workers ended.
  `fascicle.training.experiments.queue` reports the training run as failed; `fascicle.serving.jobs` the job.
- The parent is killed: the system kills its workers (`child.settle`), elsewhere than on Linux the pipe or a thread ends
  them. Output is valid once its marker is written, so the same command continues after it.
- An interrupt of the terminal reaches the parent alone, which ends its workers.
"""
