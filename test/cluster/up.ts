import { parseArgs } from 'node:util';
import { deployGitServer } from '../git-server/deploy.ts';
import { bringUpCluster } from './cluster.ts';
import type { ExistingClusterOptions } from './existing-cluster.ts';
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
  const cluster = await bringUpCluster(progress, parseOptions());
  const gitUrl = await deployGitServer(cluster, progress);
  console.log(`\nKubernetes  export KUBECONFIG=${cluster.kubeconfig}`);
  console.log(`Ingress     ${cluster.ingressUrl} (http://NAME.env.localhost:8080 in a browser)`);
  console.log(`Git server  ${gitUrl}`);
});
