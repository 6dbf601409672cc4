"""Counts of what the service does, in the text format of Prometheus."""

from __future__ import annotations

import threading
from collections import Counter

import sqlalchemy as sa

from worthwhile.service.case_store import STATES
from worthwhile.service.database import Database
from worthwhile.service.tables import cases, chain_head

__all__ = ["RequestMetrics"]

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)  # seconds


class RequestMetrics:
    """Counters of requests and log-ins.

    Examples
    --------
    >>> metrics = RequestMetrics()
    >>> metrics.count_request("GET", "/healthz", 200, 0.004)
    >>> print(metrics.text().splitlines()[2])
    worthwhile_requests_total{method="GET",route="/healthz",status="200"} 1
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._failed_logins = 0
        self._feedback: Counter[str] = Counter()

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        with self._lock:
            self._requests[method, route, status] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]
            for bucket in BUCKETS:
                if seconds <= bucket:
                    self._buckets[route, bucket] += 1

    def count_failed_login(self) -> None:
        """Count a wrong token."""
        with self._lock:
            self._failed_logins += 1

    def count_feedback(self, outcome: str) -> None:
        """Count what became of a card."""
        with self._lock:
            self._feedback[outcome] += 1

    def text(self, database: Database | None = None) -> str:
        """Return all counters, with the number of cases by state if there is a database."""
        lines: list[str] = []

        def family(name: str, kind: str, about: str, samples: list[tuple[str, float]]) -> None:
            lines.extend([f"# HELP {name} {about}", f"# TYPE {name} {kind}"])
            lines.extend(f"{name}{labels} {value:g}" for labels, value in samples)

        with self._lock:
            by_route: Counter[str] = Counter()
            for (_, route, _), n in self._requests.items():
                by_route[route] += n
            requests = [
                (f'{{method="{method}",route="{route}",status="{status}"}}', float(n))
                for (method, route, status), n in sorted(self._requests.items())
            ]
            family("worthwhile_requests_total", "counter", "Requests by route and status.", requests)
            name = "worthwhile_request_seconds"
            lines.extend([f"# HELP {name} Time to answer.", f"# TYPE {name} histogram"])
            for route in sorted(by_route):
                for bucket in BUCKETS:
                    lines.append(f'{name}_bucket{{route="{route}",le="{bucket:g}"}} {self._buckets[route, bucket]}')
                lines.append(f'{name}_bucket{{route="{route}",le="+Inf"}} {by_route[route]}')
                lines.append(f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}')
                lines.append(f'{name}_count{{route="{route}"}} {by_route[route]}')
            failed = [("", float(self._failed_logins))]
            family("worthwhile_failed_logins_total", "counter", "Wrong tokens.", failed)
            feedback = [(f'{{outcome="{o}"}}', float(n)) for o, n in sorted(self._feedback.items())]
            family("worthwhile_card_feedback_total", "counter", "What became of cards of CDS Hooks.", feedback)
        if database is not None:
            with database.read() as connection:
                states = connection.execute(sa.select(cases.c.state, sa.func.count()).group_by(cases.c.state)).all()
                counts = dict.fromkeys(STATES, 0) | {row[0]: row[1] for row in states}
                events = connection.execute(sa.select(chain_head.c.seq)).scalar() or 0
            by_state = [(f'{{state="{state}"}}', float(n)) for state, n in counts.items()]
            family("worthwhile_cases", "gauge", "Cases by state.", by_state)
            family("worthwhile_events_total", "counter", "Changes in the log.", [("", float(events))])
        return "\n".join(lines) + "\n"
