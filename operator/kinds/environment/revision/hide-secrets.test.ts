import { expect, test } from '@jest/globals';
import { sampleService } from '../../../services/objects/testing/sample-context.ts';
import { hideSecrets } from './hide-secrets.ts';

const key = Buffer.from('key');
const times = { intervalSeconds: 1, timeoutSeconds: 1, retries: 1, startPeriodSeconds: 0 };
const hiddenIn = (given: Parameters<typeof sampleService>[0], secrets = ['hunter2']) =>
  hideSecrets([sampleService(given)], secrets, key).hidden['api']?.variables;

test.each<[string, Parameters<typeof sampleService>[0], Record<string, string> | undefined]>([
  ['nothing secret', { environment: { MODE: 'test' }, command: ['run'] }, undefined],
  ['a variable', { environment: { PASSWORD: 'hunter2', MODE: 'test' } }, { PASSWORD: 'hunter2' }],
  ['a variable that contains one', { environment: { URL: 'pg://u:hunter2@db' } }, { URL: 'pg://u:hunter2@db' }],
  ['a word of the entrypoint', { entrypoint: ['serve', '-p=hunter2'] }, { COPPICE_SECRET_1: '-p=hunter2' }],
  ['a word that a variable has too', { environment: { P: 'hunter2' }, command: ['hunter2'] }, { P: 'hunter2' }],
  [
    'a word that a variable has under a name no shell expands',
    { environment: { 'p.q': 'hunter2' }, command: ['hunter2'] },
    { 'p.q': 'hunter2', COPPICE_SECRET_1: 'hunter2' },
  ],
  [
    'a name that already exists',
    { environment: { COPPICE_SECRET_1: 'mine' }, command: ['hunter2'] },
    { COPPICE_SECRET_2: 'hunter2' },
  ],
  [
    'a health check',
    { healthcheck: { command: ['/bin/sh', '-c', 'check hunter2'], ...times } },
    { COPPICE_SECRET_1: 'check hunter2' },
  ],
])('hides %s', (_what, given, expected) => {
  expect(hiddenIn(given)).toEqual(expected);
});

test('hides all words that a secret was split into', () => {
  expect(hiddenIn({ command: ['serve', '', 'correct', 'horse'] }, [' correct "horse"\n'])).toEqual({
    COPPICE_SECRET_1: 'serve',
    COPPICE_SECRET_2: 'correct',
    COPPICE_SECRET_3: 'horse',
  });
});

test('refuses a command with many secret words, and handles many others quickly', () => {
  const words = (count: number) => Array.from({ length: count }, (_, index) => `a${index}`);
  expect(() => hiddenIn({ command: words(201) }, ['a'])).toThrow('more than 200 words that contain a secret');
  const start = performance.now();
  const secrets = Array.from({ length: 700 }, (_, index) => `secret${index}`);
  expect(Object.keys(hiddenIn({ command: [...words(100_000), 'secret7'] }, secrets) ?? {})).toHaveLength(1);
  expect(performance.now() - start).toBeLessThan(2000);
});

test('searches long secrets in a time that no choice of their characters prolongs', () => {
  const secrets = Array.from({ length: 8 }, (_, index) => `${'a'.repeat(16_000)}b${index}${'a'.repeat(16_000)}`);
  const text = 'a'.repeat(250 * 1024);
  const start = process.cpuUsage();
  expect(hiddenIn({ environment: { A: text, B: `${text}${secrets[3] ?? ''}` } }, secrets)).toEqual({
    B: `${text}${secrets[3] ?? ''}`,
  });
  expect(process.cpuUsage(start).user).toBeLessThan(2_000_000);
});

test('finds secrets beyond ASCII', () => {
  expect(hiddenIn({ environment: { A: 'ein Pässwört!', B: 'ein P' } }, ['Pässwört'])).toEqual({ A: 'ein Pässwört!' });
});

test('ignores a secret that is empty or consists of spaces', () => {
  expect(hiddenIn({ environment: { A: '', B: ' ' }, command: ['run'] }, ['', ' '])).toBeUndefined();
});

test('omits labels that contain a secret, because they become annotations', () => {
  const given = sampleService({ labels: { auth: 'u:hunter2', hunter2: 'x', kept: 'y' } });
  const { services, warnings } = hideSecrets([given, sampleService({ name: 'web' })], ['hunter2'], key);
  expect(services.map(({ labels }) => labels)).toEqual([{ kept: 'y' }, {}]);
  expect(warnings).toEqual(['services.api.labels: those that contain a secret are left out']);
});

test('names the Secret by its values, service and keys', () => {
  const name = (value: string, service = 'api', hashKey = key) =>
    hideSecrets([sampleService({ name: service, environment: { P: value } })], [value], hashKey).hidden[service]
      ?.secret;
  expect(name('hunter2')).toBe(name('hunter2'));
  const other = [name('hunter3'), name('hunter2', 'web'), name('hunter2', 'api', Buffer.from('other'))];
  expect(new Set([name('hunter2'), ...other]).size).toBe(4);
  expect(name('hunter2', 'a'.repeat(63))?.length).toBeLessThanOrEqual(63);
});
