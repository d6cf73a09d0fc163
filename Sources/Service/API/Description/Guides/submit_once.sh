#!/bin/sh
# Submits a file, and once only, however often it is run: submit_once.sh FILE KEY, with SATCHEL_URL and SATCHEL_KEY.
# KEY is your own name for what is sent, such as the message's id: the same name, the same job, for a day.
set -eu
file=$1 key=$2
for try in 1 2 3 4 5; do
    # 000 where there was no answer at all: then nobody knows whether it was taken, and the key makes it safe to ask again.
    status=$(curl -s -o answer.json -w '%{http_code}' --max-time 30 "$SATCHEL_URL/v1/jobs?identifier=photo" \
        -H "Authorization: Bearer $SATCHEL_KEY" -H "Idempotency-Key: $key" -H 'Prefer: wait=20' \
        -H 'Content-Type: application/octet-stream' --data-binary "@$file") || true
    case $status in
        200 | 202) # Finished, or taken and still at work.
            grep -o '"id": *"[^"]*"' answer.json | head -n 1
            exit 0
            ;;
        422) # This key has been used for something else: that is a mistake of yours, and stays one.
            cat answer.json >&2
            exit 1
            ;;
        000 | 429 | 5??) sleep "$try" ;; # Later: 429 and 503 say when, in Retry-After.
        *)
            cat answer.json >&2
            exit 1
            ;;
    esac
done
echo "no answer after 5 tries" >&2
exit 1
