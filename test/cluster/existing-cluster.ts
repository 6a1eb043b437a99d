import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { Cluster } from './running-cluster.ts';
import { findCommandLineTools } from './machine/command-line-tools.ts';
import { ensureDockerEngine } from './machine/docker-engine.ts';
import { kubectlWith } from './kubectl.ts';
import { KUBECONFIG_FILE, LOCAL_FOLDER } from '../support/paths.ts';
import { Problem } from '../support/problem.ts';
import type { Progress } from '../support/progress.ts';
import { basicAuthorization, writeRegistry } from './registries/registry.ts';
import type { Registry } from './registries/registry.ts';
import { run } from '../support/run.ts';

export interface ExistingClusterOptions {
  /** Name of a context in the user's kubeconfig. */
  context: string;
  /** A registry, HOST[:PORT][/PATH], that this machine and the cluster's nodes can reach by that name. */
  registry: string;
  /** Address of the cluster's Ingress controller for this machine. */
  ingressUrl: string;
}

/** CRD validation rules (CEL) are generally available since this minor version. */
const oldestMinor = 29;
const versionSchema = z.object({ serverVersion: z.object({ gitVersion: z.string(), minor: z.string() }) });

/** Uses an existing cluster, which must have an Ingress controller, a default StorageClass and DNS. */
export async function useExistingCluster(options: ExistingClusterOptions, progress: Progress): Promise<Cluster> {
  await progress.step('Docker Engine', ensureDockerEngine);
  const tools = await findCommandLineTools(progress);
  const view = ['config', 'view', '--raw', '--minify', '--flatten', '--context', options.context];
  mkdirSync(LOCAL_FOLDER, { recursive: true });
  writeFileSync(KUBECONFIG_FILE, await run(tools.kubectl, view), { mode: 0o600 });
  chmodSync(KUBECONFIG_FILE, 0o600);

  const kubectl = kubectlWith(tools.kubectl);
  await progress.step(`cluster of context ${options.context}`, async () => {
    const output = await kubectl(['version', '-o', 'json', '--request-timeout=10s']);
    const { serverVersion } = versionSchema.parse(JSON.parse(output));
    if (Number.parseInt(serverVersion.minor) < oldestMinor) {
      throw new Problem(
        `The cluster runs Kubernetes ${serverVersion.gitVersion}: 1.${oldestMinor} or later is needed.`,
      );
    }
  });
  const registry = await progress.step(`registry ${options.registry}`, () => findRegistry(options.registry));
  writeRegistry(registry);
  const { ingressUrl } = options;
  const ready = Promise.resolve();
  return {
    hubMirrors: [],
    kubeconfig: KUBECONFIG_FILE,
    kubectl,
    tools,
    registry,
    isMirror: false,
    ingressUrl,
    isKind: false,
    isNew: false,
    ready,
  };
}

async function findRegistry(address: string): Promise<Registry> {
  const { COPPICE_REGISTRY_USERNAME: username = '', COPPICE_REGISTRY_PASSWORD: password = '' } = process.env;
  const registry = { address, hostAddress: address, username, password, insecure: false };
  const output: string[] = [];
  for (const scheme of ['https', 'http']) {
    try {
      const answer = await fetch(`${scheme}://${address.split('/')[0] ?? ''}/v2/`, {
        headers: username ? { authorization: basicAuthorization(registry) } : {},
        signal: AbortSignal.timeout(10_000),
      });
      // A registry with token authentication responds with 401 whatever the password, which only a push verifies.
      if (answer.ok || answer.status === 401) return { ...registry, insecure: scheme === 'http' };
      output.push(`${scheme} answers ${answer.status}`);
    } catch (error) {
      output.push(`${scheme} does not answer (${error instanceof Error ? error.message : String(error)})`);
    }
  }
  throw new Problem(
    `There is no image registry at ${address}: ${output.join(', ')}. Its credentials, if it wants any, are read from ` +
      'COPPICE_REGISTRY_USERNAME and COPPICE_REGISTRY_PASSWORD.',
  );
}
