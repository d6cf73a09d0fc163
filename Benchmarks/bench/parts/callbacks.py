"""How fast what is due is called: many callbacks that become due within a second, to a receiver that answers in 20 ms, alone and
beside one that never answers; and how long after its job's end a call comes while jobs are submitted."""

import time

from .. import Failure
from ..corpus.inputs import files
from ..figures import MILLISECONDS, PER_SECOND, Findings, percentile
from ..origins import CallbackReceiver
from ..service import Service

_CLIENTS, _ANSWER_SECONDS = 8, 0.02
_SILENT = 300  # calls to the receiver that doesn't answer: more than it is given places for


def measure(run):
    count = 6000 if run.is_full else 2000
    body = files(run.inputs.tiny_pictures(1))[0].read_bytes()
    alone, beside, lags = [], [], []
    for _ in run.turns("callbacks", most=3):
        rate, lag = _call(run, body, count)
        alone.append(rate)
        lags.append(lag)
        beside.append(_call(run, body, count, CallbackReceiver(is_silent=True))[0])
    findings = Findings("callbacks")
    findings.add("rate", "Callbacks that are due, to a receiver that answers in 20 ms", alone, PER_SECOND, at_least=500)
    findings.add("beside", "— beside a receiver that doesn't answer", beside, PER_SECOND, at_least=500)
    findings.add("lag", "— p99 from a job's end to its call, while 8 clients submit", lags, MILLISECONDS)
    return findings


def _call(run, body, count, silent=None):
    """Submits jobs whose receiver asks for all calls again at one time, and counts what comes then: calls a second, and the lag of
    the first ones, in milliseconds."""
    with Service(run.workplace, "--callback-allow", "127.0.0.1") as service:
        patience = count // 40
        due = time.monotonic() + patience
        receiver = CallbackReceiver(due, _ANSWER_SECONDS)
        if silent:
            service.deliver_all(_CLIENTS, [body] * _SILENT, f"profile=notification{silent.parameter}")
        service.deliver_all(_CLIENTS, [body] * count, f"profile=notification{receiver.parameter}")
        receiver.wait_for(count, 30)
        lag = percentile(0.99, [lag * 1000 for _, lag in receiver.calls])
        if time.monotonic() + 1 >= due:
            raise Failure(f"callbacks: submitting {count} jobs took longer than {patience} s")
        receiver.take()
        receiver.wait_for(count, patience + 60)
        times = [at for at, _ in receiver.calls]
        return len(times) / (max(times) - min(times)), lag
