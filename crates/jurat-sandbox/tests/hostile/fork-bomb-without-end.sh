# without: -
# limit: processes=320 time=2
# ends: time processes
bomb() { bomb | bomb & }
bomb
while :; do :; done
