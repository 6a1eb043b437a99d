import { z } from 'zod';
import { withCleanUp } from '../support/clean-up.ts';
import type { Progress } from '../support/progress.ts';
import { conditionOf, namespaceOf, startHarness, type Harness } from '../end-to-end/harness.ts';
import { pushRepository } from '../sample/push-repository.ts';
import { secondsOf, type Figure } from './measure.ts';
import { stateReached } from './state-reached.ts';

const rounds = 2;
/** Rows of a little more than 1 KiB each: a table of 1 GiB. */
const rows = 900_000;

/**
 * Returns a service file with PostgreSQL, and a job that fills the database unless it is filled, as a migration would.
 */
const compose = (extension: string) => `x-coppice: ${extension}
services:
  db:
    image: postgres:15
    stop_grace_period: 60s
    environment: { POSTGRES_HOST_AUTH_METHOD: trust }
    volumes: ['data:/var/lib/postgresql/data']
    deploy: { resources: { limits: { cpus: '2', memory: 1G } } }
    healthcheck: { test: ['CMD', 'pg_isready', '-U', 'postgres', '-h', '127.0.0.1'], interval: 1s, retries: 60 }
  fill:
    image: postgres:15
    restart: 'no'
    depends_on: { db: { condition: service_healthy } }
    command:
      - psql
      - --host=db
      - --username=postgres
      - --command=CREATE TABLE IF NOT EXISTS notes AS
        SELECT i, repeat(md5(i::text), 32) AS text FROM generate_series(1, ${rows}) AS i
volumes:
  data: { x-coppice: { size: 4Gi } }
`;

/** Measures a database of 1 GiB: filled by a job, against one that is seeded with a published copy. */
export async function benchReusable(progress: Progress): Promise<Figure[]> {
  const harness = await startHarness('bench');
  const copied: number[] = [];
  const filled: number[] = [];
  const published: number[] = [];
  const work = async () => {
    const url = `${harness.connection.gitUrl}/${harness.group}/shop.git`;
    await pushRepository({ url, branch: 'main', files: { 'compose.yaml': compose('{ reusable: filled }') } });
    await pushRepository({ url, branch: 'fresh', files: { 'compose.yaml': compose('{}') } });
    await pushRepository({ url, branch: 'copy', files: { 'compose.yaml': compose('{ from: filled }') } });
    const repository = await harness.addRepository('shop', url);
    const reusable = [{ label: 'filled', refs: [{ name: 'main' }] }];
    await harness.client.call(z.looseObject({}), 'POST', `/api/repository/${repository}/settings`, { reusable });
    await progress.step('publish', async () => {
      const id = await spawned(harness, repository, 'main');
      published.push(await secondsOf(() => isPublished(harness, id)));
      await remove(harness, id);
    });
    for (let round = 1; round <= rounds; round++) {
      await progress.step(`round ${round} of ${rounds}`, async () => {
        for (const [branch, samples] of [
          ['fresh', filled],
          ['copy', copied],
        ] as const) {
          let id = '';
          samples.push(await secondsOf(async () => (id = await spawned(harness, repository, branch))));
          await requireRows(harness, id);
          await remove(harness, id);
        }
      });
    }
  };
  await withCleanUp(work, () => progress.step('clean up', () => harness.removeAndWait()));
  const baseline = { name: 'filled by SQL', samples: filled };
  return [
    { name: 'spawn → built with a 1 GiB database, copied', unit: 's', samples: copied, baseline },
    { name: 'built → published, database stopped', unit: 's', samples: published },
  ];
}

async function spawned(harness: Harness, repository: string, branch: string): Promise<string> {
  const id = await harness.spawn(repository, branch);
  await stateReached(harness.connection.kubeconfig, 300)(id, 'built');
  return id;
}

async function isPublished({ client }: Harness, id: string): Promise<void> {
  await client.waitForEnvironment(id, (one) => conditionOf(one, 'Published')?.status === 'True', 300);
}

async function requireRows({ kubectl }: Harness, id: string): Promise<void> {
  const query = ['psql', '-U', 'postgres', '-Atc', 'SELECT count(*) FROM notes'];
  const count = await kubectl(['exec', '--namespace', namespaceOf(id), 'deployment/db', '--', ...query]);
  if (Number(count) !== rows) throw new Error(`the database of ${id} has ${count.trim()} rows, not ${rows}`);
}

async function remove({ kubectl, group }: Harness, id: string): Promise<void> {
  const name = id.slice(group.length + 1);
  await kubectl(['delete', 'environments.coppice.dev', name, '--namespace', `group-${group}`, '--timeout=90s'], {
    deadline: 100,
  });
}
