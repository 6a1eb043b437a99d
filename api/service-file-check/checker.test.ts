import { expect, jest, test } from '@jest/globals';
import { Invalid, Unavailable } from '../http/errors.ts';
import type { CheckInput, CheckResult } from './check.ts';
import { ServiceFileChecker } from './checker.ts';

/** Each starts a thread, which takes its time on a busy machine. */
jest.setTimeout(60_000);

const input = (serviceFile: string, rest: Partial<CheckInput> = {}): CheckInput => ({
  mode: 'repo',
  serviceFile,
  files: {},
  variables: [],
  ...rest,
});
const check = (...given: Parameters<typeof input>) => new ServiceFileChecker().check('ann', input(...given));
const names = ({ services }: CheckResult) => services.map(({ name }) => name);
const base64 = (text: string) => Buffer.from(text).toString('base64');

test('the services of a file that Coppice would run, and its warnings', async () => {
  const result = await check('services: { web: { image: a, container_name: b }, db: { image: c } }');
  expect(names(result)).toEqual(['db', 'web']);
  expect(result.services).toMatchObject([{ image: 'c' }, { image: 'a' }]);
  expect(result.errors).toEqual([]);
  expect(result.warnings).toContainEqual(
    expect.objectContaining({ file: 'compose.yaml', path: 'services.web.container_name', line: 1 }),
  );
});

test('what is wrong, with its place', async () => {
  const { services, errors } = await check('services:\n  web: { image: a, privileged: true }\n');
  expect(services).toEqual([]);
  expect(errors).toMatchObject([{ file: 'compose.yaml', path: 'services.web.privileged', line: 2 }]);
});

test('variables and files of the repository come along; no answer repeats a value', async () => {
  const file = 'services: { web: { image: "a:${TAG}", env_file: web.env } }';
  const files = { 'web.env': base64('A=1\n') };
  const variables: CheckInput['variables'] = [['TAG', { value: 'hunter2 2', visibility: 'always' }]];
  const result = await check(file, { files, variables });
  expect(result.errors).toHaveLength(1);
  expect(JSON.stringify(result)).not.toContain('hunter2');
  expect((await check(file.replace('${TAG}', '1'), { files })).errors).toEqual([]);
  expect((await check(file.replace('${TAG}', '1'))).errors).toHaveLength(1);
});

test('settings merged over the file of the repository', async () => {
  const files = { 'compose.yaml': base64('services: { web: { image: a } }') };
  const settings = 'services: { db: { image: b } }';
  expect(names(await check(settings, { mode: 'both', files }))).toEqual(['db', 'web']);
  expect(names(await check(settings, { mode: 'panel', files }))).toEqual(['db']);
});

test('one that takes too long is ended, and refused', async () => {
  const slow = new ServiceFileChecker(1).check('ann', input('services: {}'));
  await expect(slow).rejects.toBeInstanceOf(Invalid);
});

test('a thread that cannot be started takes no place from the next', async () => {
  const checker = new ServiceFileChecker();
  const notCloneable = input('services: {}', {
    variables: [['A', { value: (() => '') as never, visibility: 'always' }]],
  });
  for (let i = 0; i < 4; i++) await expect(checker.check('ann', notCloneable)).rejects.toThrow('could not be cloned');
  expect((await checker.check('ann', input('services: { web: { image: a } }'))).errors).toEqual([]);
});

const refusals = (answers: PromiseSettledResult<CheckResult>[]) =>
  answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));

test('so many at once; then 503', async () => {
  const checker = new ServiceFileChecker();
  const users = ['ann', 'ben', 'cem', 'dan', 'eve', 'fay'];
  const answers = await Promise.allSettled(users.map((user) => checker.check(user, input('services: {}'))));
  expect(refusals(answers)).toEqual([expect.any(Unavailable), expect.any(Unavailable)]);
  await checker.check('ann', input('services: {}'));
});

test('one at once of a user, so that places are left for others', async () => {
  const checker = new ServiceFileChecker();
  const users = ['ann', 'ann', 'ann', 'ann', 'ben'];
  const answers = await Promise.allSettled(users.map((user) => checker.check(user, input('services: {}'))));
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled']);
  expect(refusals(answers)).toEqual(
    Array(3).fill(expect.objectContaining({ message: expect.stringContaining('yours') })),
  );
  await checker.check('ann', input('services: {}'));
});
