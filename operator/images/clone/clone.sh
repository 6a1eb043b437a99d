#!/bin/sh
# Runs in a build Job's container `clone`: fetches the files of one commit to $WORKSPACE, without Git's history.
# The containers that build run beside it. Each waits until the lock on $WORKSPACE.cloning is released, which happens
# however this script ends, and continues only if $WORKSPACE.cloned exists (operator/images/build/after-clone.ts).
# The Job sets ORIGIN, REF (the full name), COMMIT and WORKSPACE, and INCLUDED for an included repository. The file GIT_CONFIG_GLOBAL, and the files beside it,
# contain the credentials and restrict what git can do.
set -eu
export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 LC_ALL=C HOME=/tmp
exec 9>"$WORKSPACE.lock"
flock 9
mv "$WORKSPACE.lock" "$WORKSPACE.cloning"
# Programs that read untrusted data do not inherit the lock, so none of them can keep it after this script has ended.
git() { command git "$@" 9>&-; }
node() { command node "$@" 9>&-; }
# What git says of a connection that was lost, or of a host that is restarted. Other errors would come again.
lost='RPC failed|early EOF|disconnect|hung up|timed out|Connection (reset|refused)|resolve host|returned error: 5'
# Fetches a ref or commit. The operator has just read the commit from this host, so a lost connection is tried again.
fetch() {
  for wait in 1 4 ''; do
    if git fetch --quiet --depth=1 --no-tags -- "$ORIGIN" "$1" 2>"$WORKSPACE.errors"; then return 0; fi
    cat "$WORKSPACE.errors" >&2
    if [ -z "$wait" ] || ! grep -q -E "$lost" "$WORKSPACE.errors"; then return 128; fi
    echo "fetching again in $wait s"
    sleep "$wait"
  done
}
# Additional certificate authorities of the installation. git uses either the public ones or one file, so both are joined.
authorities=$(dirname "$GIT_CONFIG_GLOBAL")/certificate-authorities.pem
if [ -f "$authorities" ]; then
  cat /etc/ssl/certs/ca-certificates.crt "$authorities" >"$WORKSPACE.authorities.pem"
  export GIT_SSL_CAINFO="$WORKSPACE.authorities.pem" NODE_EXTRA_CA_CERTS="$authorities"
fi
echo "cloning ${INCLUDED:+$INCLUDED, }$REF at $COMMIT"
git init --quiet "$WORKSPACE"
cd "$WORKSPACE"
fetch "$REF"
if [ "$(git rev-parse 'FETCH_HEAD^{commit}')" != "$COMMIT" ]; then
  echo "$REF has moved on; fetching the commit itself"
  fetch "$COMMIT"
fi
git checkout --quiet --detach "$COMMIT"
# Starting this program takes time, so it runs only if the commit has submodules or large files, which it fetches.
if git cat-file -e "$COMMIT:.gitmodules" 2>/dev/null ||
  git grep -q -I -F -e 'filter=lfs' "$COMMIT" -- ':(glob)**/.gitattributes'; then
  node "$(dirname "$0")/complete.ts"
fi
# Checks the files themselves rather than Git's list of them, because buildctl follows the links that exist here. The
# program takes a tenth of a second to start; without a link or "..", no path leads out of the workspace.
links=$(find . -path ./.git -prune -o -type l -print -quit)
if [ -n "$links" ] || printf %s "$CLONE_SETTINGS" | grep -q -F ..; then
  node "$(dirname "$0")/check-paths.ts"
fi
rm -rf .git
echo "cloned $(find . -type f | wc -l) files"
: >"$WORKSPACE.cloned"
