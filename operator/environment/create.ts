import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { Builder } from '../build/builder.ts';
import { pullSecret, type BuilderCredentials } from '../build/credentials.ts';
import type { LogSessions } from '../build/log-sessions.ts';
import { RegistryClient } from '../build/registry.ts';
import type { OperatorParts } from '../parts.ts';
import { StatusWriter } from '../status-writer.ts';
import { BuildRun } from './build-run.ts';
import { Contents } from './contents.ts';
import type { FenceSettings } from './fence.ts';
import { Planner } from './planner.ts';
import { EnvironmentReconciler } from './reconciler.ts';
import { Removal } from './removal.ts';
import { VersionStore } from './version-store.ts';
import { WorkloadSet } from './workload-set.ts';

/** Puts the Environment's reconciler together. */
export function createEnvironmentReconciler(
  parts: OperatorParts,
  logs: LogSessions,
  credentials: BuilderCredentials,
): EnvironmentReconciler {
  const { client, applier, caches, source, access, config, now } = parts;
  const { registry, ingress, environments, sources } = config;
  const versions = new VersionStore(client);
  const plannerSettings = { registry: registry.address, sourceDeadlineSeconds: sources.deadlineSeconds };
  return new EnvironmentReconciler({
    client,
    environments: caches.environments,
    repositories: access,
    contents: new Contents(client, applier, caches.namespaces, {
      fence: fenceSettings(parts),
      pullSecret: (namespace, labels) => pullSecret(namespace, labels, registry.address, credentials),
    }),
    planner: new Planner(source, versions, plannerSettings, now),
    versions,
    workloads: new WorkloadSet(client, applier, caches),
    builds: new BuildRun(createBuilder(parts, credentials), logs),
    removal: new Removal(client),
    statuses: new StatusWriter<Environment>(client, ENVIRONMENT, caches.environments),
    settings: {
      environmentsUrl: config.environmentsUrl,
      ingressClassName: ingress.className,
      registry: registry.address,
      rolloutDeadlineSeconds: environments.rolloutDeadlineSeconds,
    },
    now,
  });
}

function createBuilder(parts: OperatorParts, credentials: BuilderCredentials): Builder {
  const { client, applier, caches, source, config } = parts;
  const { registry, builder } = config;
  return new Builder({
    client,
    applier,
    jobs: caches.jobs,
    pods: caches.pods,
    source,
    registry: new RegistryClient({
      address: registry.address,
      insecure: registry.insecure,
      username: credentials.registryUsername,
      password: credentials.registryPassword,
    }),
    registryAddress: registry.address,
    credentials,
    settings: {
      cloneImage: builder.cloneImage,
      buildctlImage: builder.buildctlImage,
      buildkitdAddress: builder.address,
      registryInsecure: registry.insecure,
      deadlineSeconds: builder.deadlineSeconds,
    },
  });
}

function fenceSettings({ config }: OperatorParts): FenceSettings {
  const { builder, ingress, environments, sources } = config;
  return {
    ingressNamespace: ingress.namespace,
    builderNamespace: builder.namespace,
    buildkitdPort: Number(new URL(builder.address).port),
    gitPorts: sources.ports,
    quota: environments.quota,
    defaultRequests: environments.defaultRequests,
    defaultLimits: environments.defaultLimits,
  };
}
