# Says twice what it took.
read -r asked
case "$asked" in
*'"task":"endless"'*) event='{"type":"usage","cost_usd":1e308}' ;;
*'"task":"beyond"'*) event='{"type":"usage","cost_usd":1e400,"input_tokens":99999999999999999999999}' ;;
*'"task":"most"'*) event='{"type":"usage","input_tokens":18446744073709551615,"output_tokens":18446744073709551615}' ;;
*'"task":"negative"'*) event='{"type":"usage","cost_usd":-5,"input_tokens":-3,"output_tokens":1.5}' ;;
*'"task":"text"'*) event='{"type":"usage","cost_usd":"much","input_tokens":[1]}' ;;
*) event='{"type":"usage","cost_usd":0.25,"input_tokens":10,"output_tokens":5}' ;;
esac
echo "$event"
echo "$event"
echo '{"type": "final", "text": "It is too hard."}'
