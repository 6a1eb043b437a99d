/**
 * The four hosted kinds of Git host for the tests: ownerhost.localhost and so on, each with its API and with git over
 * real bare repositories, and /admin/ for what a test wants of the host (admin.ts; host-admin.ts calls it).
 */
import { createEmulator, createHostServer } from './host-server.ts';
import { KINDS } from './kind.ts';

const root = process.env['REPOSITORIES'] ?? '/repositories';
const emulators = new Map(KINDS.map((name) => [`${name}.localhost`, createEmulator(name, root)]));
const server = createHostServer((hostname) => emulators.get(hostname));
server.listen(3000);
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
