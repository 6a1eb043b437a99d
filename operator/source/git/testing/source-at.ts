import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Source } from '../source.ts';

/** Runs a test with a Source and the repository `shop` at a local server with these responses; a busy machine may need seconds for each. */
export async function sourceAt<T>(
  scratch: string,
  listener: RequestListener,
  read: (source: Source, origin: string) => Promise<T>,
  timeoutMs = 20_000,
): Promise<T> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const guard = { isAddressAllowed: () => true, ports: [port], sshPorts: [] };
  const source = new Source({ ...guard, scratch, timeoutMs });
  try {
    return await read(source, `http://127.0.0.1:${port}/shop.git`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
