"""Read many captures through an executor: what fails is tried again alone, then listed."""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress

from tb_npu_plugin.backend.executors import Workers
from tb_npu_plugin.backend.ingest_capture import Outcome, Task, ingest_capture

#: How often a capture is tried, the first time included.
ATTEMPTS = 3
#: Before a capture is tried again: a disk or a network may need a moment.
RETRY_SECONDS = 1.0
#: When so many in a row failed again, it is not them: the others are not tried again.
HOPELESS = 10

Tell = Callable[[Outcome], None]
Read = Callable[[Task], Outcome]


def ingest_many(
    tasks: list[Task], workers: Workers, tell: Tell, read: Read = ingest_capture
) -> list[Outcome]:
    """Read every capture; one outcome each, in order of the tasks. ``tell`` gets each at once.

    A process that dies takes no other capture with it: those that it may have been reading are tried
    again, each alone, as are those whose disk or network failed; :data:`ATTEMPTS` times in all.
    Raises KeyboardInterrupt after having ended what runs; what was read by then is in the store.
    """
    done: dict[int, Outcome] = {}
    again: dict[int, Outcome] = {}
    for index, outcome in _together(tasks, workers, read):
        if outcome.again:
            again[index] = outcome
        else:
            done[index] = outcome
            tell(outcome)
    in_vain = 0
    for index in sorted(again):
        done[index] = again[index]
        if in_vain < HOPELESS:
            done[index] = _alone(tasks[index], workers, read, again[index])
            in_vain = in_vain + 1 if done[index].again else 0
        tell(done[index])
    return [done[i] for i in range(len(tasks))]


def _together(tasks: list[Task], workers: Workers, read: Read) -> Iterator[tuple[int, Outcome]]:
    """(index, outcome) of every task as they come."""
    waiting = deque(range(len(tasks)))
    flight: dict[Future[Outcome], int] = {}
    ready: queue.SimpleQueue[Future[Outcome]] = queue.SimpleQueue()
    executor: Executor | None = None
    try:
        while waiting or flight:
            while waiting and len(flight) < workers.flight:
                executor = executor or workers.executor(workers.count)
                try:
                    future = executor.submit(read, tasks[waiting[0]])
                except BrokenProcessPool:  # its futures come back in a moment
                    if not flight:
                        executor = None
                    break
                except Exception as error:  # the cluster is gone
                    index = waiting.popleft()
                    yield index, _failed(tasks[index], error)
                    continue
                flight[future] = waiting.popleft()
                future.add_done_callback(ready.put)
            if not flight:
                continue
            future = ready.get()
            index = flight.pop(future)
            yield index, _outcome(future, tasks[index])
            if isinstance(_error(future), BrokenProcessPool) and not flight and executor:
                _end(executor)
                executor = None
    except BaseException:
        if executor:
            workers.stop(executor)
        raise
    if executor:
        _end(executor)


def _alone(task: Task, workers: Workers, read: Read, outcome: Outcome) -> Outcome:
    """Try a capture again, with nothing beside it."""
    for attempt in range(1, ATTEMPTS):
        time.sleep(RETRY_SECONDS * attempt)
        executor = workers.executor(1)
        try:
            future = executor.submit(read, task)
            _error(future)
            outcome = _outcome(future, task)
        except Exception as error:  # the cluster is gone
            outcome = _failed(task, error)
        except BaseException:
            workers.stop(executor)
            raise
        _end(executor)
        if not outcome.again:
            break
    return outcome


def _end(executor: Executor) -> None:
    with suppress(Exception):  # of a cluster that is gone
        executor.shutdown(wait=True)


def _error(future: Future[Outcome]) -> BaseException | None:
    """What the task raised, once it is done."""
    try:
        return future.exception()
    except CancelledError as error:
        return error


def _outcome(future: Future[Outcome], task: Task) -> Outcome:
    error = _error(future)
    return future.result() if error is None else _failed(task, error)


def _failed(task: Task, error: BaseException) -> Outcome:
    found = task.found
    out = Outcome(str(found.path), found.run, found.path.name, state="failed", again=True)
    if isinstance(error, BrokenProcessPool):
        reason = "the reading process ended early (out of memory?)"
    elif isinstance(error, CancelledError):
        reason = "the cluster gave it up (is its scheduler gone?)"
    else:
        reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    out.errors = [reason[:500]]
    return out
