import { describe, expect, test } from '@jest/globals';
import type { BuildStatus, Environment } from '../../crds/environment.ts';
import { Stalled, Waiting } from '../errors.ts';
import type { RepositoryConfiguration } from '../repository/configuration.ts';
import type { RolloutProgress } from '../workloads/progress.ts';
import { BuildRun } from './build-run.ts';
import { Masking } from './masking.ts';
import { EnvironmentScope } from './scope.ts';
import { Services } from './services.ts';
import type { Version } from './version.ts';

const now = new Date('2026-01-01T00:00:00Z');
const build: BuildStatus = { number: 1, result: 'running', version: 'v1', startedAt: now.toISOString(), images: [] };
const configuration = {
  host: { access: { origin: 'http://git/x', credentials: { username: 'u', password: 'git-password' } } },
  variables: new Map([
    ['TOKEN', { value: 'variable-value', visibility: 'always', secret: true }],
    ['STACK', { value: 'node', visibility: 'always' }],
    ['UNMARKED', { value: 'Xk29dLq8Zp', visibility: 'always' }],
  ]),
} as unknown as RepositoryConfiguration;
const version = {
  id: 'v1',
  secrets: ['file-secret'],
  serviceFile: { services: [], publicRoutes: [], volumes: [], bundles: [] },
} as unknown as Version;
const said = 'git-password, variable-value, file-secret, node, Xk29dLq8Zp';

/** An operator that was just started: nothing is looked up yet. */
function world(refusal?: Error) {
  let lookUps = 0;
  const masking = new Masking({
    lookUpRepository: (scope) => {
      lookUps++;
      if (refusal) return Promise.reject(refusal);
      scope.configuration ??= configuration;
      return Promise.resolve();
    },
    find: (_scope, id) => Promise.resolve(id === 'v1' ? version : undefined),
  });
  const ends: string[] = [];
  const session = { end: (_result: string, message: string) => Promise.resolve(void ends.push(message)) };
  const logs = { open: () => session, close: () => undefined };
  const object = {
    metadata: { name: 'shop', namespace: 'group-acme', uid: 'u1' },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' } },
    status: { build },
  } as unknown as Environment;
  const scope = new EnvironmentScope(object, () => now);
  return {
    scope,
    ends,
    lookUps: () => lookUps,
    builds: new BuildRun({ ended: () => undefined } as never, logs as never, masking),
    rollOut: (progress: RolloutProgress) =>
      new Services(
        { rollOut: () => Promise.resolve(progress) } as never,
        { address: 'registry', layout: 'nested' },
        masking,
      ).rollOut(scope, version, build),
  };
}

function failing(message: string): RolloutProgress {
  const told = [`seed: ${message}`];
  const services = [{ name: 'seed', ready: false, message }];
  return { services, aliases: {}, done: false, waitingFor: ['db', ...told], failures: told };
}

describe('what containers said before they ended', () => {
  test('goes into the status, the conditions and the log without secrets', async () => {
    const { scope, ends, builds } = world();
    await builds.fail(scope, new Stalled('BuildFailed', `the build failed:\n${said}`));
    const masked = 'the build failed:\n***, ***, ***, node, ***';
    expect(scope.status.build).toMatchObject({ result: 'failed', message: masked });
    expect(ends).toEqual([masked]);
    expect(scope.finalStatus().conditions).toMatchObject([{ type: 'Built', message: `build 1: ${masked}` }]);
  });

  test('is told of services without secrets', async () => {
    const { scope, rollOut } = world();
    expect(await rollOut(failing(said))).toEqual(failing('***, ***, ***, node, ***'));
    expect(JSON.stringify([scope.finalStatus(), scope.summaryInput(undefined)])).not.toMatch(
      /git-password|variable-value|file-secret|Xk29dLq8Zp/,
    );
  });

  test.each([
    ['the Repository is gone', new Stalled('RepositoryNotFound', 'no Repository')],
    ['a Secret is missing', new Waiting('VariableMissing', 'no Secret', 1)],
  ])('is not told where the secrets are not known: %s', async (_, refusal) => {
    const { scope, builds, rollOut, ends } = world(refusal);
    const hidden = `not shown, secrets in it are not known: ${refusal.message}`;
    expect(await rollOut(failing(said))).toEqual(failing(hidden));
    await builds.fail(scope, new Stalled('BuildFailed', said));
    expect(ends).toEqual([hidden]);
  });

  test('the reason why they are not known is told', async () => {
    const refusal = new Stalled('RepositoryNotFound', 'no Repository');
    const { scope, builds, ends } = world(refusal);
    await builds.fail(scope, refusal);
    expect(ends).toEqual(['no Repository']);
  });
});

test('nothing is looked up for services that say nothing', async () => {
  const { rollOut, lookUps } = world();
  await rollOut({ services: [{ name: 'web', ready: true }], aliases: {}, done: true, waitingFor: [], failures: [] });
  expect(lookUps()).toBe(0);
});
