// Checks whether the cluster meets the operator's configuration, and prints each result. Exits with 1 if Coppice would not
// work.
import { ClusterClient } from '../kubernetes/client.ts';
import { connectCluster } from '../kubernetes/cluster-connection.ts';
import { checkCluster } from './cluster-checks/report.ts';
import { readConfig } from './config.ts';

const config = await readConfig(process.env['CONFIG_FILE'] ?? '/etc/coppice/operator.yaml');
const client = new ClusterClient(await connectCluster(), { userAgent: 'coppice-doctor' });
const found = await checkCluster(client, config);
client.close();
for (const { check, level, message } of found) process.stdout.write(`${level.padEnd(7)} ${check}: ${message}\n`);
if (found.some(({ level }) => level === 'error')) process.exitCode = 1;
