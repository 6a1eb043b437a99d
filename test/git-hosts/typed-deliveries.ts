import { ContractSerializer, type ContractMetadata } from 'azure-devops-node-api/Serialization.js';
import git from 'azure-devops-node-api/interfaces/GitInterfaces.js';
import { z } from 'zod';
import type { KindName } from './kind.ts';
import { withoutNulls, type TypedAnswer } from './published-types.ts';

// Deliveries may lack fields of the type, because the emulators send what Coppice could read, but must not have unknown
// fields or fields of another type. The packages publish no type for the envelopes of Azure DevOps and Bitbucket.

/** Declares `NAMEPart<T>`: a T with all fields optional. */
const part = (name: string) =>
  `type ${name}Part<T> = T extends (infer U)[] ? ${name}Part<U>[] : T extends object ? { [K in keyof T]?: ${name}Part<T[K]> } : T;`;
const fromOctokit = `import type { components } from '@octokit/openapi-types'; ${part('Octokit')}`;
const fromGitbeaker = `import type * as gitlab from '@gitbeaker/core'; ${part('Gitbeaker')}`;
const fromAzure = `import type * as azure from 'azure-devops-node-api/interfaces/GitInterfaces.js';`;
const fromBitbucket = `import type { Schema } from 'bitbucket';`;

const ownerhostSchema = z.looseObject({ action: z.string().optional(), comment: z.unknown().optional() });
const groupedhostSchema = z.looseObject({ object_kind: z.enum(['push', 'tag_push', 'merge_request', 'note']) });
const cloudorgSchema = z.looseObject({ eventType: z.string(), resource: z.unknown() });
const workspacehostSchema = z.looseObject({
  repository: z.unknown(),
  actor: z.unknown(),
  pullrequest: z.unknown().optional(),
  push: z.object({ changes: z.array(z.looseObject({ new: z.unknown(), old: z.unknown() })) }).optional(),
});

const gitlabTypes = {
  push: 'WebhookPushEventSchema',
  tag_push: 'WebhookTagEventSchema',
  merge_request: 'WebhookMergeRequestEventSchema',
  note: 'WebhookMergeRequestNoteEventSchema',
};

/** Returns the part of a delivery's body that has a published type. */
export function typedDelivery(kind: KindName, body: unknown): TypedAnswer[] {
  switch (kind) {
    case 'ownerhost': {
      const { action, comment } = ownerhostSchema.parse(body);
      const what = comment === undefined ? 'pull-request' : 'issue-comment';
      const name = action === undefined ? 'push' : `${what}-${action.replaceAll('_', '-')}`;
      const type = `OctokitPart<components['schemas']['webhook-${name}']>`;
      return [{ name: `ownerhost ${action ?? 'push'}`, from: fromOctokit, type, value: body }];
    }
    case 'groupedhost': {
      const { object_kind } = groupedhostSchema.parse(body);
      const type = `GitbeakerPart<gitlab.${gitlabTypes[object_kind]}>`;
      return [{ name: `groupedhost ${object_kind}`, from: fromGitbeaker, type, value: body }];
    }
    case 'cloudorg': {
      const { eventType, resource } = cloudorgSchema.parse(body);
      const name = eventType === 'git.push' ? 'GitPush' : 'GitPullRequest';
      // Converts JSON as the package does: names of enumerations become numbers, times become Dates.
      const metadata = (git.TypeInfo as Record<typeof name, ContractMetadata>)[name];
      const value: unknown = ContractSerializer.deserialize(structuredClone(resource), metadata, false, false);
      return [{ name: `cloudorg ${eventType}`, from: fromAzure, type: `azure.${name}`, value: withoutNulls(value) }];
    }
    case 'workspacehost': {
      const { repository, actor, pullrequest, push } = workspacehostSchema.parse(body);
      const typed = (name: string, type: string, value: unknown) =>
        value === undefined || value === null
          ? []
          : [
              {
                name: `workspacehost ${name}`,
                from: fromBitbucket,
                type: `Schema.${type}`,
                value: withoutNulls(value),
              },
            ];
      return [
        ...typed('repository', 'Repository', repository),
        ...typed('actor', 'Account', actor),
        ...typed('pull request', 'Pullrequest', pullrequest),
        ...(push?.changes ?? []).flatMap((change) => [
          ...typed('ref before', 'Ref', change.old),
          ...typed('ref after', 'Ref', change.new),
        ]),
      ];
    }
  }
}
