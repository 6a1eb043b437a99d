import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { isRenewalDue, type KeyPair } from '../../../process/x509.ts';
import { issueCertificates, type BuilderCertificates } from './certificates.ts';

const now = new Date();
const days = (count: number) => new Date(now.getTime() + count * 24 * 3600 * 1000);

/**
 * Returns what a client receives from a server that requires its certificate, as buildkitd does, or why either
 * refused the other.
 */
async function greet(serverOf: BuilderCertificates, ca: string, client: KeyPair, servername = 'group-a') {
  const { certificate: cert, key } = serverOf.server;
  const verify = { ca: serverOf.ca, requestCert: true, rejectUnauthorized: false };
  const server = createServer({ cert, key, ...verify }, (socket) => {
    socket.end(socket.authorized ? 'welcome' : String(socket.authorizationError));
  });
  server.on('tlsClientError', () => undefined); // the client reports the error
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, servername, ca, cert: client.certificate, key: client.key });
  let heard = '';
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
  let refused: string | undefined;
  socket.on('error', (error: NodeJS.ErrnoException) => (refused = error.code));
  await new Promise((resolve) => socket.once('close', resolve));
  await new Promise((resolve) => server.close(resolve));
  return refused ?? heard;
}

describe('the certificates of a builder', () => {
  test("admit only the builder's own client: not that of another builder, not the server itself", async () => {
    const [a, b] = [await issueCertificates('group-a', now), await issueCertificates('group-b', now)];
    expect(await greet(a, a.ca, a.client)).toBe('welcome');
    expect(await greet(a, a.ca, b.client)).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    expect(await greet(a, a.ca, a.server)).toBe('INVALID_PURPOSE');
  });

  test('identify the server to the client by authority and by name', async () => {
    const [a, b] = [await issueCertificates('group-a', now), await issueCertificates('group-b', now)];
    expect(await greet(a, b.ca, a.client)).toMatch(/^(UNABLE_TO_VERIFY|CERT_SIGNATURE|SELF_SIGNED)/);
    expect(await greet(a, a.ca, a.client, 'group-c')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  test('are due for renewal after two thirds of their year, and before it starts', async () => {
    const { server } = await issueCertificates('group-a', now);
    expect([-1, 0, 240, 244, 400].map((count) => isRenewalDue(server.certificate, days(count)))).toEqual([
      true,
      false,
      false,
      true,
      true,
    ]);
  });
});
