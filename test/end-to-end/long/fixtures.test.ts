import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { send } from '../../client/local-http.ts';
import type { EnvironmentAnswer } from '../../client/rest-client.ts';
import { atMost, logOf, pushFixture, settled } from '../fixtures.ts';
import { conditionOf, pageWith, startHarness, type Harness } from '../harness.ts';

interface Fixture {
  folder: string;
  /** Keys of its service file that are reported as ignored. */
  ignored?: string[];
  /** Requests a page through the Ingress that only services that communicate with each other can produce. */
  ask: (environment: EnvironmentAnswer) => Promise<unknown>;
}

const fixtures: Fixture[] = [
  {
    folder: 'voting-app',
    ignored: ['container_name', 'logging', 'dns', 'ulimits', 'cache_from', 'pids_limit', 'develop', 'ipam'],
    // Python, Redis, Node, PostgreSQL and Node again take part in the response.
    async ask({ weburl, aliases }) {
      await pageWith(weburl, 'Cats vs Dogs!');
      for (const vote of ['a', 'b', 'a']) {
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const answer = await send(weburl, { method: 'POST', headers, body: `vote=${vote}` });
        expect(answer.text).toMatch(/Thank you for voting for (Cats|Dogs), says vote-1/);
      }
      await pageWith(aliases['result'] ?? '', '{"a":2,"b":1}');
    },
  },
  {
    folder: 'node-postgres',
    ignored: ['container_name'],
    // nginx, configured by a template of the repository, asks Node, which asks PostgreSQL, which the migrations
    // have filled.
    async ask({ weburl }) {
      await pageWith(weburl, '<h1>Notes</h1>');
      await pageWith(`${weburl}css/board.css`, 'background');
      const notes = await pageWith(`${weburl}api/notes`, 'Sharpen the billhook');
      expect(JSON.parse(notes)).toMatchObject({
        greeting: 'Notes of the day',
        database: expect.stringMatching(/^PostgreSQL \d+/),
        notes: [{ id: '1', text: 'Sharpen the billhook', author: 'a migration' }],
      });
      const body = JSON.stringify({ text: 'Stack the poles', author: 'a visitor' });
      expect((await send(`${weburl}api/notes`, { method: 'POST', body })).status).toBe(200);
      await pageWith(`${weburl}api/notes`, 'Stack the poles');
    },
  },
  {
    folder: 'go-nginx',
    ignored: ['security_opt', 'logging', 'mode'],
    // nginx asks Go, which reads a config of the service file in an image with nothing but the program.
    ask: async ({ weburl }) => pageWith(weburl, 'Hello from the Go backend 1.8.0, through nginx'),
  },
  {
    folder: 'python-redis',
    ignored: ['ulimits'],
    async ask({ weburl }) {
      await pageWith(weburl, 'Hello! This page has been seen 1 times.');
      await pageWith(weburl, 'Hello! This page has been seen 2 times.');
    },
  },
  {
    folder: 'static-page',
    ignored: ['container_name', 'version'],
    async ask({ weburl }) {
      const page = await pageWith(weburl, 'Baskets from the hedge');
      expect(page).toContain('<title>Baskets – Hazel &amp; Sons</title>');
      await pageWith(`${weburl}opening-hours`, 'Tuesday to Saturday'); // from the mounted configuration
    },
  },
  {
    folder: 'dockerfile-only',
    ask: async ({ weburl }) => pageWith(`${weburl}pollard`, 'Word of the day\npollard: to cut a tree'),
  },
];

let harness: Harness;
const atOnce = atMost(3); // as many as two cores can build
const runs = new Map<string, Promise<EnvironmentAnswer>>();

async function spawn(folder: string): Promise<EnvironmentAnswer> {
  const repository = await harness.addRepository(folder, await pushFixture(harness, folder, 'main'));
  return settled(harness, await harness.spawn(repository, 'main'));
}

beforeAll(async () => {
  harness = await startHarness('fixtures');
  for (const folder of [...fixtures.map((fixture) => fixture.folder), 'failing-build', 'refused']) {
    runs.set(
      folder,
      atOnce(() => spawn(folder)),
    );
  }
  void Promise.allSettled(runs.values()); // each test awaits its own run
}, 60_000);

afterAll(() => harness.remove(), 60_000);

test.each(fixtures)(
  '$folder: is spawned, and its parts respond',
  async ({ folder, ignored = [], ask }) => {
    const environment = await runs.get(folder)!;
    if (environment.status !== 'built') throw new Error(JSON.stringify(environment.conditions, null, 2));
    const reported = conditionOf(environment, 'Created')?.message ?? '';
    expect(ignored.filter((key) => !reported.includes(key))).toEqual([]);
    await ask(environment);
  },
  600_000,
);

test('failing-build: returns to created, with the failed line and its exit code', async () => {
  const environment = await runs.get('failing-build')!;
  expect(environment.status).toBe('created');
  const message = conditionOf(environment, 'Built')?.message ?? '';
  expect(message).toMatch(/service app failed \(exit code 1\)/);
  expect(message).toContain("the tests failed: see 'not ok' above");
  expect(message).toMatch(/exit code: 3/);
  const log = await logOf(harness, environment.id);
  expect(log).toContain('not ok 2 - an amount has two digits after the point');
  expect(log).toContain(message.replace(/^build 1: /, ''));
}, 600_000);

test('refused: reports everything that a container must not have of its node at once', async () => {
  const environment = await runs.get('refused')!;
  expect(environment.status).not.toBe('built');
  expect(conditionOf(environment, 'Stalled')?.message.split(/\n|; (?=docker-compose)/)).toEqual([
    "docker-compose.yml:9:19: services.traefik.network_mode: refused: containers get no access to the node's network: list the service's ports",
    'docker-compose.yml:11:9: services.traefik.volumes[0]: refused: there is no Docker socket, and containers cannot start other containers: remove the mount',
    'docker-compose.yml:15:5: services.cadvisor.privileged: refused: containers get no access to the node: name the capabilities it needs in cap_add',
    'docker-compose.yml:16:5: services.cadvisor.pid: refused: containers get no access to the node or to another container: remove it',
    'docker-compose.yml:17:5: services.cadvisor.devices: refused: containers get no access to the node: remove it',
    'docker-compose.yml:20:9: services.cadvisor.volumes[0]: refused: "/" is a path of the machine that Compose runs on; name a file of the repository (./…) or a volume',
    'docker-compose.yml:21:9: services.cadvisor.volumes[1]: nothing can be mounted at "/sys": the container runtime manages it. Choose another path',
  ]);
}, 600_000);
