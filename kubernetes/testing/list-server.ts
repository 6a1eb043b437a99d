import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { ClusterClient } from '../client.ts';
import type { KubernetesObject } from '../resource-type.ts';

/**
 * An API server that responds to every list with the same objects, and to every watch with a bookmark and one added
 * object.
 */
export class ListServer {
  readonly client: ClusterClient;
  readonly #server: http.Server;

  static async start(listed: () => KubernetesObject[], added: KubernetesObject): Promise<ListServer> {
    const server = http.createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      if (request.url?.includes('watch=true')) {
        const { apiVersion, kind } = added;
        const bookmark = { apiVersion, kind, metadata: { resourceVersion: '1' } };
        response.write(`${JSON.stringify({ type: 'BOOKMARK', object: bookmark })}\n`);
        response.write(`${JSON.stringify({ type: 'ADDED', object: added })}\n`);
      } else {
        response.end(JSON.stringify({ items: listed(), metadata: { resourceVersion: '1' } }));
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new ListServer(server);
  }

  private constructor(server: http.Server) {
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    const config = new KubeConfig();
    const cluster = { name: 'local', server: `http://127.0.0.1:${port}`, skipTLSVerify: true };
    config.loadFromClusterAndUser(cluster, { name: 'user', token: 'token' });
    this.client = new ClusterClient(config);
  }

  async stop(): Promise<void> {
    this.client.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
