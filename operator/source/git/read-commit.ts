/**
 * For a shell, and the same for all: initializes a repository, fetches a ref's newest commit without its history, and prints
 * the ids of the commit and of its tree, then its listing. What strangers choose comes as parameters, which no shell
 * parses: the ref's full name, and fetchedAs() of it.
 *
 * Where there is no such ref git takes another for it: for `refs/heads/x` a tag of just that name, `refs/tags/refs/heads/x`.
 * So what was fetched is held against what was asked for, and another is none, in git's own words.
 */
export const READ_COMMIT = `set -e
git init --quiet --bare --template= repository
git -C repository fetch --quiet --depth=1 --no-tags --filter=blob:none -- origin "$1"
IFS= read -r fetched <repository/FETCH_HEAD
case $fetched in
*"\t$2"*) ;;
*) echo "fatal: couldn't find remote ref" >&2; exit 1 ;;
esac
git -C repository rev-parse 'FETCH_HEAD^{commit}' 'FETCH_HEAD^{tree}'
git -C repository ls-tree -r -t -z FETCH_HEAD
`;

/** As git's builtin/fetch.c shortens them in FETCH_HEAD. */
const kinds = [
  ['refs/heads/', 'branch '],
  ['refs/tags/', 'tag '],
  ['refs/remotes/', 'remote-tracking branch '],
] as const;

/** How git writes into FETCH_HEAD that it fetched this ref, by full name, and no other: no name has a space. */
export function fetchedAs(refName: string): string {
  const [prefix, kind] = kinds.find(([one]) => refName.startsWith(one)) ?? ['', ''];
  return `${kind}'${refName.slice(prefix.length)}' of `;
}
