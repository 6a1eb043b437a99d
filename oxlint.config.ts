import { defineConfig } from 'oxlint';

/** Which of our folders each folder may import: the layering of docs/architecture.md. */
const mayImport: Record<string, string[]> = {
  process: [],
  crds: [],
  kubernetes: [],
  'build-logs': [],
  'service-file': [],
  'tester-client': [],
  operator: ['process', 'crds', 'kubernetes', 'build-logs', 'service-file', 'tester-client'],
  api: ['process', 'crds', 'kubernetes', 'build-logs', 'service-file', 'tester-client'],
  tester: ['process'],
};

/** `ofTest`: which paths in test/ it may not import, as in a .gitignore. */
function importRule(folder: string, allowed: readonly string[], ofTest: string[]) {
  const others = Object.keys(mayImport).filter((other) => other !== folder && !allowed.includes(other));
  const patterns = others.map((other) => ({
    regex: `^(\\.\\./)+${other}/`,
    message: `${folder}/ may not import ${other}/: see docs/architecture.md`,
  }));
  const test = { group: ofTest, message: `${folder}/ may not import test/: see docs/architecture.md` };
  return { 'no-restricted-imports': ['error', { patterns: [...patterns, test] }] satisfies ['error', object] };
}

const importRules = Object.entries(mayImport).flatMap(([folder, allowed]) => [
  { files: [`${folder}/**/*.ts`], rules: importRule(folder, allowed, ['**/test/**']) },
  {
    files: [`${folder}/**/*.test.ts`],
    rules: importRule(folder, allowed, ['**/test/**', '!**/test/properties.ts']),
  },
]);

/** What typescript-eslint calls strict and type-checked, as far as it is not in the category `correctness`. */
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
  plugins: ['typescript', 'unicorn', 'oxc'],
  categories: { correctness: 'error' },
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  ignorePatterns: ['node_modules/**', '.local/**', 'test/sample/repository/**', 'test/fixtures/**'],
  rules: {
    // Conditional members are spread into a literal; the rule takes a group of them for one too many.
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
      files: ['**/*.ts'],
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
