import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';

/** Starts to listen, optionally on one host address. */
export async function listen(handler: RequestListener, port: number, host?: string): Promise<Server> {
  const server = createServer(handler).listen(port, host);
  await once(server, 'listening');
  return server;
}

/** Stops accepting requests; resolves when the last one has ended, after 5 s at most. */
export async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), 5000);
  await closed;
  clearTimeout(late);
}
