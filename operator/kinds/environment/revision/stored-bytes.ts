import type { Service } from '../../../../service-file/schema.ts';
import { storedAt } from '../../../../service-file/stored-file.ts';
import { hiddenValuesOf } from './revision-objects.ts';
import type { StoredRevision } from './revision.ts';

/** What a revision stores in the cluster: bytes by object. Revisions of an environment share objects of one name. */
export type StoredBytes = ReadonlyMap<string, number>;

/** Metadata and managed fields that etcd stores with each object. */
const objectBytes = 1024;
/** Name of the entry for everything that runs the services; only one revision's exist at a time. */
const workloads = 'workloads';

/** Returns what a revision stores. `ownBytes`: size of the revision itself. */
export function storedBytes(revision: StoredRevision, name: string, ownBytes: number): StoredBytes {
  const stored = new Map([[name, objectBytes + ownBytes]]);
  const add = (object: string, bytes: number) => stored.set(object, (stored.get(object) ?? objectBytes) + bytes);
  for (const [object, bytes] of fileBytes(revision)) add(object, bytes);
  for (const { secret, variables } of hiddenValuesOf(revision)) add(secret, jsonBytes(variables));
  return stored.set(
    workloads,
    revision.serviceFile.services.reduce((sum, service) => sum + workloadBytes(service), 0),
  );
}

/** Returns the bytes that are written for a revision even if nothing else has changed: itself, and what runs its services. */
export function ownBytes(stored: StoredBytes, name: string): number {
  return (stored.get(name) ?? 0) + (stored.get(workloads) ?? 0);
}

/** Returns the bytes of several revisions of one environment, shared objects once. */
export function totalBytes(revisions: readonly StoredBytes[]): number {
  return sum(combined(revisions));
}

/** Returns by how much a revision increases what others of the environment store. */
export function addedBytes(revision: StoredBytes, others: readonly StoredBytes[]): number {
  return sum(combined([...others, revision])) - sum(combined(others));
}

function combined(revisions: readonly StoredBytes[]): StoredBytes {
  const all = new Map<string, number>();
  for (const [object, bytes] of revisions.flatMap((one) => [...one])) {
    all.set(object, Math.max(all.get(object) ?? 0, bytes));
  }
  return all;
}

/** Returns the bytes of files by object; the same file may be mounted several times. */
function fileBytes({ serviceFile }: StoredRevision): ReadonlyMap<string, number> {
  const files = new Map<string, { object: string; bytes: number }>();
  for (const bundle of serviceFile.bundles) {
    for (const file of bundle.files) {
      const { object, key } = storedAt(bundle, file);
      files.set(JSON.stringify([object, key]), { object, bytes: file.stored?.bytes ?? 0 });
    }
  }
  const objects = Map.groupBy(files.values(), ({ object }) => object);
  return new Map([...objects].map(([object, all]) => [object, all.reduce((bytes, one) => bytes + one.bytes, 0)]));
}

/** Returns the bytes of a service's workload, ReplicaSet and pods, each of which contains the pod template. */
function workloadBytes(service: Service): number {
  const copies = service.runs === 'continuously' ? 2 + service.replicas : 2;
  return copies * (objectBytes + jsonBytes(service));
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function sum(stored: StoredBytes): number {
  return [...stored.values()].reduce((bytes, one) => bytes + one, 0);
}
