import { setTimeout as sleep } from 'node:timers/promises';
import { secondsOf, type Figure } from '../bench/measure.ts';
import { send } from '../client/local-http.ts';
import { NODE_CONTAINER } from '../cluster/kind-cluster.ts';
import { onNode } from '../cluster/on-node.ts';
import type { Progress } from '../support/progress.ts';
import { run } from '../support/run.ts';
import { waitFor } from '../support/wait-for.ts';
import { conditionOf, namespaceOf, startHarness, type Harness } from '../end-to-end/harness.ts';
import { nothingLeft } from './nothing-left.ts';

const environments = 3;
const requestsOfEach = 8;
/** The service accepts connections this long after its start, so that the fault meets held requests. */
const startSeconds = 8;
const faultAfterMs = 2500;
const withinSeconds = 180;
const body = 'x'.repeat(200_000);

const compose = `services:
  web:
    image: busybox:1
    command:
      - sh
      - -c
      - |
        mkdir -p /tmp/www/cgi-bin && cd /tmp/www && echo here > index.html
        printf '#!/bin/sh\\nprintf "Content-Type: text/plain\\\\r\\\\n\\\\r\\\\n"\\nwc -c\\n' > cgi-bin/count
        chmod +x cgi-bin/count && sleep ${startSeconds} && exec httpd -f -p 8080 -h /tmp/www
    ports: ['8080:8080']
    stop_grace_period: 0s
`;

interface Sleeper {
  id: string;
  weburl: string;
}

/**
 * Kills a process while it holds requests for sleeping environments, or wakes them. Each request must be answered or, if
 * its waker was killed, end so that the client can repeat it, and is then answered.
 */
export function killedWhileWaking(part: 'waker' | 'operator') {
  return (progress: Progress): Promise<Figure[]> =>
    withSleepers(progress, async (sleepers) => {
      const killed = sleep(faultAfterMs).then(() => (part === 'waker' ? killOneWaker() : killOperator()));
      const { seconds, repeated } = await progress.step(`visit all, kill the ${part}`, async () => {
        const visited = await visits(sleepers, part === 'waker');
        await killed;
        return visited;
      });
      const count = sleepers.length * requestsOfEach;
      return [
        { name: `${count} held requests: all answered`, unit: 's', samples: [seconds] },
        {
          name: 'of them ended with the killed waker, and were repeated',
          unit: '',
          samples: [repeated],
          ...(part === 'operator' && { target: '0' }),
        },
      ];
    });
}

/** Restarts the node while all environments sleep: they must stay asleep, and wake by a visit. */
export function restartedWhileAsleep(progress: Progress): Promise<Figure[]> {
  return withSleepers(progress, async (sleepers, { kubectl, client }) => {
    const restarted = await progress.step('restart the node', () =>
      secondsOf(async () => {
        await run('docker', ['restart', NODE_CONTAINER], { deadline: 120 });
        await waitFor('the cluster to answer', withinSeconds, () => kubectl(['get', '--raw', '/readyz']));
        for (const part of ['operator', 'api', 'waker']) {
          const deployment = `deployment/coppice-${part}`;
          const how = ['rollout', 'status', deployment, '--namespace', 'coppice-system', '--timeout=180s'];
          await kubectl(how, { deadline: 190 });
        }
        // Until the kubelet reports again, the Deployments have the status from before.
        const [{ id } = { id: '' }] = sleepers;
        await waitFor('the API to answer', withinSeconds, () => client.environment(id));
      }),
    );
    for (const { id } of sleepers) await requireAsleep({ kubectl, client }, id);
    const { seconds, repeated } = await progress.step('visit all', () => visits(sleepers, true));
    return [
      { name: 'node restarted → operator, API and waker ready, all still asleep', unit: 's', samples: [restarted] },
      { name: `${sleepers.length * requestsOfEach} visits then: all answered`, unit: 's', samples: [seconds] },
      { name: 'of them repeated', unit: '', samples: [repeated] },
    ];
  });
}

/** Does the work with environments that sleep; afterwards each must sleep and wake once more without losing a request. */
async function withSleepers(
  progress: Progress,
  work: (sleepers: readonly Sleeper[], harness: Harness) => Promise<Figure[]>,
): Promise<Figure[]> {
  const harness = await startHarness('fault');
  return nothingLeft(harness, progress, async () => {
    const sleepers = await progress.step(`${environments} sleeping environments`, async () => {
      const origin = await harness.push('slow', 'main', { 'compose.yaml': compose });
      const repository = await harness.addRepository('slow', origin);
      const ids: string[] = [];
      for (let index = 0; index < environments; index++) ids.push(await harness.spawn(repository, 'main'));
      const all = await Promise.all(ids.map(async (id) => ({ id, weburl: (await harness.built(id)).weburl })));
      await putToSleep(harness, all);
      return all;
    });
    const figures = await work(sleepers, harness);
    await progress.step('all sleep and wake once more', async () => {
      await putToSleep(harness, sleepers);
      const { repeated } = await visits(sleepers, false);
      if (repeated > 0) throw new Error(`${repeated} requests were lost after everything was well again`);
    });
    return figures;
  });
}

async function putToSleep(harness: Harness, sleepers: readonly Sleeper[]): Promise<void> {
  await Promise.all(
    sleepers.map(async ({ id }) => {
      const answer = await waitFor('the API to answer', 60, async () => {
        const one = await harness.client.send('POST', `/api/environment/${id}/sleep`);
        return one.status >= 500 ? undefined : one;
      });
      if (answer.status !== 202) throw new Error(`sleep: ${answer.status} ${answer.text}`);
      await waitFor(`${id} to sleep`, 120, () => requireAsleep(harness, id));
    }),
  );
}

async function requireAsleep({ kubectl, client }: Pick<Harness, 'kubectl' | 'client'>, id: string): Promise<true> {
  const pods = await kubectl(['get', 'pods', '--namespace', namespaceOf(id), '--output', 'name']);
  const asleep = conditionOf(await client.environment(id), 'Asleep')?.status;
  if (asleep !== 'True' || pods.trim() !== '') throw new Error(`${id} is not asleep: ${asleep}, ${pods}`);
  return true;
}

/** Visits all at once. Repeats, if that is permitted, requests that the Ingress controller or the waker did not forward. */
async function visits(sleepers: readonly Sleeper[], mayRepeat: boolean) {
  let repeated = 0;
  const visit = async (weburl: string, index: number): Promise<void> => {
    const isPost = index % 2 === 1;
    const request = isPost ? { method: 'POST', body } : {};
    const end = Date.now() + withinSeconds * 1000;
    for (;;) {
      const answer = await send(`${weburl}${isPost ? 'cgi-bin/count' : ''}`, {
        ...request,
        timeoutMs: withinSeconds * 1000,
      }).catch((error: unknown) => String(error));
      const isAnswered = typeof answer !== 'string' && answer.status === 200;
      if (isAnswered && answer.text.includes(isPost ? String(body.length) : 'here')) return;
      repeated++;
      if (isAnswered || !mayRepeat || Date.now() > end) throw new Error(`a visit ended with ${JSON.stringify(answer)}`);
      await sleep(500);
    }
  };
  const seconds = await secondsOf(() =>
    Promise.all(
      sleepers.flatMap(({ weburl }) => Array.from({ length: requestsOfEach }, (_none, index) => visit(weburl, index))),
    ),
  );
  return { seconds, repeated };
}

async function killOneWaker(): Promise<void> {
  const [pid = ''] = (await onNode('pgrep', '--full', '^node waker/main.ts')).split('\n');
  await onNode('kill', '-KILL', pid);
}

async function killOperator(): Promise<void> {
  await onNode('pkill', '-KILL', '--full', '^node operator/main.ts');
}
