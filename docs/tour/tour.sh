#!/usr/bin/env bash
# A tour of the service. It needs toolrun, curl and jq, and works in a temporary folder that it removes at the end.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../../plugins/examples
work=$(mktemp -d)
toolrun=${TOOLRUN:-toolrun}
trap 'kill "$server" 2>/dev/null && wait "$server" || true; rm -rf "$work"' EXIT

say() { printf '\n== %s\n' "$*"; }
api() { # api METHOD PATH [BODY]
  curl --silent --show-error --fail-with-body -X "$1" "$url/api/v1$2" \
    -H "Authorization: Bearer $key" -H 'Content-Type: application/json' ${3:+--data "$3"}
}

say 'keys: one for the backend of a platform, one for an operator'
key=$("$toolrun" key create --keys "$work/keys.json" --role runtime --json backend | jq -r .secret)
operator=$("$toolrun" key create --keys "$work/keys.json" --role operator --json operator | jq -r .secret)

say 'the service'
"$toolrun" serve "$examples" --keys "$work/keys.json" --db "$work/memory.db" --listen 127.0.0.1:0 --json \
  >"$work/serve.json" 2>"$work/serve.log" &
server=$!
for _ in $(seq 100); do [ -s "$work/serve.json" ] && break; sleep 0.1; done
url=$(jq -r .url "$work/serve.json")
curl --silent --fail "$url/readyz"

say 'a session with a message and metadata'
api POST /runs '{
  "message": "Hello",
  "session_id": "sess_123",
  "metadata": {
    "userId": "user_456",
    "userName": "John",
    "customerTier": "premium",
    "channel": "mobile_app"
  },
  "user_id": "john"
}' | jq -c .output
api GET /sessions/sess_123 | jq -c '{session_id, user_id, metadata}'

say 'a tool in JavaScript, one in Python, one in WebAssembly'
api POST /sessions/sess_123/runs '{"tool": "remember_me", "input": {"language": "fr"}, "user_id": "john"}' | jq -c .output
api POST /sessions/sess_123/runs '{"tool": "remember_me_py", "user_id": "john", "input": {}}' | jq -c .output
api POST /sessions/sess_123/runs '{"tool": "feature_flags_c", "user_id": "john", "input": {}}' | jq -c .output

say 'files of every kind'
for file in "$here"/files/*; do
  curl --silent --show-error --fail-with-body -H "Authorization: Bearer $key" -F "file=@$file" \
    "$url/api/v1/sessions/sess_123/files?user_id=john" | jq -r '[.type, .filename, .mimetype, "text: \(.has_text)"] | @tsv'
done

say 'the text that a tool reads in them'
api POST /sessions/sess_123/runs '{"tool": "read_files", "user_id": "john", "input": {}}' |
  jq -r '.output.files[] | select(.text) | "\(.filename): \(.text | gsub("\\s+"; " "))"'

say 'an inactive file is not read'
pdf=$(api GET '/sessions/sess_123/files?user_id=john' | jq -r '.items[] | select(.type == "pdf") | .file_id')
api PATCH "/sessions/sess_123/files/$pdf?user_id=john" '{"is_active": false}' | jq -c '{filename, is_active}'
api POST /sessions/sess_123/runs '{"tool": "read_files", "user_id": "john", "input": {}}' |
  jq -c '[.output.files[] | select(.text) | .filename]'

say 'a download link works without a key'
link=$(api GET '/sessions/sess_123/files?user_id=john' | jq -r '.items[] | select(.type == "pdf") | .download_url')
curl --silent --show-error --fail "$link" | cmp - "$here/files/order.pdf" && echo 'the same bytes'

say 'a prompt'
api POST /prompts/greeting/render '{"session_id": "sess_123", "user_id": "john"}' | jq -r .text

say 'the end of the session'
api DELETE '/sessions/sess_123?user_id=john' | jq -c '{ended: (.ended != null)}'
api POST /sessions/sess_123/runs '{"tool": "greeting", "user_id": "john", "input": {}}' | jq -c '{status, code}' || true

say 'the ledger: writes by caller'
key=$operator
for _ in $(seq 50); do # entries of runs that stored nothing are written with a delay
  [ "$(api GET '/ledger?user_id=john' | jq '.items | length')" -ge 6 ] && break
  sleep 0.1
done
api GET '/ledger?user_id=john&writes=true' | jq -c '.items[] | {tool, actor, user_id, writes: [.writes[] | "\(.op) \(.store) \(.revision)"]}'
