# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The counters for Prometheus, and the dashboard and the alert rules that use them."""

import json
import re
import urllib.request

import metrics
import yaml
from gnuradio import spead
from inputs import run_all
from places import ROOT
from received_streams import Receiving
from streams import noise

MONITORING = ROOT / "examples" / "monitoring"


def test_the_counters_are_served(sock):
    with Receiving() as receiving:
        sock.sendto(b"not SPEAD", ("127.0.0.1", receiving.port))
        sink = spead.sink(f"127.0.0.1:{receiving.port}", rate=1e7)
        server = metrics.serve("127.0.0.1", 0, out=sink, stream=receiving.source)
        try:
            run_all(sink, noise(100_000))
            receiving.wait()
            url = f"http://127.0.0.1:{server.server_port}/metrics"
            with urllib.request.urlopen(url, timeout=10) as answer:
                served = answer.read().decode().splitlines()
        finally:
            server.shutdown()
            server.server_close()
    assert 'spead_source_samples_received_total{block="stream"} 100000.0' in served
    assert 'spead_source_samples_missing_total{block="stream"} 0.0' in served
    rejected = 'spead_source_packets_rejected_total{block="stream",cause="magic"} 1.0'
    assert rejected in served
    assert 'spead_sink_samples_sent_total{block="out"} 100000.0' in served
    assert 'spead_source_status{block="stream",reason=""} 0.0' in served


def families():
    """What is collected of a sink and a source."""
    sink, source = spead.sink("127.0.0.1:9"), spead.source("127.0.0.1:0")
    return list(metrics.Counters(a=sink, b=source).collect())


def test_each_counter_has_a_help_text():
    helps = {family.name: family.documentation for family in families()}
    text = "samples that arrived in time and were output"
    assert helps["spead_source_samples_received"] == text
    assert all(" " in text for text in helps.values()), helps


def expressions():
    dashboard = json.loads((MONITORING / "grafana.json").read_text())
    for panel in dashboard["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    for group in yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"])


def test_the_dashboard_and_the_rules_use_existing_counters():
    collected = {
        family.name + ("_total" if family.type == "counter" else "")
        for family in families()
    }
    for expression in expressions():
        used = re.findall(r"spead_\w+", expression)
        assert used, expression
        assert set(used) <= collected, expression
