import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';

/** Listens; of a host where one is given. */
export async function listen(handler: RequestListener, port: number, host?: string): Promise<Server> {
  const server = createServer(handler).listen(port, host);
  await once(server, 'listening');
  return server;
}

/** Takes no more requests, and ends when the last one has; in 5 s at the most. */
export async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), 5000);
  await closed;
  clearTimeout(late);
}
