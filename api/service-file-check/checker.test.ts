import { Worker } from 'node:worker_threads';
import { expect, test } from '@jest/globals';
import { Invalid, TooManyRequests, Unavailable } from '../shared/errors.ts';
import type { CheckInput, CheckResult } from './check.ts';
import { lateness, ServiceFileChecker, usageOf } from './checker.ts';

/** Each test starts threads, which is slow on a busy machine, so only tests of a deadline have a short one. */
const patient = { deadlineMs: 60_000, queueDeadlineMs: 60_000 };

const metrics = { refused: () => undefined };

const input = (serviceFile: string, rest: Partial<CheckInput> = {}): CheckInput => ({
  mode: 'repo',
  serviceFile,
  files: {},
  variables: [],
  ...rest,
});
const check = (...given: Parameters<typeof input>) =>
  new ServiceFileChecker(metrics, patient).check('ann', input(...given));
const names = ({ services }: CheckResult) => services.map(({ name }) => name);
const base64 = (text: string) => Buffer.from(text).toString('base64');

test('returns the services that Coppice would run, and warnings', async () => {
  const result = await check('services: { web: { image: a, container_name: b }, db: { image: c } }');
  expect(names(result)).toEqual(['db', 'web']);
  expect(result.services).toMatchObject([{ image: 'c' }, { image: 'a' }]);
  expect(result.errors).toEqual([]);
  expect(result.warnings).toContainEqual(
    expect.objectContaining({ file: 'compose.yaml', path: 'services.web.container_name', line: 1 }),
  );
});

test('returns errors with their positions', async () => {
  const { services, errors } = await check('services:\n  web: { image: a, privileged: true }\n');
  expect(services).toEqual([]);
  expect(errors).toMatchObject([{ file: 'compose.yaml', path: 'services.web.privileged', line: 2 }]);
});

test('reads variables and files of the repository, and repeats no value in responses', async () => {
  const file = 'services: { web: { image: "a:${TAG}", env_file: web.env } }';
  const files = { 'web.env': base64('A=1\n') };
  const variables: CheckInput['variables'] = [['TAG', { value: 'hunter2 2', visibility: 'always' }]];
  const result = await check(file, { files, variables });
  expect(result.errors).toHaveLength(1);
  expect(JSON.stringify(result)).not.toContain('hunter2');
  expect((await check(file.replace('${TAG}', '1'), { files })).errors).toEqual([]);
  expect((await check(file.replace('${TAG}', '1'))).errors).toHaveLength(1);
});

test('knows the variables that Coppice sets, with values of the repository', async () => {
  const repository = {
    id: { group: 'acme', name: 'shop' },
    environmentsUrl: 'http://env.localhost:8080/',
    registry: 'registry:5000',
  };
  const environment = '[COPPICE_COMMIT, COPPICE_GROUP, "A=${COPPICE_BUILD}", COPPICE_WEB_URL, COPPICE_REGISTRY]';
  const file = `services: { web: { image: a, ports: ["80"], environment: ${environment} } }`;
  const { services, warnings, errors } = await check(file, { repository });
  expect([warnings, errors]).toEqual([[], []]);
  expect(services[0]?.environment).toEqual({
    A: '1',
    COPPICE_COMMIT: '0'.repeat(40),
    COPPICE_GROUP: 'acme',
    COPPICE_REGISTRY: 'registry:5000',
    COPPICE_WEB_URL: 'http://shop-main--acme.env.localhost:8080',
  });
  const refused = await check('services: { web: { image: a, environment: { COPPICE_GROUP: b } } }', { repository });
  expect(refused.errors).toMatchObject([{ path: 'services.web.environment.COPPICE_GROUP', line: 1 }]);
});

test('merges the settings over the file of the repository', async () => {
  const files = { 'compose.yaml': base64('services: { web: { image: a } }') };
  const settings = 'services: { db: { image: b } }';
  expect(names(await check(settings, { mode: 'both', files }))).toEqual(['db', 'web']);
  expect(names(await check(settings, { mode: 'panel', files }))).toEqual(['db']);
});

test('ends and refuses a check that takes too long', async () => {
  // Within the limit of a file's size, beyond which a check ends as soon as its thread has started.
  const services = Array.from({ length: 1000 }, (_, index) => `s${index}: { image: "a:${'x'.repeat(100)}" }`);
  const file = `services: { ${services.join(', ')} }`;
  const slow = new ServiceFileChecker(metrics, { ...patient, deadlineMs: 200 }).check('ann', input(file));
  const reason: unknown = await slow.catch((error: unknown) => error);
  // Which of the two depends on how busy this machine is.
  expect(reason instanceof Invalid || reason instanceof Unavailable).toBe(true);
});

test('a thread that has not started yet has used no processor time', async () => {
  const worker = new Worker('', { eval: true });
  await expect(usageOf(worker)).resolves.toEqual({ user: 0, system: 0 });
  await worker.terminate();
});

test.each([
  ['ran all the time', { user: 4_500_000, system: 500_000 }, Invalid],
  ['had to wait for the processor', { user: 2_000_000, system: 400_000 }, Unavailable],
])('says whose fault it is that a thread that %s is late', (_name, used, expected) => {
  expect(lateness(5_000, used)).toBeInstanceOf(expected);
});

test('frees the slot of a thread that cannot be started', async () => {
  const checker = new ServiceFileChecker(metrics, patient);
  const notCloneable = input('services: {}', {
    variables: [['A', { value: (() => '') as never, visibility: 'always' }]],
  });
  for (let i = 0; i < 4; i++) await expect(checker.check('ann', notCloneable)).rejects.toThrow('could not be cloned');
  expect((await checker.check('ann', input('services: { web: { image: a } }'))).errors).toEqual([]);
});

const refusals = (answers: PromiseSettledResult<CheckResult>[]) =>
  answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));

const statusesOf = (answers: PromiseSettledResult<CheckResult>[]) => answers.map(({ status }) => status);

test('queues the requests of all accounts for one thread, and answers all', async () => {
  const checker = new ServiceFileChecker(metrics, patient);
  const users = ['ann', 'ben', 'cem', 'dan', 'eve', 'fay'];
  const answers = await Promise.allSettled(users.map((user) => checker.check(user, input('services: {}'))));
  expect(statusesOf(answers)).toEqual(Array(6).fill('fulfilled'));
});

test('accounts share the queue fairly: one request does not wait for all of another account', async () => {
  const checker = new ServiceFileChecker(metrics, patient);
  const done: string[] = [];
  const check = async (user: string) => {
    await checker.check(user, input('services: {}'));
    done.push(user);
  };
  await Promise.all(['ann', 'ann', 'ann', 'ann', 'ben'].map(check));
  expect(done).toEqual(['ann', 'ann', 'ben', 'ann', 'ann']);
});

test('refuses more than four requests of an account with 429, and counts them', async () => {
  const refused: string[] = [];
  const checker = new ServiceFileChecker({ refused: (limit) => void refused.push(limit) }, patient);
  const users = ['ann', 'ann', 'ann', 'ann', 'ann', 'ben'];
  const answers = await Promise.allSettled(users.map((user) => checker.check(user, input('services: {}'))));
  expect(statusesOf(answers)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(refusals(answers)).toEqual([expect.any(TooManyRequests)]);
  expect(refusals(answers)).toMatchObject([{ headers: { 'Retry-After': '2' } }]);
  expect(refused).toEqual(['checks']);
  await checker.check('ann', input('services: {}'));
});

test('refuses a request that waits too long with 503, and continues with others', async () => {
  const checker = new ServiceFileChecker(metrics, { ...patient, queueDeadlineMs: 1 });
  const answers = await Promise.allSettled(['ann', 'ben'].map((user) => checker.check(user, input('services: {}'))));
  expect(statusesOf(answers)).toEqual(['fulfilled', 'rejected']);
  expect(refusals(answers)).toEqual([expect.any(Unavailable)]);
  await checker.check('ben', input('services: {}'));
});

test('queues at most 64 requests', async () => {
  const checker = new ServiceFileChecker(metrics, { ...patient, queueDeadlineMs: 50 });
  const users = Array.from({ length: 66 }, (_, index) => `user-${index}`);
  const answers = await Promise.allSettled(users.map((user) => checker.check(user, input('services: {}'))));
  const messages = refusals(answers).map((error) => (error instanceof Error ? error.message : ''));
  expect(messages.filter((message) => message.startsWith('too many service files'))).toHaveLength(1);
});
