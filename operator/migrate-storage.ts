// Rewrites Coppice's objects that are stored in an earlier version of their kind. The chart runs it after an upgrade to a
// release whose definitions have several versions (ADR 77).
import { customResourceDefinitions } from '../crds/crd.ts';
import { API_GROUP } from '../crds/api-group.ts';
import { ClusterClient } from '../kubernetes/client.ts';
import { systemClock } from '../kubernetes/clock.ts';
import { connectCluster } from '../kubernetes/cluster-connection.ts';
import { migrateStorage } from './storage-migration/migrate.ts';

const client = new ClusterClient(await connectCluster(), { userAgent: 'coppice-storage-migration' });
try {
  await migrateStorage({
    client,
    definitions: customResourceDefinitions().map(({ plural }) => `${plural}.${API_GROUP}`),
    report: (line) => process.stdout.write(`${line}\n`),
    clock: systemClock,
    signal: AbortSignal.timeout(3_600_000),
  });
} finally {
  client.close();
}
