import { get } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Kubectl } from '../kubectl.ts';
import { messageOf, Problem } from '../../support/problem.ts';
import { waitFor } from '../../support/wait-for.ts';

/**
 * Waits until a path of a host responds with 200. Throws a Problem with the last response and the pods that are not
 * ready.
 */
export async function waitForAnswer(
  { ingressUrl, kubectl }: { ingressUrl: string; kubectl: Kubectl },
  host: string,
  path: string,
): Promise<void> {
  try {
    await waitFor(`http://${host}${path} to respond`, 120, async () => {
      const status = await ingressStatus(ingressUrl, host, path);
      if (status !== 200) throw new Error(`the Ingress controller responds with status ${status}`);
      return true;
    });
  } catch (error) {
    throw new Problem(`${messageOf(error)}\n${await podsNotReady(kubectl)}`, { cause: error });
  }
}

/**
 * Returns the status of a response of the Ingress controller for a host and path. Uses node:http, because fetch cannot
 * set the Host header, and not every resolver resolves *.localhost.
 */
async function ingressStatus(ingressUrl: string, host: string, path: string): Promise<number> {
  const request = get(new URL(path, ingressUrl), { headers: { host }, timeout: 5000 });
  request.on('timeout', () => request.destroy(new Error(`${host} does not respond within 5 s`)));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

/** Returns the pods as in kubectl's table, one per line. */
async function podsNotReady(kubectl: Kubectl): Promise<string> {
  const table = await kubectl(['get', 'pods', '--all-namespaces', '--no-headers']);
  const isReady = (line: string) => / (\d+)\/\1 /.test(line) || line.includes(' Completed ');
  const lines = table.split('\n').filter((line) => line !== '' && !isReady(line));
  return lines.length === 0 ? 'Every pod is ready.' : `Pods that are not ready:\n${lines.join('\n')}`;
}
