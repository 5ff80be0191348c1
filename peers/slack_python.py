"""The official Slack Python SDK (WebClient and builtin SocketModeClient) against the twin."""

import hashlib
import json
import os
import sys
import time
import urllib.request

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_handlers import RateLimitErrorRetryHandler
from slack_sdk.socket_mode import SocketModeClient
from slack_sdk.socket_mode.response import SocketModeResponse

DEADLINE_S = 40
FILE = b"hello from an official client\n"

BASE = (sys.argv[1] if len(sys.argv) > 1 else os.environ["TWIN_BASE"]).rstrip("/").removesuffix("/api")
BOT_TOKEN = os.environ.get("SLACK_BOT_TOKEN", "xoxb-1-twin")
APP_TOKEN = os.environ.get("SLACK_APP_TOKEN", "xapp-1-A0001-1-twin")


def see(view):
    with urllib.request.urlopen(f"{BASE}/twin/{view}") as answer:
        return json.load(answer)


def act(name, **fields):
    body = json.dumps(fields).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{BASE}/twin/{name}", body)) as answer:
        return json.load(answer)


def until(what, look):
    end = time.monotonic() + DEADLINE_S
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < end, f"timed out: {what}"
        time.sleep(0.025)


def refused(code, call, **fields):
    try:
        call(**fields)
    except SlackApiError as error:
        assert error.response["error"] == code, error
        return
    raise AssertionError(f"expected {code}")


def in_thread(root):
    return [m for m in see("ledger")["messages"] if root in (m["ts"], m["thread_ts"])]


def check_answers(web, asked):
    place = {"channel": asked["channel"]}
    metadata = {"event_type": "peer", "event_payload": {"part": "p1"}}
    sent = web.chat_postMessage(**place, text="answer", thread_ts=asked["ts"], metadata=metadata)
    assert sent["message"]["thread_ts"] == asked["ts"]
    web.reactions_add(**place, timestamp=asked["ts"], name="eyes")
    refused("already_reacted", web.reactions_add, **place, timestamp=asked["ts"], name="eyes")
    web.files_upload_v2(**place, thread_ts=asked["ts"], content=FILE, filename="a.txt")
    refused("channel_not_found", web.chat_postMessage, channel="C0NONE", text="x")
    plain = web.conversations_replies(**place, ts=asked["ts"])["messages"][1]
    assert plain["metadata"]["event_payload"] == {}, plain
    full = web.conversations_replies(**place, ts=asked["ts"], include_all_metadata=True)["messages"][1]
    assert full["metadata"] == metadata, full

    thread = until("the thread with the file", lambda: len(t := in_thread(asked["ts"])) == 3 and t)
    root, answer, shared = thread
    assert root["reactions"] == [{"name": "eyes", "users": ["U0BOT"]}], root
    assert answer["text"] == "answer" and answer["by_app"] and shared["by_app"]
    assert shared["files"][0]["sha256"] == hashlib.sha256(FILE).hexdigest(), shared


def check_throttle(web, asked):
    act("fault", method="chat.postMessage", action={"kind": "rate_limited", "retry_after_secs": 1})
    start = time.monotonic()
    web.chat_postMessage(channel=asked["channel"], text="after 429", thread_ts=asked["ts"])
    assert time.monotonic() - start >= 1, "Retry-After was honoured"
    assert len([m for m in in_thread(asked["ts"]) if m["text"] == "after 429"]) == 1


def main():
    started = time.monotonic()
    before = see("counters")
    web = WebClient(token=BOT_TOKEN, base_url=f"{BASE}/api/")
    web.retry_handlers.append(RateLimitErrorRetryHandler(max_retry_count=2))
    assert web.auth_test()["user_id"] == "U0BOT"

    mentions = []
    client = SocketModeClient(app_token=APP_TOKEN, web_client=web)

    def received(client, request):
        client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))
        event = request.payload.get("event", {})
        if event.get("type") == "app_mention":
            mentions.append(event)

    client.socket_mode_request_listeners.append(received)
    client.connect()
    until("a socket", lambda: see("counters")["sockets_open"] == before["sockets_open"] + 1)

    asked = act("post", channel="C0GENERAL", user="U0ANN", text="first", mention=True)
    until("the first mention", lambda: [e for e in mentions if e["ts"] == asked["ts"]])
    check_answers(web, asked)
    check_throttle(web, asked)

    total, start = see("counters")["sockets_total"], time.monotonic()
    act("disconnect", reason="refresh_requested")
    until("a new socket", lambda: see("counters")["sockets_total"] > total)
    reconnect_ms = round((time.monotonic() - start) * 1000)
    again = act("post", channel="C0GENERAL", user="U0BOB", text="second", mention=True)
    until("the second mention", lambda: [e for e in mentions if e["ts"] == again["ts"]])

    def settled():
        counters = see("counters")
        return counters if not counters["unacked"] else None

    settled_counters = until("all acknowledged", settled)
    client.close()
    acks = settled_counters["acks"][len(before["acks"]):]
    assert all(ack["attempt"] == 0 for ack in acks), acks
    print(json.dumps({
        "client": "slack-python", "ok": True, "ms": round((time.monotonic() - started) * 1000), "acks": len(acks),
        "slowestAckMs": max(ack["latency_ms"] for ack in acks),
        "sockets": settled_counters["sockets_total"] - before["sockets_total"], "reconnectMs": reconnect_ms,
    }), flush=True)
    os._exit(0)


main()
