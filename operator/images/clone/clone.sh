#!/bin/sh
# The build Job's first container: puts one commit of the repository under $WORKSPACE and nothing else of it.
# Beside it stand the containers that build: each waits for the lock on $WORKSPACE.cloning to be let go, as it is however this
# one ends, and goes on where it finds $WORKSPACE.cloned (operator/images/build/after-clone.ts).
# ORIGIN, REF (full name), COMMIT and WORKSPACE come from the Job; credentials, and what git may do, are in the file
# GIT_CONFIG_GLOBAL and beside it.
set -eu
export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 LC_ALL=C HOME=/tmp
exec 9>"$WORKSPACE.lock"
flock 9
mv "$WORKSPACE.lock" "$WORKSPACE.cloning"
# What reads strangers' data holds no lock.
git() { command git "$@" 9>&-; }
node() { command node "$@" 9>&-; }
# Authorities of the installation's own: git knows either the public ones or one file.
authorities=$(dirname "$GIT_CONFIG_GLOBAL")/certificate-authorities.pem
if [ -f "$authorities" ]; then
  cat /etc/ssl/certs/ca-certificates.crt "$authorities" >"$WORKSPACE.authorities.pem"
  export GIT_SSL_CAINFO="$WORKSPACE.authorities.pem" NODE_EXTRA_CA_CERTS="$authorities"
fi
echo "cloning $REF at $COMMIT"
git init --quiet "$WORKSPACE"
cd "$WORKSPACE"
git fetch --quiet --depth=1 --no-tags -- "$ORIGIN" "$REF"
if [ "$(git rev-parse 'FETCH_HEAD^{commit}')" != "$COMMIT" ]; then
  echo "$REF has moved on; fetching the commit itself"
  git fetch --quiet --depth=1 --no-tags -- "$ORIGIN" "$COMMIT"
fi
git checkout --quiet --detach "$COMMIT"
# Submodules and large files are fetched by a program whose start most repositories need not wait for.
if git cat-file -e "$COMMIT:.gitmodules" 2>/dev/null ||
  git grep -q -I -F -e 'filter=lfs' "$COMMIT" -- ':(glob)**/.gitattributes'; then
  node "$(dirname "$0")/complete.ts"
fi
# Whatever Git says: what stands there now is what buildctl follows.
node "$(dirname "$0")/check-paths.ts"
rm -rf .git
echo "cloned $(find . -type f | wc -l) files"
: >"$WORKSPACE.cloned"
