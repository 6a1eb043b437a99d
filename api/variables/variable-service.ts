import { secretNamer } from '../../crds/named-secret.ts';
import type { VariableSpec } from '../../crds/variable.ts';
import { isUnavailable } from '../../kubernetes/api-error.ts';
import { keyOf, Secret, type ResourceType } from '../../kubernetes/resource-type.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import type { ObjectCache } from '../cluster/object-cache.ts';
import { requireRoom } from '../cluster/object-limits.ts';
import { requireNotApplied } from '../cluster/ownership.ts';
import { updateChecked } from '../cluster/update-checked.ts';
import { Conflict, invalid, NotFound } from '../shared/errors.ts';
import type { CreateVariable, UpdateVariable } from './variable-parameters.ts';
import { VariableSecrets } from './variable-secrets.ts';
import { variablesOf, variablesPatch, type VariableOwner } from '../shared/variable-owner.ts';
import { variableView, type VariableView, withheldView } from './variable-view.ts';

export interface VariableServiceOptions<Owner extends VariableOwner> {
  cluster: Pick<ClusterWriter, 'find' | 'create' | 'patch' | 'exclusively'>;
  cache: Pick<ObjectCache<Owner>, 'get' | 'observe'>;
  type: ResourceType<Owner>;
  /** The namespace of the group, which contains the Secrets. */
  namespaceOf: (owner: Owner) => string;
  randomBytes: RandomBytes;
  /** Maximum number of variables of one owner, and of bytes of all values; defaults to those of Groups. */
  max?: 'variables' | 'overridingVariables';
  maxBytes?: number;
}

/** Manages the variables of Groups, Repositories or Environments. Values are stored in Secrets, never in a spec. */
export class VariableService<Owner extends VariableOwner> {
  readonly #options: VariableServiceOptions<Owner>;

  constructor(options: VariableServiceOptions<Owner>) {
    this.#options = options;
  }

  /** Lists the variables. @param canReadValues whether the caller can read values; if not, no Secret is read */
  async list(owner: Owner, canReadValues: boolean): Promise<VariableView[]> {
    const variables = variablesOf(owner);
    if (!canReadValues) return variables.map(withheldView);
    return variables.map(await this.#viewer(owner, variables));
  }

  /** Creates a variable. @throws Conflict when the owner has one of this name */
  async create(owner: Owner, { name, value, visibility, secret }: CreateVariable): Promise<VariableView> {
    await this.#withValue(owner, name, value, (valueFrom) =>
      this.#change(owner, (variables) => {
        if (variables.some((one) => one.name === name))
          throw new Conflict('a variable of this name already exists. PATCH changes it');
        const { type, max = 'variables' } = this.#options;
        requireRoom(`the ${type.kind.toLowerCase()}`, max, variables.length);
        return [...variables, { name, valueFrom, visibility, ...(secret && { secret }) }];
      }),
    );
    return secret ? { name, value: '', visibility, secret } : { name, value, visibility };
  }

  /** Changes a variable. @throws NotFound when there is none of this name; Invalid when it would show a secret value */
  async update(owner: Owner, change: UpdateVariable): Promise<VariableView> {
    const { name } = change;
    const hidden = change.value === undefined ? valueToHide(owner, change) : undefined;
    const value = change.value ?? hidden;
    const write = (valueFrom?: VariableSpec['valueFrom']) =>
      this.#change(owner, (variables) => {
        const found = required(variables, name);
        const plain = change.value === undefined && change.secret === true ? found.value : undefined;
        if (plain !== hidden) throw new Conflict('the variable was changed at the same time. Try again');
        const changed = changedVariable(found, change, valueFrom);
        return variables.map((one) => (one === found ? changed : one));
      });
    const { before, after } =
      value === undefined ? await write() : await this.#withValue(owner, name, value, (valueFrom) => write(valueFrom));
    if (value !== undefined) await this.#forget(before, name);
    const changed = required(variablesOf(after), name);
    return (await this.#viewer(after, [changed]))(changed);
  }

  /** Deletes a variable. @returns the remaining variables @throws NotFound when there is none of this name */
  async remove(owner: Owner, name: string): Promise<VariableView[]> {
    const { before, after } = await this.#change(owner, (variables) => {
      const found = required(variables, name);
      return variables.filter((one) => one !== found);
    });
    await this.#forget(before, name);
    return this.list(after, true);
  }

  /** Reads the Secrets that these variables refer to, each once. @returns a function that shows a variable */
  async #viewer(owner: Owner, variables: readonly VariableSpec[]): Promise<(variable: VariableSpec) => VariableView> {
    const { cluster, namespaceOf, type } = this.#options;
    const namespace = namespaceOf(owner);
    const names = new Set(variables.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef.name ?? []));
    const find = async (name: string) => [name, await cluster.find(Secret, { namespace, name })] as const;
    const secrets = new Map(await Promise.all([...names].map(find)));
    return (variable) => variableView(variable, secrets, secretNamer(type, owner));
  }

  /**
   * Stores a value and runs `write`, which refers to it; removes the value again if `write` has certainly failed. Runs
   * one change at a time.
   */
  async #withValue<T>(
    owner: Owner,
    name: string,
    value: string,
    write: (valueFrom: VariableSpec['valueFrom']) => Promise<T>,
  ): Promise<T> {
    const { cluster, cache, namespaceOf } = this.#options;
    const at = { namespace: namespaceOf(owner), name: VariableSecrets.stemOf(owner) };
    return cluster.exclusively(Secret, at, async () => {
      const current = cache.get(keyOf(owner)) ?? owner;
      const secrets = this.#secretsOf(current.metadata.uid === owner.metadata.uid ? current : owner);
      const secretKeyRef = await secrets.add(name, value);
      try {
        return await write({ secretKeyRef });
      } catch (error) {
        // A request without a response may have been carried out.
        if (!isUnavailable(error)) await secrets.remove(secretKeyRef);
        throw error;
      }
    });
  }

  /** Removes the value of a variable from the API's Secrets, if it is stored there. */
  async #forget(owner: Owner, name: string): Promise<void> {
    await this.#secretsOf(owner).remove(required(variablesOf(owner), name).valueFrom?.secretKeyRef);
  }

  #change(owner: Owner, change: (variables: readonly VariableSpec[]) => VariableSpec[]) {
    const { cluster, cache, type } = this.#options;
    return updateChecked(cluster, cache, type, owner, (current) => {
      const spec = variablesPatch(type.kind, change(variablesOf(current)));
      requireNotApplied(current, spec);
      return { spec };
    });
  }

  #secretsOf(owner: Owner): VariableSecrets {
    const { cluster, namespaceOf, randomBytes, maxBytes } = this.#options;
    return new VariableSecrets(cluster, owner, namespaceOf(owner), randomBytes, maxBytes);
  }
}

/**
 * Returns the variable after the change. A secret variable becomes readable only with a new value: otherwise whoever
 * can write it could read it.
 * @throws Invalid
 */
function changedVariable(
  found: VariableSpec,
  { value, visibility = found.visibility, secret = found.secret ?? false }: UpdateVariable,
  valueFrom: VariableSpec['valueFrom'],
): VariableSpec {
  if (found.secret === true && !secret && value === undefined) {
    const details = [{ path: 'secret', message: 'making a secret variable readable requires a new value. Send one' }];
    throw invalid('the body', details);
  }
  const { name } = found;
  const kept = valueFrom ? { name, valueFrom } : { name, value: found.value, valueFrom: found.valueFrom };
  return { ...kept, visibility, ...(secret && { secret }) };
}

/** Returns the value in the spec that must move to a Secret, because the variable becomes secret. */
function valueToHide(owner: VariableOwner, { name, secret }: UpdateVariable): string | undefined {
  return secret === true ? variablesOf(owner).find((one) => one.name === name)?.value : undefined;
}

function required(variables: readonly VariableSpec[], name: string): VariableSpec {
  const found = variables.find((one) => one.name === name);
  if (!found) throw new NotFound('there is no variable of this name. GET …/settings lists the variables');
  return found;
}
