import { afterAll, beforeAll, expect } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import { REPOSITORY_TYPES, type RepositoryType } from '../../../crds/repository-source.ts';
import { send } from '../../client/local-http.ts';
import { waitFor } from '../../support/wait-for.ts';
import { KINDS, type KindName } from '../../git-hosts/kind.ts';
import { randomName, startHarness, type Harness } from '../harness.ts';
import { testsSideBySide } from '../side-by-side.ts';
import { adminOf, HOSTED } from '../test-hosts.ts';

/**
 * What cannot be used is refused with the same message through the REST API, which leaves nothing behind, and by a
 * condition for kubectl.
 */

const groupSchema = z.looseObject({ repositories: z.array(z.looseObject({ name: z.string() })) });
const refusalSchema = z.object({ error: z.string(), details: z.tuple([z.looseObject({ message: z.string() })]) });

const token = 'a-token-that-is-right';
const wrong = 'a-token-that-is-wrong';
let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('refused');
  await harness.kubectl(['wait', `groups.coppice.dev/${harness.group}`, '--for=condition=Ready', '--timeout=60s']);
}, 90_000);

afterAll(() => harness.remove(), 180_000);

interface Branch {
  params: Record<string, string>;
  /** The Repository's source, and its Secret. */
  source: Record<string, string>;
  secret: Record<string, string>;
  remove: () => Promise<unknown>;
}

type What = 'a wrong token' | 'a repository that is not there' | 'a host that is silent';

async function makeRoom(type: RepositoryType, what: What): Promise<Branch> {
  const owner = randomName('owner');
  const isMissing = what === 'a repository that is not there';
  const given = what === 'a wrong token' ? wrong : token;
  if (type === 'generic') {
    const repositories = `${harness.connection.gitUrl}/admin/repositories`;
    const secret = { username: 'reader', password: given };
    await send(`${repositories}/${owner}/shop`, {
      method: 'PUT',
      body: JSON.stringify({ username: 'reader', password: token }),
    });
    const origin = `${harness.connection.gitUrl}/${owner}/${isMissing ? 'nothing' : 'shop'}.git`;
    const remove = () => send(`${repositories}/${owner}/shop`, { method: 'DELETE' });
    return { params: { origin, ...secret }, source: { origin }, secret, remove };
  }
  const admin = adminOf(type);
  const path = HOSTED[type].path(owner);
  await admin.put(path, { tokens: { [token]: [] } });
  if (what === 'a host that is silent') await admin.setFaults(path, [{ match: '.', answer: 'hang' }]);
  const params = HOSTED[type].params(isMissing ? `${owner}-not` : owner, given);
  const isSource = ([name, value]: [string, string]) => value !== '' && name !== 'token' && name !== 'accessToken';
  const source = Object.fromEntries(Object.entries(params).filter(isSource));
  return { params, source, secret: { token: given }, remove: () => admin.remove(path) };
}

/** Returns the message of the 422, and checks that nothing is left. */
async function refusedByRest(type: RepositoryType, { params }: Branch): Promise<string> {
  const name = randomName(type);
  const answer = await harness.client.send('POST', `/api/group/${harness.group}`, { name, type, params });
  expect(answer.status).toBe(422);
  // The operator still waits for a host that hangs, and then releases the object.
  await waitFor(`${name} to be gone`, 60, async () => {
    const { repositories } = await harness.client.call(groupSchema, 'GET', `/api/group/${harness.group}`);
    return repositories.some((one) => one.name === name) ? undefined : true;
  });
  await waitFor(`the Secret of ${name} to be gone`, 30, async () => {
    const secrets = await harness.kubectl(['get', 'secrets', '-n', `group-${harness.group}`, '-o', 'name']);
    return secrets.includes(name) ? undefined : true;
  });
  return refusalSchema.parse(JSON.parse(answer.text)).details[0].message;
}

/** Returns the message of the condition. */
async function refusedByKubectl(type: RepositoryType, { source, secret }: Branch): Promise<string> {
  const metadata = { name: randomName(type), namespace: `group-${harness.group}` };
  const objects = [
    { apiVersion: 'v1', kind: 'Secret', metadata, stringData: secret },
    {
      apiVersion: 'coppice.dev/v1alpha1',
      kind: 'Repository',
      metadata,
      spec: { type, [type]: { ...source, credentialsSecret: metadata.name } },
    },
  ];
  await harness.kubectl(['apply', '-f', '-'], { input: objects.map((one) => stringify(one)).join('---\n') });
  const at = [`repositories.coppice.dev/${metadata.name}`, '-n', metadata.namespace];
  await harness.kubectl(['wait', ...at, '--for=condition=Stalled', '--timeout=45s']);
  const message = '{.status.conditions[?(@.type=="Stalled")].message}';
  return harness.kubectl(['get', ...at, '-o', `jsonpath=${message}`]);
}

async function refusedAlike(type: RepositoryType, what: What, words: RegExp): Promise<void> {
  const location = await makeRoom(type, what);
  const [rest, kubectl] = await Promise.all([refusedByRest(type, location), refusedByKubectl(type, location)]);
  expect(rest).toMatch(words);
  expect(rest).not.toContain(wrong);
  expect(kubectl).toBe(rest);
  await location.remove();
}

async function silent(kind: KindName): Promise<void> {
  const location = await makeRoom(kind, 'a host that is silent');
  expect(await refusedByRest(kind, location)).toMatch(
    /did not respond (within \d+ s\. Check the address|in time\. Coppice retries this)/,
  );
  await location.remove();
}

const missing = /not found|no .*repository|is not there|cannot be found|does not exist/i;
const atOnce = (tests: [string, () => Promise<void>][]) => testsSideBySide(Object.fromEntries(tests), 120_000);
atOnce(
  REPOSITORY_TYPES.flatMap((type) => [
    [`${type}: a wrong token`, () => refusedAlike(type, 'a wrong token', /token|user ?name|credentials/i)],
    [`${type}: no such repository`, () => refusedAlike(type, 'a repository that is not there', missing)],
  ]),
);
// Hosts that hang use up the group's share of the operator's workers, so that its other Repositories would wait.
atOnce(KINDS.map((kind) => [`${kind}: silent`, () => silent(kind)]));
