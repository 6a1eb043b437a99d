import { describe, expect, test } from '@jest/globals';
import { GROUP_VERSION } from '../../crds/api-group.ts';
import type { Environment } from '../../crds/environment.ts';
import { sampleActivation } from '../../crds/testing/activation.ts';
import type { Pod } from '../../kubernetes/resource-type.ts';
import { refusalOf } from './admission.ts';
import { clientMessage } from './client-message.ts';
import { outcomeOf } from './outcome.ts';
import { execProtocol, forwardProtocol } from './pod-protocol.ts';
import { servicePod } from './service-pod.ts';

describe('whether members can connect', () => {
  type Ref = Environment['spec']['gitRef'];
  const branch: Ref = { type: 'branch', name: 'main' };
  const pullRequest: Ref = { type: 'pull request', name: '7' };
  const trusted = (status: 'True' | 'False') => [
    { type: 'Trusted', status, reason: 'x', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  const on = { isEnabled: true, allowsForks: false };
  const of = (gitRef: Ref, status: Environment['status'] = {}): Environment => ({
    ...{ apiVersion: GROUP_VERSION, kind: 'Environment', metadata: { name: 'x' } },
    spec: { repository: 'shop', gitRef, active: true, buildOnCreate: true },
    status: { state: 'built', ...status },
  });

  test.each<[string, Environment, typeof on, number | undefined]>([
    ['a branch', of(branch), on, undefined],
    ['nothing while it is turned off', of(branch), { ...on, isEnabled: false }, 403],
    ['a pull request of the repository itself', of(pullRequest, { conditions: trusted('True') }), on, undefined],
    ['no fork', of(pullRequest, { conditions: trusted('False') }), on, 403],
    ['no pull request of unknown origin', of(pullRequest), on, 403],
    ['a fork if the installation permits it', of(pullRequest), { ...on, allowsForks: true }, undefined],
    ['no environment without contents', of(branch, { state: 'empty' }), on, 409],
    [
      'no environment whose contents are being deleted',
      of(branch, { activation: sampleActivation({ active: false }) }),
      on,
      409,
    ],
  ])('%s', (_what, environment, settings, status) => {
    expect(refusalOf(environment, settings)?.status).toBe(status);
  });
});

describe('the pod of a service', () => {
  const pod = (
    name: string,
    more: { ready?: boolean; at?: number; running?: boolean; deleted?: boolean } = {},
  ): Pod => {
    const { ready = true, at = 0, running = true, deleted = false } = more;
    const creationTimestamp = new Date(at * 1000).toISOString();
    return {
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: { name, creationTimestamp, ...(deleted && { deletionTimestamp: creationTimestamp }) },
      status: {
        conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
        containerStatuses: [
          { ...{ name: 'web', image: '', imageID: '', ready, restartCount: 0 }, state: running ? { running: {} } : {} },
        ],
      },
    };
  };

  test.each<[string, Pod[], string]>([
    ['is the only one', [pod('a')], 'a'],
    ['is the newest of several', [pod('a', { at: 1 }), pod('b', { at: 3 }), pod('c', { at: 2 })], 'b'],
    ['is ready if one is', [pod('a'), pod('b', { at: 9, ready: false })], 'a'],
    ['may not be ready if none is', [pod('a', { ready: false })], 'a'],
    ['runs', [pod('a', { running: false, at: 9 }), pod('b')], 'b'],
    ['is not being deleted', [pod('a', { deleted: true, at: 9 }), pod('b')], 'b'],
  ])('%s', (_what, pods, name) => expect(servicePod(pods, 'web')).toBe(name));

  test('can be named', () => {
    expect(servicePod([pod('a'), pod('b', { at: 1 })], 'web', 'a')).toBe('a');
    expect(() => servicePod([pod('a'), pod('b')], 'web', 'c')).toThrow(
      'no pod c of the service web runs. These do: a, b',
    );
  });

  test('is missing while none runs', () => {
    expect(() => servicePod([pod('a', { running: false })], 'web')).toThrow('no pod of the service web runs now');
    expect(() => servicePod([], 'web', 'a')).toThrow('These do: none');
  });
});

describe('the outcome of a command', () => {
  const failure = (status: object) => JSON.stringify({ status: 'Failure', ...status });
  const exit = (code: string) => ({
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: code }] },
  });
  test.each<[string, string, unknown]>([
    ['success', JSON.stringify({ status: 'Success' }), { exit: { code: 0 } }],
    ['its exit code', failure(exit('137')), { exit: { code: 137 } }],
    [
      'no exit code that is not one',
      failure({ ...exit('x'), message: 'odd' }),
      failed('the command could not be run: odd'),
    ],
    [
      'an image without a shell',
      failure({
        message: 'OCI runtime exec failed: exec: "sh": executable file not found in $PATH: unknown',
        details: { causes: [{ message: 'as above, without a reason' }] },
      }),
      failed(expect.stringContaining('the image has no program sh')),
    ],
    [
      'a program whose path does not exist',
      failure({ message: 'unable to start container process: exec: "/bin/x": stat /bin/x: no such file or directory' }),
      failed(expect.stringContaining('the image has no program sh')),
    ],
    [
      'a container that has ended',
      failure({ message: 'container not found ("web")' }),
      failed(expect.stringContaining('the container does not run any more')),
    ],
    ['nothing that is readable', '{', failed('the command could not be run: the cluster reported no reason')],
  ])('%s', (_what, text, expected) => expect(outcomeOf(text, ['sh'])).toEqual(expected));

  function failed(message: unknown) {
    return { failed: { message } };
  }
});

describe('control messages of a client', () => {
  test.each<[string, string, unknown]>([
    ['a shell', '{"start":{"input":true}}', { start: { input: true } }],
    [
      'a command at a terminal',
      '{"start":{"input":true,"command":["ls"],"terminal":{"columns":80,"rows":24}}}',
      { start: { input: true, command: ['ls'], terminal: { columns: 80, rows: 24 } } },
    ],
    ['the end of input', '{"inputEnd":true}', { inputEnd: true }],
    ['no JSON', 'x', undefined],
    ['another message', '{"exit":{"code":0}}', undefined],
    ['two in one', '{"inputEnd":true,"confirmed":1}', undefined],
    ['an empty command', '{"start":{"input":true,"command":[]}}', undefined],
    ['a word with NUL', '{"start":{"input":true,"command":["a\\u0000"]}}', undefined],
    ['a huge terminal', '{"resize":{"columns":100000,"rows":1}}', undefined],
    ['half a row', '{"resize":{"columns":80,"rows":1.5}}', undefined],
    ['a long command', JSON.stringify({ start: { input: true, command: ['x'.repeat(20_000)] } }), undefined],
    ['many words', JSON.stringify({ start: { input: true, command: Array(300).fill('x') } }), undefined],
  ])('%s', (_what, text, expected) => expect(clientMessage(text)).toEqual(expected));
});

describe('frames of a pod', () => {
  const bytes = (...parts: (number | string)[]) =>
    Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))));

  test('of a command are output, errors and the outcome', () => {
    const { fromPod } = execProtocol(['sh']);
    expect(fromPod(bytes(1, 'out'))).toEqual({ data: bytes(1, 'out') });
    expect(fromPod(bytes(2, 'err'))).toEqual({ data: bytes(2, 'err') });
    expect(fromPod(bytes(3, '{"status":"Success"}'))).toEqual({ last: { exit: { code: 0 } } });
    for (const empty of [bytes(1), bytes(2), bytes(9, 'x'), Buffer.alloc(0)]) expect(fromPod(empty)).toBeUndefined();
  });

  test('of a port start with its number', () => {
    const { fromPod } = forwardProtocol();
    expect(fromPod(bytes(0, 0x38, 0x15))).toBeUndefined();
    expect(fromPod(bytes(1, 0x38, 0x15))).toBeUndefined();
    expect(fromPod(bytes(0, 'data'))).toEqual({ data: bytes(1, 'data') });
    expect(fromPod(bytes(1, 'connect: connection refused'))).toEqual({
      last: { failed: { message: 'nothing listens at this port in the pod. Check the port' } },
    });
  });

  test('of a port may have data after its number', () => {
    expect(forwardProtocol().fromPod(bytes(0, 0x38, 0x15, 'data'))).toEqual({ data: bytes(1, 'data') });
  });
});
