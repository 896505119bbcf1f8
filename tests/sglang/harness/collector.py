"""Takes OpenTelemetry spans (OTLP over HTTP, protobuf) and appends each delivery to a file, one JSON object a line, as
the file exporter of the OpenTelemetry Collector does.

    python collector.py PORT FILE        (in the engine's environment)
"""

from __future__ import annotations

import base64
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_IDS = ("traceId", "spanId", "parentSpanId")


def hexed(value: Any) -> Any:
    """Ids as hexadecimal digits, which OTLP in JSON wants; protobuf's own JSON gives base64."""
    if isinstance(value, dict):
        return {
            key: base64.b64decode(item).hex() if key in _IDS and isinstance(item, str) else hexed(item)
            for key, item in value.items()
        }
    return [hexed(item) for item in value] if isinstance(value, list) else value


def main(port: int, path: Path) -> None:
    lock = Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = ExportTraceServiceRequest()
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.headers.get("Content-Encoding") == "gzip":
                import gzip

                body = gzip.decompress(body)
            request.ParseFromString(body)
            line = json.dumps(hexed(MessageToDict(request)), separators=(",", ":"))
            with lock, path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return None

    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
