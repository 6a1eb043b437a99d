// A process that takes part in a leader election with the operator's own times, and reports it on its standard output:
// `node lease-candidate.ts NAMESPACE LEASE`. On SIGTERM it ends as the operator does.
import { pino } from 'pino';
import { LeaderElector } from '../../kubernetes/leader-election.ts';
import { stopOnSignal } from '../../process/stop-on-signal.ts';
import { LEASE_TIMES } from '../../operator/controllers/lease-times.ts';
import { testClient } from './api-server.ts';

const [namespace = '', name = ''] = process.argv.slice(2);
const logger = pino({ level: 'silent' });
const client = testClient();
const elector = new LeaderElector({
  client,
  namespace,
  name,
  identity: String(process.pid),
  logger,
  ...LEASE_TIMES,
  onLost: () => process.exit(1),
});
stopOnSignal(async () => {
  await elector.stop();
  client.close();
}, logger);
process.stdout.write('waits\n');
if (await elector.acquire()) process.stdout.write('leads\n');
