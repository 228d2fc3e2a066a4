# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The counters for Prometheus, and the dashboard and the alert rules that use them."""

import json
import re
import urllib.request

import metrics
import pytest
import yaml
from gnuradio import spead
from inputs import run_all
from places import ROOT
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from received_streams import Receiving
from streams import noise

MONITORING = ROOT / "examples" / "monitoring"


def samples_of(text):
    """(name, labels) -> value."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_counters_are_served():
    with Receiving() as receiving:
        sink = spead.sink(f"127.0.0.1:{receiving.port}", rate=1e7)
        server = metrics.serve("127.0.0.1", 0, out=sink, stream=receiving.source)
        try:
            run_all(sink, noise(100_000))
            receiving.wait()
            url = f"http://127.0.0.1:{server.server_port}/metrics"
            with urllib.request.urlopen(url, timeout=10) as answer:
                served = samples_of(answer.read().decode())
        finally:
            server.shutdown()
            server.server_close()
    stream = (("block", "stream"),)
    assert served["spead_source_samples_received_total", stream] == 100_000
    assert served["spead_source_samples_missing_total", stream] == 0
    assert served["spead_sink_samples_sent_total", (("block", "out"),)] == 100_000
    assert served["spead_source_status", (*stream, ("reason", ""))] == 0


class Stats:
    """A block with the counters of another, and a count for each cause."""

    def __init__(self, block):
        counts = {
            name: {"EIO": 3} if isinstance(value, dict) else value
            for name, value in block.stats().items()
        }
        self.stats = lambda: counts
        self.stats.__doc__ = block.stats.__doc__


def counters():
    """What is served of a sink and a source."""
    registry = CollectorRegistry()
    sink, source = spead.sink("127.0.0.1:9"), spead.source("127.0.0.1:0")
    registry.register(metrics.Counters(a=Stats(sink), b=Stats(source)))
    return generate_latest(registry).decode()


def test_each_counter_has_a_help_text():
    helps = {
        family.name: family.documentation
        for family in text_string_to_metric_families(counters())
    }
    text = "samples that arrived in time and were output"
    assert helps["spead_source_samples_received"] == text
    assert all(" " in text for text in helps.values()), helps


def expressions():
    dashboard = json.loads((MONITORING / "grafana.json").read_text())
    for panel in dashboard["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    for group in yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"])


@pytest.mark.parametrize("expression", expressions())
def test_the_dashboard_and_the_rules_use_existing_counters(expression):
    served = samples_of(counters())
    used = re.findall(r"spead_\w+", expression)
    assert used
    assert set(used) <= {name for name, _ in served}


def test_a_port_in_use_is_named():
    server = metrics.serve("127.0.0.1", 0)
    try:
        with pytest.raises(
            OSError,
            match=f"^cannot listen on 127.0.0.1:{server.server_port}: Address already",
        ):
            metrics.serve("127.0.0.1", server.server_port)
    finally:
        server.shutdown()
        server.server_close()
