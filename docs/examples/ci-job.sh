#!/bin/sh
# A CI job: covey works towards a goal, and the job ends as covey does. Usage: ci-job.sh GOAL
#
# The endpoint comes from the environment: ANTHROPIC_API_KEY, or OPENAI_API_KEY, or OPENAI_BASE_URL; COVEY_MODEL names
# the model. COVEY_OUTPUT is the folder for the record, kept outside the workspace so that it is no change of it.
set -u

goal=${1:?usage: ci-job.sh GOAL}
output=${COVEY_OUTPUT:-${RUNNER_TEMP:-/tmp}/covey}
mkdir -p "$output"

covey --goal="$goal" --children --json \
  --max-secs "${COVEY_MAX_SECS:-1800}" --max-tokens "${COVEY_MAX_TOKENS:-2000000}" >"$output/events.jsonl"
code=$?

# The last line is the receipt: what the model claims, apart from what was changed and what the checks found.
tail -n 1 "$output/events.jsonl" >"$output/receipt.json"

case $code in
  0) echo "covey: the goal is met, and the checks pass" ;;
  1) echo "::error title=covey::It could not begin; see above." ;;
  2) echo "::error title=covey::A check fails; receipt.json says which." ;;
  3) echo "::error title=covey::It stopped short; receipt.json says why." ;;
  *) echo "::warning title=covey::It was stopped (exit code $code)." ;;
esac

if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  covey export --markdown >>"$GITHUB_STEP_SUMMARY" || true
fi
exit "$code"
