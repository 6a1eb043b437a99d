import { z } from 'zod';

const environment = z.record(z.string(), z.string());
const level = z.enum(['read', 'write']);
const permissions = z.strictObject({ contents: level.optional(), packages: level.optional() });

const stepSchema = z.union([
  z.strictObject({
    uses: z.string(),
    if: z.string().optional(),
    with: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  }),
  z.strictObject({
    name: z.string().optional(),
    run: z.string(),
    if: z.string().optional(),
    env: environment.optional(),
    'working-directory': z.string().optional(),
  }),
]);
export type Step = z.infer<typeof stepSchema>;

/** The part of GitHub's workflow syntax that this repository uses; anything else needs a decision. */
export const workflowSchema = z.strictObject({
  name: z.string(),
  // Other events, such as pull_request_target, would run a stranger's change with the repository's secrets.
  on: z.strictObject({
    pull_request: z.null().optional(),
    merge_group: z.null().optional(),
    workflow_dispatch: z.null().optional(),
    push: z.strictObject({ branches: z.array(z.string()).optional(), tags: z.array(z.string()).optional() }).optional(),
    schedule: z.array(z.strictObject({ cron: z.string().regex(/^[\d*/, -]+$/) })).optional(),
  }),
  // Nothing by default: each job names what it needs.
  permissions: z.strictObject({}),
  concurrency: z.strictObject({ group: z.string(), 'cancel-in-progress': z.union([z.boolean(), z.string()]) }),
  // Without it, a failure in a pipe does not fail the step.
  defaults: z.strictObject({ run: z.strictObject({ shell: z.literal('bash') }) }),
  jobs: z.record(
    z.string(),
    z.strictObject({
      'runs-on': z.literal('ubuntu-24.04'),
      'timeout-minutes': z.int().min(1).max(360),
      environment: z.string().optional(),
      permissions,
      steps: z.array(stepSchema).min(1),
    }),
  ),
});
export type Workflow = z.infer<typeof workflowSchema>;

/** The part of Dependabot's configuration that this repository uses. */
export const dependabotSchema = z.strictObject({
  version: z.literal(2),
  updates: z.array(
    z
      .strictObject({
        'package-ecosystem': z.enum(['npm', 'github-actions', 'docker', 'gomod']),
        directory: z.string().startsWith('/').optional(),
        directories: z.array(z.string().startsWith('/')).optional(),
        schedule: z.strictObject({ interval: z.enum(['daily', 'weekly', 'monthly']) }),
        cooldown: z.strictObject({ 'default-days': z.int().min(1) }),
        groups: z
          .record(
            z.string(),
            z.strictObject({
              patterns: z.array(z.string()),
              'update-types': z.array(z.enum(['major', 'minor', 'patch'])),
            }),
          )
          .optional(),
      })
      .refine(({ directory, directories }) => (directory === undefined) !== (directories === undefined)),
  ),
});
