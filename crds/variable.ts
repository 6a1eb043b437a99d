import { z } from 'zod';

/** A variable. */
export const VISIBILITIES = ['always', 'buildtime'] as const;

export const secretKeyRefSchema = z
  .object({
    name: z.string().min(1).max(253).meta({ description: 'Name of the Secret.' }),
    key: z.string().min(1).max(253).meta({ description: 'Key in the Secret.' }),
  })
  .meta({ description: 'The Secret, and the key in it.' });

const variableRules = {
  'x-kubernetes-validations': [
    { rule: 'has(self.value) != has(self.valueFrom)', message: 'needs either value or valueFrom' },
    {
      rule: '!(has(self.secret) && self.secret && has(self.value))',
      message: 'a secret variable needs valueFrom: a value in the spec is not secret',
    },
  ],
};

const variableSchema = z
  .object({
    name: z
      .string()
      .max(128)
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
      .meta({ description: 'Name of the variable: service files write `${NAME}`.' }),
    value: z.string().max(32_768).optional().meta({ description: 'The value, unless `valueFrom` is set.' }),
    valueFrom: z
      .object({ secretKeyRef: secretKeyRefSchema })
      .optional()
      .meta({ description: 'A key of a Secret in the namespace of the group.' }),
    visibility: z
      .enum(VISIBILITIES)
      .default('always')
      .meta({ description: 'Whether services see the variable, or only builds.' }),
    secret: z.boolean().optional().meta({ description: 'The REST API never shows the value, and build logs mask it.' }),
  })
  .meta(variableRules);

/** Variables of a Group or a Repository, which fill in `${NAME}` in service files. */
export const variablesSchema = z
  .array(variableSchema)
  .max(200)
  .optional()
  .meta({
    description: 'Variables that fill in `${NAME}` in service files.',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  });
export type VariableSpec = z.infer<typeof variableSchema>;

/** Maximum number of variables of one Environment: there are far more Environments than Repositories in memory. */
export const MAX_OVERRIDING_VARIABLES = 50;

/** Variables of an Environment. */
export const overridingVariablesSchema = z
  .array(
    variableSchema
      .extend({
        value: z
          .string()
          .max(1024)
          .optional()
          .meta({ description: 'The value, unless `valueFrom` is set; a longer one needs a Secret.' }),
      })
      .meta(variableRules),
  )
  .max(MAX_OVERRIDING_VARIABLES)
  .optional()
  .meta({
    description: 'Variables that override those of the Repository and its Group.',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
  });

/** Names of Secrets in the namespace of the group, of type kubernetes.io/dockerconfigjson. */
export const registrySecretsSchema = z.array(z.string().min(1).max(253)).max(20).optional().meta({
  description:
    "Secrets of type kubernetes.io/dockerconfigjson in the group's namespace, used to pull base images and images of services.",
  'x-kubernetes-list-type': 'set',
});
