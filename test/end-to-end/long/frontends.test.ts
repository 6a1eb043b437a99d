import { afterAll, beforeAll, expect } from '@jest/globals';
import { pushRepository } from '../../sample/push-repository.ts';
import { logOf } from '../fixtures.ts';
import { pageWith, startHarness, type Harness } from '../harness.ts';
import { pushPullRequest } from '../push-pull-request.ts';
import { testsSideBySide } from '../side-by-side.ts';
import { smallPage } from '../small-page.ts';

let harness: Harness;
let origin: string;
let repository: string;

beforeAll(async () => {
  harness = await startHarness('frontends');
  // An image of the group's own, which it can build with any contents.
  const frontend = `${harness.connection.registry}/${harness.group}/shop/frontend`;
  const page = smallPage('read by the built-in frontend');
  const dockerfile = `# syntax=${frontend}\n${page['Dockerfile']}`;
  origin = `${harness.connection.gitUrl}/${harness.group}/shop.git`;
  await pushRepository({ url: origin, branch: 'main', files: { ...page, Dockerfile: dockerfile } });
  const argument = { ...page, 'compose.yaml': withArgument(page['compose.yaml'] ?? '', frontend) };
  await pushRepository({ url: origin, branch: 'argument', files: argument });
  await pushPullRequest(origin, 'main', 1);
  await pushPullRequest(origin, 'argument', 2);
  repository = await harness.addRepository('shop', origin);
}, 60_000);

afterAll(() => harness.remove(), 60_000);

function withArgument(compose: string, frontend: string): string {
  return compose.replace('build: .', `build: { context: ., args: { BUILDKIT_SYNTAX: '${frontend}' } }`);
}

testsSideBySide(
  {
    'does not run a frontend that the Dockerfile names': () => isRefused('main'),
    'does not run a frontend that a build argument names': () => isRefused('argument'),
    "reads a fork's Dockerfile with the built-in frontend": () => isBuilt(1),
    "ignores a frontend in a fork's build argument": () => isBuilt(2),
  },
  400_000,
);

async function isRefused(branch: string): Promise<void> {
  const id = await harness.spawn(repository, branch);
  await harness.stalled(id);
  expect(await logOf(harness, id)).toContain('is not an allowed gateway source');
}

async function isBuilt(pullRequest: number): Promise<void> {
  const id = await harness.spawn(repository, '', { gitRef: { name: String(pullRequest), type: 'pull request' } });
  const { weburl } = await harness.built(id);
  await pageWith(weburl, 'read by the built-in frontend');
}
