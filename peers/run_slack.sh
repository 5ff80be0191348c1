#!/bin/sh
# Runs every official Slack client against a running twin: run_slack.sh http://127.0.0.1:PORT
# Prints one JSON line per client; fails at the first one that fails.
set -eu
twin=${1:?usage: run_slack.sh TWIN_BASE}
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -d "$here/node_modules/@slack" ] || [ ! -x "$here/venv/bin/python" ]; then
    echo "official clients are not installed; run scripts/test once" >&2
    exit 1
fi
node "$here/slack_node.mjs" "$twin"
node "$here/slack_bolt.mjs" "$twin"
node "$here/slack_bolt_http.mjs" "$twin"
"$here/venv/bin/python" "$here/slack_python.py" "$twin"
