#!/bin/sh
# Sends pages (JSON Lines with `url` and `body`) to the service in batches of 500, adds them, and
# prints the answers. The answers of a batch are counted: a service that stops ends its answer early.
# Usage: send-batches.sh PAGES [ADDRESS]
address=${2:-http://127.0.0.1:8750}
work=$(mktemp -d) && split -l 500 "$1" "$work/part-" || exit
for part in "$work"/part-*; do
  jq -c '{id: .url, text: .body, limit: 1}' "$part" > "$work/batch"
  curl -sS --fail-with-body --retry 8 --retry-connrefused --retry-all-errors --max-time 300 \
    -H 'Content-Type: application/x-ndjson' --data-binary @"$work/batch" -o "$work/answers" \
    "$address/v1/seen/batch?add=true" &&
    [ "$(wc -l < "$work/answers")" -eq "$(wc -l < "$work/batch")" ] ||
    { echo "send $part again" >&2; continue; }
  cat "$work/answers"
  rm "$part"
done
rm -f "$work/batch" "$work/answers"
rmdir "$work" 2>/dev/null # it has the batches that were not answered, if there are any
