import { variableView, withheldView, type VariableView } from '../../api/variables/variable-view.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { secretNamer } from '../../crds/named-secret.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import type { VariableSpec } from '../../crds/variable.ts';
import { isForbidden } from '../../kubernetes/api-error.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { RequestError } from '../api/client.ts';
import type { KubectlCluster } from './cluster.ts';

/** Reads variables with their values, which are in Secrets of the group's namespace. */
export class VariableReader {
  readonly #cluster: KubectlCluster;

  constructor(cluster: KubectlCluster) {
    this.#cluster = cluster;
  }

  ofRepository(repository: Repository): Promise<VariableView[]> {
    return this.#views(REPOSITORY, repository, repository.spec.variables, repository.metadata.namespace);
  }

  /** @throws ApiError for members, who cannot read Groups; RequestError if there is no such group */
  async ofGroup(name: string): Promise<VariableView[]> {
    const group = await this.#cluster.find<Group>(GROUP, { name });
    if (!group) throw new RequestError(404, `there is no Group ${name}`);
    return this.#views(GROUP, group, group.spec.variables, groupNamespace(name));
  }

  /** Returns the overrides. */
  ofEnvironment(environment: Environment): Promise<VariableView[]> {
    return this.#views(ENVIRONMENT, environment, environment.spec.overrides?.variables, environment.metadata.namespace);
  }

  /** Returns the variables, without values if the user cannot read the Secrets. */
  async #views(
    type: { kind: string },
    owner: { metadata: { uid?: string | undefined } },
    variables: readonly VariableSpec[] = [],
    namespace = '',
  ): Promise<VariableView[]> {
    const names = new Set(variables.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef.name ?? []));
    try {
      const find = async (name: string) => [name, await this.#cluster.find(Secret, { namespace, name })] as const;
      const secrets = new Map(await Promise.all([...names].map(find)));
      return variables.map((variable) => variableView(variable, secrets, secretNamer(type, owner)));
    } catch (error) {
      if (!isForbidden(error)) throw error;
      return variables.map(withheldView);
    }
  }
}
