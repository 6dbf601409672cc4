"""Metrics in the text format of Prometheus."""

import re

from worthwhile.service.request_metrics import RequestMetrics

LINE = re.compile(r'(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? [-+.\de]+)')


def test_metrics_of_a_desk(client):
    client.new(age=63)
    client.new(age=30)
    client.call("/cases/none", status=404)
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    assert 'worthwhile_requests_total{method="POST",route="/api/cases",status="201"} 2' in lines
    assert 'worthwhile_requests_total{method="GET",route="/api/cases/{case_id}",status="404"} 1' in lines
    assert 'worthwhile_cases{state="answered"} 1' in lines
    assert 'worthwhile_cases{state="open"} 1' in lines
    for state in ("waiting", "closed", "erased"):
        assert f'worthwhile_cases{{state="{state}"}} 0' in lines
    assert "worthwhile_events_total 4" in lines


def test_buckets_count_up():
    metrics = RequestMetrics()
    for seconds in (0.001, 0.02, 3.0):
        metrics.count_request("GET", "/", 200, seconds)
    counts = [int(line.split()[-1]) for line in metrics.text().splitlines() if "_bucket" in line]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (1, 3)
    metrics.count_feedback("accepted")
    assert 'worthwhile_card_feedback_total{outcome="accepted"} 1' in metrics.text()
