import { WebSocket, type ClientOptions } from 'ws';
import { apiErrorFrom, UnreachableError } from './api-error.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { readBody } from './http-transport.ts';
import { resourcePath } from './resource-path.ts';
import { Pod, type ObjectName } from './resource-type.ts';

/** The first byte of each frame of an exec stream (v5.channel.k8s.io). */
export const EXEC_CHANNEL = { input: 0, output: 1, error: 2, status: 3, resize: 4, close: 255 } as const;
/** The first byte of each frame of a forwarded port (v4.channel.k8s.io); the first frame of each has the port instead of data. */
export const FORWARD_CHANNEL = { data: 0, error: 1 } as const;

export interface ExecOptions {
  container: string;
  command: readonly string[];
  /** Whether the command has a terminal: its output and errors are then one stream. */
  terminal: boolean;
  input: boolean;
}

/** Frames of the kubelet have at most 32 KiB; those of a terminal are small. */
const maxPayload = 1024 * 1024;
const handshakeTimeout = 30_000;

/** Opens WebSockets into pods: to run commands, and to forward ports. */
export class PodStreams {
  readonly #config: ClusterConnection;
  readonly #userAgent: string;

  constructor(config: ClusterConnection, userAgent: string) {
    this.#config = config;
    this.#userAgent = userAgent;
  }

  /**
   * Runs a command in a container. The connection is paused, so that no frame is lost before a listener is added.
   * @throws ApiError, UnreachableError
   */
  exec(at: ObjectName, { container, command, terminal, input }: ExecOptions): Promise<WebSocket> {
    const query = new URLSearchParams(command.map((word): [string, string] => ['command', word]));
    query.set('container', container);
    query.set('stdin', String(input));
    query.set('stdout', 'true');
    query.set('stderr', String(!terminal));
    query.set('tty', String(terminal));
    // Only from this version on, the end of standard input can be sent.
    return this.#open(`${resourcePath(Pod, { ...at, subresource: 'exec' })}?${query.toString()}`, 'v5.channel.k8s.io');
  }

  /** Connects to a port of a pod, within its network namespace. The connection is paused. @throws ApiError, UnreachableError */
  portForward(at: ObjectName, port: number): Promise<WebSocket> {
    return this.#open(`${resourcePath(Pod, { ...at, subresource: 'portforward' })}?ports=${port}`, 'v4.channel.k8s.io');
  }

  async #open(path: string, protocol: string): Promise<WebSocket> {
    const cluster = this.#config.getCurrentCluster();
    if (!cluster) throw new Error('the kubeconfig has no current cluster. Select one with kubectl config use-context');
    const options: ClientOptions = {};
    // Repeated for each connection: it rereads a service account's token.
    await this.#config.applyToHTTPSOptions(options);
    const headers = { ...options.headers, 'user-agent': this.#userAgent };
    const url = cluster.server.replace(/\/$/, '').replace(/^http/, 'ws') + path;
    const limits = { maxPayload, handshakeTimeout, perMessageDeflate: false };
    const socket = new WebSocket(url, [protocol], { ...options, ...limits, headers });
    // The query contains the command, which can contain a secret.
    const request = `GET ${path.split('?')[0]}`;
    return new Promise((resolve, reject) => {
      socket.once('open', () => {
        socket.pause();
        resolve(socket);
      });
      socket.once('unexpected-response', (_request, response) => {
        readBody(response).then(
          (body) => reject(apiErrorFrom(request, response.statusCode ?? 0, body)),
          (error: unknown) => reject(unreachable(request, error)),
        );
      });
      // After the connection is open, the close event that follows is enough.
      socket.on('error', (error) => reject(unreachable(request, error)));
    });
  }
}

function unreachable(request: string, cause: unknown): UnreachableError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new UnreachableError(`${request}: the API server did not respond: ${why}`, { cause });
}
