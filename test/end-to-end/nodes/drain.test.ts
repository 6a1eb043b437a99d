import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { send } from '../../client/local-http.ts';
import { messageOf } from '../../support/problem.ts';
import { waitFor } from '../../support/wait-for.ts';
import { namespaceOf, startHarness, type Harness } from '../harness.ts';
import { numberedDockerfile } from '../numbered-build.ts';
import { ofService, readyPods, whileCordoned, workerWithoutRedis } from './nodes.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness('drain');
}, 60_000);

afterAll(() => harness.remove());

const twice = {
  'compose.yaml': `services:
  web:
    image: busybox:1
    command: [sh, -c, 'mkdir /tmp/www && echo it runs > /tmp/www/index.html && exec httpd -f -p 8080 -h /tmp/www']
    ports: ['8080:8080']
    deploy: { replicas: 2 }
`,
};

/** Requests URLs until it is stopped; returns what failed. */
function requesting(urls: readonly string[]) {
  const stopping = new AbortController();
  const failures: string[] = [];
  let count = 0;
  const request = async (url: string) => {
    while (!stopping.signal.aborted) {
      const failure = await send(url).then(
        ({ status }) => (status === 200 ? undefined : `status ${status}`),
        (error: unknown) => messageOf(error),
      );
      count += 1;
      if (failure !== undefined) failures.push(`${new Date().toISOString()} ${url}: ${failure}`);
      await sleep(100);
    }
  };
  const all = urls.map(request);
  return async () => {
    stopping.abort();
    await Promise.all(all);
    return { count, failures };
  };
}

test('a drain returns, what has two replicas stays available, and builds end elsewhere', async () => {
  const { kubectl, connection, group } = harness;
  const node = await workerWithoutRedis(kubectl);
  const url = await harness.push('shop', 'main', twice);
  const built = await harness.push('numbered', 'main', { 'api/Dockerfile': numberedDockerfile(group, 600) });
  const main = await harness.spawn(await harness.addRepository('shop', url), 'main');
  const { weburl } = await harness.built(main);
  const nodesOf = async (namespace: string, selector: string) =>
    (await readyPods(kubectl, namespace, selector)).map((pod) => pod.node);
  const api = 'app.kubernetes.io/name=coppice-api';
  expect(new Set(await nodesOf(namespaceOf(main), ofService('web'))).size).toBe(2);
  expect(new Set(await nodesOf('coppice-system', api)).size).toBe(2);

  // The builder is on the node that is drained, and its cache with it.
  const [other = ''] = (await nodesOf(namespaceOf(main), ofService('web'))).filter((one) => one !== node);
  const numbered = await harness.addRepository('numbered', built);
  const { building, builder } = await whileCordoned(kubectl, other, async () => {
    const spawned = await harness.spawn(numbered, 'main');
    const pod = await waitFor('the builder', 180, async () =>
      (await readyPods(kubectl, 'coppice-builders', `coppice.dev/builder=group-${group}`)).at(0),
    );
    return { building: spawned, builder: pod };
  });
  expect(builder.node).toBe(node);

  // A drain refuses pods without a controller, such as those with which the provisioner deletes other tests' volumes.
  await waitFor('deleted volumes to be gone', 120, async () => {
    const pods = ['--namespace', 'local-path-storage', 'get', 'pods', '--output', 'name'];
    return (await kubectl(pods)).includes('/helper-pod-') ? undefined : true;
  });
  const stop = requesting([weburl, `${connection.apiUrl}/api/openapi.json`]);
  const started = Date.now();
  try {
    const drain = ['drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=180s'];
    await kubectl(drain, { deadline: 200 });
    console.log(`the drain returned after ${((Date.now() - started) / 1000).toFixed(0)} s`);
    await harness.built(building);
    console.log(`the build ended after ${((Date.now() - started) / 1000).toFixed(0)} s`);
    await waitFor('both replicas to run again', 120, async () =>
      (await readyPods(kubectl, namespaceOf(main), ofService('web'))).length === 2 ? true : undefined,
    );
  } finally {
    const { count, failures } = await stop();
    await kubectl(['uncordon', node]);
    console.log(`${count} requests, ${failures.length} failed`);
    expect(failures).toEqual([]);
  }
}, 900_000);
