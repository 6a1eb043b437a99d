import { z } from 'zod';
import { ACCESS_MODES, accessSecretName, type AccessMode } from '../../crds/access.ts';
import type { Environment } from '../../crds/environment.ts';
import type { Repository } from '../../crds/repository.ts';
import { isUnavailable } from '../../kubernetes/api-error.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import type { Passwords } from '../auth/passwords.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { addText, removeText } from '../cluster/owned-secret.ts';
import { randomSuffix } from '../cluster/random-suffix.ts';
import { lineField } from '../http/parse.ts';
import { Invalid } from '../shared/errors.ts';
import type { RandomBytes } from '../shared/tokens.ts';

const passwordField = lineField.refine((text) => text.length >= 8 && text.length <= 200, {
  error: 'must have 8 to 200 characters',
});

/** The fields with which a request changes who can open environments. */
export const accessChange = {
  access: z
    .enum(ACCESS_MODES, { error: `must be one of ${ACCESS_MODES.join(', ')}, or null for the default` })
    .nullable()
    .optional()
    .meta({ description: 'Extension: who can open the environment; null for the default. Only owners can change it.' }),
  accessPassword: passwordField
    .nullable()
    .optional()
    .meta({ description: 'Extension: the password for `password`, which is stored as a hash; null removes it.' }),
};

export interface AccessChange {
  access?: AccessMode | null | undefined;
  accessPassword?: string | null | undefined;
}

type Owner = Repository | Environment;
type Written<T> = Promise<{ before: T; after: T }>;

export interface AccessSettingsOptions {
  cluster: ClusterWriter;
  passwords: Pick<Passwords, 'hash'>;
  randomBytes: RandomBytes;
}

export function changesAccess({ access, accessPassword }: AccessChange): boolean {
  return access !== undefined || accessPassword !== undefined;
}

/** Changes who can open environments; passwords are stored as hashes, in a Secret that the object owns. */
export class AccessSettings {
  readonly #options: AccessSettingsOptions;

  constructor(options: AccessSettingsOptions) {
    this.#options = options;
  }

  /**
   * Changes the settings of an object.
   * @param write applies a merge patch of the spec
   * @throws Invalid if nobody could enter, because there is no password
   */
  async change<T extends Owner>(
    owner: T,
    { access, accessPassword }: AccessChange,
    write: (spec: Record<string, unknown>) => Written<T>,
  ): Written<T> {
    requirePassword(owner, { access, accessPassword });
    const spec = { ...(access !== undefined && { access }) };
    if (accessPassword === undefined) return write(spec);
    const at = { namespace: owner.metadata.namespace, name: accessSecretName(owner.metadata) };
    const { cluster, passwords, randomBytes } = this.#options;
    return cluster.exclusively(Secret, at, async () => {
      const key = accessPassword === null ? undefined : `password.${randomSuffix(randomBytes)}`;
      if (key !== undefined && accessPassword !== null) {
        await addText(cluster, owner, at, key, await passwords.hash(accessPassword));
      }
      try {
        const reference = key === undefined ? null : { secretKeyRef: { name: at.name, key } };
        const written = await write({ ...spec, accessPassword: reference });
        const former = written.before.spec.accessPassword?.secretKeyRef;
        if (former?.name === at.name) await removeText(cluster, at, former.key);
        return written;
      } catch (error) {
        // A request without a response may have been carried out.
        if (key !== undefined && !isUnavailable(error)) await removeText(cluster, at, key);
        throw error;
      }
    });
  }
}

function requirePassword({ spec }: Owner, { access, accessPassword }: AccessChange): void {
  if (!changesAccess({ access, accessPassword })) return;
  const mode = access === undefined ? spec.access : access;
  const hasPassword = accessPassword === undefined ? spec.accessPassword !== undefined : accessPassword !== null;
  if (mode !== 'password' || hasPassword) return;
  const message = 'is required if access is password';
  throw new Invalid('there would be no password to enter. Send accessPassword', {
    details: [{ path: 'accessPassword', message }],
  });
}
