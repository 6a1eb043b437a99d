import { ENVIRONMENT } from './environment.ts';
import { GROUP } from './group.ts';
import { REPOSITORY } from './repository.ts';

/** The owner of a reference to a Secret: a Repository or a Group. */
export interface SecretNamer {
  kind: string;
  uid: string | undefined;
}

/** The parts of a Secret that are checked. */
interface OwnedSecret {
  metadata: { name: string; ownerReferences?: { kind: string; name: string; uid: string }[] | undefined };
}

const owningKinds: readonly string[] = [REPOSITORY.kind, GROUP.kind, ENVIRONMENT.kind];
/** Names reserved for Coppice: key pairs for SSH, secrets of webhooks, and test runs. */
const coppicesOwn = /^(ssh|webhook|tests)-/;

/** A Secret's name and the object that references it. */
export interface NamedSecret {
  name: string;
  namer: SecretNamer;
}

export function secretNamer(
  { kind }: { kind: string },
  object: { metadata: { uid?: string | undefined } },
): SecretNamer {
  return { kind, uid: object.metadata.uid };
}

/**
 * Returns why a Secret must not be used by an object that names it, and what to do; undefined if it can be. A Secret
 * that a Repository or a Group owns can be used only by that object; one without such an owner by all of its namespace.
 * Otherwise users who can write Repositories but not read Secrets could have other objects' Secrets sent to their own
 * host.
 */
export function secretRefusal({ metadata }: OwnedSecret, namer: SecretNamer): string | undefined {
  const owners = (metadata.ownerReferences ?? []).filter(({ kind }) => owningKinds.includes(kind));
  const [first] = owners;
  if (!first) return undefined;
  if (coppicesOwn.test(metadata.name)) return `the Secret ${metadata.name} is reserved for Coppice. Name another one`;
  if (owners.some(({ kind, uid }) => kind === namer.kind && uid === namer.uid)) return undefined;
  return `the Secret ${metadata.name} is for the ${first.kind} ${first.name} alone, which owns it. Name another one`;
}
