import { groupNamespace } from '../../../crds/ids.ts';
import { LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import { objectKey } from '../../../kubernetes/resource-type.ts';

/** One build of one Environment. */
export interface BuildIdentity {
  /** Name of the Environment in its group's namespace. */
  environment: string;
  environmentUid: string;
  number: number;
}

/** A buildkitd: that of a group, with a cache, or that of one untrusted build, which is deleted after the build. */
export interface BuilderIdentity {
  /** Name of all its objects, which is a DNS label and the name in its server's certificate. */
  name: string;
  isEphemeral: boolean;
  labels: Record<string, string>;
  /** Labels of the namespaces whose build pods can connect. */
  clients: Record<string, string>;
}

/** Returns the name of a group's builder. The maximum length of group names leaves room for this prefix. */
export function groupBuilderName(group: string): string {
  return `group-${group}`;
}

export function ephemeralBuilderName(environmentUid: string, number: number): string {
  return `ephemeral-${environmentUid}-${number}`;
}

/** Returns the builder for trusted builds of a group. */
export function groupBuilder(group: string): BuilderIdentity {
  const name = groupBuilderName(group);
  return {
    name,
    isEphemeral: false,
    labels: { [LABELS.managedBy]: MANAGED_BY, [LABELS.builder]: name, [LABELS.group]: group },
    clients: { [LABELS.group]: group },
  };
}

/** Returns the builder of a single untrusted build. */
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

/** Returns the build of an ephemeral builder from its objects' labels; undefined for a group's builder. */
export function buildOf(labels: Record<string, string> | undefined): BuildIdentity | undefined {
  const environment = labels?.[LABELS.environment];
  const environmentUid = labels?.[LABELS.environmentUid];
  const number = Number(labels?.[LABELS.build]);
  if (environment === undefined || environmentUid === undefined || !Number.isInteger(number)) return undefined;
  return { environment, environmentUid, number };
}

/** Returns the key of the build's Environment. */
export function environmentKey(group: string, build: BuildIdentity): string {
  return objectKey(groupNamespace(group), build.environment);
}
