import { defineConfig, format } from 'oxfmt';

const settings = defineConfig({
  singleQuote: true,
  printWidth: 120,
  sortPackageJson: false,
  ignorePatterns: [
    'package-lock.json',
    'charts/coppice/templates',
    'charts/coppice/files/crds',
    'test/fixtures',
    'docs/measurements/bench',
    'docs/measurements/faults',
  ],
});
export default settings;

/** Formats the text of a generated file. The file's name selects the language. */
export async function formatted(file: string, text: string): Promise<string> {
  const { code, errors } = await format(file, text, settings);
  if (errors.length > 0) throw new Error(`${file} cannot be formatted: ${errors.map((e) => e.message).join('; ')}`);
  return code;
}
