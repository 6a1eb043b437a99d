import type { Problems } from '../problems.ts';
import { quoted } from '../problems.ts';
import type { YamlNode } from '../yaml/yaml-node.ts';
import { deployKeys, restartPolicyKeys } from './keys/deploy-keys.ts';
import { type Fields, isEmpty, optional, readFields, readInteger, readName } from './read.ts';

const replicaRange = { min: 0, max: 100 };

export function readDeploy(fields: Fields, problems: Problems): Fields | undefined {
  return optional(fields, 'deploy', (node) => readFields(node, deployKeys, problems), problems);
}

/** Reads `deploy.replicas` or its equivalent `scale`. */
export function readReplicas(fields: Fields, deploy: Fields | undefined, problems: Problems): number {
  const read = (node: YamlNode): number | undefined => readInteger(node, replicaRange, problems);
  const scale = optional(fields, 'scale', read, problems);
  const replicas = deploy && optional(deploy, 'replicas', read, problems);
  const entry = fields.get('scale');
  if (entry !== undefined && scale !== undefined && replicas !== undefined && scale !== replicas) {
    problems.error(entry.at, 'differs from deploy.replicas: remove one of them');
  }
  return replicas ?? scale ?? 1;
}

/**
 * Returns whether the file restarts a service when it exits; undefined if the file does not determine it. `restart` takes
 * precedence over `deploy.restart_policy`, and the job modes of deploy.mode count too.
 */
export function readRestarts(fields: Fields, deploy: Fields | undefined, problems: Problems): boolean | undefined {
  const mode = deploy && optional(deploy, 'mode', (node) => readMode(node, problems), problems);
  const restart = optional(fields, 'restart', readRestart, problems);
  const policy = deploy && optional(deploy, 'restart_policy', readPolicy, problems);
  return mode === 'job' ? false : (restart ?? policy);
}

function readMode(node: YamlNode, problems: Problems): 'service' | 'job' | undefined {
  const mode = readName(node, problems);
  if (mode === undefined || mode === 'replicated') return 'service';
  if (mode === 'replicated-job' || mode === 'global-job') return 'job';
  if (mode !== 'global') return problems.error(node, `${quoted(mode)} is not a mode: use replicated or replicated-job`);
  problems.warn(node, 'ignored: the service runs with its number of replicas, not once on each node');
  return 'service';
}

/** Returns false for `no`. Kubernetes always restarts services, after failures and after success. */
function readRestart(node: YamlNode, problems: Problems): boolean | undefined {
  if (isEmpty(node)) return undefined;
  const policy = readName(node, problems);
  if (policy === undefined) return undefined;
  if (policy === 'no' || policy === 'false') return false;
  if (/^(always|unless-stopped|on-failure(:\d+)?)$/.test(policy)) return true;
  return problems.error(
    node,
    `${quoted(policy)} is not a restart policy: use no, always, on-failure or unless-stopped`,
  );
}

function readPolicy(node: YamlNode, problems: Problems): boolean | undefined {
  const fields = readFields(node, restartPolicyKeys, problems);
  const entry = fields?.get('condition');
  const condition = entry === undefined ? undefined : readName(entry.value, problems);
  if (entry === undefined || condition === undefined) return undefined;
  if (condition === 'none') return false;
  if (condition === 'any' || condition === 'on-failure') return true;
  return problems.error(entry.value, `${quoted(condition)} is not a condition: use none, on-failure or any`);
}
