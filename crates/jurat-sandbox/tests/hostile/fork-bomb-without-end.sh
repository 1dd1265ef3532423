# without: -
# limit: processes=320 wall=2
# ends: time processes
bomb() { bomb | bomb & }
bomb
while :; do :; done
