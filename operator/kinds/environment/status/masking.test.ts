import { describe, expect, test } from '@jest/globals';
import { Masks } from '../../../../build-logs/masks.ts';
import type { Environment } from '../../../../crds/environment.ts';
import type { BuildStatus } from '../../../../crds/environment-build.ts';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import type { LogSessions } from '../../../images/logs/log-sessions.ts';
import type { RepositoryConfiguration } from '../../repository/configuration.ts';
import type { RolloutProgress } from '../../../services/rollout/progress.ts';
import { BuildLog } from '../build/build-log.ts';
import { BuildRecorder, type BuildRecorderOptions } from '../build/build-recorder.ts';
import { Masking } from './masking.ts';
import { Services } from '../services/services.ts';
import { noWakers as wakers } from '../testing/no-wakers.ts';
import { finalStatus, summaryInput } from './final-status.ts';
import { scopeOf } from '../testing/scope.ts';
import type { Revision } from '../revision/revision.ts';

const now = new Date('2026-01-01T00:00:00Z');
const build: BuildStatus = { number: 1, result: 'running', revision: 'v1', startedAt: now.toISOString(), images: [] };
const configuration = {
  host: { access: { origin: 'http://git/x', credentials: { username: 'u', password: 'git-password' } } },
  variables: new Map([
    ['TOKEN', { value: 'variable-value', visibility: 'always', secret: true }],
    ['STACK', { value: 'node', visibility: 'always' }],
    ['UNMARKED', { value: 'Xk29dLq8Zp', visibility: 'always' }],
  ]),
} as unknown as RepositoryConfiguration;
const revision = {
  id: 'v1',
  secrets: ['file-secret'],
  serviceFile: { services: [], publicRoutes: [], volumes: [], bundles: [] },
} as unknown as Revision;
const reported = 'git-password, variable-value, file-secret, node, Xk29dLq8Zp';

/** Returns an operator that was just started and has read nothing. */
function world(refusal?: Error) {
  let lookUps = 0;
  const read = () => {
    lookUps++;
    return refusal ? Promise.reject(refusal) : Promise.resolve(configuration);
  };
  const masking = new Masking(
    { find: (_location, id) => Promise.resolve(id === 'v1' ? revision : undefined) },
    new Masks(),
  );
  const ends: string[] = [];
  const session = { end: (_result: string, message: string) => Promise.resolve(void ends.push(message)) };
  const logs = { open: () => session, has: () => true, close: () => undefined } as unknown as LogSessions;
  const object = {
    metadata: { name: 'shop', namespace: 'group-acme', uid: 'u1' },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' } },
    status: { build },
  } as unknown as Environment;
  const scope = scopeOf(object, () => now, { read });
  const imageBuilder = { ended: () => undefined };
  const waits = { end: () => undefined };
  const options = { imageBuilder, waits, log: new BuildLog(logs), masking } as unknown as BuildRecorderOptions;
  return {
    scope,
    ends,
    lookUps: () => lookUps,
    recorder: new BuildRecorder(options),
    rollOut: async (progress: RolloutProgress) => {
      const visitsOf = () => undefined;
      const workloads = { rollOut: () => Promise.resolve(progress) } as never;
      const services = new Services({
        workloads,
        registry: { address: 'registry', layout: 'nested' },
        masking,
        wakers,
        visitsOf,
      });
      const result = await services.rollOut(scope, revision, build);
      return { progress: result.observed?.progress, after: scope.with(result) };
    },
  };
}

function failing(message: string): RolloutProgress {
  const reported = [`seed: ${message}`];
  const services = [{ name: 'seed', ready: false, message }];
  return { services, aliases: {}, done: false, waitingFor: ['db', ...reported], failures: reported, wakers: 'none' };
}

describe('the last output of containers', () => {
  test('is in the status, the conditions and the log without secrets', async () => {
    const { scope, ends, recorder } = world();
    const error = new Stalled('BuildFailed', `the build failed:\n${reported}`);
    const after = scope.with(await recorder.fail(scope, error));
    const masked = 'the build failed:\n***, ***, ***, node, ***';
    expect(after.status.build).toMatchObject({ result: 'failed', message: masked });
    expect(ends).toEqual([masked]);
    expect(finalStatus(after).conditions).toMatchObject([{ type: 'Built', message: `build 1: ${masked}` }]);
  });

  test('of services without secrets is shown', async () => {
    const { rollOut } = world();
    const { progress, after } = await rollOut(failing(reported));
    expect(progress).toEqual(failing('***, ***, ***, node, ***'));
    expect(JSON.stringify([finalStatus(after), summaryInput(after, undefined)])).not.toMatch(
      /git-password|variable-value|file-secret|Xk29dLq8Zp/,
    );
  });

  test.each([
    ['the Repository was deleted', new Stalled('RepositoryNotFound', 'no Repository')],
    ['a Secret is missing', new Waiting('VariableMissing', 'no Secret', 1)],
  ])('is hidden while the secrets are unknown: %s', async (_, refusal) => {
    const { scope, recorder, rollOut, ends } = world(refusal);
    const hidden = `hidden because the secrets in it are unknown: ${refusal.message}`;
    expect((await rollOut(failing(reported))).progress).toEqual(failing(hidden));
    await recorder.fail(scope, new Stalled('BuildFailed', reported));
    expect(ends).toEqual([hidden]);
  });

  test('is replaced by the reason why the secrets are unknown', async () => {
    const refusal = new Stalled('RepositoryNotFound', 'no Repository');
    const { scope, recorder, ends } = world(refusal);
    await recorder.fail(scope, refusal);
    expect(ends).toEqual(['no Repository']);
  });
});

test('reads nothing for services without output', async () => {
  const { rollOut, lookUps } = world();
  await rollOut({
    services: [{ name: 'web', ready: true }],
    aliases: {},
    done: true,
    waitingFor: [],
    failures: [],
    wakers: 'none',
  });
  expect(lookUps()).toBe(0);
});
