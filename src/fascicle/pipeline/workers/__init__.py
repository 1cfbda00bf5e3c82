"""Supervised worker processes, used by runs of pipelines, services, jobs and trainings.

What happens on a kill:

- A worker is killed by the system, by a user, or by `process.Process.check`, where it takes too much time or memory.
  `process.Process.receive` gives what it still sent, ends the programs of its group, and raises `process.EndedError`:
  why it ended, and the documents that it was at.
- Who started it decides what is next. `fascicle.pipeline.running.supervisor` and `fascicle.serving.pool` start another
  worker, try these documents again alone, and set a document aside at which two workers ended.
  `fascicle.training.experiments.queue` reports the training run as failed; `fascicle.serving.jobs` the job.
- The parent is killed: the system kills its workers (`child.settle`), elsewhere than on Linux the pipe or a thread ends
  them. What is written counts when its marker is there, so the same command goes on after what is complete.
- An interrupt of the terminal reaches the parent alone, which ends its workers.
"""
