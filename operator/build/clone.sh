#!/bin/sh
# The build Job's first container: puts one commit of the repository under $WORKSPACE and nothing else of it.
# ORIGIN, REF (full name), COMMIT and WORKSPACE come from the Job; credentials are in the file GIT_CONFIG_GLOBAL.
set -eu
export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=http:https LC_ALL=C HOME=/tmp

echo "cloning $REF at $COMMIT"
git init --quiet "$WORKSPACE"
cd "$WORKSPACE"
git fetch --quiet --depth=1 --no-tags -- "$ORIGIN" "$REF"
if [ "$(git rev-parse 'FETCH_HEAD^{commit}')" != "$COMMIT" ]; then
  echo "$REF has moved on; fetching the commit itself"
  git fetch --quiet --depth=1 --no-tags -- "$ORIGIN" "$COMMIT"
fi
git checkout --quiet --detach "$COMMIT"
rm -rf .git
echo "cloned $(find . -type f | wc -l) files"
