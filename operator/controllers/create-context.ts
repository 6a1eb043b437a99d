import { randomBytes } from 'node:crypto';
import { ANNOTATIONS, FIELD_MANAGERS } from '../../crds/labels.ts';
import { FairSlots } from '../../fair-queue/fair-slots.ts';
import { Applier } from '../../kubernetes/apply.ts';
import { ContentBudget } from '../kinds/environment/revision/content-budget.ts';
import { RevisionStore } from '../kinds/environment/revision/revision-store.ts';
import { createHostHttp } from '../source/hosts/create-host-http.ts';
import { GitHosts } from '../source/hosts/git-hosts.ts';
import { SshKeys } from '../source/hosts/ssh-keys.ts';
import type { OperatorContext } from './context.ts';
import { createRegistries } from '../images/registry/registries.ts';
import { RepositoryConfigurations } from '../kinds/repository/configuration.ts';
import { VisitLog } from '../kinds/environment/lifecycle/visit-log.ts';
import { WakerBoard } from '../services/front/waker-board.ts';
import { HashKey } from '../shared/hash-key.ts';
import { installationId } from '../shared/installation.ts';
import { AccessKeys } from '../services/access/access-keys.ts';
import { addressGuard } from '../source/network/addresses.ts';
import { Source } from '../source/git/source.ts';
import { createKeyPair } from '../source/git/ssh-tools.ts';

export type GivenContext = Omit<
  OperatorContext,
  | 'applier'
  | 'contentsApplier'
  | 'budget'
  | 'source'
  | 'hosts'
  | 'configurations'
  | 'registries'
  | 'revisions'
  | 'accessKeys'
  | 'hashKey'
  | 'installation'
  | 'board'
  | 'visits'
  | 'now'
> & {
  /** The folder of temporary files. */
  scratch: string;
};

/**
 * Maximum numbers of concurrent writes of environments' contents. One environment can need a hundred, and a tenant has
 * half of the workers: without a limit, another tenant's write waits for a thousand. The API server shares its processor
 * time among the requests that it has, so the fewer of them are one tenant's, the faster are the others'. A tenant needs no
 * more: four at a time are hundreds a second.
 */
const contentWrites = { total: 32, perTenant: 4 };

/** Creates the context that reconcilers share. */
export function createContext(given: GivenContext): OperatorContext {
  const { client, caches, config, flows, scratch } = given;
  const now = () => new Date();
  const source = new Source({
    scratch,
    isAddressAllowed: addressGuard(config.sources.allowedCidrs),
    ports: config.sources.ports,
    sshPorts: config.sources.sshPorts,
    timeoutMs: config.sources.timeoutSeconds * 1000,
    caCertificates: config.caCertificates,
  });
  const budget = new ContentBudget({
    ...{ groups: caches.groups, environments: caches.environments, flows },
    limits: config.limits,
    now,
  });
  const slots = new FairSlots(contentWrites.total, { perTenant: contentWrites.perTenant });
  const applying = { client, fieldManager: FIELD_MANAGERS.operator, hashAnnotation: ANNOTATIONS.appliedHash };
  const http = createHostHttp(config, now);
  const sshKeys = new SshKeys({ client, createKeyPair: (comment) => createKeyPair(scratch, comment) });
  const hosts = new GitHosts({ client, source, http, sshKeys, flows, defaults: config.sources.hosts });
  return {
    ...given,
    applier: new Applier(applying),
    contentsApplier: new Applier({
      ...applying,
      inSlot: (object, write) => slots.run(flows.ofObject(object), write),
      onWritten: (object) => budget.count(flows.ofObject(object).tenant, object),
    }),
    budget,
    source,
    hosts,
    board: new WakerBoard(),
    visits: new VisitLog(),
    configurations: new RepositoryConfigurations(client, caches.repositories, caches.groups, hosts, config.sources),
    registries: createRegistries(config, given.access.login),
    revisions: new RevisionStore(client, (group) => flows.ofGroup(group).tenant),
    accessKeys: new AccessKeys({ client, namespace: config.systemNamespace, randomBytes, now }),
    hashKey: new HashKey(client, config.systemNamespace).read,
    installation: installationId(client, config.systemNamespace),
    now,
  };
}
