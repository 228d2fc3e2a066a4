#!/usr/bin/env python3
# Copyright 2026 The gr-spead authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receive a SPEAD stream, discard its samples, and serve the counters to Prometheus.

Other flow graphs serve theirs with serve() of this file.
"""

import argparse
import ast
import re
import socket
import sys
import threading
from http.server import ThreadingHTTPServer

from common.arguments import option
from common.endpoints import endpoint_text, endpoints
from common.progress import run_to_end
from gnuradio import blocks, gr, spead

try:
    from prometheus_client import CollectorRegistry, MetricsHandler
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
    from prometheus_client.registry import Collector
except ImportError as error:
    sys.exit(f"{error}: apt install python3-prometheus-client")


class Counters(Collector):
    """The counters of sinks and sources.

    blocks: name -> sink or source. The names are the label "block".

    A counter such as samples_missing of a source becomes
    spead_source_samples_missing_total, a state such as buffer_fill
    spead_source_buffer_fill. Counters of causes have the label "cause".
    spead_source_status is 1 while the source outputs nothing; its label is the reason.
    """

    def __init__(self, **blocks):
        self._blocks = blocks

    def collect(self):
        families = {}
        for name, block in self._blocks.items():
            stats = block.stats()
            kind = "sink" if "samples_sent" in stats else "source"
            texts = re.findall(r"^(\w+): (.+(?:\n    .+)*)", block.stats.__doc__, re.M)
            helps = {name: " ".join(text.split()) for name, text in texts}
            for figure, value in stats.items():
                key = f"spead_{kind}_{figure}"
                if key not in families:
                    families[key] = _family(key, helps[figure], value)
                _add(families[key], name, value)
        return families.values()


def _family(key, help, value):
    if isinstance(value, dict):
        return CounterMetricFamily(key, help, labels=["block", "cause"])
    if isinstance(value, str):
        return GaugeMetricFamily(key, help, labels=["block", "reason"])
    if type(value) is int and not key.endswith("_pending"):  # not a bool
        return CounterMetricFamily(key, help, labels=["block"])
    return GaugeMetricFamily(key, help, labels=["block"])


def _add(family, block, value):
    if isinstance(value, dict):
        for cause, count in value.items():
            family.add_metric([block, cause], count)
    elif isinstance(value, str):
        family.add_metric([block, value], 1 if value else 0)
    else:
        family.add_metric([block], float(value))


class Server(ThreadingHTTPServer):
    def __init__(self, address, handler):
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        try:
            super().__init__(address, handler)
        except OSError as error:
            endpoint = endpoint_text(*address)
            raise OSError(f"cannot listen on {endpoint}: {error.strerror}") from None


def serve(address, port, **blocks):
    """Serve the counters of sinks and sources over HTTP, from a thread of its own.

    Returns the server, whose `server_port` is the port (for port 0, a free one).
    """
    registry = CollectorRegistry()
    registry.register(Counters(**blocks))
    # start_http_server() of Debian 12 does not return its server.
    server = Server((address, port), MetricsHandler.factory(registry))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Monitor(gr.top_block):
    """SPEAD source -> null sinks"""

    def __init__(self, args):
        super().__init__("metrics", catch_exceptions=True)
        options = {"end_on_stop": False} | dict(args.option)
        self.source = spead.source(args.endpoints, **options)
        signature = self.source.output_signature()
        for i in range(signature.max_streams()):
            sink = blocks.null_sink(signature.sizeof_stream_item(i))
            self.connect((self.source, i), sink)


def named_value(text):
    """Name and value of "NAME=VALUE"; the value is a Python literal or a string."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("endpoints", help="where to receive, such as 239.1.2.3+7:7148")
    option(parser, "--listen ADDRESS:PORT", str, "HTTP address", "127.0.0.1:9101")
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        type=named_value,
        action="append",
        default=[],
        help="option of spead.source, such as output_type=sc8; may be repeated"
        " (default: none)",
    )
    return parser.parse_args(argv)


def main(argv=None):
    args = parse(argv)
    try:
        ((address, port),) = endpoints(args.listen)
        flow_graph = Monitor(args)
        server = serve(address, port, stream=flow_graph.source)
    except (OSError, TypeError, ValueError, RuntimeError) as error:
        sys.exit(f"metrics.py: {error}")
    endpoint = endpoint_text(address, server.server_port)
    print(f"listening on http://{endpoint}/metrics", flush=True)
    run_to_end(flow_graph, flow_graph.source)
    return 0


if __name__ == "__main__":
    sys.exit(main())
