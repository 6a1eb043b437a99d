import { X509Certificate } from 'node:crypto';
import { Gauge, type Registry } from 'prom-client';
import { LABELS } from '../../../crds/labels.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { keyOf, type Pod, type Secret } from '../../../kubernetes/resource-type.ts';
import { secretText } from '../../../kubernetes/secret-texts.ts';
import { buildOf } from '../../images/builders/identity.ts';

interface BuilderCaches {
  /** One Secret for each builder, running or not. */
  builderSecrets: Pick<Informer<Secret>, 'list'>;
  pods: Pick<Informer<Pod>, 'get'>;
}

/** Registers metrics of builders: their number, the age of their caches, and the expiry of their certificates. */
export function observeBuilders({ builderSecrets, pods }: BuilderCaches, registry: Registry, now: () => number): void {
  const registers = [registry];
  const expiries = new Expiries();
  const builders = () =>
    builderSecrets.list().filter(({ metadata }) => metadata.labels?.[LABELS.builder] !== undefined);
  const isRunning = (secret: Secret) => pods.get(keyOf(secret)) !== undefined;
  new Gauge({
    name: 'coppice_builders',
    help: 'Builders by kind (of a group, or ephemeral) and by whether they are running or scaled to zero',
    labelNames: ['kind', 'state'],
    registers,
    collect() {
      for (const kind of ['group', 'ephemeral'])
        for (const state of ['running', 'scaled_to_zero']) this.set({ kind, state }, 0);
      for (const secret of builders()) {
        const kind = buildOf(secret.metadata.labels) === undefined ? 'group' : 'ephemeral';
        this.inc({ kind, state: isRunning(secret) ? 'running' : 'scaled_to_zero' });
      }
    },
  });
  new Gauge({
    name: 'coppice_builder_cache_age_seconds',
    help: 'Age of the oldest build cache of the groups; absent if there is none',
    registers,
    collect() {
      const created = builders()
        .filter(({ metadata }) => buildOf(metadata.labels) === undefined)
        .map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''));
      if (created.length === 0) this.remove();
      else this.set((now() - Math.min(...created)) / 1000);
    },
  });
  new Gauge({
    name: 'coppice_builder_certificate_expiry_seconds',
    help: "Earliest expiry of a running builder's certificate, in Unix seconds; absent if none runs",
    registers,
    collect() {
      const ends = builders()
        .filter(isRunning)
        .flatMap((secret) => expiries.of(secret) ?? []);
      if (ends.length === 0) this.remove();
      else this.set(Math.min(...ends) / 1000);
    },
  });
}

/** Caches the expiry of each certificate, so that a scrape does not parse every certificate. */
class Expiries {
  readonly #known = new WeakMap<Secret, number | undefined>();

  /** Returns Unix milliseconds; undefined without a valid certificate. */
  of(secret: Secret): number | undefined {
    if (!this.#known.has(secret)) this.#known.set(secret, expiryOf(secretText(secret, 'tls.crt') ?? ''));
    return this.#known.get(secret);
  }
}

function expiryOf(certificate: string): number | undefined {
  if (!certificate.includes('BEGIN CERTIFICATE')) return undefined;
  return new X509Certificate(certificate).validToDate.getTime();
}
