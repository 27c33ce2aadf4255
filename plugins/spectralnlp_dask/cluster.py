"""Connect to Dask schedulers and check them and their workers, or start local workers."""

from __future__ import annotations

import asyncio
import importlib.metadata
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import dask
from distributed import Client, LocalCluster
from distributed.core import rpc

from spectralnlp.errors import ConfigError, SpectralError

PACKAGE = "spectralnlp"
CONFIG = {
    # No spilling: data that exceed a worker's memory would be written to disk as pickles.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    # Workers may restart slowly: one that is declared lost too early is killed while it runs a task.
    "distributed.deploy.lost-worker-timeout": "10s",
    # One task at a time, since all tasks queued in a worker that dies are suspected of having killed it.
    "distributed.scheduler.worker-saturation": 1.0,
    # Let workers keep freed memory: allocating it again for each batch costs a tenth of the time.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    "distributed.worker.profile.enabled": False,
    # No warning for large tasks, since a corpus in memory is sent with its tasks.
    "distributed.admin.large-graph-warning-threshold": "1 GB",
}


@contextmanager
def quiet() -> Iterator[None]:
    """Silence Dask's logging inside a ``with`` block; this package reports errors itself."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with dask.config.set(CONFIG):
            yield
    finally:
        logger.setLevel(level)


def start_local(jobs: int) -> LocalCluster:
    """Start a scheduler and single-threaded worker processes on the loopback interface, without dashboard.

    Raises:
        SpectralError: the workers do not start.
    """
    try:
        cluster = LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # None would listen on all interfaces, at a fixed port
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
            preload="spectralnlp_dask.preload",
        )
        # A worker's nanny restarts it when it dies, but not if it dies while starting; `adapt` does.
        cluster.adapt(minimum=jobs, maximum=jobs, interval="1s")
        return cluster
    except (OSError, RuntimeError) as error:
        hint = "a script needs an `if __name__ == '__main__':` guard"
        raise SpectralError(f"local workers do not start: {error}", hint=hint) from error


def connect(address: str, timeout: float) -> Client:
    """Connect to a scheduler, after checking that it answers and its workers have this package's version.

    Args:
        address: address of the scheduler, ``tcp://host:port``.
        timeout: seconds to wait for an answer, and for a first worker.

    Raises:
        ConfigError: there is no scheduler at this address, it has no workers, or they have another version.
    """
    check_answers(address, timeout)
    client = Client(address, timeout=timeout, set_as_default=False)
    try:
        client.wait_for_workers(1, timeout=timeout)
        _check_versions(client)
    except TimeoutError:
        client.close()
        what = f"the scheduler at {address} has no workers after {timeout:g} s"
        raise ConfigError(what, hint="start some with 'dask worker'") from None
    except BaseException:
        client.close()
        raise
    return client


def check_answers(address: str, timeout: float) -> None:
    """Check that a Dask scheduler answers, since Dask's client would wait forever for one that hangs.

    Args:
        address: address of the scheduler, ``tcp://host:port``.
        timeout: seconds to wait.

    Raises:
        ConfigError: there is no answer in time, or the server is not a scheduler.
    """

    async def ask() -> Any:
        async with rpc(address, timeout=timeout) as scheduler:
            return await asyncio.wait_for(scheduler.identity(), timeout)

    hint = "is it running, and is the address right?"
    try:
        # In another thread, since this one may run an event loop already, as in a notebook.
        with ThreadPoolExecutor(1) as elsewhere:
            identity = elsewhere.submit(asyncio.run, ask()).result()
    except OSError:
        what = f"the scheduler at {address} does not answer within {timeout:g} s"
        raise ConfigError(what, hint=hint) from None
    except Exception as error:
        raise ConfigError(f"no scheduler at {address}: {error}", hint=hint) from error
    kind = identity.get("type") if isinstance(identity, dict) else None
    if kind != "Scheduler":
        raise ConfigError(f"the server at {address} is a {kind}, not a scheduler", hint=hint)


def local_version() -> str:
    """Return the version of spectralnlp on this machine, which workers must have too."""
    return importlib.metadata.version(PACKAGE)


def _check_versions(client: Client) -> None:
    ours = local_version()
    versions = client.run(importlib.metadata.version, PACKAGE, on_error="return")
    for worker, theirs in sorted(versions.items()):
        if theirs != ours:
            theirs = theirs if isinstance(theirs, str) else "none"
            what = f"worker {worker} has {PACKAGE} {theirs}, and this is {ours}"
            raise ConfigError(what, hint="install the same version everywhere")
