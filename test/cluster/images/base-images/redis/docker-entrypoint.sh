#!/bin/sh
# As the official image's: flags or a configuration file are for redis-server; root becomes the user redis; and the
# protected mode, which makes no sense in a container, is off unless the arguments say otherwise.
set -e
if [ "${1#-}" != "$1" ] || [ "${1%.conf}" != "$1" ]; then
  set -- redis-server "$@"
fi
if [ "$1" = redis-server ]; then
  case " $* " in
    *" --protected-mode "*) ;;
    *)
      shift
      if [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; then
        file=$1
        shift
        set -- redis-server "$file" --protected-mode no "$@"
      else
        set -- redis-server --protected-mode no "$@"
      fi
      ;;
  esac
  if [ "$(id -u)" = 0 ]; then
    find . \! -user redis -exec chown redis '{}' +
    exec setpriv --reuid redis --regid redis --clear-groups "$@"
  fi
fi
exec "$@"
