"""The service as an app for other servers, with a pipeline that is open already."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.errors import UsageError
from fascicle.pipeline.loading import open_pipeline
from fascicle.serving.app import create_app
from fascicle.settings.serving import ServeSettings

pytest.importorskip("httpx2")
from starlette.testclient import TestClient

pytestmark = pytest.mark.loopback
BYTES = {"Content-Type": "application/octet-stream"}


def test_an_open_pipeline_is_served_in_this_process(small: Path) -> None:
    with open_pipeline(small) as pipeline:
        (wanted,) = pipeline.stream([Document(id="a", text="Aspirin is for pain.")])
        with TestClient(create_app(pipeline), base_url="http://localhost") as client:
            assert client.get("/health").json()["status"] == "ready"
            reply = client.post(
                "/v1/annotate", json={"documents": [{"id": "a", "text": "Aspirin is for pain."}]}
            )
            assert reply.json()["documents"][0]["document"] == json.loads(codec.encode(wanted))
            assert (
                client.post("/v1/jobs?name=a.txt", content=b"pain", headers=BYTES).status_code
                == 501
            )
            metrics = client.get("/metrics").text
            assert 'fascicle_documents_total{status="done"} 1' in metrics
            assert 'fascicle_requests_total{route="/v1/annotate",status="200"} 1' in metrics
            assert 'fascicle_waiting_characters{pipeline="small"} 0' in metrics
            assert 'fascicle_request_seconds_bucket{route="/health",le="+Inf"} 1' in metrics


def test_a_service_needs_a_pipeline_and_limits() -> None:
    with pytest.raises(UsageError, match="pipeline"):
        create_app({})
    for wrong in (
        {"queue": 0},
        {"seconds": -1.0},
        {"token": "short"},
        {"token": "0123456789abcdé0123456789"},
    ):
        with pytest.raises(UsageError):
            ServeSettings(**wrong)  # type: ignore[arg-type]
    assert "0123456789abcdef" not in repr(ServeSettings(token="0123456789abcdef"))
