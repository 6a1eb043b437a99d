import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { GROUP } from '../../crds/group.ts';
import { parseId } from '../../crds/ids.ts';
import { environmentName } from '../../crds/environment-name.ts';
import { REPOSITORY } from '../../crds/repository.ts';
import { requestAnnotation, requestValue, type RequestName } from '../../crds/requests.ts';
import type { Trigger } from '../../operator/kinds/environment/testing/state-table.ts';
import { pushBranches } from './branches.ts';
import type { Harness } from './harness.ts';
import type { LifecycleBoard } from './lifecycle-board.ts';

/** Becomes ready at once, and runs nothing: of a hundred environments the machine notices little. */
export const QUICK = {
  'compose.yaml': "services:\n  web:\n    image: busybox:1\n    scale: 0\n    command: ['sleep', '1']\n",
};
/** Never becomes ready: its build goes on until the rollout's deadline. */
export const ENDLESS = {
  'compose.yaml': [
    'services:',
    '  web:',
    '    image: busybox:1',
    "    command: ['sleep', '3600']",
    '    stop_grace_period: 0s',
    "    healthcheck: { test: ['CMD', 'false'], interval: 30s }",
    '',
  ].join('\n'),
};

/** Triggers that concern a whole Repository, or Group, have one of their own. */
const ownRepositories: Partial<Record<Trigger, string>> = {
  'ref gone, onRefGone keep': 'kept',
  'scheduled rebuild': 'nightly',
  'repository deleted': 'doomed',
  'group deleted': 'doomed',
};

export function repositoryOf(trigger: Trigger): string {
  return ownRepositories[trigger] ?? 'table';
}

/** The Repositories that the cells' environments are of, through the REST API, and what is done to them. */
export class LifecycleWorld {
  readonly harness: Harness;
  readonly board: LifecycleBoard;
  /** Goes with everything in it. */
  readonly doomedGroup: string;
  #requests = 0;

  constructor(harness: Harness, board: LifecycleBoard, doomedGroup: string) {
    this.harness = harness;
    this.board = board;
    this.doomedGroup = doomedGroup;
  }

  urlOf(repositoryId: string): string {
    return `${this.harness.connection.gitUrl}/${repositoryId.replace('.', '/')}.git`;
  }

  /** Each branch gets its `empty` Environment by the first sync, which is asked for. */
  async addRepository(group: string, name: string, branches: { quick: string[]; endless: string[] }): Promise<string> {
    const origin = this.urlOf(`${group}.${name}`);
    await pushBranches(origin, QUICK, ['main', ...branches.quick]);
    if (branches.endless.length > 0) await pushBranches(origin, ENDLESS, branches.endless);
    await this.post(`/api/group/${group}`, { name, type: 'generic', params: { origin } });
    await this.sync(`${group}.${name}`);
    return `${group}.${name}`;
  }

  environmentId(repositoryId: string, branch: string): string {
    const { group, name } = parseId(repositoryId) ?? { group: '', name: '' };
    return `${group}.${environmentName(name, { name: branch, type: 'branch' })}`;
  }

  /** The group's namespace may still be being set up. */
  async post(path: string, body?: object): Promise<void> {
    for (let tries = 0; ; tries++) {
      const answer = await this.harness.client.send('POST', path, body);
      if (answer.status < 300) return;
      if (answer.status !== 503 || tries === 40) throw new Error(`${path}: ${answer.status} ${answer.text}`);
      await sleep(500);
    }
  }

  sync(repositoryId: string): Promise<void> {
    return this.post(`/api/repository/${repositoryId}/sync`);
  }

  async changeRepository(repositoryId: string, spec: object): Promise<void> {
    const { group, name } = parseId(repositoryId) ?? { group: '', name: '' };
    await this.board.client.patch(REPOSITORY, { namespace: `group-${group}`, name }, { spec });
  }

  async deleteGroup(name: string): Promise<void> {
    await this.board.client.delete(GROUP, { name });
  }

  /** Asks as kubectl does, also for what REST refuses. */
  async annotate(id: string, requests: readonly RequestName[], suffix = ''): Promise<void> {
    const value = `${requestValue(new Date(), `test-${++this.#requests}`)}${suffix}`;
    const annotations = Object.fromEntries(requests.map((request) => [requestAnnotation(request), value]));
    await this.board.patch(id, { metadata: { annotations } });
  }

  /** Another, empty, Environment of the same ref. */
  async holdRefBeside(id: string): Promise<void> {
    const { metadata, spec } = this.board.read(id) ?? {};
    if (!metadata || !spec) throw new Error(`there is no ${id}`);
    const { namespace, name } = metadata;
    const labels = { 'app.kubernetes.io/managed-by': 'coppice' };
    await this.board.client.create<Environment>(ENVIRONMENT, {
      apiVersion: 'coppice.dev/v1alpha1',
      kind: 'Environment',
      metadata: { namespace, name: `${name}-2`, labels },
      spec: { ...spec, active: false },
    });
  }

  async spawnBeside(id: string): Promise<void> {
    const { spec, metadata } = this.board.read(id) ?? {};
    const repositoryId = `${metadata?.namespace?.replace('group-', '') ?? ''}.${spec?.repository ?? ''}`;
    const body = { gitRef: spec?.gitRef, build: false };
    const made = await this.harness.client.call(
      z.looseObject({ id: z.string() }),
      'POST',
      `/api/repository/${repositoryId}/spawn`,
      body,
    );
    if (made.id === id) throw new Error(`${id} was spawned where it was already`);
  }
}
