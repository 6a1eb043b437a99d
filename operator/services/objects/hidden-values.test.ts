import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { container } from './container.ts';
import { checkWords, expandedWords, type HiddenValues } from './hidden-values.ts';
import { jobName } from './job.ts';
import { podTemplate } from './pod-template.ts';
import { sampleContext, sampleService } from './testing/sample-context.ts';

const hidden: HiddenValues = {
  secret: 'values-api-1',
  variables: { PASSWORD: 'hunter2', 'dotted.name': 'hunter2', COPPICE_SECRET_1: '--password=hunter2' },
};
const service = sampleService({
  environment: { PASSWORD: 'hunter2', MODE: '$(PASSWORD)', 'dotted.name': 'hunter2' },
  entrypoint: ['serve', '--password=hunter2'],
  command: ['hunter2', '$(PASSWORD) $$'],
  healthcheck: {
    command: ['/bin/sh', '-c', '--password=hunter2'],
    ...{ intervalSeconds: 1, timeoutSeconds: 1, retries: 1, startPeriodSeconds: 0 },
  },
});
const context = sampleContext({ services: [service] }, { hidden: new Map([['api', hidden]]) });
const reference = (key: string) => ({
  name: key,
  valueFrom: { secretKeyRef: { name: 'values-api-1', key } },
});

test('takes hidden texts from the Secret, so that the pod does not show them', () => {
  expect(container(context, service)).toMatchObject({
    command: ['serve', '$(COPPICE_SECRET_1)'],
    args: ['$(PASSWORD)', '$$(PASSWORD) $$$$'],
    env: [
      reference('PASSWORD'),
      { name: 'MODE', value: '$$(PASSWORD)' },
      reference('dotted.name'),
      reference('COPPICE_SECRET_1'),
    ],
  });
  expect(JSON.stringify(podTemplate(context, service, { drainSeconds: 3 }))).not.toContain('hunter2');
});

test('leaves a container without hidden texts unchanged', () => {
  const plain = sampleContext({ services: [service] });
  expect(container(plain, service)).toMatchObject({
    command: ['serve', '--password=hunter2'],
    env: [{ name: 'PASSWORD', value: 'hunter2' }, { name: 'MODE', value: '$$(PASSWORD)' }, { name: 'dotted.name' }],
  });
  expect(expandedWords(['a$b'], undefined)).toEqual(['a$$b']);
});

describe('a health check, in which the kubelet expands nothing from a Secret,', () => {
  /** Runs the words as the kubelet does: `$$` becomes `$`, and the container's variables are set. */
  const run = (words: readonly string[], variables: HiddenValues['variables']): string => {
    const [program = '', ...rest] = checkWords(words, { secret: 's', variables }).map((word) =>
      word.replaceAll('$$', '$'),
    );
    return execFileSync(program, rest, { env: { ...process.env, ...variables }, encoding: 'utf8' });
  };

  test.each([
    [['printf', '%s|', 'it\'s "$HOME" `x` $(y) \\', "hunter2 '$A'"], { COPPICE_SECRET_1: "hunter2 '$A'" }],
    [['printf', '%s|', '', 'a  b\nc', '*'], { COPPICE_SECRET_1: 'a  b\nc' }],
  ])('runs %j with exactly these words', (words, variables) => {
    expect(run(words, variables)).toBe(
      words
        .slice(2)
        .map((word) => `${word}|`)
        .join(''),
    );
  });

  test('runs a line for the shell in that shell', () => {
    const line = 'pw=hunter2; printf "<%s>" "$pw"';
    expect(run(['/bin/sh', '-c', line], { COPPICE_SECRET_1: line })).toBe('<hunter2>');
  });

  test('needs no shell without a hidden word', () => {
    expect(checkWords(['/check', '$(A)'], hidden)).toEqual(['/check', '$$(A)']);
  });
});

test('names a job by the Secret of its hidden values only', () => {
  const name = (secret: string, variables = hidden.variables) =>
    jobName({ ...context, hidden: new Map([['api', { secret, variables }]]) }, service);
  expect(name('values-api-1')).toBe(name('values-api-1'));
  expect(name('values-api-2')).not.toBe(name('values-api-1'));
  const other = { ...service, environment: { ...service.environment, PASSWORD: 'hunter3' } };
  expect(jobName(context, other)).toBe(jobName(context, service));
});

describe('the variables that Coppice sets', () => {
  const own = { COPPICE_BRANCH: '$(PASSWORD)`a`"', COPPICE_TAG: '' };

  test('come first, literally, and each once', () => {
    const named = sampleService({ environment: { COPPICE_TAG: '', MODE: 'a' } });
    expect(container(sampleContext({ services: [named] }, { own }), named).env).toEqual([
      { name: 'COPPICE_BRANCH', value: '$$(PASSWORD)`a`"' },
      { name: 'COPPICE_TAG' },
      { name: 'MODE', value: 'a' },
    ]);
  });

  test('are absent from services that an older Coppice planned, so that an upgrade replaces no pod', () => {
    expect(container(context, service).env).toHaveLength(4);
  });

  test('do not decide whether a job runs again', () => {
    const withOwn = sampleContext({ services: [service] }, { own });
    expect(jobName(withOwn, service)).toBe(jobName(sampleContext({ services: [service] }), service));
  });
});
