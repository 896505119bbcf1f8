#!/usr/bin/env bash
# Does replay work against SGLang on this GPU host? One command, under eight minutes, one report file.
#
#     forensics/replay/gpu_check.sh MODEL [OUT]
#
# MODEL: a model's folder, or its name in the host's cache. OUT: a folder for case, logs and report (default
# ./gpu-check). The server is started from SERVER (below), one for each setting, and stopped again. Invented texts only.
# Needs `sglang` and `forensics` with the extra `replay` in the Python of PYTHON.
set -euo pipefail

model=${1:?"usage: gpu_check.sh MODEL [OUT]"}
out=${2:-gpu-check}
python=${PYTHON:-python3}
seconds=${SECONDS_AT_MOST:-460}
server=${SERVER:-"$python -m sglang.launch_server --model-path '$model' --host 127.0.0.1 --port {port} {flags}"}

mkdir -p "$out"
report="$out/report.txt"
case="$out/case"
began=$(date +%s)

{
    echo "replay on a GPU host, $(date -u +%Y-%m-%dT%H:%M:%SZ)"
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo "no nvidia-smi"
    "$python" -c 'import importlib.metadata as m; print("sglang", m.version("sglang"))' 2>/dev/null || echo "sglang: version unknown"
    "$python" -m forensics --version
} | tee "$report"

plan=$("$python" -m forensics.replay.check "$case")
status=0
timeout --signal=INT "$seconds" "$python" -m forensics replay run "$plan" --server-template "$server" \
    --seconds 60 --trials 3 --json >"$out/replay.json" 2>"$out/replay.log" || status=$?

{
    case $status in
    0) echo "FINDING: a leak was reproduced on this host (exit 0)" ;;
    30) echo "OK: every endpoint and arm ran, nothing was reproduced (exit 30), as it should be without a fault" ;;
    124 | 130) echo "PARTLY: stopped after $seconds s; the same command goes on (exit $status)" ;;
    *) echo "FAILED: exit $status; see $out/replay.log and $case/restricted/replay/*/server-*.log" ;;
    esac
    "$python" - "$out/replay.json" <<'PY' || true
import json, sys
data = json.load(open(sys.argv[1]))["data"]
for leak in data.get("leaks", ()):
    print(f"{leak['fragment_id']}: {leak['verdict']}. {leak['because']}")
    for arm in leak["arms"]:
        why = f"; skipped: {arm['skipped']}" if arm["skipped"] else ""
        print(f"  {arm['name']:<18} {arm['hits']} of {arm['trials']} hits, {arm['failed']} failed, {arm['differ']} differ{why}")
for note in data.get("notes", ()):
    print(f"note: {note}")
PY
    echo "$(($(date +%s) - began)) s"
} | tee -a "$report"

[ "$status" -eq 0 ] || [ "$status" -eq 30 ]
