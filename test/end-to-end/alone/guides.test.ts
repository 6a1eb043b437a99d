import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { userName } from '../../../api/user-records/user-record.ts';
import { PROGRAMS_FOLDER, REPOSITORY_ROOT } from '../../support/paths.ts';
import { run } from '../../support/run.ts';
import { waitFor } from '../../support/wait-for.ts';
import { GUIDES, scriptOf } from '../../docs/guides.ts';
import { startHarness, type Harness } from '../harness.ts';

/** The group, repository and environment that the guides name. */
const group = 'acme';
const repository = `${group}.shop`;
const environment = `${repository}-main`;
/** The user whom a guide invites. */
const invited = 'bob@example.com';

/** Guides are followed in a clone of the repository with two commits on its branch, so that it can be reset. */
const cloneWithTwoCommits = `
git clone --quiet --branch main "$origin" .
git config user.name Ada && git config user.email ada@example.com
echo 'The next shop' > web/title.txt && git commit --quiet --all --message 'Next' && git push --quiet origin main`;

let harness: Harness;
let folder: string;
let variables: Record<string, string>;

async function removeInvited(): Promise<void> {
  const secret = ['delete', 'secret', userName(invited), '--namespace', 'coppice-users', '--ignore-not-found'];
  await harness.kubectl(['delete', 'groups.coppice.dev', 'bob', '--ignore-not-found', '--timeout=90s'], {
    deadline: 100,
  });
  await harness.kubectl(secret);
}

beforeAll(async () => {
  harness = await startHarness('guides');
  const { client, connection } = harness;
  await harness.kubectl(['delete', 'groups.coppice.dev', group, '--ignore-not-found', '--timeout=120s'], {
    deadline: 130,
  });
  await removeInvited();
  await harness.addGroup(group);
  const origin = await harness.push('shop', 'main');
  await waitFor('the group to be set up', 60, async () => {
    const body = { name: 'shop', type: 'generic', params: { origin } };
    const { status, text } = await client.send('POST', `/api/group/${group}`, body);
    if (status === 201) return true;
    if (status === 503) return undefined;
    throw new Error(text);
  });
  await harness.spawn(repository, 'main');
  await harness.built(environment);
  folder = mkdtempSync(join(tmpdir(), 'guides-'));
  await run('sh', ['-eu', '-c', cloneWithTwoCommits], { cwd: folder, env: { origin } });
  variables = {
    PATH: `${PROGRAMS_FOLDER}:${process.env['PATH'] ?? ''}`,
    KUBECONFIG: connection.kubeconfig,
    api: `${connection.apiUrl}/api`,
    auth: `X-SERVICE-TOKEN: ${client.token ?? ''}`,
    PASSWORD: 'simulated',
  };
}, 300_000);

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await harness.kubectl(['delete', 'groups.coppice.dev', 'globex', '--ignore-not-found', '--wait=false']);
  await removeInvited();
  await harness.remove();
}, 200_000);

test.each(GUIDES)(
  'runs %s from its first line to its last',
  async (page) => {
    const script = scriptOf(readFileSync(join(REPOSITORY_ROOT, page), 'utf8'));
    expect(script).not.toBe('');
    // curl exits with 0 after an error response of the API; the body contains the error.
    const printed = await run('sh', ['-eu', '-c', script], { cwd: folder, env: variables, deadline: 280 });
    expect(printed).not.toMatch(/"error":/);
  },
  300_000,
);
