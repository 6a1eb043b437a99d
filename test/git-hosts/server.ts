/**
 * The four hosted types of Git host for the tests: ownerhost.localhost and so on, each with its API, git over real bare
 * repositories, and /admin/ for the tests (admin.ts, called by host-admin.ts).
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
