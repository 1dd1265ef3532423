read -r asked
case "$asked" in
*'"task":"done"'*)
  echo '{"type": "tool_call", "id": "1", "name": "cp", "arguments": {"from": "input.txt", "to": "report.md"}}'
  cp input.txt report.md && printf 'hello\r\n' > input.txt && rm old.txt && : > empty.txt
  echo '{"type": "tool_result", "id": "1", "output": "", "is_error": false}'
  echo '{"type": "usage", "input_tokens": 10, "output_tokens": 5}'
  echo '{"type": "final", "text": "report.md is written"}' ;;
*'"task":"silent"'*) echo '{"type": "final", "text": " "}' ;;
*'"task":"broken_off"'*) echo '{"type": "message", "role": "assistant", "text": "I begin."}' ;;
*'"task":"status"'*) echo 'no such thing' >&2; exit 3 ;;
*'"task":"slow"'*) trap '' TERM; sleep 30 & sleep 30 ;;
*'"task":"loud"'*) head -c 1000000 /dev/zero | tr '\0' x; sleep 30 ;;
*'"task":"provider"'*) echo '{"type": "error", "source": "provider", "message": "the endpoint is away"}'; exit 1 ;;
*'"task":"configuration"'*) echo '{"type": "error", "source": "configuration", "message": "no such setting"}'; exit 1 ;;
esac
