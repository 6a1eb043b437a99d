#!/bin/sh
# As the official image's, before nginx itself starts: templates are filled from the environment, then the scripts of
# /docker-entrypoint.d run in order.
set -e
if [ "$1" = nginx ] || [ "$1" = nginx-debug ]; then
  names=$(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/${\1}/p' | tr '\n' ' ')
  for template in /etc/nginx/templates/*.template; do
    [ -f "$template" ] || continue
    envsubst "$names" <"$template" >"/etc/nginx/conf.d/$(basename "$template" .template)"
  done
  for script in /docker-entrypoint.d/*.sh; do
    [ -x "$script" ] || continue
    "$script"
  done
fi
exec "$@"
