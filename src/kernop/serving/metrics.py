"""What a server did, as text for Prometheus."""

from __future__ import annotations

from collections import Counter

#: Upper ends of the classes of seconds.
CLASSES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


class Metrics:
    """Counts of requests, their seconds, and inputs that were solved. Used by the event loop alone."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.classes: Counter[float] = Counter()
        self.seconds, self.solved, self.values, self.running = 0.0, 0, 0, 0

    def served(self, route: str, status: int, seconds: float) -> None:
        """Count one request that was answered."""
        self.requests[route, status] += 1
        self.seconds += seconds
        self.classes[next((top for top in CLASSES if seconds <= top), float("inf"))] += 1

    def text(self, busy: int) -> str:
        """All counts, in the text format of Prometheus."""
        lines = ["# TYPE kernop_requests_total counter"]
        for (route, status), count in sorted(self.requests.items()):
            lines.append(f'kernop_requests_total{{route="{route}",status="{status}"}} {count}')
        lines.append("# TYPE kernop_request_seconds histogram")
        total = 0
        for top in CLASSES:
            total += self.classes[top]
            lines.append(f'kernop_request_seconds_bucket{{le="{top:g}"}} {total}')
        total += self.classes[float("inf")]
        lines += [f'kernop_request_seconds_bucket{{le="+Inf"}} {total}']
        lines += [f"kernop_request_seconds_sum {self.seconds:.6f}", f"kernop_request_seconds_count {total}"]
        figures = {
            "kernop_inputs_solved_total counter": self.solved,
            "kernop_values_total counter": self.values,
            "kernop_requests_running gauge": self.running,
            "kernop_jobs_busy gauge": busy,
        }
        for name, value in figures.items():
            lines += [f"# TYPE {name}", f"{name.split()[0]} {value}"]
        return "\n".join(lines) + "\n"
