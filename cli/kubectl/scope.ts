import { groupNamespace, groupOfNamespace, isResourceName } from '../../crds/ids.ts';
import { isForbidden } from '../../kubernetes/api-error.ts';
import { CliError, usageError } from '../errors.ts';
import type { Kubectl } from './kubectl.ts';

/** Returns the namespace that --namespace names; undefined without it. @throws CliError if it is not one of a group */
export function givenNamespace(namespace: string | undefined): string | undefined {
  if (namespace === undefined) return undefined;
  const group = groupOfNamespace(namespace);
  if (group !== undefined && isResourceName(group)) return namespace;
  throw usageError(`${namespace} is not the namespace of a group. Use ${groupNamespace('NAME')}, such as group-acme`);
}

/**
 * Returns the namespace of what the user can see: undefined for all namespaces or, if the cluster refuses to list them,
 * that of the context.
 * @param listAll lists the Environments of all namespaces
 * @throws CliError if the context names no namespace of a group
 */
export async function visibleNamespace(
  kubectl: Pick<Kubectl, 'text'>,
  listAll: () => Promise<unknown>,
): Promise<string | undefined> {
  try {
    await listAll();
    return undefined;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const args = ['config', 'view', '--minify', '--output=jsonpath={..namespace}'];
    const namespace = (await kubectl.text(args)).trim();
    if (groupOfNamespace(namespace) !== undefined) return namespace;
    throw new CliError(
      `you cannot list all namespaces (${error.statusMessage}). Name that of a group with --namespace group-NAME, or ` +
        'choose it with `kubectl config set-context --current --namespace group-NAME`',
      undefined,
      { cause: error },
    );
  }
}
