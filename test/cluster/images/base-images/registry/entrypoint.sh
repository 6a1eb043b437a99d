#!/bin/sh
# As the official image's: a configuration file is to be served.
set -e
case $1 in
  *.yaml | *.yml) set -- registry serve "$@" ;;
  serve | garbage-collect | help | -*) set -- registry "$@" ;;
esac
exec "$@"
