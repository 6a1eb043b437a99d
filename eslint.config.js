import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Which of our folders each folder may import: the layering of docs/architecture.md. */
const mayImport = {
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

const folders = [...Object.keys(mayImport), 'test'];

const importRules = Object.entries(mayImport).map(([folder, allowed]) => ({
  files: [`${folder}/**/*.ts`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: folders
          .filter((other) => other !== folder && !allowed.includes(other))
          .map((other) => ({
            regex: `^(\\.\\./)+${other}/`,
            message: `${folder}/ may not import ${other}/: see docs/architecture.md`,
          })),
      },
    ],
  },
}));

export default tseslint.config(
  { ignores: ['node_modules/**', '.local/**', 'test/sample/repository/**', 'test/fixtures/**'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-console': 'error',
    },
  },
  {
    files: ['test/**/*.ts', '**/*.test.ts'],
    rules: {
      'no-console': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
  ...importRules,
);
