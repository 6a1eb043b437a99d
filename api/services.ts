import type { User } from './user-records/user-record.ts';
import { steadyClock } from '../kubernetes/clock.ts';
import { Directory } from './auth/visibility.ts';
import { cachedKind, freshByKind } from './cluster/caches.ts';
import { orderedWriter } from './cluster/ordered-writer.ts';
import { ReadYourWrites } from './http/read-your-writes.ts';
import { sharedReads } from './cluster/shared-reads.ts';
import { WrittenVersions } from './cluster/written-versions.ts';
import { ChangeHub } from './events/hub.ts';
import { AccessSettings } from './environment-access/access-settings.ts';
import { AccessCodes } from './environment-access/codes.ts';
import { EnvironmentHosts } from './environment-access/hosts.ts';
import { ACCESS_SCRYPT, AccessPasswords } from './environment-access/passwords.ts';
import { Passwords } from './auth/passwords.ts';
import { Sessions } from './auth/sessions.ts';
import { Attempts } from './users/attempts.ts';
import { EnvironmentService } from './environments/environment-service.ts';
import { settingsChanger } from './environments/environment-settings.ts';
import { requireQuotaBy } from './environments/group-quota.ts';
import { TestResultsReader } from './environments/test-results.ts';
import { GroupService } from './groups/group-service.ts';
import { MemberService } from './groups/member-service.ts';
import { Memberships } from './groups/memberships.ts';
import { AccountCaps } from './limits/account-caps.ts';
import { limitMetrics } from './limits/limit-metrics.ts';
import { memoryBudget } from './limits/memory-budget.ts';
import {
  EVENT_STREAMS,
  LOG_STREAMS,
  SHELL_SESSIONS,
  SHELL_SESSIONS_OF_GROUP,
  Viewers,
  viewers,
} from './limits/viewers.ts';
import { budgetedWriter, WriteBudget } from './limits/write-budget.ts';
import { OverrideService } from './overrides/override-service.ts';
import { RefSnapshots } from './repositories/ref-snapshots.ts';
import { RepositoryService } from './repositories/repository-service.ts';
import { ServiceFileTexts } from './repositories/service-file-texts.ts';
import { ServiceFileChecker } from './service-file-check/checker.ts';
import { userServices, type UserServicesOptions } from './users/user-services.ts';
import { variableServices } from './variables/variable-services.ts';
import { ApprovalComments } from './webhooks/approval-comments.ts';
import { Receiver } from './webhooks/receiver.ts';
import { Replays } from './webhooks/replays.ts';
import { SyncRequests } from './webhooks/sync-requests.ts';
import { auditedWriter } from './http/audit-log.ts';
import type { AppOptions } from './app-options.ts';
import type { ClusterWriter } from './cluster/caches.ts';

/** Creates what the API's endpoints use. */
export function createServices(options: AppOptions) {
  const { config, caches, now, randomBytes, registry, logger } = options;
  const { budgets } = config;
  const metrics = limitMetrics(registry);
  const versions = new WrittenVersions(options.written, logger);
  const readYourWrites = new ReadYourWrites(versions, freshByKind(caches), cachedKind);
  const budget = new WriteBudget({ redis: options.writeBudget, limits: budgets.written, metrics, logger, now });
  const ordered = orderedWriter(options.cluster, metrics);
  const directory = new Directory(caches);
  const creatorOf = (namespace: string) => directory.creatorOfNamespace(namespace);
  const cluster = readYourWrites.writer(auditedWriter(budgetedWriter(ordered, budget, creatorOf)));
  const groups = new GroupService({ cluster, cache: caches.groups, randomBytes });
  const { usersNamespace } = config;
  const members = new MemberService({
    ...{ cluster, cache: caches.groups, users: caches.users, usersNamespace, now, randomBytes },
  });
  const memberships = new Memberships({ cluster, cache: caches.groups, directory });
  const texts = new ServiceFileTexts(cluster, randomBytes);
  const variables = variableServices(cluster, caches, randomBytes);
  return {
    ...userServices({
      ...options,
      ...{ cluster, directory },
      groups: { createOwn: (owner) => readYourWrites.as(owner.name, () => groups.createOwn(owner)) },
      memberships: endedMemberships({ memberships, directory, members, readYourWrites }),
    }),
    ...{ readYourWrites, cluster, directory, groups, members, texts },
    requireQuota: requireQuotaBy(directory, config.maxEnvironmentsPerGroup),
    repositories: new RepositoryService({ cluster, cache: caches.repositories, texts, randomBytes }),
    variables,
    overrides: new OverrideService({
      ...{ cluster, cache: caches.environments, variables: variables.environments, randomBytes },
    }),
    environments: new EnvironmentService({ cluster, cache: caches.environments, now, randomBytes }),
    changeSettings: settingsChanger({ cluster, cache: caches.environments }),
    results: new TestResultsReader(cluster, options.tester),
    caps: new AccountCaps({ directory, limits: budgets.account, metrics }),
    memory: memoryBudget(budgets.requestMemoryBytes, registry, metrics),
    viewers: viewers(LOG_STREAMS, metrics, registry),
    eventViewers: viewers(EVENT_STREAMS, metrics, registry),
    shellAccounts: viewers(SHELL_SESSIONS, metrics, registry),
    shellGroups: new Viewers(SHELL_SESSIONS_OF_GROUP.limits, metrics, SHELL_SESSIONS_OF_GROUP),
    hub: changeHub(options),
    checker: new ServiceFileChecker(metrics, options.checkerTimes),
    snapshots: new RefSnapshots(options.snapshots),
    access: accessServices(options, cluster),
    ...webhookServices(options, cluster, creatorOf),
  };
}
export type Services = ReturnType<typeof createServices>;

/** Creates what decides and grants access to environments. */
function accessServices({ config, caches, limitStores, accessCodes, ...options }: AppOptions, cluster: ClusterWriter) {
  const { now, randomBytes } = options;
  const passwords = new Passwords(randomBytes, ACCESS_SCRYPT);
  return {
    hosts: new EnvironmentHosts({ ...config, caches }),
    settings: new AccessSettings({ cluster, passwords, randomBytes }),
    passwords: new AccessPasswords({ cluster, passwords, now }),
    codes: new AccessCodes(accessCodes, randomBytes),
    sessions: new Sessions(options.sessions, now, randomBytes),
    attempts: new Attempts(config.limits.loginsPerMinute, limitStores('coppice:limit:access:')),
    keys: options.accessKeys,
    now,
    randomBytes,
  };
}

function changeHub({ caches, webSockets, clock = steadyClock }: AppOptions): ChangeHub {
  const hub = new ChangeHub({ caches, clock });
  webSockets.closing.addEventListener('abort', () => hub.close(), { once: true });
  return hub;
}

function webhookServices(
  { caches, replays, now }: AppOptions,
  cluster: ClusterWriter,
  creatorOf: (namespace: string) => string | undefined,
) {
  const cache = caches.repositories;
  const syncRequests = new SyncRequests({ cluster, cache, now, clock: steadyClock });
  const approvalComments = new ApprovalComments({
    cluster,
    repositories: cache,
    environments: caches.environments,
    now,
  });
  const received = {
    ...{ cluster: sharedReads(cluster), cache, replays: new Replays(replays, now) },
    ...{ creatorOf, syncRequests, approvalComments, now },
  };
  return { syncRequests, receiver: new Receiver(received) };
}

/** What happens to a user's groups when the account is removed. */
function endedMemberships({
  memberships,
  directory,
  members,
  readYourWrites,
}: {
  memberships: Memberships;
  directory: Directory;
  members: MemberService;
  readYourWrites: ReadYourWrites;
}): UserServicesOptions['memberships'] {
  return {
    leaveAll: (email) => memberships.leaveAll(email),
    leaveSeen: (user) => memberships.leaveSeen(user),
    ownedAlone: (user) =>
      directory
        .groups({ user, reach: undefined })
        .filter((group) => group.metadata.deletionTimestamp === undefined && directory.repositories(group).length > 0)
        .filter((group) => members.isOnlyOwner(group, user.email))
        .map(({ metadata }) => metadata.name),
    leaveMade: (former: User) => readYourWrites.as(former.name, () => memberships.leaveMade(former)),
  };
}
