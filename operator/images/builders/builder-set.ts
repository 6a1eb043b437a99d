import { ANNOTATIONS } from '../../../crds/labels.ts';
import { isAlreadyExists } from '../../../kubernetes/api-error.ts';
import type { Applier } from '../../../kubernetes/apply.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { deleteIfThere } from '../../../kubernetes/delete-if-present.ts';
import { deleteObject } from '../../../kubernetes/delete-object.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { NetworkPolicy, objectKey, PersistentVolumeClaim, Pod, Secret } from '../../../kubernetes/resource-type.ts';
import { secretText } from '../../../kubernetes/secret-texts.ts';
import { Waiting } from '../../shared/errors.ts';
import { isRenewalDue } from '../../../process/x509.ts';
import { issueCertificates } from './certificates.ts';
import type { BuilderIdentity } from './identity.ts';
import { builderPod, builderPolicy, builderRevision, certificateSecret, cacheVolume } from './objects.ts';
import type { BuilderPoolSettings } from './settings.ts';

export interface BuilderSetOptions {
  client: Pick<ClusterClient, 'find' | 'create' | 'delete'>;
  applier: Pick<Applier, 'apply'>;
  /** Secrets in the builders' namespace. */
  secrets: Pick<Informer<Secret>, 'get' | 'list' | 'observe'>;
  pods: Pick<Informer<Pod>, 'get' | 'observe'>;
  policies: Pick<Informer<NetworkPolicy>, 'get' | 'observe'>;
  settings: BuilderPoolSettings;
  now: () => Date;
}

const recheckMs = 2000;

/**
 * Manages the objects of builders. A builder is represented by its Secret, which owns the other objects; it runs when
 * it has a pod.
 */
export class BuilderSet {
  readonly #options: BuilderSetOptions;
  /** UIDs of pods that are being stopped, before the watch reports it: they accept no more builds. */
  readonly #stopping = new Set<string>();

  constructor(options: BuilderSetOptions) {
    this.#options = options;
  }

  /** Returns a builder's Secret, unless it is being deleted. */
  secret(name: string): Secret | undefined {
    const secret = this.#options.secrets.get(this.#key(name));
    return secret?.metadata.deletionTimestamp ? undefined : secret;
  }

  /** Returns a builder's pod, even if it is being stopped. */
  pod(name: string): Pod | undefined {
    return this.#options.pods.get(this.#key(name));
  }

  /** Returns the Secrets of all builders, including those that are being deleted. */
  secrets(): Secret[] {
    return this.#options.secrets.list();
  }

  /** Returns whether the builder can accept a build. It is then not stopped while that build is running. */
  isReady(pod: Pod): boolean {
    const { conditions, podIP } = pod.status ?? {};
    if (podIP === undefined || this.isStopping(pod)) return false;
    return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  }

  isStopping({ metadata }: Pod): boolean {
    return metadata.deletionTimestamp !== undefined || this.#stopping.has(metadata.uid ?? '');
  }

  /**
   * Returns whether the builder was started with another image, configuration or certificate than it would be now, or
   * its certificate expires soon.
   */
  isOutOfDate(secret: Secret, pod: Pod): boolean {
    const revision = builderRevision(secret, this.#options.settings);
    return pod.metadata.annotations?.[ANNOTATIONS.appliedHash] !== revision || this.#isDue(secret);
  }

  /**
   * Creates the missing objects of a builder without a pod.
   * @throws Waiting while a previous builder is being deleted
   */
  async start(identity: BuilderIdentity): Promise<void> {
    const { client, pods, settings } = this.#options;
    const owner = await this.#ensureSecret(identity);
    const [storage] = await Promise.all([
      identity.isEphemeral ? settings.ephemeral.storage : this.#ensureVolume(owner),
      this.isolate(identity, owner),
    ]);
    try {
      pods.observe(await client.create(Pod, builderPod({ identity, owner, storage, settings })));
    } catch (error) {
      // The watch will report the existing pod.
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /** Applies the network policy that permits only the builder's own clients. */
  async isolate(identity: BuilderIdentity, owner: Secret): Promise<void> {
    const { applier, policies } = this.#options;
    const live = policies.get(this.#key(identity.name));
    const { object, written } = await applier.apply(NetworkPolicy, builderPolicy(identity, owner), live);
    if (written) policies.observe(object);
  }

  /** Stops the builder; the cache of a group's builder is kept. isReady() returns false from now on. */
  async stop(pod: Pod): Promise<void> {
    const { uid = '' } = pod.metadata;
    this.#stopping.add(uid);
    try {
      await deleteObject(this.#options.client, Pod, pod);
    } catch (error) {
      this.#stopping.delete(uid);
      throw error;
    }
  }

  /** Stops a builder that never ran, and deletes its cache; the next start creates another one. */
  async discardCache(pod: Pod): Promise<void> {
    const { namespace, name } = pod.metadata;
    await deleteIfThere(this.#options.client, PersistentVolumeClaim, { namespace, name });
    await this.stop(pod);
  }

  /** Forgets a pod that no longer exists. */
  forget(pod: Pod): void {
    this.#stopping.delete(pod.metadata.uid ?? '');
  }

  /** Deletes a builder with all its objects. Returns whether all are gone. */
  async remove(name: string): Promise<boolean> {
    const { client, secrets, settings } = this.#options;
    const at = { namespace: settings.namespace, name };
    const secret = secrets.get(this.#key(name));
    if (secret) await deleteObject(client, Secret, secret);
    const pod = this.pod(name);
    if (pod && !this.isStopping(pod)) await this.stop(pod);
    // The garbage collector deletes what the Secret owned.
    return !secret && !pod && (await client.find(PersistentVolumeClaim, at)) === undefined;
  }

  async #ensureSecret(identity: BuilderIdentity): Promise<Secret> {
    const { applier, secrets, settings, now } = this.#options;
    const held = secrets.get(this.#key(identity.name));
    if (held?.metadata.deletionTimestamp) throw beingRemoved();
    if (held && !this.#isDue(held)) return held;
    const certificates = await issueCertificates(identity.name, now());
    const { object } = await applier.apply(Secret, certificateSecret(identity, settings.namespace, certificates), held);
    secrets.observe(object);
    return object;
  }

  /** Creates the volume if missing. Returns its size, which can differ from that of new volumes. */
  async #ensureVolume(owner: Secret): Promise<string> {
    const { client, settings } = this.#options;
    const wanted = cacheVolume(owner, settings);
    const { namespace, name } = wanted.metadata;
    const found = await client.find(PersistentVolumeClaim, { namespace, name });
    const isOwn = found?.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? true;
    if (found?.metadata.deletionTimestamp || !isOwn) throw beingRemoved();
    const { spec } = found ?? (await client.create(PersistentVolumeClaim, wanted));
    return spec?.resources?.requests?.['storage'] ?? settings.cache.size;
  }

  #isDue(secret: Secret): boolean {
    const certificate = secretText(secret, 'tls.crt') ?? '';
    return certificate === '' || isRenewalDue(certificate, this.#options.now());
  }

  #key(name: string): string {
    return objectKey(this.#options.settings.namespace, name);
  }
}

function beingRemoved(): Waiting {
  return new Waiting(
    'StartingBuilder',
    'objects of a previous builder of this name are still being deleted',
    recheckMs,
  );
}
