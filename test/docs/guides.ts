import { codeBlocks } from './code-blocks.ts';

/** A page's blocks of this name run as one script, in order. */
const paste = 'paste';

/** Pages whose `paste` blocks test/end-to-end/alone/guides.test.ts runs, in this order, in one group. */
export const GUIDES: readonly string[] = [
  'docs/tutorials/kubectl.md',
  'docs/how-to/install.md',
  'docs/how-to/users.md',
  'docs/how-to/ssh.md',
  'docs/how-to/kubectl-for-members.md',
  'docs/how-to/webhooks.md',
  'docs/how-to/ci.md',
  'docs/how-to/fork-pull-requests.md',
  'docs/how-to/several-repositories.md',
  'docs/how-to/private-registry.md',
  'docs/how-to/tests.md',
  'docs/how-to/seeded-database.md',
  'docs/how-to/roll-back.md',
  'docs/how-to/housekeeping.md',
  'docs/reference/environment-lifecycle.md',
  'docs/reference/repository-sync.md',
  'docs/reference/rest-api.md',
  'CONTRIBUTING.md',
];

/** Returns what a reader pastes from the page into a shell, as one script. */
export function scriptOf(markdown: string): string {
  return codeBlocks(markdown)
    .filter(({ name }) => name === paste)
    .map(({ code }) => code)
    .join('\n');
}

/**
 * Returns the first lines of a page's shell blocks that no test runs without a reason. A block runs if the page is one
 * of the guides and its name is `paste`, or if a test names both the page and the block.
 * @param tests sources of the tests
 */
export function unrunBlocks(page: string, markdown: string, tests: readonly string[]): string[] {
  const own = tests.filter((source) => source.includes(`'${page}'`));
  const isRun = (name: string) =>
    name !== '' && ((name === paste && GUIDES.includes(page)) || own.some((source) => source.includes(`'${name}'`)));
  return codeBlocks(markdown)
    .filter(({ language, name, notRun }) => language === 'sh' && notRun === '' && !isRun(name))
    .map(({ code }) => code.split('\n')[0] ?? '');
}
