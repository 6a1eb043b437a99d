import net from 'node:net';
import type { KubeConfig } from '@kubernetes/client-node';

/** A proxy between a client and the API server that simulates network failures. */
export class TcpProxy {
  readonly #server: net.Server;
  readonly #host: string;
  readonly #port: number;
  readonly #pairs = new Set<[net.Socket, net.Socket]>();
  #refuses = false;

  constructor(target: URL) {
    this.#host = target.hostname.replace(/^\[|\]$/g, '');
    this.#port = Number(target.port || 443);
    this.#server = net.createServer((client) => this.#connect(client));
  }

  /** Starts the proxy. @returns its port on 127.0.0.1 */
  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** Number of open connections. */
  get open(): number {
    return this.#pairs.size;
  }

  /** Breaks all connections; new ones are accepted. */
  cut(): void {
    for (const [client, server] of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** Breaks all connections, and refuses new ones until accept(). */
  refuse(): void {
    this.#refuses = true;
    this.cut();
  }

  accept(): void {
    this.#refuses = false;
  }

  /** Stops forwarding data on existing connections without closing them; new ones work. */
  hang(): void {
    for (const pair of this.#pairs) {
      for (const socket of pair) {
        socket.unpipe();
        socket.pause();
      }
    }
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #connect(client: net.Socket): void {
    if (this.#refuses) {
      client.destroy();
      return;
    }
    const server = net.connect(this.#port, this.#host);
    const pair: [net.Socket, net.Socket] = [client, server];
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    client.pipe(server).pipe(client);
  }
}

/** Starts a proxy for the config's API server, and points the config to it. */
export async function proxied(config: KubeConfig): Promise<TcpProxy> {
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error('the kubeconfig has no current cluster');
  const target = new URL(cluster.server);
  const proxy = new TcpProxy(target);
  const tlsServerName = cluster.tlsServerName ?? (net.isIP(target.hostname) ? undefined : target.hostname);
  const server = `https://127.0.0.1:${await proxy.start()}`;
  config.clusters = config.clusters.map((other) =>
    other.name === cluster.name ? { ...other, server, ...(tlsServerName && { tlsServerName }) } : other,
  );
  return proxy;
}
