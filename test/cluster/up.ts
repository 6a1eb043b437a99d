import { parseArgs } from 'node:util';
import { deployGitServer } from '../git-server/deploy.ts';
import { runSample } from '../sample/run-sample.ts';
import { bringUpCluster } from './cluster.ts';
import { exclusively } from './exclusively.ts';
import type { ExistingClusterOptions } from './existing-cluster.ts';
import { connectionFile, writeConnection } from './connection.ts';
import { apiUrl, installCoppice } from './install-coppice.ts';
import { Problem } from './problem.ts';
import { runMain, startProgress } from './progress.ts';

const usage = `npm run up                      brings up the local kind cluster
npm run up -- --context NAME --registry ADDRESS [--ingress-url URL]
                                uses the cluster of that kubeconfig context, and a registry, HOST[:PORT][/PATH],
                                that this machine and the cluster reach by the same name`;

function parseOptions(): ExistingClusterOptions | undefined {
  let values: { context?: string; registry?: string; 'ingress-url'?: string };
  try {
    const text = { type: 'string' } as const;
    ({ values } = parseArgs({ options: { context: text, registry: text, 'ingress-url': text } }));
  } catch (error) {
    throw new Problem(usage, { cause: error });
  }
  const { context, registry, 'ingress-url': ingressUrl = 'http://127.0.0.1:8080' } = values;
  if (context === undefined && registry === undefined) return undefined;
  if (context === undefined || registry === undefined) {
    throw new Problem(`--context and --registry are given together.\n${usage}`);
  }
  return { context, registry, ingressUrl };
}

await runMain(async () => {
  const progress = startProgress();
  const options = parseOptions();
  await exclusively(progress, async () => {
    const cluster = await bringUpCluster(progress, options);
    const gitUrl = await deployGitServer(cluster, progress);
    await installCoppice(cluster, progress);
    const { email, password, weburl } = await runSample(apiUrl, gitUrl, cluster, progress);
    const { kubeconfig, ingressUrl, registry } = cluster;
    writeConnection({ apiUrl, ingressUrl, kubeconfig, registry: registry.address, gitUrl, email, password });
    console.log(`
Web page    ${weburl}
REST API    ${apiUrl} (user ${email}, password in ${connectionFile})
Kubernetes  export KUBECONFIG=${kubeconfig}
Git server  ${gitUrl}`);
  });
});
