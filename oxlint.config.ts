import { defineConfig } from 'oxlint';
import { importRules } from './oxlint.imports.ts';

/** The rules of typescript-eslint's strict, type-checked configuration that are not in oxlint's category `correctness`. */
const strict = [
  'ban-ts-comment',
  'consistent-type-imports',
  'no-deprecated',
  'no-dynamic-delete',
  'no-empty-object-type',
  'no-explicit-any',
  'no-extraneous-class',
  'no-generated-empty-object-type',
  'no-invalid-void-type',
  'no-misused-promises',
  'no-mixed-enums',
  'no-namespace',
  'no-non-null-asserted-nullish-coalescing',
  'no-non-null-assertion',
  'no-require-imports',
  'no-unnecessary-boolean-literal-compare',
  'no-unnecessary-condition',
  'no-unnecessary-template-expression',
  'no-unnecessary-type-arguments',
  'no-unnecessary-type-assertion',
  'no-unnecessary-type-constraint',
  'no-unnecessary-type-conversion',
  'no-unnecessary-type-parameters',
  'no-unsafe-argument',
  'no-unsafe-assignment',
  'no-unsafe-call',
  'no-unsafe-enum-comparison',
  'no-unsafe-function-type',
  'no-unsafe-member-access',
  'no-unsafe-return',
  'only-throw-error',
  'prefer-literal-enum-member',
  'prefer-promise-reject-errors',
  'prefer-reduce-type-parameter',
  'prefer-return-this-type',
  'related-getter-setter-pairs',
  'require-await',
  'return-await',
  'unified-signatures',
  'use-unknown-in-catch-callback-variable',
];

const errors = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'error' as const]));

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import'],
  categories: { correctness: 'error' },
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  ignorePatterns: [
    'node_modules/**',
    'panel/dist/**',
    'cli/dist/**',
    '.local/**',
    'test/sample/repository/**',
    'test/fixtures/**',
  ],
  rules: {
    'import/no-cycle': ['error', { ignoreTypes: false }],
    // A literal can spread a group of conditional members, which the rule considers useless.
    'unicorn/no-useless-spread': 'off',
    ...errors([
      'no-array-constructor',
      'no-case-declarations',
      'no-console',
      'no-empty',
      'no-fallthrough',
      'no-prototype-builtins',
      'no-regex-spaces',
      'no-unexpected-multiline',
      'no-useless-constructor',
      'no-var',
      'prefer-const',
      'prefer-rest-params',
      'prefer-spread',
      'preserve-caught-error',
    ]),
  },
  overrides: [
    {
      files: ['**/*.{ts,tsx}'],
      rules: {
        ...errors(strict.map((name) => `typescript/${name}`)),
        'typescript/restrict-plus-operands': [
          'error',
          {
            allowAny: false,
            allowBoolean: false,
            allowNullish: false,
            allowNumberAndString: false,
            allowRegExp: false,
          },
        ],
        'typescript/restrict-template-expressions': ['error', { allowNumber: true }],
        'no-unused-vars': [
          'error',
          { argsIgnorePattern: '^$', varsIgnorePattern: '^$', caughtErrorsIgnorePattern: '^$' },
        ],
      },
    },
    {
      files: ['test/**/*.ts', '**/*.test.ts'],
      rules: {
        'no-console': 'off',
        'typescript/no-non-null-assertion': 'off',
        'typescript/require-array-sort-compare': 'off',
        'typescript/require-await': 'off',
      },
    },
    ...importRules,
  ],
});
