import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { expect } from '@jest/globals';
import { stringify } from 'yaml';
import { z } from 'zod';
import { basicAuthorization, readRegistry, type Registry } from '../cluster/registries/registry.ts';
import { namespaceOf, startHarness, type Harness } from './harness.ts';
import { pageSchema, spyingPage, type Loot } from './spying-page.ts';

/** Files of a repository. */
type Files = Record<string, string>;

/** A group with secrets that people without push access to its repository `shop` must not see. */
export class HostileWorld {
  readonly harness: Harness;
  readonly registry: Registry;
  readonly secrets: Record<'run' | 'build' | 'token' | 'pull', string>;
  /** A page that shows all that its build and its container can access. */
  readonly page: Files;
  #repository = '';

  private constructor(harness: Harness, registry: Registry) {
    const word = (name: string) => `${name}-${randomBytes(9).toString('hex')}`;
    this.harness = harness;
    this.registry = registry;
    this.secrets = { run: word('run'), build: word('build'), token: word('token'), pull: word('pull') };
    this.page = spyingPage(harness.group, registry.address);
  }

  static async start(purpose: string): Promise<HostileWorld> {
    const registry = readRegistry();
    if (!registry) throw new Error('there is no .local/registry.json: start the cluster with `npm run up`');
    return new HostileWorld(await startHarness(purpose), registry);
  }

  /** ID of the repository. */
  get repository(): string {
    return this.#repository;
  }

  /** Adds the repository with this body of POST /api/group/{id}, and gives it the secrets. */
  async addRepository(body: object): Promise<void> {
    const { run, build, token } = this.secrets;
    this.#repository = await this.harness.register({ name: 'shop', ...body });
    for (const [name, value, visibility] of [
      ['RUN_WORD', run, 'always'],
      ['TOKEN_WORD', token, 'always'],
      ['BUILD_WORD', build, 'buildtime'],
    ]) {
      const path = `/api/repository/${this.#repository}/variables`;
      await this.harness.client.call(z.unknown(), 'POST', path, { name, value, visibility });
    }
    await this.#giveRegistrySecret();
  }

  /** Gives the repository credentials for a registry of the group's own, by kubectl. */
  async #giveRegistrySecret(): Promise<void> {
    const namespace = `group-${this.harness.group}`;
    const auths = { 'registry.example.com': { username: 'robot', password: this.secrets.pull } };
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'pull', namespace },
      type: 'kubernetes.io/dockerconfigjson',
      stringData: { '.dockerconfigjson': JSON.stringify({ auths }) },
    };
    await this.harness.kubectl(['apply', '--filename', '-'], { input: stringify(secret) });
    await this.patchRepository({ registrySecrets: ['pull'] });
  }

  async patchRepository(spec: object): Promise<void> {
    const at = ['repositories.coppice.dev', 'shop', '--namespace', `group-${this.harness.group}`];
    await this.harness.kubectl(['patch', ...at, '--type', 'merge', '--patch', JSON.stringify({ spec })]);
  }

  spawnPullRequest(number: number): Promise<string> {
    return this.harness.spawn(this.#repository, '', { gitRef: { name: String(number), type: 'pull request' } });
  }

  /** Returns everything that Secrets and ConfigMaps of an environment's namespace contain, as text. */
  async kept(environmentId: string): Promise<string> {
    const args = ['get', 'secrets,configmaps', '--namespace', namespaceOf(environmentId), '--output', 'json'];
    const { items } = JSON.parse(await this.harness.kubectl(args)) as { items: { kind: string; data?: object }[] };
    return items
      .flatMap(({ kind, data }) => Object.values(data ?? {}).map((text) => decoded(kind, String(text))))
      .join('\n');
  }

  /** Returns the names of the secrets in a text. */
  found(text: string): string[] {
    return Object.entries(this.secrets).flatMap(([name, value]) => (text.includes(value) ? [name] : []));
  }

  async imageOf(environmentId: string): Promise<string> {
    const path = 'jsonpath={.spec.template.spec.containers[0].image}';
    const at = ['deployment', 'web', '--namespace', namespaceOf(environmentId)];
    return (await this.harness.kubectl(['get', ...at, '--output', path])).trim();
  }

  /**
   * Verifies that neither the page of untrusted code, nor its log, nor its namespace has any of the secrets, and that
   * neither its build nor its container could push images or call the Kubernetes API.
   */
  async expectNothing(environmentId: string, page: string, log: string): Promise<void> {
    expect(this.found(`${page}${log}${await this.kept(environmentId)}`)).toEqual([]);
    const loot = pageSchema.parse(JSON.parse(page));
    for (const one of [loot.build, loot.running]) {
      expect(one.serviceAccount).toBe('ENOENT');
      expect([one.push, one.pushUntrusted]).not.toContain(202);
      expect(one.kubernetes).not.toBe(200);
    }
    expect(loot.build.cache).toEqual({});
    await this.#expectNoCredential(environmentId, loot.build, `${page}${log}`);
  }

  /**
   * The registry's administrator has all permissions (ADR 42): a step reaches the registry and is refused what the same
   * call gets with the credential, and buildkitd, which has it, lets the step see nothing but its name.
   */
  async #expectNoCredential(environmentId: string, loot: Loot, shown: string): Promise<void> {
    const { hostAddress, password } = this.registry;
    const authorization = basicAuthorization(this.registry);
    const path = `/v2/${this.harness.group}/shop/untrusted/web/blobs/uploads/`;
    const call = await fetch(`http://${hostAddress}${path}`, { method: 'POST', headers: { authorization } });
    expect([call.status, loot.push, loot.pushUntrusted]).toEqual([202, 401, 401]);

    // The namespace has a credential that pulls from its repository, and no password for the registry.
    const text = await this.kept(environmentId);
    expect(text).toMatch(/coppice:v1\.\d+\.[\w-]+\.\d+\.pull\./);
    expect(text).not.toContain(password);
    for (const word of [password, authorization.replace('Basic ', '')]) expect(shown).not.toContain(word);

    const builders = loot.processes.filter(({ command }) => command.includes('buildkitd'));
    expect(builders.length).toBeGreaterThan(0);
    for (const { environment, files, descriptors, memory } of builders) {
      // The number of open ones may be seen; one that was closed meanwhile is ENOENT.
      const open = descriptors.split(',').filter((outcome) => outcome !== 'ENOENT');
      const seen = [environment, files, memory, ...open];
      expect(seen.filter((outcome) => outcome !== 'EACCES' && outcome !== 'EPERM')).toEqual([]);
    }
    // A step sees all of this of its own processes.
    expect(
      loot.processes.some(
        ({ memory, files, descriptors }) =>
          `${memory} ${descriptors}`.startsWith('seen seen') && files.includes('proc'),
      ),
    ).toBe(true);
  }
}

function decoded(kind: string, text: string): string {
  if (kind !== 'Secret') return text;
  const bytes = Buffer.from(text, 'base64');
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const plain = (isPacked ? gunzipSync(bytes) : bytes).toString();
  // Passwords for registries, and files, are in base64 once more.
  return plain.replace(/"([A-Za-z0-9+/]{8,}=*)"/g, (_, inner: string) => `"${inner}" "${unpacked(inner)}"`);
}

function unpacked(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}
