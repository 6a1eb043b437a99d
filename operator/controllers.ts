import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BuildLogWriter } from '../build-logs/writer.ts';
import { GROUP, type Group } from '../crds/group.ts';
import { ANNOTATIONS, FIELD_MANAGERS } from '../crds/labels.ts';
import { REPOSITORY, type Repository } from '../crds/repository.ts';
import { Applier } from '../kubernetes/apply.ts';
import { Controller, type ReconcileResult } from '../kubernetes/controller.ts';
import type { BuilderCredentials } from './build/credentials.ts';
import { LogSessions } from './build/log-sessions.ts';
import { createEnvironmentReconciler } from './environment/create.ts';
import { GroupReconciler } from './group/reconciler.ts';
import type { OperatorParts } from './parts.ts';
import { RepositoryAccess } from './repository/access.ts';
import { RepositoryReconciler } from './repository/reconciler.ts';
import { routeChanges } from './routing.ts';
import { addressGuard } from './source/addresses.ts';
import { Source } from './source/source.ts';
import { StatusWriter } from './status-writer.ts';

type Given = Omit<OperatorParts, 'applier' | 'source' | 'access' | 'now'>;

/** The controller of each kind, with what it is made of, and what makes it look at which object. */
export async function createControllers(given: Given): Promise<{ controllers: Controller[]; logs: LogSessions }> {
  const parts = completeParts(given);
  const { client, caches, redis, logger, config } = parts;
  const logs = new LogSessions({
    client,
    pods: caches.pods,
    openWriter: (logId, secrets) => BuildLogWriter.open(redis, logId, { secrets }),
    enqueue: (key) => environments.enqueue(key),
    logger,
  });
  const credentials = await readBuilderCredentials(parts);
  const groups = controller(parts, 'group', groupReconciler(parts), 4);
  const repositories = controller(parts, 'repository', repositoryReconciler(parts), 8);
  const environmentReconciler = createEnvironmentReconciler(parts, logs, credentials);
  const environments = controller(parts, 'environment', environmentReconciler, config.workers);
  routeChanges(caches, { groups, repositories, environments });
  return { controllers: [groups, repositories, environments], logs };
}

function completeParts(given: Given): OperatorParts {
  const { client, caches, config } = given;
  return {
    ...given,
    applier: new Applier({
      client,
      fieldManager: FIELD_MANAGERS.operator,
      hashAnnotation: ANNOTATIONS.appliedHash,
    }),
    source: new Source({
      scratch: tmpdir(),
      isAddressAllowed: addressGuard(config.sources.allowedCidrs),
      ports: config.sources.ports,
      timeoutMs: config.sources.timeoutSeconds * 1000,
    }),
    access: new RepositoryAccess(client, caches.repositories),
    now: () => new Date(),
  };
}

interface Reconciler {
  reconcile(key: string): Promise<ReconcileResult>;
}

function controller(parts: OperatorParts, name: string, reconciler: Reconciler, workers: number): Controller {
  const { caches, logger, metrics } = parts;
  return new Controller({
    name,
    reconcile: (key) => reconciler.reconcile(key),
    informers: Object.values(caches),
    workers,
    logger,
    metrics: metrics.forController(name),
  });
}

function groupReconciler({ client, applier, caches, config, now }: OperatorParts): GroupReconciler {
  const { groups, namespaces } = caches;
  const statuses = new StatusWriter<Group>(client, GROUP, groups);
  return new GroupReconciler({ client, applier, groups, namespaces, statuses, memberRole: config.memberRole, now });
}

function repositoryReconciler({ client, caches, access, source, now }: OperatorParts): RepositoryReconciler {
  const { repositories, environments } = caches;
  const statuses = new StatusWriter<Repository>(client, REPOSITORY, repositories);
  return new RepositoryReconciler({ client, repositories, environments, access, source, statuses, now });
}

async function readBuilderCredentials({ config, secrets }: OperatorParts): Promise<BuilderCredentials> {
  const read = (name: string) => readFile(join(config.builder.certificates, name), 'utf8');
  return {
    ca: await read('ca.crt'),
    certificate: await read('tls.crt'),
    key: await read('tls.key'),
    registryUsername: secrets.REGISTRY_USERNAME,
    registryPassword: secrets.REGISTRY_PASSWORD,
  };
}
