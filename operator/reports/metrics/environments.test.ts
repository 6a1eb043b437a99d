import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { BuildStatus } from '../../../crds/environment-build.ts';
import { observeEnvironments } from './environments.ts';

type Handler = (change: 'added' | 'updated' | 'deleted', object: Environment, old?: Environment) => void;

const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const build = (given: Partial<BuildStatus>): BuildStatus => ({
  number: 1,
  result: 'running',
  startedAt: at(0),
  ...given,
});

function environmentOf(status: EnvironmentStatus, uid = 'u'): Environment {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: {
      ...{ namespace: 'group-acme', name: 'shop-main', uid },
      annotations: { 'coppice.dev/request-build': '2026-01-01T00:00:00Z/r-1' },
    },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: false },
    status,
  };
}

function conditionOf(type: string, status: 'True' | 'False', reason: string) {
  return { type, status, reason, message: '', lastTransitionTime: at(0) };
}

const observing = (
  environments: Parameters<typeof observeEnvironments>[0],
  registry: Registry,
  lines: object[] = [],
) => {
  const logger = { info: (line: object) => lines.push(line) } as never;
  observeEnvironments(environments, registry, logger, () => 1000_000);
};

/** Returns what is counted and logged after these changes of one Environment. */
async function after(...statuses: EnvironmentStatus[]) {
  const handlers: Handler[] = [];
  const registry = new Registry();
  const lines: object[] = [];
  const all = statuses.map((status) => environmentOf(status));
  const environments = {
    addHandler: (handler: Handler) => {
      handlers.push(handler);
      return () => undefined;
    },
    list: () => all.slice(-1),
  };
  observing(environments, registry, lines);
  all.forEach((now, index) => {
    for (const handle of handlers) handle(index === 0 ? 'added' : 'updated', now, all[index - 1]);
  });
  return { text: await registry.metrics(), lines };
}

const failed = build({ result: 'failed', rolloutStartedAt: at(20), finishedAt: at(50) });

test('counts a finished build once, with its reason and the duration of its stages', async () => {
  const conditions = [conditionOf('Built', 'False', 'RolloutFailed'), conditionOf('Ready', 'False', 'BuildFailed')];
  const { text, lines } = await after(
    { state: 'created' },
    { state: 'building', build: build({}) },
    { state: 'building', build: build({ rolloutStartedAt: at(20) }) },
    { state: 'created', build: failed, conditions },
    { state: 'created', build: failed, conditions, revision: 'v' },
  );
  expect(text).toContain('coppice_builds_total{result="failed",reason="RolloutFailed"} 1\n');
  expect(text).toContain('coppice_build_duration_seconds_sum{result="failed"} 50\n');
  expect(text).toContain('coppice_build_stage_duration_seconds_sum{stage="images",result="failed"} 20\n');
  expect(text).toContain('coppice_build_stage_duration_seconds_sum{stage="rollout",result="failed"} 30\n');
  expect(text).toContain('coppice_environments{state="created"} 1\n');
  expect(text).toContain('coppice_environments_not_ready{reason="BuildFailed"} 1\n');
  expect(lines).toEqual([
    { key: 'group-acme/shop-main', requestId: 'r-1', build: { transition: 'started', number: 1 } },
    expect.objectContaining({ requestId: 'r-1', build: expect.objectContaining({ transition: 'ended' }) as unknown }),
  ]);
});

test.each<[string, EnvironmentStatus[]]>([
  ['was over before', [{ build: failed }, { build: failed, revision: 'v' }]],
  ['is found at the start', [{ build: failed }]],
  ['runs on', [{ build: build({}) }, { build: build({ rolloutStartedAt: at(1) }) }]],
])('does not count a build that %s', async (_what, statuses) => {
  const { text } = await after(...statuses);
  expect(text).not.toContain('coppice_builds_total{');
});

test.each<[string, EnvironmentStatus[], number]>([
  ['the one that started first', [queued(400), queued(100), queued(700)], 900],
  ['not a running build', [{ build: build({ startedAt: at(0) }) }, queued(990)], 10],
  ['not a finished build', [{ ...queued(0), build: failed }], 0],
  ['0 without a queued build', [], 0],
])('reports the oldest queued build: %s', async (_what, statuses, age) => {
  const registry = new Registry();
  const list = () => statuses.map((status, index) => environmentOf(status, String(index)));
  observing({ addHandler: () => () => undefined, list }, registry);
  expect(await registry.metrics()).toContain(`coppice_oldest_queued_build_seconds ${age}\n`);
});

function queued(since: number): EnvironmentStatus {
  return { build: build({ startedAt: at(since) }), conditions: [conditionOf('Ready', 'False', 'Queued')] };
}
