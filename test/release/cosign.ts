import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPrograms, programPath } from '../cluster/go/programs.ts';
import type { Progress } from '../support/progress.ts';
import { run, tryRun } from '../support/run.ts';
import type { Destination } from './options.ts';

export interface CosignOptions {
  program: string;
  /** A private folder for the key and the login. */
  folder: string;
  registry: Destination | undefined;
  /** Encrypted private key of cosign, and its password. */
  key: { pem: string; password: string };
}

/** Returns the path of cosign: that of PATH, or the locally compiled one. */
export async function cosignProgram(progress: Progress): Promise<string> {
  if ((await tryRun('cosign', ['version'])) !== undefined) return 'cosign';
  await buildPrograms(['cosign'], progress);
  return programPath('cosign');
}

/** Returns a new key for a dry run. */
export async function temporaryKey(program: string, folder: string): Promise<CosignOptions['key']> {
  const password = randomBytes(24).toString('base64url');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await run(program, ['generate-key-pair'], { cwd: folder, env: { COSIGN_PASSWORD: password } });
  return { pem: readFileSync(join(folder, 'cosign.key'), 'utf8'), password };
}

/** Without the public transparency log, which a private registry must not depend on. */
const offline = ['--tlog-upload=false', '--use-signing-config=false'];

/** Signs with a key, and attaches signatures and attestations to what the registry has. */
export class Cosign {
  readonly #options: CosignOptions;

  constructor(options: CosignOptions) {
    this.#options = options;
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    const { registry } = options;
    const { username = '', password = '' } = registry?.credentials ?? {};
    const auth = Buffer.from(`${username}:${password}`).toString('base64');
    const auths = registry?.credentials ? { [registry.host]: { auth } } : {};
    writeFileSync(join(options.folder, 'config.json'), JSON.stringify({ auths }), { mode: 0o600 });
  }

  publicKey(): Promise<string> {
    return this.#run(['public-key', ...this.#key()]);
  }

  /** Signs an image, and the images of all platforms if it is an index. */
  async sign(reference: string): Promise<void> {
    await this.#run(['sign', '--yes', '--recursive', ...this.#key(), ...offline, ...this.#http(), reference]);
  }

  /** Attaches an in-toto statement about an image, with the predicate of a file. */
  async attest(reference: string, type: 'cyclonedx' | 'slsaprovenance1', predicate: string): Promise<void> {
    const about = ['--type', type, '--predicate', predicate];
    await this.#run(['attest', '--yes', ...this.#key(), ...offline, ...this.#http(), ...about, reference]);
  }

  /** Signs a file; the signature goes to another one. */
  async signFile(file: string, bundle: string): Promise<void> {
    await this.#run(['sign-blob', '--yes', ...this.#key(), ...offline, '--bundle', bundle, file]);
  }

  #key(): string[] {
    return ['--key', 'env://COSIGN_PRIVATE_KEY'];
  }

  #http(): string[] {
    return this.#options.registry?.insecure === true ? ['--allow-http-registry'] : [];
  }

  #run(args: string[]): Promise<string> {
    const { program, folder, key } = this.#options;
    const env = { DOCKER_CONFIG: folder, COSIGN_PRIVATE_KEY: key.pem, COSIGN_PASSWORD: key.password };
    return run(program, args, { env, deadline: 120 });
  }
}
