import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { CliError, codeOf } from '../errors.ts';
import type { ForwardRequest } from '../installation.ts';
import { note, type Io } from '../io.ts';
import { environmentPath } from '../paths.ts';
import type { Client } from './client.ts';
import { textOf } from './http.ts';
import { PodSession } from './pod-session.ts';

const host = '127.0.0.1';
/** After the end of a program's output, the connection stays open while the answer arrives, and this long after it. */
const lingerMs = 2000;
/** What the server answers to a plain request if the session is permitted. */
const upgradeRequired = 426;

/** Listens on local ports, and connects each connection to a port of a pod, until the signal ends it. @throws CliError */
export async function forwardPorts(
  client: Client,
  io: Io,
  id: string,
  { service, pod, ports }: ForwardRequest,
  signal: AbortSignal,
): Promise<void> {
  const path = `${environmentPath(id)}/services/${encodeURIComponent(service)}/port-forward`;
  for (const { remote } of ports) await requirePermission(client, path, { port: remote, pod });
  const servers: Server[] = [];
  try {
    for (const { local, remote } of ports) {
      const query = { port: remote, pod };
      const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
        forwardConnection(socket, client, path, query).catch((error: unknown) => {
          note(io, `port ${remote}: ${error instanceof Error ? error.message : String(error)}`);
        });
      });
      servers.push(server);
      await listen(server, local);
      const { port } = server.address() as AddressInfo;
      note(io, `${host}:${port} leads to port ${remote} of ${service} in ${id}`);
    }
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
    });
  } finally {
    for (const server of servers) server.close();
  }
}

/** Reports a refusal before a program connects. */
async function requirePermission(client: Client, path: string, query: { port: number; pod: string | undefined }) {
  const response = await client.openAny('GET', path, { query });
  if (response.statusCode !== upgradeRequired) throw await client.refusal(response);
  await textOf(response);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const code = codeOf(error);
      const why = code === 'EADDRINUSE' ? 'another program uses it. Choose another one' : error.message;
      reject(new CliError(`the local port ${port} cannot be opened: ${why}`, undefined, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
}

async function forwardConnection(
  socket: Socket,
  client: Client,
  path: string,
  query: { port: number; pod: string | undefined },
): Promise<void> {
  // The close event that follows is enough.
  socket.on('error', () => undefined);
  let linger: NodeJS.Timeout | undefined;
  try {
    const session = await PodSession.open({
      ...{ client, path, query },
      onData: (_channel, bytes) => {
        linger?.refresh();
        return written(socket, bytes);
      },
    });
    socket.once('close', () => session.close());
    if (socket.destroyed) session.close();
    await session.started;
    socket.on('data', (bytes: Buffer) => {
      socket.pause();
      void session.input(bytes).then(() => socket.resume());
    });
    // Kubernetes cannot end one direction alone.
    socket.once('end', () => {
      linger = setTimeout(() => session.close(), lingerMs);
    });
    socket.resume();
    await session.ended;
  } catch (error) {
    if (!socket.destroyed && !socket.readableEnded) throw error;
  } finally {
    clearTimeout(linger);
    socket.end(() => socket.destroy());
  }
}

/** Resolves when the socket has taken the bytes, or is closed. */
function written(socket: Socket, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.write(bytes, () => resolve());
  });
}
