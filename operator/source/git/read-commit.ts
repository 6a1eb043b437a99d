/**
 * A constant shell script that initializes a repository, fetches a ref's newest commit without its history, and prints
 * the IDs of the commit and its tree, its author and subject in a line each, then its listing. Untrusted values are positional parameters, which no shell
 * parses: the ref's full name, and fetchedAs() of it.
 * If the ref does not exist, git may fetch another one: for `refs/heads/x` a tag of exactly that name,
 * `refs/tags/refs/heads/x`. The script therefore compares the fetched ref with the requested one, and reports a
 * difference in git's own words.
 */
export const READ_COMMIT = `set -e
git init --quiet --bare --template= repository
git -C repository fetch --quiet --depth=1 --no-tags --filter=blob:none -- origin "$1"
IFS= read -r fetched <repository/FETCH_HEAD
case $fetched in
*"\t$2"*) ;;
*) echo "fatal: couldn't find remote ref" >&2; exit 1 ;;
esac
git -C repository log -1 --no-mailmap --no-show-signature --format='%H%n%T%n%an%n%s' 'FETCH_HEAD^{commit}'
git -C repository ls-tree -r -t -z FETCH_HEAD
`;

/** How git's builtin/fetch.c shortens full names in FETCH_HEAD. */
const kinds = [
  ['refs/heads/', 'branch '],
  ['refs/tags/', 'tag '],
  ['refs/remotes/', 'remote-tracking branch '],
] as const;

/** Returns what git writes to FETCH_HEAD for this ref, by full name, and for no other: names contain no spaces. */
export function fetchedAs(refName: string): string {
  const [prefix, kind] = kinds.find(([one]) => refName.startsWith(one)) ?? ['', ''];
  return `${kind}'${refName.slice(prefix.length)}' of `;
}
