import { get } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';

/**
 * The status that the Ingress controller answers for a host name and path. By node:http, since fetch sends no Host
 * header but its URL's, and not every resolver knows *.localhost.
 */
export async function ingressStatus(ingressUrl: string, host: string, path: string): Promise<number> {
  const request = get(new URL(path, ingressUrl), { headers: { host }, timeout: 5000 });
  request.on('timeout', () => request.destroy(new Error(`${host} does not answer within 5 s`)));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}
