import { z } from 'zod';
import { needsOf, type Endpoint } from '../http/endpoint.ts';
import { errorSchema, errorsOf } from './errors.ts';

type JsonSchema = z.core.JSONSchema.JSONSchema;

/** Descriptions of the path parameters. */
const parameterDescriptions: Readonly<Record<string, string>> = {
  groupID: 'The id of a group: `acme`.',
  repoID: 'The id of a repository: `acme.shop`.',
  environmentID: 'The id of an environment: `acme.shop-main`.',
  serviceID: 'The id or the name of a service: `web`.',
  varName: 'The name of a variable.',
  memberEmail: 'The e-mail address of a member.',
  reusableLabel: 'The label of a reusable environment.',
  type: 'The type of the repository.',
};

const description = `Coppice runs every branch, tag and pull request of a Git repository as an environment of its own on Kubernetes.

Send the token of \`POST /api/user/login\` in the header \`X-SERVICE-TOKEN\`; the cookie \`token\` counts when the header is
absent. Every error is \`{"error": "…"}\`. Resources that the caller cannot see return 404, like resources that do not exist.
Endpoints and fields that are marked as an extension are additions by Coppice.`;

/** Returns an OpenAPI 3.1 document of these endpoints. */
export function openApiDocument(endpoints: readonly Endpoint[], serverUrl: string): object {
  const components = new Components();
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method]: operation(endpoint, components) };
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Coppice', version: '0.1.0', description },
    servers: [{ url: serverUrl }],
    tags: [...new Set(endpoints.map(tagOf))].map((name) => ({ name })),
    security: [{ header: [] }, { cookie: [] }, { hostCookie: [] }],
    paths,
    components: {
      securitySchemes: {
        header: { type: 'apiKey', in: 'header', name: 'X-SERVICE-TOKEN' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'token' },
        hostCookie: { type: 'apiKey', in: 'cookie', name: '__Host-token', description: 'Extension: only over https.' },
      },
      schemas: components.schemas,
    },
  };
}

/** Collects the schemas that have an ID, each once. */
class Components {
  readonly schemas: Record<string, JsonSchema> = {};

  /** Returns a schema as JSON Schema 2020-12; schemas in it that have an ID are stored as components and referenced. */
  of(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const made = z.toJSONSchema(schema, {
      io,
      override: ({ jsonSchema }) => {
        // zod copies metadata unchanged, so a schema in it is converted here.
        if (jsonSchema.contentSchema instanceof z.ZodType) {
          jsonSchema.contentSchema = this.of(jsonSchema.contentSchema, io);
        }
        // Kubernetes extensions, which only the cluster reads, and the bounds of safe integers are omitted.
        delete jsonSchema['x-kubernetes-validations'];
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      },
    });
    // OpenAPI 3.1 defines the dialect.
    delete made.$schema;
    const { $defs = {}, ...rest } = JSON.parse(
      JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/'),
    ) as JsonSchema & { $defs?: Record<string, JsonSchema> };
    for (const [id, definition] of Object.entries($defs)) this.#add(id, definition);
    return rest;
  }

  /** Adds a component. @throws Error if another schema has the same ID */
  #add(id: string, schema: JsonSchema): void {
    const known = this.schemas[id];
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) throw new Error(`two schemas are called ${id}`);
    this.schemas[id] = schema;
  }
}

function operation(endpoint: Endpoint, components: Components): object {
  const { summary, description: more, isOpen, status = 200, answer, mediaType = 'application/json' } = endpoint;
  const content = { [mediaType]: { schema: components.of(answer, 'output') } };
  const error = { 'application/json': { schema: components.of(errorSchema, 'output') } };
  const others: Record<string, object> = {};
  for (const [code, when] of Object.entries(errorsOf(endpoint))) {
    others[code] = { description: when, ...(Number(code) >= 400 && { content: error }) };
  }
  return {
    operationId: operationId(endpoint),
    tags: [tagOf(endpoint)],
    summary,
    ...(more !== undefined && { description: more }),
    ...(isOpen ? { security: [] } : { 'x-coppice-access': needsOf(endpoint).access }),
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint, components)],
    ...requestBody(endpoint, components),
    responses: { [status]: { description: 'Success.', content }, ...others },
  };
}

/** Returns the tag of an endpoint: `repository` for `/api/repository/{repoID}`. */
function tagOf({ path }: Endpoint): string {
  const [, , tag = ''] = path.split('/');
  return tag === 'groups' ? 'group' : tag;
}

/** Returns the operation ID, such as `postRepositorySpawn`. */
function operationId({ method, path }: Endpoint): string {
  const parts = path.split('/').slice(2);
  const words = parts.map((part) => (part.startsWith('{') ? (part === parts.at(-1) ? 'one' : '') : part));
  const name = words.flatMap((word) => word.split(/\W/)).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return method + name.join('');
}

function pathParameters({ path }: Endpoint): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: parameterDescriptions[name],
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: Endpoint, components: Components): object[] {
  if (!query) return [];
  const { properties = {}, required = [] } = components.of(query, 'input');
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

/** Returns the request body; optional if none of its fields is required. */
function requestBody({ body }: Endpoint, components: Components): object {
  if (!body) return {};
  const schema = components.of(body, 'input');
  const required = !body.safeParse({}).success || (schema.required ?? []).length > 0;
  return { requestBody: { required, content: { 'application/json': { schema } } } };
}
