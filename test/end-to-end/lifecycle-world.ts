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

/** A service file that is ready immediately and runs nothing, so that a hundred environments cause little load. */
export const QUICK = {
  'compose.yaml': "services:\n  web:\n    image: busybox:1\n    scale: 0\n    command: ['sleep', '1']\n",
};
/** A service file that never becomes ready, so that its build lasts until the rollout's deadline. */
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

/** Triggers that affect a whole Repository or Group have a separate one. */
const ownRepositories: Partial<Record<Trigger, string>> = {
  'ref gone, onRefGone keep': 'kept',
  'scheduled rebuild': 'nightly',
  'repository deleted': 'doomed',
  'group deleted': 'doomed',
};

export function repositoryOf(trigger: Trigger): string {
  return ownRepositories[trigger] ?? 'table';
}

/** The Repositories of the cells' environments, created through the REST API, and actions on them. */
export class LifecycleWorld {
  readonly harness: Harness;
  readonly board: LifecycleBoard;
  /** A group that is deleted with everything in it. */
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

  /** Adds a repository. Each branch gets its `empty` Environment by the first sync, which is requested. */
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

  /** Sends a POST; repeats it while the group's namespace is being set up. */
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

  /** Requests as kubectl does, also what REST refuses. */
  async annotate(id: string, requests: readonly RequestName[], suffix = ''): Promise<void> {
    const value = `${requestValue(new Date(), `test-${++this.#requests}`)}${suffix}`;
    const annotations = Object.fromEntries(requests.map((request) => [requestAnnotation(request), value]));
    await this.board.patch(id, { metadata: { annotations } });
  }

  /** Creates another, empty Environment of the same ref. */
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
