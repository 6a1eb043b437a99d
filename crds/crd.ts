import { z } from 'zod';
import type { KindAddress } from './api-group.ts';
import { ENVIRONMENT, environmentSpecSchema, environmentStatusSchema } from './environment.ts';
import { GROUP, groupSpecSchema, groupStatusSchema } from './group.ts';
import {
  REUSABLE_ENVIRONMENT,
  reusableEnvironmentSpecSchema,
  reusableEnvironmentStatusSchema,
} from './reusable-environment.ts';
import { REPOSITORY, repositorySpecSchema, repositoryStatusSchema } from './repository.ts';
import { CURRENT_VERSIONS, deprecationWarning, type Versions } from './versions.ts';

interface Column {
  name: string;
  jsonPath: string;
  type: 'string' | 'date' | 'integer';
  priority?: number;
}

interface CrdSource {
  address: KindAddress;
  shortName: string;
  description: string;
  /** Maximum length of a name: names derived from it must fit a DNS label. */
  maxNameLength: number;
  spec: z.ZodType;
  status: z.ZodType;
  columns: Column[];
}

const ready: Column = { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' };
const synced: Column = { name: 'Synced', type: 'string', jsonPath: '.status.conditions[?(@.type=="Synced")].status' };
const message: Column = {
  name: 'Message',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].message',
  priority: 1,
};
const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

const sources: CrdSource[] = [
  {
    address: GROUP,
    shortName: 'cgroup',
    description: 'People who share Git repositories, and the namespace that contains these.',
    maxNameLength: 50,
    spec: groupSpecSchema,
    status: groupStatusSchema,
    columns: [ready, { name: 'Namespace', type: 'string', jsonPath: '.status.namespace' }, message, age],
  },
  {
    address: REPOSITORY,
    shortName: 'crepo',
    description: 'A Git repository that environments are created from.',
    maxNameLength: 40,
    spec: repositorySpecSchema,
    status: repositoryStatusSchema,
    columns: [{ name: 'Type', type: 'string', jsonPath: '.spec.type' }, ready, synced, message, age],
  },
  {
    address: ENVIRONMENT,
    shortName: 'cenv',
    description: 'A deployment of a branch, pull request or tag of a Repository.',
    maxNameLength: 63,
    spec: environmentSpecSchema,
    status: environmentStatusSchema,
    columns: [
      { name: 'State', type: 'string', jsonPath: '.status.state' },
      { name: 'Ref', type: 'string', jsonPath: '.spec.gitRef.name' },
      { name: 'URL', type: 'string', jsonPath: '.status.webURL' },
      ready,
      { name: 'Asleep', type: 'string', jsonPath: '.status.conditions[?(@.type=="Asleep")].status' },
      age,
      { name: 'Ref type', type: 'string', jsonPath: '.spec.gitRef.type', priority: 1 },
      { name: 'Repository', type: 'string', jsonPath: '.spec.repository', priority: 1 },
      { name: 'Build', type: 'string', jsonPath: '.status.build.result', priority: 1 },
      {
        name: 'Overridden',
        type: 'string',
        jsonPath: '.status.conditions[?(@.type=="Overridden")].status',
        priority: 1,
      },
      { name: 'Expires', type: 'string', jsonPath: '.status.expiresAt', priority: 1 },
      { name: 'Next rebuild', type: 'string', jsonPath: '.status.schedule.next', priority: 1 },
      message,
    ],
  },
  {
    address: REUSABLE_ENVIRONMENT,
    shortName: 'creusable',
    description: 'Images and volumes of a built environment, which seed new environments; created by Coppice.',
    maxNameLength: 63,
    spec: reusableEnvironmentSpecSchema,
    status: reusableEnvironmentStatusSchema,
    columns: [
      { name: 'Label', type: 'string', jsonPath: '.spec.label' },
      { name: 'From', type: 'string', jsonPath: '.status.from.environment' },
      ready,
      message,
      age,
    ],
  },
];

type JsonSchema = Record<string, unknown>;

/**
 * Returns a schema that the API server accepts: structural (KEP-1693), without what zod adds and the API server refuses
 * or ignores (`additionalProperties: false` beside properties, patterns with look-ahead beside a format, bounds of safe
 * integers).
 */
function structural(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(structural);
  if (typeof schema !== 'object' || schema === null) return schema;
  const source = schema as JsonSchema;
  const kept = Object.entries(source).filter(
    ([key, value]) =>
      key !== '$schema' &&
      !(key === 'additionalProperties' && value === false) &&
      !(key === 'pattern' && source['format'] === 'date-time') &&
      !(key === 'maximum' && value === Number.MAX_SAFE_INTEGER) &&
      !(key === 'minimum' && value === Number.MIN_SAFE_INTEGER),
  );
  const copy = Object.fromEntries(kept.map(([key, value]) => [key, structural(value)]));
  return source['type'] === 'integer' ? { ...copy, format: 'int64' } : copy;
}

function jsonSchema(schema: z.ZodType, description: string): unknown {
  const made = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', unrepresentable: 'throw' });
  return structural({ ...made, description });
}

/** The CustomResourceDefinition of one kind, as JSON. Versions need no webhook, because their schemas are equal. */
function customResourceDefinition(source: CrdSource, versions: Versions): JsonSchema {
  const { address } = source;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${address.plural}.${address.group}`,
      annotations: { 'helm.sh/resource-policy': 'keep' },
    },
    spec: {
      group: address.group,
      scope: address.namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: address.kind,
        listKind: `${address.kind}List`,
        plural: address.plural,
        singular: address.kind.toLowerCase(),
        shortNames: [source.shortName],
        categories: ['coppice'],
      },
      ...(versions.served.length > 1 && { conversion: { strategy: 'None' } }),
      versions: versions.served.map((name) => servedVersion(source, name, versions)),
    },
  };
}

function servedVersion(source: CrdSource, name: string, versions: Versions): JsonSchema {
  return {
    name,
    served: true,
    storage: name === versions.stored,
    ...(versions.deprecated.includes(name) && {
      deprecated: true,
      deprecationWarning: deprecationWarning(name, versions),
    }),
    subresources: { status: {} },
    additionalPrinterColumns: source.columns,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        description: source.description,
        required: ['spec'],
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          metadata: { type: 'object' },
          spec: jsonSchema(source.spec, 'The desired state; written by users, or by the API for them.'),
          status: jsonSchema(source.status, 'The observed state; written only by Coppice.'),
        },
        'x-kubernetes-validations': [
          {
            rule: `self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && size(self.metadata.name) <= ${source.maxNameLength}`,
            message: `the name must be a DNS label of at most ${source.maxNameLength} characters, without dots`,
          },
        ],
      },
    },
  };
}

/** Every kind's CustomResourceDefinition, by its kind and plural. */
export function customResourceDefinitions(
  versions: Versions = CURRENT_VERSIONS,
): { kind: string; plural: string; definition: JsonSchema }[] {
  return sources.map((source) => ({
    kind: source.address.kind,
    plural: source.address.plural,
    definition: customResourceDefinition(source, versions),
  }));
}
