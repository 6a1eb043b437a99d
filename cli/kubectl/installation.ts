import { randomBytes, randomUUID } from 'node:crypto';
import { effectiveVariables } from '../../api/environment-details/effective-variables.ts';
import { acceptedRequest } from '../../api/environments/build-view.ts';
import { spawnSchema } from '../../api/environments/environment-parameters.ts';
import { EnvironmentService } from '../../api/environments/environment-service.ts';
import { environmentView, spawnedView } from '../../api/environments/environment-view.ts';
import { findBuild } from '../../api/environments/find-build.ts';
import { groupItem } from '../../api/groups/group-view.ts';
import { countsOf, environmentPage, pageQuery } from '../../api/overview/environment-list.ts';
import { listedRepository } from '../../api/repositories/listed-repository.ts';
import type { Environment } from '../../crds/environment.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import { formatId, groupNamespace, groupOfNamespace, idOf, parseId } from '../../crds/ids.ts';
import { ANNOTATIONS } from '../../crds/labels.ts';
import { REPOSITORY } from '../../crds/repository.ts';
import { requestAnnotation, requestValue, SYNC_REQUEST } from '../../crds/requests.ts';
import { isForbidden } from '../../kubernetes/api-error.ts';
import type { BuildView, EnvironmentView, GroupItem, ListedEnvironment, SpawnBody, SpawnedView } from '../api/types.ts';
import { RequestError } from '../api/client.ts';
import { usageError } from '../errors.ts';
import type {
  EnvironmentChange,
  EnvironmentFilter,
  EnvironmentRequest,
  ExecRequest,
  ForwardRequest,
  Installation,
  Kind,
  LogQuery,
  LogReader,
  Variables,
  VariablesOwner,
  WatchedEnvironments,
} from '../installation.ts';
import { note, type Io } from '../io.ts';
import type { Given } from '../session.ts';
import { environmentChanges } from './changes.ts';
import { KubectlCluster } from './cluster.ts';
import { execByKubectl, forwardByKubectl } from './connections.ts';
import { translated } from './errors.ts';
import { Kubectl } from './kubectl.ts';
import { Objects } from './objects.ts';
import { readServiceLog } from './service-log.ts';
import { VariableReader } from './variables.ts';

/** The installation of a cluster. Shows and writes its custom resources as the API does. */
export class KubectlInstallation implements Installation {
  readonly name = 'the cluster';
  readonly #io: Io;
  readonly #kubectl: Kubectl;
  readonly #cluster: KubectlCluster;
  readonly #objects: Objects;
  readonly #service: EnvironmentService;

  constructor(io: Io, given: Given) {
    this.#io = io;
    this.#kubectl = new Kubectl(io, given);
    this.#cluster = new KubectlCluster(this.#kubectl);
    this.#objects = new Objects(this.#kubectl, this.#cluster, given.text('namespace'));
    this.#service = new EnvironmentService({
      ...{ cluster: this.#cluster, cache: { observe: () => undefined } },
      ...{ now: io.now, randomBytes },
    });
  }

  idInNamespace(name: string): string | undefined {
    const group = this.#objects.givenGroup;
    return group === undefined ? undefined : formatId({ group, name });
  }

  groups(): Promise<GroupItem[]> {
    return translated(async () => {
      try {
        return (await this.#cluster.list<Group>(GROUP, undefined)).map(groupItem);
      } catch (error) {
        // Members cannot read Groups, but they can read the namespaces of their groups.
        if (!isForbidden(error)) throw error;
        const id = groupOfNamespace((await this.#objects.namespace()) ?? '');
        if (id === undefined) throw error;
        return [{ id, name: id }];
      }
    });
  }

  repositories() {
    return translated(async () => {
      const namespace = await this.#objects.namespace();
      const [repositories, environments] = await Promise.all([
        this.#objects.repositories(namespace),
        this.#objects.environments(namespace),
      ]);
      const of = Map.groupBy(environments, repositoryOf);
      const items = repositories.map((repository) => {
        const listed = listedRepository(repository);
        return { ...listed, counts: countsOf(of.get(listed.id) ?? []) };
      });
      return { repositories: items, isTruncated: false };
    });
  }

  environments(repository: string, filter: EnvironmentFilter): Promise<ListedEnvironment[]> {
    return translated(async () => {
      const query = pageQuery.safeParse({ sort: 'name', ...filter });
      if (!query.success) throw usageError(query.error.issues.map(({ message }) => message).join('; '));
      const namespace = namespaceOfGroup(repository);
      const [repositories, environments] = await Promise.all([
        this.#objects.repositories(namespace),
        this.#objects.environments(namespace),
      ]);
      if (!repositories.some((one) => formatId(idOf(one)) === repository)) {
        throw new RequestError(404, `there is no Repository ${repository}`);
      }
      const all = environments.filter((environment) => repositoryOf(environment) === repository);
      return environmentPage(all, { ...query.data, limit: Math.max(all.length, 1) }).items;
    });
  }

  environment(id: string): Promise<EnvironmentView> {
    return translated(async () => viewOf(await this.#objects.environment(id)));
  }

  async *changes(watched: WatchedEnvironments, signal: AbortSignal): AsyncGenerator<EnvironmentChange> {
    const at = 'id' in watched ? parseId(watched.id) : undefined;
    const namespace = at ? groupNamespace(at.group) : await translated(() => this.#objects.namespace());
    yield* environmentChanges(this.#cluster, { namespace, name: at?.name }, signal);
  }

  build(id: string, request: string | undefined): Promise<BuildView> {
    return translated(async () => findBuild(await this.#objects.environment(id), request));
  }

  spawn(repositoryId: string, body: SpawnBody): Promise<SpawnedView> {
    return translated(async () => {
      const parsed = spawnSchema.safeParse(body);
      if (!parsed.success)
        throw usageError(parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; '));
      const { data: spawn } = parsed;
      const repository = await this.#objects.repository(repositoryId);
      const answer = (environment: Environment, isReused: boolean) => {
        const accepted = spawn.build ? acceptedRequest(environment, 'build') : undefined;
        return spawnedView(groupOf(environment), environment, undefined, { accepted, isReused });
      };
      const reuse = async (environment: Environment) => answer(await this.#service.reuse(environment, spawn), true);
      const environments = await this.#objects.environments(repository.metadata.namespace);
      const own = environments.filter((environment) => repositoryOf(environment) === repositoryId);
      const there = spawn.ifExists === 'reuse' ? this.#service.reusable(own, spawn) : undefined;
      if (there) return reuse(there);
      const made = await this.#service.spawn(repository, spawn, own);
      return 'existing' in made ? reuse(made.existing) : answer(made.spawned, false);
    });
  }

  request(id: string, request: EnvironmentRequest): Promise<EnvironmentView> {
    return translated(async () => {
      const environment = await this.#objects.environment(id);
      const changed = await this.#change(environment, request);
      const name = request.name === 'create' && request.build ? 'build' : request.name;
      const startsNoBuild = name === 'ttl' || name === 'approve' || name === 'sleep' || name === 'wake';
      return viewOf(changed, startsNoBuild ? undefined : acceptedRequest(changed, name));
    });
  }

  async #change(environment: Environment, request: EnvironmentRequest): Promise<Environment> {
    switch (request.name) {
      case 'build':
        return this.#service.build(environment);
      case 'rebuild':
        return this.#service.rebuild(environment);
      case 'create':
        return this.#service.createContents(environment, request);
      case 'delete':
        return this.#service.deleteContents(environment);
      case 'sleep':
      case 'wake':
        return this.#service.setAsleep(environment, request.name === 'sleep');
      case 'ttl':
        return this.#service.setTtl(environment, request.ttl);
      case 'approve':
        return this.#service.approve(environment, { commit: request.commit, who: await this.#cluster.userName() });
    }
  }

  sync(repositoryId: string): Promise<void> {
    return translated(async () => {
      const { metadata } = await this.#objects.repository(repositoryId);
      const { namespace, name, uid } = metadata;
      const annotations = {
        [requestAnnotation(SYNC_REQUEST)]: requestValue(new Date(this.#io.now()), randomUUID()),
        // Otherwise the account of the previous request would be recorded for this one.
        [ANNOTATIONS.syncRequestedBy]: null,
      };
      await this.#cluster.patch(REPOSITORY, { namespace, name }, { metadata: { uid, annotations } });
    });
  }

  variables({ kind, id }: VariablesOwner): Promise<Variables> {
    return translated(async () => {
      const reader = new VariableReader(this.#cluster);
      if (kind === 'group') return { applies: true, variables: await reader.ofGroup(id) };
      if (kind === 'repository') {
        return { applies: true, variables: await reader.ofRepository(await this.#objects.repository(id)) };
      }
      const environment = await this.#objects.environment(id);
      const ofRepository = await reader.ofRepository(await this.#objects.repository(repositoryOf(environment)));
      const resource = idOf(environment);
      const ofGroup = await this.#ofGroup(reader, resource.group);
      note(this.#io, 'the variables that Coppice sets are missing: `coppice vars list` shows them');
      const overriding = await reader.ofEnvironment(environment);
      const sources = { group: ofGroup, repository: ofRepository, environment: overriding };
      return effectiveVariables(resource, environment, sources);
    });
  }

  async #ofGroup(reader: VariableReader, group: string) {
    try {
      return await reader.ofGroup(group);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      note(this.#io, `the variables of the group are missing: you cannot read the Group ${group}`);
      return [];
    }
  }

  readLog(id: string, { service, ...query }: LogQuery, reader: LogReader): Promise<void> {
    return translated(async () => {
      if (service === undefined) {
        throw usageError(`the server keeps the logs of builds. Use \`coppice logs ${id}\`, or name a --service`);
      }
      await readServiceLog(this.#kubectl, await this.#objects.environment(id), { service, ...query }, reader);
    });
  }

  exec(id: string, request: ExecRequest): Promise<number> {
    return translated(async () => execByKubectl(this.#kubectl, await this.#objects.environment(id), request));
  }

  forward(id: string, request: ForwardRequest): Promise<void> {
    return translated(async () => forwardByKubectl(this.#kubectl, await this.#objects.environment(id), request));
  }

  endOfBuildLog(id: string, build: number | undefined): Promise<string[]> {
    const number = build === undefined ? '' : ` --build ${build}`;
    return Promise.resolve([`the server keeps the log: \`coppice logs ${id}${number}\` prints it`]);
  }

  async namesNear(kind: Kind, name: string): Promise<string[]> {
    if (kind === 'group') return (await this.groups()).map(({ id }) => id);
    return translated(() => this.#objects.ids(kind, name));
  }

  async idsWith(kind: 'repository' | 'environment', text: string, signal: AbortSignal): Promise<string[]> {
    return (await this.#objects.ids(kind, text, signal)).filter((id) => id.includes(text));
  }
}

function groupOf(environment: Environment): Pick<Group, 'metadata'> {
  return { metadata: { name: idOf(environment).group } };
}

/** Returns the id of the repository of an environment. */
function repositoryOf(environment: Environment): string {
  return formatId({ group: idOf(environment).group, name: environment.spec.repository });
}

function viewOf(environment: Environment, request?: Parameters<typeof environmentView>[3]): EnvironmentView {
  return environmentView(groupOf(environment), environment, undefined, request);
}

/** Returns the namespace of the group of an id. @throws RequestError if it is not an id */
function namespaceOfGroup(id: string): string {
  const parsed = parseId(id);
  if (!parsed) throw new RequestError(404, `${id} is not an id, such as acme.shop`);
  return groupNamespace(parsed.group);
}
