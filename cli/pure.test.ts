import { describe, expect, test } from '@jest/globals';
import { BlockParser } from './api/events.ts';
import type { RepositorySettingsView } from './api/types.ts';
import { shownSettings } from './commands/repo.ts';
import { originOf } from './config/target.ts';
import { repositoryKey } from './git/checkout.ts';
import { nested } from './nested.ts';
import { age, durationText, seconds } from './output/duration.ts';
import { visible, visibleJson, visibleValue } from './output/safe-text.ts';
import { tableText } from './output/table.ts';
import { distance, nearest } from './suggest.ts';
import { stageText } from './wait/stage-text.ts';

describe('text of others', () => {
  test.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['a title of the window', '\u001b]0;owned\u0007after', 'after'],
    ['a link', '\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\', 'click'],
    ['an answer-back request', 'a\u001b[6nb', 'ab'],
    ['an 8-bit sequence', 'a\u009b2Jb', 'ab'],
    ['a clipboard write', '\u009d52;c;ZXZpbA==\u009c.', '.'],
    ['an unfinished sequence', 'a\u001b', 'a'],
    ['a carriage return', 'progress\rdone', 'progressdone'],
    ['a right-to-left override', 'safe\u202egpj.exe', 'safegpj.exe'],
    ['letters of other scripts', 'Grüße 你好 👩‍💻', 'Grüße 你好 👩‍💻'],
    ['lines', 'a\nb', 'a\nb'],
  ])('is shown without characters that a terminal interprets: %s', (_what, text, shown) =>
    expect(visible(text)).toBe(shown),
  );

  test('keeps its meaning in JSON', () => {
    const value = { a: '\u001b[31m\u009b\u202e', b: ['\n'] };
    const json = visibleJson(JSON.stringify(value, undefined, 2));
    // oxlint-disable-next-line no-control-regex -- these must be absent
    expect(json).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(JSON.parse(json)).toEqual(value);
  });

  test('is cleaned in the values and keys of objects', () => {
    expect(visibleValue({ 'k\u001b[2J': ['\u0007x', 1, null] })).toEqual({ k: ['x', 1, null] });
  });
});

test.each([
  ['90', 90],
  ['10m', 600],
  ['1h30m', 5400],
  ['2d', 172_800],
])('reads the duration %s as %d s', (text, expected) => expect(seconds(text)).toBe(expected));

test.each(['', 'x', '1y', '-5', '1.5h'])('refuses the duration %j', (text) => expect(() => seconds(text)).toThrow());

test.each([
  [0, '0s'],
  [59.6, '1m'],
  [3700, '1h1m'],
  [90_061, '1d1h'],
])('shows %d s as %s', (total, text) => expect(durationText(total)).toBe(text));

test('shows no age without a time', () => expect([age(0, 5000), age(1, 5000)]).toEqual(['-', '4s']));

test('pads columns, and writes each row on one line', () => {
  const columns = [
    { title: 'NAME', value: ({ name }: { name: string }) => name },
    { title: 'SIZE', value: ({ size }: { size?: number }) => size },
  ];
  expect(tableText(columns, [{ name: 'long name', size: 1 }, { name: 'a\nb' }])).toBe(
    'NAME        SIZE\nlong name   1\na b         -\n',
  );
});

describe('settings', () => {
  const settings: RepositorySettingsView = {
    ...{ variables: [], sshPublicKey: '', autoBuild: true, onRefGone: 'delete', sync: { newestTags: 10 } },
    ...{ forks: {}, sleep: {} },
    scheduledRebuild: { mode: 'disabled', hour: '', timeZone: 'UTC' },
    serviceFile: { mode: 'repo', serviceFile: btoa('services: {}') },
    webhook: { url: 'https://x.example', secret: 'the secret', created: true },
  };

  test('show the secret of the webhook on demand only', () => {
    const shown = (showsSecrets: boolean) => shownSettings(settings, { showsSecrets, decodes: true });
    expect(JSON.stringify(shown(false))).not.toContain('the secret');
    expect(shown(false).webhook?.secret).toBe('(hidden)');
    expect(shown(true).webhook).toEqual(settings.webhook);
  });

  test('show the text of the service file, but to programs what the API answers', () => {
    const shown = (decodes: boolean) => shownSettings(settings, { showsSecrets: true, decodes }).serviceFile;
    expect([shown(true).serviceFile, shown(false)]).toEqual(['services: {}', settings.serviceFile]);
  });
});

describe('addresses of a repository', () => {
  const key = 'git.example/acme/shop';
  test.each([
    'https://git.example/acme/shop.git',
    'https://user:secret@git.example/acme/shop/',
    'git@git.example:acme/shop.git',
    'ssh://git@git.example:2222/acme/shop.git',
    'https://GIT.example/Acme/Shop',
  ])('%s is the same repository', (address) => expect(repositoryKey(address)).toBe(key));

  test.each([
    ['https://git.example/acme/shop2', 'another name'],
    ['https://other.example/acme/shop', 'another host'],
    ['https://git.example:8443/acme/shop', 'another port of HTTP'],
  ])('%s is another repository: %s', (address) => expect(repositoryKey(address)).not.toBe(key));

  test('treats both addresses of Azure DevOps as the same', () => {
    expect(repositoryKey('git@ssh.dev.azure.com:v3/acme/web/shop')).toBe(
      repositoryKey('https://acme@dev.azure.com/acme/web/_git/shop'),
    );
  });
});

describe('nearest name', () => {
  test.each([
    ['acme.shop-mian', 'acme.shop-main'],
    ['acme.shopmain', 'acme.shop-main'],
    ['zzz', undefined],
  ])('of %s is %s', (typed, found) => expect(nearest(typed, ['acme.shop-main', 'acme.other'])).toBe(found));
  test('counts a swap as one', () => expect(distance('ab', 'ba')).toBe(1));
});

describe('fields', () => {
  test('become objects, with JSON values', () => {
    expect(nested(['a.b=1', 'a.c=text', 'd=true', 'e=["x"]', 'f=a=b'])).toEqual({
      ...{ a: { b: 1, c: 'text' }, d: true, e: ['x'], f: 'a=b' },
    });
  });
  test('cannot change prototypes', () => {
    const tree = nested(['__proto__.polluted=1']);
    expect('polluted' in {}).toBe(false);
    expect(Object.getPrototypeOf(tree)).not.toHaveProperty('polluted');
  });
  test('refuse a value that is also an object', () => {
    expect(() => nested(['a=1', 'a.b=1'])).toThrow('a.b and a are both set');
    expect(() => nested(['a.b=1', 'a=1'])).toThrow('a.* and a are both set');
  });
});

test.each([
  ['coppice.example.com', 'https://coppice.example.com'],
  ['http://localhost:8080/panel', 'http://localhost:8080'],
])('takes %s as the server %s', (text, origin) => expect(originOf(text)).toBe(origin));
test.each(['ftp://x', 'https://u:p@x', 'https://', 'javascript://x'])('refuses the server %s', (text) =>
  expect(() => originOf(text)).toThrow(),
);

test('splits events wherever the text is cut', () => {
  const stream = 'event: change\ndata: {"a":1}\n\n: heartbeat\nid: 7\n\n';
  for (let at = 0; at <= stream.length; at++) {
    const parser = new BlockParser();
    const found = [...parser.push(stream.slice(0, at)), ...parser.push(stream.slice(at))];
    expect(found).toEqual([
      { event: 'change', data: '{"a":1}' },
      { event: '', data: '', id: '7' },
    ]);
  }
});

test('says in which stage a build is', () => {
  const services = { ready: 1, total: 3, restarts: 0 };
  const base = { id: 'acme.shop-main', status: 'building' as const, health: 'progressing' as const, services };
  const stages = [
    { name: 'build' as const, startedAt: 1, duration: 2 },
    { name: 'rollout' as const, startedAt: 3 },
  ];
  expect(stageText({ ...base, build: { number: 4, result: 'running', stages } })).toBe(
    'acme.shop-main: build 4 starts services, 1 of 3 ready',
  );
  const problem = { reason: 'WaitingForBuilder', message: 'all are in use', since: 0 };
  expect(stageText({ ...base, problem, build: { result: 'pending' } })).toBe(
    'acme.shop-main: build waits (WaitingForBuilder: all are in use)',
  );
  expect(stageText({ ...base, problem, health: 'failed', build: { number: 4, result: 'failed' } })).toBe(
    'acme.shop-main: build 4 failed (WaitingForBuilder)',
  );
});
