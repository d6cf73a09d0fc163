#!/bin/sh
# Submits a file exactly once, even if run repeatedly: submit_once.sh FILE KEY, with SATCHEL_URL and SATCHEL_KEY set.
# KEY is your own name for the submission, such as the message's id. For a day, the same KEY means the same job.
set -eu
file=$1 key=$2
for try in 1 2 3 4 5; do
    # 000 means no answer. The job may have been accepted; the key makes it safe to try again.
    status=$(curl -s -o answer.json -w '%{http_code}' --max-time 30 "$SATCHEL_URL/v1/jobs?identifier=photo" \
        -H "Authorization: Bearer $SATCHEL_KEY" -H "Idempotency-Key: $key" -H 'Prefer: wait=20' \
        -H 'Content-Type: application/octet-stream' --data-binary "@$file") || true
    case $status in
        200 | 202) # Finished, or accepted and in progress.
            grep -o '"id": *"[^"]*"' answer.json | head -n 1
            exit 0
            ;;
        422) # The request is refused, for example because the key was used with a different body. Retrying doesn't help.
            cat answer.json >&2
            exit 1
            ;;
        000 | 429 | 5??) sleep "$try" ;; # Retry later. For 429 and 503, Retry-After says when.
        *)
            cat answer.json >&2
            exit 1
            ;;
    esac
done
echo "no answer after 5 tries" >&2
exit 1
