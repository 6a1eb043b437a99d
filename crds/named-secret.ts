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
 * Why a Secret must not be used for whoever names it, in words to act on; undefined where it may be. Whoever may write
 * Repositories, and read no Secret, could otherwise have another one's sent to a host of their own. So a Secret that a
 * Repository or a Group owns counts for that one alone; without such an owner it is there for all of the namespace.
 */
export function secretRefusal({ metadata }: OwnedSecret, namer: SecretNamer): string | undefined {
  const owners = (metadata.ownerReferences ?? []).filter(({ kind }) => owningKinds.includes(kind));
  const [first] = owners;
  if (!first) return undefined;
  if (coppicesOwn.test(metadata.name)) return `the Secret ${metadata.name} is reserved for Coppice. Name another one`;
  if (owners.some(({ kind, uid }) => kind === namer.kind && uid === namer.uid)) return undefined;
  return `the Secret ${metadata.name} is for the ${first.kind} ${first.name} alone, which owns it. Name another one`;
}
