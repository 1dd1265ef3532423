read -r asked
case "$JURAT_TURN $asked" in
*'"task":"fail'*) echo '{"type": "error", "message": "it cannot go on"}' ;;
0*) echo 2 > ~/notes; echo '{"type": "final", "text": "noted"}' ;;
1*) echo "{\"type\": \"final\", \"text\": \"$GREETING again, $(cat ~/notes) notes\"}" ;;
esac
