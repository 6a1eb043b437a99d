import { isIP } from 'node:net';
import type { Logger } from 'pino';
import { LABELS } from '../../../crds/labels.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { keyOf, type Pod } from '../../../kubernetes/resource-type.ts';
import { connectedAddresses, WATCHER_NAME } from '../objects/connection-watcher.ts';

export interface OpenConnectionsOptions {
  client: Pick<ClusterClient, 'podLog'>;
  pods: Pick<Informer<Pod>, 'byIndex'>;
  logger: Pick<Logger, 'debug'>;
}

/** `unknown`: the connections of a pod cannot be read. */
export type Connections = 'none' | 'open' | 'unknown';

const readMs = 5000;

/** Reads whether visitors are connected to pods directly, past the waker. */
export class OpenConnections {
  readonly #options: OpenConnectionsOptions;

  constructor(options: OpenConnectionsOptions) {
    this.#options = options;
  }

  /** Returns whether anybody but the environment's own pods is connected to its public services. */
  async of(namespace: string): Promise<Connections> {
    const pods = this.#options.pods.byIndex('namespace', namespace);
    const own = new Set(pods.flatMap(({ status }) => (status?.podIPs ?? []).map(({ ip }) => ip)));
    const watched = pods.filter(({ spec, metadata }) => {
      return (
        metadata.labels?.[LABELS.service] !== undefined && spec?.containers.some(({ name }) => name === WATCHER_NAME)
      );
    });
    const results = await Promise.all(watched.map((pod) => this.#connected(pod)));
    if (results.some((addresses) => addresses?.some((address) => isVisitor(address, own)))) return 'open';
    return results.includes(undefined) ? 'unknown' : 'none';
  }

  async #connected(pod: Pod): Promise<string[] | undefined> {
    const { namespace, name } = pod.metadata;
    const options = { container: WATCHER_NAME, tailLines: 1, signal: AbortSignal.timeout(readMs) };
    let addresses: string[] | undefined;
    try {
      for await (const line of this.#options.client.podLog({ namespace, name }, options)) {
        addresses = connectedAddresses(line);
      }
    } catch (error) {
      this.#options.logger.debug({ err: error, pod: keyOf(pod) }, 'the connections of a pod cannot be read');
    }
    return addresses;
  }
}

function isVisitor(address: string, own: ReadonlySet<string>): boolean {
  return isIP(address) !== 0 && !own.has(address) && !address.startsWith('127.') && address !== '::1';
}
