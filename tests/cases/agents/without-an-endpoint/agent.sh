read -r asked
case "$asked" in
*there*) echo '{"type": "final", "text": "I am here."}' ;;
*away*) echo '{"type": "error", "source": "provider", "message": "the endpoint does not answer"}' ;;
*refused*) echo '{"type": "error", "source": "configuration", "message": "there is no key"}' ;;
*) echo '{"type": "error", "message": "it is too hard"}' ;;
esac
