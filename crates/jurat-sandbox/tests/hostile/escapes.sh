# without: -
printf '\033]0;owned\007\033[2J\033[31m\033]8;;http://x\007'
(printf 'breached' > /dev/tty) 2>/dev/null && echo breached
exit 0
