import { createSocket } from 'node:dgram';
import { NameLookup, type NameLookupOptions } from '../name-lookup.ts';

export interface LocalDns {
  /** Asks this server only. */
  names: NameLookup;
  /** The names of all queries, in order. */
  asked: string[];
  stop(): void;
}

/**
 * Starts a DNS server on this machine. `addressOf` returns the answer to one query for an IPv4 address, so that it can
 * differ each time; undefined for a name that does not exist. Names below `silent` are not answered.
 */
export async function startDns(
  addressOf: (name: string) => string | undefined,
  options: NameLookupOptions = {},
): Promise<LocalDns> {
  const asked: string[] = [];
  const socket = createSocket('udp4', (query, { port, address }) => {
    const name = nameOf(query);
    asked.push(name);
    if (!name.endsWith('.silent'))
      socket.send(
        answerTo(query, () => addressOf(name)),
        port,
        address,
      );
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const names = new NameLookup({ servers: [`127.0.0.1:${socket.address().port}`], ...options });
  return { names, asked, stop: () => void socket.close() };
}

function nameOf(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; query[at]; at += 1 + (query[at] ?? 0)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)));
  }
  return labels.join('.').toLowerCase();
}

/** Returns a response (RFC 1035) with one A record that must not be cached, or NXDOMAIN. */
function answerTo(query: Buffer, addressOf: () => string | undefined): Buffer {
  const end = 12 + nameOf(query).length + 2 + 4;
  const isA = query.readUInt16BE(end - 4) === 1;
  // Queries for IPv6 addresses must not use up an answer.
  const address = isA ? addressOf() : undefined;
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(address === undefined ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(address === undefined ? 0 : 1, 6);
  head.fill(0, 8, 12);
  if (address === undefined) return head;
  return Buffer.concat([
    head,
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  ]);
}
