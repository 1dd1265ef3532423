# without: time
# limit: time=1 grace=0.2
# ends: time
trap '' TERM INT HUP
i=0
while [ $ISOLATED = 1 ] || [ $i -lt 30 ]; do sleep 0.1; i=$((i+1)); done
echo breached
