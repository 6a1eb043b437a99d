import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { pullSecret, withOwnRegistry } from '../build/credentials.ts';
import type { BuildQueues } from '../build/build-queue.ts';
import { ImageBuilds } from '../build/image-builds.ts';
import { BUILDKITD_PORT } from '../builders/objects.ts';
import type { BuilderPool } from '../builders/pool.ts';
import type { LogSessions } from '../build/log-sessions.ts';
import { createReusing } from '../reusable/create.ts';
import type { Reusables } from '../reusable/reusables.ts';
import type { OperatorParts } from '../parts.ts';
import { Waiting } from '../errors.ts';
import { recordRestored } from '../events/create.ts';
import { GroupMembership } from '../group/group-membership.ts';
import { secretRecheckMs } from '../hosts/git-hosts.ts';
import { IsolationStates } from '../isolation/isolation-states.ts';
import { readRegistrySecrets } from '../registry/secrets.ts';
import type { RegistryCredentials } from '../registry/session.ts';
import { isStatusOnly } from '../routing.ts';
import { defaultPlatform } from '../scheduling.ts';
import { StatusWriter } from '../status-writer.ts';
import { Building } from './building.ts';
import { BuildRun } from './build-run.ts';
import { Contents, type ContentsSettings } from './contents.ts';
import { Decisions } from './decisions.ts';
import type { FenceSettings } from './fence.ts';
import { Masking } from './masking.ts';
import { Places } from './places.ts';
import { Planner } from './planner.ts';
import { Planning } from './planning.ts';
import { EnvironmentReconciler } from './reconciler.ts';
import { Removal } from './removal.ts';
import { Services } from './services.ts';
import { ownPart } from './status-parts.ts';
import { EnvironmentStatuses } from './statuses.ts';
import type { WorkloadSettings } from '../workloads/input.ts';
import { LastOutput } from '../workloads/last-output.ts';
import { WorkloadSet } from '../workloads/workload-set.ts';

/** Puts the Environment's reconciler together. */
export function createEnvironmentReconciler(
  parts: OperatorParts,
  logs: LogSessions,
  credentials: () => RegistryCredentials | undefined,
  builders: BuilderPool,
  queues: BuildQueues,
  reusables: Reusables,
  enqueue: (key: string) => void,
): EnvironmentReconciler {
  const { client, applier, caches, source, configurations, versions, config, now } = parts;
  const { registry, environments, sources } = config;
  const plannerSettings = {
    registry: registry.address,
    platform: defaultPlatform(config),
    nodeSelector: environments.scheduling.nodeSelector,
    sourceDeadlineSeconds: sources.deadlineSeconds,
    onBuildAhead: (group: string) => builders.warm(group),
  };
  const planning = new Planning(configurations, new Planner(source, versions, plannerSettings, now), versions);
  const masking = new Masking(planning);
  const workloads = new WorkloadSet(client, applier, caches, workloadSettings(parts));
  const services = new Services(workloads, registry, masking);
  const builds = new BuildRun(createImageBuilds(parts, credentials, builders, queues), logs, masking);
  const statuses = new EnvironmentStatuses(
    new StatusWriter<Environment>(client, ENVIRONMENT, caches.environments, ownPart),
  );
  const { rolloutDeadlineSeconds } = environments;
  const lastOutput = new LastOutput({ client, pods: caches.pods, logger: parts.logger });
  const isolation = new IsolationStates({
    NetworkPolicy: caches.isolationPolicies,
    LimitRange: caches.limitRanges,
    ResourceQuota: caches.resourceQuotas,
  });
  const contents = new Contents(client, applier, caches.namespaces, isolation, {
    fence: fenceSettings(parts),
    onRestored: recordRestored(parts.events),
    pullSecret: pullSecrets(parts, credentials),
  });
  return new EnvironmentReconciler({
    client,
    environments: caches.environments,
    configurations,
    groups: new GroupMembership(caches.groups, caches.namespaces),
    contents,
    places: createPlaces(parts, enqueue),
    planning,
    services,
    masking,
    builds,
    building: new Building({ planning, builds, services, statuses, lastOutput, rolloutDeadlineSeconds }),
    decisions: new Decisions({
      environments: caches.environments,
      configurations,
      contents,
      removal: new Removal(client, caches.environments),
      reusables,
      statuses,
      environmentsUrl: config.environmentsUrl,
    }),
    reusing: createReusing(parts, reusables, statuses),
    statuses,
    now,
  });
}

/** Environments that wait for a place look again when their Group may have more. */
function createPlaces({ caches, config }: OperatorParts, enqueue: (key: string) => void): Places {
  const { groups, namespaces } = caches;
  const places = new Places({ groups, namespaces, mostPerGroup: config.environments.mostPerGroup, enqueue });
  groups.addHandler((_type, group, old) => {
    if (!isStatusOnly(group, old)) places.lookAgain(group.metadata.name);
  });
  return places;
}

/** What a pull request of a fork runs is pulled without its group's credentials. */
function pullSecrets(
  { client, configurations, config }: OperatorParts,
  credentials: () => RegistryCredentials | undefined,
): ContentsSettings['pullSecret'] {
  return async ({ repository, namespace, labels, isTrusted, status }) => {
    const names = isTrusted ? configurations.registryAccess(repository).registrySecrets : [];
    // What keeps a Secret from being read, the build's log tells.
    const { auths, missing } = await readRegistrySecrets(client, groupNamespace(repository.group), names);
    // Nothing is set up yet: images that need it could not be pulled. What runs goes on without it.
    const isNew = status.version === undefined && !status.deployed;
    if (isNew && missing.length > 0) throw new Waiting('RegistrySecretMissing', missing.join('; '), secretRecheckMs);
    return pullSecret(namespace, labels, withOwnRegistry(config.registry.address, credentials(), auths));
  };
}

function createImageBuilds(
  parts: OperatorParts,
  credentials: () => RegistryCredentials | undefined,
  builders: BuilderPool,
  queues: BuildQueues,
): ImageBuilds {
  const { client, applier, caches, source, config } = parts;
  const { registry, builder, sources } = config;
  return new ImageBuilds({
    client,
    applier,
    jobs: caches.jobs,
    pods: caches.pods,
    source,
    ...parts.registries,
    imageRegistry: registry,
    credentials,
    builders,
    queues,
    settings: {
      cloneImage: builder.cloneImage,
      buildctlImage: builder.image,
      proxy: builder.proxy,
      registryInsecure: registry.insecure,
      sources: { allowedCidrs: sources.allowedCidrs, ports: sources.ports, sshPorts: sources.sshPorts },
      deadlineSeconds: builder.deadlineSeconds,
      scheduling: builder.jobScheduling,
    },
  });
}

function workloadSettings({ config }: OperatorParts): WorkloadSettings {
  const { environmentsUrl, ingress, environments } = config;
  const { volumes, jobDeadlineSeconds, defaultRequests, defaultLimits, scheduling } = environments;
  return { environmentsUrl, ingress, scheduling, volumes, jobDeadlineSeconds, defaultRequests, defaultLimits };
}

function fenceSettings({ config }: OperatorParts): FenceSettings {
  const { builder, environments, sources } = config;
  return {
    builderNamespace: builder.namespace,
    buildkitdPort: BUILDKITD_PORT,
    gitPorts: [...sources.ports, ...sources.sshPorts],
    egress: config.egress,
    quota: environments.quota,
    defaultRequests: environments.defaultRequests,
    defaultLimits: environments.defaultLimits,
  };
}
