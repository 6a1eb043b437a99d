import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import type { EnvironmentAnswer } from '../client/rest-client.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { pushRepository } from '../sample/push-repository.ts';
import { conditionOf, namespaceOf, type Harness } from './harness.ts';

const folderOf = (fixture: string): string => join(REPOSITORY_ROOT, 'test/fixtures', fixture);

/** Returns a file of a repository in test/fixtures. */
export function fixtureText(fixture: string, path: string): Promise<string> {
  return readFile(join(folderOf(fixture), path), 'utf8');
}

/** Pushes a repository of test/fixtures, with some files changed; returns its URL. */
export async function pushFixture(
  { connection, group }: Harness,
  name: string,
  branch: string,
  files: Record<string, string> = {},
): Promise<string> {
  const url = `${connection.gitUrl}/${group}/${name}.git`;
  await pushRepository({ url, branch, from: folderOf(name), files });
  return url;
}

/** Waits until the build has succeeded or a user must act; the first of several builds on two cores takes long. */
export function settled({ client }: Harness, environmentId: string): Promise<EnvironmentAnswer> {
  return client.waitForEnvironment(
    environmentId,
    (environment) => environment.status === 'built' || conditionOf(environment, 'Stalled')?.status === 'True',
    420,
  );
}

/** Like settled; throws with the environment's conditions unless it was built. */
export async function builtFixture(harness: Harness, environmentId: string): Promise<EnvironmentAnswer> {
  const environment = await settled(harness, environmentId);
  if (environment.status === 'built') return environment;
  throw new Error(`${environmentId} was not built: ${JSON.stringify(environment.conditions, null, 2)}`);
}

/** Returns the build log's lines by service, without the end message. */
export async function linesByService(harness: Harness, environmentId: string): Promise<Record<string, string[]>> {
  const lines: Record<string, string[]> = {};
  for await (const message of harness.client.log(environmentId)) {
    if ('line' in message) (lines[message.service] ??= []).push(message.line);
  }
  return lines;
}

/** Returns the build log as one text, including its end message. */
export async function logOf(harness: Harness, environmentId: string): Promise<string> {
  const texts: string[] = [];
  const textOf = (message: BuildLogMessage) => ('line' in message ? message.line : message.end.message);
  for await (const message of harness.client.log(environmentId)) texts.push(textOf(message));
  return texts.join('\n');
}

const eventsSchema = z.object({
  items: z.array(z.object({ involvedObject: z.looseObject({ kind: z.string(), fieldPath: z.string().optional() }) })),
});

/**
 * Returns the names of all build containers that ran in the environment's namespace, sorted, from the cluster's events.
 */
export async function buildContainers(harness: Harness, environmentId: string): Promise<string[]> {
  const query = ['get', 'events', '--namespace', namespaceOf(environmentId), '--output', 'json'];
  const { items } = eventsSchema.parse(JSON.parse(await harness.kubectl(query)));
  const names = items.map(({ involvedObject }) => /\{(build-.*)\}$/.exec(involvedObject.fieldPath ?? '')?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

/** Returns a function that runs actions, at most `limit` at the same time. */
export function atMost(limit: number): <T>(action: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (action) => {
    if (running === limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await action();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
