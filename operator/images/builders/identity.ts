import { groupNamespace } from '../../../crds/ids.ts';
import { LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import { objectKey } from '../../../kubernetes/resource-type.ts';

/** One build of one Environment. */
export interface BuildIdentity {
  /** The Environment's name, in its group's namespace. */
  environment: string;
  environmentUid: string;
  number: number;
}

/** A buildkitd of its own: a group's, with a cache, or one build's, which nothing is left of after it. */
export interface BuilderIdentity {
  /** Of all its objects; a DNS label, and the name in its server's certificate. */
  name: string;
  isEphemeral: boolean;
  labels: Record<string, string>;
  /** The labels of the namespaces whose build pods may connect. */
  clients: Record<string, string>;
}

/** Groups' names leave room for this prefix: their namespaces have one as long. */
export function groupBuilderName(group: string): string {
  return `group-${group}`;
}

export function ephemeralBuilderName(environmentUid: string, number: number): string {
  return `ephemeral-${environmentUid}-${number}`;
}

/** The builder of all that a group builds from its own branches and tags. */
export function groupBuilder(group: string): BuilderIdentity {
  const name = groupBuilderName(group);
  return {
    name,
    isEphemeral: false,
    labels: { [LABELS.managedBy]: MANAGED_BY, [LABELS.builder]: name, [LABELS.group]: group },
    clients: { [LABELS.group]: group },
  };
}

/** The builder of a single build of code that the group does not trust. */
export function ephemeralBuilder(group: string, build: BuildIdentity): BuilderIdentity {
  const name = ephemeralBuilderName(build.environmentUid, build.number);
  return {
    name,
    isEphemeral: true,
    labels: {
      [LABELS.managedBy]: MANAGED_BY,
      [LABELS.builder]: name,
      [LABELS.group]: group,
      [LABELS.environment]: build.environment,
      [LABELS.environmentUid]: build.environmentUid,
      [LABELS.build]: String(build.number),
    },
    clients: { [LABELS.environmentUid]: build.environmentUid },
  };
}

/** What the labels of a ephemeral builder's objects say it was made for; undefined for a group's builder. */
export function buildOf(labels: Record<string, string> | undefined): BuildIdentity | undefined {
  const environment = labels?.[LABELS.environment];
  const environmentUid = labels?.[LABELS.environmentUid];
  const number = Number(labels?.[LABELS.build]);
  if (environment === undefined || environmentUid === undefined || !Number.isInteger(number)) return undefined;
  return { environment, environmentUid, number };
}

/** The key of the Environment that a build is of. */
export function environmentKey(group: string, build: BuildIdentity): string {
  return objectKey(groupNamespace(group), build.environment);
}
