import { LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import { isAlreadyExists } from '../../../kubernetes/api-error.ts';
import type { ReconcileResult } from '../../../kubernetes/controller.ts';
import { Secret, type ResourceType } from '../../../kubernetes/resource-type.ts';
import { encodeTexts, secretText } from '../../../kubernetes/secret-texts.ts';
import type { KeyPair } from '../../../process/x509.ts';
import { checkAuthority, createAuthority } from '../../../registry-tokens/authority.ts';
import { newKey, planRotation, readKeys, type CredentialKey } from '../../../registry-tokens/credential-keys.ts';
import { TokenSigner } from '../../../registry-tokens/token-signer.ts';

type At = { namespace: string; name: string };

/** The ClusterClient's methods that are used here. */
export interface SecretClient {
  find: (type: ResourceType<Secret>, at: At) => Promise<Secret | undefined>;
  get: (type: ResourceType<Secret>, at: At) => Promise<Secret>;
  create: (type: ResourceType<Secret>, secret: Secret) => Promise<Secret>;
  patch: (
    type: ResourceType<Secret>,
    at: At,
    patch: { data: Record<string, string | null> },
    preconditions: { resourceVersion?: string },
  ) => Promise<Secret>;
}

export interface TokenSecretsOptions {
  client: SecretClient;
  /** The release's namespace. */
  namespace: string;
  /** `auth.token.service` in the registry's configuration. */
  service: string;
  randomBytes: (length: number) => Buffer;
  now: () => Date;
}

/** The authority whose certificate the registry trusts (kubernetes.io/tls). An administrator may have created it. */
export const AUTHORITY_SECRET = 'coppice-registry-authority';
/** Keys that sign credentials, by time of creation. */
export const KEYS_SECRET = 'coppice-registry-keys';

/** Manages the two Secrets for registry credentials and tokens: creates missing ones, and rotates keys. */
export class TokenSecrets {
  readonly #options: TokenSecretsOptions;
  readonly #listeners = new Set<() => void>();
  #keys: readonly CredentialKey[] = [];
  #signer: { authority: KeyPair; signer: TokenSigner } | undefined;

  constructor(options: TokenSecretsOptions) {
    this.#options = options;
  }

  readonly keys = (): readonly CredentialKey[] => this.#keys;

  /** Returns the signer. Throws before the first reconcile. */
  readonly signer = (): TokenSigner => {
    if (!this.#signer) throw new Error('the authority of registry tokens has not been read');
    return this.#signer.signer;
  };

  /**
   * Calls `onChange` when a key was deleted, which invalidates what it signed. Returns a function that stops watching.
   */
  readonly watch = (onChange: () => void): (() => void) => {
    this.#listeners.add(onChange);
    return () => void this.#listeners.delete(onChange);
  };

  /**
   * Reconciles this controller's only key; housekeeping repeats it. Throws if a Secret is not valid; an existing Secret is
   * never replaced.
   */
  async reconcile(): Promise<ReconcileResult> {
    await this.#readAuthority();
    await this.#readKeys();
    return {};
  }

  async #readAuthority(): Promise<void> {
    const { now, service } = this.#options;
    const secret = await this.#findOrCreate(AUTHORITY_SECRET, 'kubernetes.io/tls', async () => {
      const { certificate, key } = await createAuthority(now());
      return encodeTexts({ 'tls.crt': certificate, 'tls.key': key });
    });
    const authority = { certificate: secretText(secret, 'tls.crt') ?? '', key: secretText(secret, 'tls.key') ?? '' };
    const former = this.#signer?.authority;
    if (former?.certificate === authority.certificate && former.key === authority.key) return;
    try {
      checkAuthority(authority, now());
    } catch (error) {
      const message = `the Secret ${AUTHORITY_SECRET} contains no valid authority for registry tokens. Replace or delete it`;
      throw new Error(message, { cause: error });
    }
    this.#signer = { authority, signer: new TokenSigner(authority, service) };
  }

  async #readKeys(): Promise<void> {
    const { client, namespace, now, randomBytes } = this.#options;
    const at = Math.floor(now().getTime() / 1000);
    let secret = await this.#findOrCreate(KEYS_SECRET, 'Opaque', () => Promise.resolve(newKey(at, randomBytes)));
    const { add, remove } = planRotation(readKeys(secret.data), at);
    if (add || remove.length > 0) {
      const data = {
        ...(add && newKey(at, randomBytes)),
        ...Object.fromEntries(remove.map(({ createdAt }) => [String(createdAt), null])),
      };
      const { resourceVersion } = secret.metadata;
      const preconditions = resourceVersion === undefined ? {} : { resourceVersion };
      secret = await client.patch(Secret, { namespace, name: KEYS_SECRET }, { data }, preconditions);
    }
    this.#take(readKeys(secret.data));
  }

  #take(keys: readonly CredentialKey[]): void {
    const isGone = this.#keys.some((former) => !keys.some(({ key }) => key.equals(former.key)));
    this.#keys = keys;
    if (isGone) for (const listener of this.#listeners) listener();
  }

  async #findOrCreate(name: string, type: string, makeData: () => Promise<Record<string, string>>): Promise<Secret> {
    const { client, namespace } = this.#options;
    const found = await client.find(Secret, { namespace, name });
    if (found) return found;
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name, labels: { [LABELS.managedBy]: MANAGED_BY } },
      type,
      data: await makeData(),
    };
    try {
      return await client.create(Secret, secret);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return client.get(Secret, { namespace, name });
    }
  }
}
