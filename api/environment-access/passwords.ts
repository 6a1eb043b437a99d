import { createHash } from 'node:crypto';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { secretNamer, secretRefusal } from '../../crds/named-secret.ts';
import { REPOSITORY } from '../../crds/repository.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { secretText } from '../../kubernetes/secret-texts.ts';
import { isSameText } from '../../process/same-text.ts';
import type { Passwords } from '../auth/passwords.ts';
import type { ClusterRequests } from '../cluster/caches.ts';
import type { AccessTarget } from './hosts.ts';
import { ShortCache } from './short-cache.ts';

/** How long a stored password is used without reading it again, in milliseconds. */
const keptMs = 15_000;
const maxKept = 10_000;
/**
 * 32 MiB and some hundredths of a second each: a password that many people share, and that strangers can try. Any other
 * parameters are not a hash: whoever writes the Secret must not choose how much memory a comparison takes.
 */
export const ACCESS_SCRYPT = { ln: 15, r: 8, p: 1 };
const hashPrefix = `$scrypt$ln=${ACCESS_SCRYPT.ln},r=${ACCESS_SCRYPT.r},p=${ACCESS_SCRYPT.p}$`;

/** A stored password, and a hash of it that shows whether it has changed. */
export interface StoredPassword {
  text: string;
  fingerprint: string;
}

export interface AccessPasswordsOptions {
  cluster: Pick<ClusterRequests, 'find'>;
  passwords: Pick<Passwords, 'verify'>;
  now: () => number;
}

/** Reads and compares the passwords of environments. */
export class AccessPasswords {
  readonly #options: AccessPasswordsOptions;
  readonly #kept: ShortCache<StoredPassword | undefined>;

  constructor(options: AccessPasswordsOptions) {
    this.#options = options;
    this.#kept = new ShortCache(keptMs, maxKept, options.now);
  }

  /** Returns the password of an environment whose access is by password; undefined if there is none. */
  async stored(target: AccessTarget): Promise<StoredPassword | undefined> {
    const { mode, password } = target.access;
    if (mode !== 'password' || !password) return undefined;
    const { namespace = '', uid = '' } = target.environment.metadata;
    const key = `${uid}/${password.from}/${password.secretKeyRef.name}/${password.secretKeyRef.key}`;
    return this.#kept.get(key, () => this.#read(target, namespace, password));
  }

  /**
   * Returns the fingerprint of the password if this is it. Takes the same time for an environment without one.
   * @param target undefined if there is no such environment
   */
  async verify(target: AccessTarget | undefined, given: string): Promise<string | undefined> {
    const stored = target && (await this.stored(target));
    const isHashed = stored?.text.startsWith(hashPrefix) ?? false;
    const matchesHash = await this.#options.passwords.verify(given, isHashed ? stored?.text : undefined);
    const isRight = isHashed ? matchesHash : stored !== undefined && isSameText(stored.text, given);
    return isRight ? stored?.fingerprint : undefined;
  }

  /** A Secret that belongs to another object must not be tried: its owner did not choose it for this purpose. */
  async #read(
    { environment, repository }: AccessTarget,
    namespace: string,
    { from, secretKeyRef }: NonNullable<AccessTarget['access']['password']>,
  ): Promise<StoredPassword | undefined> {
    const owner =
      from === 'environment'
        ? secretNamer(ENVIRONMENT, environment)
        : repository && secretNamer(REPOSITORY, repository);
    const secret = await this.#options.cluster.find(Secret, { namespace, name: secretKeyRef.name });
    if (!secret || !owner || secretRefusal(secret, owner) !== undefined) return undefined;
    const text = secretText(secret, secretKeyRef.key)?.replace(/\r?\n$/, '');
    if (text === undefined || text === '') return undefined;
    // The UID of the Secret is a salt that visitors do not know.
    const fingerprint = createHash('sha256')
      .update(`${secret.metadata.uid ?? ''}/${text}`)
      .digest('base64url');
    return { text, fingerprint };
  }
}
