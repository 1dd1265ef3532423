# without: -
# limit: processes=320 time=2
# ends: time processes
bomb() { bomb | bomb & }
# One fork of this shell, before any other process: a second one could fail, and would end it.
bomb &
while :; do :; done
