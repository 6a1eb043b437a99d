import { z } from 'zod';
import { gitRefSchema } from '../../crds/git-ref.ts';
import { booleanField, integerField, nameField } from '../http/parse.ts';

/** The CRD's limit: ten years. */
export const longestTtlSeconds = 10 * 365 * 24 * 3600;
const ttlField = integerField(0, longestTtlSeconds);

/** Body of POST /api/repository/{id}/spawn, contract section 4. */
export const spawnSchema = z.object({
  name: nameField.optional(),
  build: booleanField.default(true),
  ttl: ttlField.optional(),
  gitRef: gitRefSchema,
  ifExists: z.enum(['create', 'reuse']).default('create').meta({
    description:
      'Ours: what to do where the ref has an environment already. `create` makes another one; `reuse` answers the oldest one, with contents, and builds it if `build` says so.',
  }),
});
export type Spawn = z.infer<typeof spawnSchema>;

/** Query of GET /api/environment/{id}. */
export const readSchema = z.object({ build: booleanField.default(true) });

/** PUT /api/environment/{id}: query or body; where both name something, the body counts. */
export const createContentsSchema = z.object({ build: booleanField.optional(), ttl: ttlField.optional() });

/** Body of POST /api/environment/{id}/ttl, contract section 4. */
export const ttlSchema = z.object({ ttl: ttlField });

/** Query of the log stream: ours, to take it up again where a connection broke. */
export const logQuerySchema = z.object({
  from: integerField(0, Number.MAX_SAFE_INTEGER).optional(),
  build: integerField(1, Number.MAX_SAFE_INTEGER).optional(),
});

/** Query of the stream of a build's log: ours. */
export const logStreamQuerySchema = logQuerySchema.extend({
  header: booleanField.default(false).meta({
    description:
      'Of a WebSocket: the first frame is `{"header": …}` with the build, its commit among it, as far as is known.',
  }),
});

/** Query of a service's log: ours. */
export const runtimeLogQuerySchema = z.object({
  follow: booleanField.optional(),
  tail: integerField(0, 1000).default(100),
  from: integerField(0, Number.MAX_SAFE_INTEGER).optional(),
});
