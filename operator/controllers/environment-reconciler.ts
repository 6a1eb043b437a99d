import type { Masks } from '../../build-logs/masks.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { quantityValue } from '../../kubernetes/quantity.ts';
import { systemClock } from '../../kubernetes/clock.ts';
import { ImageWaits } from '../images/awaited/image-waits.ts';
import { pullSecret, withOwnRegistry } from '../images/build/credentials.ts';
import type { BuildQueues } from '../images/build/build-queue.ts';
import { ImageBuilder } from '../images/build/image-builder.ts';
import { BUILDKITD_PORT } from '../images/builders/objects.ts';
import type { BuilderPool } from '../images/builders/pool.ts';
import type { LogSessions } from '../images/logs/log-sessions.ts';
import type { Reusables } from '../kinds/reusable/reusables.ts';
import { ReusableStore } from '../kinds/group/volume-store.ts';
import { VolumeCopies } from '../kinds/reusable/volume-copies.ts';
import type { OperatorContext } from './context.ts';
import { Waiting } from '../shared/errors.ts';
import { recordRestored } from '../reports/events/record.ts';
import { GroupMembership } from '../kinds/group/group-membership.ts';
import { SECRET_RECHECK_MS } from '../source/hosts/git-hosts.ts';
import { IsolationStates } from '../services/isolation/isolation-states.ts';
import { readRegistrySecrets } from '../images/registry/secrets.ts';
import { defaultPlatform } from '../shared/scheduling.ts';
import { StatusWriter } from '../shared/status-writer.ts';
import { isStatusOnly } from '../shared/watch-filters.ts';
import { AwaitedImagesPhase } from '../kinds/environment/build/awaited-images-phase.ts';
import { BuildLog } from '../kinds/environment/build/build-log.ts';
import { BuildPhase } from '../kinds/environment/build/build-phase.ts';
import { BuildRecorder } from '../kinds/environment/build/build-recorder.ts';
import { RolloutPhase } from '../kinds/environment/build/rollout-phase.ts';
import {
  EnvironmentNamespace,
  type EnvironmentNamespaceSettings,
} from '../kinds/environment/namespace/environment-namespace.ts';
import { Decisions } from '../kinds/environment/lifecycle/decisions.ts';
import type { IsolationSettings } from '../services/isolation/isolation-objects.ts';
import { Sleeping } from '../kinds/environment/lifecycle/sleeping.ts';
import { sleepSettings, visitsOf } from '../kinds/environment/lifecycle/sleep-settings.ts';
import { OpenConnections } from '../services/front/open-connections.ts';
import { isReady } from '../services/front/ready-pods.ts';
import { KeepRunning } from '../kinds/environment/services/keep-running.ts';
import { Masking } from '../kinds/environment/status/masking.ts';
import { EnvironmentQuota } from '../kinds/environment/lifecycle/environment-quota.ts';
import type { EnvironmentScope } from '../kinds/environment/scope/scope.ts';
import { ApprovalPhase, auditApprovals } from '../kinds/environment/revision/approval-phase.ts';
import { RevisionPlanner } from '../kinds/environment/revision/revision-planner.ts';
import { Publishing } from '../kinds/environment/volumes/publishing.ts';
import { EnvironmentReconciler } from '../kinds/environment/reconciler.ts';
import { Removal } from '../kinds/environment/lifecycle/removal.ts';
import { RestrictAccess } from '../kinds/environment/services/restrict-access.ts';
import { Seeding } from '../kinds/environment/volumes/seeding.ts';
import { WakerReports } from '../kinds/environment/services/waker-reports.ts';
import { Services } from '../kinds/environment/services/services.ts';
import { SetUp } from '../kinds/environment/services/set-up.ts';
import { ownPart } from '../kinds/environment/status/status-parts.ts';
import { EnvironmentStatuses } from '../kinds/environment/status/statuses.ts';
import type { WorkloadSettings } from '../services/objects/input.ts';
import { LastOutput } from '../services/diagnosis/last-output.ts';
import { ForwardAuth } from '../services/access/forward-auth.ts';
import { WorkloadSet } from '../services/rollout/workload-set.ts';

export interface EnvironmentCollaborators {
  /** Logs of running builds. */
  logs: LogSessions;
  /** Masks of these logs, and of statuses. */
  masks: Masks;
  builders: BuilderPool;
  queues: BuildQueues;
  reusables: Reusables;
  enqueue: (key: string) => void;
}

/** Creates the reconciler of Environments. */
export function createEnvironmentReconciler(
  context: OperatorContext,
  { logs, masks, builders, queues, reusables, enqueue }: EnvironmentCollaborators,
): EnvironmentReconciler {
  const { client, contentsApplier, budget, caches, source, configurations, revisions, flows } = context;
  const { hashKey, config, logger, now } = context;
  const { registry, environments, sources } = config;
  const plannerSettings = {
    registry: registry.address,
    platform: defaultPlatform(config),
    nodeSelector: environments.scheduling.nodeSelector,
    sourceDeadlineSeconds: sources.deadlineSeconds,
    hashKey,
    budget,
    // The builder of a build that waits for a slot would wait with it.
    onBuildAhead: (group: string) => {
      if (queues.of(true).hasRoomFor(group)) builders.warm(group);
    },
  };
  const planner = new RevisionPlanner(source, revisions, plannerSettings, now);
  const masking = new Masking(planner, masks);
  const workloads = new WorkloadSet(client, contentsApplier, caches, workloadSettings(context));
  const settingsOf = sleepSettings({ configurations, afterSeconds: environments.sleepAfterSeconds });
  const watches = config.waker !== undefined;
  const wakers = new WakerReports({
    ...{ board: context.board, settingsOf, apiUrl: config.apiUrl },
    tenantOf: (group) => flows.ofGroup(group).tenant,
  });
  const services = new Services({
    ...{ workloads, registry, masking, wakers },
    visitsOf: (scope) => (watches ? visitsOf(scope, settingsOf(scope)) : undefined),
  });
  const statuses = new EnvironmentStatuses(
    new StatusWriter<Environment>(client, ENVIRONMENT, caches.environments, ownPart),
  );
  const { rolloutDeadlineSeconds, imageDeadlineSeconds } = environments;
  const lastOutput = new LastOutput({ client, pods: caches.pods, logger });
  const isolation = new IsolationStates({
    NetworkPolicy: caches.isolationPolicies,
    LimitRange: caches.limitRanges,
    ResourceQuota: caches.resourceQuotas,
    RoleBinding: caches.memberBindings,
  });
  const contents = new EnvironmentNamespace(client, contentsApplier, caches.namespaces, isolation, {
    isolation: isolationSettings(context),
    onRestored: recordRestored(context.events),
    pullSecret: pullSecrets(context),
    hashKey,
    membersAccess: membersAccess(context),
    apiAccess: apiAccess(context),
  });
  const imageBuilder = createImageBuilds(context, builders, queues);
  const log = new BuildLog(logs);
  const waits = new ImageWaits({
    ...{ registries: context.registries.baseImages, ownerOf: (group) => flows.ofGroup(group), enqueue },
    ...{ clock: systemClock, logger: context.logger },
  });
  const recorder = new BuildRecorder({ imageBuilder, waits, log, masking });
  const readAuths = pullAuths(context);
  const awaited = new AwaitedImagesPhase({
    ...{ waits, log, imageDeadlineSeconds },
    pullAuths: async (scope) => (await readAuths(scope)).auths,
  });
  const rollout = new RolloutPhase({ imageBuilder, log, recorder, services, lastOutput, rolloutDeadlineSeconds });
  const builds = new BuildPhase({ imageBuilder, log, planner, recorder, awaited, rollout });
  const { seeding, publishing } = createVolumeCopying(context, reusables, statuses);
  return new EnvironmentReconciler({
    client,
    environments: caches.environments,
    configurations,
    environmentsUrl: config.environmentsUrl,
    defaultAccess: config.environments.defaultAccess,
    groups: new GroupMembership(caches.groups, caches.namespaces),
    namespace: contents,
    environmentQuota: createEnvironmentQuota(context, enqueue),
    planner,
    builds,
    recorder,
    approvals: new ApprovalPhase({ source, audit: auditApprovals(logger) }),
    restrictAccess: new RestrictAccess({
      workloads,
      forwardAuth: new ForwardAuth({ client, ingress: config.ingress, now }),
    }),
    setUp: new SetUp({ planner, seeding, services, masking, recorder }),
    keepRunning: new KeepRunning({ planner, publishing, services }),
    seeding,
    publishing,
    decisions: new Decisions({
      environments: caches.environments,
      configurations,
      removal: new Removal(client, caches.environments),
      reusables,
    }),
    sleeping: new Sleeping({
      ...{ settingsOf, publishing, visits: context.visits },
      connections: new OpenConnections({ client, pods: caches.pods, logger: context.logger }),
      hasWaker: () => caches.wakerPods.list().some(isReady),
    }),
    wakers,
    statuses,
    now,
  });
}

/** Creates the copying of reusable environments' volumes, into new contents and from deployed builds. */
function createVolumeCopying(context: OperatorContext, reusables: Reusables, statuses: EnvironmentStatuses) {
  const { client, applier, caches, config } = context;
  const { jobDeadlineSeconds, rolloutDeadlineSeconds, volumes, quota, reusableQuota, scheduling } = config.environments;
  const settings = { image: config.builder.cloneImage, deadlineSeconds: jobDeadlineSeconds, scheduling };
  const copies = new VolumeCopies(client, caches, settings);
  const store = new ReusableStore({ ...caches, client, applier });
  const published = { ...caches, reusables, store, copies, statuses, rolloutDeadlineSeconds };
  return {
    seeding: new Seeding({ reusables, copies, statuses, volumes, quota }),
    publishing: new Publishing({ ...published, storeQuota: reusableQuota }),
  };
}

/** Creates the environment quota; waiting environments are requeued when their Group's limit may have a free slot. */
function createEnvironmentQuota({ caches, config }: OperatorContext, enqueue: (key: string) => void): EnvironmentQuota {
  const { groups, namespaces } = caches;
  const environmentQuota = new EnvironmentQuota({
    groups,
    namespaces,
    maxPerGroup: config.environments.maxPerGroup,
    enqueue,
  });
  groups.addHandler((_type, group, old) => {
    if (!isStatusOnly(group, old)) environmentQuota.requeueWaiting(group.metadata.name);
  });
  return environmentQuota;
}

/** Returns the pull Secrets. */
function pullSecrets(context: OperatorContext): EnvironmentNamespaceSettings['pullSecret'] {
  const readAuths = pullAuths(context);
  return async (scope) => {
    const { namespace, labels, status } = scope;
    const { auths, missing, renewAt } = await readAuths(scope);
    // New contents wait, because their images could not be pulled; running services continue without the Secret.
    const isNew = status.revision === undefined && !status.deployed;
    if (isNew && missing.length > 0) throw new Waiting('RegistrySecretMissing', missing.join('; '), SECRET_RECHECK_MS);
    return { secret: pullSecret(namespace, labels, auths), renewAt };
  };
}

/** Reads the credentials of pulls. Images of a fork's pull request are pulled without the group's credentials. */
function pullAuths({ client, configurations, config, access }: OperatorContext) {
  return async ({ uid, repository, isTrusted }: Pick<EnvironmentScope, 'uid' | 'repository' | 'isTrusted'>) => {
    const names = isTrusted ? configurations.registryAccess(repository).registrySecrets : [];
    // The build's log reports why a Secret cannot be read.
    const { auths, missing } = await readRegistrySecrets(client, groupNamespace(repository.group), names);
    const { credentials, renewAt } = access.forPulls({ environmentUid: uid, repository });
    return { auths: withOwnRegistry(config.registry.address, credentials, auths), missing, renewAt };
  };
}

/** Returns the access of members to the environments of their group, unless the installation disables it. */
function membersAccess({ caches, config }: OperatorContext): EnvironmentNamespaceSettings['membersAccess'] {
  const { environmentMemberRole: role, apiServiceAccount: name } = config.groups;
  const serviceAccount = { namespace: config.systemNamespace, name };
  return ({ id }) => {
    const group = caches.groups.get(id.group);
    return role === undefined || !group ? undefined : { role, members: group.spec.members, serviceAccount };
  };
}

/** Returns the access of the API to the services of an environment, by which it opens shells. */
function apiAccess({ config }: OperatorContext): EnvironmentNamespaceSettings['apiAccess'] {
  const { environmentApiRole: role, environmentApiForks: withForks, apiServiceAccount: name } = config.groups;
  const serviceAccount = { namespace: config.systemNamespace, name };
  return ({ isTrusted }) =>
    role === undefined ? undefined : { role, ...((isTrusted || withForks) && { serviceAccount }) };
}

function createImageBuilds(context: OperatorContext, builders: BuilderPool, queues: BuildQueues): ImageBuilder {
  const { client, applier, caches, source, config } = context;
  const { registry, builder, sources } = config;
  return new ImageBuilder({
    client,
    applier,
    jobs: caches.jobs,
    pods: caches.pods,
    source,
    ...context.registries,
    imageRegistry: registry,
    access: context.access,
    installation: context.installation,
    builders,
    queues,
    maxImageBytes: quantityValue(builder.maxImageSize),
    settings: {
      cloneImage: builder.cloneImage,
      buildctlImage: builder.image,
      proxy: builder.proxy,
      caCertificates: config.caCertificates,
      registryInsecure: registry.insecure,
      sources: { allowedCidrs: sources.allowedCidrs, ports: sources.ports, sshPorts: sources.sshPorts },
      deadlineSeconds: builder.deadlineSeconds,
      scheduling: builder.jobScheduling,
    },
  });
}

function workloadSettings({ config }: OperatorContext): WorkloadSettings {
  const { environmentsUrl, ingress, environments, builder, waker: enabled, systemNamespace: namespace } = config;
  const waker = enabled && { namespace, podLabels: enabled.podLabels, image: builder.cloneImage };
  const { volumes, jobDeadlineSeconds, defaultRequests, defaultLimits, scheduling } = environments;
  return { environmentsUrl, ingress, waker, scheduling, volumes, jobDeadlineSeconds, defaultRequests, defaultLimits };
}

function isolationSettings({ config }: OperatorContext): IsolationSettings {
  const { builder, environments, sources } = config;
  return {
    builderNamespace: builder.namespace,
    buildkitdPort: BUILDKITD_PORT,
    clonePorts: [...new Set([...sources.ports, ...sources.sshPorts, ...tokenPort(config)])],
    egress: config.egress,
    quota: environments.quota,
    defaultRequests: environments.defaultRequests,
    defaultLimits: environments.defaultLimits,
  };
}

/** Returns the port where buildctl requests registry tokens. */
function tokenPort({ registry: { tokenAuth } }: OperatorContext['config']): number[] {
  if (!tokenAuth) return [];
  const { port, protocol } = tokenAuth.url;
  if (port !== '') return [Number(port)];
  return [protocol === 'https:' ? 443 : 80];
}
