import { groupOfNamespace } from '../../../crds/ids.ts';
import type { Repository } from '../../../crds/repository.ts';
import { isConflict } from '../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { Secret } from '../../../kubernetes/resource-type.ts';
import { encodeTexts, secretText } from '../../../kubernetes/secret-texts.ts';
import { Waiting } from '../../shared/errors.ts';
import { ensureOwnedSecret } from '../../shared/owned-secret.ts';
import type { SshAccess } from '../git/ssh-access.ts';
import { SSH_FILES } from '../git/ssh-config.ts';
import { parseSshOrigin } from '../network/ssh-origin.ts';
import type { KeyPair } from '../git/ssh-tools.ts';

export interface SshKeysOptions {
  client: Pick<ClusterClient, 'find' | 'get' | 'create' | 'patch'>;
  createKeyPair: (comment: string) => Promise<KeyPair>;
}

const publicKeyName = 'ssh-publickey';

/**
 * Returns the name of the Secret in the Repository's namespace with its key pair and the host keys of the first
 * contact.
 */
function sshSecretName({ metadata: { name } }: Repository): string {
  return `ssh-${name}`;
}

/** Stores an SSH key pair for each Repository at a Git server, and the known keys of its host. */
export class SshKeys {
  readonly #options: SshKeysOptions;

  constructor(options: SshKeysOptions) {
    this.#options = options;
  }

  /**
   * Returns the key to register at the Git host, created if missing; undefined at a host that is never reached over
   * SSH. A Repository over HTTP has a key too, so that it can be registered before its origin changes to SSH. If the
   * Secret belongs to somebody else, a Repository over HTTP goes without; over SSH this throws Waiting.
   */
  async publicKey(repository: Repository): Promise<string | undefined> {
    const { generic } = repository.spec;
    if (!generic) return undefined;
    try {
      return secretText(await this.#ensure(repository), publicKeyName);
    } catch (error) {
      if (error instanceof Waiting && !parseSshOrigin(generic.origin)) return undefined;
      throw error;
    }
  }

  /**
   * Returns the access for a Repository whose spec names an origin over SSH. Throws Waiting while its Secret belongs to
   * somebody else.
   */
  async access(repository: Repository): Promise<SshAccess> {
    let secret = await this.#ensure(repository);
    const given = repository.spec.generic?.knownHosts?.trim() ?? '';
    return {
      privateKey: secretText(secret, SSH_FILES.privateKey) ?? '',
      publicKey: secretText(secret, publicKeyName) ?? '',
      knownHosts: async (alias, ask) => {
        if (given !== '') return `${given}\n`;
        secret = await this.#pinned(repository, secret, alias, ask);
        return secretText(secret, SSH_FILES.knownHosts) ?? '';
      },
    };
  }

  async #ensure(repository: Repository): Promise<Secret> {
    const { client, createKeyPair } = this.#options;
    const { namespace = '', name: owner } = repository.metadata;
    const name = sshSecretName(repository);
    const { secret } = await ensureOwnedSecret(client, repository, {
      name,
      type: 'kubernetes.io/ssh-auth',
      keys: [SSH_FILES.privateKey, publicKeyName],
      makeTexts: async () => {
        const comment = `coppice ${groupOfNamespace(namespace) ?? namespace}.${owner}`;
        const { privateKey, publicKey } = await createKeyPair(comment);
        return { [SSH_FILES.privateKey]: privateKey, [publicKeyName]: publicKey };
      },
      refusal: {
        reason: 'SshKeyMissing',
        message:
          `the Secret ${name} in ${namespace} does not belong to this Repository, or has no complete key pair. ` +
          'Delete it; Coppice creates it with a new key',
      },
    });
    return secret;
  }

  /**
   * Returns the Secret once it contains keys of the host. Two concurrent first contacts store one response, and both
   * use it.
   */
  async #pinned(repository: Repository, held: Secret, alias: string, ask: () => Promise<string>): Promise<Secret> {
    let reported: string | undefined;
    for (let secret = held; ; secret = await this.#ensure(repository)) {
      const kept = secretText(secret, SSH_FILES.knownHosts) ?? '';
      if (kept.split('\n').some((line) => line.startsWith(`${alias} `))) return secret;
      reported ??= await ask();
      const { namespace, name, uid, resourceVersion } = secret.metadata;
      const data = encodeTexts({ [SSH_FILES.knownHosts]: `${kept}${reported}` });
      try {
        return await this.#options.client.patch(
          Secret,
          { namespace, name },
          { metadata: { uid }, data },
          { resourceVersion },
        );
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
  }
}
